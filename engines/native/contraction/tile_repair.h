// The elements of a row of a tile that the sum in doubles did not settle: special values, zeros,
// pairs, slices.
#ifndef ASSAY_ENGINES_NATIVE_CONTRACTION_TILE_REPAIR_H_
#define ASSAY_ENGINES_NATIVE_CONTRACTION_TILE_REPAIR_H_

#include <vector>

#include "engines/native/contraction/matrix_product.h"
#include "engines/native/sums/product_bounds.h"
#include "engines/native/sums/tiers.h"

namespace assay::native {

// A row of the left operand inside its panel.
struct PackedRow {
  const double* elements;  // element k at elements[k * tile_rows]
  int64_t row;             // its number
  const RowScale* scale;
};
// Neighbouring panels of the right operand.
struct PackedColumns {
  const double* panels;
  int64_t first, count;  // their numbers
  const RowScale* scales;
};

class TileRepair {
 public:
  TileRepair(const SumKernels& kernels, const MatrixProduct& product, int64_t batch)
      : kernels_(kernels), p_(product), format_(*Info(product.type).format), batch_(batch) {}

  // out[j] for every failed[j] != 0; 1 says that the sum is exactly zero. sums[j] is the sum in doubles,
  // if there are any.
  void Row(const PackedRow& row, const PackedColumns& columns, const double* sums, const int64_t* failed,
           double* out, TierCounts& counts);

 private:
  bool SettledByDoubles(const PackedRow& row, const PackedColumns& columns, int64_t j, double sum,
                        double* out) const;
  void Group(const PackedRow& row, const PackedColumns& columns, int64_t group, uint32_t wanted, double* out,
             TierCounts& counts);
  void GroupBySlices(const PackedRow& row, const double* elements, const PackedColumns& columns,
                     int64_t group, uint32_t wanted, double* out);
  // The sum of the terms in double arithmetic, where a term is infinite or NaN.
  double SpecialSum(const PackedRow& row, const double* column) const;
  double ByAccumulator(const PackedRow& row, const double* column) const;
  const double* ColumnOf(const PackedColumns& columns, int64_t j) const {
    return columns.panels + j / kernels_.tile_columns * kernels_.tile_columns * p_.length +
           j % kernels_.tile_columns;
  }

  const SumKernels& kernels_;
  const MatrixProduct& p_;
  const FloatFormat& format_;
  const int64_t batch_;
  std::vector<double> terms_, slices_;
};

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_CONTRACTION_TILE_REPAIR_H_
