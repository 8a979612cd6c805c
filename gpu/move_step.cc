#include "gpu/move_step.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "evaluator/eval_context.h"
#include "evaluator/registry.h"
#include "fmt/format.h"
#include "gpu/ptx/body.h"
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

// What operand k of a concatenate is copied from: that operand, or, if it is a member of the step, the array
// that it moves.
struct Source {
  size_t operand = 0;  // of the step
  AffineMap map;       // from the elements of the concatenate's operand
};

absl::StatusOr<Source> SourceOfPart(const FusionView& step, int32_t part) {
  const Instruction& instruction = step.computation.instructions[static_cast<size_t>(part)];
  Source source{.map = {.base = 0, .strides = RowMajorStrides(instruction.shape->sizes())}};
  int32_t read = part;
  if (!step.is_single() && std::find(step.members.begin(), step.members.end(), part) != step.members.end()) {
    const std::optional<AffineMap> moved = SourceOf(step.computation, instruction);
    if (!moved)
      return NotSupported({}, fmt::format("{} is not an affine map of its operand", instruction.name));
    source.map = *moved;
    read = instruction.operands[0];
  }
  const auto found = std::find(step.operands.begin(), step.operands.end(), read);
  if (found == step.operands.end())
    return NotSupported({}, fmt::format("{} is moved twice", instruction.name));
  source.operand = static_cast<size_t>(found - step.operands.begin());
  return source;
}

absl::StatusOr<std::vector<OperandCopy>> CopiesOfConcatenate(Device& device, const FusionView& step,
                                                             int64_t width) {
  const Instruction& root = step.root();
  const int64_t along = root.attributes.List(Attr::kDimensions)[0];
  const DimVector to = RowMajorStrides(root.shape->sizes());
  std::vector<OperandCopy> copies;
  int64_t before = 0;
  for (const int32_t part : root.operands) {
    const Shape& shape = *step.computation.instructions[static_cast<size_t>(part)].shape;
    ASSAY_ASSIGN_OR_RETURN(const Source source, SourceOfPart(step, part));
    StridedCopy copy{.from = source.map.base, .to = before * to[static_cast<size_t>(along)]};
    for (size_t d = 0; d < to.size(); ++d)
      copy.axes.push_back({shape.size(static_cast<int64_t>(d)), {source.map.strides[d], to[d]}});
    before += shape.size(along);
    if (shape.num_elements() == 0) continue;
    ASSAY_ASSIGN_OR_RETURN(PreparedCopy prepared, PreparedCopy::Make(device, copy, width));
    copies.push_back({source.operand, prepared});
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

// The operand under another shape, wherever it lies: nothing is launched.
class PassedStep final : public Kernel {
 public:
  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    if (!operands[0].IsFullSize()) return Fallback("an operand smaller than its bound");
    return operands[0].WithShape(context.shared_result_shape());
  }
  std::string_view algorithm() const override { return "in place"; }
  bool is_on_device() const override { return true; }
  bool passes_operand() const override { return true; }
};

}  // namespace

bool IsPassed(const StepView& step) {
  if (step.instruction.operands.size() != 1) return false;
  const std::optional<AffineMap> source = SourceOf(step.computation, step.instruction);
  return source && step.operand_shape(0).num_bytes() == step.result_shape().num_bytes() &&
         ReadsInPlace(*source, step.operand_shape(0), step.result_shape());
}

std::shared_ptr<const Kernel> PreparePassed() { return std::make_shared<const PassedStep>(); }

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareConcatenate(const std::shared_ptr<Device>& device,
                                                                 const FusionView& step) {
  const int64_t width = Bytes(step.root().shape->element_type());
  ASSAY_ASSIGN_OR_RETURN(std::vector<OperandCopy> copies, CopiesOfConcatenate(*device, step, width));
  return std::make_shared<const MoveStep>(device, std::move(copies), std::nullopt, 1);
}

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareMove(const std::shared_ptr<Device>& device,
                                                          const StepView& step) {
  const Opcode opcode = step.instruction.opcode;
  const int64_t width = Bytes(step.result_shape().element_type());
  std::vector<OperandCopy> copies;
  std::optional<PreparedFill> fill;
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
