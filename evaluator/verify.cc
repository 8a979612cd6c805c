// Verify: everything that makes a Module well-formed but for the rules of the single ops, which their
// families state (ops/<family>.cc).
#include "evaluator/verify.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/counted.h"
#include "evaluator/registry.h"
#include "evaluator/verify_relations.h"
#include "fmt/format.h"
#include "hlo/annotation.h"
#include "hlo/manual_region.h"

namespace assay {
namespace {

// Does the value have the form that the attribute's name asks for? Text always does; builders and importers
// may not.
bool HasForm(AttrForm form, const AttrValue& value) {
  switch (form) {
    case AttrForm::kBool:
      return std::holds_alternative<bool>(value);
    case AttrForm::kInt:
      return std::holds_alternative<int64_t>(value);
    case AttrForm::kFloat:
      return std::holds_alternative<double>(value);
    case AttrForm::kString:
      return std::holds_alternative<std::string>(value);
    case AttrForm::kWord:
      return std::holds_alternative<Word>(value);
    case AttrForm::kWords:
      return std::holds_alternative<std::vector<Word>>(value);
    case AttrForm::kInts:
      return std::holds_alternative<Ints>(value);
    case AttrForm::kIntLists:
      return std::holds_alternative<IntLists>(value);
    case AttrForm::kIntsOrIntLists:
      return std::holds_alternative<Ints>(value) || std::holds_alternative<IntLists>(value);
    case AttrForm::kWindow:
      return std::holds_alternative<Window>(value);
    case AttrForm::kPadding:
      return std::holds_alternative<PaddingConfig>(value);
    case AttrForm::kSlices:
      return std::holds_alternative<SliceConfig>(value);
    case AttrForm::kDimLabels:
      return std::holds_alternative<std::shared_ptr<const ConvDimensionNumbers>>(value);
    case AttrForm::kComputation:
      return std::holds_alternative<ComputationId>(value);
    case AttrForm::kComputations:
      return std::holds_alternative<std::vector<ComputationId>>(value);
    case AttrForm::kShape:
      return std::holds_alternative<std::shared_ptr<const Shape>>(value);
    case AttrForm::kShapes:
      return std::holds_alternative<ShapeList>(value);
    case AttrForm::kLiteral:
      return std::holds_alternative<LiteralPtr>(value);
    case AttrForm::kAliasing:
      return std::holds_alternative<Aliasing>(value);
    case AttrForm::kReplicaGroups:
      return std::holds_alternative<std::shared_ptr<const ReplicaGroups>>(value);
    case AttrForm::kAccuracy:
      return std::holds_alternative<ResultAccuracy>(value);
    case AttrForm::kRaw:
      return std::holds_alternative<RawText>(value);
  }
  return false;
}

absl::Status CheckArity(const Instruction& instruction, const OpDef& op) {
  const int n = static_cast<int>(instruction.operands.size());
  if (n >= op.operands.min && (op.operands.max < 0 || n <= op.operands.max)) return absl::OkStatus();
  std::string wanted = fmt::format("{}", op.operands.min);
  if (op.operands.max < 0) wanted = "at least " + wanted;
  if (op.operands.max > op.operands.min) wanted = fmt::format("{} to {}", op.operands.min, op.operands.max);
  return InvalidProgram(instruction.position, fmt::format("{} has {}, wanted {}", Name(instruction.opcode),
                                                          Counted(n, "operand"), wanted));
}

absl::Status CheckAttributes(const Instruction& instruction, const OpDef& op) {
  for (const AttributeMap::Entry& entry : instruction.attributes.entries()) {
    const bool known = std::any_of(op.attributes.begin(), op.attributes.end(),
                                   [&](const AttrSpec& spec) { return spec.attr == entry.attr; });
    if (!known) {
      const std::string_view label = entry.attr == Attr::kResultAccuracy ? "UNARY-C4: " : "";
      return InvalidProgram(instruction.position, fmt::format("{}{} has no attribute '{}'", label,
                                                              Name(instruction.opcode), Name(entry.attr)));
    }
    if (!HasForm(FormOf(entry.attr), entry.value)) {
      return InvalidProgram(instruction.position,
                            fmt::format("attribute '{}' of {} has a value of the wrong kind",
                                        Name(entry.attr), Name(instruction.opcode)));
    }
  }
  for (const AttrSpec& spec : op.attributes) {
    if (spec.required && !instruction.attributes.Has(spec.attr)) {
      return InvalidProgram(instruction.position, fmt::format("{} needs the attribute '{}'",
                                                              Name(instruction.opcode), Name(spec.attr)));
    }
  }
  return absl::OkStatus();
}

// What must hold before anything may look at the attributes.
absl::Status CheckForm(const Instruction& instruction) {
  const OpDef& op = DefinitionOf(instruction.opcode);
  ASSAY_RETURN_IF_ERROR(CheckArity(instruction, op));
  return CheckAttributes(instruction, op);
}

bool AnyDynamic(const Shape& shape) {
  if (shape.IsArray()) return shape.HasDynamic();
  return std::any_of(shape.elements().begin(), shape.elements().end(), AnyDynamic);
}

// Relations of shapes ignore dynamic flags; a dimension is dynamic if the program or the shape rule says so.
// The layout is the program's.
Shape JoinDeclared(const Shape& declared, const Shape& inferred) {
  if (declared.IsArray()) {
    Shape result = declared;
    for (int64_t d = 0; d < result.rank(); ++d) {
      if (inferred.is_dynamic(d)) result.set_dynamic(d, true);
    }
    return result;
  }
  if (!declared.IsTuple()) return declared;
  std::vector<Shape> elements;
  elements.reserve(declared.elements().size());
  for (size_t i = 0; i < declared.elements().size(); ++i) {
    elements.push_back(JoinDeclared(declared.elements()[i], inferred.elements()[i]));
  }
  return Shape::Tuple(std::move(elements));
}

// Fields that only sparse layouts have: they are read, so that the error names the instruction.
// Decision: sparse-layout-fields
absl::Status CheckLayouts(const Shape& shape) {
  if (shape.IsArray()) return shape.layout().tail == nullptr ? absl::OkStatus() : ValidateLayout(shape);
  for (const Shape& element : shape.elements()) ASSAY_RETURN_IF_ERROR(CheckLayouts(element));
  return absl::OkStatus();
}

absl::StatusOr<Shape> InferChecked(const Module& module, const Computation& computation,
                                   const Instruction& instruction) {
  const OpDef& op = DefinitionOf(instruction.opcode);
  absl::InlinedVector<const Shape*, 4> operands;
  for (int32_t operand : instruction.operands)
    operands.push_back(computation.instructions[operand].shape.get());
  const Shape* const declared = instruction.shape.get();
  const InferContext context{module, instruction, {operands.data(), operands.size()}, declared, &computation};
  absl::StatusOr<Shape> inferred = op.infer(context);
  if (!inferred.ok() || declared == nullptr) return inferred;
  if (!Shape::Compatible(*declared, *inferred)) {
    const std::string_view label = op.strip == nullptr    ? IdName(instruction.opcode)
                                   : op.operands.max == 1 ? std::string_view("UNARY-C3")
                                   : op.operands.max == 2 ? std::string_view("BINARY-C5")
                                                          : IdName(instruction.opcode);
    return InvalidProgram(instruction.position, fmt::format("{}: declared shape is {}, inferred {}", label,
                                                            declared->ToString(), inferred->ToString()));
  }
  if (!AnyDynamic(*inferred)) return *declared;
  return JoinDeclared(*declared, *inferred);
}

// One line that says which instruction an error is about, whatever form the program came in.
absl::Status AtInstruction(const absl::Status& status, const Instruction& instruction) {
  return WithPosition(
      WithSuffix(status, fmt::format(" (in '%{} = {}')", instruction.name, Name(instruction.opcode))),
      instruction.position);
}

class Verifier {
 public:
  explicit Verifier(Module& module) : module_(module), effects_(module.computations.size(), Effects::kNone) {}

