// Bytes as the choices of the program generator: a small program, its arguments, and every engine against the
// reference. A difference is a finding.
#include <cstdint>
#include <cstdio>

#include "base/error.h"
#include "tests/generated/differential.h"

// The leak checker of g++ 12's sanitizers crashes at the end of this process once oneDNN's threads have run.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kWithFast = false;
#elif defined(__has_feature)
constexpr bool kWithFast = !__has_feature(address_sanitizer);
#else
constexpr bool kWithFast = true;
#endif

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  assay::fuzz::Choices choices(std::span<const uint8_t>(data, size));
  const assay::testing::Difference difference = assay::testing::CompareEngines(
      assay::fuzz::GenerateProgram(choices, {.instructions = 12, .max_elements = 200}), kWithFast);
  if (!difference.text.empty()) std::fputs(difference.text.c_str(), stderr);
  ASSAY_CHECK(difference.text.empty());
  return 0;
}
