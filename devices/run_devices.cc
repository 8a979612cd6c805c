#include "devices/run_devices.h"

#include <chrono>
#include <mutex>
#include <new>
#include <utility>

#include "base/thread_team.h"
#include "devices/exchange.h"
#include "devices/many_processes.h"
#include "devices/transport.h"
#include "devices/uncounted_link.h"
#include "evaluator/grid/device_grid.h"
#include "fmt/format.h"

namespace assay {
namespace {

// The devices of a run, and their threads.
class DeviceRun {
 public:
  DeviceRun(const Plan& plan, const DeviceGrid& grid, RunOptions options)
      : plan_(plan),
        grid_(grid),
        options_(std::move(options)),
        guard_(std::make_shared<RunGuard>(options_.limits, options_.interrupted, options_.parent_guard)),
        exchange_(grid, guard_),
        outputs_(static_cast<size_t>(grid.size())) {
    options_.interrupted = nullptr;  // the guard asks
    options_.parent_guard = nullptr;
  }

  // The caller's thread is that of device 0, and asks for Ctrl-C.
  absl::StatusOr<std::vector<DeviceOutputs>> Run(std::vector<DeviceInputs> inputs,
                                                 std::span<StepObserver* const> observers) {
    const auto observer_of = [&](int64_t id) {
      return id < std::ssize(observers) ? observers[static_cast<size_t>(id)] : nullptr;
    };
    guard_->BindThread();
    ThreadTeam threads;
    const auto run = [&](int64_t i) {
      RunOne(i + 1, inputs[static_cast<size_t>(i) + 1], observer_of(i + 1));
    };
    ASSAY_RETURN_IF_ERROR(threads.Start(grid_.size() - 1, run, "threads for devices"));
    RunOne(0, inputs[0], observer_of(0));
    threads.Join();
    guard_->budget()->StopRecycling();
    ASSAY_RETURN_IF_ERROR(exchange_.Outcome());
    return std::move(outputs_);
  }

 private:
  // Nothing may be thrown: the others would wait. Even moving inputs may allocate (std::deque).
  void RunOne(int64_t id, DeviceInputs& inputs, StepObserver* observer) {
    try {
      const WorkScope scope(guard_);
      UncountedLink link(exchange_.device(id));
      const DeviceSlot device_slot{link, guard_};
      Executor executor(plan_, OptionsOf(id), &device_slot);
      link.SetExecutor(&executor);
      const absl::Status status =
          assay::RunOne(executor, std::move(inputs), observer, outputs_[static_cast<size_t>(id)]);
      exchange_.End(id, status, executor.step_units());
    } catch (const std::bad_alloc&) {
      exchange_.End(id, no_memory_, 0);
    }
  }

  // What is printed has the device's name before it, where values are not the same on all.
  RunOptions OptionsOf(int64_t id) {
    RunOptions own = options_;
    if (options_.print == nullptr) return own;
    own.print = [this, id](const std::string& name, const Literal& value) {
      if (grid_.logical && id > 0) return;
      const std::lock_guard<std::mutex> lock(print_mutex_);
      options_.print(grid_.logical ? name : grid_.NameOf(id) + "/" + name, value);
    };
    return own;
  }

  const Plan& plan_;
  const DeviceGrid grid_;
  RunOptions options_;
  const std::shared_ptr<RunGuard> guard_;
  Exchange exchange_;
  const absl::Status no_memory_ = OutOfMemory("a device's bookkeeping");  // made while there is some
  std::mutex print_mutex_;
  std::vector<DeviceOutputs> outputs_;
};

}  // namespace

absl::Status RunOne(Executor& executor, DeviceInputs inputs, StepObserver* observer, DeviceOutputs& outputs) {
  executor.process() = std::move(inputs.process);
  executor.Observe(observer);
  const auto start = std::chrono::steady_clock::now();
  absl::StatusOr<Literal> root = executor.Run(std::move(inputs.arguments));
  outputs.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  absl::Status status = root.status();
  if (status.ok()) outputs.root = *std::move(root);
  outputs.process = std::move(executor.process());
  outputs.statistics = executor.statistics();
  return status;
}

absl::StatusOr<std::vector<DeviceOutputs>> RunDevices(const Plan& plan, const DeviceGrid& grid,
                                                      std::vector<DeviceInputs> inputs, RunOptions options,
                                                      StepObserver* observer, RunCounts* counts) {
  ASSAY_CHECK(std::ssize(inputs) == grid.size());
  if (grid.size() == 1) {
    Executor executor(plan, std::move(options));
    if (counts != nullptr) executor.CountRunsIn(*counts);
    std::vector<DeviceOutputs> outputs(1);
    ASSAY_RETURN_IF_ERROR(RunOne(executor, std::move(inputs[0]), observer, outputs[0]));
    return outputs;
  }
  if (plan.has_collectives) ASSAY_RETURN_IF_ERROR(CheckDevices(*plan.module, grid));
  ASSAY_ASSIGN_OR_RETURN(Transport* const transport, TransportOfProcess());
  if (transport != nullptr)
    return RunOnProcesses(*transport, plan, grid, std::move(inputs), std::move(options));
  return DeviceRun(plan, grid, std::move(options)).Run(std::move(inputs), {&observer, 1});
}

absl::StatusOr<std::vector<DeviceOutputs>> RunObservedDevices(const Plan& plan, const DeviceGrid& grid,
                                                              std::vector<DeviceInputs> inputs,
                                                              RunOptions options,
                                                              std::span<StepObserver* const> observers) {
  if (grid.size() == 1)
    return RunDevices(plan, grid, std::move(inputs), std::move(options),
                      observers.empty() ? nullptr : observers[0]);
  ASSAY_CHECK(std::ssize(inputs) == grid.size());
  if (plan.has_collectives) ASSAY_RETURN_IF_ERROR(CheckDevices(*plan.module, grid));
  ASSAY_ASSIGN_OR_RETURN(Transport* const transport, TransportOfProcess());
  if (transport != nullptr)
    return NotSupported({}, "values of a program whose devices are of several processes");
  return DeviceRun(plan, grid, std::move(options)).Run(std::move(inputs), observers);
}

}  // namespace assay
