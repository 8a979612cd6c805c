// Every instruction of a program alone, on the values that a backend had: the first wrong one is named even
// where errors have spread (docs/bounds.md).
#ifndef ASSAY_CHECK_ISOLATE_ISOLATE_H_
#define ASSAY_CHECK_ISOLATE_ISOLATE_H_

#include <vector>

#include "check/backend.h"
#include "check/isolate/isolation.h"
#include "check/profile.h"
#include "run/program.h"

namespace assay {

// Errors: NotSupported as DeriveBounds'; those of evaluation; the backend's where it can't run a single
// instruction either.
absl::StatusOr<Isolation> Isolate(const Program& program, const Profile& profile, Backend& backend,
                                  const std::vector<Literal>& arguments, const IsolateOptions& options);

}  // namespace assay

#endif  // ASSAY_CHECK_ISOLATE_ISOLATE_H_
