#include "engines/jit/stages.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/counted.h"
#include "engines/codegen/nodes.h"
#include "engines/native/elementwise/elementwise.h"
#include "evaluator/registry.h"
#include "evaluator/static_shape.h"
#include "fmt/format.h"
#include "plan/fusion.h"

namespace assay::jit {
namespace {

constexpr int kMaxRounds = 12;
// A store to a line that is in no cache reads it first, which streamed stores don't. Smaller results are in a
// cache yet when the next step reads them.
constexpr int64_t kStreamedBytes = 8 << 20;
// Tiles are cut where runs of one value end; it is not worth it for short tiles, nor for the last elements of
// short ones that don't fill a vector.
bool IsWorthRuns(int64_t run) { return run >= (run % jit::kMaxLanes == 0 ? 256 : 4096); }

// The type in which strip functions have elements of a type.
ElementType KindType(ElementType type) {
  switch (KindOf(type)) {
    case ComputeKind::kBool:
      return ElementType::kPred;
    case ComputeKind::kInt64:
      return ElementType::kS64;
    case ComputeKind::kUint64:
      return ElementType::kU64;
    default:
      return ElementType::kF64;
  }
}

// Builds the stages in three passes: values and how each is had; when each op runs; the stages.
//
// Strip functions run in rounds: round r when what they need was made by round r - 1. Loop r runs behind
// round r and before round r + 1. An op of a loop is put into the last loop that still serves all its users.
class Builder {
 public:
  Builder(const FusionView& fusion, Isa isa, FindApproximation approximate)
      : fusion_(fusion), isa_(isa), approximate_(approximate) {}

  absl::StatusOr<Stages> Run() {
    stages_.reads_in_place.assign(fusion_.operands.size(), true);
    const Shape& result = *fusion_.root().shape;
    stages_.streams = result.num_elements() * Bytes(result.element_type()) >= kStreamedBytes;
    for (size_t k = 0; k < fusion_.operands.size(); ++k) AddOperand(static_cast<int>(k));
    for (int32_t member : fusion_.members) AddMember(member);
    Schedule();
    if (last_ > kMaxRounds) return NotSupported({}, fmt::format("a chain of {}", Counted(last_, "function")));
    ASSAY_RETURN_IF_ERROR(AddStages());
    return std::move(stages_);
  }

 private:
  struct Value {
    ElementType type = ElementType::kPred;
    // An op; else the value lies in slot `stored` from the start.
    const Instruction* op = nullptr;
    std::vector<int> operands;  // values
    jit::Node node;
    bool is_strip = false;  // else part of a loop
    StripKernel strip;      // or else:
    ElementwiseFn stored_strip = nullptr, streamed_strip = nullptr;
    int round = 0;            // of a strip function, or of the loop
    int stored = -1;          // slot with elements of `type`, if any
    int stored_as_kind = -1;  // slot with elements of the compute kind, if any
    int whole = -1;           // slot with copies of what `stored` has one of, if any
  };

  const Shape& ShapeOf(int32_t i) const { return *fusion_.computation.instructions[i].shape; }

  int NewSlot(Slot::Kind kind, ElementType type, int index) {
    stages_.slots.push_back({kind, type, index});
    return static_cast<int>(stages_.slots.size()) - 1;
  }
  int NewBuffer(ElementType type) { return NewSlot(Slot::Kind::kBuffer, type, stages_.num_buffers++); }

  int NewRun(ElementType type, int64_t length) {
    std::vector<int64_t>& runs = stages_.runs;
    if (std::find(runs.begin(), runs.end(), length) == runs.end()) runs.push_back(length);
    return NewSlot(Slot::Kind::kRun, type, stages_.num_buffers++);
  }
  // Every element of the tile has a place of its own in the slot.
  bool IsWhole(int slot) const {
    const Slot::Kind kind = stages_.slots[slot].kind;
    return kind != Slot::Kind::kRepeated && kind != Slot::Kind::kConstant && kind != Slot::Kind::kRun;
  }

