// What functions are measured on.
#ifndef ASSAY_CHECK_MEASURE_ARGUMENTS_H_
#define ASSAY_CHECK_MEASURE_ARGUMENTS_H_

#include <cstdint>
#include <vector>

#include "literal/literal.h"

namespace assay {

// Random numbers by SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014):
// the same on every machine.
class MeasureRandom {
 public:
  explicit MeasureRandom(uint64_t seed) : state_(seed) {}
  uint64_t Bits();
  double Uniform();  // in (0, 1)
  double Normal();

 private:
  uint64_t state_;
};

// `count` numbers of the type with uniform exponents, from the smallest normal number to the largest, of
// either sign, and then `count` that are normally distributed with deviation 0.1, 1 or 10.
std::vector<double> SampledArguments(ElementType type, int64_t count, MeasureRandom& random);
// All normal numbers of a type of 16 bits.
std::vector<double> AllArguments(ElementType type);
Literal ArrayOf(ElementType type, const std::vector<double>& values);

}  // namespace assay

#endif  // ASSAY_CHECK_MEASURE_ARGUMENTS_H_
