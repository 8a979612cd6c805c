// The interface of a registered operation, independent of any implementation: names, inputs, outputs,
// attributes (docs/spec/custom-ops.md, section 1). It is made of the short texts of a registration,
// "T: {f32, s32}", "to_zero: T".
#ifndef ASSAY_CUSTOM_OP_INTERFACE_H_
#define ASSAY_CUSTOM_OP_INTERFACE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "literal/literal.h"
#include "shape/element_type.h"

namespace assay::custom {

// A shape of which not all may be known: no dims, an unknown rank; -1, an unknown size.
struct PartialShape {
  std::optional<std::vector<int64_t>> dims;
  bool operator==(const PartialShape&) const = default;
};

enum class OpAttrKind : uint8_t { kString, kInt, kFloat, kBool, kType, kShape, kTensor };
std::string_view Name(OpAttrKind kind);  // "int"

// The value of an attribute. A list's elements are of one kind and no lists. `float` values are f32 values.
struct OpAttrValue {
  std::variant<std::string, int64_t, float, bool, ElementType, PartialShape, Literal,
               std::vector<OpAttrValue>>
      value;
  bool is_list() const { return std::holds_alternative<std::vector<OpAttrValue>>(value); }
};
// A list of values of one kind.
template <class T>
OpAttrValue ListValue(const std::vector<T>& items) {
  std::vector<OpAttrValue> list;
  list.reserve(items.size());
  for (const T& item : items) list.push_back({item});
  return {std::move(list)};
}
// By name; sorted by the order of the operation's attributes.
using OpAttrValues = std::vector<std::pair<std::string, OpAttrValue>>;
const OpAttrValue* FindValue(const OpAttrValues& values, std::string_view name);

// `name: kind {set} >= minimum = default`.
struct OpAttrDef {
  std::string name;
  OpAttrKind kind = OpAttrKind::kInt;
  bool is_list = false;
  // Of an int the value, of a list the length. 1 where the attribute says how long a sequence is and has no
  // minimum of its own.
  std::optional<int64_t> minimum;
  std::vector<std::string> strings;  // the strings that a restricted `string` may be; empty: any
  std::vector<ElementType> types;    // the types that a `type` may be, in their own order; empty: any
  std::optional<OpAttrValue> default_value;
  // The registered text in one form, whatever its spaces were: what messages and documents show.
  std::string spec;
  // Whether operands say the value (docs/spec/custom-ops.md, 1.1); set by MakeInterface.
  bool is_inferred = false;
};

// `name: io-type`: one value, or a sequence of them.
struct OpArgument {
  enum class Kind : uint8_t { kArray, kToken, kOpaque };
  std::string name;
  Kind kind = Kind::kArray;
  bool is_reference = false;        // Ref(t): a buffer operand, or one that the result aliases
  std::optional<ElementType> type;  // a fixed element type
  // Else the attribute that says it: of kind `type`, or `list(type)`, then a sequence (has_type_list).
  std::string type_attr;
  bool has_type_list = false;
  std::string count_attr;  // N of `N * t`: a sequence of N arrays; empty: one
  std::string spec;

  // The attribute that says how many values there are, by its value or its length; empty: one value.
  const std::string& length_attr() const { return has_type_list ? type_attr : count_attr; }
};

// The texts of a registration.
struct OpRegistration {
  std::string name;
  std::vector<std::string> attrs, inputs, outputs;
  std::string doc;
  bool has_side_effect = false;
  bool is_stateful = false;
  std::string composite;  // the composite operation that it may be taken for ("ns.op"); empty: none
  int64_t composite_version = 0;
};

struct OpInterface {
  std::string name;
  std::vector<OpAttrDef> attrs;
  std::vector<OpArgument> inputs, outputs;
  std::string doc;
  bool has_side_effect = false, is_stateful = false;
  std::string composite;
  int64_t composite_version = 0;

  const OpAttrDef* FindAttr(std::string_view attr) const;
};

// Reads and checks a registration (OP-1, OP-3, every rule of 1.1 and 1.2). Error: InvalidProgram,
// "op NAME: …", with the text that is wrong in quotes and what is wanted.
absl::StatusOr<OpInterface> MakeInterface(const OpRegistration& registration);

// Whether they say the same, documentation aside: a second registration of the same is ignored (OP-2).
bool SameInterface(const OpInterface& a, const OpInterface& b);

// The text of a value as a registration writes it ('foo', -3, 1.5, true, f32, [?,3], s32[2] {1, 2}, [2, 3]),
// and back.
std::string ValueText(const OpAttrValue& value);
absl::StatusOr<OpAttrValue> ParseValue(const OpAttrDef& attr, std::string_view text);

// ATTR-2, ATTR-3: "attr 'a' of op X: …".
absl::Status CheckValue(const OpInterface& op, const OpAttrDef& attr, const OpAttrValue& value);

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_OP_INTERFACE_H_
