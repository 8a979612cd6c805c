#include "base/work_stage.h"

#include <utility>

namespace assay {
namespace {

thread_local const WorkObserver* observer_of_thread = nullptr;
thread_local bool is_in_stage = false;

}  // namespace

WorkObserverScope::WorkObserverScope(WorkObserver observer)
    : observer_(std::move(observer)), before_(std::exchange(observer_of_thread, &observer_)) {}
WorkObserverScope::~WorkObserverScope() { observer_of_thread = before_; }

WorkStage::WorkStage(std::string_view what, int64_t total)
    : what_(what), total_(total), is_told_(observer_of_thread != nullptr && !is_in_stage) {
  if (!is_told_) return;
  is_in_stage = true;
  Tell(0);
}

WorkStage::~WorkStage() {
  if (!is_told_) return;
  is_in_stage = false;
  (*observer_of_thread)("", 0, 0);
}

void WorkStage::Tell(int64_t done) const { (*observer_of_thread)(what_, done, total_); }

}  // namespace assay
