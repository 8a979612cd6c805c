// What the emulation does for a thread of a kernel. Sources of kernels include this header alone: their
// accesses to memory are all taken for those of the kernel, so that nothing of the
// emulation may be inlined there.
#ifndef ASSAY_TESTS_GPU_EMULATOR_DEVICE_THREAD_H_
#define ASSAY_TESTS_GPU_EMULATOR_DEVICE_THREAD_H_

#include <cstdint>

namespace assay::emulated {

struct Index3 {
  uint32_t x = 0, y = 0, z = 0;
};
Index3 ThreadIndex();
Index3 BlockIndex();
Index3 BlockSize();
Index3 GridSize();

unsigned char* SharedMemory();
void SyncThreads();
void SyncWarp();
[[noreturn]] void Trap();
// This thread goes on when another one did something: what it waits for is not there yet.
void Poll();
void EndPoll();  // it is there

void CopyAsync(void* shared, const void* global, uint32_t bytes, uint32_t valid_bytes);
void CommitCopies();
void WaitCopies(uint32_t groups_left);

// Of clusters: see cluster.h.
uint32_t ClusterRank();
void ClusterSync();
uint32_t SharedAddress(const void* shared);
void BarrierInit(uint32_t barrier, uint32_t arrivals);
void BarrierInitFence();
void BarrierExpect(uint32_t barrier, uint32_t bytes);
void BarrierArriveAt(uint32_t barrier, uint32_t rank);
void BarrierWait(uint32_t barrier, uint32_t parity);
void CopyBlock(uint32_t to, const void* from, uint32_t bytes, uint32_t barrier);
void CopyBlockToAll(uint32_t to, const void* from, uint32_t bytes, uint32_t barrier, uint16_t blocks);
void SetRegisters(uint32_t registers);
void MmaFence();
void MmaBytes(int32_t* sums, uint64_t a, uint64_t b, bool a_signed, bool b_signed, bool add);
void MmaCommit();
void MmaWait(uint32_t groups_left);

// A kernel of gpu/kernels, compiled as C++.
struct KernelBody {
  const char* name;
  uint32_t argument_bytes;
  uint32_t most_threads;
  void (*run)(const void* argument);
  uint32_t cluster_blocks = 0;  // of a cluster; 0: the kernel knows nothing of clusters
};
struct RegisteredKernel {
  RegisteredKernel(const char* module, const KernelBody& body);
};

}  // namespace assay::emulated

#endif  // ASSAY_TESTS_GPU_EMULATOR_DEVICE_THREAD_H_
