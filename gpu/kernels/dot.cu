// Exact dots of f32: sums in doubles on tensor cores, whose entries pass a rounding test or are summed again, exactly.
#include "gpu/kernels/device.cuh"
#include "gpu/kernels/dot_arguments.h"
#include "gpu/kernels/exact.cuh"

namespace assay::gpu {

// The largest power of two of which x is a multiple; infinity for 0.
__device__ __forceinline__ double UnitOf(float x) {
  const auto bits = BitsAs<uint32_t>(x) & 0x7fffffff;
  if (bits == 0) return kInfinity;
  const int field = static_cast<int>(bits >> 23);
  const uint32_t fraction = bits & 0x7fffff;
  const int exponent = (field == 0 ? -149 : field - 150) +
                       TrailingZeros(static_cast<uint64_t>(field == 0 ? fraction : fraction | 0x800000));
  return BitsAs<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}

struct ScaleSum {
  double squares = 0, unit = kInfinity;
  __device__ __forceinline__ void Add(float x) {
    squares = FmaUp(x, x, squares);
    unit = __builtin_fmin(unit, UnitOf(x));
  }
  __device__ __forceinline__ void Add(double other_squares, double other_unit) {
    squares = AddUp(squares, other_squares);
    unit = __builtin_fmin(unit, other_unit);
  }
  __device__ __forceinline__ RowScale Scale() const {
    // Squares of f32 neither over- nor underflow; a NaN among them is no bound, infinity is.
    return {squares < kInfinity ? SqrtUp(squares) : kInfinity, unit < kInfinity ? unit : 1.0};
  }
};

// A block takes kScaleRows rows: lanes stand along k where its stride is the smaller one, else along rows.
KERNEL(dot_scales_f32, DotScaleArguments, kScaleThreads) {
  const int64_t row_blocks = (a.operand.rows + kScaleRows - 1) / kScaleRows;
  const int64_t batch = blockIdx.x / row_blocks, first = blockIdx.x % row_blocks * kScaleRows;
  const int64_t row_stride = a.operand.strides[1], stride = a.operand.strides[2];
  const auto* const from = reinterpret_cast<const float*>(a.operand.address) + batch * a.operand.strides[0];
  auto* const scales = reinterpret_cast<RowScale*>(a.operand.scales) + batch * a.operand.rows;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int64_t row_step = row_stride < 0 ? -row_stride : row_stride, step = stride < 0 ? -stride : stride;
  if (step <= row_step) {
    for (int64_t row = first + warp; row < first + kScaleRows && row < a.operand.rows; row += 8) {
      ScaleSum sum;
      const float* const elements = from + row * row_stride;
      for (int64_t k = lane; k < a.k; k += 32) sum.Add(elements[k * stride]);
#pragma unroll
      for (uint32_t mask = 16; mask != 0; mask /= 2) {
        sum.Add(ShuffleXor(sum.squares, mask), ShuffleXor(sum.unit, mask));
      }
      if (lane == 0) scales[row] = sum.Scale();
    }
    return;
  }
  auto* const squares = reinterpret_cast<double*>(SharedMemory());
  double* const units = squares + 8 * kScaleRows;
  ScaleSum sum;
  const int64_t row = first + lane;
  if (row < a.operand.rows) {
    for (int64_t k = warp; k < a.k; k += 8) sum.Add(from[row * row_stride + k * stride]);
  }
  squares[threadIdx.x] = sum.squares;
  units[threadIdx.x] = sum.unit;
  SyncThreads();
  if (warp != 0 || row >= a.operand.rows) return;
  for (int other = 1; other < 8; ++other) sum.Add(squares[other * 32 + lane], units[other * 32 + lane]);
  scales[row] = sum.Scale();
}

// The rows [first, first + kRows) of an operand, kDotDepth elements of k of them at a time, to shared memory.
template <int kRows, int kThreads>
class TileSource {
 public:
  __device__ __forceinline__ TileSource(const DotOperand& operand, int64_t batch, int64_t first, int64_t k)
      : rows_(operand.rows - first),
        k_(k),
        row_stride_(operand.strides[1]),
        stride_(operand.strides[2]),
        from_(reinterpret_cast<const float*>(operand.address) + batch * operand.strides[0] +
              first * row_stride_) {
    const bool aligned = reinterpret_cast<uintptr_t>(from_) % 16 == 0 && row_stride_ % 4 == 0;
    way_ = stride_ == 1 && aligned ? kWords : row_stride_ == 1 ? kAlongRows : kAlongDepth;
  }

