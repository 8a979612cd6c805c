// HLO text to Module: syntax only (docs/spec/hlo-text.md sections 1 to 7).
#ifndef ASSAY_HLO_TEXT_PARSER_H_
#define ASSAY_HLO_TEXT_PARSER_H_

#include <string_view>
#include <vector>

#include "hlo/diagnostics.h"
#include "hlo/module.h"

namespace assay {

// Accepts a module, headerless computations, or a single instruction. Linear in the text; nesting is
// counted against kMaxNesting. Errors: InvalidProgram (ProgramLimitExceeded) with line and column.
// What the text leaves out (a result shape) stays null; elided constants have a null literal.
// `warnings`, which may be null, gets at most kMaxWarnings.
absl::StatusOr<Module> ParseHloText(std::string_view text, std::vector<Warning>* warnings = nullptr);

}  // namespace assay

#endif  // ASSAY_HLO_TEXT_PARSER_H_
