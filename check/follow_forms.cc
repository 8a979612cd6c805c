// First-order forms beside radii, where the plan of the computation has them.
#include <span>
#include <vector>

#include "check/computation_deriver.h"

namespace assay {

// What a reader takes for zero of a source's subnormal numbers differs from what others do.
void ComputationDeriver::FollowLinearForm(int32_t instruction) {
  BoundedLeaf& result = result_->leaves[0];
  const std::span<const int32_t> carried = form_plan_.CarriedBy(instruction);
  if (!result.radius || carried.empty()) return;
  if (form_plan_.IsSource(instruction)) {
    result.linear_form =
        bound::FormOfSource(*this, {instruction, result.radius, Allowed(result_type()).absolute});
    return;
  }
  std::vector<bound::LinearForm> operands;
  bool any = false;
  for (size_t k = 0; k < view_->num_operands(); ++k) {
    operands.push_back(bound::Kept(*this, operand(k).leaves[0].linear_form, carried));
    any = any || operands.back();
  }
  if (!any) return;
  result.linear_form = bound::FormOfResult(*this, operands);
  if (result.linear_form && form_plan_.Sharpens(instruction))
    result.radius = bound::SmallerRadius(*this, result.linear_form, result.radius);
}

}  // namespace assay
