// Exact dots of f32: sums in doubles on tensor cores, whose entries pass a rounding test or are summed again, exactly.
#include "gpu/kernels/device.cuh"
#include "gpu/kernels/dot_arguments.h"
#include "gpu/kernels/dot_entries.cuh"
#include "gpu/kernels/exact.cuh"
#include "gpu/kernels/index.cuh"

namespace assay::gpu {

KERNEL(dot_scales_f32, DotScaleArguments, kScaleThreads) { ComputeScales<float>(a); }

constexpr int64_t kNoRow = INT64_MIN;

// The rows [first, first + kRows) of an operand, kDotDepth elements of k of them at a time, to shared memory.
template <int kRows, int kThreads>
class TileSource {
 public:
  // `offsets` are shared memory for kRows numbers, which the block must wait for.
  __device__ __forceinline__ TileSource(const DotOperand& operand, int64_t batch, int64_t first,
                                        int64_t* offsets)
      : from_(reinterpret_cast<const float*>(operand.address) + OffsetOf(operand.batch, batch)),
        size_(SizeOf(operand.depth)),
        depth_(operand.depth),
        offsets_(offsets) {
    const int64_t rows = SizeOf(operand.rows);
    for (int row = threadIdx.x; row < kRows; row += kThreads) {
      offsets[row] = first + row < rows ? OffsetOf(operand.rows, first + row) : kNoRow;
    }
    way_ = WordsAreAligned(operand)                                                    ? kWords
           : InnermostStride(operand.rows) == 1 && InnermostStride(operand.depth) != 1 ? kAlongRows
                                                                                       : kAlongDepth;
  }

  __device__ __forceinline__ void Load(int64_t k, float* to) const {
    if (way_ == kWords) {
      LoadWords(k, to);
    } else if (way_ == kAlongRows) {
      const int row = threadIdx.x % kRows, first = threadIdx.x / kRows;
      const int64_t at = offsets_[row];
#pragma unroll
      for (int offset = 0; offset < kDotDepth; offset += kThreads / kRows) {
        LoadElement(k + first + offset, at, to + row * kDotPitch + first + offset);
      }
    } else {
      const int offset = threadIdx.x % kDotDepth, first = threadIdx.x / kDotDepth;
      const bool valid = k + offset < size_;
      const int64_t depth = valid ? OffsetOf(depth_, k + offset) : 0;
#pragma unroll
      for (int row = 0; row < kRows; row += kThreads / kDotDepth) {
        const int64_t at = offsets_[first + row];
        const bool inside = valid && at != kNoRow;
        CopyAsync4(to + (first + row) * kDotPitch + offset, inside ? from_ + at + depth : from_,
                   inside ? 4 : 0);
      }
    }
  }

 private:
  enum Way { kWords, kAlongRows, kAlongDepth };

  // Four elements of k are side by side in memory, and aligned as 16 bytes.
  __device__ __forceinline__ bool WordsAreAligned(const DotOperand& operand) const {
    bool aligned = reinterpret_cast<uintptr_t>(from_) % 16 == 0 && InnermostStride(depth_) == 1;
    for (int d = 0; d < operand.rows.rank; ++d) aligned &= operand.rows.strides[d] % 4 == 0;
    for (int d = 0; d + 1 < depth_.rank; ++d) aligned &= depth_.strides[d] % 4 == 0;
    return aligned && (depth_.rank == 1 || depth_.sizes[depth_.rank - 1] % 4 == 0);
  }
  __device__ __forceinline__ void LoadWords(int64_t k, float* to) const {
    constexpr int kWordsOfRow = kDotDepth / 4;
    const int offset = threadIdx.x % kWordsOfRow * 4, first = threadIdx.x / kWordsOfRow;
    const int64_t left = size_ - k - offset, depth = left > 0 ? OffsetOf(depth_, k + offset) : 0;
    const uint32_t bytes = left >= 4 ? 16 : left > 0 ? static_cast<uint32_t>(left) * 4 : 0;
#pragma unroll
    for (int row = 0; row < kRows; row += kThreads / kWordsOfRow) {
      const int64_t at = offsets_[first + row];
      const bool inside = bytes != 0 && at != kNoRow;
      CopyAsync16(to + (first + row) * kDotPitch + offset, inside ? from_ + at + depth : from_,
                  inside ? bytes : 0);
    }
  }
  __device__ __forceinline__ void LoadElement(int64_t k, int64_t row, float* to) const {
    const bool inside = k < size_ && row != kNoRow;
    CopyAsync4(to, inside ? from_ + row + OffsetOf(depth_, k) : from_, inside ? 4 : 0);
  }

