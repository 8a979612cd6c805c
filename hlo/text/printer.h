// Module to canonical HLO text (docs/spec/hlo-text.md section 8).
#ifndef ASSAY_HLO_TEXT_PRINTER_H_
#define ASSAY_HLO_TEXT_PRINTER_H_

#include <string>
#include <vector>

#include "hlo/module.h"

namespace assay {

// Every instruction must have a shape (Verify fills them in).
std::string ModuleToText(const Module& module);
// One instruction as the module text shows it, without indentation; for messages and traces.
std::string InstructionToText(const Module& module, const Computation& computation,
                              const Instruction& instruction);
// The same of all instructions of a computation, in one go.
std::vector<std::string> InstructionsToText(const Module& module, const Computation& computation);

}  // namespace assay

#endif  // ASSAY_HLO_TEXT_PRINTER_H_
