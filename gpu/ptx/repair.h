// Elements that a fusion's kernel left open (fused.h), made on the host by the op table's scalar functions.
#ifndef ASSAY_GPU_PTX_REPAIR_H_
#define ASSAY_GPU_PTX_REPAIR_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "engines/engine.h"

namespace assay::gpu {

// Fills `elements` with those at row-major positions `at` of operand k of the fusion, as they are stored.
// Positions come in any order and may be repeated.
using GatherElements =
    absl::FunctionRef<absl::Status(size_t k, std::span<const int64_t> at, std::span<std::byte> elements)>;

// The root's elements at these row-major positions, as stored one behind the other, bit for bit what the
// reference has. The fusion is one that MakeFusedPtx takes.
absl::StatusOr<std::vector<std::byte>> RepairElements(const FusionView& step,
                                                      std::span<const int64_t> positions,
                                                      GatherElements gather);

}  // namespace assay::gpu

#endif  // ASSAY_GPU_PTX_REPAIR_H_
