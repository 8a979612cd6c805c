// scan (docs/spec/operations-linalg.md, Scan): a loop over one dimension whose body is a computation.

#include <cstring>
#include <vector>

#include "base/counted.h"
#include "evaluator/audits/rules.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/elements.h"
#include "evaluator/eval_context.h"
#include "evaluator/meter.h"
#include "evaluator/op.h"
#include "fmt/format.h"

namespace assay {
namespace {

// Operands are inputs x0, x1, … and carries c0, …, c(num_carries-1); f takes (slices of the inputs without
// dimension d, carries) and returns (outputs, carries). For t = 0 .. L-1 (L-1 .. 0 if is_reverse):
//   (y, c) = f(x[t], c);  out[t] = y          slices along dimension d
// The result is (out0, …, final c0, …), bare if it is one array.

absl::Status InvalidScan(const InferContext& context, std::string_view message) {
  return InvalidProgram(context.instruction.position, message);
}

// Error: the product of the other sizes is too large (the removed one may have been 0).
absl::StatusOr<Shape> WithoutDimension(const Shape& x, int64_t removed) {
  DimVector sizes;
  for (int64_t d = 0; d < x.rank(); ++d) {
    if (d != removed) sizes.push_back(x.size(d));
  }
  ASSAY_ASSIGN_OR_RETURN(Shape result, Shape::Array(x.element_type(), sizes));
  for (int64_t d = 0; d < x.rank(); ++d) {
    if (d != removed) result.set_dynamic(d - (d > removed), x.is_dynamic(d));
  }
  return result;
}

absl::StatusOr<Shape> WithDimension(const Shape& y, int64_t d, int64_t size, bool dynamic) {
  DimVector sizes(y.sizes().begin(), y.sizes().end());
  sizes.insert(sizes.begin() + d, size);
  ASSAY_ASSIGN_OR_RETURN(Shape result, Shape::Array(y.element_type(), sizes));
  for (int64_t i = 0; i < y.rank(); ++i) result.set_dynamic(i + (i >= d), y.is_dynamic(i));
  result.set_dynamic(d, dynamic);
  return result;
}

struct ScanParts {
  int64_t d = 0;
  int64_t inputs = 0, carries = 0, outputs = 0;
  int64_t length = 0;  // the bound
  bool dynamic = false;
  std::vector<Shape> returned;  // by the computation, flat
};

std::vector<Shape> FlatResult(const Shape& result) {
  if (!result.IsTuple()) return {result};
  return {result.elements().begin(), result.elements().end()};
}

// Scan-C1, C5: the length L.
absl::Status FindLength(const InferContext& context, ScanParts& scan) {
  for (int64_t i = 0; i < scan.inputs; ++i) {
    const Shape& x = context.operand(i);
    if (!x.IsArray() || scan.d >= x.rank()) {
      return InvalidScan(
          context, fmt::format("Scan-C5: scan dimension {} is out of range for input {} of shape {}", scan.d,
                               i, x.ToString()));
    }
    if (i == 0) scan.length = x.size(scan.d);
    scan.dynamic |= x.is_dynamic(scan.d);
    if (x.size(scan.d) != scan.length) {
      return InvalidScan(context, fmt::format("Scan-C1: input {} has size {} in dimension {}, input 0 has {}",
                                              i, x.size(scan.d), scan.d, scan.length));
    }
  }
  if (scan.inputs > 0) return absl::OkStatus();
  // No input: L is that of the declared stacked output.
  const Shape* stacked = context.declared;
  if (stacked != nullptr && stacked->IsTuple() && !stacked->elements().empty())
    stacked = &stacked->element(0);
  if (stacked == nullptr || !stacked->IsArray() || scan.d >= stacked->rank()) {
    return InvalidScan(context, "Scan-C5: with no input, the declared shape must give the length");
  }
  scan.length = stacked->size(scan.d);
  scan.dynamic = stacked->is_dynamic(scan.d);
  return absl::OkStatus();
}

// Scan-C2, C3: the computation's parameters and results.
absl::Status CheckBody(const InferContext& context, const ProgramShape& body, const ScanParts& scan) {
  const int64_t parameters = static_cast<int64_t>(body.parameters.size());
  if (parameters != scan.inputs + scan.carries) {
    return InvalidScan(context, fmt::format("Scan-C2: the computation has {}, wanted {}",
                                            Counted(parameters, "parameter"), scan.inputs + scan.carries));
  }
  for (int64_t i = 0; i < parameters; ++i) {
    Shape wanted = context.operand(i);
    if (i < scan.inputs) {
      ASSAY_ASSIGN_OR_RETURN(wanted, WithoutDimension(wanted, scan.d));
    }
    if (Shape::Compatible(body.parameters[i], wanted)) continue;
    return InvalidScan(context, fmt::format("Scan-C2: parameter {} of the computation is {}, wanted {}", i,
                                            body.parameters[i].ToString(), wanted.ToString()));
  }
  for (int64_t i = 0; i < scan.carries; ++i) {
    const Shape& carry = scan.returned[scan.outputs + i];
    if (Shape::Compatible(carry, context.operand(scan.inputs + i))) continue;
    return InvalidScan(context, fmt::format("Scan-C3: carry {} is {} and comes back as {}", i,
                                            context.operand(scan.inputs + i).ToString(), carry.ToString()));
  }
  return absl::OkStatus();
}

absl::StatusOr<ScanParts> CheckScan(const InferContext& context) {
  ScanParts scan;
  const std::span<const int64_t> dimensions = context.attributes().List(Attr::kDimensions);
  if (dimensions.size() != 1 || dimensions[0] < 0) {
    return InvalidScan(context, fmt::format("Scan-C5: dimensions are {{{}}}, wanted one, at least 0",
                                            fmt::join(dimensions, ",")));
  }
  scan.d = dimensions[0];
  scan.carries = context.attributes().Int(Attr::kNumCarries);
  if (scan.carries < 0 || scan.carries > context.num_operands()) {
    return InvalidScan(context, fmt::format("Scan-C2: num_carries is {}, but there are {} operands",
                                            scan.carries, context.num_operands()));
  }
  scan.inputs = context.num_operands() - scan.carries;
  const ProgramShape body = context.Called(*context.attributes().Computation(Attr::kToApply));
  scan.returned = FlatResult(body.result);
  scan.outputs = static_cast<int64_t>(scan.returned.size()) - scan.carries;
  if (scan.outputs < 0) {
    return InvalidScan(context,
                       fmt::format("Scan-C2: the computation returns {}, wanted at least the {}",
                                   Counted(scan.returned.size(), "value"), Counted(scan.carries, "carry")));
  }
  if (scan.inputs + scan.outputs < 1) return InvalidScan(context, "Scan-C4: neither input nor output");
  ASSAY_RETURN_IF_ERROR(FindLength(context, scan));
  ASSAY_RETURN_IF_ERROR(CheckBody(context, body, scan));
  return scan;
}

absl::StatusOr<Shape> InferScan(const InferContext& context) {
  ASSAY_ASSIGN_OR_RETURN(const ScanParts scan, CheckScan(context));
  std::vector<Shape> results;
  for (int64_t i = 0; i < scan.outputs; ++i) {
    const Shape& y = scan.returned[i];
    if (!y.IsArray() || scan.d > y.rank()) {
      return InvalidScan(
          context, fmt::format("Scan-C5: scan dimension {} is out of range for output {} of shape {}", scan.d,
                               i, y.ToString()));
    }
    ASSAY_ASSIGN_OR_RETURN(Shape out, WithDimension(y, scan.d, scan.length, scan.dynamic));
    results.push_back(std::move(out));
  }
  for (int64_t i = 0; i < scan.carries; ++i) results.push_back(context.operand(scan.inputs + i));
  return results.size() == 1 ? std::move(results[0]) : Shape::Tuple(std::move(results));
}

// The index of an element of the whole from one of its slice at t of dimension d.
DimVector WithEntry(Index index, int64_t d, int64_t t) {
  DimVector whole(index.begin(), index.end());
  whole.insert(whole.begin() + d, t);
  return whole;
}

absl::StatusOr<Literal> TakeSlice(EvalContext& context, const Literal& x,
                                  const std::shared_ptr<const Shape>& shape, int64_t d, int64_t t) {
  ASSAY_ASSIGN_OR_RETURN(Literal slice, context.NewLiteral(shape));
  const ArrayView from(x);
  const MutableArrayView to(slice);
  Meter meter(context);
  for (IndexWalk i(shape->sizes()); !i.done(); i.Next()) {
    std::memcpy(to.At(i.index()), from.At(WithEntry(i.index(), d, t)), to.element_bytes());
    ASSAY_RETURN_IF_ERROR(meter.Add(1));
  }
  for (int64_t i = 0; i < shape->rank(); ++i) {
    if (shape->is_dynamic(i)) slice.set_dynamic_size(i, x.dynamic_size(i + (i >= d)));
  }
  ASSAY_RETURN_IF_ERROR(meter.Flush());
  return slice;
}

absl::Status PutSlice(EvalContext& context, const Literal& y, Literal& out, int64_t d, int64_t t,
                      bool first) {
  const Shape& shape = y.shape();
  for (int64_t i = 0; i < shape.rank(); ++i) {
    const int64_t target = i + (i >= d);
    if (!out.shape().is_dynamic(target)) continue;
    if (first) out.set_dynamic_size(target, y.dynamic_size(i));
    if (out.dynamic_size(target) != y.dynamic_size(i)) {
      return EvalError(context.instruction().position,
                       fmt::format("DYN-4: scan: run-time sizes of output dimension {} are {} and {}", i,
                                   out.dynamic_size(target), y.dynamic_size(i)));
    }
  }
  const ArrayView from(y);
  const MutableArrayView to(out);
  Meter meter(context);
  for (IndexWalk i(shape.sizes()); !i.done(); i.Next()) {
    std::memcpy(to.At(WithEntry(i.index(), d, t)), from.At(i.index()), to.element_bytes());
    ASSAY_RETURN_IF_ERROR(meter.Add(1));
  }
  return meter.Flush();
}

// The state of a running scan.
struct ScanRun {
  EvalContext& context;
  ComputationId body;
  int64_t d;
  int64_t inputs, outputs;
  std::vector<std::shared_ptr<const Shape>> slice_shapes;
  std::vector<Literal> carries, stacked;
};

absl::Status ScanStep(ScanRun& scan, std::span<const Literal> inputs, int64_t t, bool first) {
  std::vector<Literal> arguments;
  for (int64_t i = 0; i < scan.inputs; ++i) {
    ASSAY_ASSIGN_OR_RETURN(Literal slice,
                           TakeSlice(scan.context, inputs[i], scan.slice_shapes[i], scan.d, t));
    arguments.push_back(std::move(slice));
  }
  for (Literal& carry : scan.carries) arguments.push_back(std::move(carry));
  ASSAY_ASSIGN_OR_RETURN(Literal returned, scan.context.Call(scan.body, std::move(arguments)));
  std::vector<Literal> values;
  if (returned.shape().IsTuple()) {
    values = std::move(returned).TakeElements();
  } else {
    values.push_back(std::move(returned));
  }
  for (int64_t i = 0; i < scan.outputs; ++i) {
    ASSAY_RETURN_IF_ERROR(PutSlice(scan.context, values[i], scan.stacked[i], scan.d, t, first));
  }
  for (size_t i = 0; i < scan.carries.size(); ++i) scan.carries[i] = std::move(values[scan.outputs + i]);
  return absl::OkStatus();
}

absl::StatusOr<Literal> EvalScan(EvalContext& context, std::span<Literal> operands) {
  const AttributeMap& attributes = context.attributes();
  const int64_t carries = attributes.Int(Attr::kNumCarries);
  const int64_t inputs = static_cast<int64_t>(operands.size()) - carries;
  const bool tuple = context.result_shape().IsTuple();
  const int64_t results = tuple ? static_cast<int64_t>(context.result_shape().elements().size()) : 1;
  ScanRun scan{context, *attributes.Computation(Attr::kToApply), attributes.List(Attr::kDimensions)[0],
               inputs, results - carries};
  int64_t length = -1;
  for (int64_t i = 0; i < inputs; ++i) {
    const int64_t size = operands[i].dynamic_size(scan.d);
    if (length >= 0 && size != length) {
      return EvalError(
          context.instruction().position,
          fmt::format("DYN-4: scan: run-time sizes of dimension {} are {} and {}", scan.d, length, size));
    }
    length = size;
    ASSAY_ASSIGN_OR_RETURN(Shape slice, WithoutDimension(operands[i].shape(), scan.d));
    scan.slice_shapes.push_back(std::make_shared<const Shape>(std::move(slice)));
  }
  for (int64_t i = 0; i < scan.outputs; ++i) {
    ASSAY_ASSIGN_OR_RETURN(Literal out, tuple ? context.NewResultElement(i, true) : context.NewResult(true));
    scan.stacked.push_back(std::move(out));
  }
  if (length < 0) length = scan.stacked[0].shape().size(scan.d);
  for (int64_t i = 0; i < carries; ++i) scan.carries.push_back(std::move(operands[inputs + i]));
  const bool reverse = attributes.Bool(Attr::kIsReverse);
  for (int64_t step = 0; step < length; ++step) {
    ASSAY_RETURN_IF_ERROR(
        ScanStep(scan, operands.first(inputs), reverse ? length - 1 - step : step, step == 0));
  }
  std::vector<Literal> values;
  for (Literal& out : scan.stacked) {
    if (out.shape().is_dynamic(scan.d)) out.set_dynamic_size(scan.d, length);
    values.push_back(std::move(out));
  }
  for (Literal& carry : scan.carries) values.push_back(std::move(carry));
  if (!tuple) return std::move(values[0]);
  return Literal::Tuple(context.shared_result_shape(), std::move(values));
}

constexpr AttrSpec kScanAttributes[] = {Required(Attr::kDimensions), Required(Attr::kNumCarries),
                                        Required(Attr::kToApply), Optional(Attr::kIsReverse),
                                        Optional(Attr::kIsAssociative)};

// Its body runs as steps; the elements that pass through count here.
Work WorkOfScan(const InstructionView& view) { return {.elements = work::Largest(view)}; }

}  // namespace

constinit const OpDef ops::Scan = {
    .operands = AtLeast(0),
    .types = kArrayTypes,
    .attributes = kScanAttributes,
    .infer = InferScan,
    .eval = EvalScan,
    .work = WorkOfScan,
    .bound = bound::NoRule,
    .audit = audit::Scan,
    .runs_steps = true,
};

}  // namespace assay
