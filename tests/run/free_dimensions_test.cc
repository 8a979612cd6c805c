// Programs with free dimensions: one program at several shapes,
// and programs that are meant to take long or to crash.
#include <catch2/catch.hpp>
#include <string>

#include "base/error.h"
#include "fmt/format.h"
#include "hlo/text/printer.h"
#include "run/inputs/known_arguments.h"
#include "run/program.h"
#include "run/program_cache.h"
#include "shape/shape_text.h"

namespace assay {
namespace {

constexpr char kTwice[] = R"(func.func @main(%a: tensor<?xi32>) -> tensor<?xi32> {
  %b = stablehlo.add %a, %a : tensor<?xi32>
  return %b : tensor<?xi32>
}
)";

Literal Numbers(int64_t count) {
  const int64_t sizes[] = {count};
  Literal numbers = *Literal::Make(*Shape::Array(ElementType::kS32, sizes));
  auto* const values = reinterpret_cast<int32_t*>(numbers.MutableBytes().data());
  for (int64_t i = 0; i < count; ++i) values[i] = static_cast<int32_t>(i + 1);
  return numbers;
}

KnownArgument OfSizes(ElementType type, std::initializer_list<int64_t> sizes) {
  return {*Shape::Array(type, DimVector(sizes)), std::nullopt};
}

int ExitCode(const std::string& text) { return ExitCodeOf(Program::Load("p.mlir", text).status()); }

TEST_CASE("free dimensions: one program runs at each size, planned once for each", "[program][refine]") {
  const absl::StatusOr<Program> program = Program::Load("p.mlir", kTwice);
  REQUIRE(program.ok());
  CHECK(program->has_free_dimensions());
  for (const int64_t count : {0, 1, 5, 3, 5}) {
    const absl::StatusOr<Literal> twice = program->Run({Numbers(count)});
    REQUIRE(twice.ok());
    REQUIRE(twice->shape().size(0) == count);
    for (int64_t i = 0; i < count; ++i) CHECK(twice->GetInt(i) == 2 * (i + 1));
  }
  const KnownArgument five[] = {OfSizes(ElementType::kS32, {5})};
  const absl::StatusOr<Program> refined = program->RefinedFor(five);
  REQUIRE(refined.ok());
  CHECK_FALSE(refined->has_free_dimensions());
  CHECK(*refined->PlanFor() == *program->RefinedFor(five)->PlanFor());
}

TEST_CASE("free dimensions: loading may say the sizes, and what else is said stays", "[program][refine]") {
  const auto five = [](const Module& parameters) {
    CHECK(parameters.entry_computation().parameters.size() == 1);
    return std::optional(std::vector{OfSizes(ElementType::kS32, {5})});
  };
  const absl::StatusOr<Program> sized = Program::Load("p.mlir", kTwice, {.replicas = 2, .arguments = five});
  REQUIRE(sized.ok());
  CHECK_FALSE(sized->has_free_dimensions());
  CHECK(sized->module().replica_count == 2);
  const absl::StatusOr<Program> open = Program::Load("p.mlir", kTwice, {.replicas = 2});
  REQUIRE(open.ok());
  CHECK(open->has_free_dimensions());
  const KnownArgument known[] = {OfSizes(ElementType::kS32, {5})};
  CHECK(open->RefinedFor(known)->module().replica_count == 2);
}

TEST_CASE("free dimensions: without shapes there is a signature and no plan", "[program][refine]") {
  const absl::StatusOr<Program> program = Program::Load("p.mlir", kTwice);
  REQUIRE(program.ok());
  CHECK(program->module().entry_computation().root_instruction().shape->ToString() == "s32[?]");
  CHECK(ExitCodeOf(program->PlanFor().status()) == 4);
  CHECK(ExitCodeOf(program->PlanAsWritten().status()) == 4);
  CHECK(ExitCodeOf(program->RefinedFor({}).status()) != 0);
  const KnownArgument two[] = {OfSizes(ElementType::kS32, {5}), OfSizes(ElementType::kS32, {5})};
  CHECK(ExitCodeOf(program->RefinedFor(two).status()) == 5);
  const KnownArgument other[] = {OfSizes(ElementType::kF32, {5})};
  CHECK(ExitCodeOf(program->RefinedFor(other).status()) == 5);
}

TEST_CASE("free dimensions: the cache hands out one program for all shapes", "[program][refine]") {
  ProgramCache cache(4, 1 << 20);
  const Program a = *cache.Load("p.mlir", kTwice), b = *cache.Load("p.mlir", kTwice);
  const KnownArgument five[] = {OfSizes(ElementType::kS32, {5})};
  CHECK(*a.RefinedFor(five)->PlanFor() == *b.RefinedFor(five)->PlanFor());
}

TEST_CASE("free dimensions: sizes are computed before the run", "[refine]") {
  const absl::StatusOr<Program> program = Program::Load("p.mlir", R"(
func.func @main(%a: tensor<?xi32>) -> tensor<?xi32> {
  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?xi32>) -> tensor<i32>
  %m = call @next(%n) : (tensor<i32>) -> tensor<i32>
  %s = stablehlo.reshape %m : (tensor<i32>) -> tensor<1xi32>
  %i = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
  return %i : tensor<?xi32>
}
func.func private @next(%n: tensor<i32>) -> tensor<i32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %m = stablehlo.add %n, %one : tensor<i32>
  return %m : tensor<i32>
}
)");
  REQUIRE(program.ok());
  const KnownArgument five[] = {OfSizes(ElementType::kS32, {5})};
  const absl::StatusOr<Program> refined = program->RefinedFor(five);
  REQUIRE(refined.ok());
  CHECK(refined->module().computations.size() == 1);
  CHECK(refined->module().entry_computation().instructions.size() == 2);
  CHECK(refined->module().entry_computation().root_instruction().shape->ToString() == "s32[6]");
}

