// Generated programs: every engine gives the reference's bits, or is within its bounds.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "jit/isa.h"
#include "tests/generated/differential.h"

namespace assay::testing {
namespace {

// Seeds from `first`.
void CompareMany(uint64_t first, int count) {
  int evaluated = 0, kernels = 0, generated = 0, bounded = 0;
  for (int i = 0; i < count; ++i) {
    const uint64_t seed = first + static_cast<uint64_t>(i);
    const Difference difference = CompareEngines(ProgramOfSeed(seed));
    INFO("seed " << seed);
    CHECK(difference.text == "");
    evaluated += difference.evaluated, kernels += difference.kernels, generated += difference.generated;
    bounded += difference.bounded;
  }
  // The comparison is worth something: most programs give results, and kernels of every kind have a part.
  WARN(count << " programs, " << evaluated << " with results; " << kernels << " kernels, " << generated
             << " of generated code, " << bounded << " within bounds");
  CHECK(evaluated > count * 3 / 4);
  CHECK(kernels > 4 * count);
  if (MachineIsa() >= Isa::kAvx2) CHECK(generated > count);
}

TEST_CASE("generated programs: all engines agree with the reference", "[generated]") {
  CompareMany(1000, 300);
}

// assay_tests "[all-generated]": minutes.
TEST_CASE("generated programs: 5,000 of them", "[.all-generated]") { CompareMany(1, 5000); }

}  // namespace
}  // namespace assay::testing
