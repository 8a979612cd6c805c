// Integer operations on two elements, as StableHLO and the dialects arith, shape and index define them.
#ifndef ASSAY_HLO_MLIR_REFINE_SIZE_ARITHMETIC_H_
#define ASSAY_HLO_MLIR_REFINE_SIZE_ARITHMETIC_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "shape/element_type.h"

namespace assay::mlir {

enum class Binary : uint8_t {
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kRemainder,
  kMaximum,
  kMinimum,
  kAnd,
  kOr,
  kXor,
  kShiftLeft,
  kShiftRight,
  kDivideUnsigned,
  kRemainderUnsigned,
  kMaximumUnsigned,
  kMinimumUnsigned,
  kShiftRightLogical,
  kDivideUp,
  kDivideDown
};

// nullopt: the operation is none of these.
std::optional<Binary> FindBinary(std::string_view name);

// The value as the type holds it: the low bits, sign- or zero-extended; u64 as the same 64 bits.
int64_t Wrapped(ElementType type, int64_t value);

// Not wrapped. An error: a division by zero.
absl::StatusOr<int64_t> ApplyBinary(Binary operation, ElementType type, int64_t a, int64_t b);

}  // namespace assay::mlir

#endif  // ASSAY_HLO_MLIR_REFINE_SIZE_ARITHMETIC_H_
