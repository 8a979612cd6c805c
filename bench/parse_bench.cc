// How fast HLO text and protos are read: megabytes a second on synthetic modules, and the memory that a
// million small instructions take. Run it at -O2; the goals are 30 MB/s of text and 100 MB/s of protos, and
// well under 1 GB for the million. Run it in the root of the source tree.
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "base/file_io.h"
#include "fmt/format.h"
#include "hlo/proto/export.h"
#include "hlo/proto/import.h"
#include "hlo/text/parser.h"

namespace assay {
namespace {

// One computation of `count` instructions, each `line` with the numbers of its own
// and the previous instruction.
std::string Chain(int64_t count, std::string_view line) {
  std::string text =
      R"(HloModule chain

add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = f32[] add(a, b)
}

ENTRY main {
  %v.0 = f32[128,256]{1,0} parameter(0)
)";
  for (int64_t i = 1; i <= count; ++i) fmt::format_to(std::back_inserter(text), fmt::runtime(line), i, i - 1);
  return text + "}\n";
}

std::string Repeated(std::string_view line, size_t bytes) {
  return Chain(static_cast<int64_t>(bytes / (line.size() + 8)), line);
}

double PeakMegabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void MeasureReader(std::string_view name, const std::string& text, int runs,
                   absl::StatusOr<Module> (*read)(std::string_view)) {
  double best = 1e30;
  for (int run = 0; run < runs; ++run) {
    const std::clock_t start = std::clock();  // of this process: other programs do not count
    const absl::StatusOr<Module> module = read(text);
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    if (!module.ok()) {
      fmt::print("{}: {}\n", name, module.status().ToString());
      return;
    }
  }
  fmt::print("{:<34} {:>6.1f} MB  {:>6.1f} ms  {:>6.1f} MB/s  peak {:>6.0f} MB\n", name, text.size() / 1e6,
             best * 1e3, text.size() / 1e6 / best, PeakMegabytes());
}

// The fifteen real programs as XLA dumps them, many times over.
void MeasurePrograms(std::string_view name, const std::string& file,
                     absl::StatusOr<Module> (*read)(std::string_view)) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator("golden/programs")) {
    if (absl::StatusOr<std::string> bytes = ReadFile(entry.path() / file); bytes.ok())
      files.push_back(*bytes);
  }
  constexpr int kRepeats = 100;
  double best = 1e30, megabytes = 0;
  for (const std::string& bytes : files) megabytes += static_cast<double>(bytes.size()) * kRepeats / 1e6;
  for (int run = 0; run < 5; ++run) {
    const std::clock_t start = std::clock();
    for (int i = 0; i < kRepeats; ++i) {
      for (const std::string& bytes : files) {
        if (!read(bytes).ok()) return fmt::print("{}: not read\n", name);
      }
    }
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  fmt::print("{:<34} {:>6.1f} MB  {:>6.1f} ms  {:>6.1f} MB/s\n", name, megabytes, best * 1e3,
             megabytes / best);
}

// The text, and the proto that it stands for.
void Measure(std::string_view name, const std::string& text, int runs) {
  MeasureReader(name, text, runs, [](std::string_view hlo) { return ParseHloText(hlo); });
  absl::StatusOr<Module> module = ParseHloText(text);
  if (!module.ok()) return;
  const absl::StatusOr<std::string> bytes = ExportProto(*module);
  module = absl::CancelledError();  // before the peak is looked at
  if (bytes.ok()) MeasureReader("  as proto", *bytes, runs, ImportProto);
}

}  // namespace
}  // namespace assay

int main(int argc, char**) {
  using assay::Measure;
  using assay::Repeated;
  if (argc == 1)
    assay::MeasurePrograms("fifteen programs", "program.hlo",
                           [](std::string_view hlo) { return assay::ParseHloText(hlo); });
  assay::MeasurePrograms("  as proto", "program.pb", assay::ImportProto);
  if (argc > 1) return 0;  // any argument: the real programs only
  constexpr size_t kBytes = 20'000'000;
  constexpr int kRuns = 5;
  Measure("small instructions, 10^6", assay::Chain(1'000'000, "  %v.{} = f32[4] negate(%v.{})\n"), 3);
  Measure("elementwise", Repeated("  %v.{} = f32[128,256]{{1,0}} add(%v.{}, %v.0)\n", kBytes), kRuns);
  Measure("with metadata",
          Repeated("  %v.{} = f32[128,256]{{1,0}} add(%v.{}, %v.0), metadata={{op_type=\"add\" "
                   "op_name=\"jit(main)/transformer/layer/add\" stack_frame_id=12}}\n",
                   kBytes),
          kRuns);
  Measure("dots and windows",
          Repeated("  %v.{} = f32[128,256]{{1,0}} dot(%v.{}, %v.0), lhs_contracting_dims={{1}}, "
                   "rhs_contracting_dims={{0}}, operand_precision={{highest,highest}}\n",
                   kBytes),
          kRuns);
  Measure("operands with shapes",
          Repeated("  v.{} = f32[128,256]{{1,0}} multiply(f32[128,256]{{1,0}} v.{}, f32[128,256]{{1,0}} "
                   "v.0)\n",
                   kBytes),
          kRuns);
  std::string constants = R"(HloModule c
ENTRY e {
  c = f32[2000000] constant({)";
  for (int i = 0; i < 2'000'000; ++i) constants += i == 0 ? "0.12345" : ", 0.12345";
  Measure("one constant of 2*10^6", constants + "})\n}\n", kRuns);
  return 0;
}
