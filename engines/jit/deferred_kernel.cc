#include "engines/jit/deferred_kernel.h"

#include <algorithm>
#include <utility>

#include "base/checked.h"
#include "engines/codegen/tiered_code.h"
#include "engines/jit/kernel.h"
#include "engines/jit/stages.h"
#include "engines/native/native_engine.h"
#include "evaluator/eval_context.h"
#include "plan/fusion.h"

namespace assay::jit {
namespace {

// Counts of elements: what an instruction costs besides those that it has,
// and what code must save to be worth making.
constexpr int64_t kEachInstruction = 200;
constexpr int64_t kCode = 1 << 15;

class DeferredKernel final : public Kernel {
 public:
  DeferredKernel(const FusionView& fusion, Isa isa)
      : module_(fusion.module),
        computation_(fusion.computation),
        isa_(isa),
        in_loop_(fusion.in_loop),
        indices_(fusion.members.begin(), fusion.members.end()),
        operands_(fusion.operands.begin(), fusion.operands.end()),
        code_(kCode, [this] { return MakeCode(); }) {
    for (int32_t index : indices_) members_.push_back(MemberOf(index));
    std::vector<bool> read(operands_.size() + members_.size(), false);
    for (auto member = members_.rbegin(); member != members_.rend(); ++member) {
      for (size_t k = member->reads.size(); k-- > 0;) {
        member->last[k] = !read[member->reads[k]];
        read[member->reads[k]] = true;
      }
    }
    for (const Member& member : members_) {
      const int64_t bytes = member.instruction->shape->num_bytes();
      bytes_of_members_ = CheckedAdd(bytes_of_members_, bytes).value_or(INT64_MAX);
    }
    const int64_t each = fusion.root().shape->num_elements() + kEachInstruction;
    work_ = each * static_cast<int64_t>(members_.size());
  }

  bool has_all_members() const {
    return std::all_of(members_.begin(), members_.end(),
                       [](const Member& member) { return member.kernel != nullptr; });
  }

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    // Members leave arrays between them and code leaves none: where those would pass the limit,
    // code pays at once.
    if (!HasRoomForMembers(*context.run().budget())) code_.Count(kCode);
    if (const auto* const code = code_.Get()) return (*code)->Run(context, operands);
    code_.Count(work_);
    return RunMembers(context, operands);
  }

 private:
  struct Member {
    const Instruction* instruction;
    std::shared_ptr<const Kernel> kernel;
    absl::InlinedVector<int, 3> reads;  // among the operands and then the members
    absl::InlinedVector<bool, 3> last;
  };

  bool HasRoomForMembers(const MemoryBudget& budget) const {
    return CheckedAdd(budget.live(), bytes_of_members_).value_or(INT64_MAX) <= budget.limit();
  }

  int PlaceOf(int32_t index) const {
    const auto operand = std::find(operands_.begin(), operands_.end(), index);
    if (operand != operands_.end()) return static_cast<int>(operand - operands_.begin());
    const auto member = std::find(indices_.begin(), indices_.end(), index);
    return static_cast<int>(operands_.size() + (member - indices_.begin()));
  }

  Member MemberOf(int32_t index) const {
    const Instruction& instruction = computation_.instructions[index];
    Member member{.instruction = &instruction};
    absl::StatusOr<std::shared_ptr<const Kernel>> kernel = native::NativeEngine(isa_).Prepare(
        {module_, computation_, {&index, 1}, instruction.operands, in_loop_});
    if (kernel.ok()) member.kernel = *std::move(kernel);
    for (int32_t operand : instruction.operands) member.reads.push_back(PlaceOf(operand));
    member.last.resize(member.reads.size());
    return member;
  }

  absl::StatusOr<Literal> RunMembers(EvalContext& context, std::span<Literal> operands) const {
    absl::InlinedVector<Literal, 16> values(std::make_move_iterator(operands.begin()),
                                            std::make_move_iterator(operands.end()));
    values.resize(operands.size() + members_.size());
    for (size_t m = 0; m < members_.size(); ++m) {
      const Member& member = members_[m];
      absl::InlinedVector<Literal, 3> taken;
      for (size_t k = 0; k < member.reads.size(); ++k) {
        Literal& value = values[member.reads[k]];
        taken.push_back(member.last[k] ? std::move(value) : value);
      }
      EvalContext of_member(context, *member.instruction);
      const std::span<Literal> given(taken.data(), taken.size());
      absl::StatusOr<Literal> result = member.kernel->Run(of_member, given);
      // Nothing that a run alone shows keeps native from an elementwise op or a move of static sizes. The
      // operands would be gone by now, which a fallback must not do.
      ASSAY_CHECK(!IsFallback(result.status()));
      ASSAY_ASSIGN_OR_RETURN(values[operands.size() + m], std::move(result));
    }
    return std::move(values.back());
  }

  absl::StatusOr<std::shared_ptr<const Kernel>> MakeCode() const {
    ASSAY_ASSIGN_OR_RETURN(Stages stages,
                           MakeStages({module_, computation_, indices_, operands_, in_loop_}, isa_));
    return MakeKernel(std::move(stages));
  }

  const Module& module_;
  const Computation& computation_;
  const Isa isa_;
  const bool in_loop_;
  const std::vector<int32_t> indices_, operands_;
  std::vector<Member> members_;
  int64_t work_ = 0;  // of a run, in elements
  int64_t bytes_of_members_ = 0;
  const codegen::TieredCode<std::shared_ptr<const Kernel>> code_;
};

}  // namespace

std::shared_ptr<const Kernel> MakeLateKernel(const FusionView& fusion, Isa isa) {
  auto kernel = std::make_shared<DeferredKernel>(fusion, isa);
  if (!kernel->has_all_members()) return nullptr;
  return kernel;
}

}  // namespace assay::jit
