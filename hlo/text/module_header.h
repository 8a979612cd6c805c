// The first line of a module and the stack frame tables after it (docs/spec/hlo-text.md section 3).
#ifndef ASSAY_HLO_TEXT_MODULE_HEADER_H_
#define ASSAY_HLO_TEXT_MODULE_HEADER_H_

#include "hlo/module.h"
#include "hlo/text/token_reader.h"

namespace assay {

// "HloModule name, attribute=value, ..." and the frame tables, if any.
absl::Status ReadModuleHeader(TokenReader& in, Module* module);

}  // namespace assay

#endif  // ASSAY_HLO_TEXT_MODULE_HEADER_H_
