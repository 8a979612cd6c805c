// How fast StableHLO is read to a Module: megabytes a second of the fifteen real programs, as text and as
// portable bytecode, and of synthetic text. Run it at -O2 in the root of the source tree; the goals are 30
// MB/s of text and 100 MB/s of bytecode.
//   stablehlo_bench [FILE.mlirbc...]   these files in place of all that
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "base/file_io.h"
#include "fmt/format.h"
#include "hlo/load/stablehlo.h"
#include "hlo/mlir/bytecode/reader.h"
#include "hlo/mlir/text/parser.h"

namespace assay {
namespace {

using Reader = bool (*)(std::string_view);

// The best of several runs over all texts, `repeats` times each.
void Measure(std::string_view name, const std::vector<std::string>& texts, int repeats, Reader read) {
  double best = 1e30, bytes = 0;
  for (const std::string& text : texts) bytes += static_cast<double>(text.size()) * repeats;
  for (int run = 0; run < 5; ++run) {
    const std::clock_t start = std::clock();  // of this process: other programs do not count
    for (int i = 0; i < repeats; ++i) {
      for (const std::string& text : texts) {
        if (!read(text)) {
          fmt::print("{}: not read\n", name);
          return;
        }
      }
    }
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  fmt::print("{:<36} {:>6.1f} MB  {:>7.1f} ms  {:>6.1f} MB/s\n", name, bytes / 1e6, best * 1e3,
             bytes / 1e6 / best);
}

std::vector<std::string> Programs(const std::string& file) {
  std::vector<std::string> texts;
  for (const auto& entry : std::filesystem::directory_iterator("golden/programs")) {
    if (absl::StatusOr<std::string> text = ReadFile(entry.path() / file); text.ok()) texts.push_back(*text);
  }
  return texts;
}

// A function of `count` lines, each `line` with the numbers of its own and the previous value.
std::string Chain(int64_t count, std::string_view line) {
  std::string text = "func.func @main(%v0: tensor<128x256xf32>) -> tensor<128x256xf32> {\n";
  for (int64_t i = 1; i <= count; ++i) fmt::format_to(std::back_inserter(text), fmt::runtime(line), i, i - 1);
  return text + fmt::format("  return %v{} : tensor<128x256xf32>\n}}\n", count);
}

std::string BigConstant() {
  std::string text = "func.func @main() -> tensor<2000000xf32> {\n  %0 = stablehlo.constant dense<[";
  for (int i = 0; i < 2'000'000; ++i) text += i == 0 ? "1.234500e-01" : ", 1.234500e-01";
  return text + "]> : tensor<2000000xf32>\n  return %0 : tensor<2000000xf32>\n}\n";
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  using assay::Measure;
  const auto text_module = [](std::string_view text) { return assay::ParseStableHloText(text).ok(); };
  const auto text_tree = [](std::string_view text) { return assay::mlir::ParseMlirText(text).ok(); };
  const auto bytecode_module = [](std::string_view bytes) {
    return assay::ParseStableHloBytecode(bytes).ok();
  };
  const auto bytecode_tree = [](std::string_view bytes) { return assay::mlir::ReadMlirBytecode(bytes).ok(); };
  for (int i = 1; i < argc; ++i) {
    const absl::StatusOr<std::string> bytes = assay::ReadFile(argv[i]);
    if (!bytes.ok()) continue;
    Measure(fmt::format("bytecode, {}", argv[i]), {*bytes}, 20, bytecode_module);
    Measure(fmt::format("bytecode, {}, tree only", argv[i]), {*bytes}, 20, bytecode_tree);
  }
  if (argc > 1) return 0;
  const auto texts = assay::Programs("program.mlir"), artifacts = assay::Programs("program.mlirbc");
  Measure("text, fifteen programs", texts, 60, text_module);
  Measure("text, fifteen programs, tree only", texts, 60, text_tree);
  Measure("text, elementwise",
          {assay::Chain(200'000, "  %v{} = stablehlo.add %v{}, %v0 : tensor<128x256xf32>\n")}, 1,
          text_module);
  Measure(
      "text, generic form",
      {assay::Chain(100'000,
                    "  %v{} = \"stablehlo.add\"(%v{}, %v0) : (tensor<128x256xf32>, tensor<128x256xf32>) -> "
                    "tensor<128x256xf32>\n")},
      1, text_module);
  Measure("text, one constant of 2*10^6", {assay::BigConstant()}, 1, text_module);
  Measure("bytecode, fifteen programs", artifacts, 100, bytecode_module);
  Measure("bytecode, fifteen programs, tree only", artifacts, 100, bytecode_tree);
  return 0;
}
