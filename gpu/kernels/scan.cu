// Cumulative sums, each prefix rounded once, and cumulative folds: one launch for all lines (scan.cuh).
//
// Plain tiles: where a tile's magnitudes add up to less than 2^53 of its units, all sums within the tile are
// exact in doubles (pairs.cuh). The sum of the tiles before stays a pair. Other tiles are added as pairs
// throughout.
//
// Depth, for the pair's bound: a prefix passes at most kScanItems + 5 + 8 additions in its tile, then at
// most six for each step of a look-back, each of which covers 32 tiles, and one for each look-back that its
// terms took part in: D = 2 (kScanItems + 64 + tiles before) is above all of that. The bound is that of the
// total and the unit of everything up to the tile's end, so it holds for all prefixes of the tile.
#include "gpu/kernels/device.cuh"
#include "gpu/kernels/folding.cuh"
#include "gpu/kernels/pairs.cuh"
#include "gpu/kernels/scan.cuh"
#include "gpu/kernels/scan_arguments.h"
#include "gpu/kernels/sums.cuh"

namespace assay::gpu {

constexpr uint32_t kWordHasError = 4;  // the error stands in ScanArguments::errors

// States of sums. A word is the sum, then the upper word of the total, rounded up, and of the unit's exponent
// (with 2048, or 4095 of zeros alone) 12 bits, above the flags.
template <typename InputType>
struct SumScan {
  using Input = InputType;
  using Bits = typename Input::Bits;
  using State = PairState;
  static constexpr uint32_t kZeros = 4095;

