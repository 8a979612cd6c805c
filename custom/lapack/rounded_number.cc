#include "custom/lapack/rounded_number.h"

#include <cmath>

#include "evaluator/scalar/real.h"
#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay::custom {

NumberType::NumberType(ElementType type)
    : type_(type), part_(IsComplex(type) ? ComponentType(type) : type), format_(*Info(part_).format) {}

Complex NumberType::Load(const std::byte* source) const {
  double parts[2] = {0, 0};
  LoadStrip(type_, source, 0, 1, parts);
  return {parts[0], parts[1]};
}

void NumberType::Store(Complex value, std::byte* target) const {
  const double parts[2] = {value.real(), value.imag()};
  StoreStrip(type_, parts, 1, target, 0);
}

Complex NumberType::Divide(Complex a, Complex b) const {
  if (is_complex()) return ComplexDivide(a, b, format_);
  return RealDivide(a.real(), b.real(), format_);
}

double NumberType::Size(Complex a) const {
  return is_complex() ? RealAdd(std::abs(a.real()), std::abs(a.imag()), format_) : std::abs(a.real());
}

void Remainder::Start(Complex b) {
  real_.Clear();
  imaginary_.Clear();
  real_.Add(b.real());
  imaginary_.Add(b.imag());
}

void Remainder::Subtract(Complex a, Complex x) {
  real_.SubtractProduct(a.real(), x.real());
  if (!type_.is_complex()) return;
  real_.AddProduct(a.imag(), x.imag());
  imaginary_.SubtractProduct(a.real(), x.imag());
  imaginary_.SubtractProduct(a.imag(), x.real());
}

Complex Remainder::Round() const {
  return {real_.Round(type_.format()), type_.is_complex() ? imaginary_.Round(type_.format()) : 0};
}

}  // namespace assay::custom
