// Where first-order forms (evaluator/bounds/linear_forms.h) are of use in a computation: between a dot or
// convolution and the instructions at which it arrives by two ways.
#ifndef ASSAY_CHECK_FORM_PLAN_H_
#define ASSAY_CHECK_FORM_PLAN_H_

#include <cstdint>
#include <span>
#include <vector>

#include "hlo/module.h"

namespace assay {

class FormPlan {
 public:
  FormPlan() = default;  // no forms
  explicit FormPlan(const Computation& computation);

  bool IsSource(int32_t instruction) const { return At(instruction).is_source; }
  // The sources that the form of the instruction's result is to know.
  std::span<const int32_t> CarriedBy(int32_t instruction) const { return At(instruction).carried; }
  // Ways meet here, and not all readers of the result carry its form.
  bool Sharpens(int32_t instruction) const { return At(instruction).sharpens; }

 private:
  struct Place {
    bool is_source = false, sharpens = false;
    std::vector<int32_t> carried;
  };
  const Place& At(int32_t instruction) const {
    static const Place kNone;
    return places_.empty() ? kNone : places_[static_cast<size_t>(instruction)];
  }
  void AddSource(const Computation& computation, const std::vector<bool>& carries, int32_t source,
                 std::vector<bool>& meets);

  std::vector<Place> places_;
};

}  // namespace assay

#endif  // ASSAY_CHECK_FORM_PLAN_H_