  __device__ __forceinline__ static State Empty(const ScanArguments& /*a*/) { return NoTerms(); }
  __device__ __forceinline__ static State Start(const ScanArguments& a) {
    PairTerms<Input, true> start;
    start.Add(*reinterpret_cast<const Bits*>(a.init));
    return start.Finish(1);
  }
  __device__ __forceinline__ static State Combine(const ScanArguments& /*a*/, const State& x,
                                                  const State& y) {
    return gpu::Combine(x, y);
  }
  __device__ __forceinline__ static State CombineWarp(const ScanArguments& /*a*/, const State& state) {
    return CombineLanesOf(state, 32);
  }
  __device__ __forceinline__ static void Publish(const ScanArguments& a, uint32_t tile, const State& state,
                                                 uint32_t flag) {
    const uint32_t least = state.least == kNoLeast ? kZeros : static_cast<uint32_t>(state.least + 2048);
    const uint64_t total = (BitsAs<uint64_t>(state.total) >> 32) + 1;
    uint32_t tag = flag | least << 3;
    if (state.error != 0) {  // or NaN
      StoreLatest(reinterpret_cast<uint64_t*>(a.errors) + 2 * int64_t{tile} + (flag - 1),
                  BitsAs<uint64_t>(state.error));
      FenceDevice();
      tag |= kWordHasError;
    }
    StoreLatest(reinterpret_cast<Word16*>(a.states) + tile,
                Word16{BitsAs<uint64_t>(state.sum), total << 32 | tag});
  }
  __device__ __forceinline__ static State StateOf(const ScanArguments& a, uint32_t tile, const Word16& word) {
    const auto tag = static_cast<uint32_t>(word.high);
    const uint32_t least = tag >> 3;
    State state{BitsAs<double>(word.low), 0.0, BitsAs<double>(word.high >> 32 << 32),
                least == kZeros ? int64_t{kNoLeast} : static_cast<int64_t>(least) - 2048};
    if ((tag & kWordHasError) != 0) {
      FenceDevice();
      state.error = BitsAs<double>(
          LoadPast(reinterpret_cast<const uint64_t*>(a.errors) + 2 * int64_t{tile} + ((tag & 3) - 1)));
    }
    return state;
  }
};

// What a warp has of a plain tile, and what the block knows of the tiles before.
struct ScanPart {
  double sum;
  uint32_t most, least, finite;
};
enum class ScanKind : uint32_t { kPairs, kPlain, kExact };
struct ScanConstants {
  PairState before;
  double bound;
  // f32: from this upper word of a double on, and for so many of them, the quick test holds.
  uint32_t least_high, room;
  ScanKind kind;
};
struct ScanBlock {
  uint32_t ticket[4];
  ScanConstants constants;
  ScanPart parts[kScanThreads / 32];
  PairState states[kScanThreads / 32];
};
static_assert(sizeof(ScanBlock) <= kScanBlockBytes);

// A prefix: sum + error within +- bound.
template <typename Input>
__device__ OUTLINE typename Input::Bits RoundPrefix(const ScanArguments& a, double sum, double error,
                                                    double total, double bound, int64_t result) {
  const FloatShape shape = ShapeOf(a.result_type);
  uint64_t bits = 0;
  if (!RoundSum<Input>({sum, error, total, 0}, bound, shape, &bits)) {
    const uint32_t place = AtomicAdd(reinterpret_cast<uint32_t*>(a.open_count), 1);
    reinterpret_cast<uint32_t*>(a.open)[place] = static_cast<uint32_t>(result);
  }
  return static_cast<typename Input::Bits>(bits);
}

// near = (before.sum + local) + before.error is off by at most 2^-52 |near| + 2^-53 |before.error| + bound.
// From 2^50 (2^-52 |before.error| + bound) on that is below 2^-49.6 |near|, that is, 11 units of near's last
// bit: the float is decided unless the 29 bits that it cuts off lie within 16 of their middle. Below 2^-120
// and above 2^120 floats have other bits.
__device__ __forceinline__ void SetQuickTest(ScanConstants* constants) {
  const double error = __builtin_fabs(constants->before.error);
  const double least = MulUp(0x1p50, AddUp(MulUp(error, 0x1p-52), constants->bound));
  const double enough = least > 0x1p-120 ? least : 0x1p-120;
  constexpr uint32_t kHighest = 0x47700000;  // 2^120
  const bool holds = IsFinite(least) && IsFinite(constants->before.sum);
  constants->least_high = static_cast<uint32_t>(BitsAs<uint64_t>(enough) >> 32) + 1;
  constants->room = holds && constants->least_high < kHighest ? kHighest - constants->least_high : 0;
}

// By the first warp, of which each lane has the part of a warp: what all threads need to know.
template <typename Input>
__device__ __forceinline__ void PlainConstants(const ScanArguments& a,
                                               const ScanTile<typename Input::Bits>& tile, ScanBlock* block) {
  const uint32_t lane = threadIdx.x, warps = blockDim.x / 32;
  const ScanPart part = lane < warps ? block->parts[lane] : ScanPart{-0.0, 0, ~uint32_t{0}, 1};
  Extent<Input> extent;
  extent.most = MaxOfLanes(part.most);
  extent.least = MinOfLanes(part.least);
  const double total = extent.Total(static_cast<double>(blockDim.x * kScanItems));
  const int64_t least = extent.Least();
  if (!AllOf(part.finite != 0 && PlainIsExact(total, least))) {
    if (lane == 0) block->constants.kind = ScanKind::kPairs;
    return;
  }
  double up_to = part.sum;
#pragma unroll
  for (uint32_t by = 1; by < kScanThreads / 32; by *= 2) {
    const double below = ShuffleUp(up_to, by);
    if (lane >= by) up_to = AddNearest(up_to, below);
  }
  const double all = Shuffle(up_to, kScanThreads / 32 - 1), below = ShuffleUp(up_to, 1);
  const PairState before = LookBack<SumScan<Input>>(a, tile.number(), tile.place(), {all, 0.0, total, least});
  PairState whole = before;
  whole.total = AddUp(before.total, total);
  whole.least = before.least < least ? before.least : least;
  const bool exact = before.error == 0 && IsFinite(before.sum) && PlainIsExact(whole.total, whole.least);
  if (lane < warps) {
    const double local = lane == 0 ? -0.0 : below;
    block->parts[lane].sum = exact ? AddNearest(local, before.sum) : local;
  }
  if (lane == 0) {
    ScanConstants constants{before, 0, 0, 0, exact ? ScanKind::kExact : ScanKind::kPlain};
    constants.before.total = whole.total;
    constants.bound = DepthBound(2.0 * (kScanItems + 64 + tile.place()), whole.total, whole.least);
    SetQuickTest(&constants);
    block->constants = constants;
  }
}

// The prefixes of a tile that is not plain.
template <typename Input>
__device__ OUTLINE void ScanPairs(const ScanArguments& a, const ScanTile<typename Input::Bits>& tile,
                                  ScanBlock* block) {
  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  auto* const own = tile.own();
  const int count = tile.own_count();
  // Infinities are no part of the bound of prefixes before them.
  PairTerms<Input, true> terms;
  for (int j = 0; j < count; ++j) terms.Add(own[j]);
  PairState state = terms.Finish(count);
  for (uint32_t by = 1; by < 32; by *= 2) {
    const PairState below = ShuffleUpState(state, by);
    if (lane >= by) state = Combine(below, state);
  }
  if (lane == 31) block->states[warp] = state;
  PairState before = ShuffleUpState(state, 1);
  if (lane == 0) before = NoTerms();
  SyncThreads();
  PairState all = NoTerms();
  for (uint32_t w = 0; w < warps; ++w) all = Combine(all, block->states[w]);
  if (warp == 0) {
    const PairState found = LookBack<SumScan<Input>>(a, tile.number(), tile.place(), all);
    if (lane == 0) block->constants.before = found;
  }
  SyncThreads();
  PairState sum = block->constants.before;
  const double total = AddUp(sum.total, all.total);
  const int64_t least = sum.least < all.least ? sum.least : all.least;
  for (uint32_t w = 0; w < warp; ++w) sum = Combine(sum, block->states[w]);
  sum = Combine(sum, before);
  const double bound = DepthBound(2.0 * (kScanItems + 64 + tile.place()), total, least);
  for (int j = 0; j < count; ++j) {
    double lost;
    TwoSum(sum.sum, Input::Value(own[j]), &sum.sum, &lost);
    sum.error = AddNearest(sum.error, lost);
    own[j] = RoundPrefix<Input>(a, sum.sum, sum.error, total, bound, tile.OffsetOfOwn(j));
  }
}

// A prefix of a plain tile; `local` is the sum of the tile's elements up to it, or of everything where that
// is exact.
template <typename Input>
__device__ __forceinline__ typename Input::Bits PlainPrefix(const ScanArguments& a,
                                                            const ScanConstants& constants, double local,
                                                            int64_t result) {
  using Bits = typename Input::Bits;
  const PairState& before = constants.before;
  if (constants.kind == ScanKind::kExact)
    return static_cast<Bits>(RoundDouble(local, ShapeOf(a.result_type)));
  if (sizeof(Bits) == 4 && a.result_type == Float::kF32) {
    const double near = AddNearest(AddNearest(before.sum, local), before.error);
    const auto bits = BitsAs<uint64_t>(near);
    const uint32_t cut = static_cast<uint32_t>(bits) & 0x1fffffff;
    const uint32_t high = static_cast<uint32_t>(bits >> 32) & 0x7fffffff;
    if (cut - (0x10000000 - 16) > 32 && high - constants.least_high < constants.room)
      return static_cast<Bits>(BitsAs<uint32_t>(ToFloat(near)));
  }
  double sum, lost;
  TwoSum(before.sum, local, &sum, &lost);
  return RoundPrefix<Input>(a, sum, AddNearest(before.error, lost), before.total, constants.bound, result);
}

template <typename Input>
__device__ __forceinline__ void ScanSums(const ScanArguments& a) {
  using Bits = typename Input::Bits;
  auto* const block = reinterpret_cast<ScanBlock*>(SharedMemory());
  const ScanTile<Bits> tile(a);
  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  Bits* const own = tile.own();
  const int count = tile.own_count();
  double sum = -0.0;
  Extent<Input> extent;
#pragma unroll
  for (int j = 0; j < kScanItems; ++j) {
    if (j >= count) continue;
    const Bits bits = own[j];
    sum = AddNearest(sum, Input::Value(bits));
    extent.Note(bits);
  }
  const uint32_t most = MaxOfLanes(extent.most), least = MinOfLanes(extent.least);
  const bool finite = AllOf(IsFinite(sum));
#pragma unroll
  for (uint32_t by = 1; by < 32; by *= 2) {
    const double below = ShuffleUp(sum, by);
    if (lane >= by) sum = AddNearest(sum, below);
  }
  double local = ShuffleUp(sum, 1);
  if (lane == 0) local = -0.0;
  if (lane == 31) block->parts[warp] = {sum, most, least, finite ? 1u : 0u};
  SyncThreads();
  if (warp == 0) PlainConstants<Input>(a, tile, block);
  SyncThreads();
  if (block->constants.kind == ScanKind::kPairs) {
    ScanPairs<Input>(a, tile, block);
  } else {
    const ScanConstants constants = block->constants;
    local = AddNearest(block->parts[warp].sum, local);
#pragma unroll
    for (int j = 0; j < kScanItems; ++j) {
      if (j >= count) continue;
      local = AddNearest(local, Input::Value(own[j]));
      own[j] = PlainPrefix<Input>(a, constants, local, tile.OffsetOfOwn(j));
    }
  }
  tile.StoreResults();
}

// States of folds: keys (folding.cuh).
template <typename BitsOfElement>
struct FoldScan {
  using Bits = BitsOfElement;
  using State = uint64_t;

