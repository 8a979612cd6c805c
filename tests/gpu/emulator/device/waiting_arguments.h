// Of the kernels of waiting.cu.
#ifndef ASSAY_TESTS_GPU_EMULATOR_DEVICE_WAITING_ARGUMENTS_H_
#define ASSAY_TESTS_GPU_EMULATOR_DEVICE_WAITING_ARGUMENTS_H_

#include <cstdint>

namespace assay::gpu {

enum class WaitFault : int32_t {
  kNone,
  kNoTicket,      // a block has the tile of its own number
  kEarlyRead,     // takes what the tile before has, there or not
  kNoWrite,       // the third tile says nothing
  kOtherThreads,  // threads that have nothing to wait for leave before the barrier
};

struct WaitingArguments {
  uint64_t ticket;  // uint32_t, 0
  uint64_t states;  // uint64_t [blocks], 0
  uint64_t sums;    // uint32_t [blocks]
  WaitFault fault;
};

}  // namespace assay::gpu

#endif  // ASSAY_TESTS_GPU_EMULATOR_DEVICE_WAITING_ARGUMENTS_H_
