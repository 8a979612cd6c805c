// Which attributes an instruction shows, and in what order (docs/spec/hlo-text.md section 8).
//
// One order serves all ops; an op shows those attributes of the list that it has. Three things are decided
// here beside the order: values that are left out because they are what reading would supply, lists that
// are shown although the program left them out, and attributes that XLA's own reader does not know.
#include "hlo/text/print_attributes.h"

#include "hlo/compare_type.h"
#include "hlo/op_syntax.h"
#include "hlo/text/print_values.h"

namespace assay::print {
namespace {

// When an attribute is shown.
enum class Show : uint8_t {
  kPresent,   // where the instruction has it
  kTrue,      // bool: where true
  kNotOne,    // int: where not 1
  kNotNone,   // int: where not negative
  kNotEmpty,  // list or text: where not empty
  kNotWord,   // word: where not the one in `hidden`
  kSpecial,   // by ShowsSpecial
};
struct Row {
  Attr attr;
  Show show = Show::kPresent;
  std::string_view hidden = {};
};

constexpr Row kBeforeComputations[] = {
    {Attr::kChannelId},
    {Attr::kReplicaGroups},
    {Attr::kSourceTargetPairs},
    {Attr::kConstrainLayout, Show::kTrue},
    {Attr::kDimensions, Show::kSpecial},
    {Attr::kUseGlobalDeviceIds, Show::kTrue},
    {Attr::kHasDynamicRoot, Show::kTrue},
    {Attr::kIsHostTransfer, Show::kTrue},
    {Attr::kIotaDimension},
    {Attr::kInferredDimension, Show::kNotNone},
    {Attr::kSlice},
    {Attr::kDynamicSliceSizes},
    {Attr::kPadding},
    {Attr::kIsStable, Show::kSpecial},
    {Attr::kK},
    {Attr::kLargest},
    {Attr::kNumCarries},
    {Attr::kIsReverse, Show::kTrue},
    {Attr::kIsAssociative},
    {Attr::kIndex},
    {Attr::kExponentBits},
    {Attr::kMantissaBits},
    {Attr::kDirection},
    {Attr::kType, Show::kSpecial},
    {Attr::kOffsetDims},
    {Attr::kCollapsedSliceDims},
    {Attr::kStartIndexMap},
    {Attr::kOperandBatchingDims, Show::kNotEmpty},
    {Attr::kStartIndicesBatchingDims, Show::kNotEmpty},
    {Attr::kUpdateWindowDims},
    {Attr::kInsertedWindowDims},
    {Attr::kScatterDimsToOperandDims},
    {Attr::kInputBatchingDims, Show::kNotEmpty},
    {Attr::kScatterIndicesBatchingDims, Show::kNotEmpty},
    {Attr::kIndexVectorDim},
    {Attr::kSliceSizes},
    {Attr::kIndicesAreSorted, Show::kTrue},
    {Attr::kUniqueIndices, Show::kTrue},
    {Attr::kLhsBatchDims, Show::kNotEmpty},
    {Attr::kLhsContractingDims},
    {Attr::kRhsBatchDims, Show::kNotEmpty},
    {Attr::kRhsContractingDims},
    {Attr::kLhsRaggedDims, Show::kNotEmpty},
    {Attr::kRhsGroupDims, Show::kNotEmpty},
    {Attr::kWindow, Show::kSpecial},
    {Attr::kDimLabels},
    {Attr::kFeatureGroupCount, Show::kNotOne},
    {Attr::kBatchGroupCount, Show::kNotOne},
    {Attr::kConvolutionKind, Show::kNotWord, "unset"},
    {Attr::kOperandPrecision, Show::kSpecial},
    {Attr::kAlgorithm, Show::kNotWord, "unset"},
    {Attr::kSparsityConfig},
    {Attr::kPaddingType, Show::kNotWord, "PADDING_INVALID"},
    {Attr::kFftType},
    {Attr::kFftLength},
    {Attr::kLeftSide, Show::kTrue},
    {Attr::kLower, Show::kTrue},
    {Attr::kUnitDiagonal, Show::kTrue},
    {Attr::kTransposeA, Show::kNotWord, "TRANSPOSE_INVALID"},
    {Attr::kEpsilon},
    {Attr::kFeatureIndex},
    {Attr::kDistribution},
    {Attr::kDelta},
    {Attr::kInfeedConfig, Show::kNotEmpty},
    {Attr::kOutfeedShape},
    {Attr::kOutfeedConfig, Show::kNotEmpty},
    {Attr::kDomain},
    {Attr::kCrossProgramPrefetchIndex},
    {Attr::kCustomCallTarget},
    {Attr::kOperandLayoutConstraints},
    {Attr::kCustomCallHasSideEffect, Show::kTrue},
    {Attr::kLiteralValue},
    {Attr::kKind},
    {Attr::kOutputToOperandAliasing, Show::kNotEmpty},
    {Attr::kSchedule, Show::kNotWord, "SCHEDULE_NONE"},
    {Attr::kApiVersion, Show::kNotWord, "API_VERSION_ORIGINAL"},
};

constexpr Attr kComputationAttributes[] = {
    Attr::kCondition,
    Attr::kBody,
    Attr::kSelect,
    Attr::kScatter,
    Attr::kTrueComputation,
    Attr::kFalseComputation,
    Attr::kBranchComputations,
    Attr::kToApply,
    Attr::kCalledComputations,
    Attr::kCalls,
};

bool EqualIgnoringCase(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

// What `type` of a compare is where it is not written: by the first operand's element type.
std::string_view DefaultComparisonType(const AttributeContext& context, const Instruction& compare) {
  // The wrapped op's operands stand in its own computation; their shapes are those of the start's operands.
  const Instruction& reader = context.wrapped != nullptr ? context.instruction : compare;
  if (reader.operands.empty()) return {};
  const auto& shape = context.computation.instructions[reader.operands[0]].shape;
  if (shape == nullptr || !shape->IsArray()) return {};
  return DefaultComparisonType(shape->element_type());
}

bool ShowsSpecial(const AttributeContext& context, const Instruction& op, Attr attr, const AttrValue& value) {
  switch (attr) {
    case Attr::kDimensions:  // reduce-scatter shows them later; ragged-all-to-all has no use for them
      return !Has(op.opcode, Syntax::kDimensionsLater) && !Has(op.opcode, Syntax::kHidesDimensions);
    case Attr::kIsStable:  // of a topk, XLA's reader does not know it
      return !Has(op.opcode, Syntax::kHidesIsStable) && std::get<bool>(value);
    case Attr::kType:
      return std::get<Word>(value).text != DefaultComparisonType(context, op);
    case Attr::kWindow:  // XLA keeps an empty one of a custom call alone
      return op.opcode == Opcode::kCustomCall || !std::get<Window>(value).empty();
    case Attr::kOperandPrecision:
      for (const Word& word : std::get<std::vector<Word>>(value)) {
        if (!EqualIgnoringCase(word.text, "default")) return true;
      }
      return false;
    default:
      return true;
  }
}

bool IsEmpty(const AttrValue& value) {
  if (const auto* ints = std::get_if<Ints>(&value)) return ints->empty();
  if (const auto* aliasing = std::get_if<Aliasing>(&value)) return aliasing->empty();
  if (const auto* text = std::get_if<std::string>(&value)) return text->empty();
  return false;
}

bool Shows(const AttributeContext& context, const Instruction& op, const Row& row, const AttrValue& value) {
  switch (row.show) {
    case Show::kPresent:
      return true;
    case Show::kTrue:
      return std::get<bool>(value);
    case Show::kNotOne:
      return std::get<int64_t>(value) != 1;
    case Show::kNotNone:
      return std::get<int64_t>(value) >= 0;
    case Show::kNotEmpty:
      return !IsEmpty(value);
    case Show::kNotWord:
      return !EqualIgnoringCase(std::get<Word>(value).text, row.hidden);
    case Show::kSpecial:
      return ShowsSpecial(context, op, row.attr, value);
  }
  return true;
}

void AppendNamed(const AttributeContext& context, Attr attr, const AttrValue& value, std::string& out) {
  out += ", ";
  out += Name(attr);
  out += "=";
  AppendAttributeValue(attr, value, context.computation_names, out);
}

Ints AllDimensions(const AttributeContext& context, const Instruction& op) {
  const Instruction& shaped = context.wrapped != nullptr ? *context.wrapped : op;
  Ints dimensions;
  if (shaped.shape == nullptr || !shaped.shape->IsArray()) return dimensions;
  for (int64_t d = 0; d < shaped.shape->rank(); ++d) dimensions.push_back(d);
  return dimensions;
}

// The value that is shown although the program left it out, if there is one.
std::optional<AttrValue> ShownDefault(const AttributeContext& context, const Instruction& op, Attr attr) {
  switch (attr) {
    case Attr::kReplicaGroups:
      if (!Has(op.opcode, Syntax::kShowsGroups)) return std::nullopt;
      return AttrValue(std::make_shared<const ReplicaGroups>());
    case Attr::kDimensions:
      if (Has(op.opcode, Syntax::kShowsNoDimensions)) return AttrValue(Ints());
      if (Has(op.opcode, Syntax::kShowsAllDimensions)) return AttrValue(AllDimensions(context, op));
      return std::nullopt;
    case Attr::kLhsContractingDims:
    case Attr::kRhsContractingDims:
      return Has(op.opcode, Syntax::kShowsContracting) ? std::optional<AttrValue>(Ints()) : std::nullopt;
    case Attr::kLargest:
      return Has(op.opcode, Syntax::kShowsLargest) ? std::optional<AttrValue>(true) : std::nullopt;
    case Attr::kIsAssociative:
      return Has(op.opcode, Syntax::kShowsIsAssociative) ? std::optional<AttrValue>(false) : std::nullopt;
    case Attr::kOutfeedShape: {
      if (!Has(op.opcode, Syntax::kShowsOutfeedShape) || context.instruction.operands.empty())
        return std::nullopt;
      const auto& shape = context.computation.instructions[context.instruction.operands[0]].shape;
      return shape == nullptr ? std::nullopt : std::optional<AttrValue>(shape);
    }
    default:
      return std::nullopt;
  }
}

// XLA writes the branches of a pred as a true and a false one, whichever way they were given.
bool BranchesOnPred(const AttributeContext& context, const Instruction& op) {
  if (op.opcode != Opcode::kConditional ||
      op.attributes.Computations(Attr::kBranchComputations).size() != 2) {
    return false;
  }
  const Instruction& reader = context.wrapped != nullptr ? context.instruction : op;
  if (reader.operands.empty()) return false;
  const auto& shape = context.computation.instructions[reader.operands[0]].shape;
  return shape != nullptr && shape->IsScalar(ElementType::kPred);
}

// The attributes of `op` itself, computations last.
void AppendOpAttributes(const AttributeContext& context, const Instruction& op, std::string& out) {
  for (const Row& row : kBeforeComputations) {
    if (const AttrValue* value = op.attributes.Find(row.attr)) {
      if (Shows(context, op, row, *value)) AppendNamed(context, row.attr, *value, out);
    } else if (const auto shown = ShownDefault(context, op, row.attr)) {
      AppendNamed(context, row.attr, *shown, out);
    }
    if (row.attr == Attr::kUseGlobalDeviceIds && Has(op.opcode, Syntax::kDimensionsLater)) {
      const AttrValue* dimensions = op.attributes.Find(Attr::kDimensions);
      if (dimensions != nullptr) AppendNamed(context, Attr::kDimensions, *dimensions, out);
    }
  }
  for (const Attr attr : kComputationAttributes) {
    const AttrValue* value = op.attributes.Find(attr);
    if (value == nullptr) continue;
    // A custom call's computations are written in one form, whichever it was read in.
    if (attr == Attr::kToApply && Has(op.opcode, Syntax::kCallsAsList)) {
      AppendNamed(context, Attr::kCalledComputations, std::vector{std::get<ComputationId>(*value)}, out);
    } else if (attr == Attr::kBranchComputations && BranchesOnPred(context, op)) {
      const auto branches = op.attributes.Computations(attr);
      AppendNamed(context, Attr::kTrueComputation, branches[0], out);
      AppendNamed(context, Attr::kFalseComputation, branches[1], out);
    } else if (attr != Attr::kCalledComputations || !op.attributes.Computations(attr).empty()) {
      AppendNamed(context, attr, *value, out);
    }
  }
  if (op.attributes.Bool(Attr::kIsComposite)) out += ", is_composite=true";
}

// Async ops: the start shows the thread and what it calls, or with sugar the wrapped op's attributes.
void AppendAsyncAttributes(const AttributeContext& context, std::string& out) {
  const Instruction& instruction = context.instruction;
  if (instruction.opcode != Opcode::kAsyncStart) return;
  std::string_view thread = instruction.attributes.Text(Attr::kAsyncExecutionThread);
  const auto callee = instruction.attributes.Computation(Attr::kCalls);
  if (thread.empty() && callee) thread = context.module.computation(*callee).execution_thread;
  if (!thread.empty() && thread != "main") {
    out += ", async_execution_thread=";
    AppendQuoted(thread, out);
  }
  AppendOpAttributes(context, context.wrapped != nullptr ? *context.wrapped : instruction, out);
  if (context.wrapped == nullptr) return;
  const AttrValue* aliasing = instruction.attributes.Find(Attr::kOutputToOperandAliasing);
  if (aliasing != nullptr) AppendNamed(context, Attr::kOutputToOperandAliasing, *aliasing, out);
}

void AppendControlPredecessors(const AttributeContext& context, std::string& out) {
  const auto& predecessors = context.instruction.control_predecessors;
  if (predecessors.empty()) return;
  out += ", control-predecessors={";
  for (size_t i = 0; i < predecessors.size(); ++i) {
    out += i == 0 ? "%" : ", %";
    out += context.instruction_names[predecessors[i]];
  }
  out += "}";
}

void AppendParameterReplication(const std::vector<bool>& replication, std::string& out) {
  out += ", parameter_replication={";
  for (size_t i = 0; i < replication.size(); ++i) {
    if (i > 0) out += ",";
    out += replication[i] ? "true" : "false";
  }
  out += "}";
}

void AppendAccuracyAttribute(const AttributeContext& context, std::string& out) {
  const Instruction& op = context.wrapped != nullptr ? *context.wrapped : context.instruction;
  if (context.wrapped != nullptr && context.instruction.opcode != Opcode::kAsyncStart) return;
  const AttrValue* value = op.attributes.Find(Attr::kResultAccuracy);
  if (value == nullptr || std::get<ResultAccuracy>(*value).mode == ResultAccuracy::Mode::kDefault) return;
  AppendNamed(context, Attr::kResultAccuracy, *value, out);
}

}  // namespace

void AppendAttributes(const AttributeContext& context, std::string& out) {
  static const auto* const kNone = new InstructionExtras();
  const Instruction& instruction = context.instruction;
  const InstructionExtras& extras = instruction.extras ? *instruction.extras : *kNone;
  if (Has(instruction.opcode, Syntax::kAsync)) {
    AppendAsyncAttributes(context, out);
  } else {
    AppendOpAttributes(context, instruction, out);
  }
  if (instruction.opcode == Opcode::kParameter && !extras.parameter_replication.empty()) {
    AppendParameterReplication(extras.parameter_replication, out);
  }
  if (!extras.sharding.empty()) out += ", sharding=" + extras.sharding;
  if (!extras.frontend_attributes.empty()) {
    out += ", frontend_attributes=";
    AppendFrontendAttributes(extras.frontend_attributes, out);
  }
  AppendControlPredecessors(context, out);
  if (!extras.statistics.empty()) out += ", statistics=" + extras.statistics;
  AppendAccuracyAttribute(context, out);
  if (!extras.origin.empty()) out += ", origin=" + extras.origin;
  const int64_t frame = extras.metadata.stack_frame_id;
  AppendMetadata(extras.metadata, context.frames != nullptr ? context.frames->Use(frame) : frame, out);
  if (!extras.backend_config.text.empty()) {
    out += ", backend_config=";
    AppendStringOrJson(extras.backend_config.text, out);
  }
}

}  // namespace assay::print
