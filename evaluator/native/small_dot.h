// Dots too small for tiles: rows of one operand, few enough to stay in the first cache as doubles, by columns of the other,
// which are read where they lie if they are neighbours there, and packed else. Nothing is allocated but the result.
#ifndef ASSAY_EVALUATOR_NATIVE_SMALL_DOT_H_
#define ASSAY_EVALUATOR_NATIVE_SMALL_DOT_H_

#include <vector>

#include "evaluator/native/row_source.h"
#include "evaluator/native/small_dot_kernels.h"
#include "evaluator/ops/dot_dims.h"

namespace assay::native {

// The loops of a dot of given sizes.
class SmallDot {
 public:
  static constexpr int64_t kMostProducts = 1 << 18;
  static constexpr int64_t kLongest = 1 << 12;  // row

  // Of floats whose products are exact doubles. The box's loops are not empty; it is within the limits above.
  SmallDot(Isa isa, ElementType lhs, ElementType rhs, ElementType result, const DotBox& box);

  void Run(const std::byte* lhs, const std::byte* rhs, std::byte* result) const;

 private:
  class Runner;
  // One operand, and where the result's elements of its rows lie.
  struct Side {
    Side(ElementType type, const LoopDims& batch, const LoopDims& rows, const LoopDims& contracted,
         int array);
    int64_t rows() const { return static_cast<int64_t>(layout.row_at.size()); }
    bool has_one_run() const { return layout.run_at.size() == 1; }

    ElementType type;
    RowLayout layout;
    std::vector<int64_t> out_at;
    bool adjacent;     // row r + 1 lies one element behind row r
    int64_t out_step;  // between neighbouring rows; 0 where it is not always the same
  };
  // Columns [first, first + count) of the side with many rows, in `vectors` vectors.
  struct Panel {
    int64_t first, count;
    int vectors;
  };

  bool IsInPlace(const Side& many) const;
  double CostOf(const Side& few, const Side& many) const;
  void CutPanels();

  const SmallDotKernels& kernels_;
  const SumKernels& sums_;
  const ElementType type_;
  const int64_t length_;
  Side few_, many_;
  bool many_is_rhs_ = true, in_place_ = false;
  std::vector<int64_t> batch_at_;
  std::vector<Panel> panels_;
  int64_t rows_at_once_ = 1, row_step_ = 1;
};

}  // namespace assay::native

#endif  // ASSAY_EVALUATOR_NATIVE_SMALL_DOT_H_
