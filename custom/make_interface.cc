// Registrations read and checked: MakeInterface of op_interface.h.
#include <algorithm>

#include "custom/argument_spec.h"
#include "custom/attr_spec.h"
#include "custom/op_interface.h"
#include "custom/spec_reader.h"
#include "custom/value_text.h"
#include "fmt/format.h"

namespace assay::custom {
namespace {

// OP-1: segments [A-Z][A-Za-z0-9_]*, joined by '.', at least two.
absl::Status CheckOpName(std::string_view name) {
  size_t segments = 0;
  for (std::string_view rest = name;; ++segments) {
    const size_t end = std::min(rest.find('.'), rest.size());
    const std::string_view segment = rest.substr(0, end);
    if (!IsName(segment) || segment[0] < 'A' || segment[0] > 'Z') {
      return InvalidProgram({},
                            fmt::format("the name {} has the segment {}, wanted segments [A-Z][A-Za-z0-9_]* "
                                        "joined by '.'",
                                        ShownText(name), ShownText(segment)));
    }
    if (end == rest.size()) break;
    rest.remove_prefix(end + 1);
  }
  if (segments == 0) {
    return InvalidProgram(
        {}, fmt::format("the name {} has no prefix, wanted the project's own before it, as 'Acme.{}'",
                        ShownText(name), name));
  }
  return absl::OkStatus();
}

// "ns.op", segments joined by '.'; empty: none.
absl::Status CheckComposite(const OpRegistration& registration) {
  const std::string& name = registration.composite;
  if (name.empty()) return absl::OkStatus();
  const bool is_joined = name.find('.') != std::string::npos && name.front() != '.' && name.back() != '.' &&
                         name.find("..") == std::string::npos;
  if (!is_joined) {
    return InvalidProgram(
        {}, fmt::format("composite {}, wanted a namespace and a name, as 'acme.zero_out'", ShownText(name)));
  }
  if (registration.composite_version < 0) {
    return InvalidProgram({}, fmt::format("composite '{}' has the version {}, wanted at least 0", name,
                                          registration.composite_version));
  }
  return absl::OkStatus();
}

// OP-3.
absl::Status CheckNamesAreDistinct(const OpInterface& op) {
  std::vector<std::pair<std::string_view, std::string>> names;
  const auto add = [&](std::string_view name, std::string what) {
    const auto other = std::ranges::find(names, name, [](const auto& pair) { return pair.first; });
    if (other != names.end()) {
      return InvalidProgram(
          {}, fmt::format("{} and {} have one name, wanted names that are distinct", other->second, what));
    }
    names.emplace_back(name, std::move(what));
    return absl::OkStatus();
  };
  for (const OpAttrDef& a : op.attrs) ASSAY_RETURN_IF_ERROR(add(a.name, fmt::format("attr '{}'", a.spec)));
  for (const OpArgument& a : op.inputs) ASSAY_RETURN_IF_ERROR(add(a.name, fmt::format("input '{}'", a.spec)));
  for (const OpArgument& a : op.outputs)
    ASSAY_RETURN_IF_ERROR(add(a.name, fmt::format("output '{}'", a.spec)));
  return absl::OkStatus();
}

// The argument among them whose type or count the attribute says; null: none.
const OpArgument* FindUse(const std::vector<OpArgument>& arguments, const OpAttrDef& attr) {
  const auto use = std::ranges::find_if(
      arguments, [&](const OpArgument& a) { return a.type_attr == attr.name || a.count_attr == attr.name; });
  return use == arguments.end() ? nullptr : &*use;
}

// An attribute that says how long a sequence is: at least 1 unless the attribute says otherwise.
absl::Status SetLengthMinimum(const OpInterface& op, OpAttrDef* attr) {
  const auto is_length = [&](const OpArgument& a) { return a.length_attr() == attr->name; };
  if (std::ranges::none_of(op.inputs, is_length) && std::ranges::none_of(op.outputs, is_length)) {
    return absl::OkStatus();
  }
  if (!attr->minimum) attr->minimum = 1;
  if (*attr->minimum >= 0) return absl::OkStatus();
  return InvalidProgram({},
                        fmt::format("attr '{}' says how long a sequence is and has the minimum {}, wanted at "
                                    "least 0",
                                    attr->spec, *attr->minimum));
}

// Names of attributes are snake_case. Those that an input says are capitalised, and those that say an
// output's type may be.
absl::Status CheckAttrName(const OpInterface& op, const OpAttrDef& attr) {
  const OpArgument* const input = FindUse(op.inputs, attr);
  const bool is_capitalised = attr.name[0] >= 'A' && attr.name[0] <= 'Z';
  if (input != nullptr && !is_capitalised) {
    return InvalidProgram(
        {}, fmt::format("attr '{}': input '{}' says its value, wanted a name with a capital before "
                        "it, as T",
                        attr.spec, input->spec));
  }
  if (input == nullptr && !IsSnakeCase(attr.name) &&
      !(is_capitalised && FindUse(op.outputs, attr) != nullptr)) {
    return InvalidProgram(
        {}, fmt::format("attr '{}': no input says its value, wanted a name [a-z][a-z0-9_]*", attr.spec));
  }
  const bool is_word_of_types = ElementTypeFromName(attr.name).has_value() || attr.name == "Token" ||
                                attr.name == "Opaque" || attr.name == "Ref";
  if (attr.kind == OpAttrKind::kType && is_word_of_types) {
    return InvalidProgram({},
                          fmt::format("attr '{}' has the name of a type, wanted another name", attr.spec));
  }
  return absl::OkStatus();
}

absl::Status FinishAttr(const OpInterface& op, OpAttrDef* attr) {
  ASSAY_RETURN_IF_ERROR(CheckAttrName(op, *attr));
  attr->is_inferred = FindUse(op.inputs, *attr) != nullptr;
  ASSAY_RETURN_IF_ERROR(SetLengthMinimum(op, attr));
  if (!attr->default_value) return absl::OkStatus();
  const std::string violation = ViolationOf(*attr, *attr->default_value);
  if (violation.empty()) return absl::OkStatus();
  return InvalidProgram({}, fmt::format("attr {}: the default {} {}", ShownText(attr->spec),
                                        ShownValue(*attr->default_value), violation));
}

absl::Status FillInterface(const OpRegistration& registration, OpInterface* op) {
  ASSAY_RETURN_IF_ERROR(CheckOpName(op->name));
  ASSAY_RETURN_IF_ERROR(CheckComposite(registration));
  for (const std::string& spec : registration.attrs) {
    ASSAY_ASSIGN_OR_RETURN(OpAttrDef attr, ParseAttrSpec(spec));
    op->attrs.push_back(std::move(attr));
  }
  for (const std::string& spec : registration.inputs) {
    ASSAY_ASSIGN_OR_RETURN(OpArgument input, ParseArgumentSpec("input", spec, op->attrs));
    op->inputs.push_back(std::move(input));
  }
  for (const std::string& spec : registration.outputs) {
    ASSAY_ASSIGN_OR_RETURN(OpArgument output, ParseArgumentSpec("output", spec, op->attrs));
    op->outputs.push_back(std::move(output));
  }
  ASSAY_RETURN_IF_ERROR(CheckNamesAreDistinct(*op));
  for (OpAttrDef& attr : op->attrs) ASSAY_RETURN_IF_ERROR(FinishAttr(*op, &attr));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<OpInterface> MakeInterface(const OpRegistration& registration) {
  OpInterface op;
  op.name = registration.name;
  op.doc = registration.doc;
  op.has_side_effect = registration.has_side_effect;
  op.is_stateful = registration.is_stateful;
  op.composite = registration.composite;
  op.composite_version = registration.composite_version;
  const absl::Status status = FillInterface(registration, &op);
  if (!status.ok()) return WithPrefix(status, fmt::format("op {}", op.name));
  return op;
}

}  // namespace assay::custom
