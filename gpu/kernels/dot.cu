// Exact dots of f32: sums in doubles on tensor cores, whose entries pass a rounding test or are summed again, exactly.
#include "gpu/kernels/device.cuh"
#include "gpu/kernels/dot_arguments.h"
#include "gpu/kernels/exact.cuh"
#include "gpu/kernels/index.cuh"

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
  const DotOperand& operand = a.operand;
  const int64_t rows = SizeOf(operand.rows), size = SizeOf(operand.depth),
                row_blocks = (rows + kScaleRows - 1) / kScaleRows;
  const int64_t batch = blockIdx.x / row_blocks, first = blockIdx.x % row_blocks * kScaleRows;
  const auto* const from = reinterpret_cast<const float*>(operand.address) + OffsetOf(operand.batch, batch);
  auto* const scales = reinterpret_cast<RowScale*>(operand.scales) + batch * rows;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int64_t row_step = InnermostStride(operand.rows), step = InnermostStride(operand.depth);
  if (step * step <= row_step * row_step) {
    for (int64_t row = first + warp; row < first + kScaleRows && row < rows; row += 8) {
      ScaleSum sum;
      const float* const elements = from + OffsetOf(operand.rows, row);
      for (int64_t k = lane; k < size; k += 32) sum.Add(elements[OffsetOf(operand.depth, k)]);
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
  if (row < rows) {
    const float* const elements = from + OffsetOf(operand.rows, row);
    for (int64_t k = warp; k < size; k += 8) sum.Add(elements[OffsetOf(operand.depth, k)]);
  }
  squares[threadIdx.x] = sum.squares;
  units[threadIdx.x] = sum.unit;
  SyncThreads();
  if (warp != 0 || row >= rows) return;
  for (int other = 1; other < 8; ++other) sum.Add(squares[other * 32 + lane], units[other * 32 + lane]);
  scales[row] = sum.Scale();
}

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

// An entry's place: of the tile's rows or columns, the number, the offset in the result and what is known of it.
struct EntrySide {
  int64_t index;
  int64_t offset;
  RowScale scale;
};

// The entries of one block: their rounding.
struct Rounding {
  const DotArguments& a;
  FloatShape shape;
  double factor;
  int64_t batch, rows, columns, batch_offset;

  __device__ __forceinline__ Rounding(const DotArguments& arguments, int64_t batch_index)
      : a(arguments),
        shape(ShapeOf(arguments.result_type)),
        // Sums in any order of k products: at most k roundings on the way of each, k u / (1 - k u) T, and k <= 2^28.
        factor(MulUp(static_cast<double>(SizeOf(arguments.lhs.depth) + 16), kUnitRoundoff)),
        batch(batch_index),
        rows(SizeOf(arguments.lhs.rows)),
        columns(SizeOf(arguments.rhs.rows)),
        batch_offset(OffsetOf(arguments.lhs.batch, arguments.batch_strides, batch_index)) {}

  __device__ __forceinline__ EntrySide Row(int64_t index) const {
    if (index >= rows) return {-1, 0, {0, 1}};
    return {index, OffsetOf(a.lhs.rows, a.row_strides, index),
            reinterpret_cast<const RowScale*>(a.lhs.scales)[batch * rows + index]};
  }
  __device__ __forceinline__ EntrySide Column(int64_t index) const {
    if (index >= columns) return {-1, 0, {0, 1}};
    return {index, OffsetOf(a.rhs.rows, a.column_strides, index),
            reinterpret_cast<const RowScale*>(a.rhs.scales)[batch * columns + index]};
  }

  // Rounds an entry and stores it, or notes it as open. All lanes of a warp call it together.
  __device__ __forceinline__ void Finish(const EntrySide& row, const EntrySide& column, double sum) const {
    bool open = false;
    if (row.index >= 0 && column.index >= 0) {
      const double magnitude = MulUp(row.scale.norm, column.scale.norm);
      // Every sum is a multiple of the units' product: below 2^53 of them none is rounded.
      const bool exact = magnitude < MulNearest(0x1p53 * row.scale.unit, column.scale.unit);
      uint64_t bits;
      open = !RoundInterval(sum, exact ? 0 : MulUp(factor, magnitude), shape, &bits);
      if (!open) StoreBits(a.result, batch_offset + row.offset + column.offset, bits, shape.bits);
    }
    const uint32_t lanes = Ballot(open);
    if (lanes == 0) return;
    const uint32_t lane = threadIdx.x % 32;
    uint32_t at = 0;
    if (lane == 0) {
      at =
          AtomicAdd(reinterpret_cast<uint32_t*>(a.open_count), static_cast<uint32_t>(PopulationCount(lanes)));
    }
    at = Shuffle(at, 0) + static_cast<uint32_t>(PopulationCount(lanes & ((uint32_t{1} << lane) - 1)));
    if (open) {
      reinterpret_cast<uint32_t*>(a.open)[at] =
          static_cast<uint32_t>((batch * rows + row.index) * columns + column.index);
    }
  }
};

// Where a block's tile stands: groups of 8 rows of tiles go through the columns together, so that what they share is near.
struct TilePlace {
  int64_t batch, row, column;
};
__device__ __forceinline__ TilePlace PlaceOf(const DotArguments& a, int64_t rows, int64_t columns) {
  const int64_t down = (SizeOf(a.lhs.rows) + rows - 1) / rows,
                across = (SizeOf(a.rhs.rows) + columns - 1) / columns;
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
