#include "base/thread_team.h"

#include <memory>
#include <new>
#include <system_error>
#include <utility>

namespace assay {

absl::Status ThreadTeam::Start(int64_t count, std::function<void(int64_t)> work, std::string_view what) {
  const auto begin = [this](int word) {
    may_begin_ = word;
    may_begin_.notify_all();
  };
  bool has_all = false, has_memory = true;
  try {
    const auto shared = std::make_shared<const std::function<void(int64_t)>>(std::move(work));
    threads_.reserve(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) {
      threads_.emplace_back([this, shared, i] {
        may_begin_.wait(0);
        if (may_begin_ == 1) (*shared)(i);
      });
    }
    has_all = true;
  } catch (const std::system_error&) {
  } catch (const std::bad_alloc&) {
    has_memory = false;
  }
  const int64_t made = std::ssize(threads_);
  begin(has_all ? 1 : -1);
  if (has_all) return absl::OkStatus();
  // Before the error is made, which may throw.
  Join();
  return has_memory ? LimitExceeded(what, count, made) : OutOfMemory(what);
}

void ThreadTeam::Join() {
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace assay
