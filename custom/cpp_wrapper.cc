// CppWrapper of op_document.h.
#include <algorithm>
#include <cmath>

#include "custom/op_document.h"
#include "custom/wrapper_names.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace assay::custom {
namespace {

// Keywords, and what wrappers use themselves.
constexpr std::string_view kCppNames[] = {
    "alignas",     "alignof",    "and",        "and_eq",    "asm",      "auto",         "bitand",
    "bitor",       "bool",       "break",      "case",      "catch",    "char",         "char8_t",
    "char16_t",    "char32_t",   "class",      "compl",     "concept",  "const",        "consteval",
    "constexpr",   "constinit",  "const_cast", "continue",  "co_await", "co_return",    "co_yield",
    "decltype",    "default",    "delete",     "do",        "double",   "dynamic_cast", "else",
    "enum",        "explicit",   "export",     "extern",    "false",    "float",        "for",
    "friend",      "goto",       "if",         "inline",    "int",      "long",         "mutable",
    "namespace",   "new",        "noexcept",   "not",       "not_eq",   "nullptr",      "operator",
    "or",          "or_eq",      "private",    "protected", "public",   "register",     "reinterpret_cast",
    "requires",    "return",     "short",      "signed",    "sizeof",   "static",       "static_assert",
    "static_cast", "struct",     "switch",     "template",  "this",     "thread_local", "throw",
    "true",        "try",        "typedef",    "typeid",    "typename", "union",        "unsigned",
    "using",       "virtual",    "void",       "volatile",  "wchar_t",  "while",        "xor",
    "xor_eq",      "builder",    "result",     "operands",  "Shape",    "XlaOp",        "Literal",
    "ElementType", "CustomCall", "attrs",      "assay",     "absl",     "std",          "custom"};

constexpr std::string_view kCppTypes[] = {"std::string",          "int64_t", "float", "bool", "ElementType",
                                          "custom::PartialShape", "Literal"};

// As an argument: small values as they are.
std::string CppParameterType(const OpAttrDef& attr) {
  const std::string_view type = kCppTypes[static_cast<size_t>(attr.kind)];
  if (attr.is_list) return fmt::format("const std::vector<{}>&", type);
  const bool is_small = attr.kind == OpAttrKind::kInt || attr.kind == OpAttrKind::kFloat ||
                        attr.kind == OpAttrKind::kBool || attr.kind == OpAttrKind::kType;
  return is_small ? std::string(type) : fmt::format("const {}&", type);
}

// As a C++ string literal; a digit behind an octal escape is no part of it, as it has all three digits.
std::string CppString(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted +=
        c >= 0x20 && c < 0x7f ? std::string(1, c) : fmt::format("\\{:03o}", static_cast<unsigned char>(c));
  }
  return quoted + "\"";
}

std::string CppFloat(float value) {
  if (std::isnan(value)) return "std::numeric_limits<float>::quiet_NaN()";
  const std::string_view sign = std::signbit(value) ? "-" : "";
  if (std::isinf(value)) return fmt::format("{}std::numeric_limits<float>::infinity()", sign);
  return ValueText({value}) + "F";
}

// An expression of the parameter's type.
std::string CppValue(const OpAttrValue& value) {
  struct Writer {
    std::string operator()(const std::string& text) const {
      // With its length where a byte is zero.
      if (text.find('\0') == std::string::npos) return CppString(text);
      return fmt::format("std::string({}, {})", CppString(text), text.size());
    }
    std::string operator()(int64_t number) const {
      // The least value has no literal of its own.
      return number == INT64_MIN ? "INT64_MIN" : fmt::format("{}", number);
    }
    std::string operator()(float number) const { return CppFloat(number); }
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(ElementType type) const {
      return fmt::format("*ElementTypeFromName(\"{}\")", assay::Name(type));
    }
    std::string operator()(const PartialShape& shape) const {
      if (!shape.dims) return "custom::PartialShape{}";
      return fmt::format("custom::PartialShape{{std::vector<int64_t>{{{}}}}}", fmt::join(*shape.dims, ", "));
    }
    std::string operator()(const Literal& tensor) const {
      return fmt::format("*ParseShapedLiteral({})", CppString(ValueText({tensor})));
    }
    std::string operator()(const std::vector<OpAttrValue>& list) const {
      std::vector<std::string> items;
      items.reserve(list.size());
      for (const OpAttrValue& item : list) items.push_back(CppValue(item));
      return fmt::format("{{{}}}", fmt::join(items, ", "));
    }
  };
  return std::visit(Writer(), value.value);
}

