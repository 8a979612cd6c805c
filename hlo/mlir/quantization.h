// The element type !quant.uniform<...> of StableHLO (docs/spec/quantized.md section 1): its text, its rules,
// its equality.
#ifndef ASSAY_HLO_MLIR_QUANTIZATION_H_
#define ASSAY_HLO_MLIR_QUANTIZATION_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "hlo/arena.h"
#include "shape/element_type.h"

namespace assay::mlir {

// An element is an integer q of `storage` and means (q - zero point) * scale in `expressed`. One scale and
// one zero point for the tensor, or one of each for every index along `axis`.
struct Quantization {
  static constexpr int64_t kNoAxis = -1;
  ElementType storage = ElementType::kS8;
  ElementType expressed = ElementType::kF32;
  int64_t storage_min = 0, storage_max = 0;
  int64_t axis = kNoAxis;
  std::span<const double> scales;
  std::span<const int64_t> zero_points;  // as many

  bool is_per_axis() const { return axis != kNoAxis; }
  // All of the storage type may occur.
  bool has_whole_range() const;
  bool has_zero_points() const;  // one that is not 0
};

int64_t SmallestOf(ElementType storage);
int64_t LargestOf(ElementType storage);

// QUANT-10. A baseline is what is left without scales and zero points.
bool SameQuantization(const Quantization& a, const Quantization& b);
bool SameBaseline(const Quantization& a, const Quantization& b);
// The canonical text: !quant.uniform<i8<-127:127>:f32:1, {1.000000e-01:-30,5.000000e-01}>
std::string ToString(const Quantization& type);

// QUANT-3, -5, -6 and -7 of a type whose element types are legal.
absl::Status CheckQuantization(const Quantization& type);
// QUANT-8 in a tensor of these sizes, of which negative ones are not known.
absl::Status CheckAxis(const Quantization& type, std::span<const int64_t> sizes);
// QUANT-2 and QUANT-4 of the element types of a quantized type.
absl::Status CheckStorage(ElementType storage);
absl::Status CheckExpressed(ElementType expressed);

// What stands between !quant.uniform< and its >, checked. `element_type_of` gives f32, i8, ...
// and false for others.
using ElementTypeOf = bool (*)(std::string_view word, ElementType* type);
absl::Status ParseQuantization(std::string_view body, ElementTypeOf element_type_of, Arena& arena,
                               Quantization* type);

}  // namespace assay::mlir

#endif  // ASSAY_HLO_MLIR_QUANTIZATION_H_
