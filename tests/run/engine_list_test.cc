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

// Steps that no golden has: it is too small, or has another form of the op.
constexpr std::string_view kMorePrograms[] = {
    R"(HloModule elements_stay_in_place
ENTRY e {
  x = f32[4,8] parameter(0)
  a = f32[4,8] negate(x)
  b = f32[32] bitcast(a)
  ROOT c = f32[32] abs(b)
})",
    R"(HloModule long_rows_move
ENTRY e {
  x = f32[4,8,1024] parameter(0)
  a = f32[8,4,1024] transpose(x), dimensions={1,0,2}
  ROOT b = f32[8,4,1024] abs(a)
})",
    R"(HloModule sixty_four_products
ENTRY e {
  a = f32[8,8] parameter(0)
  ROOT l = f32[8,8] cholesky(a), lower=true
})"};

std::vector<std::string> ProgramTexts() {
  std::vector<std::string> texts(std::begin(kMorePrograms), std::end(kMorePrograms));
  for (const std::string& path : FindGoldens({ASSAY_SOURCE_DIR "/golden"}).files) {
    if (absl::StatusOr<std::string> text = ReadFile(path); text.ok()) texts.push_back(*std::move(text));
  }
  return texts;
}

// Engines of a name say the same and take steps of different sizes.
std::vector<const Engine*> ComparedEngines() {
  const Isa isa = MachineIsa();
  return {&jit::EagerJitEngine(isa),
          &jit::LoopEngine(isa),
          &native::NativeEngine(isa),
          &approximate::EagerFunctionsEngine(isa),
          &approximate::EagerRoundedSumsEngine(isa),
          &approximate::EagerTilesEngine(isa)};
}

TEST_CASE("engine list: engines take the ops that they say, in some program, and no other", "[engines]") {
  std::map<std::string_view, std::set<Opcode>> taken, said;
  for (const std::string& text : ProgramTexts()) {
    const absl::StatusOr<Program> program = Program::Load("", text);
    if (!program.ok() || program->has_free_dimensions()) continue;
    for (const Engine* engine : ComparedEngines()) AddTaken(*program, *engine, taken[engine->name()]);
  }
  for (const Engine* engine : ComparedEngines()) {
    for (int i = 0; i < kNumOpcodes; ++i) {
      if (engine->MayTake(static_cast<Opcode>(i))) said[engine->name()].insert(static_cast<Opcode>(i));
    }
  }
  for (const auto& [name, opcodes] : said) {
    INFO(name);
    CHECK(NamesOf(taken[name]) == NamesOf(opcodes));
  }
}

TEST_CASE("engine list: every engine is compared with what it says, or needs what tests lack", "[engines]") {
  // A device, matrix registers, a library, operations that a module was given.
  std::set<std::string_view> known = {"gpu", "gpu-fast", "bf16-tiles", "onednn", "custom"};
  for (const Engine* engine : ComparedEngines()) known.insert(engine->name());
  for (const EngineChoice choice :
       {EngineChoice::kExact, EngineChoice::kFast, EngineChoice::kGpu, EngineChoice::kGpuFast}) {
    for (const Engine* engine : EnginesOf(choice, MachineIsa(), /*allow_rwx=*/true)) {
      INFO(engine->name() << " is missing in ComparedEngines");
      CHECK(known.contains(engine->name()));
    }
  }
}

TEST_CASE("engine list: docs/engines.md has a row for every engine", "[engines]") {
  const absl::StatusOr<std::string> page = ReadFile(ASSAY_SOURCE_DIR "/docs/engines.md");
  REQUIRE(page.ok());
  for (const EngineChoice choice :
       {EngineChoice::kExact, EngineChoice::kFast, EngineChoice::kGpu, EngineChoice::kGpuFast}) {
    for (const Engine* engine : EnginesOf(choice, MachineIsa(), /*allow_rwx=*/true)) {
      INFO(engine->name());
      CHECK(page->find("| `" + std::string(engine->name()) + "` | `") != std::string::npos);
    }
  }
}

TEST_CASE("engine list: the engines of a choice by op", "[engines]") {
  using Names = std::vector<std::string_view>;
  if (MachineIsa() == Isa::kBaseline) return;
  CHECK(EnginesFor(Opcode::kAdd, EngineChoice::kExact) == Names{"jit", "native"});
  CHECK(EnginesFor(Opcode::kGather, EngineChoice::kExact) == Names{"native"});
  CHECK(EnginesFor(Opcode::kGather, EngineChoice::kGpu) == Names{"gpu", "native"});
  CHECK(EnginesFor(Opcode::kGather, EngineChoice::kGpuFast) == Names{"gpu-fast", "native"});
  CHECK(EnginesFor(Opcode::kWhile, EngineChoice::kExact) == Names{"loop"});
  CHECK(EnginesFor(Opcode::kConvolution, EngineChoice::kFast) == Names{"onednn", "rounded-sums", "native"});
  CHECK(EnginesFor(Opcode::kCustomCall, EngineChoice::kExact) == Names{"native", "custom"});
  CHECK(EnginesFor(Opcode::kRng, EngineChoice::kGpu).empty());
  CHECK(EnginesFor(Opcode::kAdd, EngineChoice::kReference).empty());
}

}  // namespace
}  // namespace assay
