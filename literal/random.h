// Random values from a seed: the same bytes on every machine, because only integers are drawn and floats are
// made from them by exact steps and one rounding. They serve tests and `--random-inputs`, not the rng ops.
#ifndef ASSAY_LITERAL_RANDOM_H_
#define ASSAY_LITERAL_RANDOM_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "literal/literal.h"

namespace assay {

// SplitMix64.
class RandomSource {
 public:
  explicit RandomSource(uint64_t seed) : state_(seed) {}
  uint64_t Next();
  int64_t Between(int64_t low, int64_t high);  // both ends included; low <= high
  double Unit();                               // a multiple of 2^-53 in [0, 1)

 private:
  uint64_t state_;
};
// A seed for part number `part` of something made from `seed`.
uint64_t DerivedSeed(uint64_t seed, uint64_t part);

struct RandomRange {
  // Ends of a range of integers, both included and clipped to what the type holds; floats then hold
  // integers too. None: floats roughly normal and mostly in [-1, 1], a few much smaller, larger or zero;
  // signed integers in [-10, 10], unsigned ones in [0, 15].
  std::optional<int64_t> low, high;
  bool sorted = false;  // ascending in row-major order
  bool unique = false;  // no value twice, if the range has enough of them
};

// Arrays and tuples of arrays; run-time sizes are the bounds. Neither infinities nor NaNs.
absl::StatusOr<Literal> RandomLiteral(const Shape& shape, uint64_t seed, const RandomRange& range = {});

// `count` integers in [low, high]. Where `unique` asks for more values than there are, each value comes once
// before any comes again (and `sorted` is then not kept).
std::vector<int64_t> RandomIntegers(RandomSource& source, int64_t count, int64_t low, int64_t high,
                                    bool sorted, bool unique);
// The integers that every array of the type can hold exactly, as a range; 64-bit unsigned: up to 2^63 - 1.
std::pair<int64_t, int64_t> ExactIntegerRange(ElementType type);
// RandomIntegers for this array may take its memory; MemoryLimitExceeded. It comes before them.
absl::Status CheckRoomForIntegers(const Shape& array);
// An array of a type of any class with these values, in row-major order.
absl::StatusOr<Literal> ArrayOfIntegers(const Shape& array, std::span<const int64_t> values);

}  // namespace assay

#endif  // ASSAY_LITERAL_RANDOM_H_
