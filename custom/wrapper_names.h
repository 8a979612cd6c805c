// The names that wrappers of operations give to their arguments.
#ifndef ASSAY_CUSTOM_WRAPPER_NAMES_H_
#define ASSAY_CUSTOM_WRAPPER_NAMES_H_

#include <string>
#include <string_view>
#include <vector>

#include "custom/op_interface.h"

namespace assay::custom {

struct WrapperArguments {
  std::vector<std::string> inputs;  // names, by the interface's order
  struct Attr {
    const OpAttrDef* def;
    std::string name;
  };
  // Those that calls give: first those without a default.
  std::vector<Attr> attrs;
};

// No two names are equal, and none is in `taken`.
WrapperArguments WrapperArgumentsOf(const OpInterface& op, std::vector<std::string_view> taken);

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_WRAPPER_NAMES_H_
