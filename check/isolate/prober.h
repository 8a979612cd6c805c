// Runs the programs that are made of a program's parts: on the backend, or exactly.
#ifndef ASSAY_CHECK_ISOLATE_PROBER_H_
#define ASSAY_CHECK_ISOLATE_PROBER_H_

#include <optional>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "base/run_guard.h"
#include "check/backend.h"
#include "check/isolate/isolation.h"
#include "run/program.h"

namespace assay {

class Prober {
 public:
  // The leaves of a program's root.
  using Outputs = std::vector<Literal>;
  // A program and its arguments. Without a program there is nothing to run.
  struct Probe {
    std::optional<Program> program;
    std::vector<Literal> arguments;
  };
  // What is done with some items.
  template <typename Item>
  struct Steps {
    absl::FunctionRef<absl::StatusOr<Probe>(std::span<const Item> items)> write;
    absl::FunctionRef<absl::Status(std::span<const Item> items, const Outputs& outputs)> take;
    // The backend does not run the probe of one item alone.
    absl::FunctionRef<absl::Status(const Item& item, const Probe& probe, const absl::Status& why)> fail;
  };

  Prober(Backend& backend, const IsolateOptions& options) : backend_(backend), options_(options) {}

  // Runs one probe of all items on the backend. Where it fails with several, each half of them has a probe of
  // its own, and so on.
  template <typename Item>
  absl::Status RunInHalves(std::span<const Item> items, const Steps<Item>& steps) {
    if (items.empty()) return absl::OkStatus();
    ASSAY_ASSIGN_OR_RETURN(const Probe probe, steps.write(items));
    if (!probe.program) return absl::OkStatus();
    const absl::StatusOr<Outputs> outputs = RunBackend(probe);
    if (outputs.ok()) return steps.take(items, *outputs);
    ASSAY_RETURN_IF_ERROR(PollWork());
    if (items.size() == 1) return steps.fail(items[0], probe, outputs.status());
    ASSAY_RETURN_IF_ERROR(RunInHalves(items.first(items.size() / 2), steps));
    return RunInHalves(items.subspan(items.size() / 2), steps);
  }

  absl::StatusOr<Outputs> RunExactly(const Probe& probe) const;
  int64_t backend_runs() const { return backend_runs_; }

 private:
  absl::StatusOr<Outputs> RunBackend(const Probe& probe);

  Backend& backend_;
  const IsolateOptions& options_;
  int64_t backend_runs_ = 0;
};

}  // namespace assay

#endif  // ASSAY_CHECK_ISOLATE_PROBER_H_
