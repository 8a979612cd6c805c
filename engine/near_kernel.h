// Kernels that compute functions near the correctly rounded ones.
#ifndef ASSAY_ENGINE_NEAR_KERNEL_H_
#define ASSAY_ENGINE_NEAR_KERNEL_H_

#include "engine/engine.h"

namespace assay {

// A function whose result for an element depends on that element alone and is f(x) rounded once or one of the `ulps` next
// numbers of the type on either side, of the same sign; infinity is the one behind the largest, and NaN is the canonical NaN.
struct NearFunction {
  StoredFn run = nullptr;
  int64_t ulps = 0;
};

// Accuracy::kBitExact of such a kernel means that members with a near function give that function's bits, and all others
// OpDef::eval's bits for the values that they were given.
class NearKernel : public Kernel {
 public:
  // What computes a member of one operand; run is null where it is OpDef::eval.
  virtual NearFunction near(const Instruction& member) const = 0;
  // Whether some member has a near function.
  virtual bool is_near() const { return true; }
};

// Null where all members are OpDef::eval's.
inline const NearKernel* AsNear(const Kernel& kernel) {
  const auto* const near = dynamic_cast<const NearKernel*>(&kernel);
  return near != nullptr && near->is_near() ? near : nullptr;
}

}  // namespace assay

#endif  // ASSAY_ENGINE_NEAR_KERNEL_H_
