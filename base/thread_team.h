// Threads that begin together, or not at all.
#ifndef ASSAY_BASE_THREAD_TEAM_H_
#define ASSAY_BASE_THREAD_TEAM_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "base/error.h"

namespace assay {

class ThreadTeam {
 public:
  ThreadTeam() = default;
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;
  ~ThreadTeam() { Join(); }

  // work(0), …, work(count - 1), each in a thread of its own. LimitExceeded: not all of them can be made;
  // none runs then. `what` is what they are for.
  absl::Status Start(int64_t count, std::function<void(int64_t)> work, std::string_view what);
  void Join();

 private:
  std::atomic<int> may_begin_ = 0;  // 1: go on; -1: there will be no work
  std::vector<std::thread> threads_;
};

}  // namespace assay

#endif  // ASSAY_BASE_THREAD_TEAM_H_
