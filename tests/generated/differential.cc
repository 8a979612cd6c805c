#include "tests/generated/differential.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/guard_pages.h"
#include "base/sha256.h"
#include "engines/approximate/bf16_tiles.h"
#include "engines/approximate/functions_engine.h"
#include "engines/approximate/rounded_sums.h"
#include "engines/jit/jit_engine.h"
#include "engines/jit/scalar_loop.h"
#include "engines/native/native_engine.h"
#include "engines/onednn/onednn_engine.h"
#include "fmt/format.h"
#include "hlo/text/printer.h"
#include "literal/compare.h"
#include "run/inputs/program_io.h"
#include "run/inputs/random_inputs.h"
#include "run/program.h"

namespace assay::testing {
namespace {

std::span<const Engine* const> EnginesFor(Isa isa, bool fast) {
  struct Engines {
    std::array<const Engine*, 8> fast;
    std::array<const Engine*, 3> exact;
  };
  static const std::array<Engines, 3> engines = [] {
    std::array<Engines, 3> by_isa;
    for (Isa i : {Isa::kBaseline, Isa::kAvx2, Isa::kAvx512}) {
      by_isa[static_cast<size_t>(i)] = {
          .fast = {&approximate::EagerApproximateJitEngine(i), &approximate::EagerBf16TilesEngine(i),
                   &onednn::EagerOnednnEngine(MachineIsa()), &approximate::EagerRoundedSumsEngine(i),
                   &approximate::EagerTilesEngine(i), &approximate::EagerFunctionsEngine(i),
                   &jit::LoopEngine(i), &native::NativeEngine(i)},
          .exact = {&jit::EagerJitEngine(i), &jit::LoopEngine(i), &native::NativeEngine(i)}};
    }
    return by_isa;
  }();
  const Engines& of_isa = engines[static_cast<size_t>(isa)];
  if (fast) return of_isa.fast;
  return of_isa.exact;
}

std::string MessageOf(const absl::Status& status) {
  return std::string(status.message().data(), status.message().size());
}

constexpr size_t kPage = 4096;

// The array in memory that ends right before a page that can't be touched or, with `front`,
// starts right behind one.
Literal Guarded(const Literal& array, bool front) {
  const size_t bytes = array.bytes().size(), room = (bytes + kPage - 1) / kPage * kPage + 2 * kPage;
  auto* const pages = static_cast<std::byte*>(
      mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSAY_CHECK(pages != MAP_FAILED);
  std::byte* const data = front ? pages + kPage : pages + room - kPage - bytes;
  std::copy(array.bytes().begin(), array.bytes().end(), data);
  ASSAY_CHECK(mprotect(pages, kPage, PROT_NONE) == 0);
  ASSAY_CHECK(mprotect(pages + room - kPage, kPage, PROT_NONE) == 0);
  return Literal::Borrow(array.shared_shape(), {data, bytes},
                         std::shared_ptr<void>(pages, [room](void* p) { munmap(p, room); }));
}

std::vector<Literal> Guarded(const std::vector<Literal>& arrays, bool front) {
  std::vector<Literal> guarded;
  for (const Literal& array : arrays) guarded.push_back(Guarded(array, front));
  return guarded;
}

struct Outcome {
  absl::StatusOr<Literal> result;
  NamedLiterals sent;  // results as the host sees them, and what it was sent
  int64_t steps;
};

Outcome RunPlan(const Plan& plan, const std::vector<Literal>& arguments, int jobs, Crosscheck crosscheck,
                ArrayGuard guard = ArrayGuard::kNone) {
  const GuardedArrays guarded(guard);
  RunOptions options;
  options.jobs = jobs;
  options.crosscheck = crosscheck;
  options.limits.max_steps = 1000000;
  Executor executor(plan, options);
  executor.process().when_empty = RandomStream(1);
  absl::StatusOr<Literal> result = executor.Run(arguments);
  NamedLiterals sent;
  if (result.ok()) sent = AllResults(*result, executor.process());
  return {std::move(result), std::move(sent), executor.statistics().steps};
}

// Empty where both are the same error or the same bits.
std::string Compare(const Outcome& wanted, const Outcome& found) {
  if (wanted.result.status().code() != found.result.status().code())
    return fmt::format("reference: {} {}, engine: {} {}", static_cast<int>(wanted.result.status().code()),
                       MessageOf(wanted.result.status()), static_cast<int>(found.result.status().code()),
                       MessageOf(found.result.status()));
  if (!wanted.result.ok()) return "";
  if (!Literal::BitwiseEqual(*wanted.result, *found.result))
    return CompareLiterals(*wanted.result, *found.result, {.bitwise = true}).Report();
  if (wanted.sent.size() != found.sent.size())
    return fmt::format("{} values sent, wanted {}", found.sent.size(), wanted.sent.size());
  for (size_t i = 0; i < wanted.sent.size(); ++i) {
    if (wanted.sent[i].first != found.sent[i].first ||
        !Literal::BitwiseEqual(wanted.sent[i].second, found.sent[i].second))
      return fmt::format("{} was sent, or is another than {}", found.sent[i].first, wanted.sent[i].first);
  }
  return "";
}

void AppendArray(std::string& bytes, const Literal& value) {
  for (int64_t i = 0; i < value.tuple_size(); ++i) AppendArray(bytes, value.element(i));
  bytes += value.shape().ToString();
  if (!value.shape().IsArray()) return;
  for (int64_t d = 0; d < value.shape().rank(); ++d) bytes += fmt::format(",{}", value.dynamic_size(d));
  bytes.append(reinterpret_cast<const char*>(value.bytes().data()), value.bytes().size());
}

// Of an error its code: an engine that fuses steps may name another instruction.
std::string DigestOf(const Outcome& outcome) {
  std::string bytes;
  if (outcome.result.ok()) {
    AppendArray(bytes, *outcome.result);
  } else {
    bytes = fmt::format("error {}", static_cast<int>(outcome.result.status().code()));
  }
  for (const auto& [name, value] : outcome.sent) {
    bytes += name;
    AppendArray(bytes, value);
  }
  return Sha256Hex(bytes);
}

void Count(const Plan& plan, Difference& difference) {
  for (const ComputationPlan& computation : plan.computations) {
    for (const Step& step : computation.steps) {
      difference.kernels += step.kernel != nullptr;
      difference.generated += step.engine != nullptr && step.engine->name() == "jit";
      difference.bounded += step.kernel != nullptr && &step.kernel->accuracy() != &BitExact();
    }
  }
}

}  // namespace

fuzz::GeneratedProgram ProgramOfSeed(uint64_t seed) {
  fuzz::Choices choices(seed);
  if (seed % 25 == 0)
    return fuzz::GenerateProgram(choices, {.instructions = 8, .max_elements = 60000, .cheap = true});
  return fuzz::GenerateProgram(choices, {.instructions = 4 + static_cast<int>(seed % 20)});
}

std::string DigestByExact(fuzz::GeneratedProgram generated, Isa isa) {
  const absl::StatusOr<Program> program = Program::OfModule(std::move(generated.module));
  if (!program.ok()) return MessageOf(program.status());
  const auto plan = program->PlanFor(EnginesFor(isa, false));
  if (!plan.ok()) return MessageOf(plan.status());
  return DigestOf(RunPlan(**plan, generated.arguments, 2, Crosscheck::kOff));
}

Difference CompareEngines(fuzz::GeneratedProgram generated, bool with_fast) {
  Difference difference;
  const absl::StatusOr<Program> program = Program::OfModule(std::move(generated.module));
  if (!program.ok()) return {"the program is invalid: " + MessageOf(program.status())};
  const auto failed = [&](const std::string& what, const std::string& text) {
    difference.text = fmt::format("{}: {}\n{}", what, text, ModuleToText(program->module()));
    return difference;
  };
  const auto reference = program->PlanFor(EnginesOf(EngineChoice::kReference));
  if (!reference.ok()) return failed("reference", MessageOf(reference.status()));
  const Outcome wanted = RunPlan(**reference, generated.arguments, 1, Crosscheck::kOff);
  difference.evaluated = wanted.result.ok();
  difference.digest = DigestOf(wanted);
  const std::vector<Literal> at_end = Guarded(generated.arguments, false),
                             at_start = Guarded(generated.arguments, true);
  for (Isa isa : {Isa::kAvx2, Isa::kAvx512}) {
    if (isa > MachineIsa()) continue;
    const auto plan = program->PlanFor(EnginesFor(isa, false));
    if (!plan.ok()) return failed("exact", MessageOf(plan.status()));
    Count(**plan, difference);
    std::optional<int64_t> steps;
    for (int jobs : {1, 2, 7}) {
      const ArrayGuard guard = jobs == 1   ? ArrayGuard::kBehind
                               : jobs == 2 ? ArrayGuard::kInFront
                                           : ArrayGuard::kNone;
      const Outcome found = RunPlan(**plan, jobs == 1 ? at_end : at_start, jobs, Crosscheck::kOff, guard);
      std::string text = Compare(wanted, found);
      if (text.empty() && steps.value_or(found.steps) != found.steps)
        text = fmt::format("{} steps, {} with fewer jobs", found.steps, *steps);
      steps = found.steps;
      if (!text.empty())
        return failed(fmt::format("instruction set {}, {} jobs", static_cast<int>(isa), jobs), text);
    }
  }
  if (!with_fast) return difference;
  const auto fast = program->PlanFor(EnginesFor(MachineIsa(), true));
  if (!fast.ok()) return failed("fast", MessageOf(fast.status()));
  Count(**fast, difference);
  const Outcome found = RunPlan(**fast, at_end, 2, Crosscheck::kFull, ArrayGuard::kBehind);
  // What follows a sum within a bound may differ, and may then fail where the reference does not;
  // but no comparison may.
  if (ExitCodeOf(found.result.status()) == 1) return failed("fast", MessageOf(found.result.status()));
  return difference;
}

}  // namespace assay::testing
