// Dots by float tensor cores: products of TF32, bf16 or f16 with sums in f32, which are cut, not rounded.
//
// A result that is not finite is summed again by a warp, in f32: the conversion to TF32 makes infinities of
// the largest f32, and padding beside an infinity is no term.
#include "gpu/kernels/device.cuh"
#include "gpu/kernels/dot_entries.cuh"
#include "gpu/kernels/dot_tiles.cuh"
#include "gpu/kernels/exact.cuh"
#include "gpu/kernels/fast/dot_fast_arguments.h"
#include "gpu/kernels/index.cuh"

namespace assay::gpu {

template <MmaFloat kType>
struct FastElement {
  using Stored = uint16_t;
};
template <>
struct FastElement<MmaFloat::kTf32> {
  using Stored = uint32_t;
};

template <MmaFloat kType>
__device__ __forceinline__ float ValueOf(typename FastElement<kType>::Stored bits) {
  if constexpr (kType == MmaFloat::kTf32) {
    return BitsAs<float>(bits);
  } else if constexpr (kType == MmaFloat::kBf16) {
    return BitsAs<float>(static_cast<uint32_t>(bits) << 16);
  } else {
    return HalfToFloat(bits);
  }
}

// OffsetOf where it need not be fast: a call, as its divisions take a lot of code.
__device__ OUTLINE int64_t PlaceBy(const Strides& dimensions, const int64_t* strides, int64_t index) {
  return dimensions.rank == 0 ? 0 : OffsetByDivisions(dimensions, strides, index);
}
__device__ __forceinline__ int64_t PlaceBy(const Strides& dimensions, int64_t index) {
  return PlaceBy(dimensions, dimensions.strides, index);
}

__device__ __forceinline__ bool IsFiniteSum(float sum) {
  return (BitsAs<uint32_t>(sum) & 0x7f800000) != 0x7f800000;
}

__device__ __forceinline__ uint64_t FloatBits(float sum, const FloatShape& shape) {
  if (IsFiniteSum(sum)) return RoundDouble(sum, shape);
  if (IsNan(sum)) return NanBits(shape);
  return InfinityBits(shape) | (sum < 0 ? uint64_t{1} << (shape.bits - 1) : 0);
}

// One element by a warp, which adds every 32nd product in each lane. Its roundings to nearest are fewer than
// those that the bound allows for.
template <MmaFloat kType>
__device__ OUTLINE void SumAgain(const FastDotArguments& a, int64_t batch, int64_t row, int64_t column) {
  using Stored = typename FastElement<kType>::Stored;
  const auto* const left =
      reinterpret_cast<const Stored*>(a.lhs.address) + PlaceBy(a.lhs.batch, batch) + PlaceBy(a.lhs.rows, row);
  const auto* const right = reinterpret_cast<const Stored*>(a.rhs.address) + PlaceBy(a.rhs.batch, batch) +
                            PlaceBy(a.rhs.rows, column);
  const int64_t depth = SizeOf(a.lhs.depth);
  float sum = 0;
  for (int64_t first = 0; first < depth; first += 32) {
    const int64_t k = first + threadIdx.x % 32;
    if (k < depth) {
      const float x = ValueOf<kType>(left[PlaceBy(a.lhs.depth, k)]);
      const bool is_padding = a.lhs_has_padding != 0 && IsNegativeZero(x);
      if (!is_padding) sum = FmaNearest(x, ValueOf<kType>(right[PlaceBy(a.rhs.depth, k)]), sum);
    }
    if (AnyOf(IsNan(sum))) break;
  }
#pragma unroll
  for (uint32_t mask = 16; mask != 0; mask /= 2) sum = sum + ShuffleXor(sum, mask);
  if (threadIdx.x % 32 != 0) return;
  const FloatShape shape = ShapeOf(a.result_type);
  const int64_t at = PlaceBy(a.lhs.batch, a.batch_strides, batch) + PlaceBy(a.lhs.rows, a.row_strides, row) +
                     PlaceBy(a.rhs.rows, a.column_strides, column);
  StoreBits(a.result, at, FloatBits(sum, shape), shape.bits);
}

// A warp has kDown x kAcross products of 16 x 8, and a block kWarpsDown x kWarpsAcross warps. A row of a
// stage has kDotDepth words, of one tf32 or of two narrower floats: their fragments are words at the same
// places.
template <MmaFloat kType, int kDown, int kAcross, int kWarpsDown, int kWarpsAcross>
struct FastDot {
  using Stored = typename FastElement<kType>::Stored;
  static constexpr int kOfWord = 4 / sizeof(Stored), kDepth = kDotDepth * kOfWord;
  static constexpr int kRows = 16 * kDown * kWarpsDown, kColumns = 8 * kAcross * kWarpsAcross;
  static constexpr int kThreads = 32 * kWarpsDown * kWarpsAcross;
  static constexpr int kStage = (kRows + kColumns) * kDotPitch;  // words
  template <int kOfTile>
  using Source = TileSource<Stored, kOfTile, kDepth, kDotPitch * kOfWord, kThreads>;
  using Sums = float[kDown][kAcross][4];

