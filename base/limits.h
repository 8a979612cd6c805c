// Every limit on input, with its default. docs/limits.md says which flag changes it; each has a golden at
// the limit and one beyond it.
#ifndef ASSAY_BASE_LIMITS_H_
#define ASSAY_BASE_LIMITS_H_

#include <cstdint>

namespace assay {

inline constexpr int kMaxRank = 64;         // dynamic flags are one bit a dimension
inline constexpr int kMaxNesting = 512;     // tuples, literals, attributes, inline computations
inline constexpr int kMaxCallDepth = 1024;  // computations calling computations, at run time

struct RunLimits {
  int64_t max_steps = 0;       // instructions executed plus elements touched / 4096; 0: no limit
  int64_t memory_limit = 0;    // bytes of live values; 0: three quarters of the machine's memory
  double timeout_seconds = 0;  // wall clock; 0: no limit
};

}  // namespace assay

#endif  // ASSAY_BASE_LIMITS_H_
