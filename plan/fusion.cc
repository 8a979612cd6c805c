#include "plan/fusion.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "evaluator/registry.h"
#include "shape/index.h"

namespace assay {
namespace {

constexpr size_t kMaxMembers = 512;
// Arrays of more than one element, which must live until the fusion runs.
constexpr size_t kMaxOperands = 12;
// Elements of a slice's operand for each of its own: fused, it keeps the operand alive until the fusion runs.
constexpr int64_t kMaxSliced = 8;
// Bytes that lie together in a transpose's operand and in its result. With fewer it is faster as an array of
// its own, moved in blocks: 64 floats a row, 16 KiB apart, took half as long again in a fusion,
// 1,024 two fifths of the time.
constexpr int64_t kLeastMoved = 1024;
// Functions that a reduction computes a second time instead of reading what they gave.
constexpr int kMaxFunctionsAgain = 1;

bool IsElementwise(const Instruction& instruction) {
  return DefinitionOf(instruction.opcode).strip != nullptr;
}

// Elements that lie beside each other in the result as they do in the operand: those of the minor dimensions
// of which the map `source` has the result's own strides.
int64_t RunOf(const AffineMap& source, const Shape& result) {
  if (result.num_elements() == 0) return 0;
  const DimVector own = RowMajorStrides(result.sizes());
  int64_t run = 1;
  for (size_t d = own.size(); d-- > 0;) {
    const int64_t size = result.size(static_cast<int64_t>(d));
    if (size != 1 && source.strides[d] != own[d]) break;
    run *= size;
  }
  return run;
}

class Finder {
 public:
  Finder(const Module& module, const Computation& computation, std::span<const int32_t> order,
         const Engine& engine, const std::vector<bool>& apart, const std::vector<bool>& taken)
      : module_(module),
        computation_(computation),
        order_(order),
        engine_(engine),
        apart_(apart),
        taken_(taken),
        positions_(computation.instructions.size(), -1),
        users_(computation.instructions.size()),
        states_(computation.instructions.size(), State::kOther),
        movements_(computation.instructions.size(), Movement::kNone),
        reduces_(computation.instructions.size(), false) {}

  std::vector<Fusion> Run() {
    if (!FindCandidates()) return {};
    for (size_t p = 0; p < order_.size(); ++p) {
      positions_[order_[p]] = static_cast<int32_t>(p);
      for (int32_t operand : Of(order_[p]).operands) users_[operand].push_back(order_[p]);
    }
    std::vector<Fusion> fusions = GrowReductions();
    for (size_t p = order_.size(); p-- > 0;) {
      const int32_t i = order_[p];
      if (states_[i] == State::kFree && IsElementwise(Of(i))) fusions.push_back(Grow(i, Elements(i)));
    }
    std::reverse(fusions.begin(), fusions.end());
    return fusions;
  }

 private:
  enum class State : uint8_t {
    kOther,  // can't be fused
    kFree,
    kTaken,   // a member of a fusion, which nobody else has
    kMember,  // of the fusion that is growing
  };

  const Instruction& Of(int32_t i) const { return computation_.instructions[i]; }
  int64_t Elements(int32_t i) const { return Of(i).shape->num_elements(); }

  bool FindCandidates() {
    bool any = false;
    for (int32_t i : order_) {
      if (!taken_.empty() && taken_[i]) continue;
      const Instruction& instruction = Of(i);
      movements_[i] = MovementOf(computation_, instruction);
      const bool known = movements_[i] != Movement::kNone || IsElementwise(instruction);
      if (!known || !engine_.CanFuse({module_, computation_, instruction})) continue;
      states_[i] = State::kFree;
      any = true;
    }
    if (!any) return false;
    // Members run later than they stand; what control dependencies order stays where it is.
    for (int32_t i : order_) {
      if (Of(i).control_predecessors.empty()) continue;
      states_[i] = State::kOther;
      for (int32_t before : Of(i).control_predecessors) states_[before] = State::kOther;
    }
    return true;
  }

