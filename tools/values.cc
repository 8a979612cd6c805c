#include "tools/values.h"

#include <algorithm>
#include <cctype>
#include <cstdio>

#include "base/counted.h"
#include "devices/device_io.h"
#include "devices/transport.h"
#include "find/values/backend_values.h"
#include "fmt/format.h"
#include "hlo/diagnostics.h"
#include "literal/compare.h"
#include "tools/about/progress.h"

namespace assay::cli {

ValuesOptions ValuesOptionsOf(const std::string& only) {
  ValuesOptions options;
  if (!only.empty()) options.only.emplace(only);
  return options;
}

int WriteValues(const RunValues& values, const std::string& path) {
  if (ProcessRank() > 0) return 0;  // the first process writes
  ClearProgress();
  for (const std::string& note : NotesOf(values)) std::fprintf(stderr, "assay: %s\n", note.c_str());
  const absl::Status status = WriteNpzFile(path, values.values);
  return status.ok() ? 0 : Fail(status, path);
}

int WriteBothValues(const DiffFlags& flags, const LoadedProgram& loaded, const RunValues& exact,
                    const std::vector<Literal>& arguments, Backend& backend) {
  RunOptions options = OptionsOf(flags);
  options.interrupted = Interrupted;
  absl::StatusOr<BackendValues> actual = ValuesOfBackend(loaded.program, exact, backend, arguments,
                                                         {.run = options, .engines = EnginesOf(flags)});
  if (!actual.ok()) return Fail(actual.status(), flags.program, loaded.text);
  NamedLiterals both;
  int64_t lacking = 0;
  for (const auto& [name, value] : exact.values) {
    both.emplace_back("exact/" + name, value);
    if (const auto it = actual->values.find(name); it != actual->values.end()) {
      both.emplace_back("actual/" + name, std::move(it->second));
    } else {
      ++lacking;
    }
  }
  ClearProgress();
  for (const std::string& note : NotesOf(exact)) std::fprintf(stderr, "assay: %s\n", note.c_str());
  for (const std::string& note : actual->notes) std::fprintf(stderr, "assay: %s\n", note.c_str());
  if (lacking > 0)
    std::fprintf(stderr, "assay: %s of the backend are not there\n", Counted(lacking, "value").c_str());
  const absl::Status status = WriteNpzFile(flags.values, both);
  return status.ok() ? 0 : Fail(status, flags.values);
}

bool HoldsValues(const Arrays& arrays) {
  return std::ranges::any_of(arrays, [](const auto& entry) {
    const std::string_view key = WithoutDevice(entry.first);
    for (const std::string_view output : {"outfeed", "out", "host_send", "probe/"}) {
      if (!key.starts_with(output)) continue;
      const std::string_view rest = key.substr(output.size());
      if (output == "probe/" || (!rest.empty() && std::isdigit(static_cast<unsigned char>(rest[0])) != 0))
        return false;
    }
    return !key.empty();
  });
}

int ReportValues(const std::vector<NamedPair>& pairs, const DiffFlags& flags) {
  assay::Tolerance tolerance;
  tolerance.rtol = flags.rtol;
  tolerance.atol = flags.atol;
  tolerance.ulps = flags.ulps;
  std::string text;
  int64_t compared = 0, different = 0, only_first = 0, only_second = 0;
  const std::string* first_different = nullptr;
  for (const NamedPair& pair : pairs) {
    const std::string name = EscapeControls(pair.name);
    if (!pair.second) {
      text += fmt::format("{}: missing in the second set\n", name);
      ++only_first;
    } else if (!pair.first) {
      text += fmt::format("{}: missing in the first set\n", name);
      ++only_second;
    } else {
      ++compared;
      const Comparison comparison = CompareLiterals(*pair.first, *pair.second, tolerance);
      if (comparison.ok()) continue;
      if (different++ == 0) first_different = &pair.name;
      text += fmt::format("{}: {}", name, comparison.Report());  // which ends the line
    }
  }
  text +=
      fmt::format("{} compared, {} outside the tolerance; {} in the first set only, {} in the second only\n",
                  Counted(compared, "value"), different, only_first, only_second);
  if (first_different != nullptr)
    text += fmt::format("first, in the order of the first set: {}\n", EscapeControls(*first_different));
  if (!Write(text)) return 5;
  return different + only_first + only_second == 0 ? 0 : 1;
}

}  // namespace assay::cli
