// What kernels use of a GPU beyond C++. The tests' emulation gives the same names
// (tests/gpu/emulator/device/device.h), so nothing else of CUDA stands in a kernel: no intrinsic, no warp
// function, no static shared memory.
//
// Operations of a warp are of all its 32 lanes.
#ifndef ASSAY_GPU_KERNELS_DEVICE_CUH_
#define ASSAY_GPU_KERNELS_DEVICE_CUH_

#include <cstddef>
#include <cstdint>

// A kernel: blocks of at most `threads` threads, and one argument, the structure `a`.
#define KERNEL(name, Arguments, threads) \
  extern "C" __global__ void __launch_bounds__(threads) name(const __grid_constant__ Arguments a)

// The same of kernels that are to have all registers they want,
// even if a multiprocessor has but one block of them then.
#define LARGE_KERNEL(name, Arguments, threads) \
  extern "C" __global__ void __launch_bounds__(threads, 1) name(const __grid_constant__ Arguments a)

// The same of kernels of which a multiprocessor is to run so many blocks.
#define DENSE_KERNEL(name, Arguments, threads, blocks) \
  extern "C" __global__ void __launch_bounds__(threads, blocks) name(const __grid_constant__ Arguments a)

// A function that is called, so that it stands in a kernel once.
#define OUTLINE __noinline__

namespace assay::gpu {

extern __shared__ __align__(16) unsigned char dynamic_shared_memory[];
__device__ __forceinline__ unsigned char* SharedMemory() { return dynamic_shared_memory; }
__device__ __forceinline__ void SyncThreads() { __syncthreads(); }
__device__ __forceinline__ void SyncWarp() { __syncwarp(); }
__device__ __forceinline__ void Trap() { __trap(); }

template <typename T>
__device__ __forceinline__ T Shuffle(T value, uint32_t lane) {
  return __shfl_sync(0xffffffff, value, lane);
}
template <typename T>
__device__ __forceinline__ T ShuffleXor(T value, uint32_t mask) {
  return __shfl_xor_sync(0xffffffff, value, mask);
}
template <typename T>
__device__ __forceinline__ T ShuffleUp(T value, uint32_t by) {
  return __shfl_up_sync(0xffffffff, value, by);
}
__device__ __forceinline__ uint32_t Ballot(bool value) { return __ballot_sync(0xffffffff, value); }
__device__ __forceinline__ bool AnyOf(bool value) { return __any_sync(0xffffffff, value); }
__device__ __forceinline__ bool AllOf(bool value) { return __all_sync(0xffffffff, value); }
__device__ __forceinline__ uint32_t MaxOfLanes(uint32_t value) {
  return __reduce_max_sync(0xffffffff, value);
}
__device__ __forceinline__ uint32_t MinOfLanes(uint32_t value) {
  return __reduce_min_sync(0xffffffff, value);
}

__device__ __forceinline__ uint32_t AtomicAdd(uint32_t* p, uint32_t value) { return atomicAdd(p, value); }
__device__ __forceinline__ uint64_t AtomicAdd(uint64_t* p, uint64_t value) {
  return atomicAdd(reinterpret_cast<unsigned long long*>(p), static_cast<unsigned long long>(value));
}
__device__ __forceinline__ uint32_t AtomicOr(uint32_t* p, uint32_t value) { return atomicOr(p, value); }
__device__ __forceinline__ uint32_t AtomicMax(uint32_t* p, uint32_t value) { return atomicMax(p, value); }
__device__ __forceinline__ double AtomicAdd(double* p, double value) { return atomicAdd(p, value); }

// 16 bytes, read and written at once.
struct alignas(16) Word16 {
  uint64_t low, high;
};
struct alignas(16) Vector16 {
  uint32_t words[4];
};

// Elements of 1 to 16 bytes that are read or written once: they need no place in the caches.
template <typename T>
__device__ __forceinline__ T LoadStreaming(const T* p) {
  if constexpr (sizeof(T) == 16) {
    return __builtin_bit_cast(T, __ldcs(reinterpret_cast<const uint4*>(p)));
  } else if constexpr (sizeof(T) == 8) {
    return __builtin_bit_cast(T, __ldcs(reinterpret_cast<const unsigned long long*>(p)));
  } else if constexpr (sizeof(T) == 4) {
    return __builtin_bit_cast(T, __ldcs(reinterpret_cast<const uint32_t*>(p)));
  } else {
    return *p;
  }
}
template <typename T>
__device__ __forceinline__ void StoreStreaming(T* p, T value) {
  if constexpr (sizeof(T) == 16) {
    __stcs(reinterpret_cast<uint4*>(p), __builtin_bit_cast(uint4, value));
  } else if constexpr (sizeof(T) == 8) {
    __stcs(reinterpret_cast<unsigned long long*>(p), __builtin_bit_cast(unsigned long long, value));
  } else if constexpr (sizeof(T) == 4) {
    __stcs(reinterpret_cast<uint32_t*>(p), __builtin_bit_cast(uint32_t, value));
  } else {
    *p = value;
  }
}

// Memory that blocks of one launch share. FenceDevice stands between what a block writes and the word by
// which it says so, and between the reading of that word and of what was written. LoadPast reads memory, not
// a copy in the multiprocessor's own cache.
__device__ __forceinline__ void FenceDevice() { __threadfence(); }
__device__ __forceinline__ uint32_t LoadPast(const uint32_t* p) { return __ldcg(p); }
__device__ __forceinline__ uint64_t LoadPast(const uint64_t* p) {
  return __ldcg(reinterpret_cast<const unsigned long long*>(p));
}
__device__ __forceinline__ uint64_t LoadLatest(const uint64_t* p) {
  uint64_t value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(p) : "memory");
  return value;
}
__device__ __forceinline__ void StoreLatest(uint64_t* p, uint64_t value) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(value) : "memory");
}
__device__ __forceinline__ Word16 LoadLatest(const Word16* p) {
  Word16 value;
  asm volatile("{.reg .b128 v; ld.relaxed.gpu.global.b128 v, [%2]; mov.b128 {%0, %1}, v;}"
               : "=l"(value.low), "=l"(value.high)
               : "l"(p)
               : "memory");
  return value;
}
__device__ __forceinline__ void StoreLatest(Word16* p, Word16 value) {
  asm volatile("{.reg .b128 v; mov.b128 v, {%1, %2}; st.relaxed.gpu.global.b128 [%0], v;}" ::"l"(p),
               "l"(value.low), "l"(value.high)
               : "memory");
}
// What another block stores there, as soon as `ready` says that it is there.
template <typename T, typename Ready>
__device__ __forceinline__ T LoadWhen(const T* p, const Ready& ready) {
  T value = LoadLatest(p);
  while (!ready(value)) value = LoadLatest(p);
  return value;
}

