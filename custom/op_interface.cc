#include "custom/op_interface.h"

#include <algorithm>

namespace assay::custom {
namespace {

bool SameAttr(const OpAttrDef& a, const OpAttrDef& b) {
  const auto default_text = [](const OpAttrDef& attr) {
    return attr.default_value ? ValueText(*attr.default_value) : std::string();
  };
  return a.name == b.name && a.kind == b.kind && a.is_list == b.is_list && a.minimum == b.minimum &&
         std::ranges::is_permutation(a.strings, b.strings) && std::ranges::is_permutation(a.types, b.types) &&
         default_text(a) == default_text(b);
}

bool SameArgument(const OpArgument& a, const OpArgument& b) {
  return a.name == b.name && a.kind == b.kind && a.is_reference == b.is_reference && a.type == b.type &&
         a.type_attr == b.type_attr && a.count_attr == b.count_attr;
}

}  // namespace

const OpAttrValue* FindValue(const OpAttrValues& values, std::string_view name) {
  const auto entry = std::ranges::find(values, name, [](const auto& pair) { return pair.first; });
  return entry == values.end() ? nullptr : &entry->second;
}

const OpAttrDef* OpInterface::FindAttr(std::string_view attr) const {
  const auto def = std::ranges::find(attrs, attr, &OpAttrDef::name);
  return def == attrs.end() ? nullptr : &*def;
}

bool SameInterface(const OpInterface& a, const OpInterface& b) {
  return a.name == b.name && std::ranges::equal(a.attrs, b.attrs, SameAttr) &&
         std::ranges::equal(a.inputs, b.inputs, SameArgument) &&
         std::ranges::equal(a.outputs, b.outputs, SameArgument) && a.has_side_effect == b.has_side_effect &&
         a.is_stateful == b.is_stateful && a.composite == b.composite &&
         a.composite_version == b.composite_version;
}

}  // namespace assay::custom
