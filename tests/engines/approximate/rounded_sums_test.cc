// The engine "rounded-sums" on f32: every element within the bound that its kernels state
// (the cross-check, `full`, is the judge: exact sums of each element's own terms), on every instruction set,
// in every layout, on odd shapes and hostile values.
#include "engines/approximate/rounded_sums.h"

#include <array>
#include <catch2/catch.hpp>

#include "tests/engines/approximate/bounds_testing.h"
#include "tests/engines/engine_testing.h"

namespace assay::testing {
namespace {

void CheckSingles(const std::string& body, std::initializer_list<Draw> draws) {
  for (Isa isa : MachineIsas())
    CheckWithinBounds(Only<approximate::EagerRoundedSumsEngine>(isa), "rounded-sums", body, draws);
}

TEST_CASE("rounded sums of f32: dots of odd shapes and hostile values are within their bounds",
          "[approximate][dot]") {
  struct Sizes {
    int m, k, n;
  };
  for (const Sizes& size : std::initializer_list<Sizes>{{1, 1, 1},
                                                        {1, 17, 75},
                                                        {3, 64, 130},
                                                        {8, 64, 24},
                                                        {13, 3, 29},
                                                        {31, 5, 7},
                                                        {37, 53, 33},
                                                        {200, 6, 10}}) {
    for (int side = 0; side < 4; ++side) {
      CheckSingles(DotOf("f32", "f32", size.m, size.k, size.n, side), kAllDraws);
    }
  }
}

TEST_CASE("rounded sums of f32: batches, several contracted dimensions, and dots worth several tasks",
          "[approximate][dot]") {
  for (const std::string& dot : DotsOfManyDimensions("f32", "f32")) CheckSingles(dot, kAllDraws);
  CheckSingles(
      R"(x = f32[120,130] parameter(0)
y = f32[130,190] parameter(1)
ROOT r = f32[120,190] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0})",
      {Draw::kNormal, Draw::kCancelling});
}

TEST_CASE("rounded sums of f32: what it declines, and why", "[approximate][dot]") {
  const Engine& engine = approximate::RoundedSumsEngine(MachineIsa());
  const auto reason = [&](const std::string& body) {
    const Plan plan = ReferencePlan(body);
    const auto kernel = PrepareRoot(engine, *plan.module);
    CHECK(absl::IsUnimplemented(kernel.status()));
    return std::string(kernel.status().message());
  };
  const auto dot = [](const std::string& type, const std::string& sizes) {
    return "x = " + type + sizes + R"( parameter(0)
ROOT r = )" +
           type + sizes + " dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}";
  };
  CHECK(reason(dot("bf16", "[9,9]")) == "too few products (729 < 262144)");
  CHECK_THAT(reason(dot("f8e4m3fn", "[9,9]")), Catch::Contains("f8e4m3fn to f8e4m3fn"));
  CHECK_THAT(reason(dot("f32", "[15,15]")), Catch::Contains("too few products (3375 < 4096)"));
  CHECK(reason(dot("f32", "[0,0]")) == "no products");
  CHECK_THAT(reason(R"(x = f32[9,70000] parameter(0)
ROOT r = f32[9,9] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1})"),
             Catch::Contains("sums of more than 4096 terms"));
  CHECK_THAT(reason(R"(x = f32[1048576,1048576] parameter(0)
ROOT r = f32[1048576,1048576] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0})"),
             Catch::Contains("sums of more than 4096 terms"));
  CHECK_THAT(reason(R"(x = f32[<=9,9] parameter(0)
y = f32[9,9] parameter(1)
ROOT r = f32[<=9,9] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0})"),
             Catch::Contains("dynamic"));
  CHECK_THAT(reason(R"(x = f32[9] parameter(0)
ROOT r = f32[9] negate(x))"),
             Catch::Contains("takes only dot and convolution"));
}

}  // namespace
}  // namespace assay::testing
