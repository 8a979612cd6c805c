// One formula for registers of 32 and of 64 bits: the writer's methods by width.
#ifndef ASSAY_GPU_PTX_LANES_H_
#define ASSAY_GPU_PTX_LANES_H_

#include "gpu/ptx/writer.h"

namespace assay::gpu {

#define ASSAY_PTX_BY_WIDTH(name, narrow, wide) \
  Register name(Register x, Register y) { return wide_ ? w.wide(x, y) : w.narrow(x, y); }
#define ASSAY_PTX_BY_WIDTH_1(name, narrow, wide) \
  Register name(Register x) { return wide_ ? w.wide(x) : w.narrow(x); }

// Patterns of one width.
class Words {
 public:
  Words(PtxWriter& writer, Width width) : w(writer), wide_(width == Width::k64) {}

  Register Constant(uint64_t value) {
    return wide_ ? w.Constant64(value) : w.Constant32(static_cast<uint32_t>(value));
  }
  Register Choose(Register predicate, Register a, Register b) {
    return wide_ ? w.Choose64(a, b, predicate) : w.Choose32(a, b, predicate);
  }
  ASSAY_PTX_BY_WIDTH(And, And32, And64)
  ASSAY_PTX_BY_WIDTH(Or, Or32, Or64)
  ASSAY_PTX_BY_WIDTH(Xor, Xor32, Xor64)
  ASSAY_PTX_BY_WIDTH_1(Not, Not32, Not64)
  // The amount is of 32 bits.
  ASSAY_PTX_BY_WIDTH(Shl, Shl32, Shl64)
  ASSAY_PTX_BY_WIDTH(ShrU, ShrU32, ShrU64)
  ASSAY_PTX_BY_WIDTH(ShrS, ShrS32, ShrS64)
  ASSAY_PTX_BY_WIDTH(Add, Add32, Add64)
  ASSAY_PTX_BY_WIDTH(Sub, Sub32, Sub64)
  ASSAY_PTX_BY_WIDTH(Mul, Mul32, Mul64)
  ASSAY_PTX_BY_WIDTH(MulHighS, MulHighS32, MulHighS64)
  ASSAY_PTX_BY_WIDTH(MulHighU, MulHighU32, MulHighU64)
  ASSAY_PTX_BY_WIDTH(DivS, DivS32, DivS64)
  ASSAY_PTX_BY_WIDTH(DivU, DivU32, DivU64)
  ASSAY_PTX_BY_WIDTH(RemS, RemS32, RemS64)
  ASSAY_PTX_BY_WIDTH(RemU, RemU32, RemU64)
  ASSAY_PTX_BY_WIDTH_1(PopulationCount, Popc32, Popc64)
  ASSAY_PTX_BY_WIDTH_1(LeadingZeros, Clz32, Clz64)
  ASSAY_PTX_BY_WIDTH(Eq, Eq32, Eq64)
  ASSAY_PTX_BY_WIDTH(Ne, Ne32, Ne64)
  ASSAY_PTX_BY_WIDTH(LtS, LtS32, LtS64)
  ASSAY_PTX_BY_WIDTH(LeS, LeS32, LeS64)
  ASSAY_PTX_BY_WIDTH(GtS, GtS32, GtS64)
  ASSAY_PTX_BY_WIDTH(GeS, GeS32, GeS64)
  ASSAY_PTX_BY_WIDTH(LtU, LtU32, LtU64)
  ASSAY_PTX_BY_WIDTH(LeU, LeU32, LeU64)
  ASSAY_PTX_BY_WIDTH(GtU, GtU32, GtU64)
  ASSAY_PTX_BY_WIDTH(GeU, GeU32, GeU64)

 protected:
  PtxWriter& w;
  const bool wide_;
};

// Floats of one width.
class Reals : public Words {
 public:
  using Words::Words;

  Register Value(double value) { return wide_ ? w.Double(value) : w.Single(static_cast<float>(value)); }
  Register SignMask() { return wide_ ? w.Constant64(uint64_t{1} << 63) : w.Constant32(uint32_t{1} << 31); }
  Register Magnitude(Register x) {
    return wide_ ? w.And64(x, w.Constant64(~(uint64_t{1} << 63))) : w.And32(x, w.Constant32(0x7fffffff));
  }
  // The magnitude's bits with the sign of x.
  Register WithSign(Register x, Register magnitude) { return Or(magnitude, And(x, SignMask())); }
  ASSAY_PTX_BY_WIDTH(AddF, AddF32, AddF64)
  ASSAY_PTX_BY_WIDTH(SubF, SubF32, SubF64)
  ASSAY_PTX_BY_WIDTH(MulF, MulF32, MulF64)
  ASSAY_PTX_BY_WIDTH(DivF, DivF32, DivF64)
  ASSAY_PTX_BY_WIDTH_1(Sqrt, SqrtF32, SqrtF64)
  ASSAY_PTX_BY_WIDTH_1(Floor, FloorF32, FloorF64)
  ASSAY_PTX_BY_WIDTH_1(Ceil, CeilF32, CeilF64)
  ASSAY_PTX_BY_WIDTH_1(Even, EvenF32, EvenF64)
  ASSAY_PTX_BY_WIDTH_1(Trunc, TruncF32, TruncF64)
  ASSAY_PTX_BY_WIDTH(EqF, EqF32, EqF64)
  ASSAY_PTX_BY_WIDTH(NeF, NeF32, NeF64)
  ASSAY_PTX_BY_WIDTH(LtF, LtF32, LtF64)
  ASSAY_PTX_BY_WIDTH(LeF, LeF32, LeF64)
  ASSAY_PTX_BY_WIDTH(GtF, GtF32, GtF64)
  ASSAY_PTX_BY_WIDTH(GeF, GeF32, GeF64)
  ASSAY_PTX_BY_WIDTH(NaNF, NaNF32, NaNF64)
};

#undef ASSAY_PTX_BY_WIDTH
#undef ASSAY_PTX_BY_WIDTH_1

}  // namespace assay::gpu

#endif  // ASSAY_GPU_PTX_LANES_H_
