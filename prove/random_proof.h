// Proofs on random, boundary and hardest-to-round inputs: tools/prove --f64 N.
#ifndef ASSAY_PROVE_RANDOM_PROOF_H_
#define ASSAY_PROVE_RANDOM_PROOF_H_

#include <cstdint>
#include <string>
#include <vector>

#include "prove/functions.h"
#include "prove/report.h"
#include "prove/subject.h"

namespace assay::prove {

// splitmix64: small, and the same everywhere.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next();
  int64_t Below(int64_t n) { return static_cast<int64_t>(Next() % static_cast<uint64_t>(n)); }

 private:
  uint64_t state_;
};

// A double of one of many kinds: any pattern, a moderate exponent, few bits, near integers, near multiples of
// pi/2, near powers of two, near 1, near the ends of the functions' ranges, subnormal.
double RandomArgument(Random& random);
// Ends of domains and ranges, each with its neighbours; special values.
std::vector<double> BoundaryArguments();

// Chunk `chunk` of n random inputs of f64; chunk 0 starts with boundary values and worst cases.
Proof ProveRandom(const Function1& f, const Subject& subject, int64_t chunk, int64_t n);
// Pairs, of f64 or, rounded to it, of f32.
Proof ProveRandomPairs(const Function2& f, ElementType type, const Subject& subject, int64_t chunk,
                       int64_t n);

// n inputs for each function of f64, and n pairs for each of two operands of f64 and of f32;
// `names` empty: all.
void ProveDoubles(int64_t n, const std::vector<std::string>& names, const std::string& engine, int jobs,
                  Ledger& ledger);

}  // namespace assay::prove

#endif  // ASSAY_PROVE_RANDOM_PROOF_H_
