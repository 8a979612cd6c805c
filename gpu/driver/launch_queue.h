// What the device is told to do in small pieces: kernels, copies and fills that take it a few microseconds
// each, less than a call of the driver takes the host. They are collected here, and go to the stream
// together. Where the same calls come again, as in each iteration of a loop, they go as a CUDA graph: one
// call of the driver.
#ifndef ASSAY_GPU_DRIVER_LAUNCH_QUEUE_H_
#define ASSAY_GPU_DRIVER_LAUNCH_QUEUE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>

#include "base/hash_map.h"
#include "gpu/driver/context.h"
#include "gpu/driver/launch_shape.h"
#include "gpu/driver/modules.h"

namespace assay::gpu {

class LaunchQueue {
 public:
  // So many calls go to the stream at the latest, so that the device does not wait for long.
  static constexpr int kMaxCalls = 64;
  // Calls become a graph when they come for the third time: capturing and instantiating 20 launches took 60
  // to 215 us on an H200, a graph of them 25 us where launches took 71 to 98 (docs/data/gpu_h200.md).
  static constexpr int kTimesBeforeGraph = 2;
  static constexpr int kLeastOfGraph = 3;
  // Sequences of calls that are remembered, with their graphs. Beyond that, all are forgotten.
  static constexpr size_t kMaxKnown = 256;

  // What takes the device longer is not delayed.
  static bool IsSmall(const LaunchShape& shape);
  static bool IsSmall(int64_t bytes) { return bytes <= kMaxBytes; }

  explicit LaunchQueue(StreamContext& context) : context_(context) {}

  // True: the queue has to be flushed. What is added is valid until then.
  bool AddLaunch(const DeviceFunction& function, const LaunchShape& shape,
                 std::span<const std::byte> argument);
  bool AddCopy(DeviceAddress to, DeviceAddress from, int64_t bytes);
  bool AddFill(DeviceAddress to, uint8_t value, int64_t bytes);
  // For drivers that look who uses which memory (cuda_api.h); nothing else.
  void AddUse(DeviceAddress address, bool unused);

  bool IsEmpty() const;

  // The functions below are called inside of StreamContext::Run.

  // Tells the stream all of it. Where that fails, what was not told is lost: values that were made before may
  // be wrong.
  absl::Status Flush();
  // Tells the stream itself; the queue is empty.
  absl::Status Launch(const DeviceFunction& function, const LaunchShape& shape,
                      std::span<const std::byte> argument);
  // Tells the stream something, between the two events of a timing. Device::StartTiming, EndTiming.
  absl::Status Timed(absl::FunctionRef<absl::Status()> body);
  absl::Status StartTiming();
  absl::StatusOr<double> EndTiming();
  // What is in the queue is lost.
  absl::Status Close();

  // How often something was lost; the error of the last time.
  uint64_t losses() const;
  absl::Status why_lost() const;

 private:
  static constexpr int64_t kMaxBytes = 1 << 20;
  static constexpr uint64_t kMaxThreads = 1 << 17;

  struct Call;
  struct Known {
    int seen = 0;
    cuda::GraphExec graph = nullptr;
  };

  bool Add(const Call& call, std::span<const std::byte> argument);
  absl::Status Tell();
  absl::Status TellCalls(cuda::Stream stream);
  absl::Status TellCall(cuda::Stream stream, const Call& call, std::span<const std::byte> argument);
  absl::Status LaunchOn(cuda::Stream stream, const DeviceFunction& function, const LaunchShape& shape,
                        std::span<const std::byte> argument);
  // Of the calls in the queue. An error that the device survives: they are told one by one from now on.
  absl::Status MakeGraph(Known& known);
  absl::Status Capture(cuda::Graph* graph);
  absl::Status DestroyEvents();
  absl::Status ForgetAll();

  StreamContext& context_;
  mutable std::mutex mutex_;  // of all below
  std::string calls_;         // as they lie in memory, each with its argument behind it
  int count_ = 0;
  NodeHashMap<std::string, Known> known_;  // by calls
  cuda::Stream capturing_ = nullptr;       // in which nothing runs: calls are captured there
  // Of a timing; null: there is none.
  std::atomic<cuda::Event> begin_ = nullptr, end_ = nullptr;
  std::atomic<bool> has_begun_ = false;
  uint64_t losses_ = 0;
  absl::Status why_lost_;
};

}  // namespace assay::gpu

#endif  // ASSAY_GPU_DRIVER_LAUNCH_QUEUE_H_
