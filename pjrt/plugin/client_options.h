// How a client evaluates: by the environment (ASSAY_ENGINE, …), or by the options that it is made with, which
// win. docs/jax.md lists them.
#ifndef ASSAY_PJRT_PLUGIN_CLIENT_OPTIONS_H_
#define ASSAY_PJRT_PLUGIN_CLIENT_OPTIONS_H_

#include <span>
#include <string>

#include "base/error.h"
#include "evaluator/eval_context.h"
#include "pjrt/plugin/pjrt_api.h"
#include "run/engine_list.h"

namespace assay::pjrt {

struct ClientOptions {
  int64_t devices = 1;
  EngineChoice engine = EngineChoice::kExact;
  bool lapack = false;  // decompositions by the machine's LAPACK
  RunOptions run;       // limits, jobs, crosscheck, run_seed

  // InvalidProgram: an option that there is none of, or with a value that it can't have;
  // the message names it.
  static absl::StatusOr<ClientOptions> Of(std::span<const NamedValue> values);
  // "exact", "fast, crosscheck sample": what decides about results, in words.
  std::string EngineText() const;
  // The same, and the seed.
  std::string Text() const;
};

}  // namespace assay::pjrt

#endif  // ASSAY_PJRT_PLUGIN_CLIENT_OPTIONS_H_
