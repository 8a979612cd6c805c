#include "gpu/reducer.h"

#include "evaluator/patterns/associative.h"
#include "evaluator/scalar_function.h"
#include "fmt/format.h"
#include "gpu/kernel_function.h"

namespace assay::gpu {
namespace {

FoldOp FoldOpOf(KeyOp op) {
  switch (op) {
    case KeyOp::kAdd:
      return FoldOp::kAdd;
    case KeyOp::kMultiply:
      return FoldOp::kMultiply;
    case KeyOp::kAnd:
      return FoldOp::kAnd;
    case KeyOp::kOr:
      return FoldOp::kOr;
    case KeyOp::kXor:
      return FoldOp::kXor;
    case KeyOp::kMaximum:
      return FoldOp::kMax;
    case KeyOp::kMinimum:
      return FoldOp::kMin;
  }
  return FoldOp::kAdd;
}

}  // namespace

absl::StatusOr<DeviceReducer> DeviceReducerOf(const Module& module, ComputationId reducer, ElementType type) {
  DeviceReducer result;
  if (IsExactSum(module, reducer)) {
    result.sum = FloatOf(type);
    if (!result.sum) return NotSupported({}, fmt::format("sums of {}", Name(type)));
    return result;
  }
  if (!IsAssociative(module, reducer)) return NotSupported({}, "the order of the reducer affects the result");
  const bool is_whole =
      type == ElementType::kPred || FloatOf(type).has_value() || (IsIntegral(type) && Info(type).bits >= 8);
  if (!is_whole) return NotSupported({}, fmt::format("folds of {}", Name(type)));
  result.folding.op = FoldOpOf(KeyOpOf(module, reducer, type));
  result.folding.kind = FloatOf(type)            ? FoldKind::kFloat
                        : IsSignedIntegral(type) ? FoldKind::kSigned
                                                 : FoldKind::kUnsigned;
  if (const FloatFormat* format = Info(type).format) {
    result.folding.nan = format->nan_bits;
    result.folding.infinity = ((uint64_t{1} << format->exponent_bits) - 1) << format->mantissa_bits;
  }
  return result;
}

}  // namespace assay::gpu
