// Which of two test cases is simpler: costs are compared part by part, the first difference decides.
#ifndef ASSAY_FIND_REDUCE_COST_H_
#define ASSAY_FIND_REDUCE_COST_H_

#include <compare>
#include <cstdint>
#include <vector>

#include "find/reduce/test_case.h"

namespace assay {

// A reduction is tried only where it lowers the cost, so that the search ends. The order is that of how much
// a reader, or a debugger, gains.
struct Cost {
  int64_t structure = 0;   // calls, fusions, loops and conditionals: inlining one may add instructions
  int64_t operations = 0;  // instructions other than parameters and constants
  int64_t instructions =
      0;                   // all; a constant of more than kMaxConstant elements counts more than a parameter
  int64_t elements = 0;    // of all arrays
  int64_t ranks = 0;       // dimensions of all arrays
  int64_t types = 0;       // of all arrays, each by how simple its type is
  int64_t attributes = 0;  // what instructions and the module say beyond defaults
  int64_t values = 0;      // of arguments and constants, each by how simple it is
  auto operator<=>(const Cost&) const = default;
};

// Constants of more elements are better read from a file.
inline constexpr int64_t kMaxConstant = 8;

Cost CostOf(const CheckedCase& test_case);

// 0 for f32, s32 and pred, the types that people read; more for others.
int64_t CostOfType(ElementType type);
// 0 for zero, 1 for one, then small integers, short fractions, all others.
int64_t CostOfValues(const Literal& array);

}  // namespace assay

#endif  // ASSAY_FIND_REDUCE_COST_H_
