#include "run/inputs/known_arguments.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <set>

#include "fmt/format.h"
#include "literal/element_io.h"
#include "run/inputs/program_io.h"

namespace assay {
namespace {

const Instruction& ParameterOf(const Module& module, size_t i) {
  const Computation& entry = module.entry_computation();
  return entry.instructions[static_cast<size_t>(entry.parameters[i])];
}

bool IsDimensionVariable(const Instruction& parameter) {
  if (parameter.extras == nullptr) return false;
  return std::ranges::any_of(parameter.extras->frontend_attributes,
                             [](const auto& attribute) { return attribute.first == kDimensionVariable; });
}

// The shape of the leaf `key`, declared as `wanted`.
using ShapeSource = std::function<absl::StatusOr<Shape>(const std::string& key, const Shape& wanted)>;

absl::StatusOr<Shape> ShapeOfParameter(const std::string& key, const Shape& declared,
                                       const ShapeSource& source) {
  if (declared.IsArray()) return source(key, declared);
  if (!declared.IsTuple()) return declared;
  std::vector<Shape> parts;
  for (size_t i = 0; i < declared.elements().size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(parts.emplace_back(),
                           ShapeOfParameter(fmt::format("{}.{}", key, i), declared.elements()[i], source));
  }
  return Shape::Tuple(std::move(parts));
}

absl::StatusOr<std::vector<KnownArgument>> ArgumentsBy(const Module& module, const ShapeSource& source) {
  std::vector<KnownArgument> arguments;
  for (size_t i = 0; i < module.entry_computation().parameters.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(arguments.emplace_back().shape,
                           ShapeOfParameter(fmt::format("arg{}", i), *ParameterOf(module, i).shape, source));
  }
  return arguments;
}

std::optional<int64_t> IntegerIn(const Literal& scalar) {
  if (!scalar.shape().IsScalar() || !IsIntegral(scalar.shape().element_type())) return std::nullopt;
  return LoadIndex(scalar.shape().element_type(), scalar.data());
}

// What the map holds for the key, or for it behind the name of a device.
template <typename Value>
const Value* Found(const std::map<std::string, Value>& values, const std::string& key) {
  if (const auto known = values.find(key); known != values.end()) return &known->second;
  for (const auto& [name, value] : values) {
    if (name.ends_with("/" + key)) return &value;
  }
  return nullptr;
}

absl::Status Missing(const std::string& key, const Shape& wanted) {
  return BadInput(fmt::format("'{}' is missing; the program wants {}", key, wanted.ToString()));
}

}  // namespace

absl::StatusOr<std::vector<KnownArgument>> KnownArgumentsFrom(const Module& module,
                                                              const std::map<std::string, NpyArray>& arrays) {
  ASSAY_ASSIGN_OR_RETURN(
      std::vector<KnownArgument> arguments,
      ArgumentsBy(module, [&](const std::string& key, const Shape& wanted) -> absl::StatusOr<Shape> {
        const NpyArray* const array = Found(arrays, key);
        if (array == nullptr) return Missing(key, wanted);
        return Shape::Array(wanted.element_type(), array->sizes);
      }));
  for (size_t i = 0; i < arguments.size(); ++i) {
    const NpyArray* const array = Found(arrays, fmt::format("arg{}", i));
    if (!IsDimensionVariable(ParameterOf(module, i)) || array == nullptr) continue;
    ASSAY_ASSIGN_OR_RETURN(const Literal value,
                           DecodeNpy(fmt::format("arg{}", i), *array, *ParameterOf(module, i).shape));
    arguments[i].value = IntegerIn(value);
  }
  return arguments;
}

absl::StatusOr<std::vector<KnownArgument>> KnownArgumentsFrom(const Module& module,
                                                              const std::map<std::string, Literal>& values) {
  ASSAY_ASSIGN_OR_RETURN(
      std::vector<KnownArgument> arguments,
      ArgumentsBy(module, [&](const std::string& key, const Shape& wanted) -> absl::StatusOr<Shape> {
        const Literal* const value = Found(values, key);
        if (value == nullptr) return Missing(key, wanted);
        return value->shape();
      }));
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Literal* const value = Found(values, fmt::format("arg{}", i));
    if (IsDimensionVariable(ParameterOf(module, i)) && value != nullptr)
      arguments[i].value = IntegerIn(*value);
  }
  return arguments;
}

