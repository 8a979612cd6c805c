// What kernels use of sm_90a alone: clusters of blocks, barriers in shared memory, bulk copies, products of
// warpgroups. The tests' emulation gives the same names (tests/gpu/emulator/device/device.h). Modules of such
// kernels are compiled for sm_90a and nothing else (CMakeLists.txt).
#ifndef ASSAY_GPU_KERNELS_CLUSTER_CUH_
#define ASSAY_GPU_KERNELS_CLUSTER_CUH_

#include "gpu/kernels/device.cuh"

#ifdef __CUDACC__

// A kernel in clusters of so many blocks, which has a multiprocessor to itself.
#define CLUSTER_KERNEL(name, Arguments, threads, blocks)                                  \
  extern "C" __global__ void __cluster_dims__(blocks, 1, 1) __launch_bounds__(threads, 1) \
      name(const __grid_constant__ Arguments a)

namespace assay::gpu {

__device__ __forceinline__ uint32_t ClusterRank() {
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ __forceinline__ void ClusterSync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
__device__ __forceinline__ uint32_t SharedAddress(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

// A barrier is 8 bytes of shared memory. A phase ends with the last of its arrivals and of the bytes that
// these expected.
__device__ __forceinline__ void BarrierInit(uint32_t barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
// So that the copies and the cluster's other blocks see initialized barriers.
__device__ __forceinline__ void BarrierInitFence() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ __forceinline__ void BarrierExpect(uint32_t barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
// Arrives at the barrier of the same address in the cluster's block `rank`. Neither this nor the wait is
// .release.cluster or .acquire.cluster: the compiler puts MEMBAR.ALL.GPU and CCTL.IVALL beside those, which
// takes a third of the speed. They order no ordinary access of different blocks, and none needs it: copies
// write the stages and count for the barrier, products read them and have ended when a thread arrives.
__device__ __forceinline__ void BarrierArriveAt(uint32_t barrier, uint32_t rank) {
  asm volatile(
      "{\n.reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [remote];\n}\n" ::"r"(barrier),
      "r"(rank)
      : "memory");
}
// Until the phase of that parity has ended; phases count from 0.
__device__ __forceinline__ void BarrierWait(uint32_t barrier, uint32_t parity) {
  asm volatile(
      "{\n.reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@done bra finish;\n"
      "bra again;\n"
      "finish:\n}\n" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

// Copies `bytes` that lie together to shared memory; they count for `barrier`. All are multiples of 16.
__device__ __forceinline__ void CopyBlock(uint32_t to, const void* from, uint32_t bytes, uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
      "l"(from), "r"(bytes), "r"(barrier)
      : "memory");
}
// The same to the same place of every block in the mask `blocks`, each with its own barrier.
__device__ __forceinline__ void CopyBlockToAll(uint32_t to, const void* from, uint32_t bytes,
                                               uint32_t barrier, uint16_t blocks) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, "
      "[%3], %4;" ::"r"(to),
      "l"(from), "r"(bytes), "r"(barrier), "h"(blocks)
      : "memory");
}

// Registers of the threads of a warpgroup, which all call it.
template <int kRegisters>
__device__ __forceinline__ void MoreRegisters() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ __forceinline__ void FewerRegisters() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

// A matrix in shared memory: rows of 128 bytes of k from an address on that is a multiple of 1024. The
// 16-byte piece i of row r stands at i ^ r % 8. 32 bytes further along k is 2 more.
__device__ __forceinline__ uint64_t SharedMatrix(uint32_t address) {
  return static_cast<uint64_t>((address & 0x3ffff) >> 4) | uint64_t{1} << 16 | uint64_t{1024 >> 4} << 32 |
         uint64_t{1} << 62;
}
// Before the first product, and after the thread touched the sums.
__device__ __forceinline__ void MmaFence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void MmaCommit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int kGroupsLeft>
__device__ __forceinline__ void MmaWait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kGroupsLeft) : "memory");
}

// D = A B + (add ? D : 0) by the 128 threads of a warpgroup, of 64 rows of A and 256 of B, 32 bytes of k
// each. With g = lane / 4 and t = lane % 4 of warp w: d[4 j + 2 h + i] is row 16 w + g + 8 h, column 8 j + 2
// t + i. The products go on; MmaWait ends them.
#define ASSAY_R8(d, i)                                                                        \
  "+r"(d[i]), "+r"(d[i + 1]), "+r"(d[i + 2]), "+r"(d[i + 3]), "+r"(d[i + 4]), "+r"(d[i + 5]), \
      "+r"(d[i + 6]), "+r"(d[i + 7])
#define ASSAY_R32(d, i) ASSAY_R8(d, i), ASSAY_R8(d, i + 8), ASSAY_R8(d, i + 16), ASSAY_R8(d, i + 24)
#define ASSAY_WGMMA(A, B)                                                                                 \
  asm volatile(                                                                                           \
      "{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\n"                                                       \
      "wgmma.mma_async.sync.aligned.m64n256k32.s32." A "." B                                              \
      " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                          \
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "                  \
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "                  \
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "                  \
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "                  \
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "                  \
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "      \
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, " \
      "%128, %129, p;\n}\n"                                                                               \
      : ASSAY_R32(d, 0), ASSAY_R32(d, 32), ASSAY_R32(d, 64), ASSAY_R32(d, 96)                             \
      : "l"(a), "l"(b), "r"(static_cast<int>(add)))
template <bool kASigned, bool kBSigned>
__device__ __forceinline__ void MmaBytes(int32_t (&d)[128], uint64_t a, uint64_t b, bool add) {
  if constexpr (kASigned && kBSigned) ASSAY_WGMMA("s8", "s8");
  if constexpr (kASigned && !kBSigned) ASSAY_WGMMA("s8", "u8");
  if constexpr (!kASigned && kBSigned) ASSAY_WGMMA("u8", "s8");
  if constexpr (!kASigned && !kBSigned) ASSAY_WGMMA("u8", "u8");
}
#undef ASSAY_WGMMA
#undef ASSAY_R32
#undef ASSAY_R8
__device__ __forceinline__ void MmaS8(int32_t (&d)[128], uint64_t a, uint64_t b, bool add) {
  MmaBytes<true, true>(d, a, b, add);
}

}  // namespace assay::gpu

#endif  // __CUDACC__

#endif  // ASSAY_GPU_KERNELS_CLUSTER_CUH_
