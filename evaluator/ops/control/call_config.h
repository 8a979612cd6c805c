// The fields of a custom call's backend_config, which MLIR's dictionary holds as text: {uplo = 76 : ui8,
// id = "a"}.
#ifndef ASSAY_EVALUATOR_OPS_CONTROL_CALL_CONFIG_H_
#define ASSAY_EVALUATOR_OPS_CONTROL_CALL_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "hlo/module.h"

namespace assay {

// The field's value as it is written, its type included ("76 : ui8"); nullopt where there is no such field.
std::optional<std::string_view> ConfigField(const Instruction& call, std::string_view name);
// The same as a value; nullopt also where the field is not of that kind.
std::optional<int64_t> ConfigInteger(const Instruction& call, std::string_view name);
std::optional<double> ConfigNumber(const Instruction& call, std::string_view name);
std::optional<std::string> ConfigString(const Instruction& call, std::string_view name);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_OPS_CONTROL_CALL_CONFIG_H_