  // ---- reductions ----

  // Where the engine has kernels that reduce what they compute (CanFuse of a reduce), a reduce is the root of
  // a fusion with what computes its operands; members have as many elements as these. Members may be others'
  // members, too, which then make the elements as well instead of reading them: softmax's exponentials are
  // made once for the sum and once for the quotient.
  std::vector<Fusion> GrowReductions() {
    if (!engine_.MayTake(Opcode::kReduce)) return {};
    bool any = false;
    for (int32_t i : order_) {
      const Instruction& reduce = Of(i);
      if (reduce.opcode != Opcode::kReduce || !reduce.control_predecessors.empty()) continue;
      if (!taken_.empty() && taken_[i]) continue;
      reduces_[i] = Elements(reduce.operands[0]) > 1 && engine_.CanFuse({module_, computation_, reduce});
      any = any || reduces_[i];
    }
    if (!any) return {};
    std::vector<Fusion> fusions;
    for (size_t p = order_.size(); p-- > 0;) {
      if (!reduces_[order_[p]]) continue;
      const std::vector<State> before = states_;
      Fusion fusion = Grow(order_[p], Elements(Of(order_[p]).operands[0]));
      states_ = before;
      reduces_[order_[p]] = fusion.members.size() > 1;
      if (fusion.members.size() > 1) fusions.push_back(std::move(fusion));
    }
    LeaveToReductions(fusions);
    return fusions;
  }

  // Members of which only reductions need the value are theirs alone; the other users of the others need not
  // share them.
  void LeaveToReductions(const std::vector<Fusion>& fusions) {
    std::vector<absl::InlinedVector<size_t, 2>> having(computation_.instructions.size());
    for (size_t f = 0; f < fusions.size(); ++f) {
      for (int32_t member : fusions[f].members) having[member].push_back(f);
    }
    std::vector<bool> left(computation_.instructions.size(), false);
    const auto shares_all = [&](int32_t i, int32_t user) {
      return std::ranges::all_of(
          having[user], [&](size_t f) { return std::ranges::find(having[i], f) != having[i].end(); });
    };
    for (size_t p = order_.size(); p-- > 0;) {
      const int32_t i = order_[p];
      if (having[i].empty() || reduces_[i] || i == computation_.root) continue;
      left[i] = std::ranges::all_of(
          users_[i], [&](int32_t user) { return (left[user] || reduces_[user]) && shares_all(i, user); });
      if (left[i]) states_[i] = State::kTaken;
    }
    for (size_t i = 0; i < users_.size(); ++i) {
      const auto at = static_cast<int32_t>(i);
      // std::ranges::remove_if does not compile by clang 14 with libstdc++ 12.
      const auto gone = std::remove_if(users_[i].begin(), users_[i].end(), [&](int32_t user) {
        return left[user] || (reduces_[user] && shares_all(at, user));
      });
      users_[i].erase(gone, users_[i].end());
    }
    for (const Fusion& fusion : fusions) {
      for (int32_t operand : fusion.operands) AddUser(operand, fusion.members.back());
    }
  }
  void AddUser(int32_t i, int32_t user) {
    auto& users = users_[i];
    if (std::ranges::find(users, user) != users.end()) return;
    users.insert(
        std::ranges::upper_bound(users, positions_[user], {}, [&](int32_t u) { return positions_[u]; }),
        user);
  }

