// What a profile says besides ulps, by programs whose results tell it.
#ifndef ASSAY_CHECK_MEASURE_PROBES_H_
#define ASSAY_CHECK_MEASURE_PROBES_H_

#include <string>
#include <vector>

#include "check/measure/both.h"
#include "check/profile.h"

namespace assay {

// Fills in all but ulps. Probes that the backend refuses are named in `refused` and leave what a correctly
// rounding backend does. Errors are those of MeasureProfile.
absl::Status RunProbes(Both& both, Profile& found, std::vector<std::string>& refused);

}  // namespace assay

#endif  // ASSAY_CHECK_MEASURE_PROBES_H_
