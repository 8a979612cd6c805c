// Arguments of the kernels of scatter_rows.cu: sums of whole rows of the operand and the updates, which are
// sorted by their row, stably.
#ifndef ASSAY_GPU_KERNELS_SCATTER_SCATTER_ROWS_ARGUMENTS_H_
#define ASSAY_GPU_KERNELS_SCATTER_SCATTER_ROWS_ARGUMENTS_H_

#include <cstdint>

#include "gpu/kernels/reduce_arguments.h"

namespace assay::gpu {

constexpr int kScatterRowsThreads = 256;

// A part of the updates of a row that has many.
struct ScatterPart {
  uint32_t strip;  // row * strips + number of the strip
  uint32_t part, parts;
  uint32_t first;  // the entry of part 0
};

struct ScatterRowsArguments {
  uint64_t updates;          // [items][length]
  uint64_t operand, result;  // [rows][length]; may be the same
  uint64_t keys, order;      // uint32_t [items], sorted; keys of `rows` and more are dropped
  uint64_t starts;           // uint32_t [rows + 1]
  uint64_t parts;            // ScatterPart [ScatterMostParts]
  uint64_t part_count;       // uint32_t, zero before
  uint64_t part_counters;    // uint32_t [ScatterMostParts], zero before
  uint64_t partial;          // of kSumStateBytes [ScatterMostParts][lanes * columns]
  uint64_t open;             // uint32_t [items * length]: item * length + element
  uint64_t open_count;       // uint32_t, zero before
  int64_t items, rows, length;
  int32_t lanes;   // that take a strip of a row together, a power of two up to 32
  int32_t strips;  // of a row
  Float result_type;
};

// Columns of a lane: elements that are read at once where the length is a multiple of them.
constexpr int ScatterColumns(int64_t element_bytes, int64_t length) {
  const int columns = element_bytes == 8 ? 2 : 4;
  return length % columns == 0 ? columns : 1;
}
// A row with more updates than this is summed in parts of so many.
constexpr int64_t kScatterPart = 4096;
constexpr int64_t ScatterMostParts(const ScatterRowsArguments& a) {
  return a.items <= kScatterPart ? 0 : 2 * (a.items / kScatterPart) * a.strips;
}
constexpr int64_t ScatterRowsBlocks(const ScatterRowsArguments& a) {
  return (a.rows * a.strips * a.lanes + kScatterRowsThreads - 1) / kScatterRowsThreads;
}
// Of the kernels of parts: a state of each thread's columns, and one word.
constexpr uint32_t ScatterPartsSharedBytes(int columns) {
  return static_cast<uint32_t>(kScatterRowsThreads * columns * kSumStateBytes + 16);
}
// scatter_starts with any number of blocks; scatter_rows_TYPE (ScatterColumns > 1) or scatter_rows_1_TYPE
// with ScatterRowsBlocks blocks; where ScatterMostParts is not 0, scatter_parts_TYPE or scatter_parts_1_TYPE
// with any number of blocks and ScatterPartsSharedBytes; then scatter_repair_TYPE of scatter.cu. Blocks have
// kScatterRowsThreads threads.

}  // namespace assay::gpu

#endif  // ASSAY_GPU_KERNELS_SCATTER_SCATTER_ROWS_ARGUMENTS_H_
