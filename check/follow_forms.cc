// First-order forms beside radii, where the plan of the computation has them.
#include <span>
#include <vector>

#include "check/computation_deriver.h"

namespace assay {

// What a reader takes for zero of a source's subnormal numbers differs from what others do.
void ComputationDeriver::FollowForm(int32_t instruction) {
  BoundedLeaf& result = result_->leaves[0];
  const std::span<const int32_t> carried = forms_.CarriedBy(instruction);
  if (!result.radius || carried.empty()) return;
  if (forms_.IsSource(instruction)) {
    result.form = bound::FormOfSource(*this, {instruction, result.radius, Allowed(result_type()).absolute});
    return;
  }
  std::vector<bound::LinearForm> operands;
  bool any = false;
  for (size_t k = 0; k < view_->num_operands(); ++k) {
    operands.push_back(bound::Kept(*this, operand(k).leaves[0].form, carried));
    any = any || operands.back();
  }
  if (!any) return;
  result.form = bound::FormOfResult(*this, operands);
  if (result.form && forms_.Sharpens(instruction))
    result.radius = bound::SmallerRadius(*this, result.form, result.radius);
}

}  // namespace assay
