// Times the native scalar functions through the exact engine: nanoseconds an element of one whole instruction
// on one thread (best CPU time of several runs, storage taken up again), and the shares of elements that went
// to tier 2 and to the reference. Usage: functions_bench [PART OF A NAME [TYPE...]]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "engines/native/functions/complex.h"
#include "engines/native/functions/functions.h"
#include "engines/native/sums/tiers.h"
#include "fmt/format.h"
#include "literal/element_io.h"
#include "literal/float_format.h"
#include "run/program.h"

namespace assay {
namespace {

constexpr int64_t kElements = 1 << 20;
constexpr int kRuns = 5;

struct Case {
  Opcode opcode;
  int arguments;
  const native::FunctionRow* row;  // null: complex
};

// Uniform in [-10, 10], folded into the function's domain.
double Argument(const Case& c, std::mt19937_64& random) {
  double x = std::uniform_real_distribution<double>(-10, 10)(random);
  if (c.row == nullptr) return x;
  if (c.row->domain_high == 1) return x / 10.001;
  if (c.row->domain_low >= 0 || c.opcode == Opcode::kPower) x = std::fabs(x);
  if (c.row->domain_low == -1) x = std::fabs(x) - 1;
  return x + (c.row->domain_low == 1 ? 1 : 0);
}

Literal Arguments(const Shape& shape, const Case& c, uint64_t seed) {
  std::mt19937_64 random(seed);
  Literal literal = *Literal::Make(shape);
  const ElementType type = shape.element_type();
  const FloatFormat& format = *Info(type).format;
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    ScalarValue value = {.kind = KindOf(type), .r = RoundToFormat(Argument(c, random), format)};
    value.c = {value.r, RoundToFormat(Argument(c, random), format)};
    StoreElement(type, value, literal.MutableBytes().data() + i * Bytes(type));
  }
  return literal;
}

bool Measure(const Case& c, const std::string& type) {
  const bool binary = c.arguments == 2;
  const std::string result_type = c.opcode == Opcode::kAbs ? (type == "c64" ? "f32" : "f64") : type;
  const std::string text = fmt::format(
      R"(HloModule bench
ENTRY main {{
 x = {0}[{1}] parameter(0)
 {2}ROOT z = {3}[{1}] {4}({5})
}}
)",
      type, kElements,
      binary ? fmt::format(R"(y = {}[{}] parameter(1)
 )",
                           type, kElements)
             : "",
      result_type, Name(c.opcode), binary ? "x, y" : "x");
  const absl::StatusOr<Program> program = Program::Load("bench.hlo", text);
  if (!program.ok()) return std::printf("%s\n", program.status().ToString().c_str()), false;
  const absl::StatusOr<std::shared_ptr<const Plan>> plan = program->PlanFor();
  if (!plan.ok()) return false;
  const Computation& entry = program->module().entry_computation();
  std::vector<Literal> arguments;
  for (const int32_t parameter : entry.parameters) {
    arguments.push_back(Arguments(*entry.instructions[parameter].shape, c, arguments.size() + 1));
  }
  RunOptions options;
  options.jobs = 1;
  Executor executor(**plan, options);
  const native::FunctionTiers before = native::FunctionTierCounts();
  double best = 1e30;
  for (int run = 0; run < kRuns; ++run) {
    const std::clock_t start = std::clock();
    const absl::StatusOr<Literal> result = executor.Run(arguments);
    if (!result.ok()) return std::printf("%s\n", result.status().ToString().c_str()), false;
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  const native::FunctionTiers tiers = native::FunctionTierCounts();
  const auto share = [&](int64_t more) {
    return static_cast<double>(more) / static_cast<double>(tiers.elements - before.elements);
  };
  std::printf("%-22s %-9s %8.2f ns   tier 2 %.1e   reference %.1e\n", std::string(Name(c.opcode)).c_str(),
              type.c_str(), best * 1e9 / kElements, share(tiers.second - before.second),
              share(tiers.reference - before.reference));
  return true;
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  const std::string part = argc > 1 ? argv[1] : "";
  std::vector<std::string> types(argv + std::min(argc, 2), argv + argc);
  if (types.empty()) types = {"f32", "f64", "bf16", "f8e4m3fn", "c64", "c128"};
  bool good = true;
  for (const std::string& type : types) {
    std::vector<assay::Case> cases;
    if (type[0] == 'c') {
      for (const auto& row : assay::native::ComplexFunctions()) {
        cases.push_back({row.opcode, row.reference2 != nullptr ? 2 : 1, nullptr});
      }
    } else {
      for (const auto& row : assay::native::Functions()) {
        cases.push_back({row.opcode, row.reference2 != nullptr ? 2 : 1, &row});
      }
    }
    for (const assay::Case& c : cases) {
      if (assay::Name(c.opcode).find(part) != std::string::npos) good &= assay::Measure(c, type);
    }
  }
  return good ? 0 : 1;
}
