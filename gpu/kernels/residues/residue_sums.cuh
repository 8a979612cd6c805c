// Residues of sums back to sums: the Chinese remainder theorem, bounds of what was cut off, rounding.
#ifndef ASSAY_GPU_KERNELS_RESIDUE_SUMS_CUH_
#define ASSAY_GPU_KERNELS_RESIDUE_SUMS_CUH_

#include "gpu/kernels/device.cuh"
#include "gpu/kernels/dot_entries.cuh"
#include "gpu/kernels/exact.cuh"
#include "gpu/kernels/residues/residue_arguments.h"
#include "gpu/kernels/residues/residue_slices.cuh"

namespace assay::gpu {

// sum y_i M_i over the moduli becomes the integer in (-P / 2, P / 2) that it is modulo P: part j times 2^(40
// (kParts - 1 - j)). All but the first end within +-2^39. The quotient takes two parts: the first alone can
// be as short as 7 bits, too little for sums near P / 2; those stay 2^-11 P away from it, and two parts are
// off by less than 2^-20 P.
template <int kParts>
__device__ __forceinline__ void ReduceSum(const ResidueSystem& s, double (&sum)[kParts]) {
  const double leading = FmaNearest(sum[1], 0x1p-40, sum[0]);
  const double quotient = AddNearest(FmaNearest(leading, s.inverse, kRoundInteger), -kRoundInteger);
#pragma unroll
  for (int j = 0; j < kParts; ++j) sum[j] = FmaNearest(-quotient, s.product[j], sum[j]);
#pragma unroll
  for (int j = kParts - 1; j > 0; --j) {
    const double carry = AddNearest(FmaNearest(sum[j], 0x1p-40, kRoundInteger), -kRoundInteger);
    sum[j] = FmaNearest(carry, -0x1p40, sum[j]);
    sum[j - 1] = AddNearest(sum[j - 1], carry);
  }
}

// In units of the integers, how far the exact sum may be from that of the integers, by Hoelder's inequality:
// with a' and b' the scaled rows, d and f their cuts and x the integers of a', sum a' b' - sum of integers =
// sum d b' + sum x f.
__device__ __forceinline__ float CutBound(const ResidueRow& r, const ResidueRow& c) {
  const float left = __builtin_fminf(MulUp(r.lost, c.norm), MulUp(r.lost_sum, c.largest));
  const float right =
      __builtin_fminf(MulUp(AddUp(r.norm, r.lost), c.lost), MulUp(AddUp(r.largest, 1.0f), c.lost_sum));
  return AddUp(left, right);
}
__device__ __forceinline__ bool IsBounded(const ResidueRow& r, const ResidueRow& c) {
  return r.norm < 0x1p126f && c.norm < 0x1p126f;
}

// Whether every number in integer + [least, most] rounds to *bits, with 2^exponent as their unit.
template <int kParts>
__device__ __forceinline__ bool RoundParts(const double (&sum)[kParts], double least, double most,
                                           int exponent, const FloatShape& shape, uint64_t* bits) {
  double unit = 1;
#pragma unroll
  for (int j = kParts - 1; j >= 0; --j) {
    const double term = MulNearest(sum[j], unit);
    least = AddDown(term, least);
    most = AddUp(term, most);
    unit *= 0x1p40;
  }
  // Zero has the sign of a sum that is exactly zero, or none that is known.
  if (least == 0 || most == 0) {
    *bits = 0;
    return least == 0 && most == 0;
  }
  const double scale = PowerOfTwo(exponent);
  *bits = RoundDouble(MulNearest(least, scale), shape);
  return least == most || *bits == RoundDouble(MulNearest(most, scale), shape);
}

// The same of more parts, whose sum is kept as s + left + small, where small is off by at most `error`.
template <int kParts>
__device__ __forceinline__ bool RoundManyParts(const double (&sum)[kParts], double least, double most,
                                               int exponent, const FloatShape& shape, uint64_t* bits) {
  // From the lowest part up: each addition's error is below half a unit of its sum.
  double s = sum[kParts - 1], left = 0, small = 0, error = 0, unit = 0x1p40;
#pragma unroll
  for (int j = kParts - 2; j >= 0; --j) {
    double lost;
    TwoSum(small, left, &small, &lost);
    error = AddUp(error, __builtin_fabs(lost));
    TwoSum(MulNearest(sum[j], unit), s, &s, &left);
    unit *= 0x1p40;
  }
  least = AddDown(left, AddDown(small, AddDown(least, -error)));
  most = AddUp(left, AddUp(small, AddUp(most, error)));
  if (s == 0 && least == 0 && most == 0) {
    *bits = 0;
    return true;
  }
  // Elsewhere what follows could over- or underflow.
  if (exponent < -900 || exponent > 800) return false;
  const double scale = PowerOfTwo(exponent);
  if (shape.bits == 64) {
    const double from = MulNearest(AddNearest(s, least), scale), to = MulNearest(AddNearest(s, most), scale);
    *bits = BitsAs<uint64_t>(from);
    return from == to && __builtin_fabs(from) > 0x1p-1000;
  }
  *bits = RoundDouble(MulNearest(AddDown(s, least), scale), shape);
  return __builtin_fabs(s) >= 1 && *bits == RoundDouble(MulNearest(AddUp(s, most), scale), shape);
}

template <int kParts>
__device__ __forceinline__ bool RoundSum(const double (&sum)[kParts], double bound, int exponent,
                                         const FloatShape& shape, uint64_t* bits) {
  if constexpr (kParts >= 4) return RoundManyParts(sum, -bound, bound, exponent, shape, bits);
  return RoundParts(sum, -bound, bound, exponent, shape, bits);
}

// The place of a thread's eight entries: half a chunk of 16 (residue_arguments.h).
struct EntryPlace {
  int64_t batch, piece, plane;
  int row, column;
  __device__ __forceinline__ explicit EntryPlace(const ResidueTiles& t) {
    constexpr int kOfTile = kResidueTileBytes / kEntriesOfThread;
    const int64_t thread = static_cast<int64_t>(blockIdx.x) * kResidueSumThreads + threadIdx.x;
    const int64_t tiles = static_cast<int64_t>(t.row_tiles) * t.column_tiles;
    plane = tiles * kOfTile;
    batch = thread / plane;
    piece = thread - batch * plane;
    const auto tile = static_cast<int>(piece / kOfTile), in_tile = static_cast<int>(piece % kOfTile);
    row = tile / t.column_tiles * kResidueRows + 16 * (in_tile / 512) + in_tile / 2 % 32 / 4;
    column = tile % t.column_tiles * kResidueColumns + 32 * (in_tile / 64 % 8) + 16 * (in_tile % 2) +
             in_tile / 2 % 4 * 2;
  }
};
// The byte of an entry in its matrix.
__device__ __forceinline__ int64_t ResiduePlace(const ResidueTiles& t, int64_t row, int64_t column) {
  const int64_t tile = row / kResidueRows * t.column_tiles + column / kResidueColumns;
  return tile * kResidueTileBytes + (row % kResidueRows / 16 * 8 + column % kResidueColumns / 32) * 512 +
         (row % 8 * 4 + column % 8 / 2) * 16 + column % 32 / 8 * 4 + row % 16 / 8 * 2 + column % 2;
}

template <int kParts>
struct EntrySums {
  double sums[kEntriesOfThread][kParts];

