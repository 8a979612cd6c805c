// A computation of numbers, which map applies to each element, as one of arrays.
#ifndef ASSAY_CHECK_MAPPED_COMPUTATION_H_
#define ASSAY_CHECK_MAPPED_COMPUTATION_H_

#include <optional>

#include "hlo/module.h"

namespace assay {

// Its instructions on arrays of these sizes, constants spread over them; nullopt where it holds others than
// elementwise ones.
std::optional<Computation> MappedOver(const Computation& computation, const Shape& sizes);

}  // namespace assay

#endif  // ASSAY_CHECK_MAPPED_COMPUTATION_H_
