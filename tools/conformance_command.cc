// assay conformance make: the suite by which a backend is checked where Assay is not (docs/conformance.md).
#include <filesystem>

#include "base/counted.h"
#include "check/suite/suite.h"
#include "fmt/format.h"
#include "hlo/diagnostics.h"
#include "tools/commands.h"
#include "tools/specification.h"

namespace assay::cli {
namespace {

// What would be in the way of the files; empty: nothing.
std::string WrongFolder(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::exists(folder, error)) return "";
  if (!fs::is_directory(folder, error)) return "is no folder";
  if (fs::is_empty(folder, error) || fs::exists(folder + "/index.json", error)) return "";
  return "is neither empty nor a folder of an earlier suite";
}

}  // namespace

int ConformanceMake(const ConformanceMakeFlags& flags) {
  if (const std::string wrong = WrongFolder(flags.folder); !wrong.empty())
    return UsageError(fmt::format("'{}' {}", EscapeControls(flags.folder), wrong));
  SuiteOptions options;
  options.seed = flags.suite_seed;
  options.only = flags.only;
  options.sample = flags.sample;
  options.generator = "assay " ASSAY_VERSION;
  options.rules_of = [](Opcode op) { return LabelsOf(Name(op)); };
  options.run = OptionsOf(flags);
  options.run.interrupted = Interrupted;
  const std::vector<std::string> strict = {"strict"};
  for (const std::string& name : flags.profiles.empty() ? strict : flags.profiles) {
    absl::StatusOr<Profile> profile = LoadProfile(name);
    if (!profile.ok()) return Fail(profile.status(), name);
    options.profiles.push_back(*std::move(profile));
  }
  const absl::StatusOr<int64_t> count = WriteSuite(flags.folder, options);
  if (!count.ok()) return Fail(count.status(), flags.folder);
  return Write(fmt::format("{} in {}\n", Counted(*count, "case"), EscapeControls(flags.folder))) ? 0 : 5;
}

}  // namespace assay::cli
