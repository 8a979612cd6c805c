// Questions to backends about what the specification defines: where it leaves something open, another result
// is no fault.
#ifndef ASSAY_FIND_FUZZ_DEFINED_H_
#define ASSAY_FIND_FUZZ_DEFINED_H_

#include <memory>

#include "find/reduce/interest.h"

namespace assay::fuzz {

// Interesting where `test` is, and no value of the program depends on a point of docs/audit.md. Subnormal
// numbers are left to the bounds, as profiles say who flushes them.
std::unique_ptr<InterestTest> AskWhereDefined(std::unique_ptr<InterestTest> test, AskOptions options);

}  // namespace assay::fuzz

#endif  // ASSAY_FIND_FUZZ_DEFINED_H_