  absl::Status Run() {
    if (module_.computations.empty()) return InvalidProgram({}, "module has no computation");
    if (module_.entry.value < 0 || module_.entry.value >= Count(module_.computations)) {
      return InvalidProgram({}, "module has no entry computation");
    }
    for (current_ = 0; current_ < Count(module_.computations); ++current_) {
      ASSAY_RETURN_IF_ERROR(VerifyComputation(module_.computations[current_]));
    }
    ASSAY_RETURN_IF_ERROR(CheckChannels(module_));
    ASSAY_RETURN_IF_ERROR(VerifyDevices());
    ASSAY_RETURN_IF_ERROR(VerifyEntryLayout());
    ASSAY_RETURN_IF_ERROR(CheckShardings(module_));
    ASSAY_RETURN_IF_ERROR(CheckShardingTexts(module_));
    return VerifyAliases();
  }

 private:
  template <typename T>
  static int32_t Count(const T& v) {
    return static_cast<int32_t>(v.size());
  }

  absl::Status VerifyComputation(Computation& computation) {
    if (computation.instructions.empty()) {
      return InvalidProgram(computation.position,
                            fmt::format("computation '{}' has no instruction", computation.name));
    }
    if (computation.root < 0 || computation.root >= Count(computation.instructions)) {
      return InvalidProgram(computation.position,
                            fmt::format("computation '{}' has no root", computation.name));
    }
    ASSAY_RETURN_IF_ERROR(CollectParameters(computation));
    for (int32_t i = 0; i < Count(computation.instructions); ++i) {
      const absl::Status status = VerifyInstruction(computation, i);
      if (!status.ok()) return AtInstruction(status, computation.instructions[i]);
    }
    ASSAY_RETURN_IF_ERROR(CheckCopyStarts(computation));
    return CheckAsyncConsumers(computation);
  }

