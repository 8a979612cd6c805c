// Exact dots of f64: pairs of doubles, whose rounding is tested,
// and wide fixed-point numbers where it is open.
#include "gpu/kernels/device.cuh"
#include "gpu/kernels/dot_arguments.h"
#include "gpu/kernels/dot_entries.cuh"
#include "gpu/kernels/dot_tiles.cuh"
#include "gpu/kernels/exact.cuh"
#include "gpu/kernels/index.cuh"

namespace assay::gpu {

KERNEL(dot_scales_f64, DotScaleArguments, kScaleThreads) { ComputeScales<double>(a); }

constexpr int kPairRows = 64, kPairSide = 16, kPairEntries = kPairRows / kPairSide;
static_assert(kPairDotTile.rows == kPairRows && kPairDotTile.columns == kPairRows &&
              kPairDotTile.threads == kPairSide * kPairSide);

using PairSource = TileSource<double, kPairRows, kPairDotDepth, kPairDotPitch, kPairSide * kPairSide>;

// The sum of products as sum + error: what each product and each addition rounds off is added to `error`.
struct ProductSum {
  double sum = 0, error = 0;
  __device__ __forceinline__ void Add(double x, double y) {
    const double product = MulNearest(x, y);
    double lost;
    TwoSum(sum, product, &sum, &lost);
    error = AddNearest(error, AddNearest(FmaNearest(x, y, -product), lost));
  }
};

// With T >= sum |x y|: products lose at most u T in all, additions u T each, so that what is lost is at most
// (k + 1) u T and the rounding of its sum, of 2 k additions, 2 k (k + 1) u^2 T.
// PairBound of k + 16 terms is more than both.
__device__ __forceinline__ bool RoundEntry(const Rounding& rounding, const EntrySide& row,
                                           const EntrySide& column, double terms, const ProductSum& sum,
                                           uint64_t* bits) {
  const double magnitude = MulUp(row.scale.norm, column.scale.norm);
  const double unit = MulNearest(row.scale.unit, column.scale.unit);
  if (magnitude == 0) {
    *bits = 0;
    return true;
  }
  // Elsewhere products may over- or underflow.
  if (!(magnitude < 0x1p1000 && row.scale.norm < 0x1p1000 && column.scale.norm < 0x1p1000 &&
        unit > 0x1p-1000)) {
    return false;
  }
  return RoundPair({sum.sum, sum.error, magnitude}, PairBound(terms + 16, magnitude, unit), rounding.shape,
                   bits);
}

LARGE_KERNEL(dot_f64, DotArguments, kPairDotTile.threads) {
  auto* const shared = reinterpret_cast<double*>(SharedMemory());
  auto* const table = reinterpret_cast<int64_t*>(shared + 2 * kPairRows * kPairDotPitch);
  const TilePlace place = PlaceOf(a, kPairRows, kPairRows);
  const PairSource left(a.lhs, place.batch, place.row, table);
  const PairSource right(a.rhs, place.batch, place.column, table + kPairRows);
  const int across = threadIdx.x % kPairSide, down = threadIdx.x / kPairSide;
  ProductSum sums[kPairEntries][kPairEntries];
  for (int64_t k = 0; k < left.size(); k += kPairDotDepth) {
    SyncThreads();
    left.Load(k, shared);
    right.Load(k, shared + kPairRows * kPairDotPitch);
    SyncThreads();
#pragma unroll 2
    for (int i = 0; i < kPairDotDepth; ++i) {
      double x[kPairEntries], y[kPairEntries];
#pragma unroll
      for (int j = 0; j < kPairEntries; ++j) {
        x[j] = shared[(down + kPairSide * j) * kPairDotPitch + i];
        y[j] = shared[(kPairRows + across + kPairSide * j) * kPairDotPitch + i];
      }
#pragma unroll
      for (int r = 0; r < kPairEntries; ++r) {
#pragma unroll
        for (int c = 0; c < kPairEntries; ++c) sums[r][c].Add(x[r], y[c]);
      }
    }
  }
  const Rounding rounding(a, place.batch);
#pragma unroll
  for (int r = 0; r < kPairEntries; ++r) {
    const EntrySide row = rounding.Row(place.row + down + kPairSide * r);
#pragma unroll
    for (int c = 0; c < kPairEntries; ++c) {
      const EntrySide column = rounding.Column(place.column + across + kPairSide * c);
      bool open = false;
      if (row.index >= 0 && column.index >= 0) {
        uint64_t bits;
        open = !RoundEntry(rounding, row, column, static_cast<double>(left.size()), sums[r][c], &bits);
        if (!open)
          StoreBits(a.result, rounding.batch_offset + row.offset + column.offset, bits, rounding.shape.bits);
      }
      rounding.NoteOpen(open, row, column);
    }
  }
}

// Products are multiples of 2^-2148; 160 limbs end at 2^2944.
using WideProducts = WideSum<5, -2176>;

// Terms that decide without a sum, which takes a hundred times as long.
__device__ __forceinline__ SpecialTerms FindSpecial(const RowPair<double>& rows) {
  SpecialTerms special;
#pragma unroll 1
  for (int64_t i = threadIdx.x % 32; i < rows.k; i += 32) {
    const Factors<double> factors = rows.At(i);
    if (!IsFinite(factors.left) || !IsFinite(factors.right))
      special.Note(MulNearest(factors.left, factors.right));
  }
  special.OrLanes();
  return special;
}

__device__ inline uint64_t SumProducts(const RowPair<double>& rows, const FloatShape& shape) {
  if (const SpecialTerms special = FindSpecial(rows); special.any()) return special.Bits(shape);
  WideProducts sum;
  for (int64_t i = 0; i < rows.k; i += 32) {
    const int64_t own = i + threadIdx.x % 32;
    const Factors<double> factors = own < rows.k ? rows.At(own) : Factors<double>{0, 0};
    const double x = factors.left, y = factors.right;
    for (uint32_t lane = 0; lane < 32; ++lane) {
      const Parts a = PartsOf(Shuffle(x, lane)), b = PartsOf(Shuffle(y, lane));
      const bool negative = a.negative != b.negative;
      const int exponent = a.exponent + b.exponent;
      sum.Add(a.integer * b.integer, exponent, negative);
      sum.Add(MulHigh(a.integer, b.integer), exponent + 64, negative);
    }
  }
  return sum.Round(shape);
}

LARGE_KERNEL(dot_repair_f64, DotArguments, kRepairThreads) {
  RepairEntries<double>(
      a, [](const RowPair<double>& rows, const FloatShape& shape) { return SumProducts(rows, shape); });
}

}  // namespace assay::gpu
