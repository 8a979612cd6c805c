// Programs by the engine "gpu-fast" on the emulated driver: every step within the bound that it states.
#include <catch2/catch.hpp>

#include "base/error.h"
#include "check/golden/golden.h"
#include "engines/accuracy.h"
#include "find/fuzz/generator.h"
#include "fmt/format.h"
#include "hlo/text/printer.h"
#include "tests/gpu/device_programs.h"

namespace assay::gpu {
namespace {

std::span<const Engine* const> EmulatedFast() {
  return EnginesOf(EngineChoice::kGpuFast, MachineIsa(), false,
                   {.driver = TestedDriver(), .min_elements = 0});
}

std::string MessageOf(const absl::Status& status) {
  return std::string(status.message().data(), status.message().size());
}

// The plan's text. Each step is within its bound by the cross-check, and none fell back.
std::string PlanOfBoundedRun(const std::string& text, const std::vector<Literal>& arguments) {
  const Program program = ProgramOf(text);
  const Plan plan = PlanOf(program, EmulatedFast());
  Executor executor(plan, {.crosscheck = Crosscheck::kFull});
  const absl::StatusOr<Literal> found = executor.Run(arguments);
  INFO(PlanToText(plan) << found.status());
  CHECK(found.ok());
  for (const StepFallbacks& back : executor.statistics().fallbacks)
    FAIL(back.instruction << " fell back: " << back.reason);
  CHECK(executor.statistics().crosschecked > 0);
  return PlanToText(plan);
}

std::string CheckBounded(const std::string& text, int hostile_runs = 4) {
  const absl::StatusOr<std::vector<Literal>> arguments = RandomInputs(ProgramOf(text).verified(), 1);
  REQUIRE(arguments.ok());
  for (int seed = 0; seed < hostile_runs; ++seed)
    PlanOfBoundedRun(text, HostileArguments(text, static_cast<uint64_t>(seed)));
  return PlanOfBoundedRun(text, *arguments);
}

std::string DotProgram(std::string_view lhs, std::string_view rhs, std::string_view result,
                       std::string_view attributes = "") {
  return fmt::format(R"(HloModule m
ENTRY e {{
  x = {}[3,20,45] parameter(0)
  y = {}[3,45,33] parameter(1)
  ROOT r = {}[3,20,33] dot(x, y), lhs_batch_dims={{0}}, rhs_batch_dims={{0}},
    lhs_contracting_dims={{2}}, rhs_contracting_dims={{1}}{}
}}
)",
                     lhs, rhs, result, attributes);
}

}  // namespace

TEST_CASE("gpu-fast: dots of f32 are TF32, narrower ones bf16 and f16, within their bounds",
          "[gpu][gpu-fast]") {
  const std::string f32 = CheckBounded(DotProgram("f32", "f32", "f32"));
  CHECK_THAT(f32, Catch::Contains("gpu-fast") && Catch::Contains("[TF32 tensor cores]"));
  CHECK_THAT(f32, Catch::Contains(
                      "within (2^-10 + (n + g) 2^-25 + g 2^-23) times the sum of magnitudes, g = n / 8"));
  CHECK_THAT(CheckBounded(DotProgram("bf16", "bf16", "f32")),
             Catch::Contains("[bf16 tensor cores]") && Catch::Contains("g = n / 16 groups]"));
  CHECK_THAT(CheckBounded(DotProgram("f16", "f16", "f16")), Catch::Contains("[f16 tensor cores]"));
  CHECK_THAT(CheckBounded(DotProgram("f8e4m3fn", "f8e5m2", "f32")), Catch::Contains("[bf16 tensor cores]"));
  CHECK_THAT(CheckBounded(DotProgram("f8e8m0fnu", "bf16", "bf16")), Catch::Contains("[bf16 tensor cores]"));
  CHECK_THAT(CheckBounded(DotProgram("bf16", "f16", "f64")),
             Catch::Contains("[TF32 tensor cores]") && !Catch::Contains("2^-10"));
  CHECK_THAT(CheckBounded(DotProgram("f32", "bf16", "f32")),
             Catch::Contains("[TF32 tensor cores]") && Catch::Contains("2^-10"));
}

