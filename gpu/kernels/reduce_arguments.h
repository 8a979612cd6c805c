// Arguments of the kernels of reduce.cu and fold.cu: result[o] is made of init and the elements input[o,
// i] for all i.
#ifndef ASSAY_GPU_KERNELS_REDUCE_ARGUMENTS_H_
#define ASSAY_GPU_KERNELS_REDUCE_ARGUMENTS_H_

#include <cstdint>

#include "gpu/kernels/formats.h"
#include "gpu/kernels/strides.h"

namespace assay::gpu {

// How threads share the work: `group` neighbouring lanes (a power of two up to 32) take one part of the
// elements of one result together. Groups of 1 suit elements of neighbouring results that stand side by side,
// groups of 32 those of one.
struct ReducePlan {
  Strides kept, reduced;
  int64_t parts;  // of the elements of each result: 1 to as many as there are elements
  int32_t group;
};
constexpr int kReduceThreads = 256;
constexpr int64_t ReduceBlocks(const ReducePlan& plan) {
  return (SizeOf(plan.kept) * plan.parts * plan.group + kReduceThreads - 1) / kReduceThreads;
}

// What is known of a part of a sum.
struct SumPart {
  double sum, error, magnitude;
  int32_t least;   // field of the exponent, of the least element that is not zero
  uint32_t kinds;  // kSum...
};
enum : uint32_t { kSumNan = 1, kSumPositive = 2, kSumNegative = 4, kSumOther = 8 };

// sum_TYPE with ReduceBlocks blocks of kReduceThreads threads, sum_finish_TYPE with one warp a result where
// there is more than one part, then sum_repair_TYPE with any number of blocks of kSumRepairThreads threads.
// At most 2^30 elements a result, fewer than 2^32 results.
struct SumArguments {
  ReducePlan plan;
  uint64_t input;
  uint64_t init;  // of the input's type
  uint64_t result;
  uint64_t parts;       // SumPart [results * plan.parts], where there is more than one part
  uint64_t open;        // uint32_t [results]
  uint64_t open_count;  // uint32_t, zero before sum_TYPE
  Float result_type;
};
constexpr int kSumRepairThreads = 512;
constexpr uint32_t kSumRepairSharedBytes = kSumRepairThreads / 32 * 96 * 8;

enum class FoldOp : int32_t { kMax, kMin, kAnd, kOr, kXor, kAdd, kMultiply };
enum class FoldKind : int32_t { kUnsigned, kSigned, kFloat };

struct FoldingArguments {
  uint64_t infinity, nan;  // of floats: their bits
  FoldOp op;
  FoldKind kind;
};

// fold_N for elements of N bytes, with ReduceBlocks blocks of kReduceThreads threads. Results of several
// parts are [results * plan.parts] elements, which a second launch folds with one part and init.
struct FoldArguments {
  ReducePlan plan;
  uint64_t input;
  uint64_t init;  // 0: none, and there are elements
  uint64_t result;
  FoldingArguments folding;
};

}  // namespace assay::gpu

#endif  // ASSAY_GPU_KERNELS_REDUCE_ARGUMENTS_H_