  __device__ __forceinline__ void Load(int64_t k, float* to) const {
    if (way_ == kWords) {
      constexpr int kWordsOfRow = kDotDepth / 4;
#pragma unroll
      for (int i = 0; i < kRows * kWordsOfRow / kThreads; ++i) {
        const int at = i * kThreads + threadIdx.x, row = at / kWordsOfRow, offset = at % kWordsOfRow * 4;
        const int64_t left = row < rows_ ? k_ - k - offset : 0;
        const uint32_t bytes = left >= 4 ? 16 : left > 0 ? static_cast<uint32_t>(left) * 4 : 0;
        CopyAsync16(to + row * kDotPitch + offset,
                    bytes == 0 ? from_ : from_ + row * row_stride_ + k + offset, bytes);
      }
      return;
    }
    const bool along_rows = way_ == kAlongRows;
#pragma unroll
    for (int i = 0; i < kRows * kDotDepth / kThreads; ++i) {
      const int at = i * kThreads + threadIdx.x;
      const int row = along_rows ? at % kRows : at / kDotDepth;
      const int offset = along_rows ? at / kRows : at % kDotDepth;
      const bool valid = row < rows_ && k + offset < k_;
      CopyAsync4(to + row * kDotPitch + offset,
                 valid ? from_ + row * row_stride_ + (k + offset) * stride_ : from_, valid ? 4 : 0);
    }
  }

 private:
  enum Way { kWords, kAlongRows, kAlongDepth };
  const int64_t rows_, k_, row_stride_, stride_;
  const float* const from_;
  Way way_;
};

// Rounds an entry and stores it, or notes it as open. All lanes of a warp call it together.
__device__ __forceinline__ void Finish(const DotArguments& a, const FloatShape& shape, double factor,
                                       int64_t batch, int64_t row, int64_t column, double sum) {
  bool open = false;
  if (row < a.lhs.rows && column < a.rhs.rows) {
    const RowScale left = reinterpret_cast<const RowScale*>(a.lhs.scales)[batch * a.lhs.rows + row];
    const RowScale right = reinterpret_cast<const RowScale*>(a.rhs.scales)[batch * a.rhs.rows + column];
    const double magnitude = MulUp(left.norm, right.norm);
    // Every sum is a multiple of the units' product: below 2^53 of them none is rounded.
    const bool exact = magnitude < MulNearest(0x1p53 * left.unit, right.unit);
    uint64_t bits;
    open = !RoundInterval(sum, exact ? 0 : MulUp(factor, magnitude), shape, &bits);
    const int64_t index =
        batch * a.result_strides[0] + row * a.result_strides[1] + column * a.result_strides[2];
    if (!open) StoreBits(a.result, index, bits, shape.bits);
  }
  const uint32_t lanes = Ballot(open);
  if (lanes == 0) return;
  const uint32_t lane = threadIdx.x % 32;
  uint32_t at = 0;
  if (lane == 0)
    at = AtomicAdd(reinterpret_cast<uint32_t*>(a.open_count), static_cast<uint32_t>(PopulationCount(lanes)));
  at = Shuffle(at, 0) + static_cast<uint32_t>(PopulationCount(lanes & ((uint32_t{1} << lane) - 1)));
  if (open) {
    reinterpret_cast<uint32_t*>(a.open)[at] =
        static_cast<uint32_t>((batch * a.lhs.rows + row) * a.rhs.rows + column);
  }
}

// Where a block's tile stands: groups of 8 rows of tiles go through the columns together, so that what they share is near.
struct TilePlace {
  int64_t batch, row, column;
};
__device__ __forceinline__ TilePlace PlaceOf(const DotArguments& a, int64_t rows, int64_t columns) {
  const int64_t down = (a.lhs.rows + rows - 1) / rows, across = (a.rhs.rows + columns - 1) / columns;
  const int64_t batch = blockIdx.x / (down * across), tile = blockIdx.x % (down * across);
  const int64_t group = tile / (8 * across), height = down - group * 8 < 8 ? down - group * 8 : 8;
  const int64_t in_group = tile - group * 8 * across;
  return {batch, (group * 8 + in_group % height) * rows, in_group / height * columns};
}

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
    const TilePlace place = PlaceOf(a, kRows, kColumns);
    const TileSource<kRows, kThreads> left(a.lhs, place.batch, place.row, a.k);
    const TileSource<kColumns, kThreads> right(a.rhs, place.batch, place.column, a.k);
    const int64_t stages = (a.k + kDotDepth - 1) / kDotDepth;
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

