// Campaigns against questions whose answers are known.
#include "find/fuzz/fuzzer.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "base/file_io.h"
#include "check/backends/command_process.h"
#include "find/fuzz/defined.h"
#include "find/fuzz/features.h"
#include "find/fuzz/journal.h"
#include "find/fuzz/meaning.h"
#include "run/program.h"

namespace assay::fuzz {
namespace {

// Says that every negation is wrong.
class NoNegate final : public InterestTest {
 public:
  absl::StatusOr<Interest> Ask(const CheckedCase& test_case) const override {
    for (const Computation& computation : test_case.module().computations) {
      for (const Instruction& instruction : computation.instructions) {
        if (instruction.opcode == Opcode::kNegate) return Interest{true, "a negation"};
      }
    }
    return Interest{false, "no negation"};
  }
  std::string Command(const std::string& program, const std::string&) const override { return program; }
};

FuzzOptions OptionsIn(const std::string& folder, int64_t programs) {
  FuzzOptions options;
  options.folder = folder;
  options.what = "is there a negation?";
  options.programs = programs;
  options.generator = {.instructions = 16, .max_elements = 60, .cheap = true, .pure = true};
  options.search.try_seconds = 10;
  options.ask.engines = EnginesOf();
  options.profile = *LoadProfile("strict");
  return options;
}

FuzzQuestions AboutNegates() {
  FuzzQuestions questions;
  questions.wrong = std::make_shared<NoNegate>();
  return questions;
}

TEST_CASE("fuzz: what is wrong is found, made smaller and kept once for each cause", "[fuzz]") {
  const TemporaryDirectory directory;
  REQUIRE(directory.ok());
  const std::string folder = directory.File("campaign");
  const absl::StatusOr<FuzzState> state = Fuzz(OptionsIn(folder, 150), AboutNegates(), {});
  REQUIRE(state.ok());
  CHECK(state->next == 150);
  CHECK(state->judged > 100);
  REQUIRE(!state->findings.empty());
  int64_t programs = 0;
  std::set<std::string> causes;
  for (const FuzzFinding& finding : state->findings) {
    CHECK(finding.kind == FindingKind::kWrong);
    CHECK(finding.cause.find("negate(") != std::string::npos);
    CHECK(causes.insert(finding.cause).second);
    programs += finding.count;
    // Each folder stands alone.
    const absl::StatusOr<std::string> text = ReadFile(folder + "/" + finding.folder + "/program.hlo");
    REQUIRE(text.ok());
    const absl::StatusOr<Program> program = Program::Load("program.hlo", *text);
    REQUIRE(program.ok());
    INFO(*text);
    CHECK(program->module().entry_computation().instructions.size() <= 4);
    CHECK(std::filesystem::exists(folder + "/" + finding.folder + "/README.md"));
  }
  CHECK(programs >= static_cast<int64_t>(state->findings.size()));
}

TEST_CASE("fuzz: two sessions are as one", "[fuzz]") {
  const TemporaryDirectory directory;
  REQUIRE(directory.ok());
  const std::string one = directory.File("one"), two = directory.File("two");
  const absl::StatusOr<FuzzState> whole = Fuzz(OptionsIn(one, 60), AboutNegates(), {});
  REQUIRE(whole.ok());
  REQUIRE(Fuzz(OptionsIn(two, 25), AboutNegates(), {}).ok());
  const absl::StatusOr<FuzzState> resumed = Fuzz(OptionsIn(two, 35), AboutNegates(), {});
  REQUIRE(resumed.ok());
  CHECK(resumed->next == 60);
  CHECK(resumed->corpus.entries() == whole->corpus.entries());
  CHECK(resumed->judged == whole->judged);
  REQUIRE(resumed->findings.size() == whole->findings.size());
  for (size_t i = 0; i < whole->findings.size(); ++i) {
    CHECK(resumed->findings[i].cause == whole->findings[i].cause);
    CHECK(resumed->findings[i].count == whole->findings[i].count);
  }
}

TEST_CASE("fuzz: a journal of another question is refused", "[fuzz]") {
  FuzzState state;
  state.seed = 7;
  state.next = 12;
  state.refused["no type s#"] = 3;
  state.findings.push_back({FindingKind::kCrash, "dot(f32)->f32", "crash-1", 4});
  state.signs["crash: signal #"] = {0};
  state.corpus.Add({1, 171}, {"dot of transpose"});
  const std::string text = WriteJournal(state, "a");
  const absl::StatusOr<FuzzState> read = ReadJournal(text, "a");
  REQUIRE(read.ok());
  CHECK(WriteJournal(*read, "a") == text);
  CHECK(read->corpus.entries() == std::vector<ChoiceBytes>{{1, 171}});
  CHECK(ExitCodeOf(ReadJournal(text, "b").status()) == 5);
  CHECK(ReadJournal(text + "finding 9 1 x y\n", "a").status().message() ==
        "line 14 of the journal is 'finding 9 1 x y', expected a line that a journal has");
  for (size_t size = 0; size < text.size(); ++size) (void)ReadJournal(text.substr(0, size), "a");
}

// Copies zeros.
class ZerosKernel final : public Kernel {
 public:
  absl::StatusOr<Literal> Run(EvalContext&, std::span<Literal> operands) const override {
    return Literal::Make(operands[0].shared_shape());
  }
};
class ZerosEngine final : public Engine {
 public:
  std::string_view name() const override { return "zeros"; }
  bool MayTake(Opcode opcode) const override { return opcode == Opcode::kCopy; }
  absl::StatusOr<std::shared_ptr<const Kernel>> Prepare(const FusionView& step) const override {
    ASSAY_ASSIGN_OR_RETURN(const StepView view, SingleInstruction(step));
    if (view.instruction.opcode != Opcode::kCopy) return NotSupported({}, "no copy");
    return std::make_shared<ZerosKernel>();
  }
};

TEST_CASE("fuzz: an engine that gives equal programs other outputs is found", "[fuzz]") {
  static const ZerosEngine engine;
  static const Engine* const engines[] = {&engine};
  const absl::StatusOr<Program> program = Program::Load("", R"(HloModule m
ENTRY main {
  a = f32[3] parameter(0)
  ROOT b = f32[3] add(a, a)
})");
  REQUIRE(program.ok());
  const std::vector<Literal> arguments = {
      Literal::FromDoubles(ElementType::kF32, DimVector{3}, std::vector<double>{1, 2, 4})};
  const absl::StatusOr<CheckedCase> made = CheckedCase::Of({program->as_written(), arguments});
  REQUIRE(made.ok());
  MeaningOptions options{.ask = {}, .profile = *LoadProfile("strict")};
  options.ask.engines = EnginesOf(EngineChoice::kReference);
  absl::StatusOr<std::optional<OtherMeaning>> found = FindOtherMeaning(*made, options);
  REQUIRE(found.ok());
  CHECK(!found->has_value());
  options.ask.engines = engines;
  found = FindOtherMeaning(*made, options);
  REQUIRE(found.ok());
  REQUIRE(found->has_value());
  CHECK((*found)->what.starts_with("'copy' of %"));
}

// Says that everything is wrong.
class AllWrong final : public InterestTest {
 public:
  absl::StatusOr<Interest> Ask(const CheckedCase&) const override { return Interest{true, "wrong"}; }
  std::string Command(const std::string& program, const std::string&) const override { return program; }
};

Interest AskDefined(const std::string& text) {
  const absl::StatusOr<Program> program = Program::Load("", text);
  REQUIRE(program.ok());
  const std::vector<Literal> arguments = {
      Literal::FromInts(ElementType::kS32, DimVector{3}, std::vector<int64_t>{1, 2, 4})};
  const absl::StatusOr<CheckedCase> made = CheckedCase::Of({program->as_written(), arguments});
  REQUIRE(made.ok());
  AskOptions options;
  options.engines = EnginesOf();
  const absl::StatusOr<Interest> interest =
      AskWhereDefined(std::make_unique<AllWrong>(), options)->Ask(*made);
  REQUIRE(interest.ok());
  return *interest;
}

TEST_CASE("fuzz: what depends on an open point is no finding", "[fuzz]") {
  const auto with_reducer = [](const std::string& reducer) {
    return AskDefined("HloModule m\nf { x = s32[] parameter(0) y = s32[] parameter(1) ROOT z = s32[] " +
                      reducer + R"( }
ENTRY main {
  a = s32[3] parameter(0)
  zero = s32[] constant(0)
  ROOT b = s32[] reduce(a, zero), dimensions={0}, to_apply=f
})");
  };
  CHECK(with_reducer("add(x, y)").is_interesting);
  const Interest open = with_reducer("subtract(x, y)");
  CHECK(!open.is_interesting);
  CHECK(open.what.starts_with("%b depends on "));
  // Of windows the text alone says whether the order shows.
  const auto with_select = [](const std::string& select) {
    return AskDefined("HloModule m\nf { x = s32[] parameter(0) y = s32[] parameter(1) ROOT z = pred[] " +
                      select + R"( }
g { x = s32[] parameter(0) y = s32[] parameter(1) ROOT z = s32[] add(x, y) }
ENTRY main {
  a = s32[3] parameter(0)
  zero = s32[] constant(0)
  one = s32[1] constant({1})
  ROOT b = s32[3] select-and-scatter(a, one, zero), window={size=3 stride=3}, select=f, scatter=g
})");
  };
  CHECK(with_select("compare(x, y), direction=GE").is_interesting);
  CHECK(!with_select("constant(true)").is_interesting);
}

TEST_CASE("fuzz: a Cholesky factor is judged where its open triangle is cut off", "[fuzz]") {
  const auto with = [](const std::string& lower, const std::string& direction, const std::string& result) {
    return AskDefined(
               "HloModule m\nENTRY main {\n  a = s32[3] parameter(0)\n"
               "  q = f32[2,2] constant({{2,1},{1,2}})\n  l = f32[2,2] cholesky(q), lower=" +
               lower +
               "\n  row = s32[2,2] iota(), iota_dimension=0\n"
               "  column = s32[2,2] iota(), iota_dimension=1\n"
               "  m = pred[2,2] compare(row, column), direction=" +
               direction + "\n  z = f32[2,2] constant({{0,0},{0,0}})\n  s = f32[2,2] select(m, l, z)\n" +
               "  other = f32[2,2] select(m, z, l)\n  ROOT r = (s32[3], f32[2,2]) tuple(a, " + result +
               ")\n}\n")
        .is_interesting;
  };
  CHECK(with("true", "GE", "s"));
  CHECK(with("false", "LE", "s"));
  CHECK(with("true", "LT", "other"));
  CHECK(!with("true", "LE", "s"));
  CHECK(!with("false", "GE", "s"));
  CHECK(!with("true", "GE", "other"));
  CHECK(!with("true", "GE", "l"));
}

TEST_CASE("fuzz: what came near to its bound is new", "[fuzz]") {
  const absl::StatusOr<Program> program = Program::Load("", R"(HloModule m
ENTRY main {
  a = f32[3] parameter(0)
  b = f32[3] tanh(a)
  c = f32[] constant(1)
  ROOT all = (f32[3], f32[], f32[3]) tuple(b, c, b)
})");
  REQUIRE(program.ok());
  const auto of = [&](std::vector<std::pair<int64_t, double>> shares) {
    return FeaturesOfShares(program->module(), shares);
  };
  CHECK(of({{0, 0.26}, {1, 0.9}, {2, 0.01}}) == std::set<std::string>{"share 2^-2 of tanh(f32)->f32"});
  CHECK(of({{0, 0}, {2, 1}}) == std::set<std::string>{"share 2^0 of tanh(f32)->f32"});
  Corpus corpus;
  CHECK(corpus.Add({1, 2}, {"tanh(f32)->f32"}) == 1);
  CHECK(corpus.Add({1, 2}, of({{0, 0.26}})) == 1);
  CHECK(corpus.Add({1, 2}, of({{0, 0.26}})) == 0);
  CHECK(corpus.entries() == std::vector<ChoiceBytes>{{1, 2}});  // once
}

TEST_CASE("fuzz: crashes that look the same are told apart by their operations", "[fuzz]") {
  const absl::StatusOr<Program> program = Program::Load("", R"(HloModule m
f { x = f32[2] parameter(0) ROOT y = f32[2] negate(x) }
ENTRY main {
  a = f32[2] parameter(0)
  b = f32[2] reverse(a), dimensions={0}
  ROOT c = f32[2] call(b), to_apply=f
})");
  REQUIRE(program.ok());
  const auto has = [&](const char* cause) { return HasOperationsOf(program->as_written(), cause); };
  CHECK(has("reverse(c64)->c64"));
  CHECK(has("in a computation negate(f32)->f32; call(f32)->f32"));
  CHECK(!has("negate(f32)->f32"));
  CHECK(!has("in a computation negate(f32)->f32; fusion(f32)->f32"));
}

TEST_CASE("fuzz: messages are compared without numbers and names", "[fuzz]") {
  CHECK(Skeleton("shape 'f32[2,3]' of %x.12: 17 bytes\nmore") == "shape _ of %x.#: # bytes");
}

}  // namespace
}  // namespace assay::fuzz
