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

}  // namespace assay::emulated
