// Fusions that the planner finds, as PTX: an engine whose kernels the interpreter runs,
// under random programs.
#include <sstream>

#include "evaluator/eval_context.h"
#include "tests/engines/jit/jit_testing.h"
#include "tests/gpu/ptx/ptx_testing.h"

namespace assay::testing {
namespace {

class EmulatedKernel final : public Kernel {
 public:
  EmulatedKernel(const FusionView& step, gpu::FusedKernel kernel)
      : module_(step.module),
        computation_(step.computation),
        members_(step.members.begin(), step.members.end()),
        operands_(step.operands.begin(), step.operands.end()),
        kernel_(std::move(kernel)) {}

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    const FusionView step{module_, computation_, members_, operands_};
    ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult());
    ASSAY_RETURN_IF_ERROR(
        context.Charge(result.shape().num_elements() * static_cast<int64_t>(members_.size())));
    if (kernel_.elements == 0) return result;
    const PtxResult made = RunPtx(step, kernel_, operands);
    std::copy(made.bytes.begin(), made.bytes.end(), result.MutableBytes().begin());
    return result;
  }

 private:
  const Module& module_;
  const Computation& computation_;
  const std::vector<int32_t> members_, operands_;
  const gpu::FusedKernel kernel_;
};

class EmulatedPtxEngine final : public Engine {
 public:
  std::string_view name() const override { return "ptx"; }
  bool fuses() const override { return true; }
  bool CanFuse(const StepView& step) const override { return gpu::WhyNoMember(step).empty(); }
  absl::StatusOr<std::shared_ptr<const Kernel>> Prepare(const FusionView& step) const override {
    ASSAY_ASSIGN_OR_RETURN(gpu::FusedKernel kernel, gpu::MakeFusedPtx(step, {9, 0}));
    ++taken;
    return std::make_shared<EmulatedKernel>(step, std::move(kernel));
  }
  mutable int taken = 0;
};

// How many steps the engine took.
int CheckPlanned(const std::string& text, Random& random) {
  INFO(text);
  const Program program = ProgramOf(text);
  const Plan reference = PlanOf(program, EngineChoice::kReference);
  const std::vector<Literal> arguments = HostileArguments(reference, random);
  const EmulatedPtxEngine engine;
  const Engine* const engines[] = {&engine};
  const Plan plan = PlanOf(program, engines);
  Executor referee(reference, {}), executor(plan, {});
  const absl::StatusOr<Literal> wanted = referee.Run(arguments), made = executor.Run(arguments);
  REQUIRE(wanted.ok());
  INFO(made.status());
  REQUIRE(made.ok());
  if (!Literal::BitwiseEqual(*wanted, *made)) {
    INFO(CompareLiterals(*wanted, *made, {.bitwise = true}).Report());
    CHECK(Literal::BitwiseEqual(*wanted, *made));
  }
  return engine.taken;
}

TEST_CASE("PTX: random programs have the reference's bits", "[gpu][ptx]") {
  Random random(31);
  int taken = 0;
  constexpr int64_t kSizes[][2] = {{1, 1},   {1, 7},   {7, 9},   {8, 8},  {13, 5},
                                   {1, 256}, {3, 100}, {3, 272}, {40, 33}};
  for (int i = 0; i < 400; ++i) {
    const auto& [rows, columns] = kSizes[random() % std::size(kSizes)];
    taken += CheckPlanned(
        ProgramMaker(random(), rows, columns, false).Make(3 + static_cast<int>(random() % 25)), random);
  }
  CHECK(taken > 1000);
}

TEST_CASE("PTX: elements are read where broadcasts, slices, transposes and reshapes have them",
          "[gpu][ptx]") {
  Random random(32);
  for (std::string_view type : {"pred", "s4", "s8", "bf16", "f8e4m3fn", "u32", "f64"}) {
    const auto check = [&](std::string_view source, std::string_view sizes, std::string_view op) {
      CHECK(CheckPtx(ProgramText(fmt::format("x = {0}[{1}] parameter(0)\nROOT r = {0}[{2}] {3}\n", type,
                                             source, sizes, op)),
                     random) == 0);
    };
    check("7", "5,7,3", "broadcast(x), dimensions={1}");
    check("5,3", "5,7,3", "broadcast(x), dimensions={0,2}");
    check("", "5,7,3", "broadcast(x), dimensions={}");
    check("11,13", "13,11", "transpose(x), dimensions={1,0}");
    check("4,5,6", "6,4,5", "transpose(x), dimensions={2,0,1}");
    check("4,1,6", "6,4,1", "transpose(x), dimensions={2,0,1}");
    check("9,10", "3,4", "slice(x), slice={[1:9:3], [2:10:2]}");
    check("9,10", "1,1", "slice(x), slice={[4:5], [7:8]}");
    check("9,10", "0,4", "slice(x), slice={[4:4], [2:10:2]}");
    check("6,10", "4,15", "reshape(x)");
    check("1", "1,1,1", "reshape(x)");
    check("6,10", "6,10", "copy(x)");
  }
}

TEST_CASE("PTX: iota of all types", "[gpu][ptx]") {
  Random random(33);
  for (ElementType type : RealTypes()) {
    if (type == ElementType::kPred) continue;
    for (int d = 0; d < 3; ++d)
      CHECK(CheckPtx(
                ProgramText(fmt::format("ROOT r = {}[3,700,2] iota(), iota_dimension={}\n", Name(type), d)),
                random) == 0);
  }
}

TEST_CASE("PTX: constants of one element are in the text; scalar preds and bounds are read once",
          "[gpu][ptx]") {
  Random random(34);
  for (ElementType type : RealTypes()) {
    const std::string value = type == ElementType::kPred ? "true" : IsSignedIntegral(type) ? "-1" : "1";
    const std::string text = ProgramText(fmt::format(
        "x = {0}[70] parameter(0)\nc = {0}[] constant({1})\nl = {0}[] parameter(1)\np = pred[] parameter(2)\n"
        "b = {0}[70] broadcast(c), dimensions={{}}\nm = {0}[70] clamp(l, x, c)\nROOT r = {0}[70] select(p, "
        "m, b)\n",
        Name(type), value));
    for (int i = 0; i < 3; ++i) CHECK(CheckPtx(text, random) == 0);
    const Program program = ProgramOf(text);
    const Plan plan = PlanOf(program, EngineChoice::kReference);
    const WholeFusion fusion(*plan.module);
    const absl::StatusOr<gpu::FusedKernel> kernel = gpu::MakeFusedPtx(fusion.view(), {8, 0});
    REQUIRE(kernel.ok());
    CHECK(kernel->is_read == std::vector<bool>{true, false, true, true});
    CHECK(kernel->reads_in_place == std::vector<bool>{true, true, false, false});
  }
}

TEST_CASE("PTX: what there is none for is said", "[gpu][ptx]") {
  const auto reason = [](std::string_view body) {
    const Program program = ProgramOf(ProgramText(body));
    const Plan plan = PlanOf(program, EngineChoice::kReference);
    const WholeFusion fusion(*plan.module);
    return std::string(gpu::MakeFusedPtx(fusion.view(), {8, 0}).status().message());
  };
  CHECK(reason("x = c64[3] parameter(0)\nROOT r = c64[3] negate(x)\n") == "element type c64");
  CHECK(reason("x = f32[3] parameter(0)\nROOT r = f32[3] reverse(x), dimensions={0}\n") ==
        "no PTX for reverse");
  CHECK(reason("x = s8[4] parameter(0)\nROOT r = s32[] bitcast-convert(x)\n").find("elements of x") !=
        std::string::npos);
}

}  // namespace
}  // namespace assay::testing
