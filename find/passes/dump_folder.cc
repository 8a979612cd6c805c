#include "find/passes/dump_folder.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <regex>
#include <tuple>
#include <utility>

#include "base/quoted.h"
#include "fmt/format.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr size_t kShownPattern = 60;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The name without the ending of a module's file; nullopt: it has none.
std::optional<std::string_view> WithoutEnding(std::string_view file) {
  for (const std::string_view ending : {".hlo.pb", ".pb", ".txt", ".hlo"}) {
    if (file.ends_with(ending)) return file.substr(0, file.size() - ending.size());
  }
  return std::nullopt;
}

bool IsProto(std::string_view file) { return file.ends_with(".pb"); }

// The last ".DIGITS." in front of `end`, at least four digits: where it begins, else npos.
size_t NumberBefore(std::string_view name, size_t end) {
  for (size_t last = end; last-- > 0;) {
    if (!IsDigit(name[last]) || (last + 1 < name.size() && name[last + 1] != '.')) continue;
    size_t first = last;
    while (first > 0 && IsDigit(name[first - 1])) --first;
    if (first > 0 && name[first - 1] == '.' && last - first + 1 >= 4) return first - 1;
  }
  return std::string_view::npos;
}

std::optional<DumpFile> AfterPass(std::string_view name) {
  constexpr std::string_view kAfter = ".after_", kNext = ".before_";
  size_t after = name.find(kAfter);
  if (after == std::string_view::npos) return std::nullopt;
  const size_t number = NumberBefore(name, after);
  if (number == std::string_view::npos) return std::nullopt;
  // A pipeline's name may begin with after_, too.
  const size_t pipeline = name.find('.', number + 1);
  if (const size_t next = name.find(kAfter, after + 1); pipeline == after && next != std::string_view::npos)
    after = next;
  DumpFile dump;
  dump.module = name.substr(0, number);
  std::from_chars(name.data() + number + 1, name.data() + pipeline, dump.number);
  if (pipeline < after) dump.pipeline = name.substr(pipeline + 1, after - pipeline - 1);
  std::string_view pass = name.substr(after + kAfter.size());
  if (const size_t next = pass.find(kNext); next != std::string_view::npos) {
    dump.next = pass.substr(next + kNext.size());
    pass = pass.substr(0, next);
  }
  dump.pass = pass;
  return dump;
}

}  // namespace

std::string DumpFile::Title() const {
  if (number == kBefore) return "before optimization";
  if (number == kAfter) return "after optimization";
  return fmt::format("{} of {} ({:04})", pass, pipeline, number);
}

std::optional<DumpFile> ParseDumpName(std::string_view file) {
  constexpr std::string_view kModule = "module_", kBefore = ".before_optimizations",
                             kAfter = "after_optimizations";
  const std::optional<std::string_view> name = WithoutEnding(file);
  if (!name || !name->starts_with(kModule)) return std::nullopt;
  std::optional<DumpFile> dump;
  if (name->ends_with(kBefore)) {
    dump.emplace();
    dump->module = name->substr(0, name->size() - kBefore.size());
    dump->number = DumpFile::kBefore;
  } else if (name->ends_with(kAfter)) {
    // "cpu_after_optimizations"; of a GPU "sm_9.0_gpu_after_optimizations".
    size_t end = name->rfind(".sm_");
    if (end == std::string_view::npos) end = name->rfind('.');
    if (end == std::string_view::npos) return std::nullopt;
    dump.emplace();
    dump->module = name->substr(0, end);
    dump->number = DumpFile::kAfter;
  } else {
    dump = AfterPass(*name);
  }
  if (dump) dump->file = file;
  return dump;
}

absl::StatusOr<std::vector<ModuleDumps>> ReadDumpFolder(const std::string& folder,
                                                        const std::string& module_pattern) {
  const auto unreadable = [&](const std::error_code& error) {
    return BadInput(fmt::format("{}: not a readable folder: {}", ShownText(folder, 200), error.message()));
  };
  std::optional<std::regex> pattern;
  try {
    pattern.emplace(module_pattern);
  } catch (const std::regex_error& error) {
    return BadInput(fmt::format("{} is no regular expression: {}", ShownText(module_pattern, kShownPattern),
                                error.what()));
  }
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  if (error) return unreadable(error);
  std::map<std::string, std::vector<DumpFile>> modules;
  for (; entries != fs::directory_iterator(); entries.increment(error)) {
    std::optional<DumpFile> dump = ParseDumpName(entries->path().filename().string());
    if (dump && std::regex_search(dump->module, *pattern)) modules[dump->module].push_back(*std::move(dump));
    if (error) return unreadable(error);
  }
  std::vector<ModuleDumps> all;
  for (auto& [module, files] : modules) {
    const auto step = [](const DumpFile& dump) { return std::tie(dump.number, dump.pipeline, dump.pass); };
    std::sort(files.begin(), files.end(), [&](const DumpFile& a, const DumpFile& b) {
      return step(a) != step(b) ? step(a) < step(b) : IsProto(a.file) > IsProto(b.file);
    });
    files.erase(std::unique(files.begin(), files.end(),
                            [&](const DumpFile& a, const DumpFile& b) { return step(a) == step(b); }),
                files.end());
    all.push_back({module, std::move(files)});
  }
  if (all.empty()) {
    return BadInput(fmt::format(
        "{} has no file of a module{}: want module_NNNN.NAME.NNNN.PIPELINE.after_PASS.txt, as "
        "--xla_dump_to with --xla_dump_hlo_pass_re=.* writes them",
        ShownText(folder, 200),
        module_pattern.empty() ? "" : " that matches " + ShownText(module_pattern, kShownPattern)));
  }
  return all;
}

}  // namespace assay
