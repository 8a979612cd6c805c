#include "check/undecided.h"

#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "check/module_deriver.h"
#include "evaluator/bounds/ends.h"
#include "literal/element_io.h"
#include "literal/leaves.h"

namespace assay {
namespace {

constexpr int kDeepest = 32;
constexpr int64_t kMaxIterations = 1000;

// An array and its radius, which is absent where it is exact.
struct BoundedArray {
  Literal value;
  std::optional<Literal> radius;
};

// The first element of integers or truth values.
int64_t IntegerOf(const Literal& literal) {
  const ScalarValue value = LoadElement(literal.shape().element_type(), literal.data());
  return value.kind == ComputeKind::kInt64 ? value.i : static_cast<int64_t>(value.u) + value.b;
}

// Subnormal numbers, which the profile may take for zero, are known to that.
std::optional<Literal> SubnormalRadii(const Literal& array, const Profile& profile) {
  if (!array.shape().IsArray() || !profile.Flushes(array.shape().element_type()) || !HasSubnormals(array))
    return std::nullopt;
  std::vector<double> radii;
  for (int64_t i = 0; i < array.shape().num_elements(); ++i) radii.push_back(SubnormalParts(array, i));
  return Literal::FromDoubles(RadiusType(array.shape().element_type()), array.shape().sizes(), radii);
}

class Finder {
 public:
  Finder(const Module& module, const Profile& profile, const RunOptions& options,
         std::span<const Engine* const> engines, const LoopSet& with_forms)
      : module_(module), profile_(profile), options_(options), engines_(engines), with_forms_(with_forms) {}

  // By instruction of the computation.
  absl::StatusOr<std::vector<bool>> AllUndecided(ComputationId id,
                                                 const std::vector<BoundedArray>& arguments) {
    ASSAY_ASSIGN_OR_RETURN(const Probes probes, Run(id, arguments));
    std::vector<bool> undecided;
    const std::vector<std::vector<int64_t>>& flags = probes.planned->probed.flags;
    for (size_t i = 0; i < flags.size(); ++i) {
      bool any = false;
      for (size_t leaf = 0; leaf < flags[i].size(); ++leaf)
        any = any || probes.IsUndecided({static_cast<int32_t>(i), static_cast<int64_t>(leaf)});
      undecided.push_back(any);
    }
    return undecided;
  }

  // Of a leaf of the computation's root, or of any that is undecided where it is -1.
  absl::StatusOr<std::optional<FirstUndecided>> Find(ComputationId id,
                                                     const std::vector<BoundedArray>& arguments, int64_t leaf,
                                                     const std::string& inside, int64_t iteration,
                                                     int depth) {
    if (depth > 0 || !entry_) {
      ASSAY_ASSIGN_OR_RETURN(Probes run, Run(id, arguments));
      if (depth == 0) entry_ = run;
      return FindBy(id, run, leaf, inside, iteration, depth);
    }
    return FindBy(id, *entry_, leaf, inside, iteration, depth);
  }

 private:
  using Place = std::pair<int32_t, int64_t>;  // an instruction and a leaf of it
  struct Planned {
    ProbedComputation probed;
    std::vector<DerivedBounds::Note> notes;
    std::shared_ptr<const Plan> plan;
  };
  struct Probes {
    const Planned* planned;
    Literal root;
    BoundedArray At(const ProbedComputation::Shown& shown) const {
      BoundedArray array{root.element(shown.value), std::nullopt};
      if (shown.radius >= 0) array.radius = root.element(shown.radius);
      return array;
    }
    bool IsUndecided(const Place& place) const {
      const int64_t at =
          planned->probed.flags[static_cast<size_t>(place.first)][static_cast<size_t>(place.second)];
      return at >= 0 && root.element(at).GetDouble(0) != 0;
    }
  };

  absl::StatusOr<std::optional<FirstUndecided>> FindBy(ComputationId id, const Probes& probes, int64_t leaf,
                                                       const std::string& inside, int64_t iteration,
                                                       int depth) {
    const Computation& computation = module_.computation(id);
    const std::optional<Place> origin = OriginOf(computation, probes, leaf);
    if (!origin) return std::nullopt;
    const Instruction& instruction = computation.instructions[static_cast<size_t>(origin->first)];
    // Several outputs may come from one call, and of a loop all leaves have one answer.
    const Place searched{origin->first, instruction.opcode == Opcode::kWhile ? 0 : origin->second};
    if (depth == 0) {
      if (const auto it = found_.find(searched); it != found_.end()) return it->second;
    }
    if (depth < kDeepest && probes.planned->probed.shown.contains(origin->first)) {
      ASSAY_ASSIGN_OR_RETURN(std::optional<FirstUndecided> deeper,
                             FindInside(instruction, *origin, probes, iteration, depth));
      if (deeper) {
        if (depth == 0) found_.emplace(searched, *deeper);
        return deeper;
      }
    }
    FirstUndecided found{instruction.name, std::string(Name(instruction.opcode)), inside, iteration, {}};
    found.why = WhyOf(probes, instruction);
    if (depth == 0) found_.emplace(searched, found);
    return found;
  }

