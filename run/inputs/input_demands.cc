// See input_demands.h. First the demands that ops make, then the walk back to the parameters.
#include "run/inputs/input_demands.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

namespace assay {
namespace {

using Kind = InputDemand::Kind;
using Component = InputDemand::Component;

// One array in the program: what an instruction gives, or a part of it.
struct Place {
  int32_t computation, instruction;
  std::vector<int64_t> path;
  auto operator<=>(const Place&) const = default;
};

struct Task {
  Place place;
  InputDemand demand;
  int origin;  // which op made the demand: no place is visited twice for one
};

// What the walks of all demands together may cost; demands beyond it are given up, so that the analysis of a
// large program takes seconds at most.
constexpr int64_t kMaxSteps = 5'000'000;

// --- Demands ----------------------------------------------------------------------------------------------

Component RangeUpTo(int64_t high) { return {0, std::max<int64_t>(high, 0) + 1, 1, 0}; }

InputDemand OneRange(int64_t low, int64_t high) {
  InputDemand demand;
  demand.components = {{low, std::max(high, low) - low + 1, 1, 0}};
  return demand;
}

// What is left of a demand once elements are moved about, repeated or dropped: each element alone is safe.
// A demand on whole matrices leaves nothing: then nullopt.
std::optional<InputDemand> Loosened(const InputDemand& demand) {
  if (demand.kind == Kind::kMatrices) return std::nullopt;
  if (demand.kind == Kind::kPartition) return OneRange(0, demand.bound / std::max<int64_t>(demand.width, 1));
  int64_t low = std::numeric_limits<int64_t>::min(), high = std::numeric_limits<int64_t>::max();
  for (const Component& c : demand.components) {
    low = std::max(low, c.low);
    high = std::min(high, c.low + c.step * (c.count - 1));
  }
  return OneRange(low, high);
}

const Ints& IntsOf(const Instruction& instruction, Attr attr) {
  static const Ints kNone;
  const AttrValue* value = instruction.attributes.Find(attr);
  const Ints* ints = value != nullptr ? std::get_if<Ints>(value) : nullptr;
  return ints != nullptr ? *ints : kNone;
}

bool Contains(const Ints& list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// Index vectors of gather and scatter: component j starts a window of extent[map[j]] in dimension map[j].
InputDemand IndexVectors(const Instruction& op, const Shape& operand, const Shape& indices, const Ints& map,
                         const Ints& extent) {
  InputDemand demand;
  const int64_t v = op.attributes.Int(Attr::kIndexVectorDim);
  for (int64_t d = v + 1; d < indices.rank(); ++d) demand.inner *= indices.size(d);
  demand.components.clear();
  for (int64_t d : map) {
    Component component = RangeUpTo(operand.size(d) - extent[d]);
    component.rank = d;
    demand.components.push_back(component);
  }
  if (demand.components.empty()) demand.components.push_back({});
  demand.sorted = op.attributes.Bool(Attr::kIndicesAreSorted);
  demand.unique = op.attributes.Bool(Attr::kUniqueIndices);
  if (demand.unique) {  // no element of a window may meet another window's
    for (size_t j = 0; j < map.size(); ++j) {
      const int64_t size = std::max<int64_t>(extent[map[j]], 1);
      demand.components[j].count = std::max<int64_t>(operand.size(map[j]) / size, 1);
      demand.components[j].step = size;
    }
  }
  return demand;
}

class Analysis {
 public:
  explicit Analysis(const Module& module);
  std::map<ParameterLeaf, InputDemand> Run();

 private:
  struct Caller {
    int32_t computation, instruction;
  };
  const Instruction& At(const Place& place) const {
    return module_.computations[place.computation].instructions[place.instruction];
  }
  const Shape& OperandShape(const Place& place, int64_t i) const {
    return *module_.computations[place.computation].instructions[At(place).operands[i]].shape;
  }

  // Demands that one instruction makes.
  void Collect(const Place& op);
  void CollectScatter(const Place& op);
  void CollectStarts(const Place& op, int64_t first, std::span<const int64_t> extent);
  void CollectDynamicReshape(const Place& op);
  void Want(const Place& op, int64_t operand, InputDemand demand);

  // One step back from a place.
  void Step(const Task& task);
  void StepControl(const Task& task);
  void StepParameter(const Task& task);
  void StepConcatenate(const Task& task);
  void ToOperand(const Task& task, int64_t operand, std::vector<int64_t> path);
  void Loosely(const Task& task, int64_t operand);
  void ToRoot(const Task& task, ComputationId callee, std::vector<int64_t> path);
  void Arrive(const Task& task, int64_t parameter);

  const Module& module_;
  std::vector<std::vector<Caller>> callers_;
  std::vector<Task> tasks_;
  std::set<std::pair<int, Place>> visited_;
  std::map<ParameterLeaf, InputDemand> found_;
  int origins_ = 0;
  int64_t steps_ = 0;
};

Analysis::Analysis(const Module& module) : module_(module), callers_(module.computations.size()) {
  for (size_t c = 0; c < module.computations.size(); ++c) {
    const auto& instructions = module.computations[c].instructions;
    for (size_t i = 0; i < instructions.size(); ++i) {
      for (ComputationId callee : CalledComputations(instructions[i])) {
        callers_[callee.value].push_back({static_cast<int32_t>(c), static_cast<int32_t>(i)});
      }
    }
  }
}

void Analysis::Want(const Place& op, int64_t operand, InputDemand demand) {
  tasks_.push_back({{op.computation, At(op).operands[operand], {}}, std::move(demand), origins_++});
}

// Scatter: the extent of a window in an operand dimension is the size of its update dimension, 1 if none.
void Analysis::CollectScatter(const Place& op) {
  const Instruction& scatter = At(op);
  const int64_t n = static_cast<int64_t>(scatter.operands.size()) / 2;
  const Shape &operand = OperandShape(op, 0), &updates = OperandShape(op, n + 1);
  const Ints& window = IntsOf(scatter, Attr::kUpdateWindowDims);
  Ints extent(operand.rank(), 1);
  size_t k = 0;
  for (int64_t d = 0; d < operand.rank(); ++d) {
    const bool absent = Contains(IntsOf(scatter, Attr::kInsertedWindowDims), d) ||
                        Contains(IntsOf(scatter, Attr::kInputBatchingDims), d);
    if (!absent && k < window.size()) extent[d] = updates.size(window[k++]);
  }
  Want(op, n,
       IndexVectors(scatter, operand, OperandShape(op, n), IntsOf(scatter, Attr::kScatterDimsToOperandDims),
                    extent));
}

// Start indices of dynamic-slice and dynamic-update-slice: scalars, or one vector.
void Analysis::CollectStarts(const Place& op, int64_t first, std::span<const int64_t> extent) {
  const Shape& operand = OperandShape(op, 0);
  const int64_t starts = static_cast<int64_t>(At(op).operands.size()) - first;
  if (starts == 1 && OperandShape(op, first).rank() == 1) {
    InputDemand demand;
    demand.components.clear();
    for (int64_t d = 0; d < operand.rank(); ++d) {
      demand.components.push_back(RangeUpTo(operand.size(d) - extent[d]));
    }
    if (!demand.components.empty()) Want(op, first, std::move(demand));
    return;
  }
  for (int64_t d = 0; d < starts; ++d) Want(op, first + d, OneRange(0, operand.size(d) - extent[d]));
}

void Analysis::CollectDynamicReshape(const Place& op) {
  const Shape& result = *At(op).shape;
  for (int64_t d = 0; d < result.rank(); ++d) Want(op, d + 1, OneRange(result.size(d), result.size(d)));
}

void Analysis::Collect(const Place& op) {
  const Instruction& instruction = At(op);
  const AttributeMap& attributes = instruction.attributes;
  switch (instruction.opcode) {
    case Opcode::kGather:
      return Want(
          op, 1,
          IndexVectors(instruction, OperandShape(op, 0), OperandShape(op, 1),
                       IntsOf(instruction, Attr::kStartIndexMap), IntsOf(instruction, Attr::kSliceSizes)));
    case Opcode::kScatter:
      return CollectScatter(op);
    case Opcode::kDynamicSlice:
      return CollectStarts(op, 1, attributes.List(Attr::kDynamicSliceSizes));
    case Opcode::kDynamicUpdateSlice: {
      const Shape& updated = OperandShape(op, 0);
      if (updated.IsArray()) CollectStarts(op, 2, OperandShape(op, 1).sizes());
      return;
    }
    case Opcode::kDynamicReshape:
      return CollectDynamicReshape(op);
    case Opcode::kSetDimensionSize: {
      const Ints& dimensions = IntsOf(instruction, Attr::kDimensions);
      return Want(op, 1, OneRange(0, OperandShape(op, 0).size(dimensions[0])));
    }
    case Opcode::kRaggedDot: {
      InputDemand demand;
      demand.kind = Kind::kPartition;
      const Shape& groups = OperandShape(op, 2);
      demand.width = groups.size(groups.rank() - 1);
      demand.bound = OperandShape(op, 0).size(IntsOf(instruction, Attr::kLhsRaggedDims)[0]);
      return Want(op, 2, std::move(demand));
    }
    case Opcode::kRaggedAllToAll:  // ranges of the members must fit together: empty ones do
      for (int64_t i = 2; i < 6; ++i) Want(op, i, OneRange(0, 0));
      return;
    case Opcode::kConditional: {
      const int64_t branches = static_cast<int64_t>(instruction.operands.size()) - 1;
      if (OperandShape(op, 0).element_type() != ElementType::kPred) Want(op, 0, OneRange(0, branches - 1));
      return;
    }
    case Opcode::kCholesky:
    case Opcode::kTriangularSolve: {
      InputDemand demand;
      demand.kind = Kind::kMatrices;
      demand.width = OperandShape(op, 0).size(OperandShape(op, 0).rank() - 1);
      return Want(op, 0, std::move(demand));
    }
    default:
      return;
  }
}

// --- The walk back ----------------------------------------------------------------------------------------

void Analysis::ToOperand(const Task& task, int64_t operand, std::vector<int64_t> path) {
  tasks_.push_back({{task.place.computation, At(task.place).operands[operand], std::move(path)},
                    task.demand,
                    task.origin});
}

void Analysis::Loosely(const Task& task, int64_t operand) {
  if (auto demand = Loosened(task.demand)) {
    tasks_.push_back(
        {{task.place.computation, At(task.place).operands[operand], {}}, *std::move(demand), task.origin});
  }
}

void Analysis::ToRoot(const Task& task, ComputationId callee, std::vector<int64_t> path) {
  const int32_t root = module_.computation(callee).root;
  tasks_.push_back({{callee.value, root, std::move(path)}, task.demand, task.origin});
}

// A demand on a result of concatenate. Where the parts are the components of index vectors, as traced
// programs write them, each part gets its own component; the first also what is promised of whole vectors.
void Analysis::StepConcatenate(const Task& task) {
  const Instruction& op = At(task.place);
  const InputDemand& demand = task.demand;
  const int64_t parts = static_cast<int64_t>(op.operands.size());
  const int64_t dimension = IntsOf(op, Attr::kDimensions)[0];
  bool by_component = demand.kind == Kind::kIndices && demand.inner == 1 &&
                      static_cast<int64_t>(demand.components.size()) == parts &&
                      dimension == op.shape->rank() - 1;
  for (int64_t i = 0; i < parts; ++i) by_component &= OperandShape(task.place, i).size(dimension) == 1;
  for (int64_t i = 0; i < parts; ++i) {
    if (!by_component) {
      Loosely(task, i);
      continue;
    }
    Task part = task;
    part.demand.components = {demand.components[i]};
    part.demand.sorted = demand.sorted && i == 0;
    part.demand.unique = demand.unique && i == 0;
    ToOperand(part, i, {});
  }
}

void Analysis::Arrive(const Task& task, int64_t parameter) {
  const auto [at, is_new] = found_.emplace(ParameterLeaf(parameter, task.place.path), task.demand);
  if (is_new) return;
  InputDemand& old = at->second;
  // Whole-array demands win over ranges: an evaluation fails without them.
  if (old.kind != Kind::kIndices) return;
  if (task.demand.kind != Kind::kIndices) {
    old = task.demand;
    return;
  }
  InputDemand next = task.demand;
  if (old.components.size() != next.components.size() || old.inner != next.inner) {
    old = *Loosened(old);
    next = *Loosened(next);
  }
  for (size_t j = 0; j < old.components.size(); ++j) {
    Component &a = old.components[j], &b = next.components[j];
    const int64_t low = std::max(a.low, b.low), step = std::max(a.step, b.step);
    const int64_t high = std::min(a.low + a.step * (a.count - 1), b.low + b.step * (b.count - 1));
    a = {low, std::max<int64_t>(high - low, 0) / step + 1, step, a.rank};
  }
  old.sorted |= next.sorted;
  old.unique |= next.unique;
}

// A parameter is what the callers pass.
void Analysis::StepParameter(const Task& task) {
  const int64_t number = At(task.place).parameter_number;
  if (task.place.computation == module_.entry.value) return Arrive(task, number);
  for (const Caller& caller : callers_[task.place.computation]) {
    Task above = {{caller.computation, caller.instruction, {}}, task.demand, task.origin};
    const Instruction& call = At(above.place);
    switch (call.opcode) {
      case Opcode::kCall:
      case Opcode::kFusion:
      case Opcode::kAsyncStart:
        ToOperand(above, number, task.place.path);
        break;
      case Opcode::kMap:
        Loosely(above, number);
        break;
      case Opcode::kWhile:
        ToOperand(above, 0, task.place.path);
        if (const auto body = call.attributes.Computation(Attr::kBody)) ToRoot(above, *body, task.place.path);
        break;
      case Opcode::kConditional: {
        const std::vector<ComputationId> branches = CalledComputations(call);
        for (size_t i = 0; i < branches.size(); ++i) {
          if (branches[i].value != task.place.computation) continue;
          ToOperand(above, static_cast<int64_t>(i) + 1, task.place.path);
        }
        break;
      }
      default:
        break;
    }
  }
}

std::vector<int64_t> Prepend(int64_t first, const std::vector<int64_t>& path) {
  std::vector<int64_t> longer = {first};
  longer.insert(longer.end(), path.begin(), path.end());
  return longer;
}

// Results of ops that hold whole values: tuples, calls, loops, branches, asynchronous pairs.
void Analysis::StepControl(const Task& task) {
  const Instruction& op = At(task.place);
  const std::vector<int64_t>& path = task.place.path;
  const std::vector<int64_t> rest(path.empty() ? path.end() : path.begin() + 1, path.end());
  switch (op.opcode) {
    case Opcode::kParameter:
      return StepParameter(task);
    case Opcode::kTuple:
      if (!path.empty()) ToOperand(task, path[0], rest);
      return;
    case Opcode::kGetTupleElement:
      return ToOperand(task, 0, Prepend(op.attributes.Int(Attr::kIndex), path));
    case Opcode::kOptBarrier:
    case Opcode::kDomain:
    case Opcode::kAddDependency:
    case Opcode::kAsyncUpdate:
      return ToOperand(task, 0, path);
    case Opcode::kCopyStart:
      return ToOperand(task, 0, rest);
    case Opcode::kCopyDone:
      return ToOperand(task, 0, Prepend(0, path));
    case Opcode::kAsyncDone:
      return ToOperand(task, 0, Prepend(1, path));
    case Opcode::kAsyncStart:
      if (path.size() > 1 && path[0] == 0) ToOperand(task, path[1], {path.begin() + 2, path.end()});
      if (path.empty() || path[0] != 1) return;
      for (ComputationId callee : CalledComputations(op)) ToRoot(task, callee, rest);
      return;
    case Opcode::kWhile:
      ToOperand(task, 0, path);
      if (const auto body = op.attributes.Computation(Attr::kBody)) ToRoot(task, *body, path);
      return;
    case Opcode::kCall:
    case Opcode::kFusion:
    case Opcode::kConditional:
      for (ComputationId callee : CalledComputations(op)) ToRoot(task, callee, path);
      return;
    default:
      return;
  }
}

void Analysis::Step(const Task& task) {
  const Instruction& op = At(task.place);
  const int64_t operands = static_cast<int64_t>(op.operands.size());
  switch (op.opcode) {
    // The same elements in the same row-major order.
    case Opcode::kReshape:
    case Opcode::kCopy:
    case Opcode::kConvert:
      return ToOperand(task, 0, {});
    // Elements of the first operand, moved.
    case Opcode::kBitcast:
    case Opcode::kBroadcast:
    case Opcode::kTranspose:
    case Opcode::kSlice:
    case Opcode::kReverse:
    case Opcode::kDynamicSlice:
    case Opcode::kGather:
    case Opcode::kScatter:
    case Opcode::kSetDimensionSize:
    case Opcode::kDynamicReshape:
    case Opcode::kAllGather:
    case Opcode::kAllToAll:
    case Opcode::kCollectivePermute:
    case Opcode::kCollectiveBroadcast:
      return Loosely(task, 0);
    case Opcode::kPad:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
      Loosely(task, 0);
      return Loosely(task, 1);
    case Opcode::kSelect:
      ToOperand(task, 1, {});
      return ToOperand(task, 2, {});
    case Opcode::kClamp:
      return ToOperand(task, 1, {});
    case Opcode::kConcatenate:
      return StepConcatenate(task);
    case Opcode::kSort: {
      const int64_t which = task.place.path.empty() ? 0 : task.place.path[0];
      if (which < operands) Loosely(task, which);
      return;
    }
    default:
      return StepControl(task);
  }
}

std::map<ParameterLeaf, InputDemand> Analysis::Run() {
  for (size_t c = 0; c < module_.computations.size(); ++c) {
    for (size_t i = 0; i < module_.computations[c].instructions.size(); ++i) {
      Collect({static_cast<int32_t>(c), static_cast<int32_t>(i), {}});
      for (; !tasks_.empty(); ++steps_) {
        const Task task = std::move(tasks_.back());
        tasks_.pop_back();
        if (steps_ < kMaxSteps && visited_.emplace(task.origin, task.place).second) Step(task);
      }
      visited_.clear();
    }
  }
  return std::move(found_);
}

}  // namespace

std::map<ParameterLeaf, InputDemand> InputDemands(const Module& module) { return Analysis(module).Run(); }

}  // namespace assay
