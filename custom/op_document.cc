#include "custom/op_document.h"

#include <algorithm>

#include "fmt/format.h"
#include "fmt/ranges.h"

namespace assay::custom {
namespace {

// "to_zero; preserve_index = 0": the operands, then the attributes that a call gives.
std::string SignatureOf(const OpInterface& op) {
  std::vector<std::string> names;
  for (const OpArgument& input : op.inputs) names.push_back(input.name);
  std::string text = fmt::format("{}", fmt::join(names, ", "));
  names.clear();
  for (const OpAttrDef& attr : op.attrs) {
    if (attr.is_inferred) continue;
    names.push_back(attr.default_value ? fmt::format("{} = {}", attr.name, ValueText(*attr.default_value))
                                       : attr.name);
  }
  if (!names.empty()) text += fmt::format("; {}", fmt::join(names, ", "));
  names.clear();
  for (const OpArgument& output : op.outputs) names.push_back(output.name);
  return fmt::format("{}({}) -> {}", op.name, text,
                     names.empty() ? "()" : fmt::format("{}", fmt::join(names, ", ")));
}

// Without blank lines before and behind it.
std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin);
}

std::string_view NoteOf(const OpArgument& argument) {
  if (argument.is_reference) return "  (a buffer, or an operand that a result aliases)";
  if (argument.has_type_list) return "  (a sequence, each array of a type of its own)";
  return argument.count_attr.empty() ? "" : "  (a sequence of arrays of one type)";
}

std::string LinesOf(std::string_view title, const std::vector<OpArgument>& arguments) {
  if (arguments.empty()) return "";
  std::string text = fmt::format("\n{}:\n", title);
  for (const OpArgument& argument : arguments)
    text += fmt::format("  {}{}\n", argument.spec, NoteOf(argument));
  return text;
}

}  // namespace

std::string DocumentOf(const OpInterface& op) {
  std::string text = SignatureOf(op) + "\n";
  if (const std::string_view doc = Trimmed(op.doc); !doc.empty()) text += fmt::format("\n{}\n", doc);
  text += LinesOf("Inputs", op.inputs);
  text += LinesOf("Outputs", op.outputs);
  if (!op.attrs.empty()) text += "\nAttributes:\n";
  for (const OpAttrDef& attr : op.attrs) {
    text += fmt::format("  {}{}\n", attr.spec, attr.is_inferred ? "  (the operands say it)" : "");
  }
  std::string notes;
  if (op.has_side_effect) notes += "Has side effects: calls have custom_call_has_side_effect=true.\n";
  if (op.is_stateful) notes += "Keeps state between calls.\n";
  if (!op.composite.empty()) {
    notes +=
        fmt::format("May be taken for the composite {}, version {}.\n", op.composite, op.composite_version);
  }
  return notes.empty() ? text : text + "\n" + notes;
}

// A '_' before a capital that begins a word: after a small letter, or before one and behind anything but a
// '_'.
std::string WrapperName(std::string_view op) {
  const auto is_lower = [&](size_t i) { return i < op.size() && op[i] >= 'a' && op[i] <= 'z'; };
  std::string name;
  for (size_t i = 0; i < op.size(); ++i) {
    const bool is_upper = op[i] >= 'A' && op[i] <= 'Z';
    const bool begins_word =
        is_upper && i > 0 && op[i - 1] != '_' && op[i - 1] != '.' && (is_lower(i - 1) || is_lower(i + 1));
    if (begins_word) name += '_';
    name += op[i] == '.' ? '_' : is_upper ? static_cast<char>(op[i] - 'A' + 'a') : op[i];
  }
  return name;
}

}  // namespace assay::custom
