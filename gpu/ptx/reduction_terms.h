// What threads of a reduction combine: sums as pairs with what bounds them, and applications of the reducer.
#ifndef ASSAY_GPU_PTX_REDUCTION_TERMS_H_
#define ASSAY_GPU_PTX_REDUCTION_TERMS_H_

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "gpu/ptx/element.h"
#include "hlo/module.h"

namespace assay::gpu {

// Hands registers of any width to the lane whose number differs in the bits of a mask.
struct LaneShuffle {
  Register members;  // of the group: bits of lanes of the warp

  Register Xor(PtxWriter& writer, Register value, uint32_t mask) const;
};

// A sum of one thread, as gpu/kernels/pairs.cuh has it: sum and error by TwoSum, and the largest and the
// least magnitude as words (Extent). All registers change.
class SumTerms {
 public:
  static constexpr int64_t kBytes = 24;  // ReducedPart

  SumTerms(PtxWriter& writer, Elements& elements);
  // `open`: a predicate, or unknown; an open element is left out.
  void Add(Element& element, Register open);
  void AddLane(const LaneShuffle& lanes, uint32_t mask);
  void Store(Register address);

 private:
  // sum += value, and what the addition loses to the error.
  void AddValue(Register value);
  void Note(Element& element, Register open);

  PtxWriter& w;
  Elements& elements_;
  Register sum_, error_, most_, least_;
};

// The reducer of elements lhs and rhs, in this order. NotSupported where an instruction has no PTX, or may
// leave its result open.
absl::StatusOr<std::vector<Element>> EmitReducer(PtxWriter& writer, Elements& elements, const Module& module,
                                                 ComputationId reducer, std::vector<Element>& lhs,
                                                 std::vector<Element>& rhs);

}  // namespace assay::gpu

#endif  // ASSAY_GPU_PTX_REDUCTION_TERMS_H_
