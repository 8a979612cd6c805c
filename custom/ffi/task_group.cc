#include "custom/ffi/task_group.h"

#include <exception>
#include <utility>

#include "custom/float_environment.h"

namespace assay::custom::ffi {

void TaskGroup::Run(Item item) {
  std::optional<std::string> thrown;
  const KeptFloatEnvironment kept;
  try {
    item.task(item.data);
  } catch (const std::exception& e) {
    thrown = e.what();
  } catch (...) {
    thrown = "something that is not a std::exception";
  }
  if (!thrown) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!thrown_) thrown_ = std::move(thrown);
}

TaskGroup::Item TaskGroup::TakeFirst() {
  const Item item = waiting_[next_++];
  if (next_ == waiting_.size()) {
    waiting_.clear();
    next_ = 0;
  }
  return item;
}

void TaskGroup::Schedule(abi::Task* task, void* data) {
  if (jobs_ <= 1) return Run({task, data});
  std::unique_lock<std::mutex> lock(mutex_);
  if (is_over_) {  // by a handler that the run waits for no longer, or that tells before it is done
    lock.unlock();
    return Run({task, data});
  }
  waiting_.push_back({task, data});
  if (static_cast<int>(threads_.size()) < jobs_ - 1) {
    try {
      threads_.emplace_back([this] { Work(); });
    } catch (const std::exception&) {  // the process may have no more threads, or no memory
      if (threads_.empty()) {
        waiting_.pop_back();
        lock.unlock();
        return Run({task, data});
      }
    }
  }
  change_.notify_one();
}

void TaskGroup::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    change_.wait(lock, [this] { return is_over_ || Waits(); });
    if (!Waits()) return;
    const Item item = TakeFirst();
    ++at_work_;
    lock.unlock();
    Run(item);
    lock.lock();
    if (--at_work_ == 0) change_.notify_all();
  }
}

std::optional<std::string> TaskGroup::Finish(bool for_good) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (Waits() || at_work_ > 0) {
    if (!Waits()) {
      change_.wait(lock, [this] { return Waits() || at_work_ == 0; });
      continue;
    }
    const Item item = TakeFirst();
    ++at_work_;
    lock.unlock();
    Run(item);
    lock.lock();
    --at_work_;
  }
  is_over_ = true;
  change_.notify_all();
  lock.unlock();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  lock.lock();
  is_over_ = for_good;
  return std::exchange(thrown_, std::nullopt);
}

}  // namespace assay::custom::ffi
