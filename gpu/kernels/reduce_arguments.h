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
// Of each warp what it has of a sum, and which kinds of terms there were.
constexpr uint32_t kSumRepairSharedBytes = kSumRepairThreads / 32 * (96 * 8 + 4);

// Operands that are [outer][length][inner] in memory, whose middle dimension is reduced: kernels of
// sum_lines.cu and fold_lines.cu. At least one element; results are [outer][inner].
//
// sum_rows_TYPE and fold_rows_OP_N where inner is 1: `group` neighbouring lanes, a power of two up to 32,
// take a line together; LineBlocksOfRows blocks. sum_long_TYPE and fold_long_OP_N where inner is 1: `parts`
// blocks take a line together; outer * parts blocks. sum_columns_TYPE and fold_columns_OP_N: a block has 32
// * columns neighbouring results, and one of `parts` parts of their elements; outer * LineBlocksAcross *
// parts blocks. `inner` is a multiple of the columns of a thread, SumColumns or FoldColumns.
// sum_columns_1_TYPE and fold_columns_1_OP_N have one column a thread.
//
// Blocks have kReduceThreads threads and LineSharedBytes (columns 0: not by columns). Behind sums follows
// sum_repair_TYPE.
struct LineArguments {
  uint64_t input;
  uint64_t init;  // of the input's type
  uint64_t result;
  uint64_t partial;   // states [results * parts], where there is more than one part
  uint64_t counters;  // uint32_t [LineCounters], zero before and after, where there is more than one part
  uint64_t open;      // of sums, as in SumArguments
  uint64_t open_count;
  int64_t outer, length, inner, parts;
  int32_t group;
  Float result_type;  // of sums
  // Of folds: what the bits of elements are xored with before the operation and after it, and of floats the
  // bits of infinity and NaN.
  uint64_t flip, infinity, nan;
};
constexpr int64_t kSumStateBytes = 32;
constexpr int64_t FoldStateBytes(int64_t element_bytes) { return element_bytes == 8 ? 8 : 4; }
constexpr int SumColumns(int64_t element_bytes) { return element_bytes == 8 ? 2 : 4; }
constexpr int FoldColumns(int64_t element_bytes) { return static_cast<int>(16 / element_bytes); }
// A state of every warp, or of every warp and column; one word more.
constexpr uint32_t LineSharedBytes(int columns, int64_t state_bytes) {
  const int64_t states = columns == 0 ? 32 : int64_t{kReduceThreads} / 32 * columns * 33;
  return static_cast<uint32_t>(states * state_bytes + 16);
}
constexpr int64_t LineBlocksOfRows(const LineArguments& a) {
  return (a.outer * a.group + kReduceThreads - 1) / kReduceThreads;
}
// Blocks side by side that have all results of one `outer` index.
constexpr int64_t LineBlocksAcross(const LineArguments& a, int columns) {
  return (a.inner + 32 * columns - 1) / (32 * columns);
}
constexpr int64_t LineCounters(const LineArguments& a, int columns) {
  return columns == 0 ? a.outer : a.outer * LineBlocksAcross(a, columns);
}

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