  const float* const from_;
  const int64_t size_;
  const Strides& depth_;
  const int64_t* const offsets_;
  Way way_;
};

// A warp has kDown x kAcross products of 16 x 8, and a block kWarpsDown x kWarpsAcross warps.
template <int kDown, int kAcross, int kWarpsDown, int kWarpsAcross>
struct DotKernel {
  static constexpr int kRows = 16 * kDown * kWarpsDown, kColumns = 8 * kAcross * kWarpsAcross;
  static constexpr int kThreads = 32 * kWarpsDown * kWarpsAcross;
  static constexpr int kStage = (kRows + kColumns) * kDotPitch;

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
    const TileSource<kRows, kThreads> left(a.lhs, place.batch, place.row, offsets);
    const TileSource<kColumns, kThreads> right(a.rhs, place.batch, place.column, offsets + kRows);
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
KERNEL(dot_small_f32, DotArguments, kSmallDotTile.threads) { SmallDot::Run(a); }

// Two rows whose product is wanted once more, by a warp.
struct RowPair {
  const float *left, *right;
  const Strides &left_depth, &right_depth;
  int64_t k;
  double unit;

  __device__ __forceinline__ double Term(int64_t i) const {
    return MulNearest(left[OffsetOf(left_depth, i)], right[OffsetOf(right_depth, i)]);  // exact
  }
};

// Products have 48 bits, from 2^-298 on; 32 limbs end at 2^724.
__device__ inline uint64_t SumWide(const RowPair& rows, const FloatShape& shape) {
  WideSum<1, -300> sum;
  for (int64_t i = 0; i < rows.k; i += 32) {
    const int64_t own = i + threadIdx.x % 32;
    const double term = own < rows.k ? rows.Term(own) : 0.0;
    const auto count = static_cast<uint32_t>(rows.k - i < 32 ? rows.k - i : 32);
    for (uint32_t lane = 0; lane < count; ++lane) {
      const Parts parts = PartsOf(Shuffle(term, lane));
      sum.Add(parts.integer, parts.exponent, parts.negative);
    }
  }
  return sum.Round(shape);
}

__device__ inline uint64_t SumAgain(const RowPair& rows, const FloatShape& shape) {
  PairSum pair;
  SpecialTerms special;
  for (int64_t i = threadIdx.x % 32; i < rows.k; i += 32) {
    const double term = rows.Term(i);
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

// A warp takes every so manieth of the open entries.
KERNEL(dot_repair_f32, DotArguments, kRepairThreads) {
  const uint32_t count = *reinterpret_cast<const uint32_t*>(a.open_count);
  const int64_t rows = SizeOf(a.lhs.rows), columns = SizeOf(a.rhs.rows);
  const uint64_t warps = static_cast<uint64_t>(gridDim.x) * (kRepairThreads / 32);
  for (uint64_t i = blockIdx.x * (kRepairThreads / 32) + threadIdx.x / 32; i < count; i += warps) {
    int64_t batch = reinterpret_cast<const uint32_t*>(a.open)[i];
    const int64_t column = SplitIndex(&batch, columns), row = SplitIndex(&batch, rows);
    const Rounding rounding(a, batch);
    const EntrySide entry_row = rounding.Row(row), entry_column = rounding.Column(column);
    const RowPair pair{reinterpret_cast<const float*>(a.lhs.address) + OffsetOf(a.lhs.batch, batch) +
                           OffsetOf(a.lhs.rows, row),
                       reinterpret_cast<const float*>(a.rhs.address) + OffsetOf(a.rhs.batch, batch) +
                           OffsetOf(a.rhs.rows, column),
                       a.lhs.depth,
                       a.rhs.depth,
                       SizeOf(a.lhs.depth),
                       entry_row.scale.unit * entry_column.scale.unit};
    const uint64_t bits = SumAgain(pair, rounding.shape);
    if (threadIdx.x % 32 == 0) {
      StoreBits(a.result, rounding.batch_offset + entry_row.offset + entry_column.offset, bits,
                rounding.shape.bits);
    }
  }
}

}  // namespace assay::gpu