  __device__ __forceinline__ static uint32_t Word(const uint32_t* from) {
    if constexpr (kType == MmaFloat::kTf32) {
      return ToTf32(BitsAs<float>(*from));
    } else {
      return *from;
    }
  }

  __device__ __forceinline__ static void MultiplyStage(const uint32_t* left, const uint32_t* right, Sums& c) {
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
#pragma unroll
    for (int k = t; k < kDotDepth; k += 8) {
      uint32_t b[kAcross][2];
#pragma unroll
      for (int j = 0; j < kAcross; ++j) {
#pragma unroll
        for (int i = 0; i < 2; ++i) b[j][i] = Word(right + (8 * j + g) * kDotPitch + k + 4 * i);
      }
#pragma unroll
      for (int d = 0; d < kDown; ++d) {
        uint32_t m[4];
#pragma unroll
        for (int i = 0; i < 4; ++i)
          m[i] = Word(left + (16 * d + g + 8 * (i % 2)) * kDotPitch + k + 4 * (i / 2));
#pragma unroll
        for (int j = 0; j < kAcross; ++j) Mma<kType>(c[d][j], m, b[j]);
      }
    }
  }

  __device__ __forceinline__ static void Run(const FastDotArguments& a) {
    auto* const shared = reinterpret_cast<uint32_t*>(SharedMemory());
    auto* const offsets = reinterpret_cast<int64_t*>(shared + kDotStages * kStage);
    const TilePlace place = PlaceOf(a, kRows, kColumns);
    const Source<kRows> left(a.lhs, place.batch, place.row, offsets);
    const Source<kColumns> right(a.rhs, place.batch, place.column, offsets + kRows);
    SyncThreads();
    const int64_t stages = (SizeOf(a.lhs.depth) + kDepth - 1) / kDepth;
    const auto load = [&](int64_t stage) {
      if (stage < stages) {
        uint32_t* const to = shared + stage % kDotStages * kStage;
        left.Load(stage * kDepth, reinterpret_cast<Stored*>(to));
        right.Load(stage * kDepth, reinterpret_cast<Stored*>(to + kRows * kDotPitch));
      }
      CopyAsyncCommit();
    };
    const int warp = threadIdx.x / 32, down = warp / kWarpsAcross * kDown * 16,
              across = warp % kWarpsAcross * kAcross * 8;
    Sums c = {};
    // The first turns only load, by the same code, which is long.
#pragma unroll 1
    for (int64_t stage = 1 - kDotStages; stage < stages; ++stage) {
      if (stage >= 0) {
        CopyAsyncWait<kDotStages - 2>();
        // This stage is there for all; and all are done with the one before, which the next copies overwrite.
        SyncThreads();
      }
      load(stage + kDotStages - 1);
      if (stage < 0) continue;
      const uint32_t* const at = shared + stage % kDotStages * kStage;
      MultiplyStage(at + down * kDotPitch, at + (kRows + across) * kDotPitch, c);
    }
    CopyAsyncWait<0>();
    Store(a, place, down, across, c);
  }

