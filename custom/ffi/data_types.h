// Element types and layouts as XLA:CPU hands them to handlers.
#ifndef ASSAY_CUSTOM_FFI_DATA_TYPES_H_
#define ASSAY_CUSTOM_FFI_DATA_TYPES_H_

#include <optional>
#include <span>

#include "base/error.h"
#include "custom/ffi/abi.h"
#include "shape/shape.h"

namespace assay::custom::ffi {

// nullopt: the interface has no number for it (f6e3m2fn, f6e2m3fn).
std::optional<abi::DataType> DataTypeOf(ElementType type);

// How an array of a literal, row-major with an element in Bytes(type) bytes, lies in a handler's memory: in
// the order of the layout, and elements of 1, 2 or 4 bits packed, the first in the lowest bits.
class MemoryForm {
 public:
  // Error: NotSupported for tiles and what else a layout may say of the memory itself.
  static absl::StatusOr<MemoryForm> Of(const Shape& array, const Layout& layout);

  // Both have the same bytes.
  bool is_literal() const { return !is_packed_ && order_.empty(); }
  int64_t num_bytes() const { return num_bytes_; }
  void FromLiteral(const std::byte* literal, std::byte* memory) const;
  void ToLiteral(const std::byte* memory, std::byte* literal) const;

 private:
  // The element of the literal that lies at place number `place` of the memory, for all places in order.
  template <typename Body>
  void ForEachPlace(Body body) const;

  DimVector sizes_;
  DimVector order_;    // minor to major; empty: row-major
  DimVector strides_;  // in the literal, in elements, by dimension
  int bits_ = 8;       // of an element in packed memory
  int bytes_ = 1;      // of an element in the literal
  bool is_packed_ = false, is_signed_ = false;
  int64_t num_elements_ = 0, num_bytes_ = 0;
};

}  // namespace assay::custom::ffi

#endif  // ASSAY_CUSTOM_FFI_DATA_TYPES_H_
