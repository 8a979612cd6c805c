#include "custom/registry.h"

#include <algorithm>
#include <utility>

#include "custom/c_values.h"
#include "custom/device_kernel.h"
#include "custom/float_environment.h"
#include "custom/library_kernel.h"
#include "evaluator/op.h"
#include "fmt/format.h"

namespace assay::custom {
namespace {

// What a shape function is asked with, and what it answered.
class ShapeCall {
 public:
  // `computation`: where the operands of `call` stand; null: nothing is known of their values.
  ShapeCall(const OpInterface& op, const Instruction& call, std::span<const Shape* const> operands,
            const Computation* computation, const ResolvedCall& bound)
      : op_(op), attrs_(bound.attrs), outputs_(bound.output_types.size()) {
    for (size_t i = 0; i < operands.size(); ++i) {
      const Shape& operand = *operands[i];
      const AssayArray array = CArray(operand);
      DimVector& sizes = sizes_.emplace_back(array.sizes, array.sizes + array.rank);
      for (size_t d = 0; d < sizes.size(); ++d) {
        if (operand.IsArray() && operand.is_dynamic(static_cast<int64_t>(d))) sizes[d] = ASSAY_UNKNOWN;
      }
      AssayArray& value = arrays_.emplace_back();
      if (computation == nullptr) continue;
      const Instruction& given = computation->instructions[static_cast<size_t>(call.operands[i])];
      if (given.opcode == Opcode::kConstant && given.literal != nullptr && operand.IsArray())
        value = CArray(*given.literal);
    }
    for (const DimVector& sizes : sizes_)
      inputs_.push_back({static_cast<int64_t>(sizes.size()), sizes.data()});
    for (const AssayArray& value : arrays_) values_.push_back(value.data == nullptr ? nullptr : &value);
    input_arguments_ = CArguments(op.inputs, bound.inputs);
    output_arguments_ = CArguments(op.outputs, bound.outputs);
  }

  absl::Status Run(const ShapeFunction& function) {
    AssayInference call = {};
    call.size = sizeof(call);
    call.self = this;
    call.num_inputs = inputs_.size(), call.inputs = inputs_.data(), call.values = values_.data();
    call.num_outputs = outputs_.size();
    call.num_attrs = attrs_.size(), call.attrs = attrs_.data();
    call.num_input_arguments = input_arguments_.size(), call.input_arguments = input_arguments_.data();
    call.num_output_arguments = output_arguments_.size(), call.output_arguments = output_arguments_.data();
    call.set_output = [](void* self, size_t output, AssayShape shape) {
      auto& outputs = static_cast<ShapeCall*>(self)->outputs_;
      if (output >= outputs.size() || shape.rank < 0) return;
      outputs[output].dims.emplace(shape.sizes, shape.sizes + shape.rank);
    };
    call.fail = [](void* self, int32_t error, AssayText message) {
      auto& of = *static_cast<ShapeCall*>(self);
      if (of.status_.ok()) of.status_ = ErrorOf(of.op_.name, error, message, /*running=*/false);
    };
    const KeptFloatEnvironment kept;
    function.infer(function.user, &call);
    return status_;
  }

  const std::vector<PartialShape>& outputs() const { return outputs_; }

