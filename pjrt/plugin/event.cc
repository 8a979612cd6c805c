#include "pjrt/plugin/event.h"

#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

#include "pjrt/plugin/error.h"
#include "pjrt/plugin/function_table.h"

namespace assay::pjrt {

struct EventState::State {
  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  bool is_ready = false;
  absl::Status status;
  std::vector<std::pair<OnReadyCallback, void*>> callbacks;
};

EventState::EventState() : state_(std::make_unique<State>()) {}
EventState::~EventState() = default;

void EventState::Set(absl::Status status) {
  std::vector<std::pair<OnReadyCallback, void*>> callbacks;
  {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    if (state_->is_ready) return;
    state_->is_ready = true;
    state_->status = std::move(status);
    callbacks.swap(state_->callbacks);
  }
  state_->changed.notify_all();
  for (const auto& [callback, user_arg] : callbacks) callback(ErrorOf(state_->status), user_arg);
}

bool EventState::IsReady() const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->is_ready;
}

absl::Status EventState::status() const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->status;
}

const absl::Status& EventState::Await() const {
  std::unique_lock<std::mutex> lock(state_->mutex);
  state_->changed.wait(lock, [this] { return state_->is_ready; });
  return state_->status;
}

void EventState::OnReady(OnReadyCallback callback, void* user_arg) {
  {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    if (!state_->is_ready) {
      state_->callbacks.emplace_back(callback, user_arg);
      return;
    }
  }
  callback(ErrorOf(state_->status), user_arg);
}

Event* ReadyEvent(const absl::Status& status) {
  if (!status.ok()) {
    auto failed = std::make_shared<EventState>();
    failed->Set(status);
    return new Event{std::move(failed)};
  }
  // All events that are ready and without an error are this one.
  static const std::shared_ptr<EventState>& ready = *[] {
    auto* const state = new std::shared_ptr<EventState>(std::make_shared<EventState>());
    (*state)->Set(absl::OkStatus());
    return state;
  }();
  return new Event{ready};
}

namespace {

absl::Status DestroyEvent(EventDestroyArgs& args) {
  delete args.event;
  return absl::OkStatus();
}

absl::Status IsReady(EventIsReadyArgs& args) {
  ASSAY_PJRT_WANT(event);
  args.is_ready = args.event->state->IsReady();
  return absl::OkStatus();
}

absl::Status ErrorOfEvent(EventErrorArgs& args) {
  ASSAY_PJRT_WANT(event);
  if (!args.event->state->IsReady()) return EvalError({}, "the event is not ready yet");
  return args.event->state->status();
}

absl::Status Await(EventAwaitArgs& args) {
  ASSAY_PJRT_WANT(event);
  return args.event->state->Await();
}

absl::Status OnReady(EventOnReadyArgs& args) {
  ASSAY_PJRT_WANT(event);
  if (args.callback == nullptr) return InvalidProgram({}, "callback is null");
  args.event->state->OnReady(args.callback, args.user_arg);
  return absl::OkStatus();
}

}  // namespace

void AddEventFunctions(FunctionTable& table) {
  table.Set<DestroyEvent>(FunctionId::kEvent_Destroy);
  table.Set<IsReady>(FunctionId::kEvent_IsReady);
  table.Set<ErrorOfEvent>(FunctionId::kEvent_Error);
  table.Set<Await>(FunctionId::kEvent_Await);
  table.Set<OnReady>(FunctionId::kEvent_OnReady);
}

}  // namespace assay::pjrt
