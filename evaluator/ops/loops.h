// Nested loops over several strided arrays at once, for ops whose inner work is a call per row: the loops
// are merged where they can be, and the offsets are kept up to date by additions alone.
#ifndef ASSAY_EVALUATOR_OPS_LOOPS_H_
#define ASSAY_EVALUATOR_OPS_LOOPS_H_

#include <array>
#include <cstdint>
#include <span>

#include "absl/container/inlined_vector.h"
#include "evaluator/eval_context.h"
#include "evaluator/meter.h"
#include "shape/error.h"

namespace assay {

inline constexpr int kLoopArrays = 3;

// One loop: how often it runs and how far each array moves (in elements).
struct LoopDim {
  int64_t size = 1;
  std::array<int64_t, kLoopArrays> strides{};
};
using LoopDims = absl::InlinedVector<LoopDim, 6>;

// The same walk with loops of one turn left out and neighbours joined where every array allows it. The
// order of the walk (last loop fastest) stays.
LoopDims MergeLoops(std::span<const LoopDim> dims);
// Product of the sizes; sizes come from valid shapes.
int64_t LoopCount(std::span<const LoopDim> dims);
// Takes the loop with most turns out of `dims`; one turn where there is none.
LoopDim TakeLongestLoop(LoopDims& dims);
// Takes the last (fastest) loop out of `dims`; one turn where there is none.
LoopDim TakeInnermostLoop(LoopDims& dims);

// for (Loop loop(dims); !loop.done(); loop.Next()) … loop.offset(a) …
class Loop {
 public:
  explicit Loop(std::span<const LoopDim> dims);
  bool done() const { return done_; }
  void Next();
  int64_t offset(int array) const { return offsets_[array]; }
  int64_t index(int64_t d) const { return index_[d]; }

 private:
  std::span<const LoopDim> dims_;
  absl::InlinedVector<int64_t, 6> index_;
  std::array<int64_t, kLoopArrays> offsets_{};
  bool done_ = false;
};

// Row-major strides of an array; zeros where it has no element (its sizes may then be anything).
DimVector StridesOf(const Literal& literal);
// DYN-4: EvalError unless the literals, arrays of one rank, have the same run-time sizes.
absl::Status CheckSameRuntimeSizes(const EvalContext& context, std::span<const Literal> literals);
// Gives each dynamic dimension of `result` the run-time size sizes[d].
void SetRuntimeSizes(Literal& result, std::span<const int64_t> sizes);
// Counts working memory of `elements` times `bytes_each` against the memory limit for as long as the returned
// value lives.
absl::StatusOr<Literal> ReserveScratch(EvalContext& context, int64_t elements, int64_t bytes_each);
// True if some dimension of the shape (or of an element of a tuple) is dynamic: dead elements must be zero.
bool HasDynamicDimension(const Shape& shape);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_OPS_LOOPS_H_
