#include "check/module_audit.h"

#include <utility>

#include "evaluator/audits/rules.h"
#include "evaluator/eval_context.h"
#include "evaluator/registry.h"
#include "plan/live.h"

namespace assay {
namespace {

constexpr uint32_t BitOf(AuditPoint point) { return uint32_t{1} << static_cast<int>(point); }

constexpr uint32_t kSeenByCaller =
    BitOf(AuditPoint::kNanInExtreme) | BitOf(AuditPoint::kNanInCompare) | BitOf(AuditPoint::kSubnormals);

// What a rule tells of one instruction.
struct PointRecord {
  bool always = false;
  std::string note;
  bool saw = false;
  Dependence dependence;
  std::vector<int64_t> elements;  // of the result
};

class InstructionAudit final : public AuditContext {
 public:
  InstructionAudit(const ModuleAudit& audit, const InstructionView& view) : audit_(audit), view_(view) {}
  InstructionAudit(const ModuleAudit& audit, const InstructionView& view, EvalContext& run,
                   std::span<const Literal> operands, const Literal& result)
      : audit_(audit), view_(view), run_(&run), operands_(operands), result_(&result) {}

  absl::Status Read() {
    DefinitionOf(view_.instruction.opcode).audit(*this);
    return status_;
  }
  const std::map<AuditPoint, PointRecord>& told() const { return told_; }

  const InstructionView& view() const override { return view_; }
  const Module& module() const override { return audit_.module(); }
  EvalContext* run() override { return run_; }
  const Literal* Operand(size_t k) override {
    if (run_ != nullptr) return &operands_[k];
    const Instruction& operand =
        view_.computation.instructions[static_cast<size_t>(view_.instruction.operands[k])];
    return operand.opcode == Opcode::kConstant ? operand.literal.get() : nullptr;
  }
  const Literal* Result() override { return result_; }
  IntegerRange Range(size_t k) override {
    return audit::RangeOf(view_.computation, view_.instruction.operands[k]);
  }
  bool MayMeet(ComputationId id, AuditPoint point) override { return audit_.MayMeet(id, point); }

  void Always(AuditPoint point, std::string_view note) override {
    if (run_ != nullptr) return;
    PointRecord& told = told_[point];
    told.always = true;
    told.note = note;
  }
  void RecordPossible(AuditPoint point, std::string_view note) override {
    if (run_ != nullptr) return;
    PointRecord& told = told_[point];
    if (!told.always) told.note = note;
  }
  void RecordFound(AuditPoint point, const Dependence& dependence) override {
    if (run_ == nullptr) {
      if (dependence.count > 0) Always(point, dependence.first);
      return;
    }
    PointRecord& told = told_[point];
    told.saw = true;
    if (told.dependence.count == 0) told.dependence.first = dependence.first;
    told.dependence.count += dependence.count;
    told.dependence.of += dependence.of;
  }
  void RecordElement(AuditPoint point, const Literal& array, int64_t position) override {
    if (run_ == nullptr) return;
    // An elementwise operation's result has the indices of its operands.
    const bool is_of_result =
        &array == result_ || (DefinitionOf(view_.instruction.opcode).strip != nullptr &&
                              array.shape().sizes().size() == result_->shape().sizes().size());
    if (is_of_result) told_[point].elements.push_back(position);
  }
  void Fail(absl::Status status) override {
    if (status_.ok()) status_ = std::move(status);
  }

