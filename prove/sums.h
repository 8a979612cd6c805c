// Proofs of exact sums and dots: tools/prove --sums N.
//
// Programs of one instruction (reduce, reduce-window, dot, convolution) are run by an engine with 1, 2 and 7
// threads and, where the order of terms is free, with operands permuted and exchanged; every answer is
// compared with the exact sum in GMP integers, rounded once by the prover.
#ifndef ASSAY_PROVE_SUMS_H_
#define ASSAY_PROVE_SUMS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "literal/literal.h"
#include "prove/random_proof.h"
#include "prove/report.h"

namespace assay::prove {

// Runs a program's text on arguments with a number of threads.
using Runner =
    std::function<absl::StatusOr<Literal>(const std::string& program, const std::vector<Literal>&, int jobs)>;
// The one place that chooses whose sums are proved: "exact" or "reference".
absl::StatusOr<Runner> RunnerOf(const std::string& engine);

// What the terms of a row look like.
enum class Terms : uint8_t {
  kRandom,      // exponents within 20 of one another
  kAny,         // any finite values
  kCancelling,  // most terms have their opposite in the row
  kTie,         // the sum is half way between two values, or a hair beside
  kSubnormal,
  kOverflow,  // near the largest value, with both signs
  kIntegers,  // small; many ties and zeros
  kSpecial,   // with infinities, NaNs and zeros of either sign
};
inline constexpr int kNumTerms = 8;

// n values of `format`, as doubles.
std::vector<double> RandomTerms(Terms terms, int64_t n, const NumberFormat& format, Random& random);

// Proves at least n sums of each op and type. One program runs at a time: runs beside one another would share
// the lowest number of threads that any of them asks for.
absl::Status ProveSums(int64_t n, const std::string& engine, Ledger& ledger);

struct SumOp {
  std::string name;          // "dot"
  ElementType type, result;  // c64 too
};
Proof ProveSumOp(const SumOp& op, int64_t n, const Runner& runner);

}  // namespace assay::prove

#endif  // ASSAY_PROVE_SUMS_H_
