// Rows of operands as integers, and these modulo the moduli.
#ifndef ASSAY_GPU_KERNELS_RESIDUE_SLICES_CUH_
#define ASSAY_GPU_KERNELS_RESIDUE_SLICES_CUH_

#include "gpu/kernels/device.cuh"
#include "gpu/kernels/dot_entries.cuh"
#include "gpu/kernels/dot_tiles.cuh"
#include "gpu/kernels/exact.cuh"
#include "gpu/kernels/residues/residue_arguments.h"

namespace assay::gpu {

constexpr double kRoundInteger = 6755399441055744.0;  // 1.5 * 2^52: x + this is x rounded, in its low bits

__device__ __forceinline__ double PowerOfTwo(int exponent) {  // -1022 .. 1023
  return BitsAs<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}
__device__ __forceinline__ int ExponentOf(double x) {  // of a normal number > 0
  return static_cast<int>(BitsAs<uint64_t>(x) >> 52) - 1023;
}

// Rows beyond this are left to the repair: scaled, their elements would over- or underflow.
__device__ __forceinline__ bool IsUsable(double norm) {
  return norm < 0x1p900 && (norm > 0x1p-900 || norm == 0);
}

// The least exponent with norm * 2^-exponent <= limit.
__device__ __forceinline__ int UnitExponent(double norm, double limit) {
  if (norm == 0) return 0;
  const int exponent = ExponentOf(norm) - ExponentOf(limit);
  return MulNearest(norm, PowerOfTwo(-exponent)) > limit ? exponent + 1 : exponent;
}

constexpr int kOfSlice = 16;  // elements of a thread

// Elements as integers and their residues. kWide 0: integers below 2^44; 1: below 2^64; 2: below 2^90.
template <int kWide>
struct Integers {
  double x[kOfSlice], middle[kOfSlice], top[kOfSlice];
  uint32_t low[kOfSlice], high[kOfSlice], higher[kOfSlice];

  // Element j becomes the nearest integer. What was cut off, exactly.
  __device__ __forceinline__ double Set(int j, double value) {
    if constexpr (kWide == 0) {
      const double rounded = AddNearest(value, kRoundInteger);
      x[j] = AddNearest(rounded, -kRoundInteger);
      low[j] = LowWord(rounded);
    } else {
      x[j] = RoundToInteger(value);
    }
    const double cut = AddNearest(value, -x[j]);
    if constexpr (kWide == 2) {
      const double rounded = FmaNearest(x[j], 0x1p-60, kRoundInteger);
      top[j] = AddNearest(rounded, -kRoundInteger);
      higher[j] = LowWord(rounded);
      x[j] = FmaNearest(top[j], -0x1p60, x[j]);
    }
    if constexpr (kWide != 0) {
      const double rounded = FmaNearest(x[j], 0x1p-30, kRoundInteger);
      middle[j] = AddNearest(rounded, -kRoundInteger);
      high[j] = LowWord(rounded);
      x[j] = FmaNearest(middle[j], -0x1p30, x[j]);
      low[j] = LowWord(AddNearest(x[j], kRoundInteger));
    }
    return cut;
  }

  // Four bytes a word: (integer * f) mod p with magnitudes up to p / 2. The quotient is off by at most 1/2 +
  // 2^-8, and of the residue only the low byte is wanted, so that the products may wrap.
  __device__ __forceinline__ void Residues(const ResidueSystem& s, int side, int i,
                                           uint32_t (&words)[kOfSlice / 4]) const {
    const double ratio = s.ratio[side][i];
    const int f = s.low[side][i], f30 = s.high[side][i], f60 = s.higher[side][i];
    const auto p = static_cast<uint32_t>(s.modulus[i]);
#pragma unroll
    for (int w = 0; w < kOfSlice / 4; ++w) {
      uint32_t r[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int e = 4 * w + j;
        uint32_t product = low[e] * static_cast<uint32_t>(f);
        double folded = x[e];
        if constexpr (kWide != 0) {
          folded = MulNearest(x[e], f);
          folded = FmaNearest(middle[e], f30, folded);
          product += high[e] * static_cast<uint32_t>(f30);
        }
        if constexpr (kWide == 2) {
          folded = FmaNearest(top[e], f60, folded);
          product += higher[e] * static_cast<uint32_t>(f60);
        }
        r[j] = product - LowWord(FmaNearest(folded, ratio, kRoundInteger)) * p;
      }
      words[w] = BytePermute(BytePermute(r[0], r[1], 0x0040), BytePermute(r[2], r[3], 0x0040), 0x5410);
    }
  }
};

// What a thread's elements lost.
struct SliceLoss {
  double squares = 0, magnitudes = 0, largest = 0;

