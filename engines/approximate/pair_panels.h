// Rows of elements of 16 bits as panels for matrix registers: pairs of neighbours of a row where bytes are
// groups of four (engines/native/contraction/integer_kernels.h).
#ifndef ASSAY_ENGINES_APPROXIMATE_PAIR_PANELS_H_
#define ASSAY_ENGINES_APPROXIMATE_PAIR_PANELS_H_

#include "engines/native/contraction/integer_panels.h"

namespace assay::approximate {

class PairPanels final : public native::IntegerPanels {
 public:
  PairPanels(const native::IntegerKernel& kernel, native::PanelSide side, const std::byte* data,
             native::RowLayout layout);
  void Pack(int64_t batch, int64_t first, int64_t count, std::byte* panel) const override;

 private:
  bool AreNeighbours(int64_t first, int64_t count) const;
  // rows[r] points to element 0 of row r; all are runs of neighbours.
  void PackRows(const uint16_t* const* rows, int64_t count, std::byte* panel) const;
  // Element k of row r at elements[k * run_stride + r].
  void PackElements(const uint16_t* elements, std::byte* panel) const;
  void Gather(int64_t base, uint16_t* row) const;

  const uint16_t* const data_;
  const native::RowLayout layout_;
  const int64_t length_, packed_length_;
  const bool in_lines_;
};

}  // namespace assay::approximate

#endif  // ASSAY_ENGINES_APPROXIMATE_PAIR_PANELS_H_
