// What dots of f32 and of f64 share: scales of rows, places of tiles, the entries of a tile,
// and those that are open.
#ifndef ASSAY_GPU_KERNELS_DOT_ENTRIES_CUH_
#define ASSAY_GPU_KERNELS_DOT_ENTRIES_CUH_

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

__device__ __forceinline__ double UnitOf(double x) {
  const uint64_t bits = BitsAs<uint64_t>(x) & 0x7fffffffffffffff;
  if (bits == 0) return kInfinity;
  const Parts parts = PartsOf(x);
  const int exponent = parts.exponent + TrailingZeros(parts.integer);
  return BitsAs<double>(exponent >= -1022 ? static_cast<uint64_t>(exponent + 1023) << 52
                                          : uint64_t{1} << (exponent + 1074));
}

struct ScaleSum {
  double squares = 0, unit = kInfinity;
  template <typename T>
  __device__ __forceinline__ void Add(T x) {
    squares = FmaUp(x, x, squares);
    unit = __builtin_fmin(unit, UnitOf(x));
  }
  __device__ __forceinline__ void Add(double other_squares, double other_unit) {
    squares = AddUp(squares, other_squares);
    unit = __builtin_fmin(unit, other_unit);
  }
  __device__ __forceinline__ RowScale Scale() const {
    // Squares that under- or overflow are rounded up, too; a NaN among them is no bound, infinity is.
    return {squares < kInfinity ? SqrtUp(squares) : kInfinity, unit < kInfinity ? unit : 1.0};
  }
};

