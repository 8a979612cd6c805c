// The programs that give a backend's intermediate values at some sites.
#ifndef ASSAY_CHECK_ISOLATE_VALUES_PROBE_H_
#define ASSAY_CHECK_ISOLATE_VALUES_PROBE_H_

#include <cstddef>

#include "absl/functional/function_ref.h"
#include "check/isolate/isolation.h"
#include "check/isolate/prober.h"
#include "check/isolate/site_modules.h"
#include "check/isolate/sites.h"

namespace assay {

// Iterations of a loop of which values are shown. One more than the exact ones shows whether the backend goes
// on longer.
int64_t SlotsOf(ModuleSources& sources, const Site& site, const IsolateOptions& options);

// How many of `count` sites, from the first one on, are put into one program.
size_t FirstProgramOf(const Module& module, size_t count, absl::FunctionRef<const Site&(size_t number)> site);

// One program for several sites. Its outputs are those that SiteModule gives for each, in order.
class ValuesProbe {
 public:
  ValuesProbe(ModuleSources& sources, const IsolateOptions& options)
      : sources_(sources), options_(options), writer_(sources.module(), "values") {}
  void Add(const Site& site);
  absl::StatusOr<Prober::Probe> Finish() &&;

 private:
  ModuleSources& sources_;
  const IsolateOptions& options_;
  SiteModule writer_;
  Prober::Probe probe_;
};

}  // namespace assay

#endif  // ASSAY_CHECK_ISOLATE_VALUES_PROBE_H_
