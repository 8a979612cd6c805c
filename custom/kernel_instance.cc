#include "custom/kernel_instance.h"

#include <algorithm>
#include <utility>

#include "custom/float_environment.h"
#include "evaluator/runtime_sizes.h"
#include "fmt/format.h"

namespace assay::custom {
namespace {

const Shape& ArrayIn(const Shape& shape) { return shape.IsBuffer() ? shape.element(0) : shape; }

}  // namespace

absl::StatusOr<std::unique_ptr<const KernelInstance>> KernelInstance::Make(
    const OpInterface& op, const KernelDef& kernel, ResolvedCall bound,
    std::span<const Shape* const> operands, const Instruction& call) {
  std::unique_ptr<KernelInstance> made(new KernelInstance(op, kernel, std::move(bound), operands, call));
  ASSAY_RETURN_IF_ERROR(made->Construct());
  return made;
}

KernelInstance::KernelInstance(const OpInterface& op, const KernelDef& kernel, ResolvedCall bound,
                               std::span<const Shape* const> operands, const Instruction& call)
    : op_(op),
      def_(kernel),
      bound_(std::move(bound)),
      attrs_(bound_.attrs),
      name_(op.name + ": " + kernel.Text()) {
  const Shape& result = *call.shape;
  for (const Shape* const operand : operands) inputs_.push_back(CArray(shapes_.emplace_back(*operand)));
  for (size_t i = 0; i < bound_.output_types.size(); ++i) {
    const Shape& output = result.IsTuple() ? result.element(static_cast<int64_t>(i)) : result;
    outputs_.push_back(CArray(shapes_.emplace_back(output)));
    output_shapes_.push_back(std::make_shared<const Shape>(ArrayIn(output)));
    has_dynamic_ |= HasDynamicDimension(output);
  }
  for (const Shape& shape : shapes_) has_dynamic_ |= HasDynamicDimension(shape);
  for (const AssayArray& input : inputs_) input_types_.push_back(input.type);
  for (const AssayArray& output : outputs_) output_types_.push_back(output.type);
  input_arguments_ = CArguments(op_.inputs, bound_.inputs);
  output_arguments_ = CArguments(op_.outputs, bound_.outputs);
}

KernelInstance::~KernelInstance() {
  if (instance_ != nullptr) def_.destroy(instance_);
}

absl::Status KernelInstance::Construct() {
  struct Self {
    const KernelInstance& kernel;
    absl::Status status;
  } self{*this, absl::OkStatus()};
  AssayConstruction call = {};
  call.size = sizeof(call);
  call.self = &self;
  call.op = {op_.name.data(), op_.name.size()};
  call.num_attrs = attrs_.size(), call.attrs = attrs_.data();
  call.num_input_arguments = input_arguments_.size(), call.input_arguments = input_arguments_.data();
  call.num_output_arguments = output_arguments_.size(), call.output_arguments = output_arguments_.data();
  call.input_types = input_types_.data(), call.output_types = output_types_.data();
  call.fail = [](void* given, int32_t error, AssayText message) {
    Self& of = *static_cast<Self*>(given);
    if (of.status.ok()) of.status = ErrorOf(of.kernel.op_.name, error, message, /*running=*/false);
  };
  const KeptFloatEnvironment kept;
  instance_ = def_.create(def_.user, &call);
  if (self.status.ok() && instance_ == nullptr)
    return InvalidProgram({}, fmt::format("op {}: the kernel was not made, and said no reason", op_.name));
  return self.status;
}

AssayCompute KernelInstance::Call() const {
  AssayCompute
      call;  // each field by itself: clearing all of them first takes a tenth of the time of a small call
  call.size = sizeof(call), call.self = nullptr;
  call.num_inputs = inputs_.size(), call.inputs = inputs_.data();
  call.num_outputs = outputs_.size(), call.outputs = outputs_.data();
  call.num_input_arguments = input_arguments_.size(), call.input_arguments = input_arguments_.data();
  call.num_output_arguments = output_arguments_.size(), call.output_arguments = output_arguments_.data();
  call.allocate_output = nullptr, call.allocate_temp = nullptr, call.forward_input = nullptr;
  call.set_size = nullptr, call.shard = nullptr, call.call = nullptr, call.fail = nullptr,
  call.stream = nullptr;
  return call;
}

absl::Status KernelInstance::CheckSizes(size_t output, int64_t rank, const int64_t* sizes) const {
  const Shape& shape = *output_shapes_[output];
  bool fits = rank == shape.rank();
  for (int64_t d = 0; fits && d < rank; ++d)
    fits = sizes[d] == shape.size(d) || (shape.is_dynamic(d) && sizes[d] >= 0 && sizes[d] <= shape.size(d));
  if (fits) return absl::OkStatus();
  return EvalError(
      {}, fmt::format("op {}: output {} is allocated with the sizes [{}], the program says {}", op_.name,
                      output, fmt::join(sizes, sizes + std::max<int64_t>(rank, 0), ","), shape.ToString()));
}

}  // namespace assay::custom