// A block takes kScaleRows rows: lanes stand along k where its stride is the smaller one, else along rows.
template <typename T>
__device__ __forceinline__ void ComputeScales(const DotScaleArguments& a) {
  const DotOperand& operand = a.operand;
  const int64_t rows = SizeOf(operand.rows), size = SizeOf(operand.depth),
                row_blocks = (rows + kScaleRows - 1) / kScaleRows;
  const int64_t batch = blockIdx.x / row_blocks, first = blockIdx.x % row_blocks * kScaleRows;
  const auto* const from = reinterpret_cast<const T*>(operand.address) + OffsetOf(operand.batch, batch);
  auto* const scales = reinterpret_cast<RowScale*>(operand.scales) + batch * rows;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int64_t row_step = InnermostStride(operand.rows), step = InnermostStride(operand.depth);
  if (step * step <= row_step * row_step) {
    for (int64_t row = first + warp; row < first + kScaleRows && row < rows; row += 8) {
      ScaleSum sum;
      const T* const elements = from + OffsetOf(operand.rows, row);
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
    const T* const elements = from + OffsetOf(operand.rows, row);
    for (int64_t k = warp; k < size; k += 8) sum.Add(elements[OffsetOf(operand.depth, k)]);
  }
  squares[threadIdx.x] = sum.squares;
  units[threadIdx.x] = sum.unit;
  SyncThreads();
  if (warp != 0 || row >= rows) return;
  for (int other = 1; other < 8; ++other) sum.Add(squares[other * 32 + lane], units[other * 32 + lane]);
  scales[row] = sum.Scale();
}

// An entry's place: of the tile's rows or columns, the number, the offset in the
// result and what is known of it.
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
        // Sums in any order of k products: at most k roundings on the way of each, k u / (1 - k u) T,
        // and k <= 2^28.
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

  // Rounds an entry that doubles summed and stores it, or notes it as open.
  // All lanes of a warp call it together.
  __device__ __forceinline__ void Finish(const EntrySide& row, const EntrySide& column, double sum) const {
    bool open = false;
    if (row.index >= 0 && column.index >= 0) {
      const double magnitude = MulUp(row.scale.norm, column.scale.norm);
      // Every sum is a multiple of the units' product: below 2^53 of them none is rounded.
      const bool exact = magnitude < MulNearest(0x1p53 * row.scale.unit, column.scale.unit);
      uint64_t bits;
      // Products of f32 do not overflow in doubles, so that a sum which is not finite is that of the terms.
      // But the tile multiplies padding beside an infinity, which makes a NaN.
      if (!IsFinite(sum)) {
        const bool is_nan = IsNan(sum);
        bits =
            is_nan ? NanBits(shape) : InfinityBits(shape) | (sum < 0 ? uint64_t{1} << (shape.bits - 1) : 0);
        open = is_nan && a.lhs_has_padding != 0;
      } else {
        open = !RoundInterval(sum, exact ? 0 : MulUp(factor, magnitude), shape, &bits);
      }
      if (!open) StoreBits(a.result, batch_offset + row.offset + column.offset, bits, shape.bits);
    }
    NoteOpen(open, row, column);
  }

  // All lanes of a warp call it together.
  __device__ __forceinline__ void NoteOpen(bool open, const EntrySide& row, const EntrySide& column) const {
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

template <typename Element>
struct Factors {
  Element left, right;
};

__device__ __forceinline__ bool IsNegativeZero(float x) { return BitsAs<uint32_t>(x) == uint32_t{1} << 31; }
__device__ __forceinline__ bool IsNegativeZero(double x) { return BitsAs<uint64_t>(x) == uint64_t{1} << 63; }

// Two rows whose product is wanted once more, by a warp.
template <typename Element>
struct RowPair {
  const Element *left, *right;
  const Strides &left_depth, &right_depth;
  int64_t k;
  double unit;  // of the products
  bool left_has_padding;

  __device__ __forceinline__ Factors<Element> At(int64_t i) const {
    const Element x = left[OffsetOf(left_depth, i)];
    if (left_has_padding && IsNegativeZero(x)) return {0, 0};
    return {x, right[OffsetOf(right_depth, i)]};
  }
};

// Stores sum(rows, shape) for every open entry: a warp takes every so manieth of them.
template <typename Element, typename Sum>
__device__ __forceinline__ void RepairEntries(const DotArguments& a, Sum sum) {
  const uint32_t count = *reinterpret_cast<const uint32_t*>(a.open_count);
  const int64_t rows = SizeOf(a.lhs.rows), columns = SizeOf(a.rhs.rows);
  const uint64_t warps = static_cast<uint64_t>(gridDim.x) * (kRepairThreads / 32);
  for (uint64_t i = blockIdx.x * (kRepairThreads / 32) + threadIdx.x / 32; i < count; i += warps) {
    int64_t batch = reinterpret_cast<const uint32_t*>(a.open)[i];
    const int64_t column = SplitIndex(&batch, columns), row = SplitIndex(&batch, rows);
    const Rounding rounding(a, batch);
    const EntrySide entry_row = rounding.Row(row), entry_column = rounding.Column(column);
    const RowPair<Element> pair{reinterpret_cast<const Element*>(a.lhs.address) +
                                    OffsetOf(a.lhs.batch, batch) + OffsetOf(a.lhs.rows, row),
                                reinterpret_cast<const Element*>(a.rhs.address) +
                                    OffsetOf(a.rhs.batch, batch) + OffsetOf(a.rhs.rows, column),
                                a.lhs.depth,
                                a.rhs.depth,
                                SizeOf(a.lhs.depth),
                                MulNearest(entry_row.scale.unit, entry_column.scale.unit),
                                a.lhs_has_padding != 0};
    const uint64_t bits = sum(pair, rounding.shape);
    if (threadIdx.x % 32 == 0) {
      StoreBits(a.result, rounding.batch_offset + entry_row.offset + entry_column.offset, bits,
                rounding.shape.bits);
    }
  }
}

// Where a block's tile stands: groups of 8 rows of tiles go through the columns together,
// so that what they share is near.
struct TilePlace {
  int64_t batch, row, column;
};
template <typename Arguments>
__device__ __forceinline__ TilePlace PlaceOf(const Arguments& a, int64_t rows, int64_t columns) {
  const int64_t down = (SizeOf(a.lhs.rows) + rows - 1) / rows,
                across = (SizeOf(a.rhs.rows) + columns - 1) / columns;
  const int64_t batch = blockIdx.x / (down * across), tile = blockIdx.x % (down * across);
  const int64_t group = tile / (8 * across), height = down - group * 8 < 8 ? down - group * 8 : 8;
  const int64_t in_group = tile - group * 8 * across;
  return {batch, (group * 8 + in_group % height) * rows, in_group / height * columns};
}

}  // namespace assay::gpu

#endif  // ASSAY_GPU_KERNELS_DOT_ENTRIES_CUH_
