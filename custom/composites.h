// Composite calls held against the operations that may be taken for them (docs/spec/custom-ops.md, CALL-5).
#ifndef ASSAY_CUSTOM_COMPOSITES_H_
#define ASSAY_CUSTOM_COMPOSITES_H_

#include <cstdint>

#include "custom/registry.h"
#include "hlo/module.h"

namespace assay::custom {

// Adds to each composite call whose name and version an operation of `ops` registers (Composite) a call of
// that operation on the same operands, and checks that their results are equal: bit by bit or, where the
// operation has an attribute `atol`, up to that. The attributes are those of the composite. A check that
// fails ends the run (ComparisonFailed). Results keep what the decomposition gives. Returns how many calls
// are checked. Verify says what is wrong with the calls.
int64_t AddCompositeChecks(Module& module, const OpSet& ops);

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_COMPOSITES_H_