  // Of residues, eight bytes a modulus: byte e is entry e.
  __device__ __forceinline__ void Add(const ResidueSystem& s, const EntryPlace& place, uint64_t residues) {
#pragma unroll
    for (int e = 0; e < kEntriesOfThread; ++e) {
#pragma unroll
      for (int j = 0; j < kParts; ++j) sums[e][j] = s.start[j];
    }
    struct alignas(8) Bytes {
      uint32_t words[2];
    };
    const auto* from =
        reinterpret_cast<const Bytes*>(residues) + place.batch * s.moduli * place.plane + place.piece;
#pragma unroll 2
    for (int i = 0; i < s.moduli; ++i, from += place.plane) {
      const Bytes bytes = *from;
#pragma unroll
      for (int e = 0; e < kEntriesOfThread; ++e) {
        // 2^52 + byte, without a conversion.
        const uint32_t byte = bytes.words[e / 4] >> 8 * (e % 4) & 0xff;
        const double residue = AddNearest(BitsAs<double>(uint64_t{0x43300000} << 32 | byte), -0x1p52);
#pragma unroll
        for (int j = 0; j < kParts; ++j) sums[e][j] = FmaNearest(residue, s.weight[i][j], sums[e][j]);
      }
    }
  }
};

// Notes a block's open entries, a bit of `open` each, with one addition to the list's length.
template <typename IndexOf>
__device__ __forceinline__ void NoteOpenEntries(const DotArguments& a, uint32_t open,
                                                const IndexOf& index_of) {
  auto* const count = reinterpret_cast<uint32_t*>(SharedMemory());
  if (threadIdx.x == 0) *count = 0;
  SyncThreads();
  const uint32_t lane = threadIdx.x % 32;
  const auto own = static_cast<uint32_t>(PopulationCount(open));
  uint32_t through = own;
#pragma unroll
  for (uint32_t by = 1; by < 32; by *= 2) {
    const uint32_t other = ShuffleUp(through, by);
    if (lane >= by) through += other;
  }
  uint32_t start = 0;
  if (lane == 31 && through != 0) start = AtomicAdd(count, through);
  start = Shuffle(start, 31);
  SyncThreads();
  const uint32_t all = *count;
  if (all == 0) return;
  if (threadIdx.x == 0) count[1] = AtomicAdd(reinterpret_cast<uint32_t*>(a.open_count), all);
  SyncThreads();
  auto* const list = reinterpret_cast<uint32_t*>(a.open) + count[1] + start + through - own;
  for (uint32_t i = 0; i < own; ++i, open &= open - 1) list[i] = index_of(TrailingZeros(uint64_t{open}));
}

// Where entry e of a thread is in its tile.
__device__ __forceinline__ int EntryDown(int e) { return 8 * (e / 2 % 2); }
__device__ __forceinline__ int EntryAcross(int e) { return 8 * (e / 4) + e % 2; }

// Stores those of the open entries that stand beside elements which are not finite, by the sums of signs
// (residue_arguments.h). All others are left open, and so are those that are finite sums, beside padding.
__device__ OUTLINE uint32_t DecideSpecial(const ResidueArguments& a, uint32_t open) {
  const EntryPlace place(a.tiles);
  const Rounding rounding(a.dot, place.batch);
  const int64_t lhs_row = place.batch * PaddedRows(a.tiles, 0) + place.row,
                rhs_row = place.batch * PaddedRows(a.tiles, 1) + place.column;
  const auto at = [&](int e, int which) {
    const int64_t plane = (int64_t{which} * a.tiles.batch + place.batch) * place.plane * kEntriesOfThread;
    const auto part = static_cast<int>(place.piece % 64);
    return reinterpret_cast<const int32_t*>(
        a.sign_sums)[plane + ((place.piece / 64 * 4 + part % 2 * 2 + e / 4) * 32 + part / 2) * 4 + e % 4];
  };
  uint32_t left = open;
#pragma unroll 1
  for (; open != 0; open &= open - 1) {
    const int e = TrailingZeros(uint64_t{open});
    auto terms = static_cast<int32_t>(
        reinterpret_cast<const ResidueRow*>(a.rows[0])[lhs_row + EntryDown(e)].special +
        reinterpret_cast<const ResidueRow*>(a.rows[1])[rhs_row + EntryAcross(e)].special);
    if (terms != 0 && a.dot.lhs_has_padding != 0) terms -= at(e, 1);
    if (terms == 0) continue;
    const int32_t sum = at(e, 0);
    const uint64_t infinity = InfinityBits(rounding.shape);
    StoreBits(a.dot.result,
              rounding.batch_offset + OffsetOf(a.dot.lhs.rows, a.dot.row_strides, place.row + EntryDown(e)) +
                  OffsetOf(a.dot.rhs.rows, a.dot.column_strides, place.column + EntryAcross(e)),
              sum == terms    ? infinity
              : sum == -terms ? infinity | uint64_t{1} << (rounding.shape.bits - 1)
                              : NanBits(rounding.shape),
              rounding.shape.bits);
    left &= ~(uint32_t{1} << e);
  }
  return left;
}

template <int kParts>
__device__ __forceinline__ void SumResidues(const ResidueArguments& a) {
  const ResidueControl& control = *reinterpret_cast<const ResidueControl*>(a.control);
  const int moduli = control.moduli;
  if (moduli == 0) return;
  const ResidueSystem& s = reinterpret_cast<const ResidueSystem*>(a.systems)[moduli];
  const EntryPlace place(a.tiles);
  const Rounding rounding(a.dot, place.batch);
  const auto* const rows =
      reinterpret_cast<const ResidueRow*>(a.rows[0]) + place.batch * PaddedRows(a.tiles, 0) + place.row;
  const auto* const columns =
      reinterpret_cast<const ResidueRow*>(a.rows[1]) + place.batch * PaddedRows(a.tiles, 1) + place.column;
  uint32_t open = 0;
  if (place.row < rounding.rows && place.column < rounding.columns) {
    EntrySums<kParts> entries;
    entries.Add(s, place, a.residues);
    // Byte 4 j + 2 h + i: row 8 h, column 8 j + i.
#pragma unroll
    for (int e = 0; e < kEntriesOfThread; ++e) {
      const int down = EntryDown(e), across = EntryAcross(e);
      if (place.row + down >= rounding.rows || place.column + across >= rounding.columns) continue;
      const ResidueRow &r = rows[down], &c = columns[across];
      ReduceSum(s, entries.sums[e]);
      const double bound = CutBound(r, c);
      uint64_t bits;
      const bool done = IsBounded(r, c) && bound < 0x1p127 &&
                        RoundSum(entries.sums[e], bound, r.exponent + c.exponent, rounding.shape, &bits);
      if (done) {
        StoreBits(a.dot.result,
                  rounding.batch_offset + OffsetOf(a.dot.lhs.rows, a.dot.row_strides, place.row + down) +
                      OffsetOf(a.dot.rhs.rows, a.dot.column_strides, place.column + across),
                  bits, rounding.shape.bits);
      } else {
        open |= uint32_t{1} << e;
      }
    }
    if (control.special != 0 && open != 0) open = DecideSpecial(a, open);
  }
  NoteOpenEntries(a.dot, open, [&](int e) {
    return static_cast<uint32_t>((place.batch * rounding.rows + place.row + EntryDown(e)) * rounding.columns +
                                 place.column + EntryAcross(e));
  });
}

}  // namespace assay::gpu

#endif  // ASSAY_GPU_KERNELS_RESIDUE_SUMS_CUH_
