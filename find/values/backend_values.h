// A backend's intermediate values under the names that the exact ones have: programs that give them as
// outputs are run on it (check/isolate/site_modules.h).
#ifndef ASSAY_FIND_VALUES_BACKEND_VALUES_H_
#define ASSAY_FIND_VALUES_BACKEND_VALUES_H_

#include <map>
#include <string>
#include <vector>

#include "check/backend.h"
#include "check/isolate/isolation.h"
#include "find/values/value_recorder.h"

namespace assay {

struct BackendValues {
  std::map<std::string, Literal> values;  // by the names of the exact ones
  std::vector<std::string> notes;         // what it does not have, and why
};

// `exact`: of the run on the same arguments; calls, branches and loops in which it has no value are not
// looked into. The arguments of a body are the backend's own values. Values of loops' conditions are not
// among them. Errors: those of evaluation. A program that the backend fails to run is a note.
absl::StatusOr<BackendValues> ValuesOfBackend(const Program& program, const RunValues& exact,
                                              Backend& backend, const std::vector<Literal>& arguments,
                                              const IsolateOptions& options);

}  // namespace assay

#endif  // ASSAY_FIND_VALUES_BACKEND_VALUES_H_
