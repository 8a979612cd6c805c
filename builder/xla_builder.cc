// XlaBuilder itself: instructions, names, called computations, errors. The operations: elementwise.cc,
// shape_ops.cc, linalg.cc, control.cc, collective.cc.
#include "builder/xla_builder.h"

#include <algorithm>

#include "fmt/format.h"
#include "hlo/text/printer.h"

namespace assay::builder {

ProgramShape XlaComputation::GetProgramShape() const {
  ProgramShape result;
  const Computation& entry = module().entry_computation();
  for (const int32_t parameter : entry.parameters) {
    result.parameters.push_back(*entry.instructions[parameter].shape);
  }
  result.result = *entry.root_instruction().shape;
  return result;
}

std::string XlaComputation::ToText() const { return ModuleToText(module()); }

AttributeMap Attributes(std::vector<AttributeMap::Entry> entries) {
  AttributeMap map;
  for (AttributeMap::Entry& entry : entries) map.Set(entry.attr, std::move(entry.value));
  return map;
}

XlaBuilder::XlaBuilder(std::string name) : name_(std::move(name)) { Reset(); }

void XlaBuilder::Reset() {
  ++generation_;
  module_ = {};
  module_.replica_count = replica_count_;
  module_.num_partitions = partition_count_;
  module_.custom_ops = custom_ops_;
  computation_ = {};
  instruction_names_ = {};
  computation_names_ = {};
  imported_.clear();
  imported_ids_.clear();
  last_stream_ops_.clear();
}

std::unique_ptr<XlaBuilder> XlaBuilder::CreateSubBuilder(const std::string& name) {
  auto sub = std::make_unique<XlaBuilder>(name);
  sub->parent_ = this;
  sub->SetReplicaCount(replica_count_);
  sub->SetPartitionCount(partition_count_);
  sub->SetCustomOps(custom_ops_);
  return sub;
}

XlaOp XlaBuilder::ReportError(const absl::Status& error) {
  if (first_error_.ok() && !error.ok()) first_error_ = error;
  return XlaOp(this, -1, generation_);
}

XlaOp XlaBuilder::Run(absl::FunctionRef<absl::StatusOr<XlaOp>()> make) {
  if (!first_error_.ok()) return XlaOp(this, -1, generation_);
  absl::StatusOr<XlaOp> op = make();
  return op.ok() ? *op : ReportError(op.status());
}

absl::Status XlaBuilder::CheckOp(XlaOp op) const {
  if (op.builder_ == nullptr) return InvalidProgram({}, "an operand is the empty XlaOp");
  if (op.builder_ != this) {
    return InvalidProgram({}, fmt::format("an operand belongs to builder '{}', this is builder '{}'",
                                          op.builder_->name(), name_));
  }
  if (op.index_ < 0 || op.generation_ != generation_) {
    return InvalidProgram({},
                          "an operand is an invalid XlaOp: its call failed or its builder has been built");
  }
  return absl::OkStatus();
}

absl::StatusOr<const Shape*> XlaBuilder::GetShapePtr(XlaOp op) const {
  ASSAY_RETURN_IF_ERROR(first_error_);
  ASSAY_RETURN_IF_ERROR(CheckOp(op));
  return computation_.instructions[op.index_].shape.get();
}

absl::StatusOr<Shape> XlaBuilder::GetShape(XlaOp op) const {
  ASSAY_ASSIGN_OR_RETURN(const Shape* shape, GetShapePtr(op));
  return *shape;
}

absl::StatusOr<ProgramShape> XlaBuilder::GetProgramShape(XlaOp root) const {
  ProgramShape result;
  ASSAY_ASSIGN_OR_RETURN(result.result, GetShape(root));
  for (const Instruction& instruction : computation_.instructions) {
    if (instruction.opcode != Opcode::kParameter) continue;
    const auto number = static_cast<size_t>(instruction.parameter_number);
    if (number >= computation_.instructions.size()) continue;
    result.parameters.resize(std::max(result.parameters.size(), number + 1));
    result.parameters[number] = *instruction.shape;
  }
  return result;
}

std::string UniqueNames::Take(const std::string& wish) {
  std::string name = wish;
  if (taken_.contains(name)) {
    int64_t& suffix = next_suffix_[wish];
    do {
      name = fmt::format("{}.{}", wish, ++suffix);
    } while (taken_.contains(name));
  }
  taken_.insert(name);
  return name;
}

std::shared_ptr<const InstructionExtras> XlaBuilder::Extras(const NewInstruction& instruction) const {
  InstructionExtras extras;
  extras.metadata = metadata_;
  extras.sharding = sharding_;
  extras.backend_config = instruction.backend_config;
  // The op's own attributes win over the builder's.
  std::map<std::string, StringOrJson> frontend(frontend_.begin(), frontend_.end());
  for (const auto& [key, value] : instruction.frontend) frontend[key] = value;
  extras.frontend_attributes.assign(frontend.begin(), frontend.end());
  const bool plain = extras.metadata.op_type.empty() && extras.metadata.op_name.empty() &&
                     extras.metadata.source_file.empty() && extras.metadata.source_line == 0;
  if (plain && extras.sharding.empty() && extras.backend_config.text.empty() && frontend.empty()) {
    return nullptr;
  }
  return std::make_shared<const InstructionExtras>(std::move(extras));
}

absl::StatusOr<Instruction> XlaBuilder::Make(const NewInstruction& instruction) const {
  Instruction made;
  made.opcode = instruction.opcode;
  for (const XlaOp operand : instruction.operands) {
    const absl::Status status = CheckOp(operand);
    if (!status.ok()) return WithPrefix(status, Name(instruction.opcode));
    made.operands.push_back(operand.index_);
  }
  made.extras = Extras(instruction);
  made.attributes = instruction.attributes;
  made.shape = instruction.shape;
  made.literal = instruction.literal;
  made.parameter_number = instruction.parameter_number;
  return made;
}

absl::StatusOr<Shape> XlaBuilder::Infer(const NewInstruction& instruction) const {
  ASSAY_ASSIGN_OR_RETURN(const Instruction made, Make(instruction));
  absl::StatusOr<Shape> shape = InferShape(module_, computation_, made);
  if (shape.ok()) return shape;
  return WithSuffix(shape.status(), fmt::format(" (in {} of builder '{}')", Name(made.opcode), name_));
}

absl::StatusOr<XlaOp> XlaBuilder::Add(const NewInstruction& instruction) {
  ASSAY_ASSIGN_OR_RETURN(Shape shape, Infer(instruction));
  ASSAY_ASSIGN_OR_RETURN(Instruction made, Make(instruction));
  made.name = instruction_names_.Take(instruction.name.empty() ? std::string(Name(instruction.opcode))
                                                               : instruction.name);
  if (made.shape == nullptr || !Shape::Equal(*made.shape, shape)) {
    made.shape = std::make_shared<const Shape>(std::move(shape));
  }
  computation_.instructions.push_back(std::move(made));
  return XlaOp(this, static_cast<int32_t>(computation_.instructions.size()) - 1, generation_);
}

absl::StatusOr<ComputationId> XlaBuilder::Import(const XlaComputation& computation) {
  if (computation.IsNull()) return InvalidProgram({}, "a called computation is null: its Build failed");
  const auto& shared = computation.verified().shared_module();
  if (const auto it = imported_ids_.find(shared.get()); it != imported_ids_.end()) return it->second;
  const auto offset = static_cast<int32_t>(module_.computations.size());
  for (const Computation& original : shared->computations) {
    Computation copy = original;
    copy.name = computation_names_.Take(original.name);
    for (Instruction& instruction : copy.instructions) {
      instruction.name = instruction_names_.Take(instruction.name);
      const AttributeMap attributes = instruction.attributes;
      for (const AttributeMap::Entry& entry : attributes.entries()) {
        AttrValue& value = *instruction.attributes.FindMutable(entry.attr);
        if (auto* id = std::get_if<ComputationId>(&value)) id->value += offset;
        if (auto* ids = std::get_if<std::vector<ComputationId>>(&value)) {
          for (ComputationId& id : *ids) id.value += offset;
        }
      }
    }
    module_.computations.push_back(std::move(copy));
  }
  const ComputationId id{shared->entry.value + offset};
  imported_.emplace_back(shared, id);
  imported_ids_[shared.get()] = id;
  return id;
}

bool XlaBuilder::IsConstant(XlaOp op) const {
  return CheckOp(op).ok() && computation_.instructions[op.index_].opcode == Opcode::kConstant;
}

LiteralPtr XlaBuilder::ConstantValue(XlaOp op) const {
  return IsConstant(op) ? computation_.instructions[op.index_].literal : nullptr;
}

void XlaBuilder::AddControlPredecessor(XlaOp after, XlaOp before) {
  Run([&]() -> absl::StatusOr<XlaOp> {
    ASSAY_RETURN_IF_ERROR(CheckOp(after));
    ASSAY_RETURN_IF_ERROR(CheckOp(before));
    if (before.index_ >= after.index_) {
      return InvalidProgram({}, "a control predecessor must have been added before its successor");
    }
    computation_.instructions[after.index_].control_predecessors.push_back(before.index_);
    return after;
  });
}

absl::StatusOr<XlaComputation> XlaBuilder::Build() {
  ASSAY_RETURN_IF_ERROR(first_error_);
  const auto count = static_cast<int32_t>(computation_.instructions.size());
  if (count == 0) return InvalidProgram({}, fmt::format("builder '{}' has no instruction to build", name_));
  return Build(XlaOp(this, count - 1, generation_));
}

absl::StatusOr<XlaComputation> XlaBuilder::Build(XlaOp root) {
  ASSAY_RETURN_IF_ERROR(first_error_);
  ASSAY_RETURN_IF_ERROR(CheckOp(root));
  Module module = std::move(module_);
  computation_.name = computation_names_.Take(name_.empty() ? "main" : name_);
  computation_.root = root.index_;
  module.name = name_.empty() ? "main" : name_;
  module.entry.value = static_cast<int32_t>(module.computations.size());
  module.computations.push_back(std::move(computation_));
  Reset();
  absl::StatusOr<VerifiedModule> verified = Verify(std::move(module));
  if (!verified.ok()) return WithPrefix(verified.status(), fmt::format("builder '{}'", name_));
  return XlaComputation(*std::move(verified));
}

XlaComputation XlaBuilder::BuildAndNoteError() {
  absl::StatusOr<XlaComputation> computation = Build();
  if (computation.ok()) return *std::move(computation);
  if (parent_ != nullptr) parent_->ReportError(computation.status());
  return XlaComputation();
}

}  // namespace assay::builder
