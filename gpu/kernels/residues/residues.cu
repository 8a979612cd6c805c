// Exact dots by residues, but for the products of bytes (residue_product.cu): what residue_arguments.h
// describes.
#include "gpu/kernels/device.cuh"
#include "gpu/kernels/residues/residue_arguments.h"
#include "gpu/kernels/residues/residue_slices.cuh"
#include "gpu/kernels/residues/residue_sums.cuh"

namespace assay::gpu {

// The most units that a row's norm has: infinite where a row can't be a multiple of its unit. Rows that are
// not usable have no integers.
__device__ __forceinline__ double UnitsOf(const RowScale& scale) {
  if (scale.norm == 0 || !IsUsable(scale.norm)) return 0;
  if (scale.unit < 0x1p-1000) return kInfinity;
  return MulUp(scale.norm, PowerOfTwo(-ExponentOf(scale.unit)));
}

// The least number of moduli from `least` to `most` that holds every sum exactly, in units; else `usual`.
__device__ __forceinline__ ResidueControl ChooseModuli(uint64_t systems_address, const double (&units)[2],
                                                       int least, int most, int usual) {
  const double all = MulUp(units[0], units[1]);
  const auto* const systems = reinterpret_cast<const ResidueSystem*>(systems_address);
  for (int moduli = least; moduli <= most; ++moduli) {
    // Integers of a row, which are below its norm, have a bound of their own.
    const int parts = systems[moduli].parts;
    const double row = parts == 2 ? 0x1p43 : parts == 3 ? 0x1p63 : parts == 4 ? 0x1p79 : 0x1p90;
    if (all <= systems[moduli].most && units[0] < row && units[1] < row)
      return {moduli, 1, {units[0], units[1]}, 0, 0};
  }
  return {usual, 0, {units[0], units[1]}, 0, 0};
}

// Whether kept slices are of another number of moduli, or of other planes; then rows are to be zeros.
__device__ __forceinline__ bool IsWantedAgain(uint64_t address, const ResidueControl& control) {
  if (address == 0) return false;
  KeptControl& kept = *reinterpret_cast<KeptControl*>(address);
  const bool wanted =
      kept.moduli != control.moduli || kept.exact != control.exact || kept.special != control.special;
  kept = {control.moduli, control.exact, wanted ? 1 : 0, kept.count + (wanted ? 1 : 0), control.special};
  return wanted;
}

KERNEL(residue_choose, ResidueArguments, kResidueRowThreads) {
  auto* const shared = reinterpret_cast<double*>(SharedMemory());
  // Whether the slices of either side are wanted, and whether a norm is infinite.
  auto* const wanted = reinterpret_cast<uint32_t*>(shared + 2 * kResidueRowThreads);
  if (threadIdx.x == 0) wanted[2] = 0;
  SyncThreads();
  double units[2] = {0, 0};
  for (int side = 0; side < 2; ++side) {
    const DotOperand& operand = side == 0 ? a.dot.lhs : a.dot.rhs;
    const int64_t rows = SizeOf(operand.batch) * SizeOf(operand.rows);
    const auto* const scales = reinterpret_cast<const RowScale*>(operand.scales);
    bool special = false;
    for (int64_t row = threadIdx.x; row < rows; row += kResidueRowThreads) {
      units[side] = __builtin_fmax(units[side], UnitsOf(scales[row]));
      special |= !IsFinite(scales[row].norm);
    }
    if (special) AtomicOr(&wanted[2], 1);
    shared[side * kResidueRowThreads + threadIdx.x] = units[side];
  }
  SyncThreads();
  if (threadIdx.x == 0) {
    for (int side = 0; side < 2; ++side) {
      for (int i = 1; i < kResidueRowThreads; ++i)
        units[side] = __builtin_fmax(units[side], shared[side * kResidueRowThreads + i]);
    }
    ResidueControl control = ChooseModuli(a.systems, units, a.least, a.most, a.usual);
    control.special = static_cast<int32_t>(wanted[2]);
    *reinterpret_cast<ResidueControl*>(a.control) = control;
    for (int side = 0; side < 2; ++side) wanted[side] = IsWantedAgain(a.kept[side], control) ? 1 : 0;
  }
  SyncThreads();
  for (int side = 0; side < 2; ++side) {
    if (wanted[side] == 0) continue;
    const int64_t words = a.tiles.batch * PaddedRows(a.tiles, side) * (sizeof(ResidueRow) / 8);
    for (int64_t i = threadIdx.x; i < words; i += kResidueRowThreads)
      reinterpret_cast<uint64_t*>(a.rows[side])[i] = 0;
  }
}

KERNEL(residue_slice_f32, ResidueSliceArguments, kSliceThreads) { SliceRows<float, 0>(a); }
KERNEL(residue_slice_f32_wide, ResidueSliceArguments, kSliceThreads) { SliceRows<float, 1>(a); }
KERNEL(residue_slice_f64, ResidueSliceArguments, kSliceThreads) { SliceRows<double, 2>(a); }

// Atomic additions of doubles round to nearest. A row has fewer than 2^22 of them, so that 2^-30 is more than
// they lose.
KERNEL(residue_finish, ResidueArguments, kResidueRowThreads) {
  if (reinterpret_cast<const ResidueControl*>(a.control)->moduli == 0) return;
  int64_t index = static_cast<int64_t>(blockIdx.x) * kResidueRowThreads + threadIdx.x;
  const int64_t rows = a.tiles.batch * PaddedRows(a.tiles, 0),
                columns = a.tiles.batch * PaddedRows(a.tiles, 1);
  if (index >= rows + columns) return;
  const int side = index < rows ? 0 : 1;
  ResidueRow& row = reinterpret_cast<ResidueRow*>(a.rows[side])[side == 0 ? index : index - rows];
  const bool usable = row.norm < 0x1p126f;
  row.lost = usable ? ToFloatUp(SqrtUp(MulUp(row.lost_squares, 1 + 0x1p-30))) : static_cast<float>(kInfinity);
  row.lost_sum = usable ? ToFloatUp(MulUp(row.lost_magnitudes, 1 + 0x1p-30)) : static_cast<float>(kInfinity);
}

KERNEL(residue_sum_2, ResidueArguments, kResidueSumThreads) { SumResidues<2>(a); }
KERNEL(residue_sum_3, ResidueArguments, kResidueSumThreads) { SumResidues<3>(a); }
KERNEL(residue_sum_4, ResidueArguments, kResidueSumThreads) { SumResidues<4>(a); }
KERNEL(residue_sum_5, ResidueArguments, kResidueSumThreads) { SumResidues<5>(a); }

// Where much is open, all entries come again with the second level's moduli.
KERNEL(residue_again, ResidueArguments, 32) {
  if (threadIdx.x != 0) return;
  const uint32_t open = *reinterpret_cast<const uint32_t*>(a.dot.open_count);
  auto* const still_open = reinterpret_cast<uint32_t*>(a.still_open_count);
  auto* const other = reinterpret_cast<ResidueControl*>(a.other_control);
  if (open <= a.most_mended && *still_open <= a.most_repaired) {
    *other = {0, 0, {0, 0}, 0, 0};
    return;
  }
  *still_open = 0;
  const ResidueControl& first = *reinterpret_cast<const ResidueControl*>(a.control);
  *other = ChooseModuli(a.systems, first.units, a.least, a.most, a.most);
  // The sums of signs are there.
  other->special = first.special;
}

// Open entries whose rows lost little: half a warp each takes the integers' sum again and adds what was cut
// off.
struct Mender {
  const ResidueArguments& a;
  const ResidueSystem& system;
  uint32_t lane;

