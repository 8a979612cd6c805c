#include "evaluator/map_elements.h"

#include "absl/container/inlined_vector.h"
#include "evaluator/elements.h"
#include "evaluator/meter.h"
#include "evaluator/registry.h"
#include "evaluator/runtime_sizes.h"
#include "fmt/format.h"

namespace assay {
namespace {

// One element in its compute kind.
struct alignas(16) Element {
  std::byte bytes[16];
};

struct Argument {
  explicit Argument(const Literal& operand)
      : array(operand), load(LoadOneFor(operand.shape().element_type())) {}
  ArrayView array;
  LoadOneFn load;
};

}  // namespace

absl::StatusOr<Literal> MapElements(EvalContext& context, std::span<const Literal> operands,
                                    const StripKernel& f) {
  const Shape& shape = context.result_shape();
  ASSAY_ASSIGN_OR_RETURN(const DimVector sizes, JoinRuntimeSizes(context, operands));
  ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult(shape.HasDynamic()));
  SetRuntimeSizes(result, sizes);
  const absl::InlinedVector<Argument, 3> arguments(operands.begin(), operands.end());
  absl::InlinedVector<Element, 3> values(operands.size());
  absl::InlinedVector<const void*, 3> in;
  for (const Element& value : values) in.push_back(&value);
  const StoreOneFn store = StoreOneFor(shape.element_type());
  const MutableArrayView out(result);
  Element value;
  Meter meter(context);
  for (IndexWalk i(result.runtime_sizes()); !i.done(); i.Next()) {
    for (size_t k = 0; k < arguments.size(); ++k)
      arguments[k].load(arguments[k].array.At(i.index()), &values[k]);
    f.fn(f.params, 1, in.data(), &value);
    store(&value, out.At(i.index()));
    ASSAY_RETURN_IF_ERROR(meter.Add(1));
  }
  ASSAY_RETURN_IF_ERROR(meter.Flush());
  return result;
}

absl::StatusOr<Literal> EvalElementwise(EvalContext& context, std::span<Literal> operands) {
  const Instruction& instruction = context.instruction();
  absl::InlinedVector<ElementType, 3> types;
  for (const Literal& operand : operands) types.push_back(operand.shape().element_type());
  const StripKernel function =
      DefinitionOf(instruction.opcode).strip(instruction, types, context.result_shape().element_type());
  if (function.fn == nullptr) {
    return NotSupported(instruction.position,
                        fmt::format("{}: element type {}", Name(instruction.opcode), Name(types[0])));
  }
  return MapElements(context, operands, function);
}

}  // namespace assay