 private:
  const ModuleAudit& audit_;
  const InstructionView view_;
  EvalContext* run_ = nullptr;
  std::span<const Literal> operands_;
  const Literal* result_ = nullptr;
  std::map<AuditPoint, PointRecord> told_;
  absl::Status status_;
};

}  // namespace

ModuleAudit::ModuleAudit(const Module& module, bool keeps_elements)
    : module_(module), keeps_elements_(keeps_elements), live_(LiveInstructions(module)) {
  FindReached();
  ReadText();
}

void ModuleAudit::FindReached() {
  const size_t n = module_.computations.size();
  runs_.assign(n, false);
  is_applied_.assign(n, false);
  runs_[static_cast<size_t>(module_.entry.value)] = true;
  for (size_t c = n; c-- > 0;) {  // callers stand behind callees
    if (!runs_[c] && !is_applied_[c]) continue;
    const std::vector<Instruction>& instructions = module_.computations[c].instructions;
    for (size_t i = 0; i < instructions.size(); ++i) {
      if (!live_[c][i]) continue;
      const OpDef& op = DefinitionOf(instructions[i].opcode);
      const bool as_steps = runs_[c] && (op.runs_steps || op.arguments == Arguments::kElements);
      for (const ComputationId id : CalledComputations(instructions[i]))
        (as_steps ? runs_ : is_applied_)[static_cast<size_t>(id.value)] = true;
    }
  }
}

void ModuleAudit::ReadText() {
  for (size_t c = 0; c < module_.computations.size(); ++c) {
    points_.push_back(0);
    const Computation& computation = module_.computations[c];
    for (size_t i = 0; i < computation.instructions.size(); ++i) {
      if (!live_[c][i]) continue;
      const Instruction& instruction = computation.instructions[i];
      InstructionAudit audit(*this, {computation, instruction});
      // The text alone makes no errors.
      audit.Read().IgnoreError();
      for (const ComputationId id : CalledComputations(instruction))
        points_[c] |= points_[static_cast<size_t>(id.value)];
      for (const auto& [point, told] : audit.told()) {
        points_[c] |= BitOf(point);
        if (!IsCounted(c, point)) continue;
        AuditFinding& finding = At(c, i, point);
        finding.always = told.always;
        finding.note = told.note;
      }
    }
  }
}

bool ModuleAudit::NeedsSteps(ComputationId id) const {
  const auto c = static_cast<size_t>(id.value);
  return (points_[c] & (runs_[c] ? ~Points{0} : ~kSeenByCaller)) != 0;
}

bool ModuleAudit::IsCounted(size_t computation, AuditPoint point) const {
  if (runs_[computation]) return true;
  return is_applied_[computation] && (BitOf(point) & kSeenByCaller) == 0;
}

AuditFinding& ModuleAudit::At(size_t computation, size_t instruction, AuditPoint point) {
  const auto [it, is_new] = findings_.try_emplace({computation, instruction, static_cast<int>(point)});
  AuditFinding& finding = it->second;
  if (is_new) {
    const Instruction& where = module_.computations[computation].instructions[instruction];
    finding.point = point;
    finding.computation = module_.computations[computation].name;
    finding.instruction = where.name;
    finding.op = Name(where.opcode);
    finding.position = where.position;
  }
  return finding;
}

absl::Status ModuleAudit::LookAt(EvalContext& context, std::span<const Literal> operands,
                                 const Literal& result) {
  const auto c = static_cast<size_t>(&context.computation() - module_.computations.data());
  const auto i = static_cast<size_t>(&context.instruction() - context.computation().instructions.data());
  InstructionAudit audit(*this, {context.computation(), context.instruction()}, context, operands, result);
  ASSAY_RETURN_IF_ERROR(audit.Read());
  for (const auto& [point, told] : audit.told()) {
    if (!told.saw || !IsCounted(c, point)) continue;
    // Where the text has said that there can't be a dependence, as of a constant divisor,
    // there is nothing to report.
    if (told.dependence.count == 0 && !findings_.contains({c, i, static_cast<int>(point)})) continue;
    AuditFinding& finding = At(c, i, point);
    if (told.dependence.count > 0) {
      if (finding.met++ == 0) {
        finding.first_run = finding.runs;
        finding.first = told.dependence.first;
      }
      finding.count += told.dependence.count;
      if (keeps_elements_)
        finding.elements.insert(finding.elements.end(), told.elements.begin(), told.elements.end());
    }
    finding.of += told.dependence.of;
    ++finding.runs;
  }
  return absl::OkStatus();
}

AuditReport ModuleAudit::Report(bool ran) const {
  AuditReport report;
  report.ran = ran;
  for (size_t c = 0; c < live_.size(); ++c) {
    if (!runs_[c] && !is_applied_[c]) continue;
    for (const bool is_live : live_[c]) report.instructions += is_live;
  }
  for (const auto& [key, finding] : findings_) report.findings.push_back(finding);
  return report;
}

}  // namespace assay
