// Scatters that add whole rows: a group of lanes has a strip of a row of the operand and adds the updates of
// that row, which are neighbours in the sorted order.
#include "gpu/kernels/device.cuh"
#include "gpu/kernels/index.cuh"
#include "gpu/kernels/lines.cuh"
#include "gpu/kernels/pairs.cuh"
#include "gpu/kernels/scatter/scatter_rows_arguments.h"

namespace assay::gpu {

// starts[r]: how many items have a row below r.
KERNEL(scatter_starts, ScatterRowsArguments, kScatterRowsThreads) {
  const auto* const keys = reinterpret_cast<const uint32_t*>(a.keys);
  for (int64_t r = GridThread(); r <= a.rows; r += GridThreads()) {
    auto low = uint32_t{0}, high = static_cast<uint32_t>(a.items);
    while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      if (keys[middle] < r) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    reinterpret_cast<uint32_t*>(a.starts)[r] = low;
  }
}

// Rows that a lane reads before it adds the first.
constexpr uint32_t kRowsAhead = 4;

// The columns of a lane in one strip of a row, and the items that are added to it.
template <typename TermsType, int kColumns>
struct Strip {
  using Input = typename TermsType::Input;
  using Bits = typename Input::Bits;
  using Columns = Neighbours<Bits, kColumns>;
  const ScatterRowsArguments& a;
  int64_t row, column;
  uint32_t begin = 0, end = 0;
  bool has_any;  // false: no columns

