// Exact dots too small for tiles (small_dot_loops.h). Nothing is allocated but the result.
#ifndef ASSAY_ENGINES_NATIVE_CONTRACTION_SMALL_DOT_H_
#define ASSAY_ENGINES_NATIVE_CONTRACTION_SMALL_DOT_H_

#include "base/parallel.h"
#include "engines/native/contraction/small_dot_kernels.h"
#include "engines/native/contraction/small_dot_loops.h"

namespace assay::native {

class SmallDot {
 public:
  // Whether this takes less time than tiles: few products in a batch, or so few rows that packing the others'
  // columns would be most of the work.
  static bool IsWorth(const DotBox& box);

  // Takes floats whose products are exact doubles; IsWorth(box) is true. `packed`: the operand of
  // which PackColumns will be called, if any.
  SmallDot(Isa isa, ElementType lhs, ElementType rhs, ElementType result, const DotBox& box,
           std::optional<int> packed = std::nullopt);

  // `columns`: what PackColumns gave for the operand's bytes, or nothing.
  void Run(Parallel& parallel, const std::byte* lhs, const std::byte* rhs, std::byte* result,
           const Literal& columns = {}) const;

  // The operand (0 or 1) whose columns Run reads or packs.
  int column_operand() const { return loops_.columns_are_rhs ? 1 : 0; }
  // The norms of its columns, and the columns packed if they have to be; an empty tuple where they would
  // leave less than half of the memory limit to others.
  absl::StatusOr<Literal> PackColumns(EvalContext& context, const std::byte* operand) const;

 private:
  class Multiplier;
  const SmallDotKernels& kernels_;
  const SumKernels& sums_;
  const ElementType type_;
  const SmallDotLoops loops_;
  int64_t panel_width_ = 0;      // of the widest
  int64_t packed_of_panel_ = 0;  // doubles, in each batch: norms, and packed columns
};

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_CONTRACTION_SMALL_DOT_H_
