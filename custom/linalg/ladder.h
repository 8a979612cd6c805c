// Exact results rounded once, by Ziv's strategy: a computation is made with numbers of more and more digits
// until two in succession, rounded to the type of the results, have the same bytes.
//
// A computation is Routine<S>::Run(arguments, work) for elements S; it answers false where it was not sure of
// a decision (which eigenvalues are equal), and then the next one is made in any case. The last one's results
// stand whatever they are.
// Decision: lapack-calls.
#ifndef ASSAY_CUSTOM_LINALG_LADDER_H_
#define ASSAY_CUSTOM_LINALG_LADDER_H_

#include "custom/linalg/matrix.h"
#include "custom/linalg/work.h"

namespace assay::linalg {

// The sizes of numbers, in limbs of 64 bits.
inline constexpr int kRungs[] = {2, 3, 6, 12};

template <template <class> class Routine, class Arguments>
absl::StatusOr<bool> RunRung(const Arguments& arguments, int limbs, bool is_complex, Work& work) {
  switch (limbs) {
    case 2:
      return is_complex ? Routine<Complex<Wide<2>>>::Run(arguments, work)
                        : Routine<Wide<2>>::Run(arguments, work);
    case 3:
      return is_complex ? Routine<Complex<Wide<3>>>::Run(arguments, work)
                        : Routine<Wide<3>>::Run(arguments, work);
    case 6:
      return is_complex ? Routine<Complex<Wide<6>>>::Run(arguments, work)
                        : Routine<Wide<6>>::Run(arguments, work);
    default:
      return is_complex ? Routine<Complex<Wide<12>>>::Run(arguments, work)
                        : Routine<Wide<12>>::Run(arguments, work);
  }
}

}  // namespace assay::linalg

#endif  // ASSAY_CUSTOM_LINALG_LADDER_H_
