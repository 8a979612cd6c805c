// Random programs with random arguments: every family of ops, all element types, odd shapes, windows and
// strides, hostile values. The choices come from a seed or from the bytes of a fuzzer,
// so either can find a program again.
#ifndef ASSAY_FIND_FUZZ_GENERATOR_H_
#define ASSAY_FIND_FUZZ_GENERATOR_H_

#include <cstdint>
#include <span>
#include <vector>

#include "evaluator/verify.h"
#include "literal/random.h"

namespace assay::fuzz {

// Where the next choice comes from.
class Choices {
 public:
  explicit Choices(uint64_t seed) : random_(seed) {}
  // Bytes first; when they are used up, every choice is 0.
  explicit Choices(std::span<const uint8_t> bytes) : bytes_(bytes), from_bytes_(true), random_(0) {}

  int64_t Below(int64_t n);  // n > 0
  bool OneIn(int64_t n) { return Below(n) == n - 1; }
  uint64_t Bits();
  // False when a fuzzer's bytes are used up.
  bool any_left() const { return !from_bytes_ || !bytes_.empty(); }

 private:
  std::span<const uint8_t> bytes_;
  const bool from_bytes_ = false;
  RandomSource random_;
};

struct GeneratedProgram {
  Module module;
  std::vector<Literal> arguments;
};

struct GeneratorOptions {
  int instructions = 8;        // about how many
  int64_t max_elements = 600;  // of any array
  bool cheap = false;          // nothing for which the reference needs microseconds an element
  // Nothing but arguments and results: no effects, collectives, asynchronous operations and sizes that are
  // known when the program runs.
  bool pure = false;
};

// Verify takes the module.
GeneratedProgram GenerateProgram(Choices& choices, const GeneratorOptions& options);

// An array of hostile values: zeros, ones, ends of the range, subnormals, infinities,
// NaNs of any payload, ties.
Literal HostileLiteral(Choices& choices, const Shape& shape);

}  // namespace assay::fuzz

#endif  // ASSAY_FIND_FUZZ_GENERATOR_H_
