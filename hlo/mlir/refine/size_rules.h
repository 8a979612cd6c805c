// The sizes of an operation's results, from those of its operands and from its attributes: what StableHLO
// calls shape inference, where some sizes may be unknown ('?').
//
// The rules give sizes, and say where sizes contradict each other. Everything else that an operation demands
// is checked when the refined program is verified.
#ifndef ASSAY_HLO_MLIR_REFINE_SIZE_RULES_H_
#define ASSAY_HLO_MLIR_REFINE_SIZE_RULES_H_

#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/mlir/ir.h"
#include "hlo/mlir/refine/known_values.h"

namespace assay::mlir {

using Sizes = std::vector<int64_t>;  // kDynamicSize: unknown

// An operation with operands of refined types.
struct SizeSite {
  const Operation& op;
  absl::Span<const SizedValue> operands;

  // Sizes of operand i; it is a tensor (the rule's row says how many operands are tensors).
  std::span<const int64_t> sizes(size_t i) const { return operands[i].type->sizes; }
  size_t rank(size_t i) const { return sizes(i).size(); }
};

// Sizes of each result; nullopt: as declared.
using ResultSizes = std::vector<std::optional<Sizes>>;
using SizeRule = absl::StatusOr<ResultSizes> (*)(const SizeSite&);

struct SizeRow {
  std::string_view name;
  SizeRule rule;
  size_t tensors = 1;  // the rule is asked where there are so many operands, and where all are tensors
};
// Null: there is none for operations of this name.
const SizeRow* FindSizeRow(std::string_view name);
// Those of a family.
absl::Span<const SizeRow> ArraySizeRows();   // size_rules_arrays.cc
absl::Span<const SizeRow> WindowSizeRows();  // size_rules_windows.cc

// An error that gives both: "WHAT is A of tensor<..> and B of tensor<..>".
absl::Status SizesContradict(std::string_view message);
bool IsSizeContradiction(const absl::Status& status);

// a, b or whichever is known; a contradiction names both types.
absl::StatusOr<int64_t> CommonSize(int64_t a, int64_t b, size_t dimension, const Type& of_a,
                                   const Type& of_b);
// The common sizes of these operands, those of rank 0 left out if `with_scalars`.
absl::StatusOr<Sizes> CommonSizes(const SizeSite& site, size_t first, size_t count,
                                  bool with_scalars = false);

// Sums, products and quotients of sizes, unknown where one is. Too large or negative sizes are an error.
class SizeNumber {
 public:
  SizeNumber(int64_t value)  // NOLINT: numbers are written as such in formulas
      : is_known_(value != kDynamicSize), value_(is_known_ ? value : 0) {}
  friend SizeNumber operator+(SizeNumber a, SizeNumber b) { return a.With(b, a.value_ + b.value_); }
  friend SizeNumber operator-(SizeNumber a, SizeNumber b) { return a.With(b, a.value_ - b.value_); }
  friend SizeNumber operator*(SizeNumber a, SizeNumber b) { return a.With(b, a.value_ * b.value_); }
  bool is_known() const { return is_known_; }
  // Of a known one, cut off at the limits of 64 bits.
  int64_t value() const;
  absl::StatusOr<int64_t> Size() const;

 private:
  SizeNumber With(SizeNumber other, __int128 value) const;
  bool is_known_;
  __int128 value_;
};
// ceil(a / b) where a >= 0, 0 where it is less.
SizeNumber CeilOfQuotient(SizeNumber a, int64_t b);

}  // namespace assay::mlir

#endif  // ASSAY_HLO_MLIR_REFINE_SIZE_RULES_H_
