// Calls written out: what stands where, by hand.
#include "evaluator/inlining.h"

#include <catch2/catch.hpp>
#include <string>

#include "fmt/format.h"
#include "hlo/text/parser.h"

namespace assay {
namespace {

const char* const kCalls = R"(HloModule m
inner {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  dead = f32[] tanh(a)
  ROOT t = (f32[], f32[]) tuple(b, a)
}
outer {
  x = f32[] parameter(0)
  n = f32[] negate(x)
  p = (f32[], f32[]) call(x, n), to_apply=inner
  q = f32[] get-tuple-element(p), index=0
  ROOT r = f32[] sine(q)
}
ENTRY e {
  u = f32[] parameter(0)
  v = f32[] call(u), to_apply=outer
  w = f32[] call(v), to_apply=outer
  ROOT s = f32[] subtract(v, w)
}
)";

// Writes instructions as text, numbered in the order in which they are emitted.
class Writer {
 public:
  explicit Writer(const Module& module) : module_(module) {}

  absl::StatusOr<InlinedValue> Run(ComputationId id, std::span<const InlinedValue> arguments,
                                   int most_depth = 64) {
    const auto live = [&](ComputationId c) -> absl::StatusOr<std::vector<bool>> {
      const Computation& computation = module_.computation(c);
      std::vector<bool> marked(computation.instructions.size());
      marked[computation.root] = true;
      MarkOperands(computation, marked);
      return marked;
    };
    const auto callee = [&](ComputationId c, int32_t i,
                            int depth) -> absl::StatusOr<std::optional<ComputationId>> {
      const Instruction& instruction = module_.computation(c).instructions[i];
      if (instruction.opcode != Opcode::kCall || depth >= most_depth) return std::nullopt;
      return CalledComputations(instruction)[0];
    };
    const auto emit = [&](ComputationId c, int32_t i,
                          std::span<const InlinedValue> values) -> absl::StatusOr<InlinedValue> {
      const Instruction& instruction = module_.computation(c).instructions[i];
      if (instruction.opcode == Opcode::kTuple) return TupleOf(instruction, values);
      if (instruction.opcode == Opcode::kGetTupleElement) return ElementOf(instruction, values);
      if (instruction.opcode == Opcode::kSin && refuses_sine) return NotSupported({}, "no sine");
      text += Name(instruction.opcode);
      for (int32_t operand : instruction.operands) text += fmt::format(" {}", values[operand].id);
      text += "\n";
      return InlinedValue{.id = next_++};
    };
    ASSAY_ASSIGN_OR_RETURN(std::vector<InlinedValue> values,
                           InlineInto(module_, id, arguments, {live, callee, emit}));
    return values[module_.computation(id).root];
  }

  std::string text;
  bool refuses_sine = false;

 private:
  const Module& module_;
  int32_t next_ = 0;
};

Module ParsedModule(const std::string& text) {
  absl::StatusOr<Module> module = ParseHloText(text);
  INFO(module.status());
  REQUIRE(module.ok());
  return *std::move(module);
}

}  // namespace

TEST_CASE("inlining: bodies in place of calls, parameters emitted where nobody gives arguments",
          "[inlining]") {
  const Module module = ParsedModule(kCalls);
  Writer writer(module);
  const absl::StatusOr<InlinedValue> root = writer.Run(module.entry, {});
  REQUIRE(root.ok());
  // u = 0, and each call of outer is a negate and the sine of it: inner swaps its operands,
  // of which the second is taken.
  CHECK(writer.text == "parameter\nnegate 0\nsine 1\nnegate 2\nsine 3\nsubtract 2 4\n");
  CHECK(root->id == 5);
}

TEST_CASE("inlining: tuples are taken apart, arguments go through", "[inlining]") {
  const Module module = ParsedModule(kCalls);
  Writer writer(module);
  const InlinedValue arguments[] = {{.id = -7}, {.id = 12}};
  const absl::StatusOr<InlinedValue> root = writer.Run(ComputationId{0}, arguments);
  REQUIRE(root.ok());
  CHECK(writer.text.empty());  // nobody reads the tanh
  REQUIRE(root->elements != nullptr);
  REQUIRE(root->elements->size() == 2);
  CHECK((*root->elements)[0].id == 12);
  CHECK((*root->elements)[1].id == -7);
}

TEST_CASE("inlining: a call that the rules leave alone is emitted", "[inlining]") {
  const Module module = ParsedModule(R"(HloModule m
inner { a = f32[] parameter(0)
  ROOT b = f32[] negate(a) }
outer { a = f32[] parameter(0)
  ROOT b = f32[] call(a), to_apply=inner }
ENTRY e { u = f32[] parameter(0)
  ROOT v = f32[] call(u), to_apply=outer }
)");
  Writer writer(module);
  REQUIRE(writer.Run(module.entry, {}, /*most_depth=*/1).ok());
  CHECK(writer.text == "parameter\ncall 0\n");
}

TEST_CASE("inlining: an error ends the walk", "[inlining]") {
  const Module module = ParsedModule(kCalls);
  Writer writer(module);
  writer.refuses_sine = true;
  const absl::StatusOr<InlinedValue> root = writer.Run(module.entry, {});
  CHECK(root.status().message() == "no sine");
  CHECK(writer.text == "parameter\nnegate 0\n");
}

TEST_CASE("inlining: what must have run before, by operands and control", "[inlining]") {
  const Module module = ParsedModule(R"(HloModule m
ENTRY e { a = f32[] parameter(0)
  b = f32[] negate(a)
  c = f32[] sine(a)
  d = f32[] tanh(c)
  ROOT r = f32[] cosine(a), control-predecessors={b} }
)");
  std::vector<bool> live = {false, false, false, false, true};
  MarkOperands(module.entry_computation(), live);
  CHECK(live == std::vector<bool>{true, true, false, false, true});
}

}  // namespace assay
