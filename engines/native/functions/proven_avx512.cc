// The proven functions for AVX-512.
#include <array>

#include "jit/isa.h"
#define ASSAY_TARGET ASSAY_AVX512
#define ASSAY_LANES 8
#include "engines/native/functions/proven_body.h"
// Behind that.
#include "engines/native/functions/proven_pieces_body.h"

namespace assay::native {
namespace {

template <class Fn, class Pieces>
constexpr void ByPiecesIn(ProvenRow& row) {
  row.f32 = proven::ApplyPieces<Fn, Pieces, false>;
  row.f32_streamed = proven::ApplyPieces<Fn, Pieces, true>;
}

constexpr auto kWideRows = [] {
  auto rows = std::to_array(proven::kRows);
  for (ProvenRow& row : rows) {
    if (row.opcode == Opcode::kTanh) ByPiecesIn<proven::Tanh, TanhPieces>(row);
    if (row.opcode == Opcode::kErf) ByPiecesIn<proven::Erf, ErfPieces>(row);
  }
  return rows;
}();

}  // namespace

std::span<const ProvenRow> ProvenRowsAvx512() { return kWideRows; }

}  // namespace assay::native
