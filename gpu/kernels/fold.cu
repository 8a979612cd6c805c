// Reductions whose order does not matter: extremes and operations on integers.
#include "gpu/kernels/device.cuh"
#include "gpu/kernels/folding.cuh"
#include "gpu/kernels/index.cuh"
#include "gpu/kernels/reduce_arguments.h"

namespace assay::gpu {

template <typename Bits>
__device__ __forceinline__ void Fold(const FoldArguments& a) {
  const Folding<Bits> folding{a.folding};
  const int64_t results = SizeOf(a.plan.kept), size = SizeOf(a.plan.reduced), group = a.plan.group;
  const int64_t place = GridThread() / group, lane = GridThread() % group;
  const int64_t result = place / a.plan.parts, part = place % a.plan.parts;
  const Strides& reduced = a.plan.reduced;
  uint64_t key = folding.Neutral();
  if (result < results) {
    const Bits* const from = reinterpret_cast<const Bits*>(a.input) + OffsetOf(a.plan.kept, result);
    const int64_t begin = size * part / a.plan.parts, end = size * (part + 1) / a.plan.parts;
#pragma unroll 4
    for (int64_t i = begin + lane; i < end; i += group) {
      key = folding.Of(key,
                       folding.Key(from[reduced.rank == 1 ? i * reduced.strides[0] : OffsetOf(reduced, i)]));
    }
  }
  for (uint32_t mask = static_cast<uint32_t>(group) / 2; mask != 0; mask /= 2) {
    key = folding.Of(key, ShuffleXor(key, mask));
  }
  if (lane != 0 || result >= results) return;
  auto* const to = reinterpret_cast<Bits*>(a.result) + place;
  if (a.init == 0) {
    *to = folding.Element(key);
    return;
  }
  // Of no elements the start value is the result as it stands, even if it is a NaN.
  const Bits init = *reinterpret_cast<const Bits*>(a.init);
  *to = size == 0 ? init : folding.Element(folding.Of(key, folding.Key(init)));
}

KERNEL(fold_1, FoldArguments, kReduceThreads) { Fold<uint8_t>(a); }
KERNEL(fold_2, FoldArguments, kReduceThreads) { Fold<uint16_t>(a); }
KERNEL(fold_4, FoldArguments, kReduceThreads) { Fold<uint32_t>(a); }
KERNEL(fold_8, FoldArguments, kReduceThreads) { Fold<uint64_t>(a); }

}  // namespace assay::gpu
