// Errors and warnings as a terminal shows them: "FILE:LINE:COL: error: MESSAGE", the source line, and a caret
// under the column.
#ifndef ASSAY_HLO_DIAGNOSTICS_H_
#define ASSAY_HLO_DIAGNOSTICS_H_

#include <string>
#include <string_view>

#include "base/error.h"

namespace assay {

// Ends with a line feed. `source` is the text that positions point into; empty: the position alone is shown.
// Control characters, terminal escapes among them, are shown as \xHH; of long lines only the part around the
// caret.
std::string RenderDiagnostic(const absl::Status& status, std::string_view file, std::string_view source);

// What a program is read as although it may be a mistake.
struct Warning {
  SourcePosition where;
  std::string message;
};
std::string RenderWarning(const Warning& warning, std::string_view file, std::string_view source);

// The text with control characters, bytes that are not UTF-8, and characters that reorder text, written as
// \xHH for each byte.
std::string EscapeControls(std::string_view text);

}  // namespace assay

#endif  // ASSAY_HLO_DIAGNOSTICS_H_
