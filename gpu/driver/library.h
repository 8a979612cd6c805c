// The CUDA driver as a library opened at run time, and its errors as ours.
#ifndef ASSAY_GPU_DRIVER_LIBRARY_H_
#define ASSAY_GPU_DRIVER_LIBRARY_H_

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/error.h"
#include "gpu/driver/cuda_api.h"

namespace assay::gpu {

// CUDA 12.0: the first one that knows the instructions of sm_90a. Older drivers are refused before anything
// is asked of them but their version.
inline constexpr int kOldestDriver = 12000;

// Errors that came where nobody could be told. Any thread may call it.
class UntoldFailures {
 public:
  void Add(const absl::Status& status);  // nothing where it is OK
  // The first one, which says how many came behind it; none are left then.
  absl::Status Take();

 private:
  std::mutex mutex_;
  absl::Status first_;
  int more_ = 0;
};

struct CudaLibrary {
  std::string name;  // as it was opened
  int version = 0;   // CUDA's: 12040 is 12.4
  cuda::Functions functions;
  cuda::KernelImage* kernel_image = nullptr;    // null: the driver has none
  cuda::MemoryUnused* memory_unused = nullptr;  // null: the same
  UntoldFailures untold;                        // of devices that are gone
};

// The library `name`, libcuda.so.1 where it is empty, with all of its functions; nothing of it has been
// called but for its version. It is never closed, as the driver starts threads of its own. NotSupported where
// it isn't there, lacks a function or is older than kOldestDriver.
absl::StatusOr<std::shared_ptr<CudaLibrary>> LoadCudaLibrary(const std::string& name);

// "12.4" for 12040.
std::string VersionText(int version);

// The error of a call of `function`, with the driver's own name and text of it and `detail` behind that:
// OutOfMemory of the device, NotSupported where the driver or the device can't, else EvalError.
// OK for kSuccess.
absl::Status CudaStatus(const CudaLibrary& library, std::string_view function, cuda::Result result,
                        std::string_view detail = {});

// Whether every later call gives this error as well.
bool IsLasting(cuda::Result result);

}  // namespace assay::gpu

#endif  // ASSAY_GPU_DRIVER_LIBRARY_H_
