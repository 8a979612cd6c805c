// The dialects check and interpreter, in their pretty, generic and custom-call forms.
#include "base/error.h"
#include "tests/hlo/mlir/same_program.h"

namespace assay {
namespace {

// main without arguments and results.
std::string ChecksBody(const std::string& body) { return "func.func @main() {\n" + body + "\nreturn\n}\n"; }

absl::Status Ran(const std::string& mlir) {
  const absl::StatusOr<Program> program = Verified(ParseStableHloText(mlir));
  return program.ok() ? program->Run({}).status() : program.status();
}

// What each form says of 5 and 5.0117 (3 ulps of f16 more), and of their difference 0.0117.
absl::Status Compared(const std::string& check) {
  return Ran(ChecksBody(R"(%a = stablehlo.constant dense<5.0117> : tensor<f16>
%b = stablehlo.constant dense<5.0> : tensor<f16>
)" + check));
}

TEST_CASE("mlir: checks have pretty, generic and custom-call forms", "[mlir][checks]") {
  for (
      const char* const passing : {
          "check.expect_eq %a, %a : tensor<f16>",
          "check.expect_eq_const %b, dense<5.0> : tensor<f16>",
          "check.expect_eq_const %b, dense<5.0> : tensor<f16> {note = \"x\"}",
          "check.expect_almost_eq%a, %a : tensor<f16>",
          "check.expect_almost_eq %a, %b, tolerance = 0.1 : tensor<f16>",
          "check.expect_almost_eq %a, %b, tolerance = 0.1 : f64 : tensor<f16>",
          "check.expect_almost_eq %a, %b {tolerance = 0.1 : f64} : tensor<f16>",
          "check.expect_almost_eq_const %a, dense<5.0> : tensor<f16>, tolerance = 0.1",
          "check.expect_almost_eq_const %a, dense<5.0> : tensor<f16> {tolerance = 0.1 : f64}",
          "\"check.expect_almost_eq\"(%a, %b) <{tolerance = 0.1 : f64}> : (tensor<f16>, tensor<f16>) -> ()",
          "check.expect_close %a, %b, max_ulp_difference = 3 : tensor<f16>, tensor<f16>",
          "check.expect_close %a, %b, max_ulp_difference = 4, min_ulp_difference = 3 : tensor<f16>, "
          "tensor<f16>",
          "\"check.expect_close\"(%a, %b) {max_ulp_difference = 3 : ui64} : (tensor<f16>, tensor<f16>) -> ()",
          "stablehlo.custom_call @check.expect_close(%a, %b) : (tensor<f16>, tensor<f16>) -> ()",
          "stablehlo.custom_call @check.expect_almost_eq(%a, %b) {has_side_effect = true, tolerance = 0.1} : "
          "(tensor<f16>, tensor<f16>) -> ()",
          "%r = stablehlo.custom_call @check.eq(%a, %a) : (tensor<f16>, tensor<f16>) -> tensor<i1>",
      }) {
    INFO(passing << "\n" << Compared(passing));
    CHECK(Compared(passing).ok());
  }
  for (const char* const failing : {
           "check.expect_eq %a, %b : tensor<f16>",
           "check.expect_eq_const %b, dense<5.1> : tensor<f16>",
           "check.expect_almost_eq %a, %b : tensor<f16>",  // the dialect's tolerance is 0.0001
           "check.expect_almost_eq %a, %b, tolerance = 0.01 : tensor<f16>",
           "check.expect_almost_eq_const %a, dense<5.0> : tensor<f16>, tolerance = 0.01",
           "check.expect_close %a, %b, max_ulp_difference = 2 : tensor<f16>, tensor<f16>",
           "check.expect_close %a, %b, max_ulp_difference = 9, min_ulp_difference = 4 : tensor<f16>, "
           "tensor<f16>",
           "\"check.expect_close\"(%a, %b) : (tensor<f16>, tensor<f16>) -> ()",  // the dialect's limit is 1
           "stablehlo.custom_call @check.expect_almost_eq(%a, %b) : (tensor<f16>, tensor<f16>) -> ()",
           "%r = stablehlo.custom_call @check.eq(%a, %b) : (tensor<f16>, tensor<f16>) -> tensor<i1>",
       }) {
    INFO(failing << "\n" << Compared(failing));
    CHECK(ExitCodeOf(Compared(failing)) == 1);
    CHECK(PositionOf(Compared(failing)) == SourcePosition{4, failing[0] == '%' ? 6 : 1});
  }
}

TEST_CASE("mlir: checks of the wrong form are refused", "[mlir][checks]") {
  CHECK(ExitCodeOf(Compared("check.expect_eq %a, %b")) == 3);
  CHECK(ExitCodeOf(Compared("check.expect_eq %a, %b : tensor<f32>")) == 3);
  CHECK(ExitCodeOf(Compared("check.expect_eq_const %a, dense<1.0> : tensor<f32>")) == 3);
  CHECK(ExitCodeOf(Compared("check.expect_eq_const %a, %b, dense<1.0> : tensor<f16>")) == 3);
  CHECK(ExitCodeOf(Compared("check.expect_close %a, %b, max_ulp_difference = : tensor<f16>, tensor<f16>")) ==
        3);
  CHECK(ExitCodeOf(Compared("check.expect_serialized_eq %a : tensor<f16>")) == 3);
  CHECK(ExitCodeOf(Compared("check.expect_more %a, %b : tensor<f16>")) == 4);
}

// Probes and checks keep their order when the module is printed, which sorts by operands and control.
TEST_CASE("mlir: probes record, also in loops and when printed as HLO", "[mlir][checks]") {
  const auto program = [](const std::string& second) {
    return ChecksBody(
        R"(%zero = stablehlo.constant dense<0> : tensor<i64>
%one = stablehlo.constant dense<1> : tensor<i64>
%two = stablehlo.constant dense<2> : tensor<i64>
%r:2 = stablehlo.while(%i = %zero, %s = %zero) : tensor<i64>, tensor<i64>
 cond {
%c = stablehlo.compare LT, %i, %two : (tensor<i64>, tensor<i64>) -> tensor<i1>
stablehlo.return %c : tensor<i1>
} do {
%t = stablehlo.add %s, %one : tensor<i64>
%p = interpreter.probe %t, probe_id = "loop/1" : tensor<i64>
%j = stablehlo.add %i, %one : tensor<i64>
stablehlo.return %j, %p : tensor<i64>, tensor<i64>
}
check.expect_serialized_eq %one, probe_id = "loop/1" : tensor<i64>
check.expect_serialized_eq )" +
        second + ", probe_id = \"loop/1\", iter = 1 : tensor<i64>");
  };
  CHECK(Ran(program("%two")).ok());
  const absl::Status failed = Ran(program("%one"));
  INFO(failed);
  CHECK(ExitCodeOf(failed) == 1);

  const absl::StatusOr<Program> module = Verified(ParseStableHloText(program("%two")));
  REQUIRE(module.ok());
  const absl::StatusOr<Program> printed = Verified(ParseHloText(ModuleToText(module->module())));
  INFO(printed.status() << ModuleToText(module->module()));
  REQUIRE(printed.ok());
  CHECK(printed->Run({}).status().ok());
}

// Two values under one id, then a look at each; in the order of the text in every form.
TEST_CASE("mlir: probes written as custom calls keep their order", "[mlir][checks]") {
  const auto call = [](const std::string& result, const std::string& target, const std::string& operand,
                       const std::string& config, const std::string& type) {
    return result + "stablehlo.custom_call @" + target + "(" + operand +
           ") {api_version = 4 : i32, backend_config = {" + config +
           "}, has_side_effect = true} : (tensor<i8>) -> " + type + "\n";
  };
  const std::string text = ChecksBody(
      R"(%a = stablehlo.constant dense<1> : tensor<i8>
%b = stablehlo.constant dense<2> : tensor<i8>
)" + call("%p = ", "interpreter.probe", "%b", "probe_id = \"x\"", "tensor<i8>") +
      call("%q = ", "interpreter.probe", "%a", "probe_id = \"x\"", "tensor<i8>") +
      call("", "check.expect_serialized_eq", "%b", "iteration = 0 : ui32, probe_id = \"x\"", "()") +
      call("", "check.expect_serialized_eq", "%a", "iteration = 1 : ui32, probe_id = \"x\"", "()"));
  CHECK(Ran(text).ok());
  const absl::StatusOr<Program> module = Verified(ParseStableHloText(text));
  REQUIRE(module.ok());
  const absl::StatusOr<Program> printed = Verified(ParseHloText(ModuleToText(module->module())));
  INFO(printed.status() << ModuleToText(module->module()));
  REQUIRE(printed.ok());
  CHECK(printed->Run({}).status().ok());
}

