// Nested loops over several strided arrays at once, for kernels whose inner work is a call per row: the loops
// are merged where they can be, and the offsets are kept up to date by additions alone.
#ifndef ASSAY_ENGINES_NATIVE_WALK_LOOPS_H_
#define ASSAY_ENGINES_NATIVE_WALK_LOOPS_H_

#include <array>
#include <cstdint>
#include <span>

#include "absl/container/inlined_vector.h"
#include "base/error.h"
#include "literal/literal.h"

namespace assay::native {

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
// Takes the last (fastest) loop out of `dims`; one turn where there is none.
LoopDim TakeInnermostLoop(LoopDims& dims);

// for (LoopNest loop(dims); !loop.done(); loop.Next()) … loop.offset(a) …
class LoopNest {
 public:
  explicit LoopNest(std::span<const LoopDim> dims);
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

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_WALK_LOOPS_H_