  // Of the eight lanes that have a row's elements.
  __device__ __forceinline__ void Join() {
#pragma unroll
    for (uint32_t mask = 4; mask != 0; mask /= 2) {
      largest = __builtin_fmax(largest, ShuffleXor(largest, mask));
      squares = AddUp(squares, ShuffleXor(squares, mask));
      magnitudes = AddUp(magnitudes, ShuffleXor(magnitudes, mask));
    }
  }
};

struct alignas(16) SliceBytes {
  uint32_t words[kOfSlice / 4];
};

// A block takes kSliceRows rows and kResidueDepth of k, a thread 16 elements of a row.
struct SlicePlace {
  int64_t batch, first, row, k;
  uint32_t part;
  __device__ __forceinline__ SlicePlace(const ResidueTiles& tiles, int64_t padded_rows) {
    const int64_t blocks = padded_rows / kSliceRows, of_step = blockIdx.x / tiles.depth_steps;
    batch = of_step / blocks;
    first = of_step % blocks * kSliceRows;
    part = threadIdx.x % (kResidueDepth / kOfSlice);
    row = first + threadIdx.x / (kResidueDepth / kOfSlice);
    k = blockIdx.x % tiles.depth_steps * int64_t{kResidueDepth} + part * kOfSlice;
  }
};
static_assert(kSliceRows * (kResidueDepth / kOfSlice) == kSliceThreads);

template <typename T, int kWide>
struct Slicer {
  const ResidueSliceArguments& a;
  const ResidueSystem& system;
  bool exact;
  int sign_planes;

  // How the row is scaled; an exponent for elements that become integers.
  __device__ __forceinline__ int Exponent(const RowScale& scale) const {
    if (!IsUsable(scale.norm)) return 0;
    return exact ? ExponentOf(scale.unit) : UnitExponent(scale.norm, AddNearest(system.limit, -a.half_root));
  }

  // A float has 24 bits: others keep the row from the list.
  __device__ __forceinline__ void NoteCut(ResidueRow* row, int64_t index, int64_t k, double cut) const {
    const float lost = ToFloat(cut);
    const bool listed = a.cuts != 0 && static_cast<double>(lost) == cut;
    if (!listed) {
      AtomicOr(&row->cuts, uint32_t{1} << 31);
      return;
    }
    const uint32_t at = AtomicAdd(&row->cuts, 1);
    if (at < kMostCuts)
      reinterpret_cast<ResidueCut*>(a.cuts)[index * kMostCuts + at] = {static_cast<int32_t>(k), lost};
  }

  __device__ __forceinline__ void Run() const {
    const int64_t padded_rows = PaddedRows(a.tiles, a.side), rows = SizeOf(a.operand.rows);
    const SlicePlace place(a.tiles, padded_rows);
    if (place.first >= rows) {
      StoreZeros(place, padded_rows);
      return;
    }
    auto* const shared = reinterpret_cast<T*>(SharedMemory());
    auto* const offsets = reinterpret_cast<int64_t*>(shared + kSliceRows * kSlicePitch);
    const TileSource<T, kSliceRows, kResidueDepth, kSlicePitch, kSliceThreads> source(a.operand, place.batch,
                                                                                      place.first, offsets);
    SyncThreads();
    source.Load(place.k - place.part * kOfSlice, shared);
    CopyAsyncCommit();
    const bool inside = place.row < rows;
    uint32_t special = 0;
    const RowScale scale =
        inside ? reinterpret_cast<const RowScale*>(a.operand.scales)[place.batch * rows + place.row]
               : RowScale{0, 1};
    const bool usable = IsUsable(scale.norm);
    const int exponent = Exponent(scale);
    const double factor = PowerOfTwo(-exponent);
    const int64_t index = place.batch * padded_rows + place.row;
    ResidueRow* const row = reinterpret_cast<ResidueRow*>(a.rows) + index;
    CopyAsyncWait<0>();
    SyncThreads();
    const T* const elements = shared + (place.row - place.first) * kSlicePitch + place.part * kOfSlice;
    Integers<kWide> integers;
    SliceLoss loss;
#pragma unroll
    for (int j = 0; j < kOfSlice; ++j) {
      const double element = usable ? static_cast<double>(elements[j]) : 0.0;
      if (!usable && !IsFinite(static_cast<double>(elements[j]))) ++special;
      const double value = MulNearest(element, factor);
      double cut = integers.Set(j, value);
      // Doubles far below their row's norm may underflow when they are scaled.
      if (sizeof(T) == 8 && element != 0 && __builtin_fabs(value) < 0x1p-900) cut = 0x1p-500;
      loss.largest = __builtin_fmax(loss.largest, __builtin_fabs(value));
      if (cut != 0) {
        loss.squares = FmaUp(cut, cut, loss.squares);
        loss.magnitudes = AddUp(loss.magnitudes, __builtin_fabs(cut));
        NoteCut(row, index, place.k + j, cut);
      }
    }
    loss.Join();
    if (place.part == 0 && inside) Note(row, loss, scale, usable, exponent, place.k == 0);
    if (special != 0) AtomicAdd(&row->special, special);
    Store(integers, place, padded_rows);
    if (sign_planes != 0) StoreSigns(elements, place, padded_rows);
  }

