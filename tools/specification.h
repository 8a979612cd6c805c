// The specification, docs/spec, as text in the program (CMakeLists.txt puts it there): what `assay ops`
// prints of an operation and of a rule. tools/check_spec holds the form of the pages.
#ifndef ASSAY_TOOLS_SPECIFICATION_H_
#define ASSAY_TOOLS_SPECIFICATION_H_

#include <string>
#include <string_view>
#include <vector>

namespace assay::cli {

// The section of an operation, heading included, up to the next heading of its level or above;
// empty where there is none.
std::string_view SectionOf(std::string_view opcode);

// The labels of the rules that the section of an operation defines, in its order.
std::vector<std::string> LabelsOf(std::string_view opcode);

// The labels of all rules, each once.
std::vector<std::string> AllLabels();

// The list item that defines a rule, "Gather-C4"; empty where there is none.
std::string_view ParagraphOf(std::string_view label);

}  // namespace assay::cli

#endif  // ASSAY_TOOLS_SPECIFICATION_H_
