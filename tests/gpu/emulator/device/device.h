// In place of gpu/kernels/device.cuh where kernels are compiled as C++: the same names, by the emulation.
#ifndef ASSAY_GPU_KERNELS_DEVICE_CUH_
#define ASSAY_GPU_KERNELS_DEVICE_CUH_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tests/gpu/emulator/device/thread.h"

#define __device__
#define __global__
#define __constant__ static const
#define __forceinline__ inline
#define OUTLINE __attribute__((noinline)) inline

#define threadIdx (::assay::emulated::ThreadIndex())
#define blockIdx (::assay::emulated::BlockIndex())
#define blockDim (::assay::emulated::BlockSize())
#define gridDim (::assay::emulated::GridSize())

#define KERNEL(name, Arguments, threads)                                                                    \
  static void name(const Arguments& a);                                                                     \
  static const ::assay::emulated::RegisteredKernel registered_##name(                                       \
      ASSAY_KERNEL_MODULE, {#name, sizeof(Arguments), threads,                                              \
                            [](const void* argument) { name(*static_cast<const Arguments*>(argument)); }}); \
  static void name(const Arguments& a)

#define LARGE_KERNEL(name, Arguments, threads) KERNEL(name, Arguments, threads)
#define DENSE_KERNEL(name, Arguments, threads, blocks) KERNEL(name, Arguments, threads)

#define CLUSTER_KERNEL(name, Arguments, threads, blocks)                                       \
  static void name(const Arguments& a);                                                        \
  static const ::assay::emulated::RegisteredKernel registered_##name(                          \
      ASSAY_KERNEL_MODULE,                                                                     \
      {#name, sizeof(Arguments), threads,                                                      \
       [](const void* argument) { name(*static_cast<const Arguments*>(argument)); }, blocks}); \
  static void name(const Arguments& a)