  int AddValue(Value value) {
    values_.push_back(std::move(value));
    return static_cast<int>(values_.size()) - 1;
  }

  // ---- values ----

  void AddOperand(int k) {
    const int32_t i = fusion_.operands[k];
    const Shape& shape = ShapeOf(i);
    const bool one = shape.num_elements() == 1 && fusion_.root().shape->num_elements() != 1;
    const Instruction& instruction = fusion_.computation.instructions[i];
    const bool constant = one && instruction.opcode == Opcode::kConstant && instruction.literal != nullptr;
    if (constant) stages_.constants.push_back(instruction.literal);
    const int slot =
        constant ? NewSlot(Slot::Kind::kConstant, shape.element_type(),
                           static_cast<int>(stages_.constants.size()) - 1)
                 : NewSlot(one ? Slot::Kind::kRepeated : Slot::Kind::kOperand, shape.element_type(), k);
    if (one) stages_.reads_in_place[k] = false;
    value_of_[i] = AddValue({.type = shape.element_type(), .stored = slot});
  }

  void AddMember(int32_t i) {
    const Instruction& instruction = fusion_.computation.instructions[i];
    switch (MovementOf(fusion_.computation, instruction)) {
      case Movement::kKeepsPositions:
        value_of_[i] = value_of_[instruction.operands[0]];
        break;
      case Movement::kRecomputed:
        value_of_[i] = AddSource(instruction);
        break;
      case Movement::kNone:
        value_of_[i] = AddOp(instruction);
    }
  }

  int AddSource(const Instruction& instruction) {
    const ElementType type = instruction.shape->element_type();
    if (instruction.opcode == Opcode::kIota) {
      for (const auto& [other, value] : iotas_) {
        if (Shape::Compatible(*other->shape, *instruction.shape) &&
            other->attributes.Int(Attr::kIotaDimension) == instruction.attributes.Int(Attr::kIotaDimension))
          return value;
      }
      const int slot = NewBuffer(type);
      stages_.stages.push_back(SourceStage{TileSource::Iota(instruction), -1, slot});
      iotas_.emplace_back(&instruction, AddValue({.type = type, .stored = slot}));
      return iotas_.back().second;
    }
    const int32_t operand = instruction.operands[0];
    if (ShapeOf(operand).num_elements() == 1) return value_of_[operand];
    const auto at = std::find(fusion_.operands.begin(), fusion_.operands.end(), operand);
    const int k = static_cast<int>(at - fusion_.operands.begin());
    stages_.reads_in_place[k] = false;
    TileSource source = SourceOf(instruction, ShapeOf(operand));
    const int slot = IsWorthRuns(source.run()) ? NewRun(type, source.run()) : NewBuffer(type);
    stages_.stages.push_back(SourceStage{std::move(source), k, slot});
    return AddValue({.type = type, .stored = slot});
  }

  static TileSource SourceOf(const Instruction& instruction, const Shape& operand) {
    if (instruction.opcode == Opcode::kSlice) return TileSource::Slice(instruction, operand);
    if (instruction.opcode == Opcode::kTranspose) return TileSource::Transpose(instruction, operand);
    return TileSource::Broadcast(instruction, operand);
  }

  int AddOp(const Instruction& instruction) {
    Value value{.type = instruction.shape->element_type(), .op = &instruction};
    absl::InlinedVector<ElementType, 3> types;
    for (int32_t operand : instruction.operands) {
      value.operands.push_back(value_of_[operand]);
      types.push_back(ShapeOf(operand).element_type());
    }
    value.node = codegen::NodeOf(instruction, types);
    if (!jit::CanGenerate(value.node, types, isa_)) {
      value.is_strip = true;
      value.stored_strip = native::NativeStored(instruction.opcode, types, value.type, isa_);
      value.streamed_strip = native::NativeStreamed(instruction.opcode, value.type, isa_);
      TakeApproximation(instruction, value);
      value.strip = native::NativeStrip(instruction, types, value.type, isa_);
      if (value.strip.fn == nullptr)
        value.strip = DefinitionOf(instruction.opcode).strip(instruction, types, value.type);
    }
    // A select by one pred for all is not charged.
    stages_.work += instruction.opcode != Opcode::kSelect || ShapeOf(instruction.operands[0]).rank() != 0;
    if (value.is_strip) return AddValue(std::move(value));
    // The node says all that the loop does: equal ones are computed once.
    const jit::Node& node = value.node;
    const auto [at, is_new] =
        computed_.try_emplace({node.opcode, node.type, node.a, node.flag, value.operands}, -1);
    if (is_new) at->second = AddValue(std::move(value));
    return at->second;
  }

