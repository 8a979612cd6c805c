// Profiles: tables of what a conforming backend may do.
#include "check/profile.h"

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

TEST_CASE("profiles: what is wrong is said with its line", "[check]") {
  const auto message = [](const char* text) {
    return std::string(ParseProfile("p", text).status().message());
  };
  CHECK(message("ulps * * 4\nulps tanh f32 -1\n") ==
        "profile p, line 2: '-1' is not a number from 0 to 1e+30");
  CHECK(message("ulps tanhh f32 1") == "profile p, line 1: 'tanhh' is not an operation");
  CHECK(message("ulps tanh s32 1") == "profile p, line 1: 's32' is not a floating-point type");
  CHECK(message("inherit nobody") == "profile p, line 1: there is no profile 'nobody' to inherit");
  CHECK(message("contracts maybe").find("is not a line of a profile") != std::string::npos);
  CHECK(LoadProfile("/nowhere").status().message() ==
        "'/nowhere' is neither a profile (strict, xla-cpu, xla-gpu, xla-gpu-tf32, tpu-bf16) nor a file that "
        "can be read");
}

}  // namespace assay
