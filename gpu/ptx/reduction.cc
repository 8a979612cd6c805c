#include "gpu/ptx/reduction.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/counted.h"
#include "base/hash_map.h"
#include "evaluator/registry.h"
#include "evaluator/static_shape.h"
#include "fmt/format.h"
#include "gpu/ptx/body.h"
#include "gpu/ptx/lanes.h"
#include "gpu/ptx/reduction_terms.h"

namespace assay::gpu {
namespace {

constexpr uint32_t kReductionThreads = 256;
constexpr int64_t kMostBlocks = (int64_t{1} << 31) - 1;

constexpr int64_t kOpenList = 0, kOpenRoom = 8, kOpenCounter = 16, kOutputs = 24;  // words of the argument

class ReductionBuilder {
 public:
  ReductionBuilder(const FusionView& step, const ReductionPlan& plan, bool of_parts, int at_once,
                   bool approximate)
      : step_(step),
        plan_(plan),
        of_parts_(of_parts),
        at_once_(at_once),
        num_reduced_(step.root().operands.size() / 2),
        operands_at_(kOutputs + 16 * static_cast<int64_t>(num_reduced_)),
        members_(of_parts ? std::span<const int32_t>() : step.members.first(step.members.size() - 1)),
        body_(writer_, step, members_, ShapeOf(step.root().operands[0]), operands_at_, approximate),
        elements_(body_.elements()) {}

  absl::StatusOr<ReductionKernel> Run() {
    kernel_.num_reduced = num_reduced_;
    kernel_.num_operands = of_parts_ ? num_reduced_ : step_.operands.size();
    kernel_.threads = plan_.results() * plan_.parts() * plan_.group;
    kernel_.terms_of_thread = (plan_.chunk + plan_.group - 1) / plan_.group;
    if (static_cast<int64_t>(members_.size()) > FusionBody::kMaxMembers)
      return NotSupported({}, fmt::format("{}", Counted(members_.size(), "instruction")));
    Start();
    if (plan_.order == ReductionOrder::kSum) {
      ASSAY_RETURN_IF_ERROR(AddSum());
    } else {
      ASSAY_RETURN_IF_ERROR(AddFold());
    }
    writer_.Return();
    kernel_.text =
        writer_.Finish(ReductionKernel::kName, operands_at_ + 8 * static_cast<int64_t>(kernel_.num_operands));
    return std::move(kernel_);
  }
  int64_t body_instructions() const { return writer_.body_instructions(); }

 private:
  using Special = PtxWriter::Special;

  const Shape& ShapeOf(int32_t i) const {
    return *step_.computation.instructions[static_cast<size_t>(i)].shape;
  }
  ElementType TypeOf(size_t k) const { return ShapeOf(step_.root().operands[k]).element_type(); }
  Register Constant(int64_t value) { return writer_.Constant64(static_cast<uint64_t>(value)); }
  Register Least(Register a, Register b) { return writer_.Choose64(a, b, writer_.LtU64(a, b)); }

  // ---- what a thread has ----

  // next_: the position of its first element, or of the first of its group's where lanes have neighbours;
  // end_: beyond its last, or 0; step_by_: from one to the next. place_: of its part in the output.
  void Start() {
    Register unit = GlobalThread();
    Register lane = Constant(0);
    if (plan_.group > 1) {
      const auto log2 = static_cast<uint32_t>(std::countr_zero(static_cast<uint32_t>(plan_.group)));
      lane_ = writer_.And32(writer_.Read(Special::kThread),
                            writer_.Constant32(static_cast<uint32_t>(plan_.group - 1)));
      lane = writer_.ExtendU32(lane_);
      unit = writer_.ShrU64(unit, writer_.Constant32(log2));
      SetMembers();
    }
    // Groups of lanes have parts of a result side by side, threads have results.
    const int64_t parts = plan_.parts(), results = plan_.results();
    const bool by_parts = plan_.inner == 1;
    const auto [high, low] = Divided(unit, by_parts ? parts : results);
    const Register result = by_parts ? high : low, part = by_parts ? low : high;
    const auto [row, column] = Divided(result, plan_.inner);
    const Register begin = writer_.Mul64(part, Constant(plan_.chunk));
    const Register stop = Least(writer_.Add64(begin, Constant(plan_.chunk)), Constant(plan_.length));
    const Register first = writer_.Mul64(row, Constant(plan_.length));
    const auto position = [&](Register at) {
      return writer_.Add64(writer_.Mul64(writer_.Add64(first, at), Constant(plan_.inner)), column);
    };
    is_first_of_group_ = writer_.LtU64(unit, Constant(results * parts));
    end_ = writer_.Choose64(position(stop), Constant(0), is_first_of_group_);
    const bool is_ordered = plan_.order == ReductionOrder::kOwn && plan_.group > 1;
    next_ = writer_.Copy(is_ordered ? position(begin) : writer_.Add64(position(begin), lane));
    step_by_ = Constant(plan_.inner == 1 ? plan_.group : plan_.inner);
    place_ = writer_.Add64(writer_.Mul64(result, Constant(parts)), part);
    if (plan_.group > 1) {
      is_first_of_group_ = writer_.AndPred(is_first_of_group_, writer_.Eq32(lane_, writer_.Constant32(0)));
    }
  }

