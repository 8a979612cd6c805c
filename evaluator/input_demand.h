// What an op asks of the values of its operands, so that random inputs mean something: indices in range,
// sorted or distinct where the program promises that, matrices that factorise. The op table says what each op
// demands, and which operands a demand on its result falls on; run/inputs/input_demands.h follows
// them back to the parameters.
#ifndef ASSAY_EVALUATOR_INPUT_DEMAND_H_
#define ASSAY_EVALUATOR_INPUT_DEMAND_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "evaluator/instruction_view.h"

namespace assay {

struct InputDemand {
  enum class Kind : uint8_t {
    kIndices,    // vectors of integers, each component in its own range
    kPartition,  // rows of `width` sizes >= 0 with a sum of at most `bound`
    kMatrices,   // Hermitian positive definite, `width` x `width`
  };
  // low + step * [0, count): a range of one component.
  struct Component {
    int64_t low = 0, count = 1, step = 1;
    int64_t rank = 0;  // lower: more significant when vectors are ordered
    friend bool operator==(const Component&, const Component&) = default;
  };
  Kind kind = Kind::kIndices;
  // kIndices: in row-major order, element p is component (p / inner) % components.size() of the vector
  // (p / (inner * components.size())) * inner + p % inner.
  std::vector<Component> components = {Component{}};
  int64_t inner = 1;
  bool sorted = false, unique = false;
  int64_t width = 0, bound = 0;
};

// A demand on the array at `path` in operand `operand`; or, where there is a callee, in what that gives.
struct OperandDemand {
  int64_t operand;
  InputDemand demand;
  std::vector<int64_t> path = {};
  std::optional<ComputationId> callee = std::nullopt;
};

// Appends what the op demands of its operands by itself.
using DemandFn = void (*)(const InstructionView& view, std::vector<OperandDemand>& demands);
// Appends what a demand on the array at `path` in the result demands of the operands;
// nothing where it is given up.
using PassDemandFn = void (*)(const InstructionView& view, const InputDemand& demand,
                              std::span<const int64_t> path, std::vector<OperandDemand>& demands);

namespace demand {

InputDemand::Component RangeUpTo(int64_t high);  // 0 to high
InputDemand OneRange(int64_t low, int64_t high);
// Index vectors of gather and scatter: component j starts a window of extent[map[j]] in
// dimension map[j] of `operand`.
InputDemand IndexVectors(const AttributeMap& attributes, const Shape& operand, const Shape& indices,
                         std::span<const int64_t> map, std::span<const int64_t> extent);
// Operands `first` and after are start indices of windows of the size `extent` in operand 0: scalars,
// or one vector.
void AddStarts(const InstructionView& view, size_t first, std::span<const int64_t> extent,
               std::vector<OperandDemand>& demands);
// Operand 0 is square matrices that have a Cholesky factor.
void Matrices(const InstructionView& view, std::vector<OperandDemand>& demands);

// What is left of a demand once elements are moved about, repeated or dropped: each element alone is safe.
// A demand on whole matrices leaves nothing: then nullopt.
std::optional<InputDemand> Loosened(const InputDemand& demand);
void AddLoosened(int64_t operand, const InputDemand& demand, std::vector<OperandDemand>& demands);

// The result's elements are those of the operands k..., at the same row-major positions.
template <int64_t... k>
void InPlace(const InstructionView&, const InputDemand& demand, std::span<const int64_t>,
             std::vector<OperandDemand>& demands) {
  (demands.push_back({k, demand}), ...);
}
// The result's elements are some of those of the operands k..., wherever they stand.
template <int64_t... k>
void Moved(const InstructionView&, const InputDemand& demand, std::span<const int64_t>,
           std::vector<OperandDemand>& demands) {
  (AddLoosened(k, demand, demands), ...);
}
// The result is operand 0, an array or a tuple.
void Whole(const InstructionView& view, const InputDemand& demand, std::span<const int64_t> path,
           std::vector<OperandDemand>& demands);
// The result is what one of the called computations gives.
void OfCallees(const InstructionView& view, const InputDemand& demand, std::span<const int64_t> path,
               std::vector<OperandDemand>& demands);
// {first, path...}
std::vector<int64_t> Prepend(int64_t first, std::span<const int64_t> path);

}  // namespace demand
}  // namespace assay

#endif  // ASSAY_EVALUATOR_INPUT_DEMAND_H_
