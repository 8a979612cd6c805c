// The fields of XLA's backend configurations: protocol messages as JSON (openxla/xla: backend_configs.proto,
// onednn_config.proto). As the JSON form of protocol messages allows, integers of 64 bits may stand as
// strings, numbers as "NaN" and "Infinity", and names of fields in camel case.
#ifndef ASSAY_CUSTOM_XLA_CALL_CONFIG_H_
#define ASSAY_CUSTOM_XLA_CALL_CONFIG_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "custom/config_dictionary.h"
#include "hlo/module.h"

namespace assay::custom {

// Errors are InvalidProgram and name the field, the value found and the value wanted.
class CallConfig {
 public:
  // The backend_config of a custom call, JSON or MLIR's dictionary; nothing is an empty message.
  static absl::StatusOr<CallConfig> Of(const Instruction& call);

  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  bool empty() const { return fields_.empty(); }
  // Each gives `absent` where the field is not there.
  absl::StatusOr<bool> Bool(std::string_view name, bool absent) const;
  absl::StatusOr<int64_t> Int(std::string_view name, int64_t absent) const;
  absl::StatusOr<double> Number(std::string_view name, double absent) const;
  // An enumerator by its name, or its number as text; also any string.
  absl::StatusOr<std::string> Word(std::string_view name, std::string_view absent) const;
  absl::StatusOr<Ints> List(std::string_view name) const;
  absl::StatusOr<std::vector<std::string>> Words(std::string_view name) const;
  // The message in a field; an empty one where it is not there.
  absl::StatusOr<CallConfig> Message(std::string_view name) const;

 private:
  CallConfig(ConfigDictionary fields, std::string path)
      : fields_(std::move(fields)), path_(std::move(path)) {}
  const ConfigValue* Find(std::string_view name) const;
  absl::Status Wrong(std::string_view name, const ConfigValue& found, std::string_view wanted) const;

  ConfigDictionary fields_;
  std::string path_;  // of the message, with a dot behind it
};

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_XLA_CALL_CONFIG_H_
