// Which pass of a compiler changed a program's outputs: a module's dumps after each pass, evaluated one after
// the other.
#ifndef ASSAY_FIND_PASSES_BISECT_H_
#define ASSAY_FIND_PASSES_BISECT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "find/passes/baseline.h"
#include "find/passes/dump_folder.h"
#include "find/passes/pass_detail.h"

namespace assay {

// A dump, and what its program gives.
struct PassStep {
  enum class Kind : uint8_t {
    kEvaluated,
    kSameBytes,  // as an earlier one
    kSkipped,    // it can't be evaluated
  };
  DumpFile file;
  Kind kind = Kind::kEvaluated;
  std::string why;                    // kSkipped
  int exit_code = 0;                  // kSkipped: of the error's class
  std::vector<OutputChange> outputs;  // from before all passes; empty where it was skipped
  bool changed = false;               // outputs have other bits than those of the step before
  bool outside = false;               // an element is outside of the bounds of the program before all passes
};

// The two steps between which outputs change, and what the pass did.
struct PassChange {
  size_t before = 0, after = 0;
  PassDetail detail;
};

struct PassBisection {
  std::string module;
  std::vector<PassStep> steps;
  size_t baseline = 0;  // the first step that can be evaluated
  int64_t distinct = 0, evaluated = 0;
  bool has_bounds = false;
  std::string why_no_bounds;  // with a profile
  // Steps of which outputs differ from the baseline's in a bit, and are outside of its bounds.
  std::optional<size_t> first_change, first_outside;
  std::vector<PassChange> changes;  // of these steps
  absl::Status ended;               // by the limits of the work: later steps are missing
};

struct BisectOptions {
  std::string folder;
  std::optional<Profile> profile;
  // Reads and verifies a program of these bytes.
  std::function<absl::StatusOr<Program>(const std::string& path, std::string_view bytes)> load;
  // What the baseline runs on.
  std::function<absl::StatusOr<ProgramInputs>(const Program& baseline)> inputs;
};

// Errors: those of the inputs; the first step's where no step can be evaluated.
absl::StatusOr<PassBisection> BisectDumps(const ModuleDumps& dumps, const BisectOptions& options);

}  // namespace assay

#endif  // ASSAY_FIND_PASSES_BISECT_H_
