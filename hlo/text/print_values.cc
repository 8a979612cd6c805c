// Attribute values, strings, numbers and names of canonical HLO text (docs/spec/hlo-text.md sections 5, 7,
// 8).
#include "hlo/text/print_values.h"

#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "base/limits.h"
#include "literal/literal_text.h"
#include "shape/shape_text.h"

namespace assay::print {
namespace {

template <typename List, typename AppendOne>
void AppendJoined(const List& list, std::string_view separator, std::string& out, AppendOne append_one) {
  bool first = true;
  for (const auto& item : list) {
    if (!first) out += separator;
    first = false;
    append_one(item);
  }
}

// Length of the JSON dictionary at the start of `text`: braces match, "..." strings are skipped; 0 if none.
size_t JsonDictLength(std::string_view text) {
  size_t depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\0' || (i == 0 && text[i] != '{')) return 0;
    if (text[i] == '{') ++depth;
    if (text[i] == '}' && --depth == 0) return i + 1;
    if (text[i] != '"') continue;
    for (++i; i < text.size() && text[i] != '"'; ++i) {
      if (text[i] == '\\') ++i;
      if (i < text.size() && text[i] == '\0') return 0;
    }
  }
  return 0;
}

void AppendAxB(const Window& window, std::string& out, int64_t WindowDimension::*field) {
  AppendJoined(window, "x", out, [&](const WindowDimension& d) { out += std::to_string(d.*field); });
}

// One "name=AxB" part, left out where every dimension has the default.
void AppendWindowPart(const Window& window, std::string_view name, int64_t WindowDimension::*field,
                      std::string& out) {
  bool all_default = true;
  for (const WindowDimension& d : window) all_default = all_default && d.*field == 1;
  if (all_default) return;
  out += name;
  AppendAxB(window, out, field);
}

void AppendWindow(const Window& window, std::string& out) {
  if (window.empty()) {
    out += "{}";
    return;
  }
  out += "{size=";
  AppendAxB(window, out, &WindowDimension::size);
  AppendWindowPart(window, " stride=", &WindowDimension::stride, out);
  bool padded = false, reversed = false;
  for (const WindowDimension& d : window) {
    padded = padded || d.padding_low != 0 || d.padding_high != 0;
    reversed = reversed || d.reversal;
  }
  if (padded) {
    out += " pad=";
    AppendJoined(window, "x", out, [&](const WindowDimension& d) {
      out += std::to_string(d.padding_low) + "_" + std::to_string(d.padding_high);
    });
  }
  AppendWindowPart(window, " lhs_dilate=", &WindowDimension::base_dilation, out);
  AppendWindowPart(window, " rhs_dilate=", &WindowDimension::window_dilation, out);
  if (reversed) {
    out += " rhs_reversal=";
    AppendJoined(window, "x", out, [&](const WindowDimension& d) { out += d.reversal ? "1" : "0"; });
  }
  out += "}";
}

void AppendPadding(const PaddingConfig& padding, std::string& out) {
  bool interior = false;
  for (const PaddingDimension& d : padding) interior = interior || d.interior != 0;
  AppendJoined(padding, "x", out, [&](const PaddingDimension& d) {
    out += std::to_string(d.low) + "_" + std::to_string(d.high);
    if (interior) out += "_" + std::to_string(d.interior);
  });
}

void AppendSlices(const SliceConfig& slices, std::string& out) {
  bool strides = false;
  for (const SliceDimension& d : slices) strides = strides || d.stride != 1;
  out += "{";
  AppendJoined(slices, ", ", out, [&](const SliceDimension& d) {
    out += "[" + std::to_string(d.start) + ":" + std::to_string(d.limit);
    if (strides) out += ":" + std::to_string(d.stride);
    out += "]";
  });
  out += "}";
}

// One of the three parts of dim_labels: letters at their positions, spatial numbers elsewhere.
void AppendDimLabels(int64_t a, char a_letter, int64_t b, char b_letter, const Ints& spatial,
                     std::string& out) {
  // Behind the last dimension that has a label none is written, as XLA has it.
  std::vector<std::string> labels(spatial.size() + 2, "?");
  const auto put = [&](int64_t position, std::string label) {
    if (position < 0) return;
    if (position >= static_cast<int64_t>(labels.size()))
      labels.resize(static_cast<size_t>(position) + 1, "?");
    labels[static_cast<size_t>(position)] = std::move(label);
  };
  put(a, std::string(1, a_letter));
  put(b, std::string(1, b_letter));
  for (size_t i = 0; i < spatial.size(); ++i) put(spatial[i], std::to_string(i));
  for (const std::string& label : labels) out += label;
}

void AppendConvDimensionNumbers(const ConvDimensionNumbers& d, std::string& out) {
  AppendDimLabels(d.input_batch, 'b', d.input_feature, 'f', d.input_spatial, out);
  out += "_";
  AppendDimLabels(d.kernel_output_feature, 'o', d.kernel_input_feature, 'i', d.kernel_spatial, out);
  out += "->";
  AppendDimLabels(d.output_batch, 'b', d.output_feature, 'f', d.output_spatial, out);
}

// "{{0}: (1, {}), {1}: (0, {})}"
void AppendAliasing(const Aliasing& aliasing, std::string& out) {
  out += "{";
  AppendJoined(aliasing, ", ", out, [&](const OutputOperandAlias& alias) {
    AppendInts(alias.output_index, out);
    out += ": (" + std::to_string(alias.operand) + ", ";
    AppendInts(alias.operand_index, out);
    out += ")";
  });
  out += "}";
}

void AppendAccuracy(const ResultAccuracy& accuracy, std::string& out) {
  if (accuracy.mode != ResultAccuracy::Mode::kTolerance) {
    out += accuracy.mode == ResultAccuracy::Mode::kHighest ? "{mode=highest}" : "{mode=default}";
    return;
  }
  out += "{tolerance={atol=";
  AppendDouble(accuracy.atol, out);
  out += ",rtol=";
  AppendDouble(accuracy.rtol, out);
  out += ",ulps=";
  AppendDouble(accuracy.ulps, out);
  out += "}}";
}

void AppendIntLists(const IntLists& lists, std::string& out) {
  out += "{";
  AppendJoined(lists, ",", out, [&](const Ints& list) { AppendInts(list, out); });
  out += "}";
}

// "f32[2]{0} {1, 2}", tuples "( f32[] 1, ... )", as the attribute literal= is written.
void AppendShapedLiteral(const Literal& literal, std::string& out, int depth = 0) {
  if (literal.shape().IsTuple() && depth < kMaxNesting) {
    out += "( ";
    for (int64_t i = 0; i < literal.tuple_size(); ++i) {
      if (i > 0) out += ", ";
      AppendShapedLiteral(literal.element(i), out, depth + 1);
    }
    out += " )";
    return;
  }
  out += ShapeToText(literal.shape(), LayoutText::kAlways) + " " + LiteralToText(literal);
}

// Words that the grammar reads without regard to case, in the case that the printer gives them.
std::string CanonicalWord(Attr attr, std::string word) {
  switch (attr) {
    case Attr::kAlgorithm:
    case Attr::kDistribution:
    case Attr::kOperandPrecision:
    case Attr::kConvolutionKind:
      for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      return word;
    case Attr::kApiVersion:
    case Attr::kSchedule:
      for (char& c : word) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      return word;
    default:
      return word;
  }
}

// Appends whatever the variant holds; one overload a type.
struct ValueAppender {
  Attr attr;
  std::span<const std::string> computation_names;
  std::string& out;

