// Exact sums over lines: rows, columns, everything.
#include "gpu/kernels/device.cuh"
#include "gpu/kernels/lines.cuh"
#include "gpu/kernels/pairs.cuh"
#include "gpu/kernels/reduce_arguments.h"
#include "gpu/kernels/sums.cuh"

namespace assay::gpu {

// TermsType: how a thread adds its elements; pairs are always exact enough to be tested.
template <typename TermsType>
struct LineSum {
  using Input = typename TermsType::Input;
  using Element = typename Input::Bits;
  using State = PairState;
  struct Terms : TermsType {
    Terms() = default;
    __device__ __forceinline__ explicit Terms(const LineArguments& /*a*/) {}
  };
  struct Careful : PairTerms<Input> {
    __device__ __forceinline__ explicit Careful(const LineArguments& /*a*/) {}
  };
  static constexpr bool kHasCareful = !__is_same(TermsType, PairTerms<Input>);

  __device__ __forceinline__ static State Empty() { return NoTerms(); }
  __device__ __forceinline__ static State Combine(const State& x, const State& y) {
    return gpu::Combine(x, y);
  }
  __device__ __forceinline__ static State CombineLanes(const State& state, uint32_t group) {
    return CombineLanesOf(state, group);
  }
  __device__ __forceinline__ static void Store(const LineArguments& a, const State& sum, int64_t result,
                                               double depth) {
    PairTerms<Input> start;
    start.Add(*reinterpret_cast<const Element*>(a.init));
    const FloatShape shape = ShapeOf(a.result_type);
    uint64_t bits;
    if (RoundState<Input>(Combine(sum, start.Finish(1)), depth + 1, shape, &bits)) {
      StoreBits(a.result, result, bits, shape.bits);
    } else {
      const uint32_t place = AtomicAdd(reinterpret_cast<uint32_t*>(a.open_count), 1);
      reinterpret_cast<uint32_t*>(a.open)[place] = static_cast<uint32_t>(result);
    }
  }
};

// How a thread adds: plain where that is nearly always exact and the arithmetic counts. Long lines of f32
// have too many terms a thread for that, and columns of f32 are as fast as pairs.
#define LINE_SUM_KERNELS(type, Plain, Input, columns, unroll)                                             \
  KERNEL(sum_rows_##type, LineArguments, kReduceThreads) { ReduceRows<LineSum<Plain>, 4>(a); }            \
  KERNEL(sum_long_##type, LineArguments, kReduceThreads) { ReduceLong<LineSum<PairTerms<Input>>, 2>(a); } \
  KERNEL(sum_columns_##type, LineArguments, kReduceThreads) {                                             \
    ReduceColumns<LineSum<PairTerms<Input>>, columns, unroll>(a);                                         \
  }                                                                                                       \
  KERNEL(sum_columns_1_##type, LineArguments, kReduceThreads) {                                           \
    ReduceColumns<LineSum<PairTerms<Input>>, 1, 8>(a);                                                    \
  }
#define LINE_PLAIN_SUM_KERNELS(type, Plain, columns, unroll)                                   \
  KERNEL(sum_rows_##type, LineArguments, kReduceThreads) { ReduceRows<LineSum<Plain>, 4>(a); } \
  KERNEL(sum_long_##type, LineArguments, kReduceThreads) { ReduceLong<LineSum<Plain>, 4>(a); } \
  KERNEL(sum_columns_##type, LineArguments, kReduceThreads) {                                  \
    ReduceColumns<LineSum<Plain>, columns, unroll>(a);                                         \
  }                                                                                            \
  KERNEL(sum_columns_1_##type, LineArguments, kReduceThreads) { ReduceColumns<LineSum<Plain>, 1, 8>(a); }

LINE_SUM_KERNELS(f32, PlainF32, InputF32, 4, 4)
LINE_SUM_KERNELS(f64, PairTerms<InputF64>, InputF64, 2, 4)
LINE_PLAIN_SUM_KERNELS(bf16, Plain16<InputBf16>, 4, 4)
LINE_PLAIN_SUM_KERNELS(f16, Plain16<InputF16>, 4, 4)

}  // namespace assay::gpu
