#include "engines/native/contraction/tile_repair.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engines/native/sums/enclosed_sum.h"
#include "evaluator/scalar/exact_sum.h"
#include "literal/float_format.h"

namespace assay::native {
namespace {

constexpr int64_t kTermsAtATime = 512;  // of a lane: a cache line each, and they stay in the L1 cache

}  // namespace

void TileRepair::Row(const PackedRow& row, const PackedColumns& columns, const double* sums,
                     const int64_t* failed, double* out, TierCounts& counts) {
  for (int64_t group = 0; group < columns.count; group += kernels_.lanes) {
    uint32_t wanted = 0;
    const int64_t lanes = std::min<int64_t>(kernels_.lanes, columns.count - group);
    for (int64_t l = 0; l < lanes; ++l) {
      const int64_t j = group + l;
      if (failed[j] == 0) continue;
      if (failed[j] > 0) {
        out[j] = RoundToFormat(0.0, format_);
      } else if (sums == nullptr || !SettledByDoubles(row, columns, j, sums[j], out + j)) {
        wanted |= 1u << l;
      }
    }
    if (wanted != 0) Group(row, columns, group, wanted, out, counts);
  }
}

// Settles special values, exact sums outside the normal range, and exact zeros, which are +0 as sums that
// started there are. In doubles no sum of finite exact
// products is infinite, so an infinite or NaN sum is the answer, unless the left rows have gaps (SpecialSum).
bool TileRepair::SettledByDoubles(const PackedRow& row, const PackedColumns& columns, int64_t j, double sum,
                                  double* out) const {
  if (!std::isfinite(sum)) {
    *out = RoundToFormat(p_.lhs->has_gaps() ? SpecialSum(row, ColumnOf(columns, j)) : sum, format_);
    return true;
  }
  if (!(row.scale->ratio * columns.scales[j].ratio < 0x1p52)) return false;
  *out = RoundToFormat(sum, format_);
  return true;
}

void TileRepair::Group(const PackedRow& row, const PackedColumns& columns, int64_t group, uint32_t wanted,
                       double* out, TierCounts& counts) {
  const double* const elements = ColumnOf(columns, group);
  std::array<double, kMaxLanes> sum, error;
  kernels_.pair_products(p_.length, row.elements, kernels_.tile_rows, elements, kernels_.tile_columns,
                         p_.two_products, sum.data(), error.data());
  uint32_t open = 0;
  for (int l = 0; l < kernels_.lanes; ++l) {
    if ((wanted >> l & 1) == 0) continue;
    ++counts.pairs;
    const RowScale& scale = columns.scales[group + l];
    if (!(row.scale->products_in_range && scale.products_in_range)) {
      ++counts.slices;
      out[group + l] = ByAccumulator(row, elements + l);
      continue;
    }
    const double bound = PairsBound(p_.length, *row.scale, scale);
    if (const auto rounded = RoundEnclosed(sum[l], error[l], bound, format_)) {
      out[group + l] = *rounded;
    } else if (bound == 0 && sum[l] + error[l] == 0) {
      out[group + l] = RoundToFormat(0.0, format_);
    } else {
      open |= 1u << l;
      ++counts.slices;
    }
  }
  if (open != 0) GroupBySlices(row, elements, columns, group, open, out);
}

void TileRepair::GroupBySlices(const PackedRow& row, const double* elements, const PackedColumns&,
                               int64_t group, uint32_t wanted, double* out) {
  terms_.resize(2 * kTermsAtATime * kernels_.lanes);
  slices_.resize(kMaxSlices * kernels_.lanes);
  std::array<ExactSum, kMaxLanes> exact;
  for (int64_t k = 0; k < p_.length; k += kTermsAtATime) {
    const int64_t terms = kernels_.products(
        std::min(kTermsAtATime, p_.length - k), row.elements + k * kernels_.tile_rows, kernels_.tile_rows,
        elements + k * kernels_.tile_columns, kernels_.tile_columns, p_.two_products, terms_.data());
    const int slices = kernels_.slices(terms, terms_.data(), slices_.data());
    for (int l = 0; l < kernels_.lanes; ++l) {
      for (int s = 0; s < slices && (wanted >> l & 1) != 0; ++s) {
        const double slice = slices_[s * kernels_.lanes + l];
        if (slice != 0) exact[l].Add(slice);
      }
    }
  }
  for (int l = 0; l < kernels_.lanes; ++l) {
    if ((wanted >> l & 1) == 0) continue;
    out[group + l] = exact[l].Round(format_);
  }
}

double TileRepair::SpecialSum(const PackedRow& row, const double* column) const {
  double sum = 0;
  for (int64_t k = 0; k < p_.length; ++k) {
    if (p_.lhs->IsTerm(batch_, row.row, k))
      sum += row.elements[k * kernels_.tile_rows] * column[k * kernels_.tile_columns];
  }
  // Without the gaps the terms may be finite and cancel: then they are summed exactly.
  return std::isfinite(sum) ? ByAccumulator(row, column) : sum;
}

double TileRepair::ByAccumulator(const PackedRow& row, const double* column) const {
  ExactSum sum;
  sum.Add(0.0);
  if (!p_.lhs->has_gaps()) {
    sum.AddProducts(row.elements, kernels_.tile_rows, column, kernels_.tile_columns, p_.length);
    return sum.Round(format_);
  }
  for (int64_t k = 0; k < p_.length; ++k) {
    if (p_.lhs->IsTerm(batch_, row.row, k))
      sum.AddProduct(row.elements[k * kernels_.tile_rows], column[k * kernels_.tile_columns]);
  }
  return sum.Round(format_);
}

}  // namespace assay::native
