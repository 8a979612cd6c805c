#include "tests/gpu/emulator/device/thread.h"

#include "tests/gpu/emulator/device/block.h"

namespace assay::emulated {

Index3 ThreadIndex() { return GridRun::Current()->thread_index(); }
Index3 BlockIndex() { return GridRun::Current()->block_index(); }
Index3 BlockSize() { return GridRun::Current()->block_size(); }
Index3 GridSize() { return GridRun::Current()->grid_size(); }

unsigned char* SharedMemory() { return GridRun::Current()->shared(); }
void SyncThreads() { GridRun::Current()->SyncThreads(); }
void SyncWarp() { GridRun::Current()->SyncWarp(); }
void Poll() { GridRun::Current()->Poll(); }
void EndPoll() { GridRun::Current()->EndPoll(); }
void Trap() { GridRun::Current()->Fail("trap"); }

void CopyAsync(void* shared, const void* global, uint32_t bytes, uint32_t valid_bytes) {
  GridRun::Current()->CopyAsync(shared, global, bytes, valid_bytes);
}
void CommitCopies() { GridRun::Current()->CommitCopies(); }
void WaitCopies(uint32_t groups_left) { GridRun::Current()->WaitCopies(groups_left); }

namespace {

using Call = Cluster::Call;
Cluster& Own() { return GridRun::Current()->cluster(); }

}  // namespace

uint32_t ClusterRank() { return Own(), GridRun::Current()->rank(); }
void ClusterSync() { GridRun::Current()->SyncCluster(); }
uint32_t SharedAddress(const void* shared) {
  return Cluster::kWindow +
         static_cast<uint32_t>(static_cast<const unsigned char*>(shared) - GridRun::Current()->shared());
}
void BarrierInit(uint32_t barrier, uint32_t arrivals) { Own().Init(barrier, arrivals); }
void BarrierInitFence() { Own().InitFence(); }
void BarrierExpect(uint32_t barrier, uint32_t bytes) { Own().Expect(barrier, bytes); }
void BarrierArriveAt(uint32_t barrier, uint32_t rank) { Own().ArriveAt(barrier, rank); }
void BarrierWait(uint32_t barrier, uint32_t parity) { Own().Wait(barrier, parity); }
void CopyBlock(uint32_t to, const void* from, uint32_t bytes, uint32_t barrier) {
  Own().Copy(to, from, bytes, barrier, uint32_t{1} << GridRun::Current()->rank());
}
void CopyBlockToAll(uint32_t to, const void* from, uint32_t bytes, uint32_t barrier, uint16_t blocks) {
  Own().Copy(to, from, bytes, barrier, blocks);
}
void SetRegisters(uint32_t registers) { Own().Together({.call = Call::kRegisters, .value = registers}); }
void MmaFence() { Own().Together({.call = Call::kFence}); }
void MmaBytes(int32_t* sums, uint64_t a, uint64_t b, bool a_signed, bool b_signed, bool add) {
  Own().Together({Call::kMultiply, sums, a, b, a_signed, b_signed, add ? uint32_t{1} : 0});
}
void MmaCommit() { Own().Together({.call = Call::kCommit}); }
void MmaWait(uint32_t groups_left) { Own().Together({.call = Call::kWait, .value = groups_left}); }

}  // namespace assay::emulated