  void TakeApproximation(const Instruction& instruction, Value& value) {
    if (approximate_ == nullptr) return;
    const StoredApproximation found = approximate_(fusion_.computation, instruction, isa_);
    if (found.stored == nullptr) return;
    value.stored_strip = found.stored;
    value.streamed_strip = found.streamed;
    stages_.approximations[&instruction] = {found.stored, found.accuracy};
  }

  // ---- rounds ----

  void Schedule() {
    for (Value& value : values_) {
      for (int operand : value.operands) value.round = std::max(value.round, values_[operand].round);
      if (value.is_strip) ++value.round;
    }
    last_ = values_[root()].round;
    std::vector<int> latest(values_.size(), last_);
    for (size_t v = values_.size(); v-- > 0;) {
      Value& value = values_[v];
      if (value.op == nullptr) continue;
      if (!value.is_strip) value.round = latest[v];
      for (int operand : value.operands)
        latest[operand] = std::min(latest[operand], value.is_strip ? value.round - 1 : value.round);
    }
  }

  int root() { return value_of_[fusion_.members.back()]; }

  // ---- stages ----

  // A loop in the making.
  struct Segment {
    jit::Segment code;
    std::vector<int> slots;         // by stream
    HashMap<int, int16_t> streams;  // by slot
    HashMap<int, int16_t> nodes;    // by value
  };

  absl::Status AddStages() {
    segments_.resize(static_cast<size_t>(last_) + 1);
    for (size_t v = 0; v < values_.size(); ++v) {
      const Value& value = values_[v];
      if (value.op == nullptr) continue;
      if (!value.is_strip) {
        NodeIn(value.round, static_cast<int>(v));
      } else {
        AddStrip(static_cast<int>(v));
      }
    }
    StoreRoot();
    for (size_t r = 0; r < segments_.size(); ++r) {
      for (StripStage& stage : strips_) {
        if (strip_rounds_[&stage - strips_.data()] == static_cast<int>(r))
          stages_.stages.push_back(std::move(stage));
      }
      if (segments_[r].code.stores.empty()) continue;
      segments_[r].code.origin = fusion_.root().name;
      ASSAY_ASSIGN_OR_RETURN(jit::Loop loop, jit::Loop::Make(segments_[r].code, isa_));
      LoopStage stage{std::move(loop), std::move(segments_[r].slots)};
      if (stages_.streams) ASSAY_RETURN_IF_ERROR(AddStreaming(segments_[r].code, stage));
      stages_.stages.push_back(std::move(stage));
    }
    return absl::OkStatus();
  }

  absl::Status AddStreaming(jit::Segment& code, LoopStage& stage) {
    bool makes_result = false;
    for (size_t k = 0; k < stage.slots.size(); ++k) {
      code.streams[k].streamed = stages_.slots[stage.slots[k]].kind == Slot::Kind::kResult;
      makes_result = makes_result || code.streams[k].streamed;
    }
    if (!makes_result) return absl::OkStatus();
    ASSAY_ASSIGN_OR_RETURN(stage.streaming, jit::Loop::Make(code, isa_));
    return absl::OkStatus();
  }

  int16_t StreamIn(Segment& segment, int slot) {
    const auto [at, fresh] = segment.streams.try_emplace(slot, static_cast<int16_t>(segment.slots.size()));
    if (fresh) {
      segment.slots.push_back(slot);
      segment.code.streams.push_back({stages_.slots[slot].type, !IsWhole(slot)});
    }
    return at->second;
  }

