// What is made once, by whichever thread comes first.
#ifndef ASSAY_BASE_ONCE_H_
#define ASSAY_BASE_ONCE_H_

#include <atomic>
#include <mutex>

namespace assay {

// As std::call_once, but that lets an exception pass through the C library, which ends the process where the
// memory for that is missing. After an exception the next thread tries again.
class Once {
 public:
  template <typename Function>
  void Do(const Function& function) {
    if (done_.load(std::memory_order_acquire)) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (done_.load(std::memory_order_relaxed)) return;
    function();
    done_.store(true, std::memory_order_release);
  }

 private:
  std::atomic<bool> done_ = false;
  std::mutex mutex_;
};

}  // namespace assay

#endif  // ASSAY_BASE_ONCE_H_
