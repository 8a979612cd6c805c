#include "hlo/mlir/refine/size_arithmetic.h"

#include <algorithm>

#include "base/error.h"
#include "base/hash_map.h"
#include "literal/element_io.h"

namespace assay::mlir {
namespace {

absl::Status DivisionByZero() { return EvalError({}, "a size is divided by zero"); }

const HashMap<std::string_view, Binary>& BinaryOperations() {
  static const auto* const kTable = new HashMap<std::string_view, Binary>{
      {"stablehlo.add", Binary::kAdd},
      {"arith.addi", Binary::kAdd},
      {"shape.add", Binary::kAdd},
      {"index.add", Binary::kAdd},
      {"stablehlo.subtract", Binary::kSubtract},
      {"arith.subi", Binary::kSubtract},
      {"index.sub", Binary::kSubtract},
      {"stablehlo.multiply", Binary::kMultiply},
      {"arith.muli", Binary::kMultiply},
      {"shape.mul", Binary::kMultiply},
      {"index.mul", Binary::kMultiply},
      {"stablehlo.divide", Binary::kDivide},
      {"arith.divsi", Binary::kDivide},
      {"index.divs", Binary::kDivide},
      {"shape.div", Binary::kDivideDown},
      {"stablehlo.remainder", Binary::kRemainder},
      {"arith.remsi", Binary::kRemainder},
      {"index.rems", Binary::kRemainder},
      {"stablehlo.maximum", Binary::kMaximum},
      {"arith.maxsi", Binary::kMaximum},
      {"shape.max", Binary::kMaximum},
      {"index.maxs", Binary::kMaximum},
      {"stablehlo.minimum", Binary::kMinimum},
      {"arith.minsi", Binary::kMinimum},
      {"shape.min", Binary::kMinimum},
      {"index.mins", Binary::kMinimum},
      {"stablehlo.and", Binary::kAnd},
      {"arith.andi", Binary::kAnd},
      {"stablehlo.or", Binary::kOr},
      {"arith.ori", Binary::kOr},
      {"stablehlo.xor", Binary::kXor},
      {"arith.xori", Binary::kXor},
      {"stablehlo.shift_left", Binary::kShiftLeft},
      {"arith.shli", Binary::kShiftLeft},
      {"stablehlo.shift_right_arithmetic", Binary::kShiftRight},
      {"arith.shrsi", Binary::kShiftRight},
      {"stablehlo.shift_right_logical", Binary::kShiftRightLogical},
      {"arith.shrui", Binary::kShiftRightLogical},
      {"arith.divui", Binary::kDivideUnsigned},
      {"index.divu", Binary::kDivideUnsigned},
      {"arith.remui", Binary::kRemainderUnsigned},
      {"index.remu", Binary::kRemainderUnsigned},
      {"arith.maxui", Binary::kMaximumUnsigned},
      {"index.maxu", Binary::kMaximumUnsigned},
      {"arith.minui", Binary::kMinimumUnsigned},
      {"index.minu", Binary::kMinimumUnsigned},
      {"arith.ceildivsi", Binary::kDivideUp},
      {"index.ceildivs", Binary::kDivideUp},
      {"arith.floordivsi", Binary::kDivideDown},
      {"index.floordivs", Binary::kDivideDown},
  };
  return *kTable;
}

// Quotients of signed integers. The most negative one by -1 is itself, as two's complement wraps.
absl::StatusOr<int64_t> Quotient(Binary operation, int64_t a, int64_t b) {
  if (b == 0) return DivisionByZero();
  if (b == -1) return operation == Binary::kRemainder ? 0 : static_cast<int64_t>(-static_cast<uint64_t>(a));
  const int64_t quotient = a / b, remainder = a % b;
  const bool same_sign = (a < 0) == (b < 0);
  switch (operation) {
    case Binary::kRemainder:
      return remainder;
    case Binary::kDivideUp:
      return quotient + (remainder != 0 && same_sign ? 1 : 0);
    case Binary::kDivideDown:
      return quotient - (remainder != 0 && !same_sign ? 1 : 0);
    default:
      return quotient;
  }
}

}  // namespace

int64_t Wrapped(ElementType type, int64_t value) {
  if (type == ElementType::kPred) return value & 1;
  if (IsSignedIntegral(type)) return WrapSigned(value, Bits(type));
  return static_cast<int64_t>(WrapUnsigned(static_cast<uint64_t>(value), Bits(type)));
}

std::optional<Binary> FindBinary(std::string_view name) {
  const auto known = BinaryOperations().find(name);
  return known == BinaryOperations().end() ? std::nullopt : std::optional(known->second);
}

absl::StatusOr<int64_t> ApplyBinary(Binary operation, ElementType type, int64_t a, int64_t b) {
  const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  const int bits = type == ElementType::kPred ? 1 : Bits(type);
  const uint64_t low_x = WrapUnsigned(x, bits), low_y = WrapUnsigned(y, bits);
  // A pred is ordered as 0 and 1, and never a negative number.
  const bool is_unsigned = !IsSignedIntegral(type);
  const bool too_far = low_y >= static_cast<uint64_t>(bits);
  switch (operation) {
    case Binary::kAdd:
      return type == ElementType::kPred ? a | b : static_cast<int64_t>(x + y);
    case Binary::kSubtract:
      return static_cast<int64_t>(x - y);
    case Binary::kMultiply:
      return static_cast<int64_t>(x * y);
    case Binary::kDivide:
    case Binary::kRemainder:
    case Binary::kDivideUp:
    case Binary::kDivideDown:
      if (!is_unsigned) return Quotient(operation, a, b);
      if (y == 0) return DivisionByZero();
      if (operation == Binary::kRemainder) return static_cast<int64_t>(x % y);
      return static_cast<int64_t>(x / y + (operation == Binary::kDivideUp && x % y != 0 ? 1 : 0));
    case Binary::kMaximum:
      return is_unsigned ? static_cast<int64_t>(std::max(x, y)) : std::max(a, b);
    case Binary::kMinimum:
      return is_unsigned ? static_cast<int64_t>(std::min(x, y)) : std::min(a, b);
    case Binary::kAnd:
      return a & b;
    case Binary::kOr:
      return a | b;
    case Binary::kXor:
      return a ^ b;
    case Binary::kShiftLeft:
      return too_far ? 0 : static_cast<int64_t>(x << low_y);
    case Binary::kShiftRight:
      return WrapSigned(a, bits) >> (too_far ? 63 : low_y);
    case Binary::kShiftRightLogical:
      return too_far ? 0 : static_cast<int64_t>(low_x >> low_y);
    case Binary::kDivideUnsigned:
      if (low_y == 0) return DivisionByZero();
      return static_cast<int64_t>(low_x / low_y);
    case Binary::kRemainderUnsigned:
      if (low_y == 0) return DivisionByZero();
      return static_cast<int64_t>(low_x % low_y);
    case Binary::kMaximumUnsigned:
      return static_cast<int64_t>(std::max(low_x, low_y));
    case Binary::kMinimumUnsigned:
      return static_cast<int64_t>(std::min(low_x, low_y));
  }
  return 0;
}

}  // namespace assay::mlir
