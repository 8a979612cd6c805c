// Why results are undecided, in words.
#include "evaluator/bounds/ends.h"

namespace assay::bound {

std::string_view ReasonOf(Opcode op) {
  switch (op) {
    case Opcode::kAdd:
    case Opcode::kSubtract:
    case Opcode::kMultiply:
    case Opcode::kDot:
    case Opcode::kConvolution:
    case Opcode::kReduce:
    case Opcode::kReduceWindow:
      return "the result may overflow, or an operand is infinite";
    case Opcode::kDivide:
      return "the divisor may be zero, or the result overflow";
    case Opcode::kRemainder:
      return "the quotient may be another whole number";
    case Opcode::kExp:
    case Opcode::kExpm1:
    case Opcode::kSinh:
    case Opcode::kCosh:
      return "the operand is known so badly that the result may be far larger, or it may overflow";
    case Opcode::kLog:
    case Opcode::kLog1p:
    case Opcode::kSqrt:
    case Opcode::kRsqrt:
    case Opcode::kPower:
    case Opcode::kAsin:
    case Opcode::kAcos:
    case Opcode::kAcosh:
    case Opcode::kAtanh:
    case Opcode::kAtan2:
    case Opcode::kTan:
      return "the operand may lie where the function is steep or not defined";
    case Opcode::kSort:
    case Opcode::kTopK:
      return "elements are nearer to each other than they are known: their order is open";
    case Opcode::kGather:
    case Opcode::kScatter:
    case Opcode::kDynamicSlice:
    case Opcode::kDynamicUpdateSlice:
      return "an index is not decided, or a sum may overflow";
    case Opcode::kBitcastConvert:
    case Opcode::kBitcast:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kNot:
    case Opcode::kShiftLeft:
    case Opcode::kShiftRightArithmetic:
    case Opcode::kShiftRightLogical:
      return "bits of a value that is not exact";
    case Opcode::kWhile:
      return "it is not decided whether the loop goes on, or what an iteration behind the first 1,000 gives";
    case Opcode::kConditional:
      return "it is not decided which branch runs";
    case Opcode::kConvert:
      return "the value may leave the type";
    default:
      return "the operands are not known well enough, or the result may overflow";
  }
}

}  // namespace assay::bound
