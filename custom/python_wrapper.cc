// PythonWrapper of op_document.h.
#include <algorithm>
#include <cmath>

#include "custom/op_document.h"
#include "custom/spec_reader.h"
#include "custom/wrapper_names.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace assay::custom {
namespace {

// Keywords, and what wrappers use themselves.
constexpr std::string_view kPythonNames[] = {
    "False",  "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class",  "continue", "def",   "del",    "elif", "else",   "except", "for",      "from",
    "global", "finally",  "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",     "pass",     "raise", "return", "try",  "while",  "with",   "yield",    "name"};

// "'a'", or "b'\xff'" where it is no ASCII: the escapes are those of a registration's text.
std::string PythonString(const std::string& text) {
  const bool is_ascii =
      std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  return (is_ascii ? "" : "b") + QuoteText(text);
}

std::string PythonValue(const OpAttrValue& value) {
  struct Writer {
    std::string operator()(const std::string& text) const { return PythonString(text); }
    std::string operator()(int64_t number) const { return fmt::format("{}", number); }
    std::string operator()(float number) const {
      const std::string text = ValueText({number});
      return std::isfinite(number) ? text : fmt::format("float('{}')", text);
    }
    std::string operator()(bool flag) const { return flag ? "True" : "False"; }
    std::string operator()(ElementType type) const { return fmt::format("'{}'", assay::Name(type)); }
    std::string operator()(const PartialShape& shape) const {
      return fmt::format("'{}'", ValueText({shape}));
    }
    std::string operator()(const Literal& tensor) const { return fmt::format("'{}'", ValueText({tensor})); }
    std::string operator()(const std::vector<OpAttrValue>& list) const {
      std::vector<std::string> items;
      items.reserve(list.size());
      for (const OpAttrValue& item : list) items.push_back(PythonValue(item));
      return fmt::format("[{}]", fmt::join(items, ", "));
    }
  };
  return std::visit(Writer(), value.value);
}

// The document as a doc string, each line indented.
std::string DocString(const OpInterface& op) {
  std::string text = "    \"\"\"";
  for (const char c : DocumentOf(op)) {
    if (c == '\\' || c == '"') text += '\\';
    const bool is_control = static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t';
    text += is_control ? fmt::format("\\x{:02x}", static_cast<int>(c)) : std::string(1, c);
    if (c == '\n') text += "    ";
  }
  text += "\"\"\"\n";
  for (size_t blank = text.find("\n    \n"); blank != std::string::npos; blank = text.find("\n    \n")) {
    text.erase(blank + 1, 4);
  }
  return text;
}

}  // namespace

std::string PythonWrapper(const OpInterface& op) {
  const WrapperArguments arguments =
      WrapperArgumentsOf(op, {std::begin(kPythonNames), std::end(kPythonNames)});
  std::vector<std::string> parameters = arguments.inputs;
  std::vector<std::string> entries;
  for (const auto& [attr, name] : arguments.attrs) {
    parameters.push_back(attr->default_value ? fmt::format("{}={}", name, PythonValue(*attr->default_value))
                                             : name);
    entries.push_back(fmt::format("\"{}\": {}", attr->name, name));
  }
  parameters.emplace_back("name=None");
  return fmt::format("def {}({}):\n{}    return _call(\"{}\", [{}], {{{}}}, name=name)\n",
                     WrapperName(op.name), fmt::join(parameters, ", "), DocString(op), op.name,
                     fmt::join(arguments.inputs, ", "), fmt::join(entries, ", "));
}

}  // namespace assay::custom
