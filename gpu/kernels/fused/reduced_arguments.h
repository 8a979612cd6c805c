// Arguments of the kernels of reduced.cu, which end the sums of generated kernels (gpu/ptx/reduction.h).
#ifndef ASSAY_GPU_KERNELS_FUSED_REDUCED_ARGUMENTS_H_
#define ASSAY_GPU_KERNELS_FUSED_REDUCED_ARGUMENTS_H_

#include <cstdint>

#include "gpu/kernels/reduce_arguments.h"

namespace assay::gpu {

// What is known of a part of a sum: the pair, and the largest and the least magnitude of its terms as words
// (Extent of pairs.cuh).
struct ReducedPart {
  double sum, error;
  uint32_t most, least;
};

// A term that is in no part, as its type stores it.
struct ReducedTerm {
  uint64_t bits;
  uint32_t result, unused;
};

// reduced_TYPE: a group of lanes adds the parts of a result; ReducedBlocks blocks. reduced_block_TYPE: a
// block does, with kReducedSharedBytes; a block for each result. Blocks have kReduceThreads threads.
struct ReducedArguments {
  uint64_t parts;  // ReducedPart [results][of_result]
  uint64_t terms;  // ReducedTerm [num_terms], ascending by result
  uint64_t init, result;
  uint64_t open_count;  // uint32_t: results that are open are counted, and not written
  int64_t results, of_result, num_terms;
  double count;  // terms of a part, at most
  double depth;  // additions that a term has passed before, at most
  int32_t group;
  Float result_type;
};
constexpr int64_t ReducedBlocks(const ReducedArguments& a) {
  return (a.results * a.group + kReduceThreads - 1) / kReduceThreads;
}
constexpr uint32_t kReducedSharedBytes = kReduceThreads / 32 * kSumStateBytes;

}  // namespace assay::gpu

#endif  // ASSAY_GPU_KERNELS_FUSED_REDUCED_ARGUMENTS_H_
