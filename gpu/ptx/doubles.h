// Doubles in a thread's registers, and what is done with them.
#ifndef ASSAY_GPU_PTX_DOUBLES_H_
#define ASSAY_GPU_PTX_DOUBLES_H_

#include "gpu/ptx/lanes.h"

namespace assay::gpu {

class Doubles {
 public:
  explicit Doubles(PtxWriter& writer) : w(writer), r_(writer, Width::k64) {}

  Register C(double value) { return w.Double(value); }
  Register Word(uint64_t value) { return w.Constant64(value); }
  Register Plus(Register a, Register b) { return w.AddF64(a, b); }
  Register Minus(Register a, Register b) { return w.SubF64(a, b); }
  Register Times(Register a, Register b) { return w.MulF64(a, b); }
  Register Over(Register a, Register b) { return w.DivF64(a, b); }
  Register Fma(Register a, Register b, Register c) { return w.FmaF64(a, b, c); }
  Register Negated(Register a) { return r_.Xor(a, r_.SignMask()); }
  Register Magnitude(Register a) { return r_.Magnitude(a); }
  Register Choose(Register predicate, Register a, Register b) { return w.Choose64(a, b, predicate); }
  Register Less(Register a, Register b) { return w.LtF64(a, b); }
  Register AtMost(Register x, double limit) { return Choose(w.GtF64(x, C(limit)), C(limit), x); }
  Register AtLeast(Register x, double limit) { return Choose(w.LtF64(x, C(limit)), C(limit), x); }
  // The magnitude's sign turned where x is negative.
  Register SignOf(Register x, Register a) { return w.Xor64(a, w.And64(x, r_.SignMask())); }

 protected:
  PtxWriter& w;
  Reals r_;
};

}  // namespace assay::gpu

#endif  // ASSAY_GPU_PTX_DOUBLES_H_
