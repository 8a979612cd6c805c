#include "custom/ffi/future.h"

#include <utility>

namespace assay::custom::ffi::abi {

void Future::Drop(std::unique_lock<std::mutex> lock) {
  const bool last = --holders_ == 0;
  lock.unlock();
  if (last) delete this;
}

void Future::Complete(HandlerError told) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (told_) return;
  told_ = true;
  error_ = std::move(told);
  const std::shared_ptr<void> alive = std::move(alive_);  // goes when nothing is locked any more
  told_change_.notify_all();
  Drop(std::move(lock));
}

bool Future::WaitFor(std::chrono::milliseconds time) {
  std::unique_lock<std::mutex> lock(mutex_);
  return told_change_.wait_for(lock, time, [this] { return told_; });
}

void Future::Release(std::shared_ptr<void> alive_until_told) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (!told_) alive_ = std::move(alive_until_told);
  Drop(std::move(lock));
}

}  // namespace assay::custom::ffi::abi