std::vector<KnownArgument> KnownArgumentsFrom(const Module& module, std::span<const Literal> arguments) {
  std::vector<KnownArgument> known;
  for (size_t i = 0; i < arguments.size(); ++i) {
    known.push_back({arguments[i].shape(), std::nullopt});
    const bool is_parameter = i < module.entry_computation().parameters.size();
    if (is_parameter && IsDimensionVariable(ParameterOf(module, i))) known[i].value = IntegerIn(arguments[i]);
  }
  return known;
}

namespace {

// "3x1": sizes; empty: a scalar's.
absl::StatusOr<DimVector> SizesOfText(std::string_view entry, std::string_view text) {
  DimVector sizes;
  while (!text.empty()) {
    int64_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    const auto used = static_cast<size_t>(end - text.data());
    if (error != std::errc() || size < 0 ||
        (used < text.size() && (text[used] != 'x' || used + 1 == text.size())))
      return BadInput(fmt::format("--shapes: '{}', want sizes such as arg0=3x1", entry));
    sizes.push_back(size);
    text.remove_prefix(std::min(used + 1, text.size()));
  }
  return sizes;
}

}  // namespace

absl::StatusOr<std::vector<KnownArgument>> KnownArgumentsOfText(const Module& module, std::string_view text) {
  std::map<std::string, DimVector> given;
  while (!text.empty()) {
    const std::string_view entry = text.substr(0, text.find(','));
    text.remove_prefix(std::min(entry.size() + 1, text.size()));
    const size_t equals = entry.find('=');
    if (equals == std::string_view::npos)
      return BadInput(fmt::format("--shapes: '{}', want sizes such as arg0=3x1", entry));
    ASSAY_ASSIGN_OR_RETURN(DimVector sizes, SizesOfText(entry, entry.substr(equals + 1)));
    if (!given.emplace(std::string(entry.substr(0, equals)), std::move(sizes)).second)
      return BadInput(fmt::format("--shapes: '{}' is given twice", entry.substr(0, equals)));
  }
  std::set<std::string> used;
  std::vector<std::optional<int64_t>> values(module.entry_computation().parameters.size());
  ASSAY_ASSIGN_OR_RETURN(
      std::vector<KnownArgument> arguments,
      ArgumentsBy(module, [&](const std::string& key, const Shape& wanted) -> absl::StatusOr<Shape> {
        const auto known = given.find(key);
        used.insert(key);
        const size_t number = static_cast<size_t>(std::atoll(key.c_str() + 3));
        const bool is_variable = number < values.size() && IsDimensionVariable(ParameterOf(module, number));
        if (known == given.end()) {
          if (!wanted.HasUnbounded() && !is_variable) return wanted;
          return BadInput(
              fmt::format("--shapes: '{}' is missing; the program wants {}", key, wanted.ToString()));
        }
        if (is_variable) {
          if (known->second.size() != 1)
            return BadInput(fmt::format("--shapes: '{}' is a dimension variable, want its value", key));
          values[number] = known->second[0];
          return wanted;
        }
        return Shape::Array(wanted.element_type(), known->second);
      }));
  for (size_t i = 0; i < arguments.size(); ++i) arguments[i].value = values[i];
  for (const auto& [key, sizes] : given) {
    if (used.count(key) == 0)
      return BadInput(fmt::format("--shapes: '{}' is not an array that the program takes", key));
  }
  return arguments;
}

}  // namespace assay