  Register GlobalThread() {
    const Register before =
        writer_.MulWideU32(writer_.Read(Special::kBlock), writer_.Read(Special::kThreads));
    return writer_.Add64(before, writer_.ExtendU32(writer_.Read(Special::kThread)));
  }
  // Quotient and remainder of a number below that of all threads.
  std::pair<Register, Register> Divided(Register value, int64_t by) {
    if (by == 1) return {value, Constant(0)};
    if (kernel_.threads + kReductionThreads < int64_t{1} << 32) {
      const Register narrow = writer_.Low32(value), divisor = writer_.Constant32(static_cast<uint32_t>(by));
      const Register of_32 = writer_.DivU32(narrow, divisor);
      const Register rest = writer_.Sub32(narrow, writer_.Mul32(of_32, divisor));
      return {writer_.ExtendU32(of_32), writer_.ExtendU32(rest)};
    }
    const Register quotient = writer_.DivU64(value, Constant(by));
    return {quotient, writer_.Sub64(value, writer_.Mul64(quotient, Constant(by)))};
  }
  void SetMembers() {
    if (plan_.group == 32) {
      lanes_.members = writer_.Constant32(~uint32_t{0});
      return;
    }
    const uint32_t mask = static_cast<uint32_t>(plan_.group) - 1;
    const Register first = writer_.And32(writer_.Read(Special::kThread), writer_.Constant32(31 & ~mask));
    lanes_.members = writer_.Shl32(writer_.Constant32((uint32_t{1} << plan_.group) - 1), first);
  }

  // The reduce's operands' elements at a position.
  absl::StatusOr<std::vector<Element>> ElementsAt(Register position) {
    std::vector<Element> elements;
    if (!of_parts_) ASSAY_RETURN_IF_ERROR(body_.Make(position));
    for (size_t k = 0; k < num_reduced_; ++k) {
      if (of_parts_) {
        const Register base = body_.InPrologue(operands_at_ + 8 * static_cast<int64_t>(k));
        elements.push_back(elements_.Load(TypeOf(k), elements_.AddressOf(TypeOf(k), base, position)));
        continue;
      }
      ASSAY_ASSIGN_OR_RETURN(Element* const element, body_.ValueOf(step_.root().operands[k]));
      elements.push_back(*element);
    }
    return elements;
  }

  void NoteOpen(Register open, Register position) {
    if (!open.known()) return;
    kernel_.may_leave_open = true;
    body_.NoteOpen(open, position, {.list = kOpenList, .room = kOpenRoom, .count = kOpenCounter});
  }

  // ---- loops over a thread's own elements ----

  // As long as there are `count` of them: `combine` gets each, and whether it is open.
  template <typename Combine>
  absl::Status AddLoop(int count, const Combine& combine) {
    const Label again = writer_.NewLabel(), done = writer_.NewLabel();
    writer_.Place(again);
    std::vector<Register> positions = {next_};
    while (static_cast<int>(positions.size()) < count)
      positions.push_back(writer_.Add64(positions.back(), step_by_));
    writer_.BranchIf(writer_.GeU64(positions.back(), end_), done);
    std::vector<std::pair<std::vector<Element>, Register>> made;
    for (const Register position : positions) {
      ASSAY_ASSIGN_OR_RETURN(std::vector<Element> elements, ElementsAt(position));
      made.emplace_back(std::move(elements), body_.open());
    }
    for (auto& [elements, open] : made) ASSAY_RETURN_IF_ERROR(combine(elements, open));
    for (size_t i = 0; i < made.size(); ++i) NoteOpen(made[i].second, positions[i]);
    writer_.Assign(next_, writer_.Add64(positions.back(), step_by_));
    writer_.Branch(again);
    writer_.Place(done);
    return absl::OkStatus();
  }
  template <typename Combine>
  absl::Status AddLoops(const Combine& combine) {
    if (at_once_ > 1) ASSAY_RETURN_IF_ERROR(AddLoop(at_once_, combine));
    return AddLoop(1, combine);
  }

