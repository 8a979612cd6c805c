#include "evaluator/native/dot_rows.h"

#include <algorithm>

#include "literal/element_io.h"

namespace assay::native {

std::vector<int64_t> OffsetsOf(const LoopDims& loops, int array) {
  std::vector<int64_t> offsets;
  for (Loop loop(loops); !loop.done(); loop.Next()) offsets.push_back(loop.offset(array));
  return offsets;
}

DotRows::DotRows(const DotArray& operand, const DotBox& box, int array, RowForm form)
    : operand_(operand), form_(form), bytes_(Bytes(operand.type)) {
  batch_at_ = OffsetsOf(MergeLoops(box.batch), array);
  row_at_ = OffsetsOf(MergeLoops(array == 0 ? box.rows : box.columns), array);
  LoopDims contracted = MergeLoops(box.contracted[0].loops);
  length_ = LoopCount(contracted);
  run_ = TakeInnermostLoop(contracted);
  run_stride_ = run_.strides[array];
  run_at_ = OffsetsOf(contracted, array);
}

void DotRows::Pack(int64_t batch, int64_t first, int64_t count, int width, double* panel) const {
  const int64_t base = batch_at_[batch];
  const bool by_elements = form_ == RowForm::kReal && run_stride_ != 1 && count > 1 &&
                           row_at_[first + count - 1] - row_at_[first] == count - 1 &&
                           row_at_[first + 1] - row_at_[first] == 1;
  by_elements ? PackByElements(base, first, count, width, panel)
              : PackByRows(base, first, count, width, panel);
}

// Neighbouring rows are neighbours in memory.
void DotRows::PackByElements(int64_t base, int64_t first, int64_t count, int width, double* panel) const {
  const int64_t start = base + row_at_[first];
  for (int64_t at : run_at_) {
    const std::byte* src = operand_.data + (start + at) * bytes_;
    for (int64_t k = 0; k < run_.size; ++k, src += run_stride_ * bytes_, panel += width) {
      LoadStrip(operand_.type, src, bytes_, count, panel);
      std::fill(panel + count, panel + width, 0.0);
    }
  }
}

void DotRows::PackByRows(int64_t base, int64_t first, int64_t count, int width, double* panel) const {
  constexpr int64_t kPiece = 512;
  double rows[kMaxPanelWidth][kPiece];
  const int64_t n = length();
  for (int64_t from = 0; from < n; from += kPiece) {
    const int64_t piece = std::min(kPiece, n - from);
    for (int64_t r = 0; r < count; ++r) {
      const int64_t row = first + r;
      if (form_ == RowForm::kReal) {
        Gather(base + row_at_[row], from, piece, rows[r]);
        continue;
      }
      const bool left = form_ == RowForm::kComplexLeft;
      Gather(base + row_at_[left ? row / 2 : row], from / 2, piece / 2, rows[r]);
      for (int64_t k = 0; left && k < piece; k += 2) {
        if (row % 2 == 0) {
          rows[r][k + 1] = -rows[r][k + 1];
        } else {
          std::swap(rows[r][k], rows[r][k + 1]);
        }
      }
    }
    for (int64_t k = 0; k < piece; ++k, panel += width) {
      for (int64_t r = 0; r < count; ++r) panel[r] = rows[r][k];
      for (int64_t r = count; r < width; ++r) panel[r] = 0;
    }
  }
}

// Elements [from, from + n) of the row at `base`.
void DotRows::Gather(int64_t base, int64_t from, int64_t n, double* dst) const {
  const int64_t doubles = form_ == RowForm::kReal ? 1 : 2;
  for (int64_t run = from / run_.size, skip = from % run_.size; n > 0; ++run, skip = 0) {
    const int64_t count = std::min(n, run_.size - skip);
    LoadStrip(operand_.type, operand_.data + (base + run_at_[run] + skip * run_stride_) * bytes_,
              run_stride_ * bytes_, count, dst);
    dst += count * doubles;
    n -= count;
  }
}

}  // namespace assay::native
