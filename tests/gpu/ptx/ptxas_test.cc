// NVIDIA's assembler takes what is generated, for the oldest and the newest architecture that is meant.
// Skipped, saying so, where there is none.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "evaluator/registry.h"
#include "gpu/ptx/reduction.h"
#include "tests/gpu/ptx/ptx_testing.h"

namespace assay::testing {
namespace {

std::string FindPtxas() {
  std::vector<std::string> folders = {"/usr/local/cuda/bin"};
  if (const char* path = std::getenv("PATH"); path != nullptr) {
    std::stringstream parts(path);
    for (std::string part; std::getline(parts, part, ':');) folders.push_back(part);
  }
  if (const char* home = std::getenv("CUDA_HOME"); home != nullptr)
    folders.push_back(std::string(home) + "/bin");
  for (const std::string& folder : folders) {
    if (std::filesystem::exists(folder + "/ptxas")) return folder + "/ptxas";
  }
  return "";
}

std::string OutputOf(const std::string& command, int& status) {
  std::string output;
  FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  char buffer[512];
  while (fgets(buffer, sizeof(buffer), pipe) != nullptr) output += buffer;
  status = pclose(pipe);
  return output;
}

// Every op of one type in one fusion, whose root is the select of all results' bits by comparison.
std::string AllOps(ElementType type) {
  std::string body = fmt::format("x = {0}[100] parameter(0)\ny = {0}[100] parameter(1)\n", Name(type));
  std::string last = "x";
  int count = 0;
  for (int i = 0; i < kNumOpcodes; ++i) {
    const auto opcode = static_cast<Opcode>(i);
    const OpDef& definition = DefinitionOf(opcode);
    if (definition.strip == nullptr || !definition.types.Has(type) || !definition.attributes.empty()) {
      const bool accurate = definition.strip != nullptr && definition.attributes.size() == 1 &&
                            definition.attributes[0].attr == Attr::kResultAccuracy;
      if (!accurate || !definition.types.Has(type)) continue;
    }
    if (opcode == Opcode::kSelect || opcode == Opcode::kConvert || opcode == Opcode::kIsFinite ||
        opcode == Opcode::kComplex || opcode == Opcode::kStochasticConvert)
      continue;
    const std::string arguments = definition.operands.max == 1   ? last
                                  : definition.operands.max == 2 ? last + ", y"
                                                                 : "x, " + last + ", y";
    const std::string one =
        fmt::format("v{0} = {1}[100] {2}({3})\n", count, Name(type), Name(opcode), arguments);
    // Only what there is PTX for.
    const Program program = ProgramOf(ProgramText(body + "ROOT " + one));
    const Plan plan = PlanOf(program, EngineChoice::kReference);
    const WholeFusion fusion(*plan.module);
    if (!gpu::MakeFusedPtx(fusion.view(), {8, 0}).ok()) continue;
    body += one;
    last = fmt::format("v{}", count++);
  }
  for (ElementType to : RealTypes()) {
    body += fmt::format("to{0} = {1}[100] convert({2})\nback{0} = {3}[100] convert(to{0})\n", count, Name(to),
                        last, Name(type));
    last = fmt::format("back{}", count++);
  }
  body += fmt::format("p = pred[100] compare(x, y), direction=LT\nROOT r = {}[100] select(p, x, {})\n",
                      Name(type), last);
  return ProgramText(body);
}

// A folder of its own for what the assembler reads and writes.
class Assembler {
 public:
  explicit Assembler(std::string ptxas)
      : ptxas_(std::move(ptxas)),
        folder_(std::filesystem::temp_directory_path() /
                fmt::format("assay_ptx_{}", std::random_device()())) {
    std::filesystem::create_directory(folder_);
  }
  ~Assembler() { std::filesystem::remove_all(folder_); }

  void Check(const std::string& text) const {
    const std::string file = (folder_ / "kernel.ptx").string();
    std::ofstream(file) << text;
    for (std::string_view architecture : {"sm_80", "sm_90a"}) {
      int status = 0;
      const std::string output = OutputOf(
          fmt::format("'{}' -v -arch={} '{}' -o '{}.cubin'", ptxas_, architecture, file, file), status);
      INFO(architecture << "\n" << output);
      CHECK(status == 0);
      CHECK(output.find("0 bytes spill stores, 0 bytes spill loads") != std::string::npos);
    }
  }