  // Whether a reduction may make the elements of i again for itself: all others who read them do so too, and
  // it is not much work.
  bool IsMadeAgain(int32_t i) const {
    const bool by_all = std::ranges::all_of(users_[i], [&](int32_t user) {
      return states_[user] == State::kMember || reduces_[user] ||
             (states_[user] == State::kFree && IsElementwise(Of(user)) && Elements(user) == Elements(i));
    });
    if (!by_all) return false;
    const bool is_shared =
        std::ranges::any_of(users_[i], [&](int32_t user) { return states_[user] != State::kMember; });
    return !is_shared || FunctionsBehind(i) <= kMaxFunctionsAgain;
  }
  // Functions of one element among i and the elementwise instructions that make its operands.
  int FunctionsBehind(int32_t i) const {
    int functions = 0;
    std::vector<int32_t> open = {i};
    std::set<int32_t> seen;
    while (!open.empty() && functions <= kMaxFunctionsAgain) {
      const int32_t at = open.back();
      open.pop_back();
      if (!seen.insert(at).second || states_[at] == State::kOther || !IsElementwise(Of(at))) continue;
      functions += DefinitionOf(Of(at).opcode).work({computation_, Of(at)}).functions > 0;
      open.insert(open.end(), Of(at).operands.begin(), Of(at).operands.end());
    }
    return functions;
  }

  // ---- growth ----

  // Goes from the root to what stands before it: when a candidate's turn comes,
  // all its users have had theirs. Members have `size` elements.
  Fusion Grow(int32_t root, int64_t size) {
    Fusion fusion{{root}, {}};
    states_[root] = State::kMember;
    size_ = size;
    std::set<std::pair<int32_t, int32_t>>
        pending;               // position, instruction: each once, however often it is read
    size_t large_pending = 0;  // that may be arrays to read
    const auto push_operands = [&](int32_t member) {
      for (int32_t operand : Of(member).operands)
        large_pending += pending.insert({positions_[operand], operand}).second && IsLarge(operand);
    };
    push_operands(root);
    std::vector<int32_t> recomputed, large;  // of the operands
    const auto add_operand = [&](int32_t i) {
      fusion.operands.push_back(i);
      if (Elements(i) > 1 && std::find(large.begin(), large.end(), i) == large.end()) large.push_back(i);
    };
    while (!pending.empty()) {
      const int32_t i = std::prev(pending.end())->second;
      pending.erase(std::prev(pending.end()));
      large_pending -= IsLarge(i);
      if (!Joins(i, root, fusion, large.size() + large_pending)) {
        add_operand(i);
        continue;
      }
      fusion.members.push_back(i);
      if (movements_[i] == Movement::kRecomputed) {
        recomputed.push_back(i);
        states_[i] = State::kMember;
        for (int32_t operand : Of(i).operands) add_operand(operand);
      } else {
        states_[i] = State::kMember;
        push_operands(i);
      }
    }
    for (int32_t member : fusion.members) states_[member] = State::kTaken;
    for (int32_t member : recomputed) states_[member] = State::kFree;
    std::sort(fusion.members.begin(), fusion.members.end(),
              [&](int32_t a, int32_t b) { return positions_[a] < positions_[b]; });
    std::sort(fusion.operands.begin(), fusion.operands.end());
    fusion.operands.erase(std::unique(fusion.operands.begin(), fusion.operands.end()), fusion.operands.end());
    return fusion;
  }

  // An array of more than one element, or what reads one: no iota or broadcast of a number.
  bool IsLarge(int32_t i) const {
    if (!Of(i).shape->IsArray()) return true;
    if (movements_[i] != Movement::kRecomputed) return Elements(i) > 1;
    return !Of(i).operands.empty() && Elements(Of(i).operands[0]) > 1;
  }

