// MLIR text: attributes and types in every form, and what is refused, where and how. "@@" marks the place
// that an error must name; it is removed before reading.
#include <algorithm>

#include "base/limits.h"
#include "tests/hlo/mlir/same_program.h"

namespace assay {
namespace {

std::string Constant(const std::string& value, const std::string& type) {
  return Evaluated(
      Main("", type, "%0 = stablehlo.constant " + value + " : " + type + "\nreturn %0 : " + type));
}

TEST_CASE("mlir: dense elements in every form", "[mlir]") {
  CHECK(Constant("dense<[1, -2, 0x10]>", "tensor<3xi32>") == "{1, -2, 16}");
  CHECK(Constant("dense<7>", "tensor<2x2xi64>") == "{ { 7, 7 }, { 7, 7 } }");
  CHECK(Constant("dense<[255, -128, 127]>", "tensor<3xi8>") == "{-1, -128, 127}");
  CHECK(Constant("dense<[8, -8, 7]>", "tensor<3xi4>") == "{-8, -8, 7}");
  CHECK(Constant("dense<[true, false, 1]>", "tensor<3xi1>") == "{1, 0, 1}");
  CHECK(Constant("dense<[18446744073709551615, 0]>", "tensor<2xui64>") == "{18446744073709551615, 0}");
  CHECK(Constant("dense<[1.5, -0.000000e+00, 0x7F800000]>", "tensor<3xf32>") == "{0x1.8p+0, -0x0p+0, inf}");
  CHECK(Constant("dense<0xFFC0>", "tensor<bf16>") == "-nan");
  // Decimal to double, then to the type.
  CHECK(Constant("dense<0.1>", "tensor<f16>") == "0x1.998p-4");
  CHECK(Constant("dense<(1.5,-2.5)>", "tensor<complex<f32>>") == "(0x1.8p+0, -0x1.4p+1)");
  CHECK(Constant("dense<[(1.0,2.0), (3.0, 4.0)]>", "tensor<2xcomplex<f64>>") ==
        "{(0x1p+0, 0x1p+1), (0x1.8p+1, 0x1p+2)}");
  CHECK(Constant("dense<\"0x0000803F000000C0\">", "tensor<2xf32>") == "{0x1p+0, -0x1p+1}");
  CHECK(Constant("dense<\"0x0000803F\">", "tensor<3xf32>") == "{0x1p+0, 0x1p+0, 0x1p+0}");
  CHECK(Constant("dense<\"0x010001\">", "tensor<3xi1>") == "{1, 0, 1}");
  CHECK(Constant("dense<\"0x0F07\">", "tensor<2xi4>") == "{-1, 7}");
  CHECK(Constant("dense<>", "tensor<0x3xf32>") == "{  }");
  CHECK(Constant("dense<[]>", "tensor<0xi32>") == "{}");
  CHECK(Constant("dense<5>", "tensor<i32>") == "5");
  CHECK(Constant("dense<1.0>", "tensor<f8E4M3FN>") == "0x1p+0");
}

TEST_CASE("mlir: resources, aliases and locations", "[mlir]") {
  CHECK(Evaluated("#loc = loc(unknown)\n#value = dense<[1, 2]> : tensor<2xi32>\n!t = tensor<2xi32>\n"
                  "module @m {\nfunc.func @main() -> !t {\n%0 = stablehlo.constant #value loc(#loc1)\n"
                  "return %0 : !t loc(#loc)\n} loc(#loc)\n} loc(#loc)\n"
                  "#loc1 = loc(\"a/b\"(#loc2))\n#loc2 = loc(\"f.py\":3:4 to 5:6)\n") == "{1, 2}");
  CHECK(Evaluated(Main("", "tensor<2xi32>",
                       "%0 = stablehlo.constant dense_resource<r> : tensor<2xi32> loc(fused<\"x\">[\"a\", "
                       "callsite(\"b\" "
                       "at unknown)])\nreturn %0 : tensor<2xi32>") +
                  "{-#\n  dialect_resources: {\n    builtin: {\n      r: \"0x040000000100000002000000\"\n    "
                  "}\n  }\n#-}\n") == "{1, 2}");
}

TEST_CASE("mlir: the location's name becomes the instruction's op_name", "[mlir]") {
  const absl::StatusOr<Module> module = ParseStableHloText(
      "func.func @main(%a: tensor<f32>) -> tensor<f32> {\n%0 = stablehlo.sine %a : tensor<f32> "
      "loc(#l)\nreturn %0 : tensor<f32>\n}\n#l = loc(\"jit(f)/sin\"(\"f.py\":3:4))\n");
  REQUIRE(module.ok());
  const Instruction& sine = module->entry_computation().instructions[1];
  REQUIRE(sine.extras != nullptr);
  CHECK(sine.extras->metadata.op_name == "jit(f)/sin");
  CHECK(sine.extras->metadata.source_line == 3);
}

TEST_CASE("mlir: module and argument attributes", "[mlir]") {
  const absl::StatusOr<Module> module = ParseStableHloText(
      "module @jit_f attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 4 : i32, other = [{a = "
      "1}, unit]} "
      "{\nfunc.func public @main(%a: tensor<?x3xf32, #stablehlo.bounds<4, ?>> {tf.aliasing_output = 0 : "
      "i32}, %b: "
      "tensor<f32> {jax.buffer_donor = true, mhlo.sharding = \"{replicated}\"}) -> (tensor<?x3xf32, "
      "#stablehlo.type_extensions<bounds = [4, ?]>> {jax.result_info = \"x\"}) {\n"
      "return %a : tensor<?x3xf32, #stablehlo.bounds<4, ?>>\n}\n}");
  INFO(module.status());
  REQUIRE(module.ok());
  CHECK(module->name == "jit_f");
  CHECK(module->replica_count == 4);
  CHECK(module->num_partitions == 2);
  REQUIRE(module->input_output_alias.size() == 1);
  CHECK(module->input_output_alias[0].parameter_number == 0);
  REQUIRE(module->buffer_donor.size() == 1);
  CHECK(module->buffer_donor[0].parameter_number == 1);
  CHECK(module->entry_computation().instructions[0].shape->ToString() == "f32[<=4,3]");
}

void CheckRefused(const std::string& marked, const std::string& message, int exit_code = 3) {
  const size_t mark = marked.find("@@");
  REQUIRE(mark != std::string::npos);
  const std::string text = marked.substr(0, mark) + marked.substr(mark + 2);
  const std::string before = text.substr(0, mark);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const auto column = mark - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0
  INFO(marked);
  const absl::Status status = ParseStableHloText(text).status();
  INFO(status.ToString());
  REQUIRE(!status.ok());
  CHECK(ExitCodeOf(status) == exit_code);
  CHECK_THAT(std::string(status.message()), Catch::Contains(message));
  const auto where = PositionOf(status);
  REQUIRE(where.has_value());
  CHECK(where->line == line);
  CHECK(where->column == static_cast<int32_t>(column));
}

void CheckBody(const std::string& body, const std::string& message, int exit_code = 3) {
  CheckRefused(
      "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n" + body + "\nreturn %a : tensor<2xf32>\n}\n",
      message, exit_code);
}

TEST_CASE("mlir: errors name the place, what was found and what is wanted", "[mlir]") {
  CheckBody("@@frobnicate %a", "found 'frobnicate', want an operation");
  CheckBody("%0 = @@linalg.fill %a", "linalg.fill", 4);
  CheckBody("%0 = @@stablehlo.frobnicate %a : tensor<2xf32>", "'stablehlo.frobnicate'", 4);
  CheckBody("%0 = stablehlo.sine @@%b : tensor<2xf32>", "'%b' is not defined");
  CheckBody("%0 = stablehlo.sine @@%a#1 : tensor<2xf32>", "has 1 result, found number 1");
  CheckBody("%0 = @@stablehlo.sine %a : tensor<3xf32>",
            "operand 0 has type tensor<2xf32>, found tensor<3xf32>");
  CheckBody("@@%a = stablehlo.sine %a : tensor<2xf32>", "'%a' is defined twice");
  CheckBody("@@%0:2 = stablehlo.sine %a : tensor<2xf32>", "more results than its 1");
  CheckBody("%0 = stablehlo.sine %a : @@banana", "want a type");
  CheckBody("%0 = stablehlo.sine %a : tensor<2@@f32>", "want 'x'");
  CheckBody("%0 = stablehlo.constant dense<[1.0, @@2]> : tensor<2xf32>", "want a number with a point");
  CheckBody("%0 = stablehlo.constant dense<[1.0@@]> : tensor<2xf32>", "found 1 element, want 2");
  CheckBody("%0 = stablehlo.constant dense<[1.0, 2.0@@, 3.0]> : tensor<2xf32>", "want ']' after 2");
  CheckBody("%0 = stablehlo.constant dense<@@256> : tensor<i8>", "256 does not fit in i8");
  CheckBody("%0 = stablehlo.constant dense<@@-1> : tensor<ui8>", "does not fit in ui8");
  CheckBody("%0 = stablehlo.constant dense<@@\"0x00\"> : tensor<f32>", "found 1 byte of elements, want 4");
  CheckBody("%0 = stablehlo.transpose %a, dims = [@@x] : tensor<2xf32>", "found 'x', want an integer");
  CheckBody("%0 = stablehlo.sine %a {a = @@;} : tensor<2xf32>", "want an attribute");
  CheckBody("%0 = @@\"stablehlo.reduce\"(%a) : (tensor<2xf32>) -> tensor<f32>", "found 0 regions, want 1");
  CheckBody("%0 = @@call @f(%a) : (tensor<2xf32>) -> tensor<2xf32>", "@f is not defined");
  CheckBody("%0 = stablehlo.constant dense<@@128> : tensor<2x!quant.uniform<i4:f32, 0.5:3>>",
            "128 does not fit in !quant.uniform<i4:f32, 5.000000e-01:3>");
  CheckBody("%0 = stablehlo.sine %a : tensor<2x@@!quant.uniform<i8:f32, 0.5:300>>",
            "QUANT-6: zero point is 300");
  CheckRefused("@@", "want a module or a function");
  CheckRefused("@@module {\nfunc.func private @f()\n}", "no public function");
  CheckRefused(
      "@@func.func @f(%a: tensor<f32>) -> tensor<f32> {\n%0 = call @f(%a) : (tensor<f32>) -> tensor<f32>\n"
      "return %0 : tensor<f32>\n}",
      "calls itself");
  CheckRefused("func.func @main(%a: tensor<f32> @@", "want ',' or ')'");
  CheckRefused("func.func @main() { return loc(@@#x)}", "'#x' is not defined");
}

TEST_CASE("mlir: nesting is bounded", "[mlir]") {
  for (const std::string open : {"{\"a\"() (", "[", "tuple<", "loc(fused["}) {
    std::string text = "#a = ";
    for (int i = 0; i < 100'000; ++i) text += open;
    const absl::Status status = ParseStableHloText(text).status();
    CHECK(ExitCodeOf(status) == 3);
  }
  std::string regions = "func.func @main() {\n";
  for (int i = 0; i < 100'000; ++i) regions += "\"a.b\"() ({\n";
  const absl::Status status = ParseStableHloText(regions).status();
  CHECK(ExitCodeOf(status) == 3);
  CHECK_THAT(std::string(status.message()), Catch::Contains("nesting"));
}

TEST_CASE("mlir: aliases can't write out huge types or attributes, nor contain themselves", "[mlir]") {
  std::string types = "!t0 = f32\n", attributes = "#a0 = 1\n";
  for (int i = 1; i <= 40; ++i) {
    const std::string t = "!t" + std::to_string(i - 1), a = "#a" + std::to_string(i - 1);
    types += "!t" + std::to_string(i) + " = tuple<" + t + ", " + t + ">\n";
    attributes += "#a" + std::to_string(i) + " = [" + a + ", " + a + "]\n";
  }
  CHECK_THAT(std::string(ParseStableHloText(types).status().message()), Catch::Contains("parts of a type"));
  CHECK_THAT(std::string(ParseStableHloText(attributes).status().message()),
             Catch::Contains("parts of an attribute"));
  CheckRefused("#a = [@@#b]\n#b = [#a]\nfunc.func @main() { return }", "used above its definition");
  CheckRefused("#a = @@#a\nfunc.func @main() { return }", "used above its definition");
}

}  // namespace
}  // namespace assay
