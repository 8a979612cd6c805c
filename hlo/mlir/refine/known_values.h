// Integer arithmetic on values that are known when sizes are refined: StableHLO's on small arrays, and that
// of the dialects arith, tensor, shape and index, as far as it computes sizes.
#ifndef ASSAY_HLO_MLIR_REFINE_KNOWN_VALUES_H_
#define ASSAY_HLO_MLIR_REFINE_KNOWN_VALUES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "hlo/mlir/ir.h"

namespace assay::mlir {

// The elements of an array of integers, row-major, each as its type holds it (u64 as the same 64 bits); null:
// not known.
using Known = std::shared_ptr<const std::vector<int64_t>>;

// Arrays of sizes have an entry a dimension; larger arrays are data.
inline constexpr int64_t kMaxKnownElements = 4096;

// A value as the refinement knows it.
struct SizedValue {
  Value* value = nullptr;  // in the refined program; null: it is known, and written where somebody needs it
  const Type* type = nullptr;  // with the sizes that are known
  Known known;
};

// Of dialects that compute sizes and that HLO has nothing for: arith, tensor, shape, index.
bool IsSizeDialect(std::string_view name);

// What holds elements of a type in HLO: `index` is s64. nullopt: no integer or i1.
std::optional<ElementType> IntegerElement(const Type& type);

// The contents of result 0 where they follow from what is known of the operands, and from the sizes in their
// types. `type`: the result's, with known sizes; null where they are not. An error: division by zero, an
// index out of range, shapes that do not broadcast.
absl::StatusOr<Known> KnownResult(const Operation& operation, absl::Span<const SizedValue> operands,
                                  const Type& type);

Known MakeKnown(std::vector<int64_t> values);

// Whether all sizes are static.
bool IsStatic(const Type& type);

}  // namespace assay::mlir

#endif  // ASSAY_HLO_MLIR_REFINE_KNOWN_VALUES_H_