  // Where the result has the tile's rows and columns is put into shared memory first.
  __device__ __forceinline__ static void Store(const FastDotArguments& a, const TilePlace& place, int down,
                                               int across, const Sums& c) {
    auto* const places = reinterpret_cast<int64_t*>(SharedMemory());
    static_assert((kRows + kColumns) * sizeof(int64_t) <= kDotStages * kStage * sizeof(uint32_t));
    SyncThreads();
    const int64_t rows = SizeOf(a.lhs.rows), columns = SizeOf(a.rhs.rows);
    for (int i = threadIdx.x; i < kRows + kColumns; i += kThreads) {
      const int64_t row = place.row + i, column = place.column + i - kRows;
      if (i < kRows) {
        places[i] = row < rows ? PlaceBy(a.lhs.rows, a.row_strides, row) : kNoRow;
      } else {
        places[i] = column < columns ? PlaceBy(a.rhs.rows, a.column_strides, column) : kNoRow;
      }
    }
    SyncThreads();
    const int lane = threadIdx.x % 32, row = down + lane / 4, column = across + lane % 4 * 2;
    const FloatShape shape = ShapeOf(a.result_type);
    const int64_t start = PlaceBy(a.lhs.batch, a.batch_strides, place.batch);
    uint64_t open = 0;  // a bit for each element of the thread
    static_assert(kDown * kAcross * 4 <= 64);
#pragma unroll
    for (int d = 0; d < kDown; ++d) {
#pragma unroll
      for (int j = 0; j < kAcross; ++j) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int64_t at_row = places[row + 16 * d + 8 * (i / 2)],
                        at_column = places[kRows + column + 8 * j + i % 2];
          if (at_row == kNoRow || at_column == kNoRow) continue;
          const float sum = c[d][j][i];
          if (IsFiniteSum(sum)) {
            StoreBits(a.result, start + at_row + at_column, RoundDouble(sum, shape), shape.bits);
          } else {
            open |= uint64_t{1} << ((d * kAcross + j) * 4 + i);
          }
        }
      }
    }
    if (AnyOf(open != 0)) SumOpen(a, place, row, column, open);
  }

  __device__ OUTLINE static void SumOpen(const FastDotArguments& a, TilePlace place, int row, int column,
                                         uint64_t open) {
    for (int at = 0; at < kDown * kAcross * 4; ++at) {
      uint32_t lanes = Ballot((open >> at & 1) != 0);
      const int64_t own_row = place.row + row + 16 * (at / 4 / kAcross) + 8 * (at % 4 / 2),
                    own_column = place.column + column + 8 * (at / 4 % kAcross) + at % 2;
      while (lanes != 0) {
        const auto lane = static_cast<uint32_t>(TrailingZeros(static_cast<uint64_t>(lanes)));
        lanes &= lanes - 1;
        SumAgain<kType>(a, place.batch, Shuffle(own_row, lane), Shuffle(own_column, lane));
      }
    }
  }
};

template <MmaFloat kType>
using LargeFastDot = FastDot<kType, 4, 4, 2, 4>;
template <MmaFloat kType>
using SmallFastDot = FastDot<kType, 1, 2, 2, 2>;
using LargeTile = LargeFastDot<MmaFloat::kTf32>;
using SmallTile = SmallFastDot<MmaFloat::kTf32>;
static_assert(LargeTile::kRows == kDotTile.rows && LargeTile::kColumns == kDotTile.columns &&
              LargeTile::kThreads == kDotTile.threads);
static_assert(SmallTile::kRows == kSmallDotTile.rows && SmallTile::kColumns == kSmallDotTile.columns &&
              SmallTile::kThreads == kSmallDotTile.threads);

KERNEL(dot_tf32, FastDotArguments, kDotTile.threads) { LargeFastDot<MmaFloat::kTf32>::Run(a); }
KERNEL(dot_bf16, FastDotArguments, kDotTile.threads) { LargeFastDot<MmaFloat::kBf16>::Run(a); }
KERNEL(dot_f16, FastDotArguments, kDotTile.threads) { LargeFastDot<MmaFloat::kF16>::Run(a); }
LARGE_KERNEL(dot_small_tf32, FastDotArguments, kSmallDotTile.threads) {
  SmallFastDot<MmaFloat::kTf32>::Run(a);
}
LARGE_KERNEL(dot_small_bf16, FastDotArguments, kSmallDotTile.threads) {
  SmallFastDot<MmaFloat::kBf16>::Run(a);
}
LARGE_KERNEL(dot_small_f16, FastDotArguments, kSmallDotTile.threads) { SmallFastDot<MmaFloat::kF16>::Run(a); }

}  // namespace assay::gpu
