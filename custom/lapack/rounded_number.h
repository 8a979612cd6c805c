// Elements of the four types as complex doubles, and the roundings to them that definitions are made of.
#ifndef ASSAY_CUSTOM_LAPACK_ROUNDED_NUMBER_H_
#define ASSAY_CUSTOM_LAPACK_ROUNDED_NUMBER_H_

#include <cstddef>

#include "evaluator/scalar/complex.h"
#include "evaluator/scalar/exact_sum.h"
#include "shape/element_type.h"

namespace assay::custom {

// Of real types imaginary parts are +0.
class NumberType {
 public:
  explicit NumberType(ElementType type);

  bool is_complex() const { return type_ != part_; }
  ElementType part() const { return part_; }
  const FloatFormat& format() const { return format_; }

  Complex Load(const std::byte* source) const;
  void Store(Complex value, std::byte* target) const;
  // Each component the exact quotient's, rounded.
  Complex Divide(Complex a, Complex b) const;
  // What pivots are compared by: |x|, of complex numbers |re| + |im| rounded.
  double Size(Complex a) const;

 private:
  const ElementType type_, part_;
  const FloatFormat& format_;
};

// b - a_0 x_0 - a_1 x_1 - …, each component exact and rounded once.
class Remainder {
 public:
  explicit Remainder(const NumberType& type) : type_(type) {}

  void Start(Complex b);
  void Subtract(Complex a, Complex x);
  Complex Round() const;

 private:
  const NumberType& type_;
  ExactSum real_, imaginary_;
};

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_LAPACK_ROUNDED_NUMBER_H_
