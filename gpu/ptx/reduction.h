// A reduce with the elementwise instructions that compute its operands as a PTX kernel: threads make elements
// (body.h) and combine them in registers, groups of lanes by shuffles. Operands are [outer][length][inner] in
// memory, of which `length` is reduced.
//
// Sums leave what is known of their parts, which gpu/kernels/fused/reduced.cu adds and rounds. All other
// reducers are the scalar instructions of their computation on two elements: in any order if that computation
// is known to be so, otherwise in the order of the elements, where they are associative
// (evaluator/patterns/selection.h). Their parts are combined by a second kernel of this form.
#ifndef ASSAY_GPU_PTX_REDUCTION_H_
#define ASSAY_GPU_PTX_REDUCTION_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engines/engine.h"
#include "gpu/driver/device.h"

namespace assay::gpu {

enum class ReductionOrder : uint8_t { kSum, kAny, kOwn };

struct ReductionPlan {
  ReductionOrder order = ReductionOrder::kSum;
  int64_t outer = 1, length = 1, inner = 1;
  // A group of lanes, a power of two up to 32, takes `chunk` neighbouring elements of a result: groups of
  // more than one lane where inner is 1.
  int group = 1;
  int64_t chunk = 1;

  int64_t results() const { return outer * inner; }
  int64_t parts() const { return (length + chunk - 1) / chunk; }
};
// [outer][length][inner] of a reduce's operand; none where the reduced dimensions are no neighbours.
std::optional<ReductionPlan> ReductionPlanOf(const StepView& reduce, int multiprocessors);

struct ReductionArgument {
  // As in FusedArgument.
  DeviceAddress open = 0;
  uint64_t open_room = 0;
  DeviceAddress open_count = 0;
  // Of every operand of the reduce: where the results go, or the parts [results][parts] where there are
  // several; then its init values.
  std::span<const DeviceAddress> outputs, inits;
  std::span<const DeviceAddress> operands;  // of the step; of parts, those of the reduce
};

struct ReductionKernel {
  static constexpr std::string_view kName = "reduced";

  std::string text;
  size_t num_reduced = 0, num_operands = 0;  // of the reduce, without init values; of the step
  int64_t threads = 0;
  bool may_leave_open = false;  // open elements are left out
  bool is_approximate = false;  // members that have an approximation are that
  int64_t terms_of_thread = 0;  // elements that one thread combines, at most

  std::vector<std::byte> Argument(const ReductionArgument& argument) const;
  LaunchShape Shape() const;
};

// `step`: a reduce as the root, alone or behind members that compute what it reads. Its sums are parts; other
// reducers end with the init values where there is one part. `approximate`: as of MakeFusedPtx.
absl::StatusOr<ReductionKernel> MakeReductionPtx(const FusionView& step, const ReductionPlan& plan,
                                                 bool approximate = false);
// What combines the parts of the same reduce, in a plan whose length they are.
absl::StatusOr<ReductionKernel> MakePartsPtx(const FusionView& step, const ReductionPlan& plan);

}  // namespace assay::gpu

#endif  // ASSAY_GPU_PTX_REDUCTION_H_