namespace assay::gpu {

using emulated::SharedMemory;
using emulated::SyncThreads;
using emulated::SyncWarp;
using emulated::Trap;

uint64_t ShuffleBits(uint64_t bits, uint32_t from);
template <typename T>
T Shuffle(T value, uint32_t lane) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  bits = ShuffleBits(bits, lane % 32);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
template <typename T>
T ShuffleXor(T value, uint32_t mask) {
  return Shuffle(value, threadIdx.x % 32 ^ mask);
}
// The value of the lane `by` below; lanes below `by` keep theirs.
template <typename T>
T ShuffleUp(T value, uint32_t by) {
  const uint32_t lane = threadIdx.x % 32;
  return Shuffle(value, lane < by ? lane : lane - by);
}
uint32_t Ballot(bool value);
inline bool AnyOf(bool value) { return Ballot(value) != 0; }
inline bool AllOf(bool value) { return Ballot(value) == ~uint32_t{0}; }
uint32_t MaxOfLanes(uint32_t value);
uint32_t MinOfLanes(uint32_t value);

// The value before.
uint32_t AtomicAdd(uint32_t* p, uint32_t value);
uint64_t AtomicAdd(uint64_t* p, uint64_t value);
uint32_t AtomicOr(uint32_t* p, uint32_t value);
uint32_t AtomicMax(uint32_t* p, uint32_t value);
double AtomicAdd(double* p, double value);  // rounded to nearest

struct alignas(16) Word16 {
  uint64_t low, high;
};
struct alignas(16) Vector16 {
  uint32_t words[4];
};
template <typename T>
T LoadStreaming(const T* p) {
  return *p;
}
template <typename T>
void StoreStreaming(T* p, T value) {
  *p = value;
}
inline void FenceDevice() {}
template <typename T>
T LoadPast(const T* p) {
  return *p;
}
template <typename T>
T LoadLatest(const T* p) {
  return *p;
}
template <typename T>
void StoreLatest(T* p, T value) {
  *p = value;
}
template <typename T, typename Ready>
T LoadWhen(const T* p, const Ready& ready) {
  T value = LoadLatest(p);
  if (ready(value)) return value;
  do {
    emulated::Poll();
    value = LoadLatest(p);
  } while (!ready(value));
  emulated::EndPoll();
  return value;
}

inline void CopyAsync4(void* shared, const void* global, uint32_t valid_bytes) {
  emulated::CopyAsync(shared, global, 4, valid_bytes);
}
inline void CopyAsync16(void* shared, const void* global, uint32_t valid_bytes) {
  emulated::CopyAsync(shared, global, 16, valid_bytes);
}
inline void CopyAsyncCommit() { emulated::CommitCopies(); }
template <int kGroupsLeft>
void CopyAsyncWait() {
  emulated::WaitCopies(kGroupsLeft);
}

// C += A B of 16 x 16 and 16 x 8 doubles; which elements a lane has: gpu/kernels/device.cuh.
void MmaF64(double (&c)[4], const double (&a)[8], const double (&b)[4]);
// C += A B of 16 x 32 and 32 x 8 bytes, signed or not.
void MmaI8(int32_t (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], bool a_signed, bool b_signed);
template <bool kASigned, bool kBSigned>
void MmaI8(int32_t (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  MmaI8(c, a, b, kASigned, kBSigned);
}

uint32_t ToTf32(float x);
// C += A B of 16 x 8 and 8 x 8 words of tf32, bf16 or f16, as the launch's device adds them.
enum class MmaFloat { kTf32, kBf16, kF16 };
void MmaFloats(MmaFloat type, float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]);
template <MmaFloat kType>
void Mma(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  MmaFloats(kType, c, a, b);
}

// Of sm_90a (gpu/kernels/cluster.cuh).
using emulated::BarrierArriveAt;
using emulated::BarrierExpect;
using emulated::BarrierInit;
using emulated::BarrierInitFence;
using emulated::BarrierWait;
using emulated::ClusterRank;
using emulated::ClusterSync;
using emulated::CopyBlock;
using emulated::CopyBlockToAll;
using emulated::MmaCommit;
using emulated::MmaFence;
using emulated::SharedAddress;
inline uint64_t SharedMatrix(uint32_t address) { return address >> 4; }
template <bool kASigned, bool kBSigned>
void MmaBytes(int32_t (&sums)[128], uint64_t a, uint64_t b, bool add) {
  emulated::MmaBytes(sums, a, b, kASigned, kBSigned, add);
}
inline void MmaS8(int32_t (&sums)[128], uint64_t a, uint64_t b, bool add) {
  MmaBytes<true, true>(sums, a, b, add);
}
template <int kGroupsLeft>
void MmaWait() {
  emulated::MmaWait(kGroupsLeft);
}
template <int kRegisters>
void MoreRegisters() {
  emulated::SetRegisters(kRegisters);
}
template <int kRegisters>
void FewerRegisters() {
  emulated::SetRegisters(kRegisters);
}

double AddNearest(double a, double b);
double AddDown(double a, double b);
double AddUp(double a, double b);
double MulNearest(double a, double b);
double MulUp(double a, double b);
double FmaNearest(double a, double b, double c);
double FmaUp(double a, double b, double c);
double SqrtUp(double a);
float ToFloat(double a);  // to nearest
float HalfToFloat(uint16_t bits);
float MaxNan(float a, float b);
uint32_t MaxU16x2(uint32_t a, uint32_t b);
uint32_t MinS16x2(uint32_t a, uint32_t b);
float AddUp(float a, float b);
float MulUp(float a, float b);
float FmaNearest(float a, float b, float c);
float ToFloatUp(double a);
double RoundToInteger(double a);  // to nearest, ties to even
inline uint32_t LowWord(double a) { return static_cast<uint32_t>(__builtin_bit_cast(uint64_t, a)); }
// The bytes of b and a, b's being 4 to 7, that the four low hexadecimal digits of `which` (0 to 7) name.
inline uint32_t BytePermute(uint32_t a, uint32_t b, uint32_t which) {
  const uint64_t bytes = static_cast<uint64_t>(b) << 32 | a;
  uint32_t result = 0;
  for (uint32_t i = 0; i < 4; ++i)
    result |= static_cast<uint32_t>(bytes >> 8 * (which >> 4 * i & 7) & 0xff) << 8 * i;
  return result;
}

template <typename To, typename From>
To BitsAs(From from) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}
inline int LeadingZeros(uint32_t x) { return x == 0 ? 32 : __builtin_clz(x); }
inline int LeadingZeros(uint64_t x) { return x == 0 ? 64 : __builtin_clzll(x); }
inline int TrailingZeros(uint64_t x) { return x == 0 ? 64 : __builtin_ctzll(x); }
inline int PopulationCount(uint32_t x) { return __builtin_popcount(x); }
inline uint64_t MulHigh(uint64_t a, uint64_t b) {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(a) * b) >> 64);
}
inline uint32_t MulHigh(uint32_t a, uint32_t b) { return static_cast<uint32_t>(uint64_t{a} * b >> 32); }

}  // namespace assay::gpu

#endif  // ASSAY_GPU_KERNELS_DEVICE_CUH_
