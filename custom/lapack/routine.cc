#include "custom/lapack/routine.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/counted.h"
#include "evaluator/ops/control/call_config.h"
#include "evaluator/work.h"
#include "fmt/format.h"

namespace assay::custom {
namespace {

absl::Status Invalid(const InferContext& context, std::string_view message) {
  return InvalidProgram({}, fmt::format("{}: {}", CallName(context), message));
}

// "f64[...,m,n]" with the letters' sizes where they are known.
std::string Wanted(const LapackCall& call, const ArrayRule& rule, std::span<const int64_t> batch) {
  std::string sizes;
  const auto add = [&sizes](std::string_view size) {
    if (!sizes.empty()) sizes += ',';
    sizes += size;
  };
  for (const int64_t size : batch) add(fmt::format("{}", size));
  for (const char letter : rule.sizes) {
    add(call.size(letter) < 0 ? std::string(1, letter) : fmt::format("{}", call.size(letter)));
  }
  return fmt::format("{}[{}]", Name(call.TypeOf(rule)), sizes);
}

// Binds the letters of operand `i`, the first of which says the batch.
absl::Status BindOperand(const Routine& routine, size_t i, const InferContext& context, LapackCall& call,
                         DimVector& batch) {
  const ArrayRule& rule = routine.operands[i];
  const Shape& shape = context.operand(static_cast<int64_t>(i));
  const int64_t rank = static_cast<int64_t>(rule.sizes.size());
  bool fits = shape.IsArray() && shape.element_type() == call.TypeOf(rule) && shape.rank() >= rank;
  if (fits && shape.HasDynamic()) {
    return NotSupported({}, fmt::format("{}: operand {} is {}: dimensions without a fixed size",
                                        CallName(context), i, shape.ToString()));
  }
  if (fits) {
    const std::span<const int64_t> leading = shape.sizes().first(shape.rank() - rank);
    if (i == 0) batch.assign(leading.begin(), leading.end());
    fits = std::ranges::equal(leading, batch);
  }
  const LapackCall before = call;
  for (int64_t d = 0; fits && d < rank; ++d) {
    int64_t& size = call.size(rule.sizes[d]);
    const int64_t found = shape.size(shape.rank() - rank + d);
    if (size < 0) size = found;
    fits = size == found;
  }
  if (fits) return absl::OkStatus();
  return Invalid(context, fmt::format("operand {} is {}, wanted {}{}", i, shape.ToString(),
                                      Wanted(before, rule, batch), i == 0 ? " or a batch of such" : ""));
}

absl::StatusOr<int64_t> AttributeOf(const AttributeRule& rule, const InferContext& context) {
  const std::optional<std::string_view> field = ConfigField(context.instruction, rule.name);
  const std::string_view found = field ? *field : "nothing";
  if (rule.kind == AttributeRule::Kind::kBool) {
    if (found == "true" || found == "false") return found == "true";
    return Invalid(context,
                   fmt::format("backend_config has {} = {}, wanted true or false", rule.name, found));
  }
  const std::optional<int64_t> value = ConfigInteger(context.instruction, rule.name);
  if (rule.kind == AttributeRule::Kind::kS32) {
    if (value && *value == static_cast<int32_t>(*value)) return *value;
    return Invalid(context, fmt::format("backend_config has {} = {}, wanted an i32", rule.name, found));
  }
  if (value && *value > 0 && *value < 128 &&
      rule.letters.find(static_cast<char>(*value)) != std::string_view::npos) {
    return *value;
  }
  return Invalid(context, fmt::format("backend_config has {} = {}, wanted the code of one of '{}'", rule.name,
                                      found, rule.letters));
}

}  // namespace

int64_t LapackCall::Elements(const ArrayRule& rule) const {
  int64_t elements = 1;
  for (const char letter : rule.sizes) elements *= size(letter);
  return elements;
}

ElementType LapackCall::TypeOf(const ArrayRule& rule) const {
  switch (rule.type) {
    case ArrayType::kElement:
      return type;
    case ArrayType::kReal:
      return is_complex() ? ComponentType(type) : type;
    case ArrayType::kComplex:
      return type == ElementType::kF32   ? ElementType::kC64
             : type == ElementType::kF64 ? ElementType::kC128
                                         : type;
    case ArrayType::kS32:
      break;
  }
  return ElementType::kS32;
}

std::string CallName(const InferContext& context) {
  return fmt::format("CustomCall: {}", context.attributes().Text(Attr::kCustomCallTarget));
}

absl::StatusOr<LapackCall> BindLapackCall(const Routine& routine, ElementType type,
                                          const InferContext& context) {
  if (context.num_operands() != static_cast<int64_t>(routine.operands.size())) {
    return Invalid(context, fmt::format("{}, wanted {}", Counted(context.num_operands(), "operand"),
                                        routine.operands.size()));
  }
  LapackCall call{.type = type};
  call.sizes.fill(-1);
  DimVector batch;
  for (size_t i = 0; i < routine.operands.size(); ++i)
    ASSAY_RETURN_IF_ERROR(BindOperand(routine, i, context, call, batch));
  // So many matrices have no elements, and neither have the results, or ResultOf refuses them.
  call.matrices = CheckedProduct(batch).value_or(0);
  for (size_t i = 0; i < routine.attributes.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(call.attributes[i], AttributeOf(routine.attributes[i], context));
  }
  if (routine.check != nullptr) ASSAY_RETURN_IF_ERROR(routine.check(context, call));
  return call;
}

absl::StatusOr<Shape> ResultOf(const Routine& routine, const LapackCall& call, const InferContext& context) {
  const Shape& first = context.operand(0);
  const int64_t batch_rank = first.rank() - static_cast<int64_t>(routine.operands[0].sizes.size());
  std::vector<Shape> shapes;
  for (const ArrayRule& rule : routine.results) {
    DimVector sizes(first.sizes().begin(), first.sizes().begin() + batch_rank);
    for (const char letter : rule.sizes) sizes.push_back(call.size(letter));
    ASSAY_ASSIGN_OR_RETURN(Shape shape, Shape::Array(call.TypeOf(rule), sizes));
    shapes.push_back(std::move(shape));
  }
  // XLA hands a single result over as an array or as a tuple of one.
  const bool is_bare = shapes.size() == 1 && (context.declared == nullptr || !context.declared->IsTuple());
  return is_bare ? std::move(shapes[0]) : Shape::Tuple(std::move(shapes));
}

double ElementsOfCall(const Routine& routine, const InstructionView& call) {
  constexpr double kOfIterations =
      20;  // the usual count of products of an SVD or a QR algorithm is 20 to 25 n^3
  double elements = 0, smallest = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < call.num_operands(); ++i) {
    const Shape& shape = call.operand(i);
    elements = std::max(elements, work::Elements(shape));
    for (const int64_t size : shape.sizes().last(routine.operands[i].sizes.size()))
      smallest = std::min(smallest, static_cast<double>(size));
  }
  if (routine.operands[0].sizes.size() < 2) return elements;
  return elements * smallest * (routine.finite != 0 ? kOfIterations : 1);
}

absl::Status CheckFitsIntegers(const Routine& routine, const LapackCall& call, bool by_library) {
  constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();
  const int64_t largest = *std::ranges::max_element(call.sizes);
  if (largest > kLargest) {
    return NotSupported({}, fmt::format("lapack {}: a dimension of size {}, LAPACK's integers end at {}",
                                        routine.name, largest, kLargest));
  }
  if (!by_library) return absl::OkStatus();
  // Below a size of 2^29 no formula of a workspace leaves int64: they are quadratic, with factors below 8.
  const bool is_huge = routine.workspace != nullptr && largest >= (int64_t{1} << 29);
  const Workspace need = routine.workspace == nullptr || is_huge ? Workspace{} : routine.workspace(call);
  if (!is_huge && std::max({need.elements, need.reals, need.ints}) <= kLargest) return absl::OkStatus();
  return NotSupported({}, fmt::format("lapack {}: with a dimension of size {} the length of its workspace is "
                                      "no integer of LAPACK's, which end at {}",
                                      routine.name, largest, kLargest));
}

}  // namespace assay::custom
