// "ij,jk->ik": the letters of an einsum's operands and of its result.
#ifndef ASSAY_HLO_MLIR_IMPORT_EINSUM_H_
#define ASSAY_HLO_MLIR_IMPORT_EINSUM_H_

#include <optional>
#include <string>
#include <string_view>

#include "hlo/mlir/import/importer.h"

namespace assay::mlir {

struct Einsum {
  std::string_view lhs, rhs, result;  // of unary_einsum rhs is empty

  // As dot_general and transpose have it: dimensions of lhs and rhs, and where each dimension of the result
  // is in the product's.
  Ints lhs_batch, rhs_batch, lhs_contracting, rhs_contracting, permutation;
};

// nullopt: not of this form, or not what a product of two arrays and a transposition give: a letter that
// stands twice in one operand or in the result, an ellipsis, a letter that is summed in one operand alone.
std::optional<Einsum> ParseEinsum(std::string_view config, size_t operands);
// What is said of such a form.
std::string NoProductText(std::string_view config);

}  // namespace assay::mlir

#endif  // ASSAY_HLO_MLIR_IMPORT_EINSUM_H_