  absl::Status AddSum() {
    SumTerms sum(writer_, elements_);
    ASSAY_RETURN_IF_ERROR(AddLoops([&](std::vector<Element>& elements, Register open) {
      sum.Add(elements[0], open);
      return absl::OkStatus();
    }));
    for (int mask = plan_.group / 2; mask != 0; mask /= 2) sum.AddLane(lanes_, static_cast<uint32_t>(mask));
    const Label over = writer_.NewLabel();
    writer_.BranchUnless(is_first_of_group_, over);
    const Register at =
        writer_.Add64(body_.InPrologue(kOutputs), writer_.Mul64(place_, Constant(SumTerms::kBytes)));
    sum.Store(at);
    writer_.Place(over);
    return absl::OkStatus();
  }

  // ---- folds ----

  absl::StatusOr<std::vector<Element>> Reduced(std::vector<Element>& lhs, std::vector<Element>& rhs) {
    return EmitReducer(writer_, elements_, step_.module, *step_.root().attributes.Computation(Attr::kToApply),
                       lhs, rhs);
  }

  void Assign(std::vector<Element>& to, std::vector<Element>& from) {
    for (size_t k = 0; k < to.size(); ++k) writer_.Assign(to[k].pattern, elements_.Pattern(from[k]));
  }
  // The same registers, without what was made of their former contents.
  std::vector<Element> Now(const std::vector<Element>& changing) {
    std::vector<Element> now;
    for (const Element& element : changing) now.push_back(elements_.OfPattern(element.type, element.pattern));
    return now;
  }
  std::vector<Element> Chosen(Register predicate, std::vector<Element>& a, std::vector<Element>& b) {
    std::vector<Element> chosen;
    for (size_t k = 0; k < a.size(); ++k) {
      chosen.push_back(elements_.OfPattern(
          a[k].type, elements_.Choose(predicate, elements_.Pattern(a[k]), elements_.Pattern(b[k]))));
    }
    return chosen;
  }

  absl::Status AddFold() {
    if (plan_.order == ReductionOrder::kAny) {
      ASSAY_RETURN_IF_ERROR(AddFoldInAnyOrder());
    } else if (plan_.group == 1) {
      ASSAY_RETURN_IF_ERROR(AddFoldOfThread());
    } else {
      ASSAY_RETURN_IF_ERROR(AddFoldOfNeighbours());
    }
    const Label over = writer_.NewLabel();
    writer_.BranchUnless(is_first_of_group_, over);
    std::vector<Element> result = Now(folded_);
    if (plan_.parts() == 1) {
      std::vector<Element> init;
      for (size_t k = 0; k < num_reduced_; ++k)
        init.push_back(elements_.Load(
            TypeOf(k), body_.InPrologue(kOutputs + 8 * static_cast<int64_t>(num_reduced_ + k))));
      ASSAY_ASSIGN_OR_RETURN(result, Reduced(init, result));
    }
    for (size_t k = 0; k < num_reduced_; ++k) {
      const Register base = body_.InPrologue(kOutputs + 8 * static_cast<int64_t>(k));
      elements_.Store(result[k], elements_.AddressOf(TypeOf(k), base, place_));
    }
    writer_.Place(over);
    return absl::OkStatus();
  }

