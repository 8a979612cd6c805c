// Exact dots of f32: sums in doubles on tensor cores, whose entries pass a rounding test or
// are summed again, exactly.
#include "gpu/kernels/device.cuh"
#include "gpu/kernels/dot_arguments.h"
#include "gpu/kernels/dot_entries.cuh"
#include "gpu/kernels/dot_tiles.cuh"
#include "gpu/kernels/exact.cuh"
#include "gpu/kernels/index.cuh"

namespace assay::gpu {

KERNEL(dot_scales_f32, DotScaleArguments, kScaleThreads) { ComputeScales<float>(a); }

// A warp has kDown x kAcross products of 16 x 8, and a block kWarpsDown x kWarpsAcross warps.
template <int kDown, int kAcross, int kWarpsDown, int kWarpsAcross>
struct DotKernel {
  static constexpr int kRows = 16 * kDown * kWarpsDown, kColumns = 8 * kAcross * kWarpsAcross;
  static constexpr int kThreads = 32 * kWarpsDown * kWarpsAcross;
  static constexpr int kStage = (kRows + kColumns) * kDotPitch;
  template <int kOfTile>
  using Source = TileSource<float, kOfTile, kDotDepth, kDotPitch, kThreads>;

  __device__ __forceinline__ static void MultiplyStage(const float* left, const float* right,
                                                       double (&c)[kDown][kAcross][4]) {
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    double b[kAcross][4];
#pragma unroll
    for (int j = 0; j < kAcross; ++j) {
#pragma unroll
      for (int i = 0; i < 4; ++i) b[j][i] = right[(8 * j + g) * kDotPitch + 4 * i + t];
    }
#pragma unroll
    for (int d = 0; d < kDown; ++d) {
      double m[8];
#pragma unroll
      for (int i = 0; i < 8; ++i) m[i] = left[(16 * d + g + 8 * (i % 2)) * kDotPitch + 4 * (i / 2) + t];
#pragma unroll
      for (int j = 0; j < kAcross; ++j) MmaF64(c[d][j], m, b[j]);
    }
  }

  __device__ __forceinline__ static void Run(const DotArguments& a) {
    auto* const shared = reinterpret_cast<float*>(SharedMemory());
    auto* const offsets = reinterpret_cast<int64_t*>(shared + kDotStages * kStage);
    const TilePlace place = PlaceOf(a, kRows, kColumns);
    const Source<kRows> left(a.lhs, place.batch, place.row, offsets);
    const Source<kColumns> right(a.rhs, place.batch, place.column, offsets + kRows);
    SyncThreads();
    const int64_t stages = (SizeOf(a.lhs.depth) + kDotDepth - 1) / kDotDepth;
    const auto load = [&](int64_t stage) {
      if (stage < stages) {
        float* const to = shared + stage % kDotStages * kStage;
        left.Load(stage * kDotDepth, to);
        right.Load(stage * kDotDepth, to + kRows * kDotPitch);
      }
      CopyAsyncCommit();
    };
    for (int stage = 0; stage < kDotStages - 1; ++stage) load(stage);
    const int warp = threadIdx.x / 32, down = warp / kWarpsAcross * kDown * 16,
              across = warp % kWarpsAcross * kAcross * 8;
    double c[kDown][kAcross][4] = {};
    for (int64_t stage = 0; stage < stages; ++stage) {
      CopyAsyncWait<kDotStages - 2>();
      // This stage is there for all; and all are done with the one before, which the next copies overwrite.
      SyncThreads();
      load(stage + kDotStages - 1);
      const float* const at = shared + stage % kDotStages * kStage;
      MultiplyStage(at + down * kDotPitch, at + (kRows + across) * kDotPitch, c);
    }
    CopyAsyncWait<0>();
    Store(a, place, down, across, c);
  }

  // What is known of the tile's rows and columns is put into shared memory first.
  __device__ __forceinline__ static void Store(const DotArguments& a, const TilePlace& place, int down,
                                               int across, const double (&c)[kDown][kAcross][4]) {
    auto* const sides = reinterpret_cast<EntrySide*>(SharedMemory());
    static_assert((kRows + kColumns) * sizeof(EntrySide) <= kDotStages * kStage * sizeof(float));
    const Rounding rounding(a, place.batch);
    SyncThreads();
    for (int i = threadIdx.x; i < kRows + kColumns; i += kThreads) {
      sides[i] = i < kRows ? rounding.Row(place.row + i) : rounding.Column(place.column + i - kRows);
    }
    SyncThreads();
    const int lane = threadIdx.x % 32;
    const EntrySide* const rows = sides + down + lane / 4;
    const EntrySide* const columns = sides + kRows + across + lane % 4 * 2;
#pragma unroll
    for (int d = 0; d < kDown; ++d) {
#pragma unroll
      for (int j = 0; j < kAcross; ++j) {
#pragma unroll
        for (int i = 0; i < 4; ++i)
          rounding.Finish(rows[16 * d + 8 * (i / 2)], columns[8 * j + i % 2], c[d][j][i]);
      }
    }
  }
};

using LargeDot = DotKernel<4, 4, 2, 4>;
static_assert(LargeDot::kRows == kDotTile.rows && LargeDot::kColumns == kDotTile.columns &&
              LargeDot::kThreads == kDotTile.threads);
KERNEL(dot_f32, DotArguments, kDotTile.threads) { LargeDot::Run(a); }

using SmallDot = DotKernel<1, 2, 2, 2>;
static_assert(SmallDot::kRows == kSmallDotTile.rows && SmallDot::kColumns == kSmallDotTile.columns &&
              SmallDot::kThreads == kSmallDotTile.threads);
LARGE_KERNEL(dot_small_f32, DotArguments, kSmallDotTile.threads) { SmallDot::Run(a); }

using FloatRows = RowPair<float>;

__device__ __forceinline__ double TermOf(const FloatRows& rows, int64_t i) {
  const Factors<float> factors = rows.At(i);
  return MulNearest(factors.left, factors.right);  // exact
}

// Products have 48 bits, from 2^-298 on; 32 limbs end at 2^724.
__device__ inline uint64_t SumWide(const FloatRows& rows, const FloatShape& shape) {
  WideSum<1, -300> sum;
  for (int64_t i = 0; i < rows.k; i += 32) {
    const int64_t own = i + threadIdx.x % 32;
    const double term = own < rows.k ? TermOf(rows, own) : 0.0;
    const auto count = static_cast<uint32_t>(rows.k - i < 32 ? rows.k - i : 32);
    for (uint32_t lane = 0; lane < count; ++lane) {
      const Parts parts = PartsOf(Shuffle(term, lane));
      sum.Add(parts.integer, parts.exponent, parts.negative);
    }
  }
  return sum.Round(shape);
}

__device__ inline uint64_t SumAgain(const FloatRows& rows, const FloatShape& shape) {
  PairSum pair;
  SpecialTerms special;
  for (int64_t i = threadIdx.x % 32; i < rows.k; i += 32) {
    const double term = TermOf(rows, i);
    special.Note(term);
    pair.Add(term);
  }
  special.OrLanes();
  if (special.any()) return special.Bits(shape);
  pair.AddLanes();
  uint64_t bits;
  const double bound = PairBound(static_cast<double>(rows.k + 32), pair.magnitude, rows.unit);
  if (RoundPair(pair, bound, shape, &bits)) return bits;
  return SumWide(rows, shape);
}

KERNEL(dot_repair_f32, DotArguments, kRepairThreads) {
  RepairEntries<float>(a,
                       [](const FloatRows& rows, const FloatShape& shape) { return SumAgain(rows, shape); });
}

}  // namespace assay::gpu
