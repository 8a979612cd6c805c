// What a handler schedules on "the thread pool": tasks of one call,
// all of which have run before the call is over.
#ifndef ASSAY_CUSTOM_FFI_TASK_GROUP_H_
#define ASSAY_CUSTOM_FFI_TASK_GROUP_H_

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "custom/ffi/abi.h"

namespace assay::custom::ffi {

// With `jobs` 1 a task runs where it is scheduled; else on up to jobs - 1 threads, started for the first
// tasks, and on the one that waits. A handler may wait for its tasks by itself,
// so they can't wait for it to return.
class TaskGroup {
 public:
  explicit TaskGroup(int jobs) : jobs_(jobs) {}
  ~TaskGroup() { Finish(/*for_good=*/true); }
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  int jobs() const { return jobs_; }
  // From any thread, of tasks too.
  void Schedule(abi::Task* task, void* data);
  // Runs what is left, waits for what is at work and ends the threads. What an exception said that came out
  // of a task, if one did. What is scheduled meanwhile, and after an end that is for good,
  // runs where it is scheduled.
  std::optional<std::string> Finish(bool for_good = false);

 private:
  struct Item {
    abi::Task* task;
    void* data;
  };
  void Run(Item item);
  bool Waits() const { return next_ < waiting_.size(); }  // under mutex_, as the next
  Item TakeFirst();
  void Work();

  const int jobs_;
  std::mutex mutex_;
  std::condition_variable change_;
  std::vector<Item> waiting_;  // from next_ on; a deque would allocate for calls that schedule nothing
  size_t next_ = 0;
  int at_work_ = 0;
  bool is_over_ = false;
  std::optional<std::string> thrown_;
  std::vector<std::thread> threads_;
};

}  // namespace assay::custom::ffi

#endif  // ASSAY_CUSTOM_FFI_TASK_GROUP_H_
