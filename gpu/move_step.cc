#include "gpu/move_step.h"

#include <optional>
#include <utility>
#include <vector>

#include "evaluator/eval_context.h"
#include "evaluator/registry.h"
#include "fmt/format.h"
#include "gpu/resident.h"
#include "gpu/strided_copy.h"
#include "shape/index.h"

namespace assay::gpu {
namespace {

// A copy of elements of one operand.
struct OperandCopy {
  size_t operand = 0;
  PreparedCopy copy;
};

class MoveStep final : public DeviceKernel {
 public:
  // `fill`: what first writes operand `fill_operand`, of one element, everywhere; none:
  // the copies write every element.
  MoveStep(std::shared_ptr<Device> device, std::vector<OperandCopy> copies, std::optional<PreparedFill> fill,
           size_t fill_operand)
      : DeviceKernel(std::move(device)),
        copies_(std::move(copies)),
        fill_(fill),
        fill_operand_(fill_operand) {}

  std::string_view algorithm() const override {
    return copies_.size() == 1 && copies_[0].copy.is_by_tiles() ? "tiles" : "copies";
  }

 private:
  absl::Status Enqueue(const DeviceCall& call) const override {
    if (fill_) {
      const Literal& value = call.values[fill_operand_];
      ASSAY_RETURN_IF_ERROR(value.Fetch());
      ASSAY_RETURN_IF_ERROR(fill_->Enqueue(call.device, call.result,
                                           call.context.result_shape().num_elements(), value.bytes()));
    }
    for (const OperandCopy& copy : copies_)
      ASSAY_RETURN_IF_ERROR(copy.copy.Enqueue(call.device, call.operands[copy.operand], call.result));
    return absl::OkStatus();
  }

  const std::vector<OperandCopy> copies_;
  const std::optional<PreparedFill> fill_;
  const size_t fill_operand_;
};

// What an op does that gives each element of its result one of the operand's.
StridedCopy CopyBySource(const AffineMap& source, const Shape& result) {
  StridedCopy copy{.from = source.base};
  const DimVector strides = RowMajorStrides(result.sizes());
  for (size_t d = 0; d < strides.size(); ++d)
    copy.axes.push_back({result.size(static_cast<int64_t>(d)), {source.strides[d], strides[d]}});
  return copy;
}

absl::StatusOr<std::vector<OperandCopy>> CopiesOfConcatenate(Device& device, const StepView& step,
                                                             int64_t width) {
  const int64_t along = step.instruction.attributes.List(Attr::kDimensions)[0];
  const DimVector to = RowMajorStrides(step.result_shape().sizes());
  std::vector<OperandCopy> copies;
  int64_t before = 0;
  for (size_t k = 0; k < step.instruction.operands.size(); ++k) {
    const Shape& operand = step.operand_shape(static_cast<int64_t>(k));
    StridedCopy copy{.to = before * to[static_cast<size_t>(along)]};
    const DimVector from = RowMajorStrides(operand.sizes());
    for (size_t d = 0; d < to.size(); ++d)
      copy.axes.push_back({operand.size(static_cast<int64_t>(d)), {from[d], to[d]}});
    before += operand.size(along);
    if (operand.num_elements() == 0) continue;
    ASSAY_ASSIGN_OR_RETURN(PreparedCopy prepared, PreparedCopy::Make(device, copy, width));
    copies.push_back({k, prepared});
  }
  return copies;
}

// The elements of the operand that stay: element j of dimension d goes to low + j * (interior + 1),
// where the result has that.
std::optional<StridedCopy> CopyOfPad(const StepView& step) {
  const auto& padding = std::get<PaddingConfig>(*step.instruction.attributes.Find(Attr::kPadding));
  std::vector<Placing> places;
  places.reserve(padding.size());
  for (const PaddingDimension& dimension : padding) places.push_back({dimension.low, dimension.interior});
  return CopyInto(step.operand_shape(0).sizes(), places, step.result_shape().sizes());
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareMove(const std::shared_ptr<Device>& device,
                                                          const StepView& step) {
  const Opcode opcode = step.instruction.opcode;
  const int64_t width = Bytes(step.result_shape().element_type());
  std::vector<OperandCopy> copies;
  std::optional<PreparedFill> fill;
  if (opcode == Opcode::kConcatenate) {
    ASSAY_ASSIGN_OR_RETURN(copies, CopiesOfConcatenate(*device, step, width));
    return std::make_shared<const MoveStep>(device, std::move(copies), fill, 1);
  }
  std::optional<StridedCopy> copy;
  if (opcode == Opcode::kPad) {
    copy = CopyOfPad(step);
    ASSAY_ASSIGN_OR_RETURN(fill, PreparedFill::Make(*device, width));
  } else {
    const OpDef& op = DefinitionOf(opcode);
    if (op.source == nullptr || step.instruction.operands.size() != 1)
      return NotSupported({}, fmt::format("{} is not on the device", Name(opcode)));
    const std::optional<AffineMap> source = op.source({step.computation, step.instruction});
    if (!source) return NotSupported({}, "elements are not an affine map of the operand");
    copy = CopyBySource(*source, step.result_shape());
  }
  if (copy) {
    ASSAY_ASSIGN_OR_RETURN(PreparedCopy prepared, PreparedCopy::Make(*device, *copy, width));
    copies.push_back({0, prepared});
  }
  return std::make_shared<const MoveStep>(device, std::move(copies), fill, 1);
}

}  // namespace assay::gpu