// "Acme.ZeroOut" -> "AcmeZeroOut".
std::string CppName(const OpInterface& op) {
  std::string name = op.name;
  std::erase(name, '.');
  return name;
}

std::string CommentOf(const OpInterface& op) {
  std::string text = "// ";
  for (const char c : DocumentOf(op)) {
    // A backslash before the line's end would go on with the comment.
    if (c == '\n' && text.back() == '\\') text += '.';
    if (c != '\r') text += c;
    if (c == '\n') text += "// ";
  }
  text.resize(text.size() - 3);
  for (size_t blank = text.find("// \n"); blank != std::string::npos; blank = text.find("// \n")) {
    text.erase(blank + 2, 1);
  }
  return text;
}

bool IsSequence(const OpArgument& argument) { return !argument.length_attr().empty(); }

// The statements that make `operands`.
std::string OperandsOf(const OpInterface& op, const WrapperArguments& arguments) {
  if (std::ranges::none_of(op.inputs, IsSequence)) {
    return fmt::format("  const std::vector<XlaOp> operands = {{{}}};\n", fmt::join(arguments.inputs, ", "));
  }
  std::string text = "  std::vector<XlaOp> operands;\n";
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const std::string& name = arguments.inputs[i];
    text += IsSequence(op.inputs[i])
                ? fmt::format("  operands.insert(operands.end(), {0}.begin(), {0}.end());\n", name)
                : fmt::format("  operands.push_back({});\n", name);
  }
  return text;
}

// Entries that say how long the sequences are, where there are several: their number alone does not.
std::vector<std::string> LengthsOf(const OpInterface& op, const WrapperArguments& arguments) {
  std::vector<std::string> entries;
  std::vector<std::string_view> said;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const OpArgument& input = op.inputs[i];
    if (!IsSequence(input) || std::ranges::count(said, input.length_attr()) > 0) continue;
    said.push_back(input.length_attr());
    const std::string value = input.has_type_list
                                  ? fmt::format("custom::TypesOf(*builder, {})", arguments.inputs[i])
                                  : fmt::format("{{static_cast<int64_t>({}.size())}}", arguments.inputs[i]);
    entries.push_back(fmt::format("{{\"{}\", {}}}", input.length_attr(), value));
  }
  return entries.size() > 1 ? entries : std::vector<std::string>();
}

}  // namespace

std::string CppWrapper(const OpInterface& op) {
  const WrapperArguments arguments = WrapperArgumentsOf(op, {std::begin(kCppNames), std::end(kCppNames)});
  std::vector<std::string> parameters = {"XlaBuilder* builder"};
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    parameters.push_back(fmt::format("{} {}", IsSequence(op.inputs[i]) ? "absl::Span<const XlaOp>" : "XlaOp",
                                     arguments.inputs[i]));
  }
  parameters.emplace_back("const Shape& result");
  std::vector<std::string> attrs = LengthsOf(op, arguments);
  for (const auto& [attr, name] : arguments.attrs) {
    parameters.push_back(fmt::format("{} {}", CppParameterType(*attr), name));
    if (attr->default_value) parameters.back() += " = " + CppValue(*attr->default_value);
    attrs.push_back(fmt::format(
        "{{\"{}\", {}}}", attr->name,
        attr->is_list ? fmt::format("custom::ListValue({})", name) : fmt::format("{{{}}}", name)));
  }
  return fmt::format(
      "{}inline XlaOp {}({}) {{\n{}  const custom::OpAttrValues attrs = {{{}}};\n"
      "  return CustomCall(builder, \"{}\", operands, result, custom::ConfigText(custom::ConfigOf(attrs)), "
      "{},\n"
      "                    {{}}, nullptr, CustomCallSchedule::kNone, CustomCallApiVersion::{});\n}}\n",
      CommentOf(op), CppName(op), fmt::join(parameters, ", "), OperandsOf(op, arguments),
      fmt::join(attrs, ", "), op.name, op.has_side_effect, "kTypedFfi");
}

}  // namespace assay::custom
