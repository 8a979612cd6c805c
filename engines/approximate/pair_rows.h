// Rows of bf16 as pairs of neighbours, for instructions that add products of pairs in f32 (AVX512_BF16).
#ifndef ASSAY_ENGINES_APPROXIMATE_PAIR_ROWS_H_
#define ASSAY_ENGINES_APPROXIMATE_PAIR_ROWS_H_

#include "engines/native/sums/row_source.h"

namespace assay::approximate {

// Element k of a row is elements 2 k (the low half) and 2 k + 1 of the same row of `rows`, whose values are
// those of bf16; a last element without a neighbour has a zero beside it.
class PairRows final : public native::RowSource<float> {
 public:
  PairRows(const native::RowSource<float>& rows, int64_t length) : rows_(rows), length_(length) {}

  void Pack(int64_t batch, int64_t first, int64_t count, int width, float* panel) const override;
  void Rows(int64_t batch, int64_t first, int64_t count, float* rows, int64_t stride) const override;
  bool ByRows() const override { return rows_.ByRows(); }

 private:
  const native::RowSource<float>& rows_;
  const int64_t length_;  // of a row of `rows_`
};

}  // namespace assay::approximate

#endif  // ASSAY_ENGINES_APPROXIMATE_PAIR_ROWS_H_
