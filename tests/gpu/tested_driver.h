// The CUDA driver that tests of the engine use: the emulated one, or that of the environment variable
// ASSAY_TEST_CUDA_DRIVER (tools/test_gpu runs the same tests on a GPU with it).
#ifndef ASSAY_TESTS_GPU_TESTED_DRIVER_H_
#define ASSAY_TESTS_GPU_TESTED_DRIVER_H_

#include <cstdlib>

namespace assay::gpu {

inline bool TestsEmulatedDriver() { return std::getenv("ASSAY_TEST_CUDA_DRIVER") == nullptr; }
inline const char* TestedDriver() {
  return TestsEmulatedDriver() ? ASSAY_EMULATED_CUDA : std::getenv("ASSAY_TEST_CUDA_DRIVER");
}

}  // namespace assay::gpu

#endif  // ASSAY_TESTS_GPU_TESTED_DRIVER_H_
