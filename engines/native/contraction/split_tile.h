// The sums of products of split elements of one tile (split_kernels.h).
#ifndef ASSAY_ENGINES_NATIVE_CONTRACTION_SPLIT_TILE_H_
#define ASSAY_ENGINES_NATIVE_CONTRACTION_SPLIT_TILE_H_

#include "engines/native/sums/split_kernels.h"

namespace assay::native {

// Neighbouring panels of packed rows of n elements, and their high units by row.
struct SplitPanels {
  const double* panels;
  int64_t rows;  // whole panels
  const double* high_units;
};

class SplitTile {
 public:
  SplitTile(const SumKernels& sums, const SplitKernels& splits) : kernels_(sums), splits_(splits) {}

  // The sums of a tile of at most kMaxRows rows and kMaxColumns columns. Without the low sums, the middle
  // ones take all of the right operand.
  void Multiply(int64_t n, const SplitPanels& lhs, const SplitPanels& rhs, bool with_low);
  SplitSums Row(int64_t r) const;

  // The longest chain of additions in a middle sum.
  static int64_t Chain(int64_t n);

  static constexpr int64_t kMaxRows = 96 + kMaxPanelWidth, kMaxColumns = 256 + kMaxPanelWidth;

 private:
  const SumKernels& kernels_;
  const SplitKernels& splits_;
  const double* sums_ = nullptr;
  int64_t rows_ = 0, columns_ = 0;
  bool with_low_ = true;
};

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_CONTRACTION_SPLIT_TILE_H_
