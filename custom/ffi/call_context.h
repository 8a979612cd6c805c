// What the functions of the interface see of a call: states, temporary memory, tasks.
#ifndef ASSAY_CUSTOM_FFI_CALL_CONTEXT_H_
#define ASSAY_CUSTOM_FFI_CALL_CONTEXT_H_

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/error.h"
#include "base/memory_budget.h"
#include "custom/ffi/abi.h"
#include "custom/ffi/task_group.h"
#include "custom/ffi/type_registry.h"

namespace assay::custom::ffi {

// An object that a stage left for later ones, and how it ends.
class State {
 public:
  State() = default;
  State(abi::TypeId type, void* object, Deleter deleter) : type_(type), object_(object), deleter_(deleter) {}
  ~State() {
    if (object_ != nullptr && deleter_ != nullptr) deleter_(object_);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  abi::TypeId type() const { return type_; }
  void* object() const { return object_; }

 private:
  const abi::TypeId type_ = {};
  void* const object_ = nullptr;
  const Deleter deleter_ = nullptr;
};

// User data by the number of its type: what the owner of the handlers gives to all calls.
using UserData = std::map<int64_t, void*>;

// Memory that a handler asked for. What it does not free goes with the call.
class TemporaryMemory {
 public:
  explicit TemporaryMemory(std::shared_ptr<MemoryBudget> budget) : budget_(std::move(budget)) {}
  ~TemporaryMemory();
  TemporaryMemory(const TemporaryMemory&) = delete;
  TemporaryMemory& operator=(const TemporaryMemory&) = delete;

  absl::StatusOr<void*> Allocate(size_t size, size_t alignment);
  absl::Status Free(void* data);

 private:
  const std::shared_ptr<MemoryBudget> budget_;
  std::mutex mutex_;
  std::map<void*, int64_t> sizes_;
};

// What there is of a run; nothing of it while a handler is instantiated.
struct RunPart {
  RunPart(std::shared_ptr<MemoryBudget> budget, int jobs) : memory(std::move(budget)), tasks(jobs) {}
  TemporaryMemory memory;
  TaskGroup tasks;
  int64_t run_id = 0;
  int32_t device = 0;
};

}  // namespace assay::custom::ffi

namespace assay::custom::ffi::abi {

struct ExecutionContext {
  Stage stage = Stage::kInstantiate;                 // the one at work
  std::array<const State*, kNumStages> states = {};  // by the stage that set it; null: none
  const UserData* user_data = nullptr;
  RunPart* run = nullptr;
  std::unique_ptr<State> new_state;  // what this stage set
};

}  // namespace assay::custom::ffi::abi

#endif  // ASSAY_CUSTOM_FFI_CALL_CONTEXT_H_
