// A dot as a batch of matrix products: where its batch, free and contracted dimensions each
// are one loop of one stride.
#include "engines/native/contraction/dot_box.h"
#include "engines/onednn/kernels.h"
#include "shape/index.h"

namespace assay::onednn {
namespace {

using native::LoopDim;
using native::LoopDims;

// The single loop that the loops are; nullopt where they are more.
std::optional<LoopDim> SingleLoop(const LoopDims& loops) {
  const LoopDims merged = MergeLoops(loops);
  if (merged.empty()) return LoopDim{};
  return merged.size() == 1 ? std::optional(merged[0]) : std::nullopt;
}

// [b, m, n] from the loops over them; a loop of one turn gets a stride that fits the others.
Array Matrix(ElementType type, const LoopDim& b, const LoopDim& m, const LoopDim& n, int array) {
  Array result{type, {b.size, m.size, n.size}, {b.strides[array], m.strides[array], n.strides[array]}};
  if (n.size == 1) result.strides[2] = m.size == 1 || m.strides[array] != 1 ? 1 : m.size;
  if (m.size == 1) result.strides[1] = result.strides[2] == 1 ? n.size : 1;
  if (b.size == 1) {
    result.sizes.erase(result.sizes.begin());
    result.strides.erase(result.strides.begin());
  }
  return result;
}

}  // namespace

KernelOr PrepareDot(const StepView& step, Isa isa, int64_t fewest) {
  const int64_t terms = TermsOfProduct(step.computation, step.instruction);
  ASSAY_RETURN_IF_ERROR(CheckSize(step, terms, fewest));
  ASSAY_RETURN_IF_ERROR(CheckInstructions(step, isa, fewest));
  ASSAY_ASSIGN_OR_RETURN(const Accuracy* const accuracy, AccuracyOf(step));
  const native::DotArray lhs = native::StaticArrayOf(step.operand_shape(0)),
                         rhs = native::StaticArrayOf(step.operand_shape(1));
  const DotDims dims =
      DotDimsOf(step.instruction.attributes, step.operand_shape(0).rank(), step.operand_shape(1).rank());
  const native::DotBox box = native::WholeDot(dims, lhs, rhs, RowMajorStrides(step.result_shape().sizes()));
  const std::optional<LoopDim> b = SingleLoop(box.batch), m = SingleLoop(box.rows),
                               n = SingleLoop(box.columns), k = SingleLoop(box.contracted[0].loops);
  if (!b || !m || !n || !k) return NotSupported({}, "dimensions that can't be merged");
  ASSAY_ASSIGN_OR_RETURN(
      std::unique_ptr<Primitive> primitive,
      Primitive::MatrixProduct(isa, Matrix(lhs.type, *b, *m, *k, 0), Matrix(rhs.type, *b, *k, *n, 1),
                               Matrix(step.result_shape().element_type(), *b, *m, *n, 2)));
  return MakeKernel(std::move(primitive), *accuracy, step.result_shape().num_elements() * terms);
}

}  // namespace assay::onednn