  void operator()(bool value) const { out += value ? "true" : "false"; }
  void operator()(int64_t value) const { out += std::to_string(value); }
  void operator()(double value) const { AppendDouble(value, out); }
  void operator()(const std::string& value) const { AppendQuoted(value, out); }
  void operator()(const Word& value) const { out += CanonicalWord(attr, value.text); }
  void operator()(const std::vector<Word>& words) const {
    out += "{";
    AppendJoined(words, ",", out, *this);
    out += "}";
  }
  void operator()(const Ints& value) const { AppendInts(value, out); }
  void operator()(const IntLists& value) const { AppendIntLists(value, out); }
  void operator()(const Window& value) const { AppendWindow(value, out); }
  void operator()(const PaddingConfig& value) const { AppendPadding(value, out); }
  void operator()(const SliceConfig& value) const { AppendSlices(value, out); }
  void operator()(const std::shared_ptr<const ConvDimensionNumbers>& value) const {
    AppendConvDimensionNumbers(*value, out);
  }
  void operator()(ComputationId id) const { out += "%" + computation_names[id.value]; }
  void operator()(const std::vector<ComputationId>& ids) const {
    out += "{";
    AppendJoined(ids, ", ", out, *this);
    out += "}";
  }
  void operator()(const std::shared_ptr<const Shape>& shape) const {
    out += ShapeToText(*shape, LayoutText::kAlways);
  }
  void operator()(const ShapeList& shapes) const {
    out += "{";
    AppendJoined(shapes, ", ", out,
                 [this](const Shape& shape) { out += ShapeToText(shape, LayoutText::kAlways); });
    out += "}";
  }
  void operator()(const LiteralPtr& literal) const { AppendShapedLiteral(*literal, out); }
  void operator()(const Aliasing& value) const { AppendAliasing(value, out); }
  void operator()(const std::shared_ptr<const ReplicaGroups>& value) const {
    if (value->compact_text.empty()) {
      AppendIntLists(value->groups, out);
    } else {
      out += value->compact_text;
    }
  }
  void operator()(const ResultAccuracy& value) const { AppendAccuracy(value, out); }
  void operator()(const RawText& value) const { out += value.text; }
};

}  // namespace

void AppendInts(std::span<const int64_t> values, std::string& out) {
  out += "{";
  AppendJoined(values, ",", out, [&](int64_t value) { out += std::to_string(value); });
  out += "}";
}

void AppendQuoted(std::string_view text, std::string& out) {
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '"' || c == '\'' || c == '\\') {
      out += {'\\', c};
    } else if (byte < 0x20 || byte >= 0x7f) {
      out += {'\\', static_cast<char>('0' + (byte >> 6)), static_cast<char>('0' + ((byte >> 3) & 7)),
              static_cast<char>('0' + (byte & 7))};
    } else {
      out += c;
    }
  }
  out += '"';
}