  absl::StatusOr<const Planned*> PlanFor(ComputationId id, const std::vector<bool>& radii) {
    Planned& planned = planned_[{id.value, radii}];
    if (planned.plan != nullptr) return &planned;
    ModuleDeriver deriver(module_, profile_, with_forms_);
    ASSAY_ASSIGN_OR_RETURN(planned.probed, deriver.DeriveProbed(id, radii));
    DerivedBounds derived = std::move(deriver).TakeResult();
    derived.module.entry = planned.probed.id;
    planned.notes = std::move(derived.unchecked);
    ASSAY_ASSIGN_OR_RETURN(const Program program, Program::OfModule(std::move(derived.module)));
    ASSAY_ASSIGN_OR_RETURN(planned.plan, program.PlanFor(engines_));
    return &planned;
  }

  absl::StatusOr<Probes> Run(ComputationId id, const std::vector<BoundedArray>& arguments) {
    std::vector<bool> radii;
    std::vector<Literal> elements, radius_elements;
    for (const BoundedArray& argument : arguments) {
      elements.push_back(argument.value);
      radii.push_back(argument.radius.has_value());
      if (argument.radius) radius_elements.push_back(*argument.radius);
    }
    elements.insert(elements.end(), radius_elements.begin(), radius_elements.end());
    ASSAY_ASSIGN_OR_RETURN(const Planned* const planned, PlanFor(id, radii));
    std::vector<DeviceInputs> inputs(1);
    inputs[0].arguments.push_back(Literal::Tuple(std::move(elements)));
    ASSAY_ASSIGN_OR_RETURN(const std::vector<DeviceOutputs> outputs,
                           RunDevices(*planned->plan, DeviceGrid{}, std::move(inputs), options_));
    return Probes{planned, outputs[0].root};
  }

  static int64_t LeavesOf(const Shape& shape) { return static_cast<int64_t>(LeafShapes(shape).size()); }

  // The leaves that a leaf comes from: of tuples the one that it is, of others all of the operands'.
  static std::vector<Place> SourcesOf(const Computation& computation, const Place& place) {
    const Instruction& instruction = computation.instructions[static_cast<size_t>(place.first)];
    const auto shape_of = [&](int32_t k) -> const Shape& {
      return *computation.instructions[static_cast<size_t>(k)].shape;
    };
    std::vector<Place> sources;
    if (instruction.opcode == Opcode::kGetTupleElement) {
      const Shape& tuple = shape_of(instruction.operands[0]);
      int64_t first = 0;
      for (int64_t k = 0; k < instruction.attributes.Int(Attr::kIndex); ++k)
        first += LeavesOf(tuple.element(k));
      return {{instruction.operands[0], first + place.second}};
    }
    int64_t first = 0;
    for (const int32_t k : instruction.operands) {
      const int64_t count = LeavesOf(shape_of(k));
      for (int64_t leaf = 0; leaf < count; ++leaf) {
        if (instruction.opcode != Opcode::kTuple || first + leaf == place.second)
          sources.emplace_back(k, leaf);
      }
      first += count;
    }
    return sources;
  }

  // Back from the root by undecided leaves, to the first that has none before it.
  static std::optional<Place> OriginOf(const Computation& computation, const Probes& probes, int64_t leaf) {
    std::vector<Place> open;
    std::set<Place> seen;
    const auto look_at = [&](const Place& place) {
      if (!probes.IsUndecided(place)) return false;
      if (seen.insert(place).second) open.push_back(place);
      return true;
    };
    for (int64_t k = 0; k < LeavesOf(*computation.root_instruction().shape); ++k) {
      if (leaf < 0 || leaf == k) look_at({computation.root, k});
    }
    std::optional<Place> origin;
    while (!open.empty()) {
      const Place place = open.back();
      open.pop_back();
      bool is_origin = true;
      for (const Place& source : SourcesOf(computation, place)) is_origin = !look_at(source) && is_origin;
      if (is_origin && (!origin || place < *origin)) origin = place;
    }
    return origin;
  }

  std::string WhyOf(const Probes& probes, const Instruction& instruction) const {
    for (const DerivedBounds::Note& note : probes.planned->notes) {
      if (note.instruction == instruction.name) return note.why;
    }
    return std::string(bound::ReasonOf(instruction.opcode));
  }

