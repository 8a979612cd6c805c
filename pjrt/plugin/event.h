// Events: something that is done, or will be. All but the host's memory that a buffer borrows is
// done when it is asked for.
#ifndef ASSAY_PJRT_PLUGIN_EVENT_H_
#define ASSAY_PJRT_PLUGIN_EVENT_H_

#include <memory>

#include "base/error.h"
#include "pjrt/plugin/pjrt_api.h"

namespace assay::pjrt {

// What all events of one thing share. It is set once, from any thread; callbacks run on that thread,
// outside of its lock.
class EventState {
 public:
  EventState();
  ~EventState();
  void Set(absl::Status status);
  bool IsReady() const;
  // Once it is ready.
  absl::Status status() const;
  const absl::Status& Await() const;
  // At once where it is ready.
  void OnReady(OnReadyCallback callback, void* user_arg);

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

struct Event {
  std::shared_ptr<EventState> state;
};

// An event that is ready, and ended with the error where there is one.
Event* ReadyEvent(const absl::Status& status = absl::OkStatus());

}  // namespace assay::pjrt

#endif  // ASSAY_PJRT_PLUGIN_EVENT_H_