TEST_CASE("gpu-fast: a dot that asks for more than TF32 is exact, and so are f64 and integers",
          "[gpu][gpu-fast]") {
  for (const std::string_view exact :
       {", operand_precision={highest,highest}", ", operand_precision={default,HIGH}",
        ", algorithm=dot_f32_f32_f32", ", algorithm=dot_tf32_tf32_f32_x3"}) {
    const std::string plan = CheckBounded(DotProgram("f32", "f32", "f32", exact), 1);
    CHECK_THAT(plan, Catch::Contains("[f64 tensor cores]") && !Catch::Contains("within"));
  }
  CHECK_THAT(CheckBounded(DotProgram("f32", "f32", "f32", ", algorithm=dot_tf32_tf32_f32"), 1),
             Catch::Contains("[TF32 tensor cores]"));
  CHECK_THAT(CheckBounded(DotProgram("f64", "f64", "f64"), 1), Catch::Contains("[pairs of doubles]"));
  CHECK_THAT(CheckBounded(DotProgram("s8", "s8", "s32"), 1), Catch::Contains("[integer tensor cores]"));
  // bf16 has no more bits than the tensor cores take.
  CHECK_THAT(CheckBounded(DotProgram("bf16", "bf16", "f32", ", operand_precision={highest,highest}"), 1),
             Catch::Contains("[bf16 tensor cores]"));
}

TEST_CASE("gpu-fast: convolutions, with padding beside infinities", "[gpu][gpu-fast]") {
  for (const std::string_view type : {"f32", "bf16"}) {
    for (const std::string_view window :
         {"size=3x3 pad=1_1x1_1", "size=3x3", "size=2x3 stride=2x1 lhs_dilate=2x2"}) {
      const Program probe = ProgramOf(fmt::format(R"(HloModule m
ENTRY e {{
  x = {0}[2,7,8,5] parameter(0)
  k = {0}[{1}] parameter(1)
  ROOT r = {0}[{2}] convolution(x, k), window={{{3}}}, dim_labels=b01f_01io->b01f
}}
)",
                                                  type, window.starts_with("size=2") ? "2,3,5,6" : "3,3,5,6",
                                                  window.starts_with("size=3x3 pad") ? "2,7,8,6"
                                                  : window.starts_with("size=3")     ? "2,5,6,6"
                                                                                     : "2,6,13,6",
                                                  window));
      const std::string plan = CheckBounded(ModuleToText(probe.module()));
      CHECK_THAT(plan, Catch::Contains("TF32 tensor cores"));
    }
  }
}

TEST_CASE("gpu-fast: functions by approximate instructions, each within its own bound", "[gpu][gpu-fast]") {
  for (const std::string_view type : {"f32", "f16", "bf16"}) {
    for (const std::string_view op : {"exponential", "log", "logistic", "tanh", "rsqrt", "sine", "cosine",
                                      "exponential-minus-one", "log-plus-one", "sinh"}) {
      const std::string text = fmt::format(
          "HloModule m\nENTRY e {{\n  x = {0}[2000] parameter(0)\n  ROOT r = {0}[2000] {1}(x)\n}}\n", type,
          op);
      const std::string plan = CheckBounded(text, 6);
      INFO(plan);
      const bool is_exact = type != "f32" && (op.find("-one") != op.npos || op == "sinh");
      CHECK((plan.find("within") == plan.npos) == is_exact);
    }
  }
}

TEST_CASE("gpu-fast: fusions with approximate members, also below a reduce", "[gpu][gpu-fast]") {
  const std::string plan = CheckBounded(R"(HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
most {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] maximum(a, b)
}
ENTRY softmax {
  x = f32[19,130] parameter(0)
  w = f32[] constant(-inf)
  m = f32[19] reduce(x, w), dimensions={1}, to_apply=most
  n = f32[19,130] broadcast(m), dimensions={0}
  d = f32[19,130] subtract(x, n)
  e = f32[19,130] exponential(d)
  z = f32[] constant(0)
  s = f32[19] reduce(e, z), dimensions={1}, to_apply=add
  t = f32[19,130] broadcast(s), dimensions={0}
  ROOT r = f32[19,130] divide(e, t)
}
)");
  CHECK_THAT(
      plan,
      Catch::Contains(
          "exact sums, generated PTX]  [exponential within 2^-21.2 of the result + 2^-149, rounded once]"));
  CHECK_THAT(plan, Catch::Contains("gpu-fast   %r"));
  // A scalar that is broadcast, and a member whose element is made once for many.
  CheckBounded(R"(HloModule m
ENTRY e {
  x = f32[] parameter(0)
  y = f32[7,50] parameter(1)
  e = f32[] exponential(x)
  b = f32[7,50] broadcast(e), dimensions={}
  t = f32[7,50] tanh(y)
  p = f32[7,50] multiply(b, t)
  ROOT r = f32[7,50] logistic(p)
}
)");
}

TEST_CASE("gpu-fast: a fusion that may leave elements to the host has no approximations", "[gpu][gpu-fast]") {
  const std::string plan = CheckBounded(R"(HloModule m
ENTRY e {
  x = f32[500] parameter(0)
  e = f32[500] exponential(x)
  ROOT r = f32[500] power(e, x)
}
)");
  CHECK_THAT(plan, Catch::Contains("fused: %e") && !Catch::Contains("within"));
  const std::string accurate = CheckBounded(R"(HloModule m
ENTRY e {
  x = f32[500] parameter(0)
  ROOT r = f32[500] exponential(x), result_accuracy={mode=highest}
}
)");
  CHECK_THAT(accurate, !Catch::Contains("within"));
}

