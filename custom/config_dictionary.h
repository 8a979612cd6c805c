// The attributes that a custom call's backend_config holds: MLIR's dictionary as text, {n = 5 : i64, eps =
// 1.0e-05 : f32, flag, axes = array<i64: 1, 2>, name = "a"}, or a JSON object, {"n": 5}.
#ifndef ASSAY_CUSTOM_CONFIG_DICTIONARY_H_
#define ASSAY_CUSTOM_CONFIG_DICTIONARY_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "shape/element_type.h"

namespace assay::custom {

struct ConfigValue;
struct ConfigEntry;
// In the order in which they are written; no name stands twice.
using ConfigDictionary = std::vector<ConfigEntry>;

// An integer with its type; `type` is kS64 where none is written (MLIR's default), and of JSON's numbers
// without a fraction. i1 with a number is kPred, i8 … i64 are the signed types, ui8 … ui64 the unsigned ones.
// Of a u64 `value` has the bits.
struct ConfigInt {
  ElementType type = ElementType::kS64;
  int64_t value = 0;
};
// `type` is kF64 where none is written, and of JSON's numbers with a fraction or an exponent.
struct ConfigFloat {
  ElementType type = ElementType::kF64;
  double value = 0;
};
// array<i64: 1, 2>, array<f32: 1.5>, array<i1: true>; dense<…> is one, too, of any rank in row-major order.
// One of the two lists has the values: `floats` those of floats, and of complex types two each.
struct ConfigArray {
  ElementType type = ElementType::kS64;
  std::vector<int64_t> ints;
  std::vector<double> floats;
};
// An element type as a value, `f32` or `si32`.
struct ConfigType {
  ElementType type = ElementType::kPred;
};
using ConfigList = std::vector<ConfigValue>;  // [1, "a"]

struct ConfigValue {
  // A name without a value is MLIR's unit attribute: true.
  std::variant<bool, ConfigInt, ConfigFloat, std::string, ConfigType, ConfigArray, ConfigList,
               ConfigDictionary>
      value;
};

// A pair is a template, which asks its members what they can do before they are whole.
struct ConfigEntry {
  ConfigEntry(std::string name, ConfigValue value) : first(std::move(name)), second(std::move(value)) {}
  std::string first;
  ConfigValue second;
};

// Empty text is the empty dictionary. Error: InvalidProgram, with the byte at which the text is wrong and
// what is wanted there; also for more than 100 levels of nesting, and for a name that stands twice.
absl::StatusOr<ConfigDictionary> ParseConfigDictionary(std::string_view text);
absl::StatusOr<ConfigDictionary> ParseJsonConfig(std::string_view text);
// The form that MLIR prints; ParseConfigDictionary reads it.
std::string ConfigText(const ConfigDictionary& dictionary);

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_CONFIG_DICTIONARY_H_
