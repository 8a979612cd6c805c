// Computations of scalars as nodes of generated code: calls are inlined, tuples taken apart.
#ifndef ASSAY_EVALUATOR_FUSED_INLINER_H_
#define ASSAY_EVALUATOR_FUSED_INLINER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hlo/module.h"
#include "jit/segment.h"
#include "shape/error.h"

namespace assay::fused {

// An element as often as a loop has lanes.
struct alignas(64) Copies {
  std::byte bytes[jit::kMaxLanes * 8];
};
Copies CopiesOf(const std::byte* element, int bytes);

// What an instruction gives: a node, a leaf of an argument that is no scalar, or a tuple.
struct InlinedValue {
  int node = -1, leaf = -1;
  std::vector<InlinedValue> parts;
};

// What the interpreter counts of a computation: instructions, and elements of elementwise ones.
struct InlinedWork {
  int64_t steps = 0, elements = 0;
};

class Inliner {
 public:
  Inliner(const Module& module, jit::Target target) : module_(module), target_(target) {}

  int AddNode(jit::Node node);
  // A node that loads a new stream of one element.
  int AddStream(ElementType type);
  // The value of the computation's root; NotSupported with the reason where there is no code for it.
  absl::StatusOr<InlinedValue> Inline(ComputationId id, std::vector<InlinedValue> arguments, int depth = 0);

  jit::Segment segment;
  std::vector<Copies> constants;      // of the streams that constants come from, in order
  std::vector<int> constant_streams;  // which these are
  InlinedWork work;                   // of everything inlined

 private:
  absl::StatusOr<std::vector<bool>> Needed(const Computation& computation) const;
  absl::StatusOr<InlinedValue> ValueOf(const Computation& computation, const Instruction& instruction,
                                       const std::vector<InlinedValue>& values, int depth);
  absl::StatusOr<InlinedValue> ScalarOf(const Computation& computation, const Instruction& instruction,
                                        const std::vector<InlinedValue>& operands);

  const Module& module_;
  const jit::Target target_;
  size_t instructions_ = 0;
};

}  // namespace assay::fused

#endif  // ASSAY_EVALUATOR_FUSED_INLINER_H_
