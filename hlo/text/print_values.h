// Pieces of canonical HLO text that know nothing of modules: strings, numbers, names, and the value of one
// attribute (docs/spec/hlo-text.md sections 5, 7 and 8). Used by printer.cc.
#ifndef ASSAY_HLO_TEXT_PRINT_VALUES_H_
#define ASSAY_HLO_TEXT_PRINT_VALUES_H_

#include <span>
#include <string>
#include <string_view>

#include "hlo/module.h"

namespace assay::print {

// "{1,2}"
void AppendInts(std::span<const int64_t> values, std::string& out);
// "\n", "\t", "\"" and the like, other bytes outside 0x20..0x7e as three octal digits, between quotes.
void AppendQuoted(std::string_view text, std::string& out);
// Bare where the whole text is one JSON dictionary, else quoted.
void AppendStringOrJson(std::string_view text, std::string& out);
// Shortest of 6, 9 and 17 significant digits that reads back as the same double.
void AppendDouble(double value, std::string& out);
// "{k="v",k2={json}}"
void AppendFrontendAttributes(const FrontendAttributes& attributes, std::string& out);
// "metadata={...}" with the printed number of the stack frame; nothing, not even the comma, where every field
// is empty.
void AppendMetadata(const OpMetadata& metadata, int64_t stack_frame_id, std::string& out);
// ", /*index=5*/" before every fifth element, ", " before the others but the first.
void AppendListSeparator(size_t index, std::string& out);

// The value of an attribute as its form says; computations are "%name", from the module's printed names.
void AppendAttributeValue(Attr attr, const AttrValue& value, std::span<const std::string> computation_names,
                          std::string& out);

// A name that the parser accepts: [A-Za-z_][A-Za-z0-9_.-]*, not an element type, no leading "__".
bool IsLegalName(std::string_view name);
std::string SanitizedName(std::string_view name);

}  // namespace assay::print

namespace assay {

// "text" as the printer quotes strings (section 8).
std::string Quoted(std::string_view text);

}  // namespace assay

#endif  // ASSAY_HLO_TEXT_PRINT_VALUES_H_
