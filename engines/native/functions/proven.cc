#include "engines/native/functions/proven.h"

#include <algorithm>

#include "engines/native/functions/functions.h"

#define ASSAY_BODIES "engines/native/functions/proven_body.h"
#include "jit/each_wide_isa.inc"

namespace assay::native {

std::span<const ProvenRow> ProvenRows(Isa isa) {
  if (isa == Isa::kBaseline) return {};
  if (isa == Isa::kAvx2) return avx2::proven::kRows;
  return avx512::proven::kRowsWithPieces;
}

namespace {

const ProvenRow* RowFor(Opcode opcode, Isa isa) {
  const std::span<const ProvenRow> rows = ProvenRows(isa);
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const ProvenRow& r) { return r.opcode == opcode; });
  return row == rows.end() ? nullptr : &*row;
}

}  // namespace

ElementwiseFn ProvenStreamed(Opcode opcode, ElementType type, Isa isa) {
  const ProvenRow* const row = RowFor(opcode, isa);
  return row == nullptr || type != ElementType::kF32 ? nullptr : row->f32_streamed;
}

ElementwiseFn ProvenFunction(Opcode opcode, ElementType type, Isa isa) {
  const ProvenRow* const row = RowFor(opcode, isa);
  if (row == nullptr) return nullptr;
  switch (type) {
    case ElementType::kF32:
      return row->f32;
    case ElementType::kF16:
      return row->f16;
    case ElementType::kBF16:
      return row->bf16;
    case ElementType::kF64:
      return row->f64;
    default:
      return nullptr;
  }
}

void AskTested(Opcode opcode, int64_t n, double* x) {
  ApplyFunction(*FindFunction(opcode), MachineIsa(), *Info(ElementType::kF64).format, n, x, nullptr, x);
}

void AskTested(Opcode opcode, int64_t n, float* x) {
  constexpr int64_t kMost = 16;
  double strip[kMost];
  std::copy_n(x, n, strip);
  ApplyFunction(*FindFunction(opcode), MachineIsa(), *Info(ElementType::kF32).format, n, strip, nullptr,
                strip);
  for (int64_t i = 0; i < n; ++i) x[i] = static_cast<float>(strip[i]);
}

}  // namespace assay::native
