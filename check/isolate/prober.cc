#include "check/isolate/prober.h"

#include <utility>

#include "check/backends/output_keys.h"
#include "check/isolate/sites.h"
#include "fmt/format.h"
#include "literal/leaves.h"

namespace assay {

absl::StatusOr<Prober::Outputs> Prober::RunExactly(const Probe& probe) const {
  ASSAY_ASSIGN_OR_RETURN(Literal root, probe.program->Run(probe.arguments, options_.run, options_.engines));
  return LeavesOf(std::move(root));
}

absl::StatusOr<Prober::Outputs> Prober::RunBackend(const Probe& probe) {
  ++backend_runs_;
  const Module& module = probe.program->module();
  ASSAY_ASSIGN_OR_RETURN(Backend::Outputs outputs, backend_.Run({module, "", probe.arguments}));
  Outputs values;
  for (const auto& [key, shape] : OutputsOf(module)) {
    const auto it = outputs.find(key);
    if (it == outputs.end()) return EvalError({}, fmt::format("the backend gave no {}", key));
    if (!Shape::Compatible(it->second.shape(), shape))
      return EvalError({}, fmt::format("the backend gave {} as {}, want {}", it->second.shape().ToString(),
                                       key, shape.ToString()));
    values.push_back(std::move(it->second));
  }
  return values;
}

}  // namespace assay
