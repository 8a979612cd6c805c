// Integers and preds (evaluator/scalar/integer.h).
#include "gpu/ptx/elementwise.h"
#include "gpu/ptx/lanes.h"

namespace assay::gpu {
namespace {

class Integers {
 public:
  Integers(Emitter& emitter, ElementType type)
      : w_(emitter.w),
        elements_(emitter.elements),
        type_(type),
        bits_(static_cast<uint32_t>(Bits(type))),
        signed_(IsSignedIntegral(type)),
        words_(emitter.w, WidthOf(type)) {}

  Element Unary(Opcode opcode, Register x) {
    switch (opcode) {
      case Opcode::kNegate:
        return Wrapped(words_.Sub(Zero(), x));
      case Opcode::kAbs:
        return Wrapped(words_.Choose(words_.LtS(x, Zero()), words_.Sub(Zero(), x), x));
      case Opcode::kSign:
        return Wrapped(words_.Choose(words_.GtS(x, Zero()), One(),
                                     words_.Choose(words_.LtS(x, Zero()), AllOnes(), Zero())));
      case Opcode::kNot:
        return Wrapped(words_.Not(x));
      case Opcode::kPopulationCount:
        return Count(words_.PopulationCount(AsUnsigned(x)));
      case Opcode::kClz: {
        const Register zeros = words_.LeadingZeros(AsUnsigned(x));
        return Count(bits_ >= 32 ? zeros : w_.Sub32(zeros, w_.Constant32(32 - bits_)));
      }
      default:
        return {};
    }
  }

  Element Binary(Opcode opcode, Register x, Register y) {
    switch (opcode) {
      case Opcode::kAdd:
        return Wrapped(words_.Add(x, y));
      case Opcode::kSubtract:
        return Wrapped(words_.Sub(x, y));
      case Opcode::kMultiply:
        return Wrapped(words_.Mul(x, y));
      case Opcode::kAnd:
        return Same(words_.And(x, y));
      case Opcode::kOr:
        return Same(words_.Or(x, y));
      case Opcode::kXor:
        return Same(words_.Xor(x, y));
      case Opcode::kMaximum:
        return Same(words_.Choose(Less(y, x), x, y));
      case Opcode::kMinimum:
        return Same(words_.Choose(Less(x, y), x, y));
      case Opcode::kDivide:
        return Divide(x, y);
      case Opcode::kRemainder:
        return Remainder(x, y);
      case Opcode::kMulhi:
        return MultiplyHigh(x, y);
      case Opcode::kPower:
        return Power(x, y);
      default:
        return Shift(opcode, x, y);
    }
  }

  Element Clamp(Register low, Register x, Register high) {
    const Register raised = words_.Choose(Less(low, x), x, low);
    return Same(words_.Choose(Less(raised, high), raised, high));
  }

 private:
  Register Zero() { return words_.Constant(0); }
  Register One() { return words_.Constant(1); }
  Register AllOnes() { return words_.Constant(~uint64_t{0}); }
  Element Same(Register value) { return elements_.OfPattern(type_, value); }
  Element Wrapped(Register value) { return elements_.Wrapped(type_, value); }
  Register Less(Register x, Register y) { return signed_ ? words_.LtS(x, y) : words_.LtU(x, y); }
  // The pattern, zero-extended.
  Register AsUnsigned(Register x) {
    return bits_ >= 32 || !signed_ ? x : w_.And32(x, w_.Constant32((1u << bits_) - 1));
  }
  // The pattern, sign-extended.
  Register AsSigned(Register x) {
    if (bits_ >= 32 || signed_) return x;
    const Register shift = w_.Constant32(32 - bits_);
    return w_.ShrS32(w_.Shl32(x, shift), shift);
  }
  Element Count(Register count) {
    return Wrapped(WidthOf(type_) == Width::k64 ? w_.ExtendU32(count) : count);
  }

  Element Divide(Register x, Register y) {
    const Register by_zero = words_.Eq(y, Zero());
    if (!signed_) return Wrapped(words_.Choose(by_zero, AllOnes(), words_.DivU(x, y)));
    const Register by_minus_one = words_.Eq(y, AllOnes());
    const Register quotient = words_.DivS(x, y);
    return Wrapped(
        words_.Choose(by_zero, AllOnes(), words_.Choose(by_minus_one, words_.Sub(Zero(), x), quotient)));
  }

  Element Remainder(Register x, Register y) {
    const Register by_zero = words_.Eq(y, Zero());
    if (!signed_) return Same(words_.Choose(by_zero, x, words_.RemU(x, y)));
    const Register by_minus_one = words_.Eq(y, AllOnes());
    const Register rest = words_.RemS(x, y);
    return Same(words_.Choose(by_zero, x, words_.Choose(by_minus_one, Zero(), rest)));
  }

