// Tests of HLO text with Catch2: exact by default, with a tolerance where the expectation is one.
#define CATCH_CONFIG_MAIN
#include <assay/testing.h>

#include <catch2/catch.hpp>

using assay::testing::EvaluatesTo;
using assay::testing::FailsWith;

TEST_CASE("a sum is rounded once") {
  const char* const program = R"(
    add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }
    ENTRY e {
      x = f32[4] parameter(0)
      zero = f32[] constant(0)
      ROOT sum = f32[] reduce(x, zero), dimensions={0}, to_apply=add
    })";
  CHECK(EvaluatesTo(program, {"f32[4] {1e8, 1, -1e8, 1}"}, "f32[] 2"));
}

TEST_CASE("exp(1) is e") {
  const char* const program = "ENTRY e { x = f32[] parameter(0)  ROOT r = f32[] exponential(x) }";
  CHECK(EvaluatesTo(program, {"f32[] 1"}, "f32[] 0x1.5bf0a8p+1"));
  CHECK(EvaluatesTo(program, {"f32[] 1"}, "f32[] 2.7183", {.rtol = 1e-4}));
}

TEST_CASE("shapes are checked before anything runs") {
  CHECK(FailsWith("ENTRY e { x = f32[2] parameter(0)  ROOT r = f32[3] add(x, x) }", {"f32[2] {1, 2}"},
                  "BINARY-C5"));
}
