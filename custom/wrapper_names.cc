#include "custom/wrapper_names.h"

#include <algorithm>

namespace assay::custom {

WrapperArguments WrapperArgumentsOf(const OpInterface& op, std::vector<std::string_view> taken) {
  // A name that the interface has itself is no other argument's.
  const auto is_other = [&](std::string_view name) {
    const auto has = [&](const auto& items) {
      return std::ranges::any_of(items, [&](const auto& i) { return i.name == name; });
    };
    return has(op.inputs) || has(op.attrs);
  };
  const auto name_of = [&](const std::string& wish) {
    std::string name = wish;
    while (std::ranges::count(taken, name) > 0 || (name != wish && is_other(name))) name += '_';
    return name;
  };
  WrapperArguments arguments;
  for (const OpArgument& input : op.inputs) arguments.inputs.push_back(name_of(input.name));
  for (const bool with_default : {false, true}) {
    for (const OpAttrDef& attr : op.attrs) {
      if (!attr.is_inferred && attr.default_value.has_value() == with_default) {
        arguments.attrs.push_back({&attr, name_of(attr.name)});
      }
    }
  }
  return arguments;
}

}  // namespace assay::custom