  absl::StatusOr<std::optional<FirstUndecided>> FindInside(const Instruction& instruction, const Place& place,
                                                           const Probes& probes, int64_t iteration,
                                                           int depth) {
    std::vector<std::vector<BoundedArray>> operands;
    for (const auto& shown : probes.planned->probed.shown.at(place.first)) {
      operands.emplace_back();
      for (const ProbedComputation::Shown& leaf : shown) operands.back().push_back(probes.At(leaf));
    }
    if (instruction.opcode == Opcode::kWhile) return FindInLoop(instruction, operands[0], depth);
    if (instruction.opcode == Opcode::kConditional) {
      const BoundedArray& index = operands[0][0];
      if (index.radius && index.radius->GetDouble(0) != 0) return std::nullopt;
      const std::vector<ComputationId> branches = CalledComputations(instruction);
      const int64_t value = IntegerOf(index.value), n = static_cast<int64_t>(branches.size());
      const bool is_pred = index.value.shape().element_type() == ElementType::kPred;
      const int64_t taken = is_pred ? (value != 0 ? 0 : 1) : value < 0 || value >= n ? n - 1 : value;
      return Find(branches[static_cast<size_t>(taken)], operands[static_cast<size_t>(taken) + 1],
                  place.second, instruction.name, iteration, depth + 1);
    }
    const bool is_fusion = instruction.opcode == Opcode::kFusion;
    std::vector<BoundedArray> arguments;
    for (std::vector<BoundedArray>& operand : operands)
      arguments.insert(arguments.end(), operand.begin(), operand.end());
    return Find(*instruction.attributes.Computation(is_fusion ? Attr::kCalls : Attr::kToApply), arguments,
                place.second, instruction.name, iteration, depth + 1);
  }

  // Iteration by iteration, until one makes something undecided of a state in which nothing is.
  absl::StatusOr<std::optional<FirstUndecided>> FindInLoop(const Instruction& loop,
                                                           std::vector<BoundedArray> state, int depth) {
    const ComputationId body = *loop.attributes.Computation(Attr::kBody);
    const ComputationId condition = *loop.attributes.Computation(Attr::kCondition);
    for (int64_t iteration = 0; iteration < kMaxIterations; ++iteration) {
      ASSAY_ASSIGN_OR_RETURN(const Probes test, Run(condition, state));
      const BoundedArray goes_on = test.At(test.planned->probed.root[0]);
      if (goes_on.radius && goes_on.radius->GetDouble(0) != 0) return std::nullopt;
      if (IntegerOf(goes_on.value) == 0) return std::nullopt;
      ASSAY_ASSIGN_OR_RETURN(std::optional<FirstUndecided> found,
                             Find(body, state, -1, loop.name, iteration, depth + 1));
      if (found) return found;
      ASSAY_ASSIGN_OR_RETURN(const Probes after, Run(body, state));
      state.clear();
      for (const ProbedComputation::Shown& leaf : after.planned->probed.root) state.push_back(after.At(leaf));
    }
    return std::nullopt;
  }

  const Module& module_;
  const Profile& profile_;
  const RunOptions& options_;
  const std::span<const Engine* const> engines_;
  const LoopSet& with_forms_;
  std::map<std::pair<int32_t, std::vector<bool>>, Planned> planned_;
  std::map<Place, FirstUndecided> found_;  // by what of the entry computation it was looked for from
  std::optional<Probes> entry_;            // the run of the entry computation, the same for all leaves
};

std::vector<BoundedArray> BoundedArguments(const std::vector<Literal>& arguments, const Profile& profile) {
  std::vector<BoundedArray> given;
  for (const Literal& argument : arguments) {
    for (Literal& leaf : LeavesOf(argument)) {
      std::optional<Literal> radii = SubnormalRadii(leaf, profile);
      given.push_back({std::move(leaf), std::move(radii)});
    }
  }
  return given;
}

}  // namespace

absl::StatusOr<std::vector<bool>> FindUndecided(const Program& program, const Profile& profile,
                                                const std::vector<Literal>& arguments,
                                                const RunOptions& options,
                                                std::span<const Engine* const> engines) {
  const LoopSet none;
  return Finder(program.module(), profile, options, engines, none)
      .AllUndecided(program.module().entry, BoundedArguments(arguments, profile));
}

absl::StatusOr<std::vector<std::optional<FirstUndecided>>> FindFirstUndecided(
    const Program& program, const Profile& profile, const std::vector<Literal>& arguments,
    std::span<const int64_t> leaves, const RunOptions& options, std::span<const Engine* const> engines,
    const LoopSet& with_forms) {
  const std::vector<BoundedArray> given = BoundedArguments(arguments, profile);
  Finder finder(program.module(), profile, options, engines, with_forms);
  std::vector<std::optional<FirstUndecided>> found;
  for (const int64_t leaf : leaves) {
    ASSAY_ASSIGN_OR_RETURN(std::optional<FirstUndecided> first,
                           finder.Find(program.module().entry, given, leaf, "", -1, 0));
    found.push_back(std::move(first));
  }
  return found;
}

}  // namespace assay
