#include "gpu/driver/context.h"

#include <new>
#include <utility>

#include "fmt/format.h"

namespace assay::gpu {

absl::Status Both(const absl::Status& first, const absl::Status& second) {
  if (first.ok() || second.ok()) return first.ok() ? second : first;
  return WithSuffix(first, fmt::format("; then {}", std::string(second.message())));
}

absl::StatusOr<std::unique_ptr<StreamContext>> StreamContext::Make(std::shared_ptr<CudaLibrary> library,
                                                                   cuda::DeviceNumber device) {
  std::unique_ptr<StreamContext> made(new StreamContext(std::move(library), device));
  StreamContext& context = *made;
  ASSAY_RETURN_IF_ERROR(context.Check("cuDevicePrimaryCtxRetain",
                                      context.api().cuDevicePrimaryCtxRetain(&context.context_, device)));
  const absl::Status status = context.Run([&] {
    return context.Check("cuStreamCreate",
                         context.api().cuStreamCreate(&context.stream_, cuda::kStreamNonBlocking));
  });
  if (!status.ok()) return Both(status, context.Close([] { return absl::OkStatus(); }));
  return made;
}

StreamContext::~StreamContext() {
  if (context_ != nullptr) library_->untold.Add(Close([] { return absl::OkStatus(); }));
}

absl::Status StreamContext::Run(absl::FunctionRef<absl::Status()> body) {
  ASSAY_RETURN_IF_ERROR(Ready());
  return InContext(body);
}

void StreamContext::RunUntold(absl::FunctionRef<absl::Status()> body) {
  if (!broken_) untold_.Add(InContext(body));
}

absl::Status StreamContext::InContext(absl::FunctionRef<absl::Status()> body) {
  ASSAY_RETURN_IF_ERROR(Check("cuCtxPushCurrent_v2", api().cuCtxPushCurrent_v2(context_)));
  absl::Status status;
  try {
    status = body();
  } catch (const std::bad_alloc&) {
    status = OutOfMemory("the host data of a GPU call");
  }
  cuda::Context popped = nullptr;
  return Both(status, Check("cuCtxPopCurrent_v2", api().cuCtxPopCurrent_v2(&popped)));
}

absl::Status StreamContext::Check(std::string_view function, cuda::Result result, std::string_view detail) {
  if (result == cuda::Result::kSuccess) return absl::OkStatus();
  absl::Status status = CudaStatus(*library_, function, result, detail);
  if (!IsLasting(result)) return status;
  const std::lock_guard lock(mutex_);
  if (!last_kernel_.empty())
    status = WithSuffix(status, fmt::format("; the kernel launched last is {}", last_kernel_));
  if (!broken_) why_broken_ = status;
  broken_ = true;
  return status;
}

absl::Status StreamContext::Broken() const {
  const std::lock_guard lock(mutex_);
  return WithPrefix(why_broken_, "the GPU can't be used since it failed");
}

absl::Status StreamContext::Synchronize() {
  return Check("cuStreamSynchronize", api().cuStreamSynchronize(stream_));
}

void StreamContext::Launched(const std::string& kernel) {
  const std::lock_guard lock(mutex_);
  last_kernel_ = kernel;
}

absl::Status StreamContext::Close(absl::FunctionRef<absl::Status()> give_back) {
  absl::Status status = untold_.Take();
  if (!broken_) {
    status = Both(status, InContext([&] {
                    absl::Status within;
                    if (stream_ != nullptr) within = Synchronize();
                    if (!broken_) within = Both(within, give_back());
                    if (!broken_ && stream_ != nullptr)
                      within = Both(within, Check("cuStreamDestroy_v2", api().cuStreamDestroy_v2(stream_)));
                    return within;
                  }));
  }
  stream_ = nullptr;
  context_ = nullptr;
  // Not tried again where it fails: whether it was given back is not known, and a context given back twice is
  // taken from someone else.
  return Both(status, CudaStatus(*library_, "cuDevicePrimaryCtxRelease_v2",
                                 api().cuDevicePrimaryCtxRelease_v2(device_)));
}

}  // namespace assay::gpu