 private:
  const std::string ptxas_;
  const std::filesystem::path folder_;
};

TEST_CASE("PTX: ptxas takes every op of every type", "[gpu][ptx][ptxas][toolkit]") {
  const std::string ptxas = FindPtxas();
  if (ptxas.empty()) {
    WARN("skipped: there is no ptxas in PATH, CUDA_HOME or /usr/local/cuda");
    return;
  }
  const Assembler assembler(ptxas);
  const auto check = [&](const std::string& program_text, int at_once) {
    const Program program = ProgramOf(program_text);
    const Plan plan = PlanOf(program, EngineChoice::kReference);
    const WholeFusion fusion(*plan.module);
    const absl::StatusOr<gpu::FusedKernel> kernel = gpu::MakeFusedPtx(fusion.view(), {8, 0});
    INFO(kernel.status());
    REQUIRE(kernel.ok());
    CHECK(kernel->at_once == at_once);
    INFO(program_text);
    assembler.Check(kernel->text);
  };
  for (ElementType type : RealTypes()) check(AllOps(type), 1);
  // Several elements at a time.
  for (std::string_view type : {"s8", "f32", "f64"}) {
    check(ProgramText(
              fmt::format("x = {0}[5000] parameter(0)\ny = {0}[5000] parameter(1)\na = {0}[5000] add(x, y)\n"
                          "ROOT r = {0}[5000] multiply(a, y)\n",
                          type)),
          4);
  }
  check(ProgramText("x = f32[5000] parameter(0)\nROOT r = f32[5000] exponential(x)\n"), 4);
}

TEST_CASE("PTX: ptxas takes approximate functions", "[gpu][ptx][ptxas][toolkit]") {
  const std::string ptxas = FindPtxas();
  if (ptxas.empty()) {
    WARN("skipped: there is no ptxas in PATH, CUDA_HOME or /usr/local/cuda");
    return;
  }
  const Assembler assembler(ptxas);
  for (std::string_view type : {"f32", "f16", "bf16"}) {
    std::string body = fmt::format("v0 = {}[5000] parameter(0)\n", type);
    int count = 0;
    for (std::string_view op : {"exponential", "log", "logistic", "tanh", "rsqrt", "sine", "cosine",
                                "exponential-minus-one", "log-plus-one", "sinh"}) {
      body +=
          fmt::format("{}v{} = {}[5000] {}(v{})\n", count == 9 ? "ROOT " : "", count + 1, type, op, count);
      ++count;
    }
    const Program program = ProgramOf(ProgramText(body));
    const Plan plan = PlanOf(program, EngineChoice::kReference);
    const WholeFusion fusion(*plan.module);
    const absl::StatusOr<gpu::FusedKernel> kernel = gpu::MakeFusedPtx(fusion.view(), {8, 0}, true);
    REQUIRE(kernel.ok());
    CHECK(kernel->is_approximate);
    CHECK(!kernel->may_leave_open);
    CHECK(kernel->text.find("tanh.approx.f32") != std::string::npos);
    assembler.Check(kernel->text);
  }
}

TEST_CASE("PTX: ptxas takes reductions", "[gpu][ptx][ptxas][toolkit]") {
  const std::string ptxas = FindPtxas();
  if (ptxas.empty()) {
    WARN("skipped: there is no ptxas in PATH, CUDA_HOME or /usr/local/cuda");
    return;
  }
  const Assembler assembler(ptxas);
  const auto check = [&](std::string_view type, std::string_view op, std::string_view f, int64_t dimension,
                         gpu::ReductionOrder order) {
    const std::string text = fmt::format(
        "HloModule m\nfold {{\na = {0}[] parameter(0)\nb = {0}[] parameter(1)\nROOT c = {0}[] {1}(a, b)\n}}\n"
        "ENTRY e {{\nx = {0}[100,3000] parameter(0)\ni = {0}[] parameter(1)\nf = {0}[100,3000] {2}\n"
        "ROOT r = {0}[{3}] reduce(f, i), dimensions={{{4}}}, to_apply=fold\n}}\n",
        type, op, f, dimension == 0 ? 3000 : 100, dimension);
    const Program program = ProgramOf(text);
    const Plan plan = PlanOf(program, EngineChoice::kReference);
    const WholeFusion fusion(*plan.module);
    const FusionView view = fusion.view();
    std::optional<gpu::ReductionPlan> shared =
        gpu::ReductionPlanOf({view.module, view.computation, view.root()}, 132);
    REQUIRE(shared.has_value());
    shared->order = order;
    const absl::StatusOr<gpu::ReductionKernel> kernel = gpu::MakeReductionPtx(view, *shared);
    INFO(text << kernel.status());
    REQUIRE(kernel.ok());
    CHECK((kernel->text.find("shfl.sync") != std::string::npos) == (dimension == 1));
    assembler.Check(kernel->text);
  };
  using Order = gpu::ReductionOrder;
  for (const int64_t dimension : {0, 1}) {
    for (std::string_view type : {"f32", "f64", "bf16", "f16"})
      check(type, "add", "exponential(x)", dimension, Order::kSum);
    for (std::string_view type : {"f32", "s8", "s64"}) {
      check(type, "maximum", "negate(x)", dimension, Order::kAny);
      check(type, "maximum", "negate(x)", dimension, Order::kOwn);
    }
  }
}

}  // namespace
}  // namespace assay::testing