  __device__ __forceinline__ static void Store(const DotArguments& a, const TilePlace& place, int down,
                                               int across, const double (&c)[kDown][kAcross][4]) {
    const FloatShape shape = ShapeOf(a.result_type);
    // Sums in any order of k terms: at most k roundings on the way of each, (k + 16) u T with their products' excess.
    const double factor = MulUp(static_cast<double>(a.k + 16), kUnitRoundoff);
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int d = 0; d < kDown; ++d) {
#pragma unroll
      for (int j = 0; j < kAcross; ++j) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          Finish(a, shape, factor, place.batch, place.row + down + 16 * d + lane / 4 + i / 2 * 8,
                 place.column + across + 8 * j + lane % 4 * 2 + i % 2, c[d][j][i]);
        }
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
  int64_t left_stride, right_stride, k;
  double unit;

  __device__ __forceinline__ double Term(int64_t i) const {
    return MulNearest(left[i * left_stride], right[i * right_stride]);  // exact
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
  const FloatShape shape = ShapeOf(a.result_type);
  const uint32_t count = *reinterpret_cast<const uint32_t*>(a.open_count);
  const uint64_t warps = static_cast<uint64_t>(gridDim.x) * (kRepairThreads / 32);
  for (uint64_t i = blockIdx.x * (kRepairThreads / 32) + threadIdx.x / 32; i < count; i += warps) {
    const int64_t entry = reinterpret_cast<const uint32_t*>(a.open)[i];
    const int64_t column = entry % a.rhs.rows, row = entry / a.rhs.rows % a.lhs.rows,
                  batch = entry / a.rhs.rows / a.lhs.rows;
    const RowPair rows{
        reinterpret_cast<const float*>(a.lhs.address) + batch * a.lhs.strides[0] + row * a.lhs.strides[1],
        reinterpret_cast<const float*>(a.rhs.address) + batch * a.rhs.strides[0] + column * a.rhs.strides[1],
        a.lhs.strides[2],
        a.rhs.strides[2],
        a.k,
        reinterpret_cast<const RowScale*>(a.lhs.scales)[batch * a.lhs.rows + row].unit *
            reinterpret_cast<const RowScale*>(a.rhs.scales)[batch * a.rhs.rows + column].unit};
    const uint64_t bits = SumAgain(rows, shape);
    if (threadIdx.x % 32 == 0) {
      StoreBits(a.result,
                batch * a.result_strides[0] + row * a.result_strides[1] + column * a.result_strides[2], bits,
                shape.bits);
    }
  }
}

}  // namespace assay::gpu
