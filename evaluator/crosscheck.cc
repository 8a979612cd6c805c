#include "evaluator/crosscheck.h"

#include <algorithm>
#include <cmath>

#include "absl/container/flat_hash_map.h"
#include "literal/compare.h"

namespace assay {
namespace {

double Elements(const Shape& shape) {
  if (shape.IsArray()) return static_cast<double>(shape.num_elements());
  double sum = 0;
  if (shape.IsTuple()) {
    for (const Shape& element : shape.elements()) sum += Elements(element);
  }
  return sum;
}

}  // namespace

double ReferenceWork(const Computation& computation, const Instruction& instruction) {
  const double result = Elements(*instruction.shape);
  double sum = result, product = result;
  for (int32_t operand : instruction.operands) {
    const double elements = Elements(*computation.instructions[operand].shape);
    sum += elements;
    product *= std::max(1.0, elements);
  }
  switch (instruction.opcode) {
    // [m, k] by [k, n]: the sizes' product is (m k)(k n)(m n), the square of the number of products. Batches
    // and convolutions have fewer.
    case Opcode::kDot:
    case Opcode::kRaggedDot:
    case Opcode::kScaledDot:
    case Opcode::kConvolution:
      return std::max(sum, std::sqrt(product));
    // Each result may be a sum over a whole window.
    case Opcode::kReduceWindow:
    case Opcode::kSelectAndScatter: {
      double window = 1;
      for (const WindowDimension& dimension : instruction.attributes.WindowOf()) {
        window *= static_cast<double>(dimension.size);
      }
      return sum * window;
    }
    default:
      return sum;
  }
}

absl::StatusOr<Literal> RunMembers(
    const Computation& computation, const Fusion& fusion, std::span<const Literal> operands,
    absl::FunctionRef<absl::StatusOr<Literal>(const Instruction&, std::span<Literal>)> run) {
  absl::flat_hash_map<int32_t, Literal> values;
  for (size_t k = 0; k < operands.size(); ++k) values[fusion.operands[k]] = operands[k];
  absl::flat_hash_map<int32_t, size_t> last_uses;
  for (size_t m = 0; m < fusion.members.size(); ++m) {
    for (int32_t operand : computation.instructions[fusion.members[m]].operands) last_uses[operand] = m;
  }
  for (size_t m = 0; m < fusion.members.size(); ++m) {
    const Instruction& instruction = computation.instructions[fusion.members[m]];
    std::vector<Literal> of_member;
    for (int32_t operand : instruction.operands) of_member.push_back(values[operand]);
    for (int32_t operand : instruction.operands) {
      if (last_uses[operand] == m) values.erase(operand);
    }
    ASSAY_ASSIGN_OR_RETURN(Literal value, run(instruction, std::span<Literal>(of_member)));
    values[fusion.members[m]] = std::move(value);
  }
  return std::move(values[fusion.members.back()]);
}

absl::Status CompareWithReference(const Literal& reference, const Literal& actual) {
  const Comparison comparison = CompareLiterals(reference, actual, {.bitwise = true});
  if (comparison.ok()) return absl::OkStatus();
  return ComparisonFailed("cross-check: the fast kernel differs from the reference: " + comparison.Report());
}

}  // namespace assay
