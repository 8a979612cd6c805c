// The operations of VHLO, the versioned form of StableHLO in bytecode: their attributes, in the order in
// which they are stored, and their names in StableHLO (docs/spec/stablehlo-bytecode.md section 7).
#ifndef ASSAY_HLO_MLIR_BYTECODE_VHLO_H_
#define ASSAY_HLO_MLIR_BYTECODE_VHLO_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::mlir {

// There are at most so many operations.
inline constexpr int32_t kNumVhloNames = 192;

struct VhloOp {
  std::string stablehlo;                     // "stablehlo.add"
  int32_t number = 0;                        // of this name, below kNumVhloNames
  std::vector<std::string_view> attributes;  // alphabetical
};

// "add_v1"; null: no such operation in any version that we know.
const VhloOp* FindVhloOp(std::string_view name);

}  // namespace assay::mlir

#endif  // ASSAY_HLO_MLIR_BYTECODE_VHLO_H_