 private:
  const OpInterface& op_;
  const CAttrs attrs_;
  std::deque<DimVector> sizes_;
  std::deque<AssayArray> arrays_;
  std::vector<AssayShape> inputs_;
  std::vector<const AssayArray*> values_;
  std::vector<AssayArgument> input_arguments_, output_arguments_;
  std::vector<PartialShape> outputs_;
  absl::Status status_;
};

std::string PartialShapeText(const PartialShape& shape) { return ValueText({shape}); }

// The operation gives `inferred` where the program says `declared`.
absl::Status CheckOutput(const OpInterface& op, int64_t i, const PartialShape& inferred,
                         const Shape& declared) {
  if (!inferred.dims) return absl::OkStatus();
  const Shape& array = declared.IsBuffer() ? declared.element(0) : declared;
  bool fits = array.IsArray() && array.rank() == static_cast<int64_t>(inferred.dims->size());
  for (int64_t d = 0; fits && d < array.rank(); ++d) {
    const int64_t size = (*inferred.dims)[static_cast<size_t>(d)];
    fits = size < 0 || (array.is_dynamic(d) ? size <= array.size(d) : size == array.size(d));
  }
  if (fits) return absl::OkStatus();
  return InvalidProgram({}, fmt::format("op {}: output {} has the shape {}, the program says {}", op.name, i,
                                        PartialShapeText(inferred), declared.ToString()));
}

const Shape& OutputShape(const Shape& result, size_t i) {
  return result.IsTuple() ? result.element(static_cast<int64_t>(i)) : result;
}

bool Fits(const KernelDef& kernel, const OpAttrValues& attrs) {
  return std::ranges::all_of(kernel.constraints, [&](const auto& constraint) {
    const OpAttrValue* const value = FindValue(attrs, constraint.first);
    if (value == nullptr) return false;
    const auto is_one = [&](const OpAttrValue& v) {
      return std::ranges::count(constraint.second, std::get<ElementType>(v.value)) > 0;
    };
    return value->is_list() ? std::ranges::all_of(std::get<std::vector<OpAttrValue>>(value->value), is_one)
                            : is_one(*value);
  });
}

std::vector<const Shape*> OperandShapes(const Computation& computation, const Instruction& call) {
  std::vector<const Shape*> operands;
  for (const int32_t operand : call.operands)
    operands.push_back(computation.instructions[static_cast<size_t>(operand)].shape.get());
  return operands;
}

// The label that a call asks for, by its frontend attribute assay.kernel; empty: none.
std::string LabelOf(const Instruction& call) {
  const std::string* const label = FrontendAttribute(call, "assay.kernel");
  return label == nullptr ? std::string() : *label;
}

// KERN-1. `label`: only kernels with it; null where none fits.
absl::StatusOr<const KernelDef*> Select(const RegisteredOp& op, const OpAttrValues& attrs,
                                        std::string_view label, bool on_cpu = true) {
  const KernelDef* best = nullptr;
  bool is_equal = false;
  for (const KernelDef& kernel : op.kernels()) {
    if (kernel.on_cpu != on_cpu || kernel.label != label || !Fits(kernel, attrs)) continue;
    if (best != nullptr && kernel.priority < best->priority) continue;
    is_equal = best != nullptr && kernel.priority == best->priority;
    best = &kernel;
  }
  if (is_equal) {
    return InvalidProgram({},
                          fmt::format("op {}: two kernels fit alike: {}", op.interface().name, best->Text()));
  }
  return best;
}

absl::Status NoKernel(const RegisteredOp& op, const OpAttrValues& attrs, std::string_view label) {
  std::string types, registered;
  for (const auto& [name, value] : attrs) {
    if (op.interface().FindAttr(name)->kind == OpAttrKind::kType)
      types += fmt::format("{}{} = {}", types.empty() ? "" : ", ", name, ValueText(value));
  }
  for (const KernelDef& kernel : op.kernels())
    registered += fmt::format("{}{}", registered.empty() ? "" : "; ", kernel.Text());
  return NotSupported({}, fmt::format("op {} has no kernel for {}{}; registered: {}", op.interface().name,
                                      types.empty() ? "cpu" : "cpu with " + types,
                                      label.empty() ? "" : fmt::format(" and label '{}'", label),
                                      registered.empty() ? "none" : registered));
}

constexpr std::string_view kReferenceLabel = "reference";

absl::Status AlreadyExists(std::string_view what) { return InvalidProgram({}, what); }

// KERN-2.
absl::Status CheckKernel(const RegisteredOp& op, const KernelDef& kernel) {
  for (const auto& [name, types] : kernel.constraints) {
    const OpAttrDef* const attr = op.interface().FindAttr(name);
    if (attr == nullptr || attr->kind != OpAttrKind::kType) {
      return InvalidProgram(
          {}, fmt::format("kernel of op {}: '{}' is not an attribute of a type", kernel.op, name));
    }
    for (const ElementType type : types) {
      if (attr->types.empty() || std::ranges::count(attr->types, type) > 0) continue;
      return InvalidProgram({}, fmt::format("kernel of op {}: attr '{}' can't be {}: {}", kernel.op, name,
                                            Name(type), attr->spec));
    }
  }
  const OpInterface& interface = op.interface();
  for (const std::string& name : kernel.host_memory) {
    const auto is_named = [&](const OpArgument& argument) { return argument.name == name; };
    if (std::ranges::any_of(interface.inputs, is_named) || std::ranges::any_of(interface.outputs, is_named))
      continue;
    return InvalidProgram(
        {}, fmt::format("kernel of op {}: host memory for '{}', which is neither an input nor an output",
                        kernel.op, name));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Shape> RegisteredOp::Infer(const InferContext& context) const {
  const Shape& declared = *context.declared;
  ASSAY_ASSIGN_OR_RETURN(const ResolvedCall bound,
                         BindCall(interface_, context.instruction, context.operands, &declared));
  // CALL-4.
  if (interface_.has_side_effect && !context.attributes().Bool(Attr::kCustomCallHasSideEffect)) {
    return InvalidProgram({}, fmt::format("op {} has a side effect: custom_call_has_side_effect must be true",
                                          interface_.name));
  }
  // CALL-3.
  if (shape_.infer == nullptr) return declared;
  ShapeCall call(interface_, context.instruction, context.operands, context.computation, bound);
  ASSAY_RETURN_IF_ERROR(call.Run(shape_));
  for (size_t i = 0; i < call.outputs().size(); ++i) {
    ASSAY_RETURN_IF_ERROR(
        CheckOutput(interface_, static_cast<int64_t>(i), call.outputs()[i], OutputShape(declared, i)));
  }
  return declared;
}

absl::StatusOr<std::vector<RegisteredOp::Output>> RegisteredOp::InferOutputs(
    const Instruction& call, std::span<const Shape* const> operands) const {
  ASSAY_ASSIGN_OR_RETURN(const ResolvedCall bound, BindCall(interface_, call, operands, nullptr));
  std::vector<Output> outputs;
  for (const ElementType type : bound.output_types) outputs.push_back({type, {}});
  if (shape_.infer == nullptr) return outputs;
  ShapeCall shapes(interface_, call, operands, nullptr, bound);
  ASSAY_RETURN_IF_ERROR(shapes.Run(shape_));
  for (size_t i = 0; i < outputs.size(); ++i) outputs[i].shape = shapes.outputs()[i];
  return outputs;
}

absl::StatusOr<std::shared_ptr<const CustomKernel>> RegisteredOp::Prepare(const Module&,
                                                                          const Computation& computation,
                                                                          const Instruction& call,
                                                                          KernelRole role) const {
  const std::vector<const Shape*> operands = OperandShapes(computation, call);
  ASSAY_ASSIGN_OR_RETURN(ResolvedCall bound, BindCall(interface_, call, operands, call.shape.get()));
  const std::string label = LabelOf(call);
  const KernelDef* kernel = nullptr;
  if (role == KernelRole::kReference && label.empty()) {
    ASSAY_ASSIGN_OR_RETURN(kernel, Select(*this, bound.attrs, kReferenceLabel));
  }
  // KERN-5: where there is no such kernel, the reference runs the same one again.
  if (kernel == nullptr) {
    ASSAY_ASSIGN_OR_RETURN(kernel, Select(*this, bound.attrs, label));
  }
  if (kernel == nullptr && label.empty()) {
    ASSAY_ASSIGN_OR_RETURN(kernel, Select(*this, bound.attrs, kReferenceLabel));
  }
  if (kernel == nullptr) return NoKernel(*this, bound.attrs, label);
  return MakeLibraryKernel(interface_, *kernel, std::move(bound), operands, call);
}

absl::StatusOr<std::shared_ptr<const CustomDeviceKernel>> RegisteredOp::PrepareOnDevice(
    const Module&, const Computation& computation, const Instruction& call) const {
  if (std::ranges::all_of(kernels_, &KernelDef::on_cpu))
    return NotSupported({}, fmt::format("op {} has no kernel for GPUs", interface_.name));
  const std::vector<const Shape*> operands = OperandShapes(computation, call);
  ASSAY_ASSIGN_OR_RETURN(ResolvedCall bound, BindCall(interface_, call, operands, call.shape.get()));
  const std::string label = LabelOf(call);
  ASSAY_ASSIGN_OR_RETURN(const KernelDef* const kernel, Select(*this, bound.attrs, label, /*on_cpu=*/false));
  if (kernel == nullptr) {
    return NotSupported({}, fmt::format("op {} has no kernel for GPUs that fits this call", interface_.name));
  }
  return MakeDeviceKernel(interface_, *kernel, std::move(bound), operands, call);
}

const RegisteredOp* OpSet::FindOp(std::string_view name) const {
  const auto found = ops_.find(name);
  return found == ops_.end() ? nullptr : found->second.get();
}

absl::StatusOr<std::vector<std::string>> OpRegistry::Add(const Registrations& registrations) {
  const std::lock_guard<std::mutex> lock(mutex_);
  auto next = std::make_shared<OpSet>(*ops_);
  std::vector<std::string> added;
  // The operation, apart from the set that others have.
  std::map<std::string, std::shared_ptr<RegisteredOp>> changed;
  const auto change = [&](const std::string& name) -> RegisteredOp* {
    const auto found = next->ops_.find(name);
    if (found == next->ops_.end()) return nullptr;
    std::shared_ptr<RegisteredOp>& own = changed[name];
    if (own == nullptr) found->second = own = std::make_shared<RegisteredOp>(*found->second);
    return own.get();
  };
  for (const Registrations::Op& op : registrations.ops) {
    const RegisteredOp* const there = next->FindOp(op.interface.name);  // OP-2
    if (there != nullptr && SameInterface(there->interface(), op.interface)) continue;
    if (there != nullptr)
      return AlreadyExists(
          fmt::format("op {} is registered already, with another interface", op.interface.name));
    next->ops_.emplace(op.interface.name, std::make_shared<RegisteredOp>(op.interface, op.shape));
    added.push_back(op.interface.name);
  }
  for (const KernelDef& kernel : registrations.kernels) {
    RegisteredOp* const op = change(kernel.op);
    if (op == nullptr) return InvalidProgram({}, fmt::format("kernel of op {}: no such op", kernel.op));
    ASSAY_RETURN_IF_ERROR(CheckKernel(*op, kernel));
    op->kernels_.push_back(kernel);
  }
  for (const GradientFunction& gradient : registrations.gradients) {
    RegisteredOp* const op = change(gradient.op);
    if (op == nullptr) return InvalidProgram({}, fmt::format("gradient of op {}: no such op", gradient.op));
    if (op->gradient_)
      return AlreadyExists(fmt::format("gradient of op {} is registered already", gradient.op));
    op->gradient_ = gradient;
  }
  ops_ = std::move(next);
  return added;
}

std::shared_ptr<const OpSet> OpRegistry::ops() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return ops_;
}

bool OpRegistry::HasLoaded(LibraryFile file) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return loaded_.contains(file);
}

void OpRegistry::SetLoaded(LibraryFile file) {
  const std::lock_guard<std::mutex> lock(mutex_);
  loaded_.insert(file);
}

}  // namespace assay::custom
