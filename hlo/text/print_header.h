// The first line of a module's text and the stack frame tables below it (docs/spec/hlo-text.md sections 3 and
// 8).
#ifndef ASSAY_HLO_TEXT_PRINT_HEADER_H_
#define ASSAY_HLO_TEXT_PRINT_HEADER_H_

#include <string>

#include "hlo/module.h"

namespace assay::print {

// Up to and including the blank line before the first computation, with these stack frame tables.
void AppendModuleHeader(const Module& module, const FrameTables& tables, std::string& out);

}  // namespace assay::print

#endif  // ASSAY_HLO_TEXT_PRINT_HEADER_H_
