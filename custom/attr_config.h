// Attributes' values as a call's backend_config writes them (docs/spec/custom-ops.md, CALL-2), and back.
#ifndef ASSAY_CUSTOM_ATTR_CONFIG_H_
#define ASSAY_CUSTOM_ATTR_CONFIG_H_

#include "custom/config_dictionary.h"
#include "custom/op_interface.h"
#include "hlo/module.h"

namespace assay::custom {

// The call's dictionary. Calls of API_VERSION_TYPED_FFI have MLIR's form; others JSON where the text is an
// object whose first key is quoted, else MLIR's form, too. Empty text is the empty dictionary.
absl::StatusOr<ConfigDictionary> ReadCallConfig(const Instruction& call);

// The value that the entry means for an attribute of this kind (its constraint aside):
//   string   "text"                       type    f32 or "f32"
//   int      an integer of any type       shape   "[?,3]", "?", or a list of sizes
//   float    a number                     tensor  "s32[2] {1, 2}", or an array<>, whose rank is 1
//   bool     true, false, a bare name     list    [a, b], or an array<>
// Error: InvalidProgram, what is found and what is wanted.
absl::StatusOr<OpAttrValue> ValueOfConfig(const OpAttrDef& attr, const ConfigValue& entry);

// What ValueOfConfig reads again. It doesn't matter that a list of nothing has no type.
ConfigDictionary ConfigOf(const OpAttrValues& values);

// For the wrappers of CppWrapper: the element types of a builder's operations, which are arrays. Those of an
// operation that is an error are left out, as the builder then builds nothing.
template <class Builder, class Ops>
OpAttrValue TypesOf(const Builder& builder, const Ops& ops) {
  std::vector<ElementType> types;
  for (const auto& op : ops) {
    const auto shape = builder.GetShapePtr(op);
    if (shape.ok()) types.push_back((*shape)->element_type());
  }
  return ListValue(types);
}

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_ATTR_CONFIG_H_
