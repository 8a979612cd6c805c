// Checks, probes and prints of test programs. The rules are those of StableHLO's interpreter; values by hand.
#include <catch2/catch.hpp>

#include "tests/run/run_text.h"

namespace assay {
namespace {

// A check of two constants of the shape, as a program; its error.
absl::Status Checked(const std::string& target, const std::string& shape, const std::string& found,
                     const std::string& wanted, const std::string& config = "") {
  const std::string attributes = config.empty() ? "" : ", backend_config=" + config;
  return RunText(R"(HloModule m
ENTRY e {
  a = )" + shape + " constant(" +
                     found + ")\n  b = " + shape + " constant(" + wanted +
                     ")\n  c = () custom-call(a, b), custom_call_target=\"" + target + "\"" + attributes + R"(
  ROOT r = () tuple()
}
)",
                 {})
      .status();
}

std::string Message(const absl::Status& status) { return std::string(status.message()); }

TEST_CASE("checks: expect_eq compares values", "[custom-call]") {
  CHECK(Checked("check.expect_eq", "s32[2]", "{1, -2}", "{1, -2}").ok());
  CHECK(Checked("check.expect_eq", "u64[]", "18446744073709551615", "18446744073709551615").ok());
  CHECK_FALSE(Checked("check.expect_eq", "u64[]", "18446744073709551615", "18446744073709551614").ok());
  CHECK_FALSE(Checked("check.expect_eq", "pred[2]", "{true, false}", "{true, true}").ok());
  CHECK(Checked("check.expect_eq", "f32[0]", "{}", "{}").ok());
  // Zeros are equal, a NaN is equal to nothing.
  CHECK(Checked("check.expect_eq", "f32[]", "-0", "0").ok());
  CHECK(Checked("check.expect_eq", "bf16[]", "inf", "inf").ok());
  CHECK_FALSE(Checked("check.expect_eq", "f32[]", "nan", "nan").ok());
  CHECK(Checked("check.expect_eq", "c64[]", "(1, -0)", "(1, 0)").ok());
  CHECK_FALSE(Checked("check.expect_eq", "c64[]", "(1, 2)", "(1, 3)").ok());
}

TEST_CASE("checks: a failing one is a failed comparison that says where", "[custom-call]") {
  const absl::Status status =
      Checked("check.expect_eq", "s8[2,3]", "{ { 1, 2, 3 }, { 4, 5, 6 } }", "{ { 1, 2, 0 }, { 4, -5, 6 } }");
  CHECK(ExitCodeOf(status) == 1);
  CHECK(
      Message(status) ==
      "check.expect_eq: 2 of 6 elements differ, the first at [0,2]: found 3, want 0 (in '%c = custom-call')");
  CHECK(PositionOf(status)->line == 5);
  CHECK(Message(Checked("check.expect_eq", "f64[]", "0.1", "0.2")) ==
        "check.expect_eq: found 0.1, want 0.2 (in '%c = custom-call')");
}

TEST_CASE("checks: expect_almost_eq takes a distance", "[custom-call]") {
  const std::string op = "check.expect_almost_eq", tight = "{tolerance = 2.500000e-01 : f64}";
  CHECK(Checked(op, "f64[]", "1.25", "1", tight).ok());  // 0.25, exactly
  CHECK_FALSE(Checked(op, "f64[]", "1.25000001", "1", tight).ok());
  CHECK(Checked(op, "f32[]", "1.0009765625", "1").ok());  // 2^-10 <= 0.001, the reference's own tolerance
  CHECK_FALSE(Checked(op, "f32[]", "1.001953125", "1").ok());
  CHECK(Checked(op, "f32[]", "nan", "nan", tight).ok());
  CHECK_FALSE(Checked(op, "f32[]", "nan", "1", tight).ok());
  CHECK(Checked(op, "f32[]", "inf", "inf", tight).ok());
  CHECK_FALSE(Checked(op, "f32[]", "inf", "-inf", tight).ok());
  CHECK_FALSE(Checked(op, "f32[]", "inf", "3e38", tight).ok());
  // Never between numbers of different signs, however near.
  CHECK_FALSE(Checked(op, "f32[]", "-0.1", "0.1", tight).ok());
  CHECK(Checked(op, "f32[]", "-0", "0", tight).ok());
  CHECK(Checked(op, "c64[]", "(1.25, 2)", "(1, 2.25)", tight).ok());
  CHECK_FALSE(Checked(op, "c64[]", "(1.25, 2)", "(1, 2.5)", tight).ok());
  CHECK(Message(Checked(op, "f32[]", "2", "1", tight)) ==
        "check.expect_almost_eq: found 2, want 1 within 0.25 (in '%c = custom-call')");
}

TEST_CASE("checks: expect_close counts ulps", "[custom-call]") {
  const std::string op = "check.expect_close";
  const auto within = [](int low, int high) {
    return "{max_ulp_difference = " + std::to_string(high) +
           " : ui64, min_ulp_difference = " + std::to_string(low) + " : ui64}";
  };
  // f16 near 5: 2^-8 apart. 5.01171875 = 5 + 3 * 2^-8.
  CHECK(Checked(op, "f16[]", "5.01171875", "5", within(0, 3)).ok());
  CHECK(Checked(op, "f16[]", "5.01171875", "5", within(3, 3)).ok());
  CHECK_FALSE(Checked(op, "f16[]", "5.01171875", "5", within(0, 2)).ok());
  CHECK_FALSE(Checked(op, "f16[]", "5.01171875", "5", within(4, 9)).ok());
  CHECK(Checked(op, "f16[]", "5.01171875", "5").ok());  // without a field: 3
  CHECK_FALSE(Checked(op, "f16[]", "5.015625", "5").ok());
  CHECK(Checked(op, "f32[]", "1e-45", "-1e-45", within(2, 2)).ok());  // the smallest numbers, through zero
  CHECK(Checked(op, "f32[]", "-0", "0", within(0, 0)).ok());
  CHECK(Checked(op, "f32[]", "nan", "-nan", within(0, 0)).ok());
  CHECK(Checked(op, "f32[]", "inf", "inf", within(0, 0)).ok());
  CHECK_FALSE(Checked(op, "f32[]", "inf", "3.4028235e38", within(0, 1)).ok());
  CHECK_FALSE(Checked(op, "f32[]", "nan", "1", within(0, 1)).ok());
  CHECK(Checked(op, "c128[]", "(1, 5)", "(1.0000000000000002, 5)", within(1, 1)).ok());
  CHECK(Message(Checked(op, "f16[]", "5.01171875", "5", within(0, 2))) ==
        "check.expect_close: found 5.0117, want 5 (3 ulps apart, want at most 2) (in '%c = custom-call')");
}

TEST_CASE("checks: calls of the wrong form are invalid", "[custom-call]") {
  const auto refused = [](const absl::Status& status, const std::string& part) {
    INFO(status);
    return ExitCodeOf(status) == 3 && Message(status).find(part) != std::string::npos;
  };
  CHECK(refused(Checked("check.expect_close", "s32[]", "1", "1"), "wanted floats"));
  CHECK(
      refused(Checked("check.expect_almost_eq", "f32[]", "1", "1", "{tolerance = -1.0 : f64}"), "tolerance"));
  CHECK(refused(Checked("check.expect_almost_eq", "f32[]", "1", "1", "{tolerance = \"x\"}"), "\"x\""));
  CHECK(refused(Checked("check.expect_close", "f32[]", "1", "1", "{max_ulp_difference = 1.5 : f64}"),
                "max_ulp_difference"));
  CHECK(refused(Checked("check.eq", "f32[]", "1", "1"), "result"));
  CHECK(refused(Checked("check.expect_serialized_eq", "f32[]", "1", "1"), "takes 1 operand"));
  const absl::Status shapes = RunText(
                                  R"(HloModule m
ENTRY e {
  a = f32[2] parameter(0)
  b = f32[3] parameter(1)
  ROOT c = () custom-call(a, b), custom_call_target="check.expect_eq"
}
)",
                                  {"f32[2] {1, 2}", "f32[3] {1, 2, 3}"})
                                  .status();
  CHECK(refused(shapes, "f32[3]"));
}

