// What kernels know of a reducer: an exact sum, or a fold whose order no result shows.
#ifndef ASSAY_GPU_REDUCER_H_
#define ASSAY_GPU_REDUCER_H_

#include <optional>

#include "gpu/driver/device.h"
#include "gpu/kernels/reduce_arguments.h"
#include "hlo/module.h"
#include "shape/element_type.h"

namespace assay::gpu {

struct DeviceReducer {
  std::optional<Float> sum;  // the type of an exact sum; none: a fold
  FoldingArguments folding{};
};

// The reducer of elements of one type. NotSupported says why there is none.
absl::StatusOr<DeviceReducer> DeviceReducerOf(const Module& module, ComputationId reducer, ElementType type);

}  // namespace assay::gpu

#endif  // ASSAY_GPU_REDUCER_H_