// What stands in the regions keeps its order when the module is printed.
TEST_CASE("mlir: probes in regions record each application", "[mlir][checks]") {
  const auto program = [](const std::string& last) {
    return ChecksBody(R"(%a = stablehlo.constant dense<[3, 1, 2]> : tensor<3xi64>
%zero = stablehlo.constant dense<0> : tensor<i64>
%m = "stablehlo.map"(%a) ({
^bb0(%x: tensor<i64>):
 %p = interpreter.probe %x, probe_id = "p" : tensor<i64>
 stablehlo.return %p : tensor<i64>
}) {dimensions = array<i64: 0>} : (tensor<3xi64>) -> tensor<3xi64>
%s = stablehlo.reduce(%a init: %zero) across dimensions = [0] : (tensor<3xi64>, tensor<i64>) -> tensor<i64>
 reducer(%x: tensor<i64>, %y: tensor<i64>) {
 %t = stablehlo.add %x, %y : tensor<i64>
 %q = interpreter.probe %t, probe_id = "p" : tensor<i64>
 check.expect_eq %q, %t : tensor<i64>
 stablehlo.return %q : tensor<i64>
}
%two = stablehlo.constant dense<2> : tensor<i64>
%six = stablehlo.constant dense<6> : tensor<i64>
check.expect_serialized_eq %two, probe_id = "p", iter = 2 : tensor<i64>
check.expect_serialized_eq )" +
                      last + ", probe_id = \"p\", iter = 5 : tensor<i64>");
  };
  CHECK(Ran(program("%six")).ok());
  CHECK(ExitCodeOf(Ran(program("%two"))) == 1);
  const absl::StatusOr<Program> module = Verified(ParseStableHloText(program("%six")));
  REQUIRE(module.ok());
  const absl::StatusOr<Program> printed = Verified(ParseHloText(ModuleToText(module->module())));
  INFO(printed.status() << ModuleToText(module->module()));
  REQUIRE(printed.ok());
  CHECK(printed->Run({}).status().ok());
}