TEST_CASE("free dimensions: instances of functions are bounded", "[refine]") {
  // Level k is called with up to 2^k numbers.
  std::string text = R"(func.func @main(%a: tensor<?xi32>) -> tensor<i32> {
  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?xi32>) -> tensor<i32>
  %m = call @f0(%n) : (tensor<i32>) -> tensor<i32>
  return %m : tensor<i32>
}
)";
  for (int k = 0; k < 60; ++k) {
    text += fmt::format(R"(func.func private @f{0}(%n: tensor<i32>) -> tensor<i32> {{
  %one = stablehlo.constant dense<{2}> : tensor<i32>
  %x = stablehlo.multiply %n, %one : tensor<i32>
  %y = stablehlo.add %x, %one : tensor<i32>
  %p = call @f{1}(%x) : (tensor<i32>) -> tensor<i32>
  %q = call @f{1}(%y) : (tensor<i32>) -> tensor<i32>
  %r = stablehlo.add %p, %q : tensor<i32>
  return %r : tensor<i32>
}}
)",
                        k, k + 1, 3 + 2 * k);
  }
  text += R"(func.func private @f60(%n: tensor<i32>) -> tensor<i32> {
  return %n : tensor<i32>
}
)";
  const absl::StatusOr<Program> program = Program::Load("p.mlir", text);
  REQUIRE(program.ok());
  const KnownArgument five[] = {OfSizes(ElementType::kS32, {5})};
  const absl::Status status = program->RefinedFor(five).status();
  CHECK(status.message().find("operations that refinement writes") != absl::string_view::npos);
}

TEST_CASE("free dimensions: a long chain of calls is refused", "[refine]") {
  std::string text = R"(func.func @main(%a: tensor<?xi32>) -> tensor<?xi32> {
  %m = call @f0(%a) : (tensor<?xi32>) -> tensor<?xi32>
  return %m : tensor<?xi32>
}
)";
  for (int k = 0; k < 5000; ++k) {
    text += fmt::format("func.func private @f{}(%a: tensor<?xi32>) -> tensor<?xi32> {{\n", k);
    if (k + 1 < 5000) {
      text += fmt::format("  %b = call @f{}(%a) : (tensor<?xi32>) -> tensor<?xi32>\n  return %b", k + 1);
    } else {
      text += "  return %a";
    }
    text += " : tensor<?xi32>\n}\n";
  }
  CHECK(ExitCode(text) == 4);
}

TEST_CASE("free dimensions: what is no program is refused", "[refine]") {
  CHECK(ExitCode("func.func private @main(%a: tensor<?xi32>) -> tensor<?xi32>") == 3);
  CHECK(ExitCode(R"(func.func @main(%a: tensor<?xi32>) -> tensor<?xi32> {
  %b = call @nowhere(%a) : (tensor<?xi32>) -> tensor<?xi32>
  return %b : tensor<?xi32>
}
)") == 3);
  CHECK(ExitCode(R"(func.func @main(%a: tensor<?xi32>) -> tensor<?xi32> {
  %b = "stablehlo.while"(%a) ({}, {}) : (tensor<?xi32>) -> tensor<?xi32>
  return %b : tensor<?xi32>
}
)") == 3);
  CHECK(ExitCode(R"(func.func @main(%a: tensor<?xi32>) -> tensor<?xi32> {
  %b = "stablehlo.transpose"(%a) {permutation = array<i64: 9>} : (tensor<?xi32>) -> tensor<?xi32>
  return %b : tensor<?xi32>
}
)") != 1);
}

TEST_CASE("free dimensions: what stands for a free program can't be given as a program",
          "[program][refine]") {
  const std::string signature = ModuleToText(Program::Load("p.mlir", kTwice)->module());
  CHECK(ExitCodeOf(Program::Load("p.hlo", signature).status()) == 4);
  CHECK(ExitCode(R"(func.func @main(%a: tensor<3xi32>) -> tensor<3xi32> {
  %b = stablehlo.custom_call @assay.free_dimensions(%a) : (tensor<3xi32>) -> tensor<3xi32>
  return %b : tensor<3xi32>
}
)") == 4);
}

TEST_CASE("free dimensions: shapes as a flag writes them", "[refine]") {
  const absl::StatusOr<Program> program = Program::Load("p.mlir", R"(
func.func @main(%n: tensor<i32> {jax.global_constant = "n"}, %a: tensor<?x?xi32>, %b: tensor<f32>) -> tensor<?x?xi32> {
  return %a : tensor<?x?xi32>
}
)");
  REQUIRE(program.ok());
  const auto known = KnownArgumentsOfText(program->module(), "arg1=3x0,arg0=7");
  REQUIRE(known.ok());
  CHECK((*known)[0].value == 7);
  CHECK((*known)[1].shape.ToString() == "s32[3,0]");
  CHECK((*known)[2].shape.ToString() == "f32[]");
  for (const char* const wrong :
       {"arg1=3x0", "arg0=7", "arg1", "arg1=3x,arg0=1", "arg1=-3x1,arg0=1", "arg1=3x1,arg0=1x1",
        "arg1=3x1,arg0=1,arg9=1", "arg1=3x1,arg1=3x1,arg0=1", "arg1=99999999999999999999x1,arg0=1"}) {
    INFO(wrong);
    CHECK(ExitCodeOf(KnownArgumentsOfText(program->module(), wrong).status()) == 5);
  }
}

}  // namespace
}  // namespace assay
