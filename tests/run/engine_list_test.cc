// What engines say that they may take (Engine::MayTake), which `assay ops` lists,
// beside what they take of the goldens.
#include "run/engine_list.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <utility>

#include "base/file_io.h"
#include "check/golden/golden.h"
#include "engines/approximate/functions_engine.h"
#include "engines/approximate/rounded_sums.h"
#include "engines/jit/jit_engine.h"
#include "engines/jit/scalar_loop.h"
#include "engines/native/native_engine.h"
#include "run/program.h"

namespace assay {
namespace {

// The ops of the steps that the engine takes, asked alone, and of the members of fusions.
void AddTaken(const Program& program, const Engine& engine, std::set<Opcode>& taken) {
  const Engine* const engines[] = {&engine};
  const absl::StatusOr<std::shared_ptr<const Plan>> plan = program.PlanFor(engines);
  if (!plan.ok()) return;
  for (size_t c = 0; c < (*plan)->computations.size(); ++c) {
    const Computation& computation = (*plan)->module->computations[c];
    for (const Step& step : (*plan)->computations[c].steps) {
      if (step.engine == nullptr) continue;
      taken.insert(computation.instructions[static_cast<size_t>(step.instruction)].opcode);
      if (step.fusion == nullptr) continue;
      for (int32_t member : step.fusion->members)
        taken.insert(computation.instructions[static_cast<size_t>(member)].opcode);
    }
  }
}

std::string NamesOf(const std::set<Opcode>& opcodes) {
  std::string text;
  for (Opcode opcode : opcodes) text += std::string(text.empty() ? "" : " ") + std::string(Name(opcode));
  return text;
}

TEST_CASE("engine list: engines take the ops that they say, in some golden, and no other", "[engines]") {
  const Isa isa = MachineIsa();
  const Engine* const engines[] = {&jit::EagerJitEngine(isa), &jit::LoopEngine(isa),
                                   &native::NativeEngine(isa), &approximate::EagerFunctionsEngine(isa),
                                   &approximate::EagerRoundedSumsEngine(isa)};
  const std::pair<std::string_view, Opcode> unseen[] = {{"jit", Opcode::kComplex},
                                                        {"jit", Opcode::kBitcast},
                                                        {"jit", Opcode::kTranspose},
                                                        {"native", Opcode::kCholesky},
                                                        {"rounded-sums", Opcode::kConvolution}};
  std::map<const Engine*, std::set<Opcode>> taken;
  for (const std::string& path : FindGoldens({ASSAY_SOURCE_DIR "/golden"}).files) {
    const absl::StatusOr<std::string> text = ReadFile(path);
    if (!text.ok()) continue;
    const absl::StatusOr<Program> program = Program::Load(path, *text);
    if (!program.ok() || program->has_free_dimensions()) continue;
    for (const Engine* engine : engines) AddTaken(*program, *engine, taken[engine]);
  }
  for (const Engine* engine : engines) {
    std::set<Opcode> said;
    for (int i = 0; i < kNumOpcodes; ++i) {
      if (engine->MayTake(static_cast<Opcode>(i))) said.insert(static_cast<Opcode>(i));
    }
    // Where no golden has such a step: it is large, or another form of it comes first.
    for (const auto& [name, opcode] : unseen) {
      if (engine->name() == name && said.erase(opcode) == 1) {
        INFO(Name(opcode) << " is taken: take it off the list");
        CHECK_FALSE(taken[engine].contains(opcode));
      }
    }
    INFO(engine->name());
    CHECK(NamesOf(taken[engine]) == NamesOf(said));
  }
}

TEST_CASE("engine list: the engines of a choice by op", "[engines]") {
  using Names = std::vector<std::string_view>;
  if (MachineIsa() == Isa::kBaseline) return;
  CHECK(EnginesFor(Opcode::kAdd, EngineChoice::kExact) == Names{"jit", "native"});
  CHECK(EnginesFor(Opcode::kGather, EngineChoice::kExact) == Names{"native"});
  CHECK(EnginesFor(Opcode::kGather, EngineChoice::kGpu) == Names{"gpu", "native"});
  CHECK(EnginesFor(Opcode::kWhile, EngineChoice::kExact) == Names{"loop"});
  CHECK(EnginesFor(Opcode::kConvolution, EngineChoice::kFast) == Names{"onednn", "rounded-sums", "native"});
  CHECK(EnginesFor(Opcode::kCustomCall, EngineChoice::kExact) == Names{"native", "custom"});
  CHECK(EnginesFor(Opcode::kRng, EngineChoice::kGpu).empty());
  CHECK(EnginesFor(Opcode::kAdd, EngineChoice::kReference).empty());
}

}  // namespace
}  // namespace assay