  // Products of at most 16 bits fit into 32.
  Element MultiplyHigh(Register x, Register y) {
    if (bits_ >= 32) return Same(signed_ ? words_.MulHighS(x, y) : words_.MulHighU(x, y));
    const Register product = w_.Mul32(x, y), shift = w_.Constant32(bits_);
    return Wrapped(signed_ ? w_.ShrS32(product, shift) : w_.ShrU32(product, shift));
  }

  Element Shift(Opcode opcode, Register x, Register y) {
    const Register amount = AsUnsigned(y);
    const Register beyond = words_.GeU(amount, words_.Constant(bits_));
    const Register places = WidthOf(type_) == Width::k64 ? w_.Low32(amount) : amount;
    switch (opcode) {
      case Opcode::kShiftLeft:
        return Wrapped(words_.Choose(beyond, Zero(), words_.Shl(x, places)));
      case Opcode::kShiftRightLogical:
        return Wrapped(words_.Choose(beyond, Zero(), words_.ShrU(AsUnsigned(x), places)));
      case Opcode::kShiftRightArithmetic: {
        const Register wide = AsSigned(x);
        const Register sign = words_.ShrS(wide, w_.Constant32(63));
        return Wrapped(words_.Choose(beyond, sign, words_.ShrS(wide, places)));
      }
      default:
        return {};
    }
  }

  // By squaring. Negative exponents: 1 / x^-y where that is an integer, else 0.
  Element Power(Register x, Register y) {
    const Register result = w_.Copy(One()), base = w_.Copy(x), exponent = w_.Copy(y);
    const Label again = w_.NewLabel(), done = w_.NewLabel();
    if (signed_) w_.BranchIf(words_.LtS(y, Zero()), done);
    w_.Place(again);
    w_.BranchIf(words_.Eq(exponent, Zero()), done);
    const Register odd = words_.Ne(words_.And(exponent, One()), Zero());
    w_.Assign(result, words_.Choose(odd, words_.Mul(result, base), result));
    w_.Assign(base, words_.Mul(base, base));
    w_.Assign(exponent, words_.ShrU(exponent, w_.Constant32(1)));
    w_.Branch(again);
    w_.Place(done);
    if (!signed_) return Wrapped(result);
    const Register odd_power = words_.Ne(words_.And(y, One()), Zero());
    const Register of_minus_one = words_.Choose(odd_power, AllOnes(), One());
    const Register negative = words_.Choose(words_.Eq(x, One()), One(),
                                            words_.Choose(words_.Eq(x, AllOnes()), of_minus_one, Zero()));
    return Wrapped(words_.Choose(words_.LtS(y, Zero()), negative, result));
  }

  PtxWriter& w_;
  Elements& elements_;
  const ElementType type_;
  const uint32_t bits_;
  const bool signed_;
  Words words_;
};

// or, and, xor of what is true or false; of greater and less as well.
Element EmitPreds(Emitter& emitter, Opcode opcode, std::span<Element* const> operands) {
  PtxWriter& w = emitter.w;
  const auto pred = [&](Register value) { return emitter.elements.OfPattern(ElementType::kPred, value); };
  const Register x = operands[0]->pattern;
  if (opcode == Opcode::kNot) return pred(w.NotPred(x));
  if (operands.size() < 2) return {};
  const Register y = operands[1]->pattern;
  switch (opcode) {
    case Opcode::kAdd:
    case Opcode::kOr:
    case Opcode::kMaximum:
      return pred(w.OrPred(x, y));
    case Opcode::kMultiply:
    case Opcode::kAnd:
    case Opcode::kMinimum:
      return pred(w.AndPred(x, y));
    case Opcode::kXor:
      return pred(w.XorPred(x, y));
    case Opcode::kClamp:
      return pred(w.AndPred(w.OrPred(x, y), operands[2]->pattern));
    default:
      return {};
  }
}

}  // namespace

Element EmitIntegers(Emitter& emitter, const Instruction& instruction, std::span<Element* const> operands) {
  const ElementType type = operands[0]->type;
  if (type == ElementType::kPred) return EmitPreds(emitter, instruction.opcode, operands);
  Integers integers(emitter, type);
  const Register x = operands[0]->pattern;
  if (operands.size() == 1) return integers.Unary(instruction.opcode, x);
  if (operands.size() == 2) return integers.Binary(instruction.opcode, x, operands[1]->pattern);
  if (instruction.opcode == Opcode::kClamp)
    return integers.Clamp(x, operands[1]->pattern, operands[2]->pattern);
  return {};
}

}  // namespace assay::gpu
