// Of the kernels of faulty.cu.
#ifndef ASSAY_TESTS_GPU_EMULATOR_DEVICE_FAULTY_ARGUMENTS_H_
#define ASSAY_TESTS_GPU_EMULATOR_DEVICE_FAULTY_ARGUMENTS_H_

#include <cstdint>

namespace assay::gpu {

enum class Fault : int32_t {
  kNone,
  kReadAfterWrite,
  kWriteAfterRead,
  kTwoWrites,
  kRaceBeyondWarpBarrier,
  kUnwritten,
  kBeyondShared,
  kBeforeShared,
  kUnalignedShared,
  kBeyondMemory,
  kUnalignedMemory,
  kDivergentBarrier,
  kEarlyEnd,
  kDivergentWarp,
  kUnfinishedCopy,
  kReadOfCopy,
  kPartialCopy,
  kTrap,
};

struct FaultyArguments {
  uint64_t numbers;  // int32_t [64]
  Fault fault;
};

}  // namespace assay::gpu

#endif  // ASSAY_TESTS_GPU_EMULATOR_DEVICE_FAULTY_ARGUMENTS_H_