  __device__ __forceinline__ Strip(const ScatterRowsArguments& arguments, int64_t strip, int64_t lane)
      : a(arguments) {
    row = strip;
    column = (SplitIndex(&row, a.strips) * a.lanes + lane) * kColumns;
    has_any = row < a.rows && column < a.length;
    if (!has_any) return;
    begin = reinterpret_cast<const uint32_t*>(a.starts)[row];
    end = reinterpret_cast<const uint32_t*>(a.starts)[row + 1];
  }
  __device__ __forceinline__ uint32_t count() const { return end - begin; }
  __device__ __forceinline__ int64_t place() const { return row * a.length + column; }
  __device__ __forceinline__ const Columns& Operand() const {
    return *reinterpret_cast<const Columns*>(reinterpret_cast<const Bits*>(a.operand) + place());
  }
  __device__ __forceinline__ Columns Update(uint32_t item) const {
    return LoadStreaming(reinterpret_cast<const Columns*>(reinterpret_cast<const Bits*>(a.updates) +
                                                          static_cast<int64_t>(item) * a.length + column));
  }
  __device__ __forceinline__ uint32_t Item(uint32_t place_in_order) const {
    return reinterpret_cast<const uint32_t*>(a.order)[place_in_order];
  }
  // Element c, whose sum is `state`; where it is open the operand's stays.
  __device__ __forceinline__ void Store(int c, const PairState& state, double depth, Bits start) const {
    const FloatShape shape = ShapeOf(a.result_type);
    uint64_t bits = start;
    if (!RoundState<Input>(state, depth, shape, &bits)) {
      bits = start;
      const uint32_t at = AtomicAdd(reinterpret_cast<uint32_t*>(a.open_count), 1);
      reinterpret_cast<uint32_t*>(a.open)[at] = static_cast<uint32_t>(begin * a.length + column + c);
    }
    StoreBits(a.result, place() + c, bits, shape.bits);
  }
};

// Terms that are no plain sum, one column after the other.
template <typename StripType, int kColumns>
__device__ OUTLINE void CarefulStrip(const StripType& strip, const typename StripType::Columns& start) {
  for (int c = 0; c < kColumns; ++c) {
    PairTerms<typename StripType::Input> terms;
    terms.Add(start.of[c]);
    for (uint32_t i = strip.begin; i < strip.end; ++i) terms.Add(strip.Update(strip.Item(i)).of[c]);
    strip.Store(c, terms.Finish(strip.count() + 1), strip.count() + 1, start.of[c]);
  }
}

template <typename Terms, typename Columns, int kColumns>
__device__ __forceinline__ void AddTo(Terms (&terms)[kColumns], const Columns& columns) {
#pragma unroll
  for (int c = 0; c < kColumns; ++c) terms[c].Add(columns.of[c]);
}

// The lanes read the numbers of the next items together and hand them round, so that no row waits for its own
// number; all lanes of a warp go as far as the longest of its groups.
template <typename Terms, int kColumns>
__device__ __forceinline__ void SumRows(const ScatterRowsArguments& a) {
  using StripType = Strip<Terms, kColumns>;
  const auto lanes = static_cast<uint32_t>(a.lanes);
  const uint32_t lane = threadIdx.x % lanes, first_lane = threadIdx.x % 32 - lane;
  const StripType strip(a, GridThread() / lanes, lane);
  const bool in_parts = strip.count() > kScatterPart;
  if (in_parts && lane == 0) {
    const auto parts = static_cast<uint32_t>((strip.count() + kScatterPart - 1) / kScatterPart);
    const uint32_t first = AtomicAdd(reinterpret_cast<uint32_t*>(a.part_count), parts);
    const auto number = static_cast<uint32_t>(GridThread() / lanes);
    for (uint32_t p = 0; p < parts; ++p)
      reinterpret_cast<ScatterPart*>(a.parts)[first + p] = {number, p, parts, first};
  }
  const uint32_t count = in_parts ? 0 : strip.count();
  typename StripType::Columns start = {};
  Terms terms[kColumns];
  if (strip.has_any) {
    start = strip.Operand();
    AddTo<Terms, typename StripType::Columns, kColumns>(terms, start);
  }
  // Lanes beyond the row have no count of their own.
  const uint32_t of_group = Shuffle(count, first_lane), most = MaxOfLanes(of_group);
  const uint32_t begin = Shuffle(strip.begin, first_lane);
  for (uint32_t chunk = 0; chunk < most; chunk += lanes) {
    const uint32_t mine = chunk + lane < of_group ? strip.Item(begin + chunk + lane) : 0;
    for (uint32_t k = 0; k < lanes && chunk + k < most; k += kRowsAhead) {
      typename StripType::Columns read[kRowsAhead];
#pragma unroll
      for (uint32_t j = 0; j < kRowsAhead; ++j) {
        const uint32_t item = Shuffle(mine, first_lane + (k + j) % lanes);
        if (k + j < lanes && chunk + k + j < count) read[j] = strip.Update(item);
      }
#pragma unroll
      for (uint32_t j = 0; j < kRowsAhead; ++j) {
        if (k + j < lanes && chunk + k + j < count)
          AddTo<Terms, typename StripType::Columns, kColumns>(terms, read[j]);
      }
    }
  }
  if (!strip.has_any || in_parts) return;
  auto* const to = reinterpret_cast<typename StripType::Columns*>(
      reinterpret_cast<typename StripType::Bits*>(a.result) + strip.place());
  if (count == 0) {
    if (a.operand != a.result) *to = start;  // its bits as they are, a NaN's too
    return;
  }
  const double added = count + 1;
  bool exact = true;
#pragma unroll
  for (int c = 0; c < kColumns; ++c) exact = exact && terms[c].IsExact(added);
  if (!exact) return CarefulStrip<StripType, kColumns>(strip, start);
#pragma unroll
  for (int c = 0; c < kColumns; ++c) strip.Store(c, terms[c].Finish(added), added, start.of[c]);
}

// A block takes a part: its groups of lanes take an item each. The last block of a row adds the parts.
template <typename Input, int kColumns>
__device__ __forceinline__ void SumParts(const ScatterRowsArguments& a) {
  using StripType = Strip<PairTerms<Input>, kColumns>;
  auto* const shared = reinterpret_cast<PairState*>(SharedMemory());
  auto* const word =
      reinterpret_cast<uint32_t*>(SharedMemory() + kScatterRowsThreads * kColumns * sizeof(PairState));
  auto* const partial = reinterpret_cast<PairState*>(a.partial);
  const auto lanes = static_cast<uint32_t>(a.lanes);
  const uint32_t groups = kScatterRowsThreads / lanes, width = lanes * kColumns;
  const uint32_t lane = threadIdx.x % lanes, group = threadIdx.x / lanes;
  const uint32_t count = *reinterpret_cast<const uint32_t*>(a.part_count);
  for (uint32_t entry = blockIdx.x; entry < count; entry += gridDim.x) {
    const ScatterPart part = reinterpret_cast<const ScatterPart*>(a.parts)[entry];
    const StripType strip(a, part.strip, lane);
    const uint32_t begin = strip.begin + part.part * static_cast<uint32_t>(kScatterPart);
    const uint32_t left = strip.has_any ? strip.end - begin : 0;
    const uint32_t own = left < kScatterPart ? left : static_cast<uint32_t>(kScatterPart);
    PairTerms<Input> terms[kColumns];
    uint32_t added = 0;
    for (uint32_t i = group; i < own; i += groups, ++added)
      AddTo<PairTerms<Input>, typename StripType::Columns, kColumns>(terms,
                                                                     strip.Update(strip.Item(begin + i)));
    SyncThreads();
    for (int c = 0; c < kColumns; ++c) shared[threadIdx.x * kColumns + c] = terms[c].Finish(added);
    SyncThreads();
    for (uint32_t at = threadIdx.x; at < width; at += kScatterRowsThreads) {
      PairState state = shared[at];
      for (uint32_t g = 1; g < groups; ++g) state = Combine(state, shared[g * width + at]);
      partial[static_cast<int64_t>(entry) * width + at] = state;
    }
    if (!IsLastBlock(reinterpret_cast<uint32_t*>(a.part_counters) + part.first, part.parts, word)) continue;
    if (group != 0 || !strip.has_any) continue;
    const typename StripType::Columns start = strip.Operand();
    for (int c = 0; c < kColumns; ++c) {
      PairTerms<Input> first;
      first.Add(start.of[c]);
      PairState state = first.Finish(1);
      for (uint32_t p = 0; p < part.parts; ++p)
        state = Combine(state, LoadPastState(partial + static_cast<int64_t>(part.first + p) * width +
                                             lane * kColumns + c));
      strip.Store(c, state, static_cast<double>(kScatterPart / groups + 1 + groups + part.parts),
                  start.of[c]);
    }
  }
}

#define SCATTER_ROWS_KERNELS(type, Terms, Input, columns)                                                  \
  KERNEL(scatter_rows_##type, ScatterRowsArguments, kScatterRowsThreads) { SumRows<Terms, columns>(a); }   \
  KERNEL(scatter_rows_1_##type, ScatterRowsArguments, kScatterRowsThreads) { SumRows<Terms, 1>(a); }       \
  KERNEL(scatter_parts_##type, ScatterRowsArguments, kScatterRowsThreads) { SumParts<Input, columns>(a); } \
  KERNEL(scatter_parts_1_##type, ScatterRowsArguments, kScatterRowsThreads) { SumParts<Input, 1>(a); }
SCATTER_ROWS_KERNELS(f32, PlainF32, InputF32, 4)
SCATTER_ROWS_KERNELS(bf16, Plain16<InputBf16>, InputBf16, 4)
SCATTER_ROWS_KERNELS(f16, Plain16<InputF16>, InputF16, 4)
SCATTER_ROWS_KERNELS(f64, PairTerms<InputF64>, InputF64, 2)

}  // namespace assay::gpu
