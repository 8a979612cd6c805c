#include "engines/native/contraction/small_dot_loops.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/checked.h"

namespace assay::native {
namespace {

// 0 where it is not always the same.
int64_t StepOf(const std::vector<int64_t>& at) {
  if (at.size() < 2) return 1;
  const int64_t step = at[1] - at[0];
  for (size_t r = 2; r < at.size(); ++r) {
    if (at[r] - at[r - 1] != step) return 0;
  }
  return step;
}

}  // namespace

bool IsSmallDot(const DotBox& box, int64_t most) {
  const LoopDims& contracted = box.contracted[0].loops;
  for (const LoopDims* loops : {&contracted, &box.batch, &box.rows, &box.columns}) {
    const int64_t count = LoopCount(*loops);
    if (count == 0 || count > most) return false;
    most /= count;  // no product overflows: shapes without values may be of any size
  }
  return LoopCount(contracted) <= kSmallDotLongest;
}

SmallDotLoops::Side::Side(ElementType element_type, const LoopDims& batch, const LoopDims& rows,
                          const LoopDims& contracted, int array)
    : type(element_type),
      layout(batch, rows, contracted, array),
      row_step(StepOf(layout.row_at)),
      out_at(OffsetsOf(rows, 2)),
      out_step(StepOf(out_at)) {}

SmallDotLoops::SmallDotLoops(int vector_lanes, std::span<const ElementType> in_place, ElementType lhs,
                             ElementType rhs, const DotBox& box, std::optional<int> packed)
    : lanes(vector_lanes),
      length(LoopCount(box.contracted[0].loops)),
      row_side(lhs, box.batch, box.rows, box.contracted[0].loops, 0),
      column_side(rhs, box.batch, box.columns, box.contracted[0].loops, 1),
      batch_at(OffsetsOf(box.batch, 2)) {
  const bool packs_left = packed != 0 && !IsInPlace(row_side, in_place),
             packs_right = packed != 1 && !IsInPlace(column_side, in_place);
  if (CostOf(column_side, row_side, packs_left) < CostOf(row_side, column_side, packs_right)) {
    std::swap(row_side, column_side);
    columns_are_rhs = false;
  }
  columns_in_place = IsInPlace(column_side, in_place);
  // Rows a multiple of 512 bytes apart would share few sets of the cache.
  row_step = length >= 256 && length % 64 == 0 ? length + 8 : length;
  rows_at_once = std::clamp<int64_t>(kRowElements / row_step, 1, kMaxRowsAtOnce);
  CutPanels();
}

bool SmallDotLoops::IsInPlace(const Side& side, std::span<const ElementType> in_place) const {
  return std::find(in_place.begin(), in_place.end(), side.type) != in_place.end() && side.row_step == 1 &&
         side.has_one_run() && side.rows() >= lanes;
}

// Estimates the vectors of work. It decides about time alone.
double SmallDotLoops::CostOf(const Side& rows_of, const Side& columns_of, bool packs) const {
  const auto rows = static_cast<double>(rows_of.rows()), columns = static_cast<double>(columns_of.rows()),
             elements = static_cast<double>(length);
  const auto vectors = static_cast<double>(CeilDiv(columns_of.rows(), lanes));
  const double multiply = vectors * elements * (rows + 2 * std::ceil(rows / 12));
  const double pack =
      packs ? columns * elements * 2 * std::ceil(rows / static_cast<double>(kMaxRowsAtOnce)) : 0;
  const double widen = rows * elements * (rows_of.row_step == 1 || rows_of.layout.run_stride == 1 ? 0.5 : 2);
  const double store = rows * columns * (columns_of.out_step == 1 ? 0.5 : 4);
  return multiply + pack + widen + store;
}

// In place a last panel that would not be full covers some columns again;
// packed ones are filled up with zeros.
void SmallDotLoops::CutPanels() {
  const int64_t columns = column_side.rows();
  const int64_t most = !columns_in_place || row_side.rows() > 3 ? kMaxPackedVectors : kMaxPanelVectors;
  for (int64_t at = 0; at < columns;) {
    int64_t vectors = most;
    while (vectors > 1 &&
           (vectors / 2 * lanes >= columns - at || (columns_in_place && vectors * lanes > columns)))
      vectors /= 2;
    const int64_t width = vectors * lanes;
    const int64_t first = columns_in_place ? std::min(at, columns - width) : at;
    panels.push_back({first, std::min(width, columns - first), static_cast<int>(vectors)});
    at = first + width;
  }
}

}  // namespace assay::native