// Copies of 4 or 16 bytes, aligned so, that go on while the thread does. `valid_bytes` is their size, or 0:
// then they write zeros and `global` is not read. Nothing between: memcheck takes that for a read of all
// bytes.
__device__ __forceinline__ void CopyAsync4(void* shared, const void* global, uint32_t valid_bytes) {
  const auto to = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(global), "r"(valid_bytes));
}
__device__ __forceinline__ void CopyAsync16(void* shared, const void* global, uint32_t valid_bytes) {
  const auto to = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(global), "r"(valid_bytes));
}
__device__ __forceinline__ void CopyAsyncCommit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// All but the last kGroupsLeft groups of this thread are there.
template <int kGroupsLeft>
__device__ __forceinline__ void CopyAsyncWait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kGroupsLeft) : "memory");
}

// C += A B on tensor cores: 16 x 16 and 16 x 8 doubles. With g = lane / 4, t = lane % 4: a[i] is row g + 8
// (i % 2), column 4 (i / 2) + t of A; b[i] is row 4 i + t, column g of B; c[i] is row g + 8 (i / 2),
// column 2 t + i % 2 of C.
__device__ __forceinline__ void MmaF64(double (&c)[4], const double (&a)[8], const double (&b)[4]) {
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, "
      "%11}, "
      "{%12, %13, %14, %15}, {%0, %1, %2, %3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]),
        "d"(b[1]), "d"(b[2]), "d"(b[3]));
#else
#pragma unroll
  for (int k = 0; k < 4; ++k) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
          : "+d"(c[2 * half]), "+d"(c[2 * half + 1])
          : "d"(a[2 * k + half]), "d"(b[k]));
    }
  }
#endif
}

