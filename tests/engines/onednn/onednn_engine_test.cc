// The engine "onednn": every element within the bound that its kernels state (the
// cross-check, `full`, is the judge: exact sums of each element's own terms),
// on odd shapes and hostile values.
#include "engines/onednn/onednn_engine.h"

#include <catch2/catch.hpp>

#include "tests/engines/approximate/bounds_testing.h"

namespace assay::testing {
namespace {

// Null, with a line that says so, where the library is missing.
std::span<const Engine* const> Engines() {
  static const Engine* const engines[] = {&onednn::EagerOnednnEngine(MachineIsa()), &native::NativeEngine()};
  static const bool there = [] {
    const Plan plan = ReferencePlan(
        R"(x = f32[8,8] parameter(0)
ROOT r = f32[8,8] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0})");
    const auto kernel = PrepareRoot(*engines[0], *plan.module);
    if (!kernel.ok()) WARN("skipped: " << kernel.status().message());
    return kernel.ok();
  }();
  return there ? std::span<const Engine* const>(engines) : std::span<const Engine* const>();
}

void CheckWithinBounds(const std::string& body, std::initializer_list<Draw> draws) {
  // Without AVX-512 oneDNN has no fast code for bf16.
  const absl::StatusOr<std::shared_ptr<const Kernel>> kernel =
      PrepareRoot(*Engines()[0], *ReferencePlan(body).module);
  if (MachineIsa() < Isa::kAvx512 && absl::IsUnimplemented(kernel.status())) {
    WARN("skipped: " << kernel.status().message() << ": " << body);
    return;
  }
  CheckWithinBounds(Engines(), "onednn", body, draws);
}

const std::string kTypes[][2] = {{"f32", "f32"}, {"bf16", "f32"}, {"bf16", "bf16"}};

TEST_CASE("onednn engine: dots of odd shapes and hostile values are within their bounds", "[onednn]") {
  if (Engines().empty()) return;
  for (const auto& [in, out] : kTypes) {
    CheckWithinBounds("x = " + in + R"([37,53] parameter(0)
y = )" + in + R"([53,29] parameter(1)
ROOT r = )" + out + "[37,29] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
                      kAllDraws);
    // Transposed on both sides, in batches.
    CheckWithinBounds(
        "x = " + in + R"([3,19,7] parameter(0)
y = )" + in +
            R"([3,17,19] parameter(1)
ROOT r = )" +
            out +
            "[3,7,17] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, "
            "rhs_contracting_dims={2}",
        kAllDraws);
    // A vector by a matrix, and two dimensions contracted.
    CheckWithinBounds("x = " + in + R"([257] parameter(0)
y = )" + in + R"([257,65] parameter(1)
ROOT r = )" + out + "[65] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
                      {Draw::kNormal, Draw::kCancelling});
    CheckWithinBounds("x = " + in + R"([9,4,16] parameter(0)
y = )" + in + R"([4,16,33] parameter(1)
ROOT r = )" + out + "[9,33] dot(x, y), lhs_contracting_dims={1,2}, rhs_contracting_dims={0,1}",
                      {Draw::kNormal, Draw::kCancelling});
  }
}

TEST_CASE("onednn engine: convolutions are within their bounds", "[onednn]") {
  if (Engines().empty()) return;
  for (const auto& [in, out] : kTypes) {
    for (const std::string groups : {"1", "2"}) {
      CheckWithinBounds("x = " + in + R"([2,13,11,8] parameter(0)
w = )" + in + "[3,2," + (groups == "1" ? "8" : "4") +
                            R"(,6] parameter(1)
ROOT r = )" + out +
                            "[2,7,11,6] convolution(x, w), window={size=3x2 stride=2x1 pad=1_1x0_1}, "
                            "dim_labels=b01f_01io->b01f, feature_group_count=" +
                            groups,
                        kAllDraws);
    }
    CheckWithinBounds(
        "x = " + in + R"([2,5,9] parameter(0)
w = )" + in +
            R"([7,5,3] parameter(1)
ROOT r = )" +
            out + "[2,7,7] convolution(x, w), window={size=3 pad=1_1 rhs_dilate=2}, dim_labels=bf0_oi0->bf0",
        {Draw::kNormal, Draw::kSpecials});
  }
}

TEST_CASE("onednn engine: what it declines, and why", "[onednn]") {
  const Engine& engine = onednn::OnednnEngine(MachineIsa());
  const auto reason = [&](const std::string& body) {
    const Plan plan = ReferencePlan(body);
    const auto kernel = PrepareRoot(engine, *plan.module);
    CHECK(absl::IsUnimplemented(kernel.status()));
    return std::string(kernel.status().message());
  };
  const auto dot = [](const std::string& type, const std::string& n) {
    return "x = " + type + "[" + n + "," + n + R"(] parameter(0)
ROOT r = )" +
           type + "[" + n + "," + n + "] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}";
  };
  CHECK_THAT(reason(dot("f32", "100")), Catch::Contains("too few products (1000000 < "));
  CHECK_THAT(reason(dot("f64", "1000")), Catch::Contains("f64 by f64 to f64"));
  CHECK_THAT(reason(dot("s8", "1000")), Catch::Contains("s8 by s8 to s8"));
  CHECK_THAT(reason(dot("f32", "100000")), Catch::Contains("more than"));
  CHECK_THAT(reason(dot("f32", "0")), Catch::Contains("no elements"));
  CHECK_THAT(reason(R"(x = f32[<=900,900] parameter(0)
y = f32[900,900] parameter(1)
ROOT r = f32[<=900,900] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0})"),
             Catch::Contains("dynamic"));
  CHECK_THAT(reason(R"(x = f32[8] parameter(0)
ROOT r = f32[8] negate(x))"),
             Catch::Contains("dot and convolution"));
  CHECK_THAT(reason(R"(x = f32[64,64,64,32] parameter(0)
w = f32[3,3,32,64] parameter(1)
ROOT r = f32[64,62,62,64] convolution(x, w), window={size=3x3 rhs_reversal=1x1}, dim_labels=b01f_01io->b01f)"),
             Catch::Contains("reversed"));
}

}  // namespace
}  // namespace assay::testing