  // Lanes may have no elements.
  absl::Status AddFoldInAnyOrder() {
    ASSAY_RETURN_IF_ERROR(AddFoldOfThread());
    for (int mask = plan_.group / 2; mask != 0; mask /= 2) {
      std::vector<Element> own = Now(folded_), other = Shuffled(own, static_cast<uint32_t>(mask));
      const Register other_has = lanes_.Xor(writer_, has_any_, static_cast<uint32_t>(mask));
      ASSAY_ASSIGN_OR_RETURN(std::vector<Element> both, Reduced(own, other));
      both = Chosen(has_any_, both, other);
      both = Chosen(other_has, both, own);
      Assign(folded_, both);
      writer_.Assign(has_any_, writer_.OrPred(has_any_, other_has));
    }
    return absl::OkStatus();
  }
  absl::Status Fold(std::vector<Element>& elements) {
    std::vector<Element> before = Now(folded_);
    ASSAY_ASSIGN_OR_RETURN(std::vector<Element> both, Reduced(before, elements));
    both = Chosen(has_any_, both, elements);
    Assign(folded_, both);
    writer_.Assign(has_any_, writer_.NotPred(writer_.False()));
    return absl::OkStatus();
  }
  // What is folded so far, in registers that change: nothing yet.
  void StartFold() {
    for (size_t k = 0; k < num_reduced_; ++k) {
      const ElementType type = TypeOf(k);
      const Register nothing = type == ElementType::kPred    ? writer_.False()
                               : WidthOf(type) == Width::k64 ? writer_.Constant64(0)
                                                             : writer_.Constant32(0);
      folded_.push_back(elements_.OfPattern(type, writer_.Copy(nothing)));
    }
    has_any_ = writer_.Copy(writer_.False());
  }

  absl::Status AddFoldOfThread() {
    StartFold();
    return AddLoops([&](std::vector<Element>& elements, Register) { return Fold(elements); });
  }

  std::vector<Element> Shuffled(std::vector<Element>& own, uint32_t mask) {
    std::vector<Element> other;
    for (Element& element : own)
      other.push_back(
          elements_.OfPattern(element.type, lanes_.Xor(writer_, elements_.Pattern(element), mask)));
    return other;
  }

  // Lanes have at_once neighbouring elements each of as many as the group has at a time. All lanes of a group
  // make the same turns; where a lane has no elements, none above it has.
  absl::Status AddFoldOfNeighbours() {
    StartFold();
    const Label again = writer_.NewLabel(), done = writer_.NewLabel();
    writer_.Place(again);
    writer_.BranchIf(writer_.GeU64(next_, end_), done);
    Register position = writer_.Add64(next_, writer_.Mul64(writer_.ExtendU32(lane_), Constant(at_once_)));
    std::vector<Element> tile;
    Register has_tile;
    std::vector<std::pair<Register, Register>> open;
    for (int j = 0; j < at_once_; ++j) {
      if (j > 0) position = writer_.Add64(position, Constant(1));
      const Register valid = writer_.LtU64(position, end_);
      ASSAY_ASSIGN_OR_RETURN(std::vector<Element> elements,
                             ElementsAt(writer_.Choose64(position, next_, valid)));
      if (body_.open().known()) open.emplace_back(writer_.AndPred(body_.open(), valid), position);
      if (j == 0) {
        tile = std::move(elements);
        has_tile = valid;
        continue;
      }
      ASSAY_ASSIGN_OR_RETURN(std::vector<Element> both, Reduced(tile, elements));
      tile = Chosen(valid, both, tile);
    }
    for (const auto& [is_open, at] : open) NoteOpen(is_open, at);
    for (uint32_t mask = 1; mask < static_cast<uint32_t>(plan_.group); mask *= 2)
      ASSAY_RETURN_IF_ERROR(AddNeighbour(mask, tile, has_tile));
    ASSAY_RETURN_IF_ERROR(Fold(tile));
    writer_.Assign(next_, writer_.Add64(next_, Constant(int64_t{plan_.group} * at_once_)));
    writer_.Branch(again);
    writer_.Place(done);
    return absl::OkStatus();
  }
  absl::Status AddNeighbour(uint32_t mask, std::vector<Element>& tile, Register& has_tile) {
    const Register is_upper =
        writer_.Ne32(writer_.And32(lane_, writer_.Constant32(mask)), writer_.Constant32(0));
    std::vector<Element> other = Shuffled(tile, mask);
    const Register other_has = lanes_.Xor(writer_, has_tile, mask);
    std::vector<Element> lhs = Chosen(is_upper, other, tile), rhs = Chosen(is_upper, tile, other);
    ASSAY_ASSIGN_OR_RETURN(std::vector<Element> both, Reduced(lhs, rhs));
    tile = Chosen(elements_.Choose(is_upper, has_tile, other_has), both, lhs);
    has_tile = elements_.Choose(is_upper, other_has, has_tile);
    return absl::OkStatus();
  }