  __device__ __forceinline__ void Note(ResidueRow* row, const SliceLoss& loss, const RowScale& scale,
                                       bool usable, int exponent, bool first) const {
    if (first) {
      row->norm =
          usable ? ToFloatUp(MulUp(scale.norm, PowerOfTwo(-exponent))) : static_cast<float>(kInfinity);
      row->exponent = exponent;
    }
    // Floats >= 0 are in the order of their bits.
    AtomicMax(reinterpret_cast<uint32_t*>(&row->largest),
              BitsAs<uint32_t>(usable ? ToFloatUp(loss.largest) : static_cast<float>(kInfinity)));
    if (loss.magnitudes == 0) return;
    AtomicAdd(&row->lost_squares, loss.squares);
    AtomicAdd(&row->lost_magnitudes, loss.magnitudes);
  }

  __device__ __forceinline__ int64_t Plane(int64_t padded_rows) const {
    return padded_rows * a.tiles.depth_steps * kResidueDepth;
  }
  // Of the first modulus.
  __device__ __forceinline__ int8_t* To(const SlicePlace& place, int64_t plane) const {
    return reinterpret_cast<int8_t*>(a.to) + place.batch * system.moduli * plane +
           BytePlace(place.row, place.k, a.side == 0 ? kResidueRows : kResidueColumns, a.tiles.depth_steps);
  }

  // Of signs, the first plane.
  __device__ __forceinline__ int8_t* SignsTo(const SlicePlace& place, int64_t plane) const {
    return To(place, plane) + (place.batch + (a.tiles.batch - place.batch) * system.moduli) * plane;
  }

  // Of rows that are padding.
  __device__ __forceinline__ void StoreZeros(const SlicePlace& place, int64_t padded_rows) const {
    const int64_t plane = Plane(padded_rows);
    int8_t* const to = To(place, plane);
#pragma unroll 1
    for (int i = 0; i < system.moduli; ++i) *reinterpret_cast<SliceBytes*>(to + i * plane) = SliceBytes{};
    int8_t* const signs = SignsTo(place, plane);
#pragma unroll 1
    for (int i = 0; i < sign_planes; ++i)
      *reinterpret_cast<SliceBytes*>(signs + i * a.tiles.batch * plane) = SliceBytes{};
  }

  // The byte of an element in a plane of signs.
  __device__ __forceinline__ uint32_t SignByte(T x, int which) const {
    if (which == 2) return (a.side == 0 ? IsNegativeZero(x) : !IsFinite(x)) ? 1 : 0;
    if (which == 0 && IsFinite(x)) return 0;
    return x > 0 ? 1 : x < 0 ? 0xff : 0;
  }
  __device__ __forceinline__ void StoreSigns(const T* elements, const SlicePlace& place,
                                             int64_t padded_rows) const {
    const int64_t plane = Plane(padded_rows);
    int8_t* const to = SignsTo(place, plane);
#pragma unroll 1
    for (int i = 0; i < sign_planes; ++i) {
      SliceBytes bytes{};
#pragma unroll
      for (int j = 0; j < kOfSlice; ++j) bytes.words[j / 4] |= SignByte(elements[j], i) << 8 * (j % 4);
      *reinterpret_cast<SliceBytes*>(to + i * a.tiles.batch * plane) = bytes;
    }
  }

  __device__ __forceinline__ void Store(const Integers<kWide>& integers, const SlicePlace& place,
                                        int64_t padded_rows) const {
    const int64_t plane = Plane(padded_rows);
    int8_t* const to = To(place, plane);
#pragma unroll 1
    for (int i = 0; i < system.moduli; ++i) {
      SliceBytes bytes;
      integers.Residues(system, a.side, i, bytes.words);
      *reinterpret_cast<SliceBytes*>(to + i * plane) = bytes;
    }
  }
};

template <typename T, int kWide>
__device__ __forceinline__ void SliceRows(const ResidueSliceArguments& a) {
  const ResidueControl control = *reinterpret_cast<const ResidueControl*>(a.control);
  if (control.moduli == 0 || (a.kept != 0 && reinterpret_cast<const KeptControl*>(a.kept)->wanted == 0))
    return;
  Slicer<T, kWide>{a, reinterpret_cast<const ResidueSystem*>(a.systems)[control.moduli], control.exact != 0,
                   control.special != 0 ? a.sign_planes : 0}
      .Run();
}

}  // namespace assay::gpu

#endif  // ASSAY_GPU_KERNELS_RESIDUE_SLICES_CUH_
