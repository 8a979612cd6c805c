// Dimensions of arrays as kernels take them: neighbours that walk on are one.
#ifndef ASSAY_GPU_STRIDED_H_
#define ASSAY_GPU_STRIDED_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "gpu/kernels/strides.h"
#include "shape/shape.h"

namespace assay::gpu {

// A dimension and its strides in the arrays that are walked together.
struct Axis {
  int64_t size = 1;
  int64_t strides[2] = {0, 0};
};

// The same walk of fewer axes: those of size 1 go, and two neighbours become one where the inner one's end is
// the outer one's next element in both arrays. Outermost first.
std::vector<Axis> Merged(std::span<const Axis> axes);

// The axes as an argument of kernels; none where there are more than kMaxDimensions. `second` gets the
// strides in the other array.
std::optional<Strides> StridesOf(std::span<const Axis> axes, int64_t* second = nullptr);

// These dimensions of a row-major array of the sizes, in the order given.
std::vector<Axis> AxesOf(std::span<const int64_t> sizes, std::span<const int64_t> dimensions);

}  // namespace assay::gpu

#endif  // ASSAY_GPU_STRIDED_H_
