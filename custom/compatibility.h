// Whether programs that were written for an older registration of an operation mean the same with a newer one
// (docs/spec/custom-ops.md, section 6).
#ifndef ASSAY_CUSTOM_COMPATIBILITY_H_
#define ASSAY_CUSTOM_COMPATIBILITY_H_

#include <string>
#include <string_view>
#include <vector>

#include "custom/op_interface.h"

namespace assay::custom {

// Registrations as JSON, `assay ops --json` writes them: {"ops": [{"name": …, "attrs": ["T: {f32, s32}"],
// …}]}. What a registration leaves out is left out. Error of reading: InvalidProgram, what is found where and
// what is wanted there, and each error of a registration.
std::string InterfacesToJson(const std::vector<OpInterface>& ops);
absl::StatusOr<std::vector<OpInterface>> InterfacesFromJson(std::string_view json);

struct Incompatibility {
  std::string op, rule, text;  // rule: the name of the list's line, "attribute without default"
};
// Empty where every change is a safe one. Operations that only the newer list has are safe.
std::vector<Incompatibility> UnsafeChanges(const std::vector<OpInterface>& older,
                                           const std::vector<OpInterface>& newer);

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_COMPATIBILITY_H_