namespace {

// What a step gives, with another promise.
class Claiming final : public Kernel {
 public:
  Claiming(std::shared_ptr<const Kernel> kernel, const Accuracy& accuracy, const Accuracy* of_members)
      : kernel_(std::move(kernel)), accuracy_(accuracy), of_members_(of_members) {}
  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    return kernel_->Run(context, operands);
  }
  const Accuracy& accuracy() const override { return accuracy_; }
  bool is_on_device() const override { return true; }
  Approximation ApproximationOf(const Instruction& member) const override {
    Approximation right = kernel_->ApproximationOf(member);
    if (right.run != nullptr && of_members_ != nullptr) right.accuracy = of_members_;
    return right;
  }

 private:
  const std::shared_ptr<const Kernel> kernel_;
  const Accuracy& accuracy_;
  const Accuracy* const of_members_;
};

int CodeWith(const std::string& text, const Accuracy& accuracy, const Accuracy* of_members) {
  const Program program = ProgramOf(text);
  Plan plan = PlanOf(program, EmulatedFast());
  Step& step = plan.computations.back().steps.back();
  REQUIRE(step.kernel != nullptr);
  step.kernel = std::make_shared<Claiming>(step.kernel, accuracy, of_members);
  const absl::StatusOr<std::vector<Literal>> arguments = RandomInputs(program.verified(), 1);
  REQUIRE(arguments.ok());
  return ExitCodeOf(Executor(plan, {.crosscheck = Crosscheck::kFull}).Run(*arguments).status());
}

}  // namespace

TEST_CASE("gpu-fast: the cross-check finds a bound that is too small", "[gpu][gpu-fast][faults]") {
  const std::string dot = DotProgram("f32", "f32", "f32");
  const TensorCoreSums own({.factor_bits = 11, .terms_of_group = 8}), uncut({.terms_of_group = 8});
  CHECK(CodeWith(dot, own, nullptr) == 0);
  CHECK(CodeWith(dot, uncut, nullptr) == 1);
  CHECK(CodeWith(dot, BitExact(), nullptr) == 1);
  const std::string tanh =
      "HloModule m\nENTRY e {\n  x = f32[2000] parameter(0)\n  ROOT r = f32[2000] tanh(x)\n}\n";
  const WithinError good(0x1p-11, 0x1p-149), bad(0x1p-12, 0x1p-149);
  CHECK(CodeWith(tanh, ByMembers(), &good) == 0);
  CHECK(CodeWith(tanh, ByMembers(), &bad) == 1);
}

TEST_CASE("gpu-fast: generated programs are within their bounds", "[gpu][gpu-fast][generated]") {
  int bounded = 0, evaluated = 0;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    fuzz::Choices choices(seed);
    fuzz::GeneratedProgram generated =
        fuzz::GenerateProgram(choices, {.instructions = 4 + static_cast<int>(seed % 20)});
    const absl::StatusOr<Program> program = Program::OfModule(std::move(generated.module));
    REQUIRE(program.ok());
    const auto plan = program->PlanFor(EmulatedFast());
    REQUIRE(plan.ok());
    for (const ComputationPlan& computation : (*plan)->computations) {
      for (const Step& step : computation.steps)
        bounded += step.kernel != nullptr && &step.kernel->accuracy() != &BitExact();
    }
    const absl::StatusOr<Literal> found =
        program->Run(generated.arguments, {.crosscheck = Crosscheck::kFull}, EmulatedFast());
    INFO("seed " << seed << "\n" << ModuleToText(program->module()) << MessageOf(found.status()));
    CHECK((found.ok() || ExitCodeOf(found.status()) != 1));
    evaluated += found.ok();
  }
  WARN(evaluated << " programs with results, " << bounded << " steps within bounds");
  CHECK(evaluated > 100);
  CHECK(bounded > 15);
}

// assay_gpu_tests "[fast-goldens]"
TEST_CASE("gpu-fast: no step of the goldens is beyond its bound", "[.fast-goldens]") {
  int count = 0, equal = 0;
  for (const std::string& path : FindGoldens({"golden"}).files) {
    // Loops that wait for a number to be exact may not end.
    const GoldenResult result = CheckGolden(
        path,
        {.engines = EmulatedFast(), .crosscheck = Crosscheck::kFull, .limits = {.timeout_seconds = 60}});
    ++count;
    equal += result.passed;
    INFO(path << ": " << result.report);
    CHECK(result.report.find("cross-check:") == std::string::npos);
  }
  WARN(count << " goldens, " << equal << " with their own values");
  CHECK(count > 3000);
}

}  // namespace assay::gpu
