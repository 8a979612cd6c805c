// Futures of handlers that go on after they returned: the runtime waits, the handler tells from any thread.
#ifndef ASSAY_CUSTOM_FFI_FUTURE_H_
#define ASSAY_CUSTOM_FFI_FUTURE_H_

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include "custom/ffi/abi.h"

namespace assay::custom::ffi {

// An error as it crosses the interface, and as a future keeps it.
struct HandlerError {
  abi::ErrorCode code = abi::ErrorCode::kOk;
  std::string message;
};

}  // namespace assay::custom::ffi

namespace assay::custom::ffi::abi {

struct Error : HandlerError {};

// Two hold it: who waits, and the handler, which lets go by telling.
struct Future {
  // Tells once; the future may be gone afterwards.
  void Complete(HandlerError told);
  // Waits that long. True: it was told.
  bool WaitFor(std::chrono::milliseconds time);
  const HandlerError& error() const { return error_; }  // of one that was told
  // The waiting side lets go. What the handler may still write to stays alive until it tells.
  void Release(std::shared_ptr<void> alive_until_told = nullptr);

 private:
  ~Future() = default;
  void Drop(std::unique_lock<std::mutex> lock);

  std::mutex mutex_;
  std::condition_variable told_change_;
  bool told_ = false;
  int holders_ = 2;
  HandlerError error_;
  std::shared_ptr<void> alive_;
};

}  // namespace assay::custom::ffi::abi

#endif  // ASSAY_CUSTOM_FFI_FUTURE_H_