  int16_t AddNode(Segment& segment, jit::Node node) {
    segment.code.nodes.push_back(node);
    return static_cast<int16_t>(segment.code.nodes.size() - 1);
  }

  int16_t Load(Segment& segment, int slot) {
    return AddNode(
        segment,
        {.opcode = Opcode::kParameter, .type = stages_.slots[slot].type, .a = StreamIn(segment, slot)});
  }

  // The value as a node of loop r: computed there, or loaded.
  int16_t NodeIn(int r, int v) {
    Segment& segment = segments_[r];
    if (const auto found = segment.nodes.find(v); found != segment.nodes.end()) return found->second;
    Value& value = values_[v];
    int16_t node;
    if (value.op != nullptr && !value.is_strip && value.round == r) {
      jit::Node op = value.node;
      for (size_t k = 0; k < value.operands.size(); ++k) op.operands[k] = NodeIn(r, value.operands[k]);
      node = AddNode(segment, op);
    } else if (value.is_strip && value.stored < 0) {
      node = Load(segment, value.stored_as_kind);
      if (stages_.slots[value.stored_as_kind].type != value.type) {
        node = AddNode(
            segment,
            {.opcode = Opcode::kConvert, .type = value.type, .operands = {node, -1, -1}, .flag = true});
      }
    } else {
      node = Load(segment, StoredSlot(v));
    }
    segment.nodes[v] = node;
    return node;
  }

  void StoreIn(int r, int16_t node, int slot) {
    Segment& segment = segments_[r];
    segment.code.stores.push_back({node, StreamIn(segment, slot)});
  }

  // A slot with the value as it is stored, made by the loop of its round unless it is there.
  int StoredSlot(int v) {
    Value& value = values_[v];
    if (value.stored < 0) {
      const int16_t node = NodeIn(value.round, v);
      value.stored = NewBuffer(value.type);
      StoreIn(value.round, node, value.stored);
    }
    return value.stored;
  }

  // Such a slot for strip functions over stored elements, which want every element in its place.
  int WholeSlot(int v) {
    Value& value = values_[v];
    if (IsWhole(StoredSlot(v))) return value.stored;
    if (value.whole < 0) {
      const int16_t node = NodeIn(0, v);
      value.whole = NewBuffer(value.type);
      StoreIn(0, node, value.whole);
    }
    return value.whole;
  }

  // A slot with the value in its compute kind, made before round r.
  int KindSlot(int v, int r) {
    Value& value = values_[v];
    if (value.stored_as_kind >= 0) return value.stored_as_kind;
    const ElementType kind = KindType(value.type);
    if (value.op == nullptr && kind == value.type && IsWhole(value.stored)) {
      return value.stored_as_kind = value.stored;
    }
    // A value that no loop computes is converted in the first one, for all rounds.
    const int made_in = value.op != nullptr ? value.round : 0;
    ASSAY_CHECK(made_in < r);
    int16_t node = NodeIn(made_in, v);
    if (kind != value.type) {
      node =
          AddNode(segments_[made_in], {.opcode = Opcode::kConvert, .type = kind, .operands = {node, -1, -1}});
    }
    value.stored_as_kind = NewBuffer(kind);
    StoreIn(made_in, node, value.stored_as_kind);
    return value.stored_as_kind;
  }

  void AddStrip(int v) {
    if (values_[v].stored_strip != nullptr) return AddStoredStrip(v);
    StripStage stage{.kernel = values_[v].strip};
    for (int operand : values_[v].operands) stage.operands.push_back(KindSlot(operand, values_[v].round));
    // The root's may write the result itself, where no loop is to stream it;
    // over an operand only where both are of one kind.
    const bool whole = v == root() && KindType(values_[v].type) == values_[v].type &&
                       std::all_of(stage.operands.begin(), stage.operands.end(),
                                   [&](int slot) { return stages_.slots[slot].type == values_[v].type; });
    stage.result =
        whole ? NewSlot(Slot::Kind::kResult, values_[v].type, 0) : NewBuffer(KindType(values_[v].type));
    values_[v].stored_as_kind = stage.result;
    strip_rounds_.push_back(values_[v].round);
    strips_.push_back(std::move(stage));
  }