  // Parameter-C1: the numbers are 0..n-1, each once.
  absl::Status CollectParameters(Computation& computation) {
    int64_t count = 0;
    for (const Instruction& instruction : computation.instructions)
      count += instruction.opcode == Opcode::kParameter;
    computation.parameters.assign(count, -1);
    for (int32_t i = 0; i < Count(computation.instructions); ++i) {
      const Instruction& instruction = computation.instructions[i];
      if (instruction.opcode != Opcode::kParameter) continue;
      const int64_t number = instruction.parameter_number;
      if (number < 0 || number >= count) {
        return InvalidProgram(instruction.position,
                              fmt::format("Parameter-C1: parameter number is {}, but computation '{}' has {}",
                                          number, computation.name, Counted(count, "parameter")));
      }
      if (computation.parameters[number] >= 0) {
        return InvalidProgram(
            instruction.position,
            fmt::format("Parameter-C1: parameter number {} stands twice in computation '{}'", number,
                        computation.name));
      }
      computation.parameters[number] = i;
    }
    return absl::OkStatus();
  }

  absl::Status VerifyInstruction(Computation& computation, int32_t index) {
    Instruction& instruction = computation.instructions[index];
    for (int32_t operand : instruction.operands) {
      if (operand < 0 || operand >= index) {
        return InvalidProgram(instruction.position,
                              "an operand is not defined before the instruction: there is a cycle");
      }
    }
    for (int32_t predecessor : instruction.control_predecessors) {
      if (predecessor < 0 || predecessor >= index) {
        return InvalidProgram(
            instruction.position,
            "a control predecessor is not defined before the instruction: there is a cycle");
      }
    }
    ASSAY_RETURN_IF_ERROR(CheckForm(instruction));
    if (instruction.shape != nullptr) ASSAY_RETURN_IF_ERROR(CheckLayouts(*instruction.shape));
    ASSAY_RETURN_IF_ERROR(VerifyCalls(instruction));
    ASSAY_ASSIGN_OR_RETURN(Shape shape, InferChecked(module_, computation, instruction));
    if (instruction.shape == nullptr) {
      instruction.shape = std::make_shared<const Shape>(std::move(shape));
    } else if (!Shape::Equal(*instruction.shape, shape)) {
      auto extras = instruction.extras == nullptr ? std::make_shared<InstructionExtras>()
                                                  : std::make_shared<InstructionExtras>(*instruction.extras);
      extras->declared_shape = std::move(instruction.shape);
      instruction.extras = std::move(extras);
      instruction.shape = std::make_shared<const Shape>(std::move(shape));
    }
    return absl::OkStatus();
  }

  // The call graph is acyclic (Call-C3), and computations that only combine elements have no side effect
  // (RED-C7) but checks, probes and prints (Decision: checks), where it is known which process applies them.
  absl::Status VerifyCalls(const Instruction& instruction) {
    const OpDef& op = DefinitionOf(instruction.opcode);
    Effects effects = !HasSideEffect(instruction) ? Effects::kNone
                      : OnlyObserves(instruction) ? Effects::kObserves
                                                  : Effects::kOthers;
    for (ComputationId id : CalledComputations(instruction)) {
      if (id.value < 0 || id.value >= current_) {
        return InvalidProgram(
            instruction.position,
            "Call-C3: the called computation is not defined before its caller: the call graph has a cycle");
      }
      const Effects inside = effects_[static_cast<size_t>(id.value)];
      if (inside == Effects::kOthers && !op.calls_may_have_effects) {
        return InvalidProgram(
            instruction.position,
            fmt::format("RED-C7: computation '{}' has side effects, which {} does not allow",
                        module_.computation(id).name, Name(instruction.opcode)));
      }
      if (inside == Effects::kObserves && op.channel == Channel::kCollective) {
        return NotSupported(instruction.position,
                            fmt::format("RED-C7: a check, probe or print in computation '{}' of {}",
                                        module_.computation(id).name, Name(instruction.opcode)));
      }
      effects = std::max(effects, inside);
    }
    Effects& current = effects_[static_cast<size_t>(current_)];
    current = std::max(current, effects);
    return absl::OkStatus();
  }