TEST_CASE("mlir: probes in reducers of collectives are refused", "[mlir][checks]") {
  const absl::Status refused = Ran(ChecksBody(R"(%a = stablehlo.constant dense<[3, 1, 2]> : tensor<3xi64>
%r = "stablehlo.all_reduce"(%a) ({
^bb0(%x: tensor<i64>, %y: tensor<i64>):
 %t = stablehlo.add %x, %y : tensor<i64>
 %q = interpreter.probe %t, probe_id = "p" : tensor<i64>
 stablehlo.return %q : tensor<i64>
}) {replica_groups = dense<[[0]]> : tensor<1x1xi64>} : (tensor<3xi64>) -> tensor<3xi64>)"));
  INFO(refused);
  CHECK(ExitCodeOf(refused) == 4);
  CHECK(std::string(refused.message()).find("RED-C7") != std::string::npos);
}

TEST_CASE("mlir: run_parallel of one process is a call", "[mlir][checks]") {
  const auto program = [](const std::string& attributes) {
    return R"(func.func @twice(%x: tensor<i32>) -> tensor<i32> {
 %y = stablehlo.add %x, %x : tensor<i32>
 return %y : tensor<i32>
}
func.func @main() {
 %c = stablehlo.constant dense<4> : tensor<i32>
 %r = "interpreter.run_parallel"(%c) {)" +
           attributes +
           "} : (tensor<i32>) -> tensor<i32>\n check.expect_eq_const %r, dense<8> : tensor<i32>\n "
           "return\n}\n";
  };
  CHECK(Ran(program("programs = [[@twice]]")).ok());
  CHECK(ExitCodeOf(Ran(program("programs = [[@twice, @twice]]"))) == 3);  // one operand for two functions
  CHECK(ExitCodeOf(Ran(program("programs = [[@twice], []]"))) == 3);
  CHECK(ExitCodeOf(Ran(program("programs = []"))) == 3);
  CHECK(ExitCodeOf(Ran(program("infeed = [@twice], programs = [[@twice]]"))) == 4);
  CHECK(ExitCodeOf(Ran(program("programs = [[@thrice]]"))) == 3);
  CHECK(ExitCodeOf(Ran(program("infeed = []"))) == 3);
}

// Two processes of @step; `outside` and `inside` are more operations.
std::string TwoProcesses(const std::string& outside, const std::string& inside,
                         const std::string& attributes = "") {
  return "module @m" + attributes + R"( {
func.func @step(%x: tensor<i32>) -> tensor<i32> {
)" + inside +
         R"( return %x : tensor<i32>
}
func.func @main() {
 %c = stablehlo.constant dense<4> : tensor<i32>
 %d = stablehlo.constant dense<5> : tensor<i32>
 %r:2 = "interpreter.run_parallel"(%c, %d) {programs = [[@step, @step]]} : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
)" + outside +
         " return\n}\n}\n";
}

