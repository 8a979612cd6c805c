// The two counter-based generators of docs/spec/operations-rng.md, for known-answer tests.
#ifndef ASSAY_EVALUATOR_OPS_ELEMENTWISE_RANDOM_H_
#define ASSAY_EVALUATOR_OPS_ELEMENTWISE_RANDOM_H_

#include <array>
#include <cstdint>

#include "absl/numeric/int128.h"

namespace assay {

// ThreeFry-2x32, 20 rounds: (x0, x1) as x0 | x1 << 32; key and counter likewise low word first.
uint64_t ThreeFry2x32(uint64_t key, uint64_t counter);
// Philox-4x32, 10 rounds: words from least to most significant.
std::array<uint32_t, 4> Philox4x32(uint64_t key, absl::uint128 counter);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_OPS_ELEMENTWISE_RANDOM_H_
