// Portable artifacts: the example of the specification byte by byte, and files that lie.
#include <string>

#include "base/file_io.h"
#include "hlo/mlir/bytecode/reader.h"
#include "tests/hlo/mlir/same_program.h"

namespace assay {
namespace {

std::string FromHex(std::string_view hex) {
  std::string bytes;
  std::string digits;
  for (char c : hex) {
    if (c != ' ') digits += c;
  }
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

// docs/spec/stablehlo-bytecode.md section 11: main(a) = cosine(a + constant [1, -2]). The type
// tensor<2xf32> is 29 03 09 05, as the reference writes it: size 2 is the signed number 09, then type 2.
std::string Example() {
  return FromHex("4d4cef52 0d") + "StableHLO_v1.13.0" + std::string(1, '\0') +
         FromHex(
             "01 1d 05 01 05 0d 01 03 0b 03 0b 0f 13 17 1b 1f"
             "03 29 13 07 01 05 07 0b 03 0f 0b 0b 0b 0b 2f 17 0b 03 07 13 17 07"
             "02 4f 1f 05 11 03 01 23 03 1d 13 1d 15 1f 01 11 0000803f 000000c0 29 01 01 01 11 27 01"
             "29 03 09 05 11 03 01 03 01 09"
             "04 67 05 01 50 01 01 07 04 57 03 01 05 03 50 01 03 07 04 43 03 09 13 03 01 00"
             "05 42 01 05 03 01 07 06 01 03 01 05 01 03 09 46 01 07 03 01 03 05 0b 04 01 03 07"
             "06 03 01 05 01"
             "00 af 17 03 0b 05 15 15 0f 19 11 0f 0b 11") +
         std::string("builtin\0vhlo\0module\0func_v1\0constant_v1\0add_v1\0cosine_v2\0return_v1\0m\0main\0\0",
                     75) +
         FromHex("08 1d 09 05 07 01 0b 05 07 05 09 0b 03 0d 03 0f");
}

TEST_CASE("bytecode: the example of the specification", "[mlir]") {
  const std::string bytes = Example();
  REQUIRE(bytes.size() == 265);
  const absl::StatusOr<Program> program = Verified(ParseStableHloBytecode(bytes));
  INFO(program.status());
  REQUIRE(program.ok());
  CHECK(program->module().name == "m");
  const absl::StatusOr<Program> wanted = Verified(ParseHloText(R"(ENTRY e { a = f32[2] parameter(0)
 c = f32[2] constant({1, -2})
 d = f32[2] add(a, c)
ROOT r = f32[2] cosine(d) })"));
  const auto inputs = RandomInputs(wanted->verified(), 1);
  const absl::StatusOr<Literal> a = program->Run(*inputs), b = wanted->Run(*inputs);
  REQUIRE((a.ok() && b.ok()));
  CHECK(Literal::BitwiseEqual(*a, *b));
}

TEST_CASE("bytecode: one element for all of a tensor that has none", "[mlir]") {
  const absl::StatusOr<Program> program = Verified(ParseStableHloBytecode(FromHex(
      "4d4cef520d537461626c65484c4f5f76312e31372e3000011b0501050b01030b03090f13171b032f1907010f0b131313"
      "131313030b0b0b0b0b1f03071717070269050f170101011701030317010323170105111701071117010907030123031d"
      "111d131f01090000f0402905010d05110301030109045905015003010704490301050350050307043503070f03030700"
      "05420905030107060b030105010309040d03050603010501009915030b05150f19110f0b116275696c74696e0076686c"
      "6f006d6f64756c650066756e635f763100636f6e7374616e745f7631006164645f76310072657475726e5f7631002d00"
      "6d61696e00000819070501010b0f110f13150317")));
  INFO(program.status());
  REQUIRE(program.ok());
  const absl::StatusOr<Literal> sum = program->Run(*RandomInputs(program->verified(), 1));
  REQUIRE(sum.ok());
  CHECK(sum->shape().num_elements() == 0);
}

// Refused with exit 3 or 4 and a place, or read.
void CheckHarmless(const std::string& bytes) {
  const absl::StatusOr<Module> module = ParseStableHloBytecode(bytes);
  if (module.ok()) return;
  const int exit_code = ExitCodeOf(module.status());
  INFO(module.status());
  CHECK((exit_code == 3 || exit_code == 4));
}

TEST_CASE("bytecode: every truncation and every changed byte is harmless", "[mlir]") {
  const std::string example = Example();
  for (size_t size = 0; size < example.size(); ++size) CheckHarmless(example.substr(0, size));
  for (size_t at = 0; at < example.size(); ++at) {
    for (int change : {0x01, 0x02, 0x10, 0x80, 0xff}) {
      std::string changed = example;
      changed[at] = static_cast<char>(changed[at] ^ change);
      CheckHarmless(changed);
    }
  }
  const absl::StatusOr<std::string> program =
      ReadFile(ASSAY_SOURCE_DIR "/golden/programs/gru_scan/program.mlirbc");
  REQUIRE(program.ok());
  for (size_t at = 0; at < program->size(); ++at) {
    CheckHarmless(program->substr(0, at));
    std::string changed = *program;
    changed[at] = static_cast<char>(changed[at] ^ 0xff);
    CheckHarmless(changed);
  }
}

void CheckBytesRefused(const std::string& bytes, const std::string& message) {
  const absl::Status status = ParseStableHloBytecode(bytes).status();
  INFO(status);
  CHECK(ExitCodeOf(status) == 3);
  CHECK_THAT(std::string(status.message()), Catch::Contains(message));
}

TEST_CASE("bytecode: a file of the dialects themselves is refused by the dialect's name", "[mlir]") {
  std::string bytes = Example();
  bytes.replace(bytes.find("vhlo"), 4, "func");
  const absl::Status status = ParseStableHloBytecode(bytes).status();
  INFO(status);
  CHECK(ExitCodeOf(status) == 4);
  CHECK_THAT(
      std::string(status.message()),
      Catch::Contains("the properties of 'func.func_v1' in a file of StableHLO_v1.13.0, want a portable "
                      "artifact, whose dialect is vhlo"));
}

std::string Header(const std::string& version = "0d") {
  return FromHex("4d4cef52" + version) + "StableHLO_v1.0.0" + std::string(1, '\0');
}

TEST_CASE("bytecode: errors name the byte and what was found", "[mlir]") {
  CheckBytesRefused("MLIR", "byte 0: this is not MLIR bytecode");
  CheckBytesRefused(Header("1b"), "byte 4: found bytecode version 13, want 0 to 6");
  CheckBytesRefused(FromHex("4d4cef52 0d") + "StableHLO", "byte 5: the name of the producer has no end");
  CheckBytesRefused(Header(), "found no string section");
  CheckBytesRefused(Header() + FromHex("1301"), "byte 22: found a section of kind 19");
  CheckBytesRefused(Header() + FromHex("00010001"), "byte 24: found a second string section");
  CheckBytesRefused(Header() + FromHex("00 00ffffffffffffff7f"),
                    "byte 32: found a length of 9223372036854775807, only 0");
  CheckBytesRefused(Header() + FromHex("00 00ffff"), "found 3 bytes, want a number of 9");
  std::string example = Example();
  example[example.find("cosine_v2") + 8] = '9';
  const absl::Status status = ParseStableHloBytecode(example).status();
  CHECK(ExitCodeOf(status) == 4);
  CHECK_THAT(std::string(status.message()),
             Catch::Contains("'vhlo.cosine_v9', in a file of StableHLO_v1.13.0"));
}

std::string Number(int value) { return std::string(1, static_cast<char>(value << 1 | 1)); }

std::string Section(int id, const std::string& contents) {
  std::string bytes = {static_cast<char>(id), '\0'};
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(contents.size() >> (8 * i) & 0xff);
  return bytes + contents;
}

std::string Numbers(const std::vector<int>& values) {
  std::string bytes;
  for (int value : values) bytes += Number(value);
  return bytes;
}

// Sections of the names module and while_v1, and of one attribute, an unknown location.
std::string Preamble() {
  return Header() +
         Section(0, Numbers({4, 9, 7, 5, 8}) + std::string("builtin\0vhlo\0module\0while_v1\0", 29)) +
         Section(1, Numbers({2, 0, 2, 2, 0, 1, 5, 1, 1, 7})) + Section(3, Numbers({1, 0, 0, 1, 3})) +
         Section(2, Numbers({15}));
}

TEST_CASE("bytecode: nesting is bounded", "[mlir]") {
  std::string ir = Numbers({2, 0}) + '\x10' + Numbers({0, 2, 1, 0, 2});
  for (int i = 0; i < 100'000; ++i) ir += Number(1) + '\x10' + Numbers({0, 2, 1, 0, 2});
  CheckBytesRefused(Preamble() + Section(4, ir), "nesting");
}

// An empty module at the location that is attribute 0; the attributes are in the builtin dialect's encoding.
absl::StatusOr<std::unique_ptr<mlir::Tree>> ModuleAt(const std::vector<std::string>& attributes) {
  const int count = static_cast<int>(attributes.size());
  std::string data, offsets = Numbers({count, 0, 0, count});
  for (const std::string& attribute : attributes) {
    data += attribute;
    offsets += Number(static_cast<int>(attribute.size()) << 1 | 1);
  }
  static std::string bytes;  // outlives the tree
  bytes = Header() + Section(0, Numbers({3, 5, 7, 8}) + std::string("builtin\0module\0name\0", 20)) +
          Section(1, Numbers({1, 0, 1, 0, 1, 3})) + Section(3, offsets) + Section(2, data) +
          Section(4, Numbers({2, 0}) + '\x10' + Numbers({0, 2, 0}));
  return mlir::ReadMlirBytecode(bytes);
}

TEST_CASE("bytecode: of a location the outermost name and the first place are read", "[mlir]") {
  // "name"(callsite(fused[?, "name":7:9] at "name":8:1))
  const std::vector<std::string> good = {Numbers({14, 1, 2}),    Numbers({2, 2}), Numbers({10, 3, 6}),
                                         Numbers({12, 2, 4, 5}), Numbers({15}),   Numbers({11, 1, 7, 9}),
                                         Numbers({11, 1, 8, 1})};
  const auto tree = ModuleAt(good);
  INFO(tree.status());
  REQUIRE(tree.ok());
  const mlir::Location& location = *(*tree)->top->operations[0]->location;
  CHECK(location.name == "name");
  CHECK(location.source_file == "name");
  CHECK(location.line == 7);
  CHECK(location.column == 9);
  // What is not kept of it is checked too.
  const auto refused = [&](size_t changed, const std::string& to, std::string_view message) {
    std::vector<std::string> attributes = good;
    attributes[changed] = to;
    const absl::Status status = ModuleAt(attributes).status();
    INFO(status);
    CHECK(ExitCodeOf(status) == 3);
    CHECK_THAT(std::string(status.message()), Catch::EndsWith(std::string(message)));
  };
  refused(1, Number(2) + '\x02', "found 1 byte, want a number of 2");
  refused(1, Number(2), "found the end of a section, want a number");
  refused(1, Numbers({2, 3}), "found string 3, want less than 3");
  refused(1, Numbers({2, 2, 2}), "found 1 byte behind attribute 1 of code 2");
  refused(2, Numbers({10, 3, 7}), "found attribute 7, want less than 7");
  refused(2, Numbers({10, 3, 0}), "attribute 0 contains itself");
  refused(4, Numbers({15, 0}), "found 1 byte behind attribute 4 of code 15");
  refused(6, Numbers({11, 1, 8}), "found the end of a section, want a number");
  refused(6, Numbers({30}), "unsupported builtin attribute code 30");
}

TEST_CASE("bytecode: counts are bounded by the bytes that follow", "[mlir]") {
  const std::string huge = std::string(1, '\0') + '\xfe' + std::string(6, '\xff') + '\x7f';
  CheckBytesRefused(
      Header() + Section(1, "") + Section(2, "") + Section(3, "") + Section(4, "") + Section(0, huge),
      "found a count of");
  CheckBytesRefused(Preamble() + Section(4, Numbers({2, 0}) + '\x10' + Number(0) + huge), "regions in");
  CheckBytesRefused(Preamble() + Section(4, Numbers({2, 0}) + '\x10' + Numbers({0, 2, 1}) + huge),
                    "found a count of");
  CheckBytesRefused(Preamble() + Section(4, Numbers({2, 0}) + '\x10' + Numbers({0, 2, 1, 0}) + huge),
                    "operations in");
}

TEST_CASE("bytecode: types that share parts can't write out huge ones", "[mlir]") {
  // Type i is a tuple of twice type i + 1, forty deep: 2^40 leaves.
  std::string offsets = Numbers({1, 41, 0, 1, 3}), data = Number(15), sizes;
  for (int i = 0; i < 40; ++i) {
    data += Numbers({15, 2, i + 1, i + 1});
    sizes += Number(4 << 1 | 1);
  }
  data += Number(5);
  sizes += Number(1 << 1 | 1);
  // A module with a while of one result of type 0.
  const std::string ir = Numbers({2, 0}) + '\x10' + Numbers({0, 2, 1, 1, 2, 1}) + '\x02' + Numbers({0, 1, 0});
  const std::string bytes =
      Header() + Section(0, Numbers({4, 9, 7, 5, 8}) + std::string("builtin\0vhlo\0module\0while_v1\0", 29)) +
      Section(1, Numbers({2, 0, 2, 2, 0, 1, 5, 1, 1, 7})) + Section(3, offsets + Numbers({0, 41}) + sizes) +
      Section(2, data) + Section(4, ir);
  CheckBytesRefused(bytes, "too many parts");
}

}  // namespace
}  // namespace assay
