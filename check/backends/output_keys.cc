#include "check/backends/output_keys.h"

#include "devices/device_io.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace assay {

std::vector<std::pair<std::string, Shape>> OutputsOf(const Module& module) {
  std::vector<std::pair<std::string, Shape>> outputs;
  ForEachLeaf(
      *module.entry_computation().root_instruction().shape, [&](const ShapeIndex& path, const Shape& shape) {
        if (shape.IsArray())
          outputs.emplace_back(path.empty() ? "out0" : fmt::format("out{}", fmt::join(path, ".")), shape);
      });
  return outputs;
}

absl::StatusOr<std::map<std::string, NpyArray>> ReadOutputs(const std::string& path) {
  ASSAY_ASSIGN_OR_RETURN(auto arrays, ReadNpzFile(path));
  if (arrays.size() == 1 && arrays.count("") == 1) arrays["out0"] = std::move(arrays.extract("").mapped());
  return arrays;
}

absl::StatusOr<std::map<std::string, Literal>> DecodeOutputs(const Module& module,
                                                             const std::map<std::string, NpyArray>& arrays) {
  std::map<std::string, Literal> values;
  for (const auto& [key, shape] : OutputsOf(module)) {
    for (const auto& [name, array] : arrays) {
      if (WithoutDevice(name) != key) continue;
      ASSAY_ASSIGN_OR_RETURN(Literal value, DecodeNpy(name, array, shape));
      values.emplace(name, std::move(value));
    }
  }
  return values;
}

}  // namespace assay