  // `read`: large arrays that the fusion reads without it, or may.
  bool Joins(int32_t i, int32_t root, const Fusion& fusion, size_t read) const {
    if (states_[i] != State::kFree || positions_[i] < 0 || Elements(i) != size_) return false;
    if (!apart_.empty() && apart_[i] && !apart_[root]) return false;
    if (fusion.members.size() >= kMaxMembers) return false;
    const auto adds = std::count_if(Of(i).operands.begin(), Of(i).operands.end(),
                                    [&](int32_t operand) { return IsLarge(operand); });
    if (read + static_cast<size_t>(adds) > kMaxOperands) return false;
    if (movements_[i] == Movement::kRecomputed) {
      const bool reads_much =
          !Of(i).operands.empty() && Elements(Of(i).operands[0]) >= Of(i).shape->num_elements();
      return !reads_much || LeavesMovedAlone(i, root);
    }
    if (i == computation_.root) return false;
    if (reduces_[root]) return IsMadeAgain(i) && KeepsOperandsIntact(i, root);
    return std::all_of(users_[i].begin(), users_[i].end(),
                       [&](int32_t user) { return states_[user] == State::kMember; }) &&
           KeepsOperandsIntact(i, root);
  }

  // Nobody but members uses a large operand of i between i and the root.
  bool KeepsOperandsIntact(int32_t i, int32_t root) const {
    for (int32_t operand : Of(i).operands) {
      const Shape& shape = *Of(operand).shape;
      if (!shape.IsArray() || shape.num_elements() == 1 || shape.num_elements() < size_) continue;
      const auto& users = users_[operand];
      auto user = std::upper_bound(users.begin(), users.end(), positions_[i],
                                   [&](int32_t position, int32_t u) { return position < positions_[u]; });
      for (; user != users.end() && positions_[*user] < positions_[root]; ++user) {
        if (states_[*user] != State::kMember && !reduces_[*user]) return false;
      }
    }
    return true;
  }

  // Nobody who might overwrite what the slice or transpose i reads uses it between i and the root.
  bool LeavesMovedAlone(int32_t i, int32_t root) const {
    const auto& users = users_[Of(i).operands[0]];
    return std::all_of(users.begin(), users.end(), [&](int32_t user) {
      return positions_[user] <= positions_[i] || positions_[user] >= positions_[root] ||
             states_[user] == State::kMember || DefinitionOf(Of(user).opcode).never_in_place;
    });
  }

  const Module& module_;
  const Computation& computation_;
  const std::span<const int32_t> order_;
  const Engine& engine_;
  const std::vector<bool>& apart_;
  const std::vector<bool>& taken_;
  std::vector<int32_t> positions_;                      // in order_; -1: not there (a parameter)
  std::vector<absl::InlinedVector<int32_t, 2>> users_;  // of order_, in order
  std::vector<State> states_;
  std::vector<Movement> movements_;  // of order_
  std::vector<bool> reduces_;        // by instruction: the root of a reduction
  int64_t size_ = 0;                 // elements of the members of the fusion that grows
};

}  // namespace

Movement MovementOf(const Computation& computation, const Instruction& instruction) {
  const OpDef& definition = DefinitionOf(instruction.opcode);
  if (definition.from_index) return Movement::kRecomputed;
  if (definition.source == nullptr) return Movement::kNone;
  const InstructionView view{computation, instruction};
  if (!view.operand(0).IsArray() || view.operand(0).HasUnbounded() || view.result().HasUnbounded())
    return Movement::kNone;
  const std::optional<AffineMap> source = definition.source(view);
  if (!source.has_value()) return Movement::kNone;
  const int64_t read = view.operand(0).num_elements(), made = view.result().num_elements();
  if (read == made) {
    const int64_t run = RunOf(*source, view.result());
    if (run == made) return Movement::kKeepsPositions;
    return run * Bytes(view.result().element_type()) >= kLeastMoved ? Movement::kRecomputed : Movement::kNone;
  }
  const bool repeats = std::find(source->strides.begin(), source->strides.end(), 0) != source->strides.end();
  return repeats || (read - 1) / kMaxSliced < made ? Movement::kRecomputed : Movement::kNone;
}

std::vector<Fusion> FindFusions(const Module& module, const Computation& computation,
                                std::span<const int32_t> order, const Engine& engine,
                                const std::vector<bool>& apart, const std::vector<bool>& taken) {
  return Finder(module, computation, order, engine, apart, taken).Run();
}

}  // namespace assay
