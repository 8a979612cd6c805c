// Which attributes an instruction shows, and in what order (docs/spec/hlo-text.md section 8). Used by
// printer.cc.
#ifndef ASSAY_HLO_TEXT_PRINT_ATTRIBUTES_H_
#define ASSAY_HLO_TEXT_PRINT_ATTRIBUTES_H_

#include <string>
#include <vector>

#include "hlo/module.h"
#include "hlo/text/print_frames.h"

namespace assay::print {

struct AttributeContext {
  const Module& module;
  const Computation& computation;
  const Instruction& instruction;
  const Instruction* wrapped;  // of a sugared async op: the op whose attributes the start shows; else null
  const std::vector<std::string>& computation_names;
  const std::vector<std::string>& instruction_names;
  FrameNumbering* frames;  // null: frame numbers as they are
};

// Everything after the operands, each attribute with ", " before it.
void AppendAttributes(const AttributeContext& context, std::string& out);

}  // namespace assay::print

#endif  // ASSAY_HLO_TEXT_PRINT_ATTRIBUTES_H_
