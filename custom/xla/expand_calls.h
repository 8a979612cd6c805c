// Custom calls of XLA's compilers, written out: each becomes a call of a computation of plain instructions,
// which plans, bounds, audits and engines see as any other. What a program says of itself (printing, proto,
// StableHLO) is left to the module before.
#ifndef ASSAY_CUSTOM_XLA_EXPAND_CALLS_H_
#define ASSAY_CUSTOM_XLA_EXPAND_CALLS_H_

#include <optional>
#include <string>
#include <vector>

#include "evaluator/verify.h"

namespace assay::custom {

// The module with its calls written out; nullopt where it has none. Targets that the module's custom_ops have
// are theirs. Errors: InvalidProgram "custom-call NAME: CustomCall-C4: TARGET: …" where a call contradicts
// itself or its config is wrong. A call that asks for what has no public meaning stays a custom call, which
// is not supported where it runs.
absl::StatusOr<std::optional<VerifiedModule>> ExpandXlaCalls(const VerifiedModule& verified);

// The targets that are written out, sorted.
std::vector<std::string> XlaCallTargets();

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_XLA_EXPAND_CALLS_H_
