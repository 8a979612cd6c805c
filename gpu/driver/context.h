// The primary context of a device and the one stream of ours in it.
#ifndef ASSAY_GPU_DRIVER_CONTEXT_H_
#define ASSAY_GPU_DRIVER_CONTEXT_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "gpu/driver/library.h"

namespace assay::gpu {

class StreamContext {
 public:
  // Retains the primary context, so that memory may be shared with what else of the process uses the device.
  static absl::StatusOr<std::unique_ptr<StreamContext>> Make(std::shared_ptr<CudaLibrary> library,
                                                             cuda::DeviceNumber device);
  ~StreamContext();
  StreamContext(const StreamContext&) = delete;
  StreamContext& operator=(const StreamContext&) = delete;

  const cuda::Functions& api() const { return library_->functions; }
  const CudaLibrary& library() const { return *library_; }
  const std::shared_ptr<CudaLibrary>& shared_library() const { return library_; }
  cuda::Stream stream() const { return stream_; }

  // Runs `body` with the context as this thread's current one, and leaves the thread its own. Without running
  // it gives the error that broke the device, or one that nobody was told yet.
  absl::Status Run(absl::FunctionRef<absl::Status()> body);
  // The error that Run would give without running its body.
  absl::Status Ready() { return broken_ ? Broken() : untold_.Take(); }
  // Run for what has to be done whether or not something failed before, where nobody can be told: its
  // error is that of the next Run. Nothing is done on a broken device.
  void RunUntold(absl::FunctionRef<absl::Status()> body);

  // An error of a Run that goes on; the next Run gives it.
  void Untold(const absl::Status& status) { untold_.Add(status); }

  // The error of a call (library.h). A lasting one is kept, with the kernel that was launched last.
  absl::Status Check(std::string_view function, cuda::Result result, std::string_view detail = {});
  // Inside Run.
  absl::Status Synchronize();
  void Launched(const std::string& kernel);
  // Whether the device is broken: it gives nothing back any more.
  bool broken() const { return broken_; }

  // Waits for the stream, runs `give_back`, then gives stream and context back, each of which is tried
  // whatever failed before. What is missed goes with the context,
  // if that was the last one who retained it. Once.
  absl::Status Close(absl::FunctionRef<absl::Status()> give_back);

 private:
  StreamContext(std::shared_ptr<CudaLibrary> library, cuda::DeviceNumber device)
      : library_(std::move(library)), device_(device) {}

  absl::Status InContext(absl::FunctionRef<absl::Status()> body);
  absl::Status Broken() const;

  const std::shared_ptr<CudaLibrary> library_;
  const cuda::DeviceNumber device_;
  cuda::Context context_ = nullptr;
  cuda::Stream stream_ = nullptr;
  UntoldFailures untold_;
  std::atomic<bool> broken_ = false;
  mutable std::mutex mutex_;  // of the two below
  absl::Status why_broken_;
  std::string last_kernel_;
};

// The first error; the second one's text behind it where both failed.
absl::Status Both(const absl::Status& first, const absl::Status& second);

}  // namespace assay::gpu

#endif  // ASSAY_GPU_DRIVER_CONTEXT_H_
