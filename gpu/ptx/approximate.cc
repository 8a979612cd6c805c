// The bounds of instructions are those of the PTX ISA, chapter "Floating-Point Instructions", for f32 without
// .ftz:
//   ex2.approx    2^-22 of the result
//   lg2.approx    2^-22 for arguments in (1/2, 2), elsewhere 2^-22 of the result
//   rcp.approx    1 ulp
//   rsqrt.approx  2^-22.4 of the result
//   tanh.approx   2^-11 of the result
//   sin, cos      2^-20.5 for arguments in [-2 pi, 2 pi]
// Below, u is 2^-24: an operation that is rounded to nearest is off by u of its result.
#include "gpu/ptx/approximate.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"

namespace assay::gpu {
namespace {

constexpr double kRoundoff32 = 0x1p-24;
constexpr float kTwoPi = 0x1.921fb4p+2f;  // below 2 pi
// log2 e, in two floats: 48 bits of it.
constexpr float kLog2OfE = 0x1.715476p+0f, kLog2OfERest = 0x1.4ae0cp-26f;
constexpr float kLogOf2 = 0x1.62e43p-1f;
constexpr double kAngleError = 0x1.6a09e667f3bcdp-21;  // 2^-20.5
// e^x rounds to zero below.
constexpr float kLeastOfExp = -104;

struct ApproximateRow {
  Opcode opcode;
  WithinError bound;
};

// exp: of ex2 4 u, of the correction and the product u each; 2^-149 where results are subnormal.
// log: of lg2 and, of the result, its product with ln 2.
// logistic: of e^-x 6 u, of the sum u, of rcp 2 u; zero where e^-x is infinite, below 2^-126.
std::span<const ApproximateRow> ApproximateRows() {
  static const ApproximateRow rows[] = {
      {Opcode::kExp, WithinError(6.5 * kRoundoff32, 0x1p-149)},
      {Opcode::kLog, WithinError(6 * kRoundoff32, 3 * kRoundoff32)},
      {Opcode::kLogistic, WithinError(9.5 * kRoundoff32, 0x1p-126)},
      {Opcode::kTanh, WithinError(0x1p-11, 0x1p-149)},
      {Opcode::kRsqrt, WithinError(3.1 * kRoundoff32, 0)},
      {Opcode::kSin, WithinError(0, kAngleError)},
      {Opcode::kCos, WithinError(0, kAngleError)},
  };
  return rows;
}

// Of these the exact kernels test whether the result is near a midpoint of two floats: nothing else is open.
bool IsUntested(Opcode opcode) {
  return opcode == Opcode::kExpm1 || opcode == Opcode::kLog1p || opcode == Opcode::kSinh;
}

class Approximation32 {
 public:
  Approximation32(Emitter& emitter, const Instruction& instruction, Element& x)
      : emitter_(emitter),
        w(emitter.w),
        instruction_(instruction),
        argument_(x),
        type_(x.type),
        x_(emitter.elements.Single(x)) {}

  Element Run() {
    switch (instruction_.opcode) {
      case Opcode::kExp:
        return Rounded(Exp(x_));
      case Opcode::kLog:
        return Rounded(w.MulF32(w.Lg2Approx(x_), w.Single(kLogOf2)));
      case Opcode::kLogistic:
        return Rounded(w.RcpApprox(w.AddF32(Exp(Negated(x_)), w.Single(1))));
      case Opcode::kTanh:
        return Rounded(w.TanhApprox(x_));
      case Opcode::kRsqrt:
        return Rounded(w.RsqrtApprox(x_));
      case Opcode::kSin:
        return Rounded(Angle([&] { return w.SinApprox(x_); }));
      case Opcode::kCos:
        return Rounded(Angle([&] { return w.CosApprox(x_); }));
      default:
        return Untested(argument_);
    }
  }

 private:
  Register Negated(Register x) { return w.Xor32(x, w.Constant32(uint32_t{1} << 31)); }
  Element Rounded(Register single) { return emitter_.elements.RoundedSingle(type_, single); }

  // e^x = 2^t (1 + rest ln 2), t + rest = x log2 e. The limits keep t finite; a NaN passes them.
  Register Exp(Register x) {
    const Register least = w.Single(kLeastOfExp), most = w.Single(89);
    const Register is_less = w.LtF32(x, least);
    const Register limited = w.Choose32(least, w.Choose32(most, x, w.GtF32(x, most)), is_less);
    const Register t = w.MulF32(limited, w.Single(kLog2OfE));
    const Register error = w.FmaF32(limited, w.Single(kLog2OfE), Negated(t));
    const Register rest = w.FmaF32(limited, w.Single(kLog2OfERest), error);
    const Register factor = w.FmaF32(rest, w.Single(kLogOf2), w.Single(1));
    return w.Choose32(w.Single(0), w.MulF32(w.Ex2Approx(t), factor), is_less);
  }

  // By the instruction up to 2 pi, beyond by the exact function.
  template <typename Make>
  Register Angle(Make make) {
    const Label done = w.NewLabel();
    const Register magnitude = w.And32(x_, w.Constant32(0x7fffffff));
    const Register result = w.Copy(make());
    w.BranchIf(w.LeF32(magnitude, w.Single(kTwoPi)), done);
    Element copy = argument_;  // what is made of it here, others don't have
    Element exact = Untested(copy);
    w.Assign(result, emitter_.elements.Single(exact));
    w.Place(done);
    return result;
  }

  // The exact kernels' function, next to a midpoint too.
  Element Untested(Element& x) {
    Emitter aside{w, emitter_.elements};
    Element* const operand = &x;
    return EmitFunction(aside, instruction_, {&operand, 1});
  }

  Emitter& emitter_;
  PtxWriter& w;
  const Instruction& instruction_;
  Element& argument_;
  const ElementType type_;
  const Register x_;
};

}  // namespace

const Accuracy* ApproximationBound(const Instruction& instruction) {
  if (instruction.operands.size() != 1 || !instruction.shape->IsArray() ||
      instruction.attributes.Has(Attr::kResultAccuracy))
    return nullptr;
  const ElementType type = instruction.shape->element_type();
  if (type != ElementType::kF32 && type != ElementType::kF16 && type != ElementType::kBF16) return nullptr;
  // Narrower types need no test.
  if (IsUntested(instruction.opcode)) return type == ElementType::kF32 ? &WithinUlps(1) : nullptr;
  const std::span<const ApproximateRow> rows = ApproximateRows();
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const ApproximateRow& r) { return r.opcode == instruction.opcode; });
  return row == rows.end() ? nullptr : &row->bound;
}

Element EmitApproximation(Emitter& emitter, const Instruction& instruction, Element& x) {
  return Approximation32(emitter, instruction, x).Run();
}

}  // namespace assay::gpu
