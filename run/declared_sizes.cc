#include "run/declared_sizes.h"

#include <memory>
#include <string>
#include <utility>

#include "evaluator/open_sizes.h"
#include "evaluator/runtime_sizes.h"
#include "fmt/format.h"

namespace assay {
namespace {

// Decision: static-parameter-size
absl::Status TakeAs(const std::shared_ptr<const Shape>& shape, const Computation& computation, size_t i,
                    Literal& value) {
  ASSAY_RETURN_IF_ERROR(CheckStaticSizes(
      *shape, value, [&] { return fmt::format("parameter {} of {}", i, computation.name); }));
  if (value.HasOpen()) value = WithDeclaredShape(std::move(value), shape);
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckArgument(int64_t number, const Literal& argument, const Shape& wanted) {
  if (!Shape::Compatible(argument.shape(), wanted)) {
    return BadInput(fmt::format("Parameter-C2: argument {} is {}, the program wants {}", number,
                                argument.shape().ToString(), wanted.ToString()));
  }
  const absl::Status smaller =
      CheckStaticSizes(wanted, argument, [&] { return fmt::format("argument {}", number); });
  if (!smaller.ok()) return BadInput(fmt::format("Parameter-C2: {}", std::string(smaller.message())));
  return absl::OkStatus();
}

absl::Status TakeArgument(const Computation& computation, size_t i, Literal& argument) {
  const Instruction& parameter = computation.instructions[static_cast<size_t>(computation.parameters[i])];
  return TakeAs(parameter.shape, computation, i, argument);
}

absl::Status TakeState(const Computation& computation, std::span<Literal> elements) {
  const std::shared_ptr<const Shape>& state =
      computation.instructions[static_cast<size_t>(computation.parameters[0])].shape;
  for (size_t e = 0; e < elements.size(); ++e) {
    const std::shared_ptr<const Shape> shape(state, &state->elements()[e]);
    ASSAY_RETURN_IF_ERROR(TakeAs(shape, computation, 0, elements[e]));
  }
  return absl::OkStatus();
}

// Decision: static-result-size
absl::Status TakeResult(const Instruction& instruction, Literal& result) {
  const std::shared_ptr<const Shape>& declared = PrintedShape(instruction);
  ASSAY_RETURN_IF_ERROR(CheckStaticSizes(*declared, result, [] { return "the result"; }));
  if (IsDeclaredOtherwise(instruction)) result = WithDeclaredShape(std::move(result), declared);
  return absl::OkStatus();
}

}  // namespace assay
