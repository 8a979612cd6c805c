// Quantized types: artifacts assembled by hand, equal spellings, what is printed of a type. What operations
// give and what they refuse is in golden/quantized.
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "base/file_io.h"
#include "fmt/format.h"
#include "hlo/mlir/bytecode/reader.h"
#include "hlo/mlir/import/importer.h"
#include "hlo/mlir/quantization.h"
#include "hlo/mlir/quantized/ops.h"
#include "hlo/mlir/text/parser.h"
#include "hlo/mlir/text/tree_text.h"
#include "tests/hlo/mlir/same_program.h"

namespace assay {
namespace {

// The primitives of docs/spec/stablehlo-bytecode.md section 1.
std::string Varint(uint64_t value) {
  size_t bytes = 1;
  while (bytes < 8 && value >> (7 * bytes) != 0) ++bytes;
  std::string text;
  if (value >> 56 != 0) {
    text.assign(1, '\0');
    bytes = 8;
  } else {
    value = value << bytes | uint64_t{1} << (bytes - 1);
  }
  for (size_t i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}
std::string Signed(int64_t value) {
  return Varint(static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63));
}
std::string Real(double value) {
  int64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return Signed(bits);
}
std::string FileSection(int id, const std::string& contents) {
  return std::string(1, static_cast<char>(id)) + Varint(contents.size()) + contents;
}
std::string List(const std::vector<std::string>& items) {
  std::string text = Varint(items.size());
  for (const std::string& item : items) text += item;
  return text;
}

// Types by their index; VHLO's codes of element types and of tensors.
constexpr uint64_t kF32 = 4, kS8 = 11, kU8 = 16, kTensor = 20, kQuantized = 24, kPerAxis = 30;
std::string TensorBytes(const std::vector<int64_t>& sizes, uint64_t element) {
  std::vector<std::string> dimensions;
  for (const int64_t size : sizes) dimensions.push_back(Signed(size));
  return Varint(kTensor) + List(dimensions) + Varint(element);
}

// main(a: types[0]) -> types[1] = operation(a), all locations unknown. Types 2, 3, ...
// are what these are made of.
std::string Artifact(const std::string& operation, std::vector<std::string> types) {
  const uint64_t function = types.size();
  types.push_back(Varint(8) + List({Varint(0)}) + List({Varint(1)}));
  const std::vector<std::string> strings = {"builtin",   "vhlo", "module", "func_v1", operation,
                                            "return_v1", "m",    "main",   ""};
  const std::vector<std::string> builtin = {Varint(15), Varint(2) + Varint(6)};  // no location, "m"
  const std::vector<std::string> vhlo = {Varint(1) + List({}), Varint(17) + Varint(function),
                                         Varint(14) + Varint(7), Varint(14) + Varint(8)};
  std::string offsets = Varint(builtin.size() + vhlo.size()) + Varint(types.size()), data;
  const auto group = [&](int dialect, const std::vector<std::string>& entries) {
    offsets += Varint(static_cast<uint64_t>(dialect)) + Varint(entries.size());
    for (const std::string& entry : entries) {
      offsets += Varint(entry.size() << 1 | 1);
      data += entry;
    }
  };
  group(0, builtin);
  group(1, vhlo);
  group(1, types);
  const auto registered = [](uint64_t string) { return Varint(string << 1 | 1); };
  const std::string dialects = Varint(2) + Varint(0 << 1) + Varint(1 << 1) + Varint(4) + Varint(0) +
                               List({registered(2)}) + Varint(1) +
                               List({registered(3), registered(4), registered(5)});
  const std::string no_location = Varint(0);
  // One block with an argument and two operations.
  const std::string body = Varint(1) + Varint(2) + Varint(2 << 1 | 1) + Varint(1) + Varint(0 << 1) +
                           std::string(1, '\0') + Varint(2) + '\x06' + no_location + Varint(1) + Varint(1) +
                           Varint(1) + Varint(0) + Varint(3) + '\x04' + no_location + Varint(1) + Varint(1);
  const auto isolated = [&](int op, int properties, const std::string& block) {
    return Varint(static_cast<uint64_t>(op)) + 'P' + no_location + Varint(static_cast<uint64_t>(properties)) +
           Varint(1 << 1 | 1) + FileSection(4, block);
  };
  const std::string ir =
      Varint(1 << 1) + isolated(0, 0, Varint(1) + Varint(0) + Varint(1 << 1) + isolated(1, 1, body));
  const auto sized = [](const std::string& bytes) { return Varint(bytes.size()) + bytes; };
  const std::string properties = List({sized(Varint(1 << 1 | 1) + Varint(0)),
                                       sized(Varint(2) + Varint(3) + Varint(2) + Varint(4) + Varint(5))});
  std::string text, lengths;
  for (const std::string& string : strings) {
    lengths.insert(0, Varint(string.size() + 1));
    text += string + std::string(1, '\0');
  }
  return "ML\xefR" + Varint(6) + "StableHLO_v1.13.0" + std::string(1, '\0') + FileSection(1, dialects) +
         FileSection(3, offsets) + FileSection(2, data) + FileSection(4, ir) + FileSection(6, Varint(0)) +
         FileSection(5, "") + FileSection(0, Varint(strings.size()) + lengths + text) +
         FileSection(8, properties);
}

std::string PerTensorBytes(uint64_t flags, uint64_t storage, double scale, int64_t zero, int64_t low,
                           int64_t high) {
  return Varint(kQuantized) + Varint(flags) + Varint(storage) + Varint(4) + Real(scale) + Signed(zero) +
         Signed(low) + Signed(high);
}

// tensor<3x QUANTIZED> to tensor<3xf32>; types 3, 4 and 5 are si8, f32 and ui8.
std::string Dequantizing(const std::string& quantized) {
  return Artifact("uniform_dequantize_v1", {TensorBytes({3}, 2), TensorBytes({3}, 4), quantized, Varint(kS8),
                                            Varint(kF32), Varint(kU8)});
}

std::string DequantizingText(const std::string& quantized) {
  return fmt::format(
      "func.func @main(%a: tensor<3x{0}>) -> tensor<3xf32> {{\n"
      "%0 = stablehlo.uniform_dequantize %a : (tensor<3x{0}>) -> tensor<3xf32>\nreturn %0 : tensor<3xf32> }}",
      quantized);
}

void CheckSameAsText(const std::string& bytecode, const std::string& quantized) {
  INFO(quantized);
  const absl::StatusOr<Program> actual = Verified(ParseStableHloBytecode(bytecode));
  INFO(actual.status());
  REQUIRE(actual.ok());
  const absl::StatusOr<Program> wanted = Verified(ParseStableHloText(DequantizingText(quantized)));
  INFO(wanted.status());
  REQUIRE(wanted.ok());
  const auto inputs = RandomInputs(wanted->verified(), 1);
  REQUIRE(inputs.ok());
  const absl::StatusOr<Literal> a = actual->Run(*inputs), b = wanted->Run(*inputs);
  INFO(a.status() << b.status());
  REQUIRE((a.ok() && b.ok()));
  CHECK(Literal::BitwiseEqual(*a, *b));
}

TEST_CASE("quantized: bytecode's types are those of text", "[mlir][QUANT-14]") {
  CheckSameAsText(Dequantizing(PerTensorBytes(1, 3, 0.5, 3, -128, 127)), "!quant.uniform<i8:f32, 0.5:3>");
  CheckSameAsText(Dequantizing(PerTensorBytes(0, 3, 0.1, 200, 0, 255)), "!quant.uniform<u8:f32, 0.1:200>");
  CheckSameAsText(Dequantizing(PerTensorBytes(0, 5, 0.1, 200, 0, 255)), "!quant.uniform<ui8:f32, 0.1:200>");
  CheckSameAsText(Dequantizing(PerTensorBytes(1, 3, 2.5, -7, -100, 100)),
                  "!quant.uniform<i8<-100:100>:f32, 2.5:-7>");
  const std::string per_axis = Varint(kPerAxis) + Varint(1) + Varint(3) + Varint(4) + Varint(0) +
                               Signed(-128) + Signed(127) + List({Real(0.5), Real(0.125), Real(3.0)}) +
                               List({Signed(1), Signed(-2), Signed(0)});
  CheckSameAsText(Dequantizing(per_axis), "!quant.uniform<i8:f32:0, {0.5:1, 0.125:-2, 3.0}>");
}

void CheckTypeRefused(const std::string& quantized, const std::string& message) {
  const absl::Status status = Verified(ParseStableHloBytecode(Dequantizing(quantized))).status();
  INFO(status);
  CHECK(ExitCodeOf(status) == 3);
  CHECK_THAT(std::string(status.message()), Catch::Contains(message));
}

TEST_CASE("quantized: bytecode's types are checked", "[mlir][QUANT-14]") {
  CheckTypeRefused(PerTensorBytes(2, 3, 0.5, 3, -128, 127), "QUANT-14: found flags 2");
  CheckTypeRefused(PerTensorBytes(3, 3, 0.5, 3, -128, 127), "QUANT-14: found flags 3");
  CheckTypeRefused(PerTensorBytes(1, 5, 0.5, 3, 0, 255), "QUANT-14: found flags 1 of storage type ui8");
  CheckTypeRefused(PerTensorBytes(1, 4, 0.5, 3, 0, 255), "QUANT-2");
  CheckTypeRefused(PerTensorBytes(1, 3, 0.5, 3, -129, 127), "QUANT-3");
  CheckTypeRefused(PerTensorBytes(0, 3, 0.5, 3, -128, 127), "QUANT-3");
  CheckTypeRefused(PerTensorBytes(1, 3, -0.5, 3, -128, 127), "QUANT-5");
  CheckTypeRefused(PerTensorBytes(1, 3, 0.5, 128, -128, 127), "QUANT-6");
  const auto per_axis = [](uint64_t axis, const std::string& zero_points) {
    return Varint(kPerAxis) + Varint(1) + Varint(3) + Varint(4) + Varint(axis) + Signed(-128) + Signed(127) +
           List({Real(0.5), Real(0.125), Real(3.0)}) + zero_points;
  };
  CheckTypeRefused(per_axis(0, List({Signed(1), Signed(1)})), "QUANT-7: found 3 scales and 2 zero points");
  CheckTypeRefused(per_axis(1, List({Signed(1), Signed(1), Signed(1)})), "QUANT-8: axis is 1");
  CheckTypeRefused(per_axis(0, ""), "byte ");
}

TEST_CASE("quantized: types are written in one way", "[mlir]") {
  const auto written = [](const std::string& text) {
    const absl::Status status = ParseStableHloText(Main("%a: tensor<2x" + text + ">", "tensor<2xf32>",
                                                        "return %a : tensor<2x" + text + ">"))
                                    .status();
    const std::string message(status.message());
    const size_t begin = message.find("!quant"), end = message.find(">, want tensor<2xf32>");
    return message.substr(begin, end - begin);
  };
  CHECK(written("!quant.uniform<i8:f32, 0.5>") == "!quant.uniform<i8:f32, 5.000000e-01>");
  CHECK(written("!quant.uniform<u4<0:15>:f16, 0.1:0>") == "!quant.uniform<ui4:f16, 1.000000e-01>");
  CHECK(written("!quant.uniform<i8<-127:127>:f32:0, { 0.1:-30, 0.5 }>") ==
        "!quant.uniform<i8<-127:127>:f32:0, {1.000000e-01:-30,5.000000e-01}>");
  CHECK(written("!quant.uniform<i32:bf16, 0.003921568859368563:7>") ==
        "!quant.uniform<i32:bf16, 3.921568859368563e-03:7>");
}

TEST_CASE("quantized: random inputs keep to the range of the type", "[mlir][random_inputs][QUANT-13]") {
  const std::string type = "tensor<500x!quant.uniform<i8<-3:5>:f32, 0.5>>";
  const std::string arguments = "%a: " + type + ", %b: tensor<500xi8>";
  const absl::StatusOr<Program> program =
      Verified(ParseStableHloText(Main(arguments, type, "return %a : " + type)));
  INFO(program.status());
  REQUIRE(program.ok());
  const auto inputs = RandomInputs(program->verified(), 1);
  REQUIRE(inputs.ok());
  int64_t low = 0, high = 0, widest = 0;
  for (int64_t i = 0; i < 500; ++i) {
    low = std::min(low, (*inputs)[0].GetInt(i));
    high = std::max(high, (*inputs)[0].GetInt(i));
    widest = std::max(widest, std::abs((*inputs)[1].GetInt(i)));
  }
  CHECK(low == -3);
  CHECK(high == 5);
  CHECK(widest > 5);
}

// The text of a tree is read again as what it was, and printed again as it is.
void CheckPrintedTree(const std::string& path) {
  INFO(path);
  const absl::StatusOr<std::string> bytes = ReadFile(path);
  REQUIRE(bytes.ok());
  const bool is_bytecode = path.ends_with(".mlirbc");
  const auto tree = is_bytecode ? mlir::ReadMlirBytecode(*bytes) : mlir::ParseMlirText(*bytes);
  const absl::StatusOr<Module> module =
      is_bytecode ? ParseStableHloBytecode(*bytes) : ParseStableHloText(*bytes);
  if (!tree.ok() || !module.ok()) return;  // a refusal
  const absl::StatusOr<std::string> text = mlir::TreeToText(**tree);
  if (!text.ok()) {
    CHECK(ExitCodeOf(text.status()) == 4);
    return;
  }
  INFO(*text);
  const auto again = mlir::ParseMlirText(*text);
  INFO(again.status());
  REQUIRE(again.ok());
  CHECK(*mlir::TreeToText(**again) == *text);
  const absl::StatusOr<Module> second = ParseStableHloText(*text);
  INFO(second.status());
  REQUIRE(second.ok());
  CHECK(ModuleToText(*second) == ModuleToText(*module));
}

TEST_CASE("quantized: printed programs are what they were", "[mlir]") {
  size_t count = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(ASSAY_SOURCE_DIR "/golden")) {
    const std::string path = file.path().string();
    if (!path.ends_with(".mlir") && !path.ends_with(".mlirbc")) continue;
    CheckPrintedTree(path);
    ++count;
  }
  CHECK(count > 200);
}

// Operations that are read and evaluated have a golden in golden/quantized.
TEST_CASE("quantized: every operation with a quantized form has a golden", "[mlir]") {
  std::string goldens;
  for (const auto& file : std::filesystem::directory_iterator(ASSAY_SOURCE_DIR "/golden/quantized")) {
    const absl::StatusOr<std::string> text = ReadFile(file.path().string());
    REQUIRE(text.ok());
    if (text->find("// refuse:") == std::string::npos) goldens += *text;
  }
  for (const mlir::LowerRow& row : mlir::LowerRows()) {
    INFO(row.name);
    const std::string name(row.name);
    // With constant operands these become gather, pad and convolution before their types matter.
    const bool becomes_static = name == "stablehlo.dynamic_gather" || name == "stablehlo.dynamic_pad" ||
                                name == "stablehlo.dynamic_conv";
    const bool elsewhere = name.substr(0, 4) == "sdy." || name.substr(0, 5) == "mhlo." ||
                           name == "chlo.constant" || name == "builtin.unrealized_conversion_cast";
    // They have a form in HLO for other types alone: refuse_einsum.mlir and refuse_unary_einsum.mlir.
    const bool is_refused = name == "stablehlo.einsum" || name == "stablehlo.unary_einsum";
    if (elsewhere || becomes_static || is_refused || mlir::FactsOf(row.name).import == nullptr) continue;
    const std::string word = name.substr(0, 5) == "func." ? name.substr(5) : name;
    CHECK((goldens.find(word + " ") != std::string::npos || goldens.find(word + "\"") != std::string::npos ||
           goldens.find(word + "(") != std::string::npos));
  }
}

}  // namespace
}  // namespace assay
