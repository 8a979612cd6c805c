// How near kernels of the user's own operations are to their reference kernel, as they were registered.
#ifndef ASSAY_ENGINES_CUSTOM_ACCURACY_H_
#define ASSAY_ENGINES_CUSTOM_ACCURACY_H_

#include <cstddef>
#include <string>

#include "engines/accuracy.h"
#include "evaluator/custom_op.h"

namespace assay {

// |x - r| <= absolute + relative * |r| of floats and of each component of complex numbers, r the reference's;
// a NaN is a NaN, an infinity that infinity. Other types have the same bits,
// and all have where the tolerance is exact.
class CustomAccuracy final : public Accuracy {
 public:
  explicit CustomAccuracy(CustomTolerance tolerance) : tolerance_(tolerance) {}

  bool Allows(const ExactElement& exact, const std::byte* actual) const override;
  std::string Bound() const override;

 private:
  bool AllowsNumber(double r, double x) const;

  const CustomTolerance tolerance_;
};

}  // namespace assay

#endif  // ASSAY_ENGINES_CUSTOM_ACCURACY_H_
