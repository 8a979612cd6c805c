#include "tools/output_files.h"

#include <algorithm>
#include <cstdio>

#include "base/suggestion.h"
#include "check/backends/output_keys.h"
#include "devices/device_io.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "hlo/diagnostics.h"
#include "tools/about/progress.h"

namespace assay::cli {
namespace {

// NumPy has no such type, so that its elements are stored as raw bytes.
bool IsStoredRaw(ElementType type) { return Info(type).numpy_descr[1] == 'V'; }

// The arrays are of the types and sizes of the program's outputs.
absl::Status CheckFit(const Module& module, const Arrays& arrays) {
  std::map<std::string, Shape, std::less<>> outputs;
  for (auto& [key, shape] : OutputsOf(module)) outputs.emplace(key, std::move(shape));
  for (const auto& [key, array] : arrays) {
    const auto it = outputs.find(WithoutDevice(key));
    if (it != outputs.end()) ASSAY_RETURN_IF_ERROR(DecodeNpy(key, array, it->second).status());
  }
  return absl::OkStatus();
}

// The file has none of the program's outputs: says what it has. np.savez names arrays arr_0 that get no name.
void SayOtherNames(const std::string& file, const Module& module, const Arrays& arrays) {
  constexpr size_t kShown = 8;
  std::vector<std::string> outputs, found;
  for (const auto& [key, shape] : OutputsOf(module)) outputs.push_back(key);
  for (const auto& [key, array] : arrays) {
    if (std::find(outputs.begin(), outputs.end(), WithoutDevice(key)) != outputs.end()) return;
    found.push_back(EscapeControls(key));
  }
  if (outputs.empty()) return;
  for (std::vector<std::string>* const names : {&outputs, &found}) {
    if (names->size() > kShown) (*names)[kShown] = "…";
    names->resize(std::min(names->size(), kShown + 1));
  }
  ClearProgress();
  std::fprintf(stderr, "assay: note: %s has %s; the outputs of the program are %s\n",
               EscapeControls(file).c_str(),
               found.empty() ? "no arrays" : fmt::format("{}", fmt::join(found, ", ")).c_str(),
               fmt::format("{}", fmt::join(outputs, ", ")).c_str());
}

}  // namespace

absl::StatusOr<TypesByKey> ParseTypes(std::string_view text) {
  TypesByKey types;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view entry = text.substr(begin, end - begin);
    begin = end + 1;
    const size_t equals = entry.rfind('=');
    if (equals == std::string_view::npos || equals == 0)
      return BadInput(fmt::format("'{}' is not KEY=TYPE, such as out0=bf16", EscapeControls(entry)));
    const std::string_view name = entry.substr(equals + 1);
    const std::optional<ElementType> type = ElementTypeFromName(name);
    if (!type) return BadInput(fmt::format("'{}' is not an element type", EscapeControls(name)));
    const std::string key(entry.substr(0, equals));
    if (!types.emplace(key, *type).second)
      return BadInput(fmt::format("'{}' is given twice", EscapeControls(key)));
  }
  return types;
}

absl::Status SetTypes(const TypesByKey& types, Arrays& arrays, TypesByKey& found) {
  for (auto& [key, array] : arrays) {
    auto it = types.find(key);
    if (it == types.end()) it = types.find(std::string(WithoutDevice(key)));
    if (it == types.end()) continue;
    const ElementType type = it->second;
    found.insert(*it);
    if (array.type && *array.type != type) {
      return BadInput(
          fmt::format("'{}' is {}, --types says {}", EscapeControls(key), Name(*array.type), Name(type)));
    }
    if (!MayHoldBitsOf(array, type)) {
      return BadInput(fmt::format("'{}' is '{}', which can't be the bits of {} that --types says",
                                  EscapeControls(key), EscapeControls(array.descr), Name(type)));
    }
    array.type = type;
  }
  return absl::OkStatus();
}

absl::Status TakeTypesFrom(const Arrays& other, Arrays& arrays) {
  for (auto& [key, array] : arrays) {
    const auto it = other.find(key);
    const std::optional<ElementType> type = it == other.end() ? std::nullopt : TypeOfNpy(it->second);
    if (!type || !IsStoredRaw(*type) || array.type || !MayHoldBitsOf(array, *type)) continue;
    if (IsRaw(array)) {
      array.type = type;
    } else if (TypeOfNpy(array) != type) {
      return BadInput(
          fmt::format("'{0}': '{1}' may be numbers, or the bits of {2}, which the other file has; --types "
                      "{0}={2} says that it is bits",
                      EscapeControls(key), EscapeControls(array.descr), Name(*type)));
    }
  }
  return absl::OkStatus();
}

bool NamesOthers(const TypesByKey& types, const TypesByKey& found, std::span<const Arrays> files) {
  for (const auto& [key, type] : types) {
    if (found.count(key) > 0) continue;
    std::vector<std::string> names;
    for (const auto& [name, array] : files[0]) names.push_back(name);
    UsageError(fmt::format("--types names '{}', which is in no file{}", EscapeControls(key),
                           EscapeControls(DidYouMean(key, names))));
    return true;
  }
  return false;
}

std::optional<Arrays> ReadActual(const DiffFlags& flags, const LoadedProgram& loaded, int& exit_code) {
  const TypesByKey types = *ParseTypes(flags.types);
  TypesByKey found;
  absl::StatusOr<Arrays> arrays = ReadOutputs(flags.actual);
  absl::Status status = arrays.ok() ? SetTypes(types, *arrays, found) : arrays.status();
  if (status.ok() && NamesOthers(types, found, {&*arrays, 1})) {
    exit_code = 2;
    return std::nullopt;
  }
  if (status.ok()) status = CheckFit(loaded.program.module(), *arrays);
  if (status.ok()) {
    SayOtherNames(flags.actual, loaded.program.module(), *arrays);
    return *std::move(arrays);
  }
  exit_code = Fail(status, flags.actual);
  return std::nullopt;
}

absl::StatusOr<Literal> DecodeOutput(const std::string& key, const NpyArray& array) {
  absl::StatusOr<Literal> value = DecodeNpyByDescr(key, array);
  const bool two_bytes = MayHoldBitsOf(array, ElementType::kBF16);
  if (value.ok() || TypeOfNpy(array) || !(two_bytes || MayHoldBitsOf(array, ElementType::kS4))) return value;
  return BadInput(fmt::format("{}; --types {}={} says so", std::string(value.status().message()),
                              EscapeControls(key), two_bytes ? "bf16" : "TYPE"));
}

}  // namespace assay::cli
