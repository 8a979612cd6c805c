// The engine "rounded-sums" on f64: every element within the bound that its kernels state
// (the cross-check, `full`, is the judge: exact sums of each element's own terms),
// on odd shapes and hostile values.
#include <array>
#include <catch2/catch.hpp>

#include "engines/approximate/rounded_sums.h"
#include "tests/engines/approximate/bounds_testing.h"

namespace assay::testing {
namespace {

void CheckDoubles(const std::string& body) {
  for (Isa isa : MachineIsas())
    CheckWithinBounds(Only<approximate::EagerRoundedSumsEngine>(isa), "rounded-sums", body, kAllDraws);
}

TEST_CASE("rounded sums of f64: dots of odd shapes and hostile values are within their bounds",
          "[approximate][dot]") {
  for (const auto& [m, k, n] : std::initializer_list<std::array<int, 3>>{
           {1, 1, 1}, {37, 53, 29}, {97, 17, 33}, {13, 300, 16}, {2, 1, 65}, {200, 3, 5}}) {
    CheckDoubles(DotOf("f64", "f64", m, k, n, 0));
  }
  CheckDoubles(
      R"(x = f64[3,19,7] parameter(0)
y = f64[3,17,19] parameter(1)
ROOT r = f64[3,7,17] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={2})");
}

TEST_CASE("rounded sums of f64: what it declines, and why", "[approximate][dot]") {
  const auto reason = [](const std::string& body, const Engine& engine) {
    const Plan plan = ReferencePlan(body);
    return std::string(PrepareRoot(engine, *plan.module).status().message());
  };
  const std::string attributes = ", lhs_contracting_dims={1}, rhs_contracting_dims={0}";
  const Engine &engine = approximate::RoundedSumsEngine(MachineIsa()),
               &eager = approximate::EagerRoundedSumsEngine(MachineIsa());
  CHECK_THAT(reason(R"(x = f64[8,8] parameter(0)
ROOT r = f64[8,8] dot(x, x))" +
                        attributes,
                    engine),
             Catch::Contains("too few products (512 < "));
  CHECK_THAT(reason(R"(x = f32[8,8] parameter(0)
ROOT r = f64[8,8] dot(x, x))" +
                        attributes,
                    eager),
             Catch::Contains("f32 by f32 to f64"));
  CHECK_THAT(reason(R"(x = f64[8] parameter(0)
ROOT r = f64[8] add(x, x))",
                    eager),
             Catch::Contains("takes only dot and convolution"));
}

}  // namespace
}  // namespace assay::testing
