// What the emulated device is like (control.h).
#ifndef ASSAY_TESTS_GPU_EMULATOR_SETTINGS_H_
#define ASSAY_TESTS_GPU_EMULATOR_SETTINGS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/driver/cuda_api.h"

namespace assay::emulated {

// A call, or all from one on, that is to fail.
struct FailRule {
  std::string function;  // "*": any
  uint64_t calls = 0;    // that are still to come, the first failing one included
  bool forever = false;
  gpu::cuda::Result error = gpu::cuda::Result::kUnknown;
};

struct Settings {
  int64_t devices = 1;
  std::string name = "Assay emulated device";
  int64_t capability_major = 9;
  int64_t capability_minor = 0;
  int64_t driver_version = 12040;
  int64_t multiprocessors = 4;
  int64_t memory = int64_t{2} << 30;
  int64_t shared = 227 << 10;
  int64_t pools = 1;
  int64_t kernels = 1;
  int64_t eager = 0;
  int64_t order = 0;
  std::vector<FailRule> fail;

  // False where there is no such setting or it has no such value; null: the default.
  bool Set(std::string_view setting, const char* value);
};

// With the variables of the environment. Those that make no sense end the process: a test that believes them
// would test something else.
Settings EnvironmentSettings();

// The error of this call, kSuccess where it is none of those that are to fail.
gpu::cuda::Result NextFailure(std::string_view function, std::vector<FailRule>* rules);

}  // namespace assay::emulated

#endif  // ASSAY_TESTS_GPU_EMULATOR_SETTINGS_H_
