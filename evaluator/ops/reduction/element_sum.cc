#include "evaluator/ops/reduction/element_sum.h"

namespace assay {

ElementSum::ElementSum(ElementType type) : type_(type), load_(LoadOneFor(type)) {}

void ElementSum::Clear() {
  real_.Clear();
  imaginary_.Clear();
}

void ElementSum::Add(const std::byte* element) {
  double parts[2];
  load_(element, parts);
  real_.Add(parts[0]);
  if (IsComplex(type_)) imaginary_.Add(parts[1]);
}

void ElementSum::Store(std::byte* element) const {
  const FloatFormat& format = *Info(type_).format;
  const double rounded[2] = {real_.Round(format), IsComplex(type_) ? imaginary_.Round(format) : 0};
  StoreStrip(type_, rounded, 1, element, 0);
}

void SummandSum::Store(std::span<const std::byte* const> summands, std::byte* element) {
  if (IsIntegral(type_)) {
    ScalarValue total = LoadElement(type_, summands[0]);
    for (const std::byte* const summand : summands.subspan(1)) {
      const ScalarValue value = LoadElement(type_, summand);
      total.u += value.u;
      total.i = static_cast<int64_t>(static_cast<uint64_t>(total.i) + static_cast<uint64_t>(value.i));
    }
    StoreElement(type_, total, element);
    return;
  }
  sum_.Clear();
  for (const std::byte* const summand : summands) sum_.Add(summand);
  sum_.Store(element);
}

}  // namespace assay
