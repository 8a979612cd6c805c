// Times the native scalar functions through the exact engine: nanoseconds an element of one whole instruction on one
// thread (best CPU time of several runs, storage taken up again), and the shares of elements that went to tier
// 2 and to the reference. Usage: functions_bench [PART OF A NAME [TYPE...]]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "evaluator/executor.h"
#include "evaluator/native/scalar/functions.h"
#include "fmt/format.h"
#include "hlo/text/parser.h"
#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay {
namespace {

constexpr int64_t kElements = 1 << 20;
constexpr int kRuns = 5;

// Uniform in [-10, 10], folded into the function's domain.
double Argument(const native::FunctionRow& row, std::mt19937_64& random) {
  double x = std::uniform_real_distribution<double>(-10, 10)(random);
  if (row.domain_high == 1) return x / 10.001;
  if (row.domain_low >= 0 || row.opcode == Opcode::kPower) x = std::fabs(x);
  if (row.domain_low == -1) x = std::fabs(x) - 1;
  return x + (row.domain_low == 1 ? 1 : 0);
}

Literal Arguments(const Shape& shape, const native::FunctionRow& row, uint64_t seed) {
  std::mt19937_64 random(seed);
  Literal literal = *Literal::Make(shape);
  const ElementType type = shape.element_type();
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    const double x = RoundToFormat(Argument(row, random), *Info(type).format);
    StoreElement(type, {.kind = ComputeKind::kReal, .r = x}, literal.MutableBytes().data() + i * Bytes(type));
  }
  return literal;
}

bool Measure(const native::FunctionRow& row, std::string_view type) {
  const bool binary = row.reference2 != nullptr;
  const std::string text = fmt::format(
      "HloModule bench\nENTRY main {{\n x = {0}[{1}] parameter(0)\n {2}ROOT z = {0}[{1}] {3}({4})\n}}\n",
      type, kElements, binary ? fmt::format("y = {}[{}] parameter(1)\n ", type, kElements) : "",
      Name(row.opcode), binary ? "x, y" : "x");
  absl::StatusOr<Module> parsed = ParseHloText(text);
  if (!parsed.ok()) return std::printf("%s\n", parsed.status().ToString().c_str()), false;
  const absl::StatusOr<VerifiedModule> module = Verify(*std::move(parsed));
  if (!module.ok()) return std::printf("%s\n", module.status().ToString().c_str()), false;
  const absl::StatusOr<Plan> plan = MakePlan(*module);
  if (!plan.ok()) return false;
  const Computation& entry = plan->module->entry_computation();
  std::vector<Literal> arguments;
  for (const int32_t parameter : entry.parameters) {
    arguments.push_back(Arguments(*entry.instructions[parameter].shape, row, arguments.size() + 1));
  }
  RunOptions options;
  options.jobs = 1;
  Executor executor(*plan, options);
  native::ThreadFunctionTiers() = {};
  double best = 1e30;
  for (int run = 0; run < kRuns; ++run) {
    const std::clock_t start = std::clock();
    const absl::StatusOr<Literal> result = executor.Run(arguments);
    if (!result.ok()) return std::printf("%s\n", result.status().ToString().c_str()), false;
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  const native::FunctionTiers& tiers = native::ThreadFunctionTiers();
  const auto share = [&](int64_t count) {
    return static_cast<double>(count) / static_cast<double>(tiers.elements);
  };
  std::printf("%-22s %-9s %8.2f ns   tier 2 %.1e   reference %.1e\n", std::string(Name(row.opcode)).c_str(),
              std::string(type).c_str(), best * 1e9 / kElements, share(tiers.second), share(tiers.reference));
  return true;
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  const std::string part = argc > 1 ? argv[1] : "";
  std::vector<std::string> types(argv + std::min(argc, 2), argv + argc);
  if (types.empty()) types = {"f32", "f64", "bf16", "f8e4m3fn"};
  bool good = true;
  for (const std::string& type : types) {
    for (const assay::native::FunctionRow& row : assay::native::Functions()) {
      if (assay::Name(row.opcode).find(part) != std::string::npos) good &= assay::Measure(row, type);
    }
  }
  return good ? 0 : 1;
}
