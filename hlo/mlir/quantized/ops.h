// What becomes of each operation with quantized operands or results (docs/spec/quantized.md section 4): a
// table by name.
#ifndef ASSAY_HLO_MLIR_QUANTIZED_OPS_H_
#define ASSAY_HLO_MLIR_QUANTIZED_OPS_H_

#include <cstddef>
#include <span>
#include <string_view>

#include "absl/strings/string_view.h"
#include "base/hash_map.h"
#include "hlo/mlir/ir.h"
#include "hlo/mlir/quantized/writer.h"

namespace assay::mlir {

using FunctionTypes = HashMap<absl::string_view, const Type*>;  // by name

// An operation with quantized types, and where what it becomes is written.
struct QuantizedSite {
  QuantizedWriter& writer;
  const Operation& op;
  const FunctionTypes& functions;
  size_t data = 0;  // as in the operation's row

  // The operation as it is, on storage.
  absl::Status Keep() {
    writer.AppendWith(op, absl::MakeConstSpan(op.operands.data(), op.operands.size()));
    return absl::OkStatus();
  }
  absl::Status OnReals() {
    writer.ApplyOnReals(op);
    return absl::OkStatus();
  }
};

struct LowerRow {
  std::string_view name;
  absl::Status (*lower)(QuantizedSite& site) = nullptr;
  bool per_axis = false;  // types with an axis are allowed
  size_t data = 0;        // operands that are not indices or sizes; 0: all
};
std::span<const LowerRow> LowerRows();
// Null: the operation has no quantized form.
const LowerRow* FindLowerRow(std::string_view name);

}  // namespace assay::mlir

#endif  // ASSAY_HLO_MLIR_QUANTIZED_OPS_H_
