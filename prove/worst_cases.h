// Arguments whose function value lies very near a double or very near the middle of two: published hard cases
// (the search results of the CORE-MATH project, core-math.gitlabpages.inria.fr, and Lefèvre and Muller's).
// They are inputs like any other: MPFR says what is right, and a test measures how hard each one is.
#ifndef ASSAY_PROVE_WORST_CASES_H_
#define ASSAY_PROVE_WORST_CASES_H_

#include <span>
#include <string_view>

namespace assay::prove {

struct WorstCases1 {
  std::string_view function;
  std::span<const double> arguments;
};
std::span<const WorstCases1> WorstCases();

struct WorstCase2 {
  std::string_view function;
  double x, y;
};
std::span<const WorstCase2> WorstPairs();

}  // namespace assay::prove

#endif  // ASSAY_PROVE_WORST_CASES_H_