  // Products of what was cut off with elements are exact in doubles: 24 and 24 bits.
  __device__ __forceinline__ void AddCuts(const ResidueRow& row, uint64_t cuts, uint64_t address,
                                          const Strides& depth, int64_t start, double factor, bool integers,
                                          PairSum* pair) const {
    const auto* const list = reinterpret_cast<const ResidueCut*>(cuts);
    const auto* const elements = reinterpret_cast<const float*>(address) + start;
    for (uint32_t i = lane; i < row.cuts; i += kMendLanes) {
      const ResidueCut cut = list[i];
      const double element = MulNearest(elements[OffsetOf(depth, cut.index)], factor);
      pair->Add(MulNearest(cut.lost, integers ? RoundToInteger(element) : element));
    }
  }

  // All lanes of a warp call it together.
  __device__ __forceinline__ bool Mend(int64_t batch, int64_t row, int64_t column, const FloatShape& shape,
                                       uint64_t* bits) const {
    const int64_t left = batch * PaddedRows(a.tiles, 0) + row,
                  right = batch * PaddedRows(a.tiles, 1) + column;
    const ResidueRow r = reinterpret_cast<const ResidueRow*>(a.rows[0])[left],
                     c = reinterpret_cast<const ResidueRow*>(a.rows[1])[right];
    const bool possible = r.cuts <= kMostCuts && c.cuts <= kMostCuts && IsBounded(r, c);
    PairSum pair;
    double sum[2] = {0, 0};
    if (possible) {
      const int64_t plane =
          static_cast<int64_t>(a.tiles.row_tiles) * a.tiles.column_tiles * kResidueTileBytes;
      if (lane < static_cast<uint32_t>(system.moduli)) {
        const auto* const from = reinterpret_cast<const uint8_t*>(a.residues) +
                                 (batch * system.moduli + lane) * plane + ResiduePlace(a.tiles, row, column);
        const double residue = static_cast<int>(*from) - 128;
        sum[0] = MulNearest(residue, system.weight[lane][0]);
        sum[1] = MulNearest(residue, system.weight[lane][1]);
      }
      const DotOperand &lhs = a.dot.lhs, &rhs = a.dot.rhs;
      AddCuts(r, a.cuts[0] + left * kMostCuts * sizeof(ResidueCut), rhs.address, rhs.depth,
              OffsetOf(rhs.batch, batch) + OffsetOf(rhs.rows, column), PowerOfTwo(-c.exponent), false, &pair);
      AddCuts(c, a.cuts[1] + right * kMostCuts * sizeof(ResidueCut), lhs.address, lhs.depth,
              OffsetOf(lhs.batch, batch) + OffsetOf(lhs.rows, row), PowerOfTwo(-r.exponent), true, &pair);
    }
#pragma unroll
    for (uint32_t mask = kMendLanes / 2; mask != 0; mask /= 2) {
      sum[0] = AddNearest(sum[0], ShuffleXor(sum[0], mask));
      sum[1] = AddNearest(sum[1], ShuffleXor(sum[1], mask));
      PairSum other;
      other.sum = ShuffleXor(pair.sum, mask);
      other.error = ShuffleXor(pair.error, mask);
      other.magnitude = ShuffleXor(pair.magnitude, mask);
      pair.Add(other);
    }
    if (!possible) return false;
    ReduceSum(system, sum);
    // At most 2 * kMostCuts terms, and the additions of lanes.
    const double bound = PairBound(2 * kMostCuts + kMendLanes, pair.magnitude, 0);
    return RoundParts(sum, AddDown(pair.sum, AddDown(pair.error, -bound)),
                      AddUp(pair.sum, AddUp(pair.error, bound)), r.exponent + c.exponent, shape, bits);
  }
};

KERNEL(residue_mend, ResidueArguments, kMendThreads) {
  const uint32_t count = *reinterpret_cast<const uint32_t*>(a.dot.open_count);
  if (count > a.most_mended) return;
  const auto moduli = reinterpret_cast<const ResidueControl*>(a.control)->moduli;
  const Mender mender{a, reinterpret_cast<const ResidueSystem*>(a.systems)[moduli], threadIdx.x % kMendLanes};
  const int64_t rows = SizeOf(a.dot.lhs.rows), columns = SizeOf(a.dot.rhs.rows);
  constexpr uint32_t kOfBlock = kMendThreads / kMendLanes;
  // All lanes of a warp stay in the loop together.
  for (uint64_t first = blockIdx.x * kOfBlock + threadIdx.x / 32 * (32 / kMendLanes); first < count;
       first += uint64_t{gridDim.x} * kOfBlock) {
    const uint64_t own = first + threadIdx.x % 32 / kMendLanes;
    const uint32_t entry = reinterpret_cast<const uint32_t*>(a.dot.open)[own < count ? own : count - 1];
    int64_t batch = entry;
    const int64_t column = SplitIndex(&batch, columns), row = SplitIndex(&batch, rows);
    const Rounding rounding(a.dot, batch);
    uint64_t bits;
    const bool done = mender.Mend(batch, row, column, rounding.shape, &bits);
    if (mender.lane != 0 || own >= count) continue;
    if (done) {
      StoreBits(a.dot.result,
                rounding.batch_offset + OffsetOf(a.dot.lhs.rows, a.dot.row_strides, row) +
                    OffsetOf(a.dot.rhs.rows, a.dot.column_strides, column),
                bits, rounding.shape.bits);
    } else {
      const uint32_t at = AtomicAdd(reinterpret_cast<uint32_t*>(a.still_open_count), 1);
      reinterpret_cast<uint32_t*>(a.still_open)[at] = entry;
    }
  }
}

// Byte `which` of each of a thread's elements.
template <typename Element>
__device__ __forceinline__ SliceBytes BytesOf(const Element* elements, int which) {
  if constexpr (sizeof(Element) == 1) return *reinterpret_cast<const SliceBytes*>(elements);
  SliceBytes bytes;
  const auto pair = 0x0040 + 0x11 * static_cast<uint32_t>(which % 4);
  const auto word = [&](Element x) {
    if constexpr (sizeof(Element) == 8) return static_cast<uint32_t>(which < 4 ? x : x >> 32);
    return static_cast<uint32_t>(x);
  };
#pragma unroll
  for (int w = 0; w < kOfSlice / 4; ++w) {
    const Element* const four = elements + 4 * w;
    bytes.words[w] = BytePermute(BytePermute(word(four[0]), word(four[1]), pair),
                                 BytePermute(word(four[2]), word(four[3]), pair), 0x5410);
  }
  return bytes;
}

template <typename Element>
__device__ __forceinline__ void SliceIntegers(const ByteSliceArguments& a) {
  constexpr int kPitch = ByteSlicePitch(sizeof(Element));
  const int64_t padded_rows = PaddedRows(a.tiles, a.side);
  const SlicePlace place(a.tiles, padded_rows);
  auto* const shared = reinterpret_cast<Element*>(SharedMemory());
  auto* const offsets = reinterpret_cast<int64_t*>(shared + kSliceRows * kPitch);
  const TileSource<Element, kSliceRows, kResidueDepth, kPitch, kSliceThreads> source(a.operand, place.batch,
                                                                                     place.first, offsets);
  SyncThreads();
  source.Load(place.k - place.part * kOfSlice, shared);
  CopyAsyncCommit();
  CopyAsyncWait<0>();
  SyncThreads();
  const int64_t plane = padded_rows * a.tiles.depth_steps * kResidueDepth;
  auto* const to =
      reinterpret_cast<uint8_t*>(a.to) + place.batch * plane +
      BytePlace(place.row, place.k, a.side == 0 ? kResidueRows : kResidueColumns, a.tiles.depth_steps);
  const Element* const elements = shared + (place.row - place.first) * kPitch + place.part * kOfSlice;
#pragma unroll 1
  for (int i = 0; i < a.count; ++i)
    *reinterpret_cast<SliceBytes*>(to + i * a.tiles.batch * plane) = BytesOf(elements, i);
}

KERNEL(byte_slice_1, ByteSliceArguments, kSliceThreads) { SliceIntegers<uint8_t>(a); }
KERNEL(byte_slice_2, ByteSliceArguments, kSliceThreads) { SliceIntegers<uint16_t>(a); }
KERNEL(byte_slice_4, ByteSliceArguments, kSliceThreads) { SliceIntegers<uint32_t>(a); }
KERNEL(byte_slice_8, ByteSliceArguments, kSliceThreads) { SliceIntegers<uint64_t>(a); }

}  // namespace assay::gpu
