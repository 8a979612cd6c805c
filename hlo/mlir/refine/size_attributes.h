// Attributes of operations, and of the structures in them, as the refinement of sizes reads them. What is
// wrong with one is said by who imports the refined program: here it counts as absent.
#ifndef ASSAY_HLO_MLIR_REFINE_SIZE_ATTRIBUTES_H_
#define ASSAY_HLO_MLIR_REFINE_SIZE_ATTRIBUTES_H_

#include <optional>
#include <string_view>

#include "hlo/mlir/import/importer.h"
#include "hlo/mlir/ir.h"

namespace assay::mlir {

// An attribute of this name, or such a field of a structure; null: neither is there.
inline const Attribute* FieldOf(const Operation& operation, std::string_view name) {
  if (const Attribute* const own = operation.Find(name); own != nullptr) return own;
  for (const NamedAttribute& attribute : operation.attributes) {
    if (attribute.value->kind != Attribute::Kind::kStruct &&
        attribute.value->kind != Attribute::Kind::kDictionary)
      continue;
    if (attribute.name == "mhlo.frontend_attributes") continue;
    if (const Attribute* const field = Find(attribute.value->fields, name); field != nullptr) return field;
  }
  return nullptr;
}

inline Ints IntsOfField(const Operation& operation, std::string_view name) {
  const Attribute* const attribute = FieldOf(operation, name);
  Ints values;
  if (attribute == nullptr || !IntegersOf(*attribute, &values)) return {};
  return values;
}

inline std::optional<int64_t> IntOfField(const Operation& operation, std::string_view name) {
  const Attribute* const attribute = FieldOf(operation, name);
  if (attribute == nullptr ||
      (attribute->kind != Attribute::Kind::kInteger && attribute->kind != Attribute::Kind::kBool))
    return std::nullopt;
  return attribute->integer;
}

inline std::string_view TextOfField(const Operation& operation, std::string_view name) {
  const Attribute* const attribute = FieldOf(operation, name);
  return attribute == nullptr ? std::string_view() : attribute->text;
}

}  // namespace assay::mlir

#endif  // ASSAY_HLO_MLIR_REFINE_SIZE_ATTRIBUTES_H_
