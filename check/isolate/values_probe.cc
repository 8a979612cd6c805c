#include "check/isolate/values_probe.h"

#include <algorithm>
#include <utility>

namespace assay {
namespace {

// Instructions of one program that is made for the backend.
constexpr int64_t kMaxInAProgram = 20'000;

}  // namespace

int64_t SlotsOf(ModuleSources& sources, const Site& site, const IsolateOptions& options) {
  const Computation& body = sources.module().computation(site.computation);
  const int64_t bytes = 1 + sources.Of(site.computation).OwnBytes(body);
  return std::max<int64_t>(
      1, std::min({site.exact_iterations + 1, options.max_iterations, options.max_loop_bytes / bytes}));
}

size_t FirstProgramOf(const Module& module, size_t count,
                      absl::FunctionRef<const Site&(size_t number)> site) {
  size_t taken = 0;
  for (int64_t size = 0; taken < count && (taken == 0 || size < kMaxInAProgram); ++taken)
    size += std::ssize(module.computation(site(taken).computation).instructions);
  return taken;
}

void ValuesProbe::Add(const Site& site) {
  probe_.arguments.insert(probe_.arguments.end(), site.arguments.begin(), site.arguments.end());
  const ValueSources& sources = sources_.Of(site.computation);
  if (site.loop == nullptr) {
    writer_.AddValues(site.computation, sources);
  } else {
    writer_.AddLoop(*site.loop, sources, SlotsOf(sources_, site, options_));
  }
}

absl::StatusOr<Prober::Probe> ValuesProbe::Finish() && {
  if (writer_.num_outputs() > 0) {
    ASSAY_ASSIGN_OR_RETURN(probe_.program, std::move(writer_).Finish());
  }
  return std::move(probe_);
}

}  // namespace assay
