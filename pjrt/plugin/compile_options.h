// CompileOptionsProto, as far as it decides what a program computes and where:
// the rest is about code generation.
#ifndef ASSAY_PJRT_PLUGIN_COMPILE_OPTIONS_H_
#define ASSAY_PJRT_PLUGIN_COMPILE_OPTIONS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace assay::pjrt {

struct CompileOptions {
  int64_t replicas = 1, partitions = 1;
  int64_t device_ordinal = -1;  // the device of a program on one; -1: the first
  bool spmd_partitioning = false;
  bool portable = false;  // runs on whichever device it is given to
  // By replica, then partition; empty: not said.
  std::vector<int64_t> device_ids;

  // InvalidProgram: no such message, or counts and assignments that fit nothing.
  static absl::StatusOr<CompileOptions> Parse(std::string_view bytes);
};

// A DeviceAssignmentProto of these.
std::string DeviceAssignmentBytes(int64_t replicas, int64_t partitions,
                                  const std::vector<int64_t>& device_ids);

}  // namespace assay::pjrt

#endif  // ASSAY_PJRT_PLUGIN_COMPILE_OPTIONS_H_
