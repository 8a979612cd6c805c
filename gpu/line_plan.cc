#include "gpu/line_plan.h"

#include <algorithm>

#include "gpu/kernel_function.h"

namespace assay::gpu {
namespace {

// Blocks that a multiprocessor runs at once, by the registers of the kernels.
constexpr int64_t kBlocksOfMultiprocessor = 5;

// [outer][length][inner] of merged dimensions.
bool FindLines(const Strides& kept, const Strides& reduced, LineArguments* a) {
  if (reduced.rank != 1 || kept.rank > 2) return false;
  a->length = reduced.sizes[0];
  a->outer = a->inner = 1;
  const int64_t apart = reduced.strides[0];
  if (apart == 1) {
    if (kept.rank == 2 || (kept.rank == 1 && kept.strides[0] != a->length)) return false;
    if (kept.rank == 1) a->outer = kept.sizes[0];
    return true;
  }
  if (kept.rank == 0 || kept.strides[kept.rank - 1] != 1 || kept.sizes[kept.rank - 1] != apart) return false;
  a->inner = apart;
  if (kept.rank == 1) return true;
  a->outer = kept.sizes[0];
  return kept.strides[0] == a->length * apart;
}

// Rows: lanes of a warp share a line where lines are many; else blocks do.
void PlanRows(int64_t multiprocessors, const LineElements& elements, LinePlan* plan) {
  constexpr int64_t kThreadsOfMultiprocessor = 2048, kElementsOfLane = 128, kLeastOfBlock = 8192;
  LineArguments& a = plan->arguments;
  const int64_t threads = kThreadsOfMultiprocessor * multiprocessors, vector = 16 / elements.bytes;
  a.group = 1;
  while (a.group < 32 && (a.group * kElementsOfLane < a.length ||
                          (a.outer * a.group < threads && 2 * a.group * vector <= a.length)))
    a.group *= 2;
  a.parts = 1;
  if (a.outer * 32 >= threads || a.length < kLeastOfBlock) {
    plan->shape = "rows";
    plan->blocks = LineBlocksOfRows(a);
    return;
  }
  plan->shape = "long";
  a.parts =
      std::clamp<int64_t>(kBlocksOfMultiprocessor * multiprocessors / a.outer, 1, a.length / kLeastOfBlock);
  plan->blocks = a.outer * a.parts;
  plan->shared_bytes = LineSharedBytes(0, elements.state_bytes);
}

// Columns: as many parts as fill the last wave of blocks best.
void PlanColumns(int64_t multiprocessors, const LineElements& elements, LinePlan* plan) {
  constexpr int64_t kMostParts = 16, kLeastOfPart = 64;
  LineArguments& a = plan->arguments;
  const bool is_wide = elements.columns > 1 && a.inner % elements.columns == 0;
  const int columns = is_wide ? elements.columns : 1;
  plan->shape = is_wide ? "columns" : "columns_1";
  const int64_t blocks = a.outer * LineBlocksAcross(a, columns),
                at_once = kBlocksOfMultiprocessor * multiprocessors;
  double best = 0;
  for (int64_t parts = 1; parts == 1 || (parts <= kMostParts && parts * kLeastOfPart <= a.length); ++parts) {
    const int64_t waves = (blocks * parts + at_once - 1) / at_once;
    const double used = static_cast<double>(blocks * parts) / static_cast<double>(waves * at_once);
    if (used <= best + 0.01) continue;
    best = used;
    a.parts = parts;
  }
  plan->blocks = blocks * a.parts;
  plan->shared_bytes = LineSharedBytes(columns, elements.state_bytes);
  if (a.parts > 1) plan->counters = LineCounters(a, columns);
}

}  // namespace

std::optional<LinePlan> LinePlanOf(const DeviceProperties& device, const Strides& kept,
                                   const Strides& reduced, const LineElements& elements) {
  // Fewer columns leave most of a block's lanes without work.
  constexpr int64_t kLeastColumns = 8;
  LinePlan plan;
  LineArguments& a = plan.arguments;
  if (!FindLines(kept, reduced, &a) || a.outer * a.length * a.inner == 0) return std::nullopt;
  if (a.inner != 1 && a.inner < kLeastColumns) return std::nullopt;
  const int64_t multiprocessors = std::max(1, device.multiprocessors);
  if (a.inner == 1) {
    PlanRows(multiprocessors, elements, &plan);
    if (a.parts > 1) plan.counters = a.outer;
  } else {
    PlanColumns(multiprocessors, elements, &plan);
  }
  if (a.parts > 1) plan.partial_bytes = a.outer * a.inner * a.parts * elements.state_bytes;
  if (plan.blocks > kMaxBlocks) return std::nullopt;
  return plan;
}

}  // namespace assay::gpu
