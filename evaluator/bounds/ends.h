// What the derivation of bounds asks of instructions: where their results' ends are known,
// and why nothing is.
#ifndef ASSAY_EVALUATOR_BOUNDS_ENDS_H_
#define ASSAY_EVALUATOR_BOUNDS_ENDS_H_

#include <cstddef>
#include <string_view>
#include <vector>

#include "evaluator/bound.h"

namespace assay::bound {

// The rules of ops that make integers of floats' bits: of bitcast, and of xor,
// which turns their order around.
void Bitcast(BoundContext& c);
void Xor(BoundContext& c);

// From where the result's ends are known better than by its radius: this instruction itself,
// or these operands of it.
struct EndsSource {
  bool is_own = false;
  std::vector<size_t> operands;
};
EndsSource OverflowOf(const InstructionView& view);  // where it may overflow
EndsSource ImageOf(const InstructionView& view);     // where it is the image of an interval by a step

// Why a result of operands of which something is known may be undecided.
std::string_view ReasonOf(Opcode op);

}  // namespace assay::bound

#endif  // ASSAY_EVALUATOR_BOUNDS_ENDS_H_
