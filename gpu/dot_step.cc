#include "gpu/dot_step.h"

#include <utility>

#include "base/counted.h"
#include "evaluator/eval_context.h"
#include "evaluator/ops/contraction/dot_dims.h"
#include "fmt/format.h"
#include "gpu/kernel_function.h"
#include "gpu/product.h"
#include "gpu/resident.h"
#include "shape/index.h"

namespace assay::gpu {
namespace {

// Dimensions of an operand by role, and those of the result that they are: the result has the batch first,
// then the free dimensions of both sides.
ProductSide SideOf(const Shape& operand, const DotSide& dims, std::span<const int64_t> result_strides,
                   size_t first_row) {
  ProductSide side{AxesOf(operand.sizes(), dims.batch), AxesOf(operand.sizes(), dims.free),
                   AxesOf(operand.sizes(), dims.contracting)};
  for (size_t d = 0; d < side.batch.size(); ++d) side.batch[d].strides[1] = result_strides[d];
  for (size_t d = 0; d < side.rows.size(); ++d) side.rows[d].strides[1] = result_strides[first_row + d];
  return side;
}

class DotStep final : public DeviceKernel {
 public:
  DotStep(std::shared_ptr<Device> device, const Product& product, std::array<Widening, 2> widenings)
      : DeviceKernel(std::move(device)), product_(product), widenings_(std::move(widenings)) {}

  std::string_view algorithm() const override { return product_.algorithm(); }
  const Accuracy& accuracy() const override { return product_.accuracy(); }

 private:
  absl::Status Enqueue(const DeviceCall& call) const override {
    std::array<ProductOperand, 2> operands;
    for (size_t k = 0; k < 2; ++k)
      operands[k] = {call.operands[k], &widenings_[k], 0, &call.arrays[k]->kept_operands()};
    return product_.Enqueue(call.device, operands, call.result);
  }

  const Product product_;
  const std::array<Widening, 2> widenings_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareDot(const std::shared_ptr<Device>& device,
                                                         const StepView& step, int64_t residues_from,
                                                         bool fast) {
  const Shape &lhs = step.operand_shape(0), &rhs = step.operand_shape(1), &result = step.result_shape();
  if (result.num_elements() >= int64_t{1} << 32)
    return NotSupported({}, fmt::format("{}", Counted(result.num_elements(), "result")));
  const DotDims dims = DotDimsOf(step.instruction.attributes, lhs.rank(), rhs.rank());
  const DimVector strides = RowMajorStrides(result.sizes());
  const size_t batch = dims.lhs.batch.size();
  const std::array sides{SideOf(lhs, dims.lhs, strides, batch),
                         SideOf(rhs, dims.rhs, strides, batch + dims.lhs.free.size())};
  const bool is_fast = fast && IsForFastProduct(step);
  const ElementType type = is_fast ? MultipliedAs(lhs.element_type(), rhs.element_type()) : ElementType::kF32;
  ASSAY_ASSIGN_OR_RETURN(
      const Product product,
      is_fast ? Product::MakeFast(*device, {lhs.element_type(), rhs.element_type()}, type,
                                  *FloatOf(result.element_type()), sides, /*lhs_has_padding=*/false)
              : Product::Make(*device, lhs.element_type(), rhs.element_type(), result.element_type(), sides,
                              /*lhs_has_padding=*/false, residues_from));
  std::array<Widening, 2> widenings;
  for (size_t k = 0; k < 2; ++k) {
    const Shape& operand = step.operand_shape(static_cast<int64_t>(k));
    ASSAY_ASSIGN_OR_RETURN(widenings[k],
                           Widening::Make(*device, operand.element_type(), operand.num_elements(), type));
  }
  return std::make_shared<const DotStep>(device, product, std::move(widenings));
}

}  // namespace assay::gpu
