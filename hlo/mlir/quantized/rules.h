// What StableHLO demands of operations with quantized operands or results beyond what it demands of all
// (docs/spec/quantized.md section 5). Each function gives the first violation, with its label.
#ifndef ASSAY_HLO_MLIR_QUANTIZED_RULES_H_
#define ASSAY_HLO_MLIR_QUANTIZED_RULES_H_

#include <cstddef>
#include <string_view>

#include "hlo/mlir/ir.h"

namespace assay::mlir {

// "LABEL: operation: message"
absl::Status BrokenRule(std::string_view label, const Operation& operation, std::string_view message);

bool IsQuantized(const Type& type);   // a tensor of quantized elements
bool HasQuantized(const Type& type);  // the same, or a tuple with one
// Both have no quantized elements, or equal ones, tuples element by element.
bool SameElements(const Type& a, const Type& b);

// QUANT-1: quantized types are elements of tensors.
absl::Status CheckPlaceOf(const Type& type);
absl::Status CheckCounts(const Operation& operation, size_t operands, size_t results);
// QUANT-10: what is passed on keeps its element type.
absl::Status CheckSame(const Operation& operation, const Type& found, const Type& wanted);
// The text of an attribute of the operation; empty if it has none.
std::string_view TextOfAttribute(const Operation& operation, std::string_view name);
// QUANT-21: no operand and result has an axis.
absl::Status CheckPerTensor(const Operation& operation);
// QUANT-21: the operand, or the result, is quantized; or is not.
absl::Status CheckOperand(const Operation& operation, size_t i, bool quantized);
absl::Status CheckResult(const Operation& operation, size_t i, bool quantized);
// The first `data` operands, 0: all of them, are quantized and the others are not; the results are.
absl::Status CheckData(const Operation& operation, size_t data);
// QUANT-22: what is quantized has one baseline.
absl::Status CheckBaselines(const Operation& operation);
absl::Status CheckUniformQuantize(const Operation& operation);    // QUANT-20
absl::Status CheckUniformDequantize(const Operation& operation);  // QUANT-20
absl::Status CheckAdd(const Operation& operation);                // QUANT-23
absl::Status CheckContraction(const Operation& operation);        // QUANT-24 to QUANT-28
absl::Status CheckConstant(const Operation& operation);           // QUANT-12
// QUANT-29: the first `data` operands and the result have one element type.
absl::Status CheckMove(const Operation& operation, size_t data);
// The same of operand i and result i.
absl::Status CheckPairs(const Operation& operation);
// QUANT-29 and QUANT-30.
absl::Status CheckBroadcast(const Operation& operation);
absl::Status CheckReshape(const Operation& operation);
absl::Status CheckTranspose(const Operation& operation);

// QUANT-31: argument i of a region, and what it returns as value i, have the element type of `wanted`.
absl::Status CheckArgument(const Operation& operation, size_t region, size_t i, const Type& wanted);
absl::Status CheckReturned(const Operation& operation, size_t region, size_t i, const Type& wanted);
// QUANT-31: `operand` may become what the region of a reduction takes, `argument`.
absl::Status CheckPromotion(const Operation& operation, const Type& operand, const Type& argument);

}  // namespace assay::mlir

#endif  // ASSAY_HLO_MLIR_QUANTIZED_RULES_H_