  // May write over its operand.
  void AddStoredStrip(int v) {
    const int operand = WholeSlot(values_[v].operands[0]);
    StripStage stage{.stored = values_[v].stored_strip, .operands = {operand}};
    Value& value = values_[v];
    stage.result = v == root() ? NewSlot(Slot::Kind::kResult, value.type, 0) : NewBuffer(value.type);
    if (v == root() && stages_.streams) stage.streaming = value.streamed_strip;
    value.stored = stage.result;
    strip_rounds_.push_back(value.round);
    strips_.push_back(std::move(stage));
  }

  // Last of all, as the result may lie where an operand does.
  void StoreRoot() {
    const Value& value = values_[root()];
    const int made = value.stored >= 0 ? value.stored : value.stored_as_kind;
    if (value.is_strip && stages_.slots[made].kind == Slot::Kind::kResult) return;
    StoreIn(last_, NodeIn(last_, root()), NewSlot(Slot::Kind::kResult, value.type, 0));
  }

  const FusionView& fusion_;
  const Isa isa_;
  const FindApproximation approximate_;
  Stages stages_;
  HashMap<int32_t, int> value_of_;  // by instruction
  std::vector<Value> values_;
  std::vector<std::pair<const Instruction*, int>> iotas_;
  std::map<std::tuple<Opcode, ElementType, int64_t, bool, std::vector<int>>, int> computed_;  // by loops
  int last_ = 0;  // round of the root
  std::vector<Segment> segments_;
  std::vector<StripStage> strips_;
  std::vector<int> strip_rounds_;
};

}  // namespace

namespace {

// `reason` gets the reason where it is not null.
bool IsPart(const StepView& step, std::string* reason) {
  const auto refuse = [&](std::string_view what, std::string_view name = {}) {
    if (reason != nullptr) *reason = fmt::format("{}{}", what, name);
    return false;
  };
  const Instruction& instruction = step.instruction;
  const Shape& result = *instruction.shape;
  if (const std::string_view why = WhyNotStatic(result); !why.empty()) return refuse(why);
  if (!jit::IsKnown(result.element_type())) return refuse("element type ", Name(result.element_type()));
  absl::InlinedVector<ElementType, 3> types;
  for (int32_t operand : instruction.operands) {
    const Shape& shape = *step.computation.instructions[operand].shape;
    if (const std::string_view why = WhyNotStatic(shape); !why.empty()) return refuse(why);
    if (!jit::IsKnown(shape.element_type())) return refuse("element type ", Name(shape.element_type()));
    types.push_back(shape.element_type());
  }
  if (MovementOf(step.computation, instruction) != Movement::kNone) return true;
  // Strip functions get floats as doubles, which do not keep every NaN's bits on the way.
  if (instruction.opcode == Opcode::kBitcastConvert &&
      !jit::CanGenerate(codegen::NodeOf(instruction, types), types, Isa::kAvx2)) {
    return refuse("bits of ", Name(types[0]));
  }
  const StripFor strip = DefinitionOf(instruction.opcode).strip;
  if (strip == nullptr) return refuse("no kernel for ", Name(instruction.opcode));
  if (strip(instruction, types, result.element_type()).fn == nullptr)
    return refuse("element type ", Name(types[0]));
  return true;
}

}  // namespace

bool CanBePart(const StepView& step) { return IsPart(step, nullptr); }

std::string WhyNoPart(const StepView& step) {
  std::string reason;
  IsPart(step, &reason);
  return reason;
}

absl::StatusOr<Stages> MakeStages(const FusionView& fusion, Isa isa, FindApproximation approximate) {
  return Builder(fusion, isa, approximate).Run();
}

}  // namespace assay::jit
