// Profiles: tables of what a conforming backend may do.
#include "check/profile.h"

#include <algorithm>
#include <catch2/catch.hpp>

namespace assay {

TEST_CASE("profiles: all that come along are read", "[check]") {
  REQUIRE(ProfileNames().size() == 5);
  for (const std::string_view name : ProfileNames()) {
    const absl::StatusOr<Profile> profile = LoadProfile(std::string(name));
    INFO(name << ": " << profile.status());
    CHECK(profile.ok());
  }
  CHECK(LoadProfile("xla-gpu-tf32")->dot_input_bits[static_cast<size_t>(ElementType::kF32)] == 11);
}

TEST_CASE("profiles: the last line that fits an instruction holds", "[check]") {
  const absl::StatusOr<Profile> profile =
      ParseProfile("p", "ulps * * 4  # a comment\n\nulps tanh * 2\nulps tanh f64 1\naccumulate bf16 f32\n");
  REQUIRE(profile.ok());
  CHECK(profile->UlpsOf(Opcode::kExp, ElementType::kF32) == 4);
  CHECK(profile->UlpsOf(Opcode::kTanh, ElementType::kF32) == 2);
  CHECK(profile->UlpsOf(Opcode::kTanh, ElementType::kF64) == 1);
  CHECK(profile->accumulators[static_cast<size_t>(ElementType::kBF16)] == ElementType::kF32);
  CHECK_FALSE(profile->contracts);
}

TEST_CASE("profiles: sums of dots may be kept wider than others", "[check]") {
  const absl::StatusOr<Profile> profile = ParseProfile("p", "accumulate_dots bf16 f32\naccumulate f16 f32\n");
  REQUIRE(profile.ok());
  const auto bf16 = static_cast<size_t>(ElementType::kBF16), f16 = static_cast<size_t>(ElementType::kF16);
  CHECK(profile->dot_accumulators[bf16] == ElementType::kF32);
  CHECK(profile->accumulators[bf16] == ElementType::kBF16);
  CHECK(profile->dot_accumulators[f16] == ElementType::kF32);
  CHECK(profile->accumulators[f16] == ElementType::kF32);
}

TEST_CASE("profiles: lines on the origin are of the file itself", "[check]") {
  const absl::StatusOr<Profile> profile = ParseProfile(
      "p",
      "made_by  hand, on paper # not shown\ndevice NVIDIA H200\ninherit xla-gpu-tf32\ndate 2026-11-26\n");
  REQUIRE(profile.ok());
  REQUIRE(profile->origin.size() == 3);
  CHECK(profile->origin[0].key == "made_by");
  CHECK(profile->origin[0].text == "hand, on paper");
  CHECK(profile->origin[2].text == "2026-11-26");
  CHECK(profile->variants.empty());
  CHECK(LoadProfile("xla-gpu")->variants == std::vector<std::string>{"xla-gpu-tf32"});
}

TEST_CASE("profiles: the text of a profile gives it again", "[check]") {
  const auto same_rules = [](const std::vector<Profile::Ulps>& a, const std::vector<Profile::Ulps>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
      return x.op == y.op && x.type == y.type && x.ulps == y.ulps;
    });
  };
  for (const std::string_view name : ProfileNames()) {
    INFO(name);
    const Profile profile = *LoadProfile(std::string(name));
    const absl::StatusOr<Profile> again = ParseProfile("again", TextOf(profile));
    INFO(again.status());
    REQUIRE(again.ok());
    CHECK(again->origin.size() == profile.origin.size());
    CHECK(again->variants == profile.variants);
    CHECK(same_rules(again->ulps, profile.ulps));
    CHECK(same_rules(again->underflows, profile.underflows));
    CHECK(again->accumulators == profile.accumulators);
    CHECK(again->dot_accumulators == profile.dot_accumulators);
    CHECK(again->dot_input_bits == profile.dot_input_bits);
    CHECK(again->tensor_core_bits == profile.tensor_core_bits);
    CHECK(again->keeps_precision == profile.keeps_precision);
    CHECK(again->flushes == profile.flushes);
    CHECK(again->contracts == profile.contracts);
    CHECK(again->stores_dots == profile.stores_dots);
  }
}

TEST_CASE("profiles: what is wrong is said with its line", "[check]") {
  const auto message = [](const char* text) {
    return std::string(ParseProfile("p", text).status().message());
  };
  CHECK(message("ulps * * 4\nulps tanh f32 -1\n") ==
        "profile p, line 2: '-1' is not a number from 0 to 1e+30");
  CHECK(message("ulps tanhh f32 1") == "profile p, line 1: 'tanhh' is not an operation");
  CHECK(message("ulps tanh s32 1") == "profile p, line 1: 's32' is not a floating-point type");
  CHECK(message("inherit nobody") == "profile p, line 1: there is no profile 'nobody' to inherit");
  CHECK(message("tensor_core_bits f32 2.5") == "profile p, line 1: '2.5' is not a whole number");
  CHECK(message("underflows exp f32") == "profile p, line 1: 'exp' is not an operation");
  CHECK(message("device").find("is not a line of a profile") != std::string::npos);
  CHECK(message("contracts maybe").find("is not a line of a profile") != std::string::npos);
  CHECK(message("stores_loop_state 1").find("is not a line of a profile") != std::string::npos);
  CHECK(LoadProfile("/nowhere").status().message() ==
        "'/nowhere' is neither a profile (strict, xla-cpu, xla-gpu, xla-gpu-tf32, tpu-bf16) nor a file that "
        "can be read");
}

}  // namespace assay
