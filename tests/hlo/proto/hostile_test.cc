// Bytes that are no program: every one is refused as invalid, with the place,
// and none is believed about sizes.
#include <catch2/catch.hpp>

#include "evaluator/verify.h"
#include "hlo/load/load.h"
#include "hlo/proto/import.h"
#include "tests/hlo/proto/wire_bytes.h"

namespace assay {
namespace {

using namespace wire;

const std::string kScalar = Array(kF32, {});

// What reading says; exit code 3 is checked here.
std::string Refusal(const std::string& bytes) {
  absl::StatusOr<Module> module = LoadProgram("x.pb", bytes);
  const absl::Status status = module.ok() ? Verify(*std::move(module)).status() : module.status();
  REQUIRE_FALSE(status.ok());
  CHECK(ExitCodeOf(status) == 3);
  return std::string(status.message());
}

// One instruction after a parameter with id 1.
std::string With(const std::string& instruction, int64_t root = 2) {
  return OneComputation(Line(Op(1, "p", "parameter", kScalar)) + Line(instruction), root);
}
std::string Constant(const std::string& shape, const std::string& literal) {
  return With(Op(2, "c", "constant", shape) + Bytes(8, literal));
}

TEST_CASE("hostile proto: lengths and varints", "[proto][hostile]") {
  const std::string good = With(Op(2, "n", "negate", kScalar) + Operands({1}));
  CHECK(ImportProto(good).ok());
  CHECK(Refusal("\x0a\xff\xff\xff\xff\x0f") ==
        "protocol buffer: field 1 at byte 0: length is 4294967295, but 0 bytes are left");
  CHECK(
      Refusal(good + "\x1a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01").find("length is 18446744073709551615") !=
      std::string::npos);
  CHECK(Refusal(good + std::string("\x28") + std::string(11, '\xff')).find("varint") != std::string::npos);
  CHECK(Refusal(good + "\x2b").find("wire type is 3") != std::string::npos);
  CHECK(Refusal(good + std::string(1, '\0')).find("starts no field") != std::string::npos);
  CHECK(Refusal(With(Op(2, "n", "negate", kScalar) + "\xa2\x02\xff\x01x")) ==  // operand_ids
        "computation 'e' (id 1): instruction 1: HloInstructionProto: field 36 at byte 24: length is 255, but "
        "1 bytes "
        "are left");
  CHECK(Refusal(With(Op(2, "n", "negate", kScalar) + Bytes(36, "\xff"))).find("can't be decoded") !=
        std::string::npos);
  for (size_t size = 0; size < good.size(); ++size) Refusal(good.substr(0, size));
}

TEST_CASE("hostile proto: ids and order", "[proto][hostile]") {
  CHECK(Refusal(With(Op(2, "n", "negate", kScalar) + Operands({9}))) ==
        "computation 'e' (id 1): instruction 'n' (id 2, 'negate'): operand_ids holds 9, which is not an "
        "instruction above it in its computation");
  CHECK(Refusal(With(Op(2, "n", "negate", kScalar) + Operands({2}))).find("operand_ids holds 2") !=
        std::string::npos);
  CHECK(Refusal(With(Op(1, "n", "negate", kScalar) + Operands({1}))).find("also those of instruction 'p'") !=
        std::string::npos);
  CHECK(Refusal(With(Op(-3, "n", "negate", kScalar) + Operands({1}))).find("id is negative") !=
        std::string::npos);
  CHECK(Refusal(With(Op(2, "n", "negate", kScalar) + Operands({1}), 5)) ==
        "computation 'e' (id 1): root_id 5 is that of no instruction in it");
  CHECK(Refusal(With(Op(2, "n", "call", kScalar) + Operands({1}) + Int(38, 1)))
            .find("called_computation_ids holds 1") != std::string::npos);
  CHECK(Refusal(With(Op(2, "", "negate", kScalar) + Operands({1}))).find("name is missing") !=
        std::string::npos);
  CHECK(Refusal(With(Bytes(1, "n") + Bytes(2, "negate") + Int(35, 2) + Operands({1})))
            .find("shape is missing") != std::string::npos);
  const std::string body = Bytes(1, "e") + Line(Op(1, "p", "parameter", kScalar)) + Int(6, 1);
  CHECK(
      Refusal(Bytes(3, body + Int(5, 1)) + Bytes(3, body + Int(5, 1)) + Int(6, 1)).find("is also that of") !=
      std::string::npos);
  CHECK(Refusal(Bytes(3, body + Int(5, 1)) + Int(6, 8)).find("entry_computation_id 8") != std::string::npos);
  CHECK(Refusal(Bytes(3, body + Int(5, 1) + Message(4, Bytes(2, kScalar))) + Int(6, 1)) ==
        "computation 'e' (id 1): program_shape has 0 parameters, the computation 1");
  const std::string wrong = Array(kF32, {2});
  CHECK(Refusal(Bytes(3, body + Int(5, 1) + Message(4, Bytes(1, wrong), Bytes(2, kScalar))) + Int(6, 1)) ==
        "computation 'e' (id 1): program_shape: parameter 0 is f32[2], but the instruction has f32[]");
  CHECK(Refusal(Bytes(3, body + Int(5, 1) + Message(4, Bytes(1, kScalar), Bytes(2, wrong))) + Int(6, 1)) ==
        "computation 'e' (id 1): program_shape: the result is f32[2], but the instruction has f32[]");
  CHECK(Refusal(Bytes(3, body + Int(5, 1) + Message(4, Bytes(1, kScalar))) + Int(6, 1)) ==
        "computation 'e' (id 1): program shape: the result is missing");
  CHECK(Refusal(With(Op(2, "q", "parameter", kScalar) + Int(9, 7))).find("parameter_number is 7, want 1") !=
        std::string::npos);
}

TEST_CASE("hostile proto: shapes", "[proto][hostile]") {
  const auto shape = [](const std::string& fields) { return Refusal(With(Op(2, "n", "iota", fields))); };
  CHECK(shape(Int(2, 99)).find("element_type is 99") != std::string::npos);
  CHECK(shape(Int(2, -1)).find("element_type is -1") != std::string::npos);
  CHECK(shape(Int(2, 0)).find("element_type is 0") != std::string::npos);
  CHECK(shape("").find("shape is missing") != std::string::npos);
  CHECK(shape(Array(kF32, {-4})).find("-4") != std::string::npos);
  CHECK(shape(Array(kF32, {int64_t{1} << 40, int64_t{1} << 40})).find("SHAPE-3") != std::string::npos);
  CHECK(shape(Int(2, kF32) + Bytes(3, std::string(65, '\1'))).find("65") != std::string::npos);
  CHECK(shape(Int(2, kF32) + Bytes(3, "\2") + Bytes(6, "\1\1")).find("is_dynamic_dimension") !=
        std::string::npos);
  CHECK(shape(Int(2, kF32) + Bytes(3, "\2\2") + Message(5, Bytes(1, std::string("\0\0", 2))))
            .find("LAYOUT-1") != std::string::npos);
  CHECK(shape(Int(2, kF32) + Bytes(4, kScalar)).find("tuple_shapes") != std::string::npos);
  CHECK(shape(Int(2, kTuple) + Bytes(3, "\2")).find("not an array type") != std::string::npos);
  CHECK(shape(Int(2, kTuple) + Bytes(5, "\x12\x05")).find("can't be decoded") != std::string::npos);
}

TEST_CASE("hostile proto: tuples in tuples, a hundred thousand levels", "[proto][hostile]") {
  std::string levels = kScalar;
  std::string tail;  // built from the inside, each level a prefix
  std::vector<std::string> heads;
  size_t size = levels.size();
  for (int i = 0; i < 100'000; ++i) {
    heads.push_back(Int(2, kTuple) + Varint(4 << 3 | 2) + Varint(size));
    size += heads.back().size();
  }
  std::string nested;
  for (auto head = heads.rbegin(); head != heads.rend(); ++head) nested += *head;
  CHECK(Refusal(With(Op(2, "n", "tuple", nested + kScalar))).find("nest deeper") != std::string::npos);
}

TEST_CASE("hostile proto: literals", "[proto][hostile]") {
  const auto refusal = [](const std::string& shape, const std::string& data) {
    return Refusal(Constant(shape, Bytes(1, shape) + data));
  };
  CHECK(refusal(Array(kF32, {3}), Floats(8, {1, 2})).find("f32s has 2 elements of 4 bytes, want 3") !=
        std::string::npos);
  CHECK(refusal(Array(kF32, {int64_t{1} << 40}), Floats(8, {1})).find("want 1099511627776") !=
        std::string::npos);
  CHECK(refusal(Array(21, {4}), Bytes(21, "\x21\x43")).find("s4s has 2") != std::string::npos);  // packed
  CHECK(refusal(Array(kF32, {2}), Bytes(8, "\1\2\3")).find("can't be decoded") != std::string::npos);
  CHECK(refusal(Array(kS32, {2}), Bytes(4, "\1")).find("s32s has 1 element of 4 bytes, want 2") !=
        std::string::npos);
  CHECK(refusal(Array(kS32, {2}), Bytes(4, "\1\2\3")).find("s32s has 3") != std::string::npos);
  CHECK(refusal(Array(kS32, {2}), Bytes(4, "\1\xff")).find("can't be decoded") != std::string::npos);
  CHECK(refusal(Int(2, kTuple) + Bytes(4, Array(kF32, {-1})), "").find("-1") != std::string::npos);
  CHECK(Refusal(Constant(Array(kF32, {2}), "")).find("literal: the shape is missing") != std::string::npos);
  CHECK(Refusal(Constant(Array(kF32, {2}), Bytes(1, Array(kF32, {1})) + Floats(8, {1}))) ==
        "computation 'e' (id 1): instruction 'c' (id 2, 'constant'): Constant-C1: literal is f32[1], but the "
        "constant's shape is f32[2]");
  const std::string pair = Int(2, kTuple) + Bytes(4, kScalar) + Bytes(4, kScalar);
  CHECK(refusal(pair, Message(10, Bytes(1, kScalar), Floats(8, {1}))).find("tuple_literals has 1") !=
        std::string::npos);
}

TEST_CASE("hostile proto: enumerations and counts", "[proto][hostile]") {
  const auto refusal = [](const std::string& opcode, const std::string& fields) {
    return Refusal(With(Op(2, "n", opcode, kScalar) + Operands({1}) + fields));
  };
  CHECK(refusal("nxgate", "").find("unknown opcode 'nxgate'") != std::string::npos);
  CHECK(refusal("compare", Bytes(63, "XX")).find("comparison_direction is 'XX'") != std::string::npos);
  CHECK(refusal("rng", Int(23, 9)).find("distribution is 9, want 0 to 2") != std::string::npos);
  CHECK(refusal("fft", Int(31, -1)).find("fft") != std::string::npos);
  CHECK(refusal("fft", Int(31, 4)).find("fft_type is 4") != std::string::npos);
  CHECK(refusal("rng-bit-generator", Int(70, 3)).find("rng_algorithm is 3") != std::string::npos);
  CHECK(refusal("dot", "").find("dot_dimension_numbers is missing") != std::string::npos);
  CHECK(refusal("negate", Bytes(51, Bytes(1, "\1"))).find("precision_config stands on negate") !=
        std::string::npos);
  CHECK(refusal("negate", Bytes(30, "")).find("dot_dimension_numbers stand on negate") != std::string::npos);
  CHECK(refusal("iota", Bytes(14, "\1\2")).find("dimensions has 2 entries, want 1") != std::string::npos);
  CHECK(refusal("convolution", Message(16, Bytes(6, "\5"))).find("spatial dimensions") != std::string::npos);
  CHECK(refusal("convolution", Bytes(16, "")).find("stands twice") != std::string::npos);
  CHECK(refusal("while", Int(38, 3)).find("called_computation_ids holds 3") != std::string::npos);
  CHECK(refusal("negate", Message(40, Int(1, 3), Bytes(3, "\2"))).find("sharding") != std::string::npos);
  CHECK(refusal("negate", Message(40, Int(1, 77))).find("sharding type is 77") != std::string::npos);
  CHECK(refusal("negate", Message(99, Int(2, 5))).find("payload id is 5") != std::string::npos);
  CHECK(refusal("negate", Message(91, Int(1, 7))).find("mode is 7") != std::string::npos);
  CHECK(refusal("all-gather", Message(92, Int(1, 1 << 20), Int(2, 1 << 20), Int(3, int64_t{1} << 40)))
            .find("devices") != std::string::npos);
}

}  // namespace
}  // namespace assay
