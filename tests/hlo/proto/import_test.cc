// Modules, instructions, literals and snapshots from bytes written by hand after docs/spec/hlo-proto.md.
#include "hlo/proto/import.h"

#include <catch2/catch.hpp>

#include "evaluator/verify.h"
#include "hlo/load/load.h"
#include "hlo/text/printer.h"
#include "literal/literal_text.h"
#include "tests/hlo/proto/wire_bytes.h"

namespace assay {
namespace {

using namespace wire;

// The canonical text of the module's entry, from its first brace on.
std::string EntryText(const std::string& bytes) {
  const absl::StatusOr<Module> module = ImportProto(bytes);
  INFO(module.status().ToString());
  REQUIRE(module.ok());
  const std::string text = ModuleToText(*module);
  return text.substr(text.find("ENTRY"));
}

// The text of one constant with this literal.
std::string ConstantText(const std::string& shape, const std::string& data) {
  const std::string text =
      EntryText(OneComputation(Line(Op(1, "c", "constant", shape) + Message(8, Bytes(1, shape), data)), 1));
  const size_t start = text.find("constant(") + 9;
  return text.substr(start, text.find(")\n") - start);
}

TEST_CASE("proto: a module of two instructions", "[proto]") {
  const std::string shape = Array(kF32, {2});
  const std::string bytes =
      OneComputation(Line(Op(1, "p", "parameter", shape)) + Line(Op(2, "n", "negate", shape) + Operands({1})),
                     2, Message(4, Bytes(1, shape), Bytes(2, shape)));
  CHECK(EntryText(bytes) ==
        R"(ENTRY %e (p: f32[2]) -> f32[2] {
  %p = f32[2]{0} parameter(0)
  ROOT %n = f32[2]{0} negate(%p)
}

)");
}

TEST_CASE("proto: ids are compared by their low 32 bits", "[proto]") {
  const std::string shape = Array(kF32, {});
  const int64_t high = int64_t{7} << 32;
  const std::string bytes = OneComputation(
      Line(Op(high | 3, "p", "parameter", shape)) + Line(Op(4, "n", "negate", shape) + Operands({3})),
      high | 4);
  CHECK(EntryText(bytes).find("ROOT %n = f32[] negate(%p)") != std::string::npos);
}

TEST_CASE("proto: operand lists are read packed and one by one, unknown fields are skipped", "[proto]") {
  const std::string shape = Array(kF32, {});
  const std::string bytes =
      OneComputation(Line(Op(1, "p", "parameter", shape) + Bytes(4, "unknown") + Int(1234, 5)) +
                         Line(Op(2, "a", "add", shape) + Int(36, 1) + Int(36, 1)),
                     2, Bytes(24, "unknown"));
  CHECK(EntryText(bytes).find("add(%p, %p)") != std::string::npos);
}

TEST_CASE("proto: of a field that stands twice the last counts", "[proto]") {
  const std::string shape = Array(kF32, {});
  const std::string twice = Op(9, "x", "abs", Array(kS32, {3})) + Bytes(7, Bytes(2, "first")) +
                            Op(2, "n", "negate", shape) + Bytes(7, Bytes(2, "last")) + Operands({1});
  const std::string text = EntryText(OneComputation(Line(Op(1, "p", "parameter", shape)) + Line(twice), 2));
  CHECK(text.find("ROOT %n = f32[] negate(%p), metadata={op_name=\"last\"}") != std::string::npos);
}

TEST_CASE("proto: equal metadata is one object, that of nothing none", "[proto]") {
  const std::string shape = Array(kF32, {});
  const std::string named = Bytes(7, Bytes(2, "jit(f)/neg") + Int(15, 3)),
                    other = Bytes(7, Bytes(2, "jit(f)/neg") + Int(15, 4)),
                    profiled = Bytes(7, Bytes(2, "x") + Int(5, 2) + Int(4, int64_t{1} << 32 | 7));
  const std::string lines = Line(Op(1, "p", "parameter", shape) + Bytes(7, "")) +
                            Line(Op(2, "a", "negate", shape) + Operands({1}) + named) +
                            Line(Op(3, "b", "negate", shape) + Operands({2}) + other) +
                            Line(Op(4, "c", "negate", shape) + Operands({3}) + named) +
                            Line(Op(5, "d", "negate", shape) + Operands({4}) + Bytes(7, Int(4, 0))) +
                            Line(Op(6, "e", "negate", shape) + Operands({5}) + profiled);
  const absl::StatusOr<Module> module = ImportProto(OneComputation(lines, 6));
  REQUIRE(module.ok());
  const std::vector<Instruction>& all = module->entry_computation().instructions;
  CHECK(all[0].extras == nullptr);
  REQUIRE(all[1].extras != nullptr);
  CHECK(all[1].extras->metadata.op_name == "jit(f)/neg");
  CHECK(all[1].extras->metadata.stack_frame_id == 3);
  CHECK(all[2].extras->metadata.stack_frame_id == 4);
  CHECK(all[3].extras == all[1].extras);
  CHECK(all[4].extras == nullptr);
  CHECK(all[5].extras->metadata.profile_type == Ints{2});
  CHECK(all[5].extras->metadata.source_line == 7);  // int32 on the wire
}

TEST_CASE("proto: literals stand in the order of the layout", "[proto]") {
  const std::string column_major =
      Int(2, kS32) + Bytes(3, Varint(2) + Varint(2)) + Message(5, Bytes(1, Varint(0) + Varint(1)));
  const std::string data = Bytes(4, Varint(1) + Varint(3) + Varint(2) + Varint(4));
  CHECK(ConstantText(column_major, data) == "{ { 1, 2 }, { 3, 4 } }");
  CHECK(ConstantText(Array(kS32, {2, 2}), data) == "{ { 1, 3 }, { 2, 4 } }");
}

TEST_CASE("proto: literals of every kind of field", "[proto]") {
  constexpr int kS4 = 21, kU4 = 22, kBF16 = 16, kF8E4M3FN = 20, kS8 = 2, kU16 = 7, kC64 = 15, kS1 = 30;
  constexpr int kF6E3M2FN = 35;
  CHECK(ConstantText(Array(kPred, {2}), Bytes(2, std::string("\1\0", 2))) == "{1, 0}");
  CHECK(ConstantText(Array(kS32, {}), Bytes(4, Varint(static_cast<uint64_t>(-5)))) == "-5");
  // 4 bits: the low ones count, so 0x0f and 0xff are -1 alike.
  CHECK(ConstantText(Array(kS4, {3}), Bytes(21, "\x0f\xff\x07")) == "{-1, -1, 7}");
  CHECK(ConstantText(Array(kU4, {2}), Bytes(22, "\x1f\x03")) == "{15, 3}");
  CHECK(ConstantText(Array(kS1, {2}), Bytes(30, std::string("\1\0", 2))) == "{-1, 0}");
  CHECK(ConstantText(Array(kS8, {2}), Bytes(15, "\xfe\x7f")) == "{-2, 127}");
  CHECK(ConstantText(Array(kU16, {1}), Bytes(16, "\x34\x12")) == "{4660}");
  CHECK(ConstantText(Array(kBF16, {1}), Bytes(13, "\xc0\x3f")) == "{1.5}");
  CHECK(ConstantText(Array(kF8E4M3FN, {1}), Bytes(20, "\x38")) == "{1}");
  CHECK(ConstantText(Array(kF6E3M2FN, {1}), Bytes(35, "\x0c")) == "{1}");
  CHECK(ConstantText(Array(kC64, {1}), Floats(12, {1, -2})) == "{(1, -2)}");
  const std::string pair = Int(2, kTuple) + Bytes(4, Array(kF32, {})) + Bytes(4, Array(kS32, {}));
  CHECK(ConstantText(pair, Message(10, Bytes(1, Array(kF32, {})), Floats(8, {2})) +
                               Message(10, Bytes(1, Array(kS32, {})), Int(4, 3))) == "( 2, 3 )");
}

// Legal, but not as writers usually have them: what the quick readers leave to the decoder.
TEST_CASE("proto: shapes and literals in unusual pieces", "[proto]") {
  const auto parameter = [](const std::string& shape) {
    const std::string text = EntryText(OneComputation(Line(Op(1, "p", "parameter", shape)), 1));
    const size_t start = text.find("%p = ") + 5;
    return text.substr(start, text.find(" parameter") - start);
  };
  const std::string two_by_three = Bytes(3, Varint(2) + Varint(3));
  CHECK(parameter(Int(3, 2) + Int(2, kS32) + Int(3, 3) + Int(2, kF32)) ==
        "f32[2,3]{1,0}");  // the last type counts
  CHECK(parameter(Int(2, kF32) + two_by_three + Message(5, Int(1, 0), Int(16, 1)) + Message(5, Int(1, 1))) ==
        "f32[2,3]{0,1}");  // two layouts are one
  CHECK(parameter(Int(2, kF32) + two_by_three + Bytes(6, std::string("\0\1", 2))) == "f32[2,<=3]{1,0}");
  CHECK(parameter(Int(2, kF32) + two_by_three + Bytes(6, std::string(2, '\0'))) == "f32[2,3]{1,0}");
  CHECK(parameter(Int(2, kF32) + two_by_three +
                  Message(5, Bytes(1, "\1" + std::string(1, '\0')), Int(8, 5))) == "f32[2,3]{1,0:S(5)}");
  const std::string pair = Int(2, kTuple) + Bytes(4, Array(kF32, {2})) + Bytes(4, Array(kS32, {}));
  CHECK(parameter(Int(2, kTuple) + Bytes(4, pair) + Bytes(4, pair)) ==
        "((f32[2]{0}, s32[]), (f32[2]{0}, s32[]))");

  constexpr int kS64 = 5, kU64 = 9, kF64 = 12;
  const auto constant = [](const std::string& shape, const std::string& literal) {
    const std::string text =
        EntryText(OneComputation(Line(Op(1, "c", "constant", shape) + Bytes(8, literal)), 1));
    const size_t start = text.find("constant(") + 9;
    return text.substr(start, text.find(")\n") - start);
  };
  const std::string three = Array(kS32, {3});
  CHECK(constant(three, Bytes(4, Varint(1) + Varint(300) + Varint(70000)) + Bytes(1, three)) ==
        "{1, 300, 70000}");
  CHECK(constant(three, Bytes(1, three) + Int(4, 1) + Bytes(4, Varint(2) + Varint(3))) == "{1, 2, 3}");
  CHECK(ConstantText(Array(kPred, {3}), Bytes(2, Varint(2) + Varint(0) + Varint(256))) == "{1, 0, 1}");
  CHECK(ConstantText(Array(kS64, {2}), Bytes(5, Varint(static_cast<uint64_t>(-7)) + Varint(7))) == "{-7, 7}");
  CHECK(ConstantText(Array(kU64, {}), Bytes(7, Varint(~uint64_t{0}))) == "18446744073709551615");
  CHECK(ConstantText(Array(kF64, {}), Bytes(9, std::string(6, '\0') + "\xf8\x3f")) == "1.5");
  CHECK(ConstantText(Array(kF32, {0}), "") == "{}");
}

TEST_CASE("proto: a compare under an old opcode", "[proto]") {
  const std::string shape = Array(kF32, {}), result = Array(kPred, {});
  const std::string bytes = OneComputation(
      Line(Op(1, "p", "parameter", shape)) + Line(Op(2, "c", "less-than", result) + Operands({1, 1})), 2);
  CHECK(EntryText(bytes).find("compare(%p, %p), direction=LT") != std::string::npos);
}

TEST_CASE("proto: epsilon is the shortest decimal that is the float", "[proto]") {
  const std::string x = Array(kF32, {2, 3}), v = Array(kF32, {3});
  const std::string float_thousandth = "\x6f\x12\x83\x3a";  // 0.001f
  const std::string bytes =
      OneComputation(Line(Op(1, "x", "parameter", x)) + Line(Op(2, "v", "parameter", v) + Int(9, 1)) +
                         Line(Op(3, "b", "batch-norm-inference", x) + Operands({1, 2, 2, 2, 2}) +
                              Varint(24 << 3 | 5) + float_thousandth + Int(25, 1)),
                     3);
  CHECK(EntryText(bytes).find("epsilon=0.001, feature_index=1") != std::string::npos);
}

// jaxlib 0.10.2 writes these fields for this text.
TEST_CASE("proto: a domain's entry is what text calls the exit", "[proto]") {
  const std::string shape = Array(kF32, {});
  const std::string bytes = OneComputation(
      Line(Op(1, "p", "parameter", shape)) +
          Line(Op(2, "d", "domain", shape) + Operands({1}) + Message(54) + Message(55, Int(1, 1), Int(4, 0))),
      2);
  CHECK(EntryText(bytes).find("domain={kind=\"sharding\", entry={maximal device=0}, exit={replicated}}") !=
        std::string::npos);
}

TEST_CASE("proto: names that stand twice are made unique", "[proto]") {
  const std::string shape = Array(kF32, {});
  const std::string text = EntryText(OneComputation(Line(Op(1, "n", "parameter", shape)) +
                                                        Line(Op(2, "n", "negate", shape) + Operands({1})) +
                                                        Line(Op(3, "n", "abs", shape) + Operands({2})),
                                                    3));
  CHECK(text.find(R"(  %n = f32[] parameter(0)
  %n.1 = f32[] negate(%n)
  ROOT %n.2 = f32[] abs(%n.1)
)") != std::string::npos);
}

// padding_type is 75, dimensions 14.
TEST_CASE("proto: fields of other operations are skipped", "[proto]") {
  const std::string shape = Array(kF32, {});
  const std::string text = EntryText(OneComputation(
      Line(Op(1, "p", "parameter", shape)) +
          Line(Op(2, "a", "add", shape) + Operands({1, 1}) + Int(75, 2) + Bytes(14, std::string(1, '\0'))),
      2));
  CHECK(text.find("ROOT %a = f32[] add(%p, %p)\n") != std::string::npos);
}

TEST_CASE("proto: a convolution with a sparsity_config is not supported", "[proto]") {
  const std::string shape = Array(kF32, {1, 1});
  const auto refusal = [&](const std::string& sparsity) {
    return ImportProto(
               OneComputation(Line(Op(1, "p", "parameter", shape)) +
                                  Line(Op(2, "c", "convolution", shape) + Operands({1, 1}) + sparsity),
                              2))
        .status();
  };
  const absl::Status refused = refusal(Message(98, Int(1, 1)));
  CHECK(ExitCodeOf(refused) == 4);
  CHECK(refused.message().find("sparsity_config of a convolution") != std::string_view::npos);
  CHECK(ExitCodeOf(refusal("")) == 3);  // its dimension numbers are missing
}

// is_dynamic_dimension is 6, the literal's dynamic_sizes are 34.
TEST_CASE("proto: a constant of a dynamic shape is that of its bounds", "[proto]") {
  const std::string bounded = Array(kF32, {3}) + Bytes(6, "\1");
  const auto bytes = [&](const std::string& literal_shape, const std::string& data) {
    return OneComputation(Line(Op(1, "c", "constant", bounded) + Message(8, Bytes(1, literal_shape), data)),
                          1);
  };
  CHECK(EntryText(bytes(Array(kF32, {3}), Floats(8, {1, 2, 3}))).find("f32[3]{0} constant({1, 2, 3})") !=
        std::string::npos);
  CHECK(ImportProto(bytes(bounded, Bytes(34, "\3") + Floats(8, {1, 2, 3}))).ok());
  const absl::Status smaller = ImportProto(bytes(bounded, Bytes(34, "\2") + Floats(8, {1, 2, 3}))).status();
  CHECK(ExitCodeOf(smaller) == 4);
  CHECK(smaller.message().find("a constant that is smaller than its bounds") != std::string_view::npos);
}

TEST_CASE("proto: a schedule gives the order", "[proto]") {
  const std::string shape = Array(kF32, {});
  const std::string instructions =
      Line(Op(1, "p", "parameter", shape)) + Line(Op(2, "a", "negate", shape) + Operands({1})) +
      Line(Op(3, "b", "abs", shape) + Operands({1})) + Line(Op(4, "t", "add", shape) + Operands({2, 3}));
  const auto scheduled = [&](std::initializer_list<int> order) {
    std::string ids;
    for (const int id : order) ids += Varint(id);
    return OneComputation(instructions, 4, Message(7, Message(1, Int(1, 1), Message(2, Bytes(1, ids)))));
  };
  const std::string text = EntryText(scheduled({1, 3, 2, 4}));
  CHECK(text.find("%b = ") < text.find("%a = "));
  CHECK(text.find("ROOT %t = f32[] add(%a, %b)") != std::string::npos);
  CHECK(ImportProto(scheduled({3, 1, 2, 4})).status().message() ==
        "computation 'e' (id 1): schedule: instruction 'b' stands before an operand of it");
  CHECK_FALSE(ImportProto(scheduled({1, 2, 4})).ok());
  CHECK_FALSE(ImportProto(scheduled({1, 2, 2, 4})).ok());
}

TEST_CASE("proto: a module, an HloProto and a snapshot are told apart by content", "[proto]") {
  const std::string shape = Array(kF32, {});
  const std::string module = OneComputation(Line(Op(1, "p", "parameter", shape)), 1);
  const std::string hlo = Bytes(1, module) + Bytes(3, "\x0a\x02\x08\x01");
  const std::string argument = Bytes(1, shape) + Floats(8, {2.5});
  const std::string snapshot = Bytes(1, hlo) + Bytes(2, argument) + Bytes(3, argument) + Bytes(4, "cpu");
  for (const std::string& bytes : {module, hlo, snapshot}) {
    CHECK(FormOfProgram("module_0001.m.before_optimizations.txt", bytes) == ProgramForm::kProto);
    CHECK(ImportProto(bytes).ok());
  }
  CHECK_FALSE(ReadSnapshot(hlo)->has_value());
  const auto read = ReadSnapshot(snapshot);
  REQUIRE(read.ok());
  REQUIRE(read->has_value());
  REQUIRE((*read)->arguments.size() == 1);
  CHECK(LiteralToText((*read)->arguments[0]) == "2.5");
  CHECK(LiteralToText(*(*read)->result) == "2.5");
  CHECK(FormOfProgram("x.pb", R"(HloModule m
ENTRY e { ROOT c = f32[] constant(1) })") == ProgramForm::kHloText);
}

TEST_CASE("proto: an HloModuleProtoWithConfig says how many replicas there are", "[proto]") {
  const std::string module = OneComputation(Line(Op(1, "p", "parameter", Array(kF32, {}))), 1);
  const absl::StatusOr<Module> read = ImportProto(Bytes(1, module) + Message(2, Int(4, 2), Int(5, 3)));
  REQUIRE(read.ok());
  CHECK(read->replica_count == 2);
  CHECK(read->num_partitions == 3);
}

}  // namespace
}  // namespace assay
