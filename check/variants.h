// Outputs that a profile refuses, held against the same backend with other settings: the profile's variants.
#ifndef ASSAY_CHECK_VARIANTS_H_
#define ASSAY_CHECK_VARIANTS_H_

#include <map>
#include <string>
#include <vector>

#include "check/conformance.h"

namespace assay {

struct VariantVerdict {
  std::string profile;
  int64_t outside = 0;  // elements of all outputs; missing outputs count as one
  // What the variant allows of the dots and convolutions of this program and the profile does not, and these
  // instructions.
  std::vector<std::string> allows;
  std::vector<std::string> instructions;  // "convolution.5"
};

// Derives the bounds of each variant of the profile and compares the outputs with them. Errors are
// LoadProfile's and RunWithBounds'.
absl::StatusOr<std::vector<VariantVerdict>> CompareToVariants(
    const Program& program, const Profile& profile, const DeviceGrid& grid,
    const std::vector<DeviceInputs>& inputs, const RunOptions& options,
    const std::map<std::string, Literal>& actual, std::span<const Engine* const> engines = EnginesOf());

}  // namespace assay

#endif  // ASSAY_CHECK_VARIANTS_H_
