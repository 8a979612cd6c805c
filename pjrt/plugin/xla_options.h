// The options of XLA's compiler that frameworks hand on (env_option_overrides; JAX:
// compile(compiler_options={...})). They are about the code that XLA makes and change nothing here, but a
// wrong one is refused, as XLA refuses it.
#ifndef ASSAY_PJRT_PLUGIN_XLA_OPTIONS_H_
#define ASSAY_PJRT_PLUGIN_XLA_OPTIONS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/error.h"

namespace assay::pjrt {

using XlaOptionValue = std::variant<std::string, bool, int64_t, double>;

// InvalidProgram, in XLA's words: no option has this name, or the value is none of its type.
absl::Status CheckXlaOption(std::string_view name, const XlaOptionValue& value);

}  // namespace assay::pjrt

#endif  // ASSAY_PJRT_PLUGIN_XLA_OPTIONS_H_
