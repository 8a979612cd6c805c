// Instructions as nodes of generated code (jit/segment.h).
#ifndef ASSAY_ENGINES_CODEGEN_NODES_H_
#define ASSAY_ENGINES_CODEGEN_NODES_H_

#include <span>

#include "hlo/module.h"
#include "jit/segment.h"

namespace assay::codegen {

// The node of an elementwise instruction, without operands; a convert that changes nothing is a copy.
jit::Node NodeOf(const Instruction& instruction, std::span<const ElementType> operands);

}  // namespace assay::codegen

#endif  // ASSAY_ENGINES_CODEGEN_NODES_H_
