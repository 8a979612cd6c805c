#include "engines/custom_accuracy.h"

#include <cmath>

#include "fmt/format.h"
#include "literal/element_io.h"

namespace assay {

bool CustomAccuracy::Allows(const ExactElement& exact, const std::byte* actual) const {
  if (tolerance_.is_exact() || (!IsFloat(exact.type) && !IsComplex(exact.type)))
    return BitExact().Allows(exact, actual);
  const ScalarValue r = LoadElement(exact.type, exact.value), x = LoadElement(exact.type, actual);
  if (IsFloat(exact.type)) return AllowsNumber(r.r, x.r);
  return AllowsNumber(r.c.real(), x.c.real()) && AllowsNumber(r.c.imag(), x.c.imag());
}

std::string CustomAccuracy::Bound() const {
  if (tolerance_.is_exact()) return BitExact().Bound();
  return fmt::format("within {} + {} |r| of the operation's reference kernel", tolerance_.absolute,
                     tolerance_.relative);
}

bool CustomAccuracy::AllowsNumber(double r, double x) const {
  if (std::isnan(r) || std::isnan(x)) return std::isnan(r) && std::isnan(x);
  if (std::isinf(r) || std::isinf(x)) return r == x;
  return std::abs(x - r) <= tolerance_.absolute + tolerance_.relative * std::abs(r);
}

}  // namespace assay
