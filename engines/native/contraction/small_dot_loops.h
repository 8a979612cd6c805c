// How a dot that is too small for tiles is cut: rows of one operand, few enough to stay in the first cache,
// by panels of columns of the other, which are read where they lie if they are neighbours there.
#ifndef ASSAY_ENGINES_NATIVE_CONTRACTION_SMALL_DOT_LOOPS_H_
#define ASSAY_ENGINES_NATIVE_CONTRACTION_SMALL_DOT_LOOPS_H_

#include <optional>
#include <span>
#include <vector>

#include "engines/native/contraction/dot_box.h"
#include "engines/native/sums/row_source.h"

namespace assay::native {

inline constexpr int64_t kSmallDotLongest = 1 << 12;  // row
inline constexpr int64_t kRowElements = 1 << 14;      // of the rows at once
inline constexpr int64_t kMaxRowsAtOnce = 96;
inline constexpr int64_t kMaxPanelVectors = 4, kMaxPackedVectors = 2;

// A box of static sizes with at most `most` products and rows of at most kSmallDotLongest, but none.
bool IsSmallDot(const DotBox& box, int64_t most);

struct SmallDotLoops {
  // One operand, and where the result's elements of its rows lie.
  struct Side {
    Side(ElementType type, const LoopDims& batch, const LoopDims& rows, const LoopDims& contracted,
         int array);
    int64_t rows() const { return static_cast<int64_t>(layout.row_at.size()); }
    bool has_one_run() const { return layout.run_at.size() == 1; }

    ElementType type;
    RowLayout layout;
    int64_t row_step;  // between neighbouring rows; 0 where it is not always the same
    std::vector<int64_t> out_at;
    int64_t out_step;  // the same in the result
  };
  // Columns [first, first + count) of the side with many rows, in `vectors` vectors.
  struct Panel {
    int64_t first, count;
    int vectors;
  };

  // `lanes` of a vector; `in_place`: element types that kernels read where they lie. IsSmallDot(box).
  // `packed`: of the operands, the one whose packed columns will be used in many runs, if any.
  SmallDotLoops(int lanes, std::span<const ElementType> in_place, ElementType lhs, ElementType rhs,
                const DotBox& box, std::optional<int> packed = std::nullopt);

  int lanes;
  int64_t length;
  Side row_side, column_side;
  bool columns_are_rhs = true, columns_in_place = false;
  std::vector<int64_t> batch_at;
  std::vector<Panel> panels;
  int64_t rows_at_once = 1;
  int64_t row_step = 1;  // of the rows where they are copied

 private:
  bool IsInPlace(const Side& side, std::span<const ElementType> in_place) const;
  double CostOf(const Side& rows_of, const Side& columns_of, bool packs) const;
  void CutPanels();
};

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_CONTRACTION_SMALL_DOT_LOOPS_H_