  __device__ __forceinline__ static Folding<Bits> Of(const ScanArguments& a) { return {a.folding}; }
  __device__ __forceinline__ static State Empty(const ScanArguments& a) { return Of(a).Neutral(); }
  __device__ __forceinline__ static State Start(const ScanArguments& a) {
    return Of(a).Key(*reinterpret_cast<const Bits*>(a.init));
  }
  __device__ __forceinline__ static State Combine(const ScanArguments& a, State x, State y) {
    return Of(a).Of(x, y);
  }
  __device__ __forceinline__ static State CombineWarp(const ScanArguments& a, State state) {
    for (uint32_t mask = 16; mask != 0; mask /= 2) state = Combine(a, state, ShuffleXor(state, mask));
    return state;
  }
  __device__ __forceinline__ static void Publish(const ScanArguments& a, uint32_t tile, State state,
                                                 uint32_t flag) {
    StoreLatest(reinterpret_cast<Word16*>(a.states) + tile, Word16{state, flag});
  }
  __device__ __forceinline__ static State StateOf(const ScanArguments& /*a*/, uint32_t /*tile*/,
                                                  const Word16& word) {
    return word.low;
  }
};

template <typename Bits>
__device__ __forceinline__ void ScanFolds(const ScanArguments& a) {
  using Scan = FoldScan<Bits>;
  auto* const keys = reinterpret_cast<uint64_t*>(SharedMemory()) + 2;
  constexpr uint32_t kWarps = kScanThreads / 32;
  const Folding<Bits> folding{a.folding};
  const ScanTile<Bits> tile(a);
  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  Bits* const own = tile.own();
  const int count = tile.own_count();
  uint64_t key = folding.Neutral();
  for (int j = 0; j < count; ++j) key = folding.Of(key, folding.Key(own[j]));
  for (uint32_t by = 1; by < 32; by *= 2) {
    const uint64_t below = ShuffleUp(key, by);
    if (lane >= by) key = folding.Of(below, key);
  }
  if (lane == 31) keys[warp] = key;
  uint64_t before = ShuffleUp(key, 1);
  if (lane == 0) before = folding.Neutral();
  SyncThreads();
  if (warp == 0) {
    uint64_t all = folding.Neutral();
    for (uint32_t w = 0; w < warps; ++w) all = folding.Of(all, keys[w]);
    const uint64_t found = LookBack<Scan>(a, tile.number(), tile.place(), all);
    if (lane == 0) keys[kWarps] = found;
  }
  SyncThreads();
  uint64_t prefix = folding.Of(keys[kWarps], before);
  for (uint32_t w = 0; w < warp; ++w) prefix = folding.Of(prefix, keys[w]);
  for (int j = 0; j < count; ++j) {
    prefix = folding.Of(prefix, folding.Key(own[j]));
    own[j] = folding.Element(prefix);
  }
  tile.StoreResults();
}

DENSE_KERNEL(scan_sum_f32, ScanArguments, kScanThreads, 3) { ScanSums<InputF32>(a); }
DENSE_KERNEL(scan_sum_bf16, ScanArguments, kScanThreads, 3) { ScanSums<InputBf16>(a); }
DENSE_KERNEL(scan_sum_f16, ScanArguments, kScanThreads, 3) { ScanSums<InputF16>(a); }
DENSE_KERNEL(scan_sum_f64, ScanArguments, kScanThreads, 3) { ScanSums<InputF64>(a); }
KERNEL(scan_fold_1, ScanArguments, kScanThreads) { ScanFolds<uint8_t>(a); }
KERNEL(scan_fold_2, ScanArguments, kScanThreads) { ScanFolds<uint16_t>(a); }
KERNEL(scan_fold_4, ScanArguments, kScanThreads) { ScanFolds<uint32_t>(a); }
KERNEL(scan_fold_8, ScanArguments, kScanThreads) { ScanFolds<uint64_t>(a); }

}  // namespace assay::gpu
