// assay replay FOLDER: compares a recorded call of a JAX function as `assay diff` does (docs/jax.md).
#include <variant>

#include "base/file_io.h"
#include "custom/config_dictionary.h"
#include "fmt/format.h"
#include "hlo/diagnostics.h"
#include "tools/backend.h"
#include "tools/commands.h"

namespace assay::cli {
namespace {

constexpr int64_t kFormat = 1;

template <typename T>
const T* Find(const custom::ConfigDictionary& facts, std::string_view name) {
  for (const custom::ConfigEntry& entry : facts) {
    if (entry.first == name) return std::get_if<T>(&entry.second.value);
  }
  return nullptr;
}

// The name of a file of the folder that replay.json gives.
absl::StatusOr<std::string> FileOf(const custom::ConfigDictionary& facts, std::string_view name) {
  const auto* const file = Find<std::string>(facts, name);
  if (file == nullptr || file->empty())
    return BadInput(fmt::format("replay.json has no name of a file for \"{}\"", name));
  if (file->find('/') != std::string::npos)
    return BadInput(
        fmt::format("replay.json has \"{}\": \"{}\", want a file of its own folder", name, *file));
  return *file;
}

// What `assay diff` is told; flags that were given stand.
absl::StatusOr<DiffFlags> DiffFlagsOf(const ReplayFlags& flags) {
  DiffFlags diff = flags;
  const std::string folder = flags.folder + (flags.folder.ends_with('/') ? "" : "/");
  ASSAY_ASSIGN_OR_RETURN(const std::string text, ReadFile(folder + "replay.json"));
  const absl::StatusOr<custom::ConfigDictionary> read = custom::ParseJsonConfig(text);
  if (!read.ok()) return BadInput(fmt::format("replay.json: {}", std::string(read.status().message())));
  const custom::ConfigDictionary& facts = *read;
  const auto* const format = Find<custom::ConfigInt>(facts, "format");
  if (format == nullptr || format->value != kFormat)
    return BadInput(fmt::format("replay.json is not of format {}", kFormat));
  ASSAY_ASSIGN_OR_RETURN(const std::string program, FileOf(facts, "program"));
  ASSAY_ASSIGN_OR_RETURN(const std::string inputs, FileOf(facts, "inputs"));
  diff.program = folder + program;
  diff.inputs = folder + inputs;
  if (!NamesBackend(diff)) {
    ASSAY_ASSIGN_OR_RETURN(const std::string outputs, FileOf(facts, "outputs"));
    diff.actual = folder + outputs;
  }
  if (!diff.profile.empty()) return diff;
  const auto* const profile = Find<std::string>(facts, "profile");
  if (profile == nullptr) return BadInput("replay.json has no \"profile\"");
  diff.profile = *profile;
  return diff;
}

}  // namespace

int Replay(const ReplayFlags& flags) {
  const absl::StatusOr<DiffFlags> diff = DiffFlagsOf(flags);
  if (!diff.ok()) return Fail(diff.status(), flags.folder);
  return Diff(*diff);
}

}  // namespace assay::cli