// C += A B on tensor cores: 16 x 32 and 32 x 8 bytes, four consecutive columns of A or rows of B a word. With
// g and t as above: a[i] is row g + 8 (i % 2), columns from 16 (i / 2) + 4 t;
// b[i] is rows from 16 i + 4 t, column g.
template <bool kASigned, bool kBSigned>
__device__ __forceinline__ void MmaI8(int32_t (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
#define ASSAY_MMA(A, B)                                                      \
  asm("mma.sync.aligned.m16n8k32.row.col.s32." A "." B                       \
      ".s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])                       \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
  if constexpr (kASigned && kBSigned) ASSAY_MMA("s8", "s8");
  if constexpr (kASigned && !kBSigned) ASSAY_MMA("s8", "u8");
  if constexpr (!kASigned && kBSigned) ASSAY_MMA("u8", "s8");
  if constexpr (!kASigned && !kBSigned) ASSAY_MMA("u8", "u8");
#undef ASSAY_MMA
}

// A float as TF32, which keeps 11 bits of its significand: rounded to nearest, ties away from zero.
__device__ __forceinline__ uint32_t ToTf32(float x) {
  uint32_t bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return bits;
}
// C += A B on tensor cores, with sums in f32 that are cut: 16 x 8 and 8 x 8 words of one tf32, or of two
// floats of 16 bits with neighbouring k. With g and t as above: a[i] is row g + 8 (i % 2), word t + 4 (i /
// 2); b[i] is word t + 4 i of column g; c[i] is row g + 8 (i / 2), column 2 t + i % 2.
enum class MmaFloat { kTf32, kBf16, kF16 };
template <MmaFloat kType>
__device__ __forceinline__ void Mma(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
#define ASSAY_MMA(TYPES)                                                                               \
  asm("mma.sync.aligned." TYPES ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                                 \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
  if constexpr (kType == MmaFloat::kTf32) ASSAY_MMA("m16n8k8.row.col.f32.tf32.tf32");
  if constexpr (kType == MmaFloat::kBf16) ASSAY_MMA("m16n8k16.row.col.f32.bf16.bf16");
  if constexpr (kType == MmaFloat::kF16) ASSAY_MMA("m16n8k16.row.col.f32.f16.f16");
#undef ASSAY_MMA
}

__device__ __forceinline__ double AddNearest(double a, double b) { return __dadd_rn(a, b); }
__device__ __forceinline__ double AddDown(double a, double b) { return __dadd_rd(a, b); }
__device__ __forceinline__ double AddUp(double a, double b) { return __dadd_ru(a, b); }
__device__ __forceinline__ double MulNearest(double a, double b) { return __dmul_rn(a, b); }
__device__ __forceinline__ double MulUp(double a, double b) { return __dmul_ru(a, b); }
__device__ __forceinline__ double FmaNearest(double a, double b, double c) { return __fma_rn(a, b, c); }
__device__ __forceinline__ double FmaUp(double a, double b, double c) { return __fma_ru(a, b, c); }
__device__ __forceinline__ double SqrtUp(double a) { return __dsqrt_ru(a); }
__device__ __forceinline__ float ToFloat(double a) { return __double2float_rn(a); }
// The larger number; a NaN wins, and -0 is below +0.
__device__ __forceinline__ float MaxNan(float a, float b) {
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}
// Of both halves.
__device__ __forceinline__ uint32_t MaxU16x2(uint32_t a, uint32_t b) { return __vmaxu2(a, b); }
__device__ __forceinline__ uint32_t MinS16x2(uint32_t a, uint32_t b) { return __vmins2(a, b); }
__device__ __forceinline__ float AddUp(float a, float b) { return __fadd_ru(a, b); }
__device__ __forceinline__ float MulUp(float a, float b) { return __fmul_ru(a, b); }
__device__ __forceinline__ float FmaNearest(float a, float b, float c) { return __fmaf_rn(a, b, c); }
__device__ __forceinline__ float ToFloatUp(double a) { return __double2float_ru(a); }
__device__ __forceinline__ double RoundToInteger(double a) { return rint(a); }
__device__ __forceinline__ uint32_t LowWord(double a) { return static_cast<uint32_t>(__double2loint(a)); }
// The bytes of b and a, b's being 4 to 7, that the four low hexadecimal digits of `which` (0 to 7) name.
__device__ __forceinline__ uint32_t BytePermute(uint32_t a, uint32_t b, uint32_t which) {
  return __byte_perm(a, b, which);
}
__device__ __forceinline__ float HalfToFloat(uint16_t bits) {
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(bits));
  return result;
}

template <typename To, typename From>
__device__ __forceinline__ To BitsAs(From from) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}
__device__ __forceinline__ int LeadingZeros(uint32_t x) { return __clz(static_cast<int>(x)); }
__device__ __forceinline__ int LeadingZeros(uint64_t x) { return __clzll(static_cast<long long>(x)); }
__device__ __forceinline__ int TrailingZeros(uint64_t x) {
  return x == 0 ? 64 : __ffsll(static_cast<long long>(x)) - 1;
}
__device__ __forceinline__ int PopulationCount(uint32_t x) { return __popc(x); }
__device__ __forceinline__ uint64_t MulHigh(uint64_t a, uint64_t b) { return __umul64hi(a, b); }
__device__ __forceinline__ uint32_t MulHigh(uint32_t a, uint32_t b) { return __umulhi(a, b); }

}  // namespace assay::gpu

#endif  // ASSAY_GPU_KERNELS_DEVICE_CUH_