TEST_CASE("checks: run though nothing needs their result, and in loops", "[custom-call]") {
  const std::string program =
      R"(HloModule m
c { i = s32[] parameter(0)
 n = s32[] constant(3)
 ROOT p = pred[] compare(i, n), direction=LT }
b { i = s32[] parameter(0)
 two = s32[] constant(LIMIT)
 k = s32[] minimum(i, two)
 x = () custom-call(i, k), custom_call_target="check.expect_eq"
 one = s32[] constant(1)
 ROOT j = s32[] add(i, one) }
ENTRY e { z = s32[] constant(0)
 ROOT w = s32[] while(z), condition=c, body=b }
)";
  const auto with_limit = [&](const std::string& limit) {
    std::string text = program;
    return RunText(text.replace(text.find("LIMIT"), 5, limit), {});
  };
  CHECK(with_limit("2").ok());
  CHECK(Message(with_limit("1").status()).find("found 2, want 1") != std::string::npos);
}

TEST_CASE("checks: probes record each time they run", "[custom-call]") {
  const std::string id = "{probe_id = \"a, \\22}=b\"}";
  const auto program = [&](const std::string& iteration, const std::string& wanted) {
    return R"(HloModule m
ENTRY e {
  a = f32[] constant(1)
  b = f32[] constant(2)
  p = f32[] custom-call(a), custom_call_target="interpreter.probe", backend_config=)" +
           id +
           "\n  q = f32[] custom-call(b), custom_call_target=\"interpreter.probe\", backend_config=" + id +
           R"(, control-predecessors={p}
  w = f32[] constant()" +
           wanted +
           ")\n"
           "  x = () custom-call(w), custom_call_target=\"check.expect_serialized_eq\", "
           "backend_config={iteration = " +
           iteration +
           R"( : ui32, probe_id = "a, \22}=b"}, control-predecessors={q}
  ROOT r = f32[] add(p, q)
}
)";
  };
  CHECK(RunText(program("0", "1"), {}).ok());
  CHECK(RunText(program("1", "2"), {}).ok());
  CHECK(Message(RunText(program("1", "3"), {}).status()).find("found 2, want 3") != std::string::npos);
  const absl::Status missing = RunText(program("2", "1"), {}).status();
  CHECK(ExitCodeOf(missing) == 1);
  CHECK(Message(missing).find("found 2 values of probe 'a, \"}=b', want one of iteration 2") !=
        std::string::npos);
}

TEST_CASE("checks: print shows the value and gives it back", "[custom-call]") {
  std::string shown;
  RunOptions options;
  options.print = [&](const std::string& name, const Literal& value) {
    shown += name + " " + LiteralToText(value);
  };
  const absl::StatusOr<Literal> result = RunText(
      R"(HloModule m
ENTRY e {
  a = f32[2] constant({1, 2})
  ROOT p = f32[2] custom-call(a), custom_call_target="interpreter.print"
}
)",
      {}, options);
  REQUIRE(result.ok());
  CHECK(shown == "a {1, 2}");
  CHECK(LiteralToText(*result) == "{1, 2}");
}

}  // namespace
}  // namespace assay