void AppendStringOrJson(std::string_view text, std::string& out) {
  // Decision: json-bare-only-when-exact. XLA's printer also leaves the quotes off where blanks or comments
  // surround the dictionary, which reading then drops.
  if (!text.empty() && JsonDictLength(text) == text.size()) {
    out += text;
  } else {
    AppendQuoted(text, out);
  }
}

void AppendDouble(double value, std::string& out) {
  // Decision: double-attributes-round-trip. XLA prints these with six digits and so loses their value.
  char buffer[40];
  for (const int digits : {6, 9, 17}) {
    std::snprintf(buffer, sizeof buffer, "%.*g", digits, value);
    if (std::isnan(value) || std::strtod(buffer, nullptr) == value) break;
  }
  out += value == 0 && std::signbit(value) ? "-0.0" : buffer;
}

void AppendFrontendAttributes(const FrontendAttributes& attributes, std::string& out) {
  out += "{";
  AppendJoined(attributes, ",", out, [&](const auto& attribute) {
    out += attribute.first + "=";
    AppendStringOrJson(attribute.second.text, out);
  });
  out += "}";
}

void AppendMetadata(const OpMetadata& metadata, int64_t stack_frame_id, std::string& out) {
  std::string fields;
  const auto text = [&fields](std::string_view name, std::string_view value) {
    if (value.empty()) return;
    fields += fields.empty() ? "" : " ";
    fields += name;
    AppendQuoted(value, fields);
  };
  const auto number = [&fields](std::string_view name, int64_t value) {
    if (value == 0) return;
    fields += fields.empty() ? "" : " ";
    fields += name;
    fields += std::to_string(value);
  };
  text("op_type=", metadata.op_type);
  text("op_name=", metadata.op_name);
  text("source_file=", metadata.source_file);
  number("source_line=", metadata.source_line);
  number("source_end_line=", metadata.source_end_line);
  number("source_column=", metadata.source_column);
  number("source_end_column=", metadata.source_end_column);
  if (!metadata.profile_type.empty()) {
    fields += fields.empty() ? "profile_type=" : " profile_type=";
    AppendInts(metadata.profile_type, fields);
  }
  text("deduplicated_name=", metadata.deduplicated_name);
  text("scheduling_name=", metadata.scheduling_name);
  number("stack_frame_id=", stack_frame_id);
  text("metadata_payload=", metadata.metadata_payload);
  if (!fields.empty()) out += ", metadata={" + fields + "}";
}

void AppendListSeparator(size_t index, std::string& out) {
  if (index == 0) return;
  out += ", ";
  if (index % 5 == 0) out += "/*index=" + std::to_string(index) + "*/";
}

void AppendAttributeValue(Attr attr, const AttrValue& value, std::span<const std::string> computation_names,
                          std::string& out) {
  std::visit(ValueAppender{attr, computation_names, out}, value);
}

bool IsLegalName(std::string_view name) {
  static constexpr uint8_t kFirst = 1, kInside = 2;
  static constexpr auto kClasses = [] {
    std::array<uint8_t, 256> classes{};
    for (const char c : std::string_view("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"))
      classes[static_cast<uint8_t>(c)] = kFirst | kInside;
    for (const char c : std::string_view("0123456789.-")) classes[static_cast<uint8_t>(c)] = kInside;
    return classes;
  }();
  uint8_t all = kFirst | kInside;
  if (name.empty() || (kClasses[static_cast<uint8_t>(name[0])] & kFirst) == 0) return false;
  for (const char c : name) all &= kClasses[static_cast<uint8_t>(c)];
  if ((all & kInside) == 0) return false;
  if (name.starts_with("__") && !name.starts_with("__xla_")) return false;
  return !ElementTypeFromName(name).has_value() && name != "token" && name != "opaque";
}

std::string SanitizedName(std::string_view name) {
  std::string result(name);
  if (result.empty()) return "_";
  for (char& c : result) {
    const char one[] = {'a', c};
    if (!IsLegalName(std::string_view(one, 2))) c = '_';
  }
  if (!IsLegalName(std::string_view(result).substr(0, 1))) result.insert(0, "_");
  if (result.starts_with("__") && !result.starts_with("__xla_")) result[0] = 'a';
  if (!IsLegalName(result)) result += "_";
  return result;
}

}  // namespace assay::print

namespace assay {

std::string Quoted(std::string_view text) {
  std::string quoted;
  print::AppendQuoted(text, quoted);
  return quoted;
}

}  // namespace assay