  const FusionView& step_;
  const ReductionPlan plan_;
  const bool of_parts_;
  const int at_once_;
  const size_t num_reduced_;
  const int64_t operands_at_;
  const std::span<const int32_t> members_;
  PtxWriter writer_;
  FusionBody body_;
  Elements& elements_;
  ReductionKernel kernel_;
  LaneShuffle lanes_;
  Register lane_, next_, end_, step_by_, place_, is_first_of_group_;
  // Of folds: the elements, and whether there are any yet.
  std::vector<Element> folded_;
  Register has_any_;
};

absl::StatusOr<ReductionKernel> MakeKernel(const FusionView& step, const ReductionPlan& plan, bool of_parts,
                                           bool approximate) {
  ReductionBuilder one(step, plan, of_parts, 1, approximate);
  absl::StatusOr<ReductionKernel> kernel = one.Run();
  if (approximate && kernel.ok()) {
    if (kernel->may_leave_open) return MakeKernel(step, plan, of_parts, false);
    kernel->is_approximate = true;
  }
  const int at_once = ElementsAtOnce(one.body_instructions());
  if (!kernel.ok() || at_once == 1 || plan.chunk < at_once * plan.group) return kernel;
  kernel = ReductionBuilder(step, plan, of_parts, at_once, approximate).Run();
  if (kernel.ok()) kernel->is_approximate = approximate;
  return kernel;
}

}  // namespace

std::vector<std::byte> ReductionKernel::Argument(const ReductionArgument& argument) const {
  ASSAY_CHECK(argument.outputs.size() == num_reduced && argument.inits.size() == num_reduced);
  ASSAY_CHECK(argument.operands.size() == num_operands);
  std::vector<uint64_t> words = {argument.open, argument.open_room, argument.open_count};
  words.insert(words.end(), argument.outputs.begin(), argument.outputs.end());
  words.insert(words.end(), argument.inits.begin(), argument.inits.end());
  words.insert(words.end(), argument.operands.begin(), argument.operands.end());
  const std::span<const std::byte> bytes = std::as_bytes(std::span(words));
  return {bytes.begin(), bytes.end()};
}

LaunchShape ReductionKernel::Shape() const {
  const int64_t blocks = (threads + kReductionThreads - 1) / kReductionThreads;
  return {.blocks = {static_cast<uint32_t>(blocks), 1, 1}, .threads = {kReductionThreads, 1, 1}};
}

std::optional<ReductionPlan> ReductionPlanOf(const StepView& reduce, int multiprocessors) {
  constexpr int64_t kThreadsOfMultiprocessor = 2048, kLeastOfLane = 8, kLeastOfPart = 64;
  const std::span<const int64_t> dimensions = reduce.instruction.attributes.List(Attr::kDimensions);
  const Shape& operand = reduce.operand_shape(0);
  ReductionPlan plan;
  // Before, between and behind the reduced dimensions; those of size 1 are anywhere.
  int where = 0;
  for (int64_t d = 0; d < operand.rank(); ++d) {
    if (operand.size(d) == 1) continue;
    const bool goes = std::find(dimensions.begin(), dimensions.end(), d) != dimensions.end();
    if (goes && where == 2) return std::nullopt;
    if (goes && where == 0) where = 1;
    if (!goes && where == 1) where = 2;
    (where == 0 ? plan.outer : where == 1 ? plan.length : plan.inner) *= operand.size(d);
  }
  if (operand.num_elements() == 0) return std::nullopt;
  if (plan.length == 1 && plan.inner == 1) std::swap(plan.outer, plan.inner);
  const int64_t threads = kThreadsOfMultiprocessor * std::max(1, multiprocessors);
  if (plan.inner == 1) {
    while (plan.group < 32 && plan.group * kLeastOfLane <= plan.length) plan.group *= 2;
  }
  const int64_t least = plan.inner == 1 ? plan.group * kLeastOfLane : kLeastOfPart;
  const int64_t wanted = threads / std::max<int64_t>(1, plan.results() * plan.group);
  const int64_t parts = std::clamp<int64_t>(std::min(wanted, plan.length / least), 1, plan.length);
  plan.chunk = (plan.length + parts - 1) / parts;
  const int64_t all_threads = plan.results() * plan.parts() * plan.group;
  if (plan.results() > kMostBlocks || all_threads > kMostBlocks * kReductionThreads) return std::nullopt;
  return plan;
}

absl::StatusOr<ReductionKernel> MakeReductionPtx(const FusionView& step, const ReductionPlan& plan,
                                                 bool approximate) {
  return MakeKernel(step, plan, false, approximate);
}
absl::StatusOr<ReductionKernel> MakePartsPtx(const FusionView& step, const ReductionPlan& plan) {
  return MakeKernel(step, plan, true, false);
}

}  // namespace assay::gpu