  absl::Status VerifyDevices() {
    if (module_.replica_count < 1) {
      return InvalidProgram({}, fmt::format("replica_count is {}, wanted at least 1", module_.replica_count));
    }
    if (module_.num_partitions < 1) {
      return InvalidProgram({},
                            fmt::format("num_partitions is {}, wanted at least 1", module_.num_partitions));
    }
    return absl::OkStatus();
  }

  absl::Status VerifyEntryLayout() {
    if (!module_.entry_computation_layout) return absl::OkStatus();
    const Computation& entry = module_.entry_computation();
    const ProgramShape& layout = *module_.entry_computation_layout;
    if (layout.parameters.size() != entry.parameters.size()) {
      return InvalidProgram(
          {}, fmt::format("entry_computation_layout has {}, the entry computation {}",
                          Counted(layout.parameters.size(), "parameter"), entry.parameters.size()));
    }
    for (size_t i = 0; i < entry.parameters.size(); ++i) {
      const Shape& parameter = *entry.instructions[entry.parameters[i]].shape;
      if (!Shape::Compatible(layout.parameters[i], parameter)) {
        return InvalidProgram({},
                              fmt::format("entry_computation_layout says {} for parameter {}, which is {}",
                                          layout.parameters[i].ToString(), i, parameter.ToString()));
      }
    }
    if (!Shape::Compatible(layout.result, *entry.root_instruction().shape)) {
      return InvalidProgram(
          {}, fmt::format("entry_computation_layout says {} for the result, which is {}",
                          layout.result.ToString(), entry.root_instruction().shape->ToString()));
    }
    return absl::OkStatus();
  }

  absl::Status VerifyAliases() {
    const Computation& entry = module_.entry_computation();
    const auto check_parameter = [&](std::string_view what, int64_t number,
                                     const Ints& index) -> absl::Status {
      if (number < 0 || number >= Count(entry.parameters)) {
        return InvalidProgram({}, fmt::format("{}: parameter number is {}, but there are {} parameters", what,
                                              number, entry.parameters.size()));
      }
      if (SubshapeOrNull(*entry.instructions[entry.parameters[number]].shape, index) == nullptr) {
        return InvalidProgram(
            {}, fmt::format("{}: parameter {} has no element {{{}}}", what, number, fmt::join(index, ",")));
      }
      return absl::OkStatus();
    };
    for (const InputOutputAlias& alias : module_.input_output_alias) {
      if (SubshapeOrNull(*entry.root_instruction().shape, alias.output_index) == nullptr) {
        return InvalidProgram({}, fmt::format("input_output_alias: the result has no element {{{}}}",
                                              fmt::join(alias.output_index, ",")));
      }
      ASSAY_RETURN_IF_ERROR(
          check_parameter("input_output_alias", alias.parameter_number, alias.parameter_index));
    }
    for (const BufferDonor& donor : module_.buffer_donor) {
      ASSAY_RETURN_IF_ERROR(check_parameter("buffer_donor", donor.parameter_number, donor.parameter_index));
    }
    return absl::OkStatus();
  }

  Module& module_;
  enum class Effects : uint8_t { kNone, kObserves, kOthers };  // of a computation, the strongest
  std::vector<Effects> effects_;
  int32_t current_ = 0;
};

}  // namespace

ProgramShape InferContext::Called(ComputationId id) const {
  const Computation& called = module.computation(id);
  ProgramShape result;
  result.parameters.reserve(called.parameters.size());
  for (int32_t parameter : called.parameters)
    result.parameters.push_back(*called.instructions[parameter].shape);
  result.result = *called.root_instruction().shape;
  return result;
}

absl::StatusOr<Shape> InferContext::Declared() const {
  if (declared != nullptr) return *declared;
  return InvalidProgram(instruction.position,
                        fmt::format("the result shape of {} can't be left out", Name(instruction.opcode)));
}

absl::StatusOr<Shape> InferShape(const Module& module, const Computation& computation,
                                 const Instruction& instruction) {
  ASSAY_RETURN_IF_ERROR(CheckForm(instruction));
  return InferChecked(module, computation, instruction);
}

absl::StatusOr<VerifiedModule> Verify(Module module) {
  ASSAY_RETURN_IF_ERROR(Verifier(module).Run());
  return VerifiedModule(std::move(module));
}

}  // namespace assay
