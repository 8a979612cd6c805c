// Computations of scalars, or of arrays of few elements, as nodes of generated code: calls are inlined,
// tuples taken apart. An array of one element is in every lane, as a scalar is;
// of a larger one each lane has an element.
#ifndef ASSAY_ENGINES_CODEGEN_INLINER_H_
#define ASSAY_ENGINES_CODEGEN_INLINER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "evaluator/inlining.h"
#include "jit/segment.h"

namespace assay::codegen {

// A value as loops of one turn at a time have it: an element in every lane.
struct alignas(64) Copies {
  std::byte bytes[jit::kMaxLanes * 8];
};
Copies CopiesOf(const std::byte* element, int bytes);
// The n > 1 elements of an array, zeros behind them.
Copies LanesOf(const std::byte* elements, int64_t n, int bytes);

// An InlinedValue whose id is that of a node, or says that the value is argument leaf `leaf`, which is none.
inline InlinedValue NodeValue(int node) { return {.id = node}; }
inline InlinedValue LeafValue(int leaf) { return {.id = -2 - leaf}; }

class Inliner {
 public:
  // Arrays may have up to `most_elements`.
  Inliner(const Module& module, Isa target, int64_t most_elements = 1)
      : module_(module), target_(target), most_elements_(most_elements) {}

  int AddNode(jit::Node node);
  // The array can be a node's value.
  bool Fits(const Shape& shape) const;
  // A node that loads a new stream of one value.
  int AddStream(ElementType type);
  // The value of the computation's root; NotSupported with the reason where there is no code for it.
  absl::StatusOr<InlinedValue> Inline(ComputationId id, std::span<const InlinedValue> arguments);

  jit::Segment segment;
  std::vector<Copies> constants;      // of the streams that constants come from, in order
  std::vector<int> constant_streams;  // which these are
  int64_t counts = 0;                 // of everything inlined (evaluator/steps.h)
  int64_t elements = 1;               // of the largest array

 private:
  // The rules of evaluator/inlining.h.
  absl::StatusOr<std::vector<bool>> Live(const Computation& computation);
  absl::StatusOr<std::optional<ComputationId>> CalleeOf(const Computation& caller, int32_t index, int depth);
  absl::StatusOr<InlinedValue> Emit(const Computation& computation, int32_t index,
                                    std::span<const InlinedValue> values);
  absl::StatusOr<InlinedValue> ArrayOf(const Computation& computation, const Instruction& instruction,
                                       std::span<const InlinedValue> values);
  // The value of an instruction that only moves elements; nothing where it is none that
  // can be had without memory.
  std::optional<InlinedValue> Moved(const Computation& computation, const Instruction& instruction,
                                    const InlinedValue& operand);
  InlinedValue ConstantOf(const Literal& literal);

  const Module& module_;
  const Isa target_;
  const int64_t most_elements_;
  size_t instructions_ = 0;
};

}  // namespace assay::codegen

#endif  // ASSAY_ENGINES_CODEGEN_INLINER_H_
