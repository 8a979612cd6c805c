// Any text as a program: what can be run is run by the exact engines and by the reference, printed in every
// form, and read again (tests/mutants). A difference is a finding.
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "base/error.h"
#include "tests/mutants/comparison.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 1 << 16) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const assay::testing::MutantOutcome outcome = assay::testing::CompareMutant("input", text, {}, 1);
  if (outcome.end == assay::testing::MutantEnd::kDifferent)
    std::fprintf(stderr, "%s\n", outcome.text.c_str());
  ASSAY_CHECK(outcome.end != assay::testing::MutantEnd::kDifferent);
  return 0;
}
