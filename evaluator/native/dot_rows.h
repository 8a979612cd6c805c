// The rows of a dot's operands, gathered from strided arrays.
#ifndef ASSAY_EVALUATOR_NATIVE_DOT_ROWS_H_
#define ASSAY_EVALUATOR_NATIVE_DOT_ROWS_H_

#include <vector>

#include "evaluator/native/matrix_product.h"
#include "evaluator/ops/dot_dims.h"

namespace assay::native {

// How the elements of a complex operand become rows of real numbers (re, im, re, im, …): a left row is two,
// (re, -im, …) whose products with a right one sum to the real part, and (im, re, …) for the imaginary part.
enum class RowForm : uint8_t { kReal, kComplexLeft, kComplexRight };

class DotRows final : public RowSource {
 public:
  // `array` is 0 for the left operand, 1 for the right one; rows are the box's rows or columns.
  DotRows(const DotArray& operand, const DotBox& box, int array, RowForm form);
  int64_t rows() const {
    return static_cast<int64_t>(row_at_.size()) * (form_ == RowForm::kComplexLeft ? 2 : 1);
  }
  int64_t length() const { return length_ * (form_ == RowForm::kReal ? 1 : 2); }

  void Pack(int64_t batch, int64_t first, int64_t count, int width, double* panel) const override;

 private:
  void PackByRows(int64_t base, int64_t first, int64_t count, int width, double* panel) const;
  void PackByElements(int64_t base, int64_t first, int64_t count, int width, double* panel) const;
  void Gather(int64_t base, int64_t from, int64_t n, double* dst) const;

  const DotArray& operand_;
  const RowForm form_;
  const int64_t bytes_;
  std::vector<int64_t> batch_at_, row_at_, run_at_;  // in elements
  LoopDim run_;                                      // the innermost contracted loop; run_at_: the others
  int64_t run_stride_ = 1;
  int64_t length_ = 0;  // in elements
};

// offset(array) of every turn of the loops.
std::vector<int64_t> OffsetsOf(const LoopDims& loops, int array);

}  // namespace assay::native

#endif  // ASSAY_EVALUATOR_NATIVE_DOT_ROWS_H_
