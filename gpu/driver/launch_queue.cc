#include "gpu/driver/launch_queue.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/counted.h"
#include "fmt/format.h"

namespace assay::gpu {

// Without padding, since calls are compared by their bytes.
struct LaunchQueue::Call {
  enum Kind : uint64_t { kLaunch, kCopy, kFill, kUse };
  uint64_t kind = kLaunch;
  const DeviceFunction* function = nullptr;
  DeviceAddress to = 0, from = 0;
  uint64_t bytes = 0;  // of the argument; to copy; to fill
  uint64_t value = 0;  // to fill with; whether it is unused
  LaunchShape shape;
  uint32_t zero = 0;
};

namespace {

std::string Describe(const DeviceFunction& function, const LaunchShape& shape, size_t argument_bytes) {
  return fmt::format(
      "kernel {} in {}x{}x{} blocks of {}x{}x{} threads with {} of dynamic shared memory and an "
      "argument of {}",
      function.name(), shape.blocks[0], shape.blocks[1], shape.blocks[2], shape.threads[0], shape.threads[1],
      shape.threads[2], Counted(shape.shared_bytes, "byte"), Counted(argument_bytes, "byte"));
}

size_t Padded(size_t bytes) { return (bytes + 7) / 8 * 8; }

}  // namespace

bool LaunchQueue::IsSmall(const LaunchShape& shape) {
  uint64_t threads = 1;
  for (int d = 0; d < 3; ++d) {
    // Numbers that a device refuses do not overflow either.
    threads *= std::min<uint64_t>(shape.blocks[d], kMaxThreads + 1);
    if (threads > kMaxThreads) return false;
    threads *= std::min<uint64_t>(shape.threads[d], kMaxThreads + 1);
    if (threads > kMaxThreads) return false;
  }
  return true;
}

bool LaunchQueue::Add(const Call& call, std::span<const std::byte> argument) {
  static_assert(sizeof(LaunchShape) == 28 && sizeof(Call) == 80);
  const std::lock_guard lock(mutex_);
  calls_.append(reinterpret_cast<const char*>(&call), sizeof(call));
  calls_.append(reinterpret_cast<const char*>(argument.data()), argument.size());
  calls_.append(Padded(argument.size()) - argument.size(), '\0');
  if (call.kind != Call::kUse) ++count_;
  return count_ >= kMaxCalls;
}

bool LaunchQueue::AddLaunch(const DeviceFunction& function, const LaunchShape& shape,
                            std::span<const std::byte> argument) {
  return Add({.kind = Call::kLaunch, .function = &function, .bytes = argument.size(), .shape = shape},
             argument);
}

bool LaunchQueue::AddCopy(DeviceAddress to, DeviceAddress from, int64_t bytes) {
  return Add({.kind = Call::kCopy, .to = to, .from = from, .bytes = static_cast<uint64_t>(bytes)}, {});
}

bool LaunchQueue::AddFill(DeviceAddress to, uint8_t value, int64_t bytes) {
  return Add({.kind = Call::kFill, .to = to, .bytes = static_cast<uint64_t>(bytes), .value = value}, {});
}

void LaunchQueue::AddUse(DeviceAddress address, bool unused) {
  if (context_.library().memory_unused != nullptr)
    Add({.kind = Call::kUse, .to = address, .value = unused ? 1u : 0u}, {});
}

bool LaunchQueue::IsEmpty() const {
  const std::lock_guard lock(mutex_);
  return calls_.empty();
}

absl::Status LaunchQueue::Flush() {
  const std::lock_guard lock(mutex_);
  if (calls_.empty()) return absl::OkStatus();
  absl::Status status = Timed([&] { return Tell(); });
  calls_.clear();
  count_ = 0;
  if (status.ok()) return status;
  ++losses_;
  why_lost_ = EvalError({}, fmt::format("work for the GPU was lost: {}", std::string(status.message())));
  return status;
}

absl::Status LaunchQueue::Tell() {
  if (count_ < kLeastOfGraph) return TellCalls(context_.stream());
  if (known_.size() >= kMaxKnown && !known_.contains(calls_)) ASSAY_RETURN_IF_ERROR(ForgetAll());
  Known& known = known_[calls_];
  if (known.graph == nullptr && known.seen++ == kTimesBeforeGraph) {
    const absl::Status status = MakeGraph(known);
    if (!status.ok() && context_.broken()) return status;
  }
  if (known.graph == nullptr) return TellCalls(context_.stream());
  const absl::Status status = context_.Check(
      "cuGraphLaunch", context_.api().cuGraphLaunch(known.graph, context_.stream()), Counted(count_, "call"));
  if (status.ok() || context_.broken()) return status;
  // The device may have no memory for the graph: nothing of it runs.
  return TellCalls(context_.stream());
}

absl::Status LaunchQueue::TellCalls(cuda::Stream stream) {
  absl::Status status;
  for (size_t at = 0; at < calls_.size();) {
    Call call;
    std::memcpy(&call, calls_.data() + at, sizeof(call));
    at += sizeof(call);
    const std::span<const std::byte> argument{reinterpret_cast<const std::byte*>(calls_.data() + at),
                                              call.kind == Call::kLaunch ? call.bytes : 0};
    at += Padded(argument.size());
    // Who uses which memory does not depend on whether calls failed.
    if (status.ok() || call.kind == Call::kUse) status = Both(status, TellCall(stream, call, argument));
  }
  return status;
}

absl::Status LaunchQueue::TellCall(cuda::Stream stream, const Call& call,
                                   std::span<const std::byte> argument) {
  const cuda::Functions& api = context_.api();
  switch (call.kind) {
    case Call::kCopy:
      return context_.Check("cuMemcpyDtoDAsync_v2",
                            api.cuMemcpyDtoDAsync_v2(call.to, call.from, call.bytes, stream));
    case Call::kFill:
      return context_.Check(
          "cuMemsetD8Async",
          api.cuMemsetD8Async(call.to, static_cast<unsigned char>(call.value), call.bytes, stream));
    case Call::kUse:
      return context_.Check("assay_memory_unused",
                            context_.library().memory_unused(stream, call.to, static_cast<int>(call.value)));
    default:
      return LaunchOn(stream, *call.function, call.shape, argument);
  }
}

absl::Status LaunchQueue::Launch(const DeviceFunction& function, const LaunchShape& shape,
                                 std::span<const std::byte> argument) {
  return LaunchOn(context_.stream(), function, shape, argument);
}

absl::Status LaunchQueue::LaunchOn(cuda::Stream stream, const DeviceFunction& function,
                                   const LaunchShape& shape, std::span<const std::byte> argument) {
  ASSAY_RETURN_IF_ERROR(function.AllowShared(context_, shape.shared_bytes));
  // The argument as one buffer with its size: of a list of pointers the driver reads what
  // it thinks the kernel takes.
  size_t bytes = argument.size();
  void* extra[] = {reinterpret_cast<void*>(cuda::kLaunchBufferPointer),
                   const_cast<std::byte*>(argument.data()), reinterpret_cast<void*>(cuda::kLaunchBufferSize),
                   &bytes, reinterpret_cast<void*>(cuda::kLaunchEnd)};
  const cuda::Result result = context_.api().cuLaunchKernel(
      function.handle(), shape.blocks[0], shape.blocks[1], shape.blocks[2], shape.threads[0],
      shape.threads[1], shape.threads[2], shape.shared_bytes, stream, nullptr, extra);
  if (result != cuda::Result::kSuccess)
    return context_.Check("cuLaunchKernel", result, Describe(function, shape, bytes));
  context_.Launched(function.name());
  return absl::OkStatus();
}

absl::Status LaunchQueue::MakeGraph(Known& known) {
  cuda::Graph graph = nullptr;
  absl::Status status = Capture(&graph);
  if (!status.ok() && capturing_ != nullptr && !context_.broken()) {
    // Whether it is still being captured is not known.
    context_.Untold(context_.Check("cuStreamDestroy_v2", context_.api().cuStreamDestroy_v2(capturing_)));
    capturing_ = nullptr;
  }
  if (status.ok())
    status = context_.Check("cuGraphInstantiateWithFlags",
                            context_.api().cuGraphInstantiateWithFlags(&known.graph, graph, 0));
  if (graph != nullptr && !context_.broken())
    context_.Untold(context_.Check("cuGraphDestroy", context_.api().cuGraphDestroy(graph)));
  return status;
}

absl::Status LaunchQueue::Capture(cuda::Graph* graph) {
  const cuda::Functions& api = context_.api();
  if (capturing_ == nullptr)
    ASSAY_RETURN_IF_ERROR(
        context_.Check("cuStreamCreate", api.cuStreamCreate(&capturing_, cuda::kStreamNonBlocking)));
  ASSAY_RETURN_IF_ERROR(context_.Check("cuStreamBeginCapture_v2",
                                       api.cuStreamBeginCapture_v2(capturing_, cuda::CaptureMode::kRelaxed)));
  const absl::Status told = TellCalls(capturing_);
  return Both(told, context_.Check("cuStreamEndCapture", api.cuStreamEndCapture(capturing_, graph)));
}

absl::Status LaunchQueue::Timed(absl::FunctionRef<absl::Status()> body) {
  const cuda::Event end = end_;
  if (end == nullptr) return body();
  const auto record = [&](cuda::Event event) {
    return context_.Check("cuEventRecord", context_.api().cuEventRecord(event, context_.stream()));
  };
  absl::Status status;
  if (!has_begun_.exchange(true)) status = record(begin_);
  status = Both(status, body());
  return Both(status, record(end));
}

absl::Status LaunchQueue::StartTiming() {
  if (end_ != nullptr) return EvalError({}, "the GPU is timed already");
  has_begun_ = false;
  for (std::atomic<cuda::Event>* const made : {&begin_, &end_}) {
    cuda::Event event = nullptr;
    const absl::Status status =
        context_.Check("cuEventCreate", context_.api().cuEventCreate(&event, cuda::kEventDefault));
    if (!status.ok()) return Both(status, DestroyEvents());
    *made = event;
  }
  return absl::OkStatus();
}

absl::StatusOr<double> LaunchQueue::EndTiming() {
  float milliseconds = 0;
  absl::Status status = context_.Synchronize();
  if (status.ok() && end_ != nullptr && has_begun_)
    status =
        context_.Check("cuEventElapsedTime", context_.api().cuEventElapsedTime(&milliseconds, begin_, end_));
  status = Both(status, DestroyEvents());
  if (!status.ok()) return status;
  return 1e-3 * static_cast<double>(milliseconds);
}

absl::Status LaunchQueue::DestroyEvents() {
  absl::Status status;
  for (std::atomic<cuda::Event>* const made : {&begin_, &end_}) {
    const cuda::Event event = made->exchange(nullptr);
    if (event == nullptr || context_.broken()) continue;
    status = Both(status, context_.Check("cuEventDestroy_v2", context_.api().cuEventDestroy_v2(event)));
  }
  return status;
}

absl::Status LaunchQueue::ForgetAll() {
  absl::Status status = context_.Synchronize();  // a graph that runs is not destroyed
  for (auto& [calls, known] : known_) {
    if (known.graph == nullptr || context_.broken()) continue;
    status =
        Both(status, context_.Check("cuGraphExecDestroy", context_.api().cuGraphExecDestroy(known.graph)));
  }
  known_.clear();
  return status;
}

absl::Status LaunchQueue::Close() {
  const std::lock_guard lock(mutex_);
  absl::Status status = DestroyEvents();
  if (!known_.empty()) status = Both(status, ForgetAll());
  if (capturing_ != nullptr && !context_.broken())
    status =
        Both(status, context_.Check("cuStreamDestroy_v2", context_.api().cuStreamDestroy_v2(capturing_)));
  capturing_ = nullptr;
  return status;
}

uint64_t LaunchQueue::losses() const {
  const std::lock_guard lock(mutex_);
  return losses_;
}

absl::Status LaunchQueue::why_lost() const {
  const std::lock_guard lock(mutex_);
  return why_lost_;
}

}  // namespace assay::gpu