TEST_CASE("mlir: run_parallel of several processes is a grid of devices", "[mlir][checks]") {
  const absl::StatusOr<Module> module = ParseStableHloText(TwoProcesses("", ""));
  INFO(module.status());
  REQUIRE(module.ok());
  CHECK(module->replica_count == 1);
  CHECK(module->num_partitions == 2);
  CHECK(Verified(module).ok());
  const auto exit_code = [](const std::string& text) {
    return ExitCodeOf(ParseStableHloText(text).status());
  };
  CHECK(exit_code(TwoProcesses("", "", " attributes {mhlo.num_partitions = 2 : i32}")) == 0);
  CHECK(exit_code(TwoProcesses("", "", " attributes {mhlo.num_partitions = 1 : i32}")) == 4);
  // What would tell devices apart, or show once for each.
  CHECK(exit_code(TwoProcesses(" %i = stablehlo.partition_id : tensor<ui32>\n", "")) == 4);
  CHECK(exit_code(TwoProcesses(" %i = interpreter.print %c : tensor<i32>\n", "")) == 4);
  CHECK(exit_code(TwoProcesses("", " %i = stablehlo.partition_id : tensor<ui32>\n")) == 0);
  CHECK(exit_code(TwoProcesses("", " %p = interpreter.probe %x, probe_id = \"p\" : tensor<i32>\n")) == 0);
  CHECK(exit_code(TwoProcesses(" check.expect_serialized_eq %c, probe_id = \"p\" : tensor<i32>\n",
                               " %p = interpreter.probe %x, probe_id = \"p\" : tensor<i32>\n")) == 4);
  // Grids of two sizes, and one inside of another.
  CHECK(exit_code(
            TwoProcesses(" %s = \"interpreter.run_parallel\"(%c) {programs = [[@step]]} : (tensor<i32>) -> "
                         "tensor<i32>\n",
                         "")) == 4);
}

}  // namespace
}  // namespace assay
