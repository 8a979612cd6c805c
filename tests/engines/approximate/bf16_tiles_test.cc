// The engine "bf16": every element within the bound that its kernel states (the cross-check, `full`, is the
// judge: exact sums of each element's own terms), in every layout, on odd shapes and hostile values.
#include "engines/approximate/bf16_tiles.h"

#include <catch2/catch.hpp>

#include "engines/native/contraction/integer_kernels.h"
#include "tests/engines/approximate/bounds_testing.h"
#include "tests/engines/engine_testing.h"

namespace assay::testing {
namespace {

// False, with a line that says so, where there are no such registers.
bool HasEngine() {
  static const bool has = [] {
    const bool there = MachineIsa() == Isa::kAvx512 && native::HasPairTiles();
    if (!there) WARN("skipped: no matrix registers for bf16");
    return there;
  }();
  return has;
}

void CheckWithinBounds(const std::string& body, std::initializer_list<Draw> draws) {
  if (HasEngine())
    CheckWithinBounds(Only<approximate::EagerBf16TilesEngine>(MachineIsa()), "bf16", body, draws);
}

TEST_CASE("bf16 engine: dots of odd shapes and hostile values are within their bounds",
          "[approximate][dot]") {
  struct Sizes {
    int m, k, n;
  };
  for (const Sizes& size : std::initializer_list<Sizes>{
           {1, 1, 1}, {1, 17, 75}, {3, 64, 130}, {33, 63, 65}, {64, 32, 32}, {37, 53, 33}, {200, 6, 10}}) {
    for (int side = 0; side < 4; ++side) {
      CheckWithinBounds(DotOf("bf16", "f32", size.m, size.k, size.n, side), kAllDraws);
    }
  }
}

TEST_CASE("bf16 engine: batches, several contracted dimensions, and dots worth several tasks",
          "[approximate][dot]") {
  for (const std::string& dot : DotsOfManyDimensions("bf16", "f32")) CheckWithinBounds(dot, kAllDraws);
  CheckWithinBounds(
      R"(x = bf16[1000,70] parameter(0)
y = bf16[70,190] parameter(1)
ROOT r = f32[1000,190] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0})",
      {Draw::kNormal, Draw::kWide});
  CheckWithinBounds(
      R"(x = bf16[70,2100] parameter(0)
y = bf16[2100,290] parameter(1)
ROOT r = f32[70,290] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0})",
      {Draw::kNormal});
}

TEST_CASE("bf16 engine: what it does not take", "[approximate][dot]") {
  if (!HasEngine()) return;
  const auto reason = [](Isa isa, const std::string& body) {
    const Plan plan = ReferencePlan(body);
    const auto kernel = PrepareRoot(approximate::Bf16TilesEngine(isa), *plan.module);
    return std::string(kernel.status().message());
  };
  const auto dot = [](const std::string& type, const std::string& result, int n) {
    return fmt::format(
        R"(x = {0}[{2},{2}] parameter(0)
ROOT r = {1}[{2},{2}] dot(x, x), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}})",
        type, result, n);
  };
  const Isa isa = MachineIsa();
  CHECK(reason(isa, dot("bf16", "f32", 128)).empty());
  CHECK(reason(Isa::kAvx2, dot("bf16", "f32", 128)) == "no matrix registers for bf16");
  CHECK(reason(isa, dot("bf16", "bf16", 128)) == "bf16 by bf16 to bf16");
  CHECK(reason(isa, dot("f32", "f32", 128)) == "f32 by f32 to f32");
  CHECK(reason(isa, dot("bf16", "f32", 64)) == "too few products (262144 < 1048576)");
  CHECK(reason(isa,
               R"(x = bf16[2000000] parameter(0)
ROOT r = f32[] dot(x, x), lhs_contracting_dims={0}, rhs_contracting_dims={0})") ==
        "sums of more than 65536 terms");
  CHECK(reason(isa,
               R"(x = bf16[1,8192] parameter(0)
y = bf16[8192,1000] parameter(1)
ROOT r = f32[1,1000] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0})") ==
        "panels less than half full");
}

}  // namespace
}  // namespace assay::testing
