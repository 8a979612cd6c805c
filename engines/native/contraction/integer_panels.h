// Rows of integers as panels in the form that an integer kernel wants.
#ifndef ASSAY_ENGINES_NATIVE_CONTRACTION_INTEGER_PANELS_H_
#define ASSAY_ENGINES_NATIVE_CONTRACTION_INTEGER_PANELS_H_

#include "engines/native/contraction/integer_kernels.h"
#include "engines/native/sums/row_source.h"

namespace assay::native {

class IntegerPanels {
 public:
  virtual ~IntegerPanels() = default;
  // Rows first, … , first + count - 1 as one panel of `length` elements a row; the rest of the panel is zero.
  virtual void Pack(int64_t batch, int64_t first, int64_t count, std::byte* panel) const = 0;
};

// Which operand's panels.
enum class PanelSide : uint8_t { kLeft, kRight };

// Panels of elements of 16 bits and more, which are the low bits of 64-bit ones.
class WidePanels final : public IntegerPanels {
 public:
  WidePanels(const IntegerKernel& kernel, PanelSide side, const RowSource<int64_t>& source, int64_t length);
  void Pack(int64_t batch, int64_t first, int64_t count, std::byte* panel) const override;

 private:
  const IntegerKernel& kernel_;
  const RowSource<int64_t>& source_;
  const int64_t length_;
  const int width_;
};

// Panels of bytes. `flip` adds 128 modulo 256 to each element.
class BytePanels final : public IntegerPanels {
 public:
  BytePanels(const IntegerKernel& kernel, PanelSide side, const RowSource<uint8_t>& source, int64_t length,
             bool flip);
  void Pack(int64_t batch, int64_t first, int64_t count, std::byte* panel) const override;

 private:
  // rows[r * packed_length + k], or elements[k * stride + r] for k < n, as groups of four; `flip` of all.
  void GroupRows(const uint8_t* rows, uint32_t* groups) const;
  void GroupElements(const uint8_t* elements, int64_t stride, int64_t n, uint8_t flip,
                     uint32_t* groups) const;
  // A whole panel of elements where they lie; they may be followed by nothing.
  void GroupInPlace(const RowSource<uint8_t>::InPlace& elements, uint32_t* groups) const;
  void RowsToLines(const uint8_t* rows, int64_t count, std::byte* lines) const;
  void GroupsToLines(const uint32_t* groups, std::byte* lines) const;

  const RowSource<uint8_t>& source_;
  const int64_t length_, packed_length_;
  const int width_;
  const bool in_lines_;
  const uint8_t flip_;
};

// Elements of a row with the zeros that the kernel needs behind them.
int64_t PackedLength(const IntegerKernel& kernel, int64_t length);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_CONTRACTION_INTEGER_PANELS_H_
