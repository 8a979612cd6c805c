// The findings of one module's audit, while they are made.
#ifndef ASSAY_CHECK_MODULE_AUDIT_H_
#define ASSAY_CHECK_MODULE_AUDIT_H_

#include <map>
#include <tuple>
#include <vector>

#include "check/audit.h"

namespace assay {

class ModuleAudit {
 public:
  // Reads the text; the module outlives the audit. `keeps_elements`: as AuditRun's.
  explicit ModuleAudit(const Module& module, bool keeps_elements = false);

  const Module& module() const { return module_; }
  bool MayMeet(ComputationId id, AuditPoint point) const {
    return (points_[static_cast<size_t>(id.value)] >> static_cast<int>(point) & 1) != 0;
  }
  // Whether the steps of a computation of scalars have to be seen one by one:
  // what its caller's rule can't tell of its values.
  bool NeedsSteps(ComputationId id) const;
  // Looks at the values of an instruction that was run.
  absl::Status LookAt(EvalContext& context, std::span<const Literal> operands, const Literal& result);
  AuditReport Report(bool ran) const;

 private:
  using Points = uint32_t;  // a bit each
  static_assert(kNumAuditPoints <= 32);

  void ReadText();
  void FindReached();
  // Of a computation that is applied to elements its caller's rule looks at NaNs and
  // subnormal numbers among these.
  bool IsCounted(size_t computation, AuditPoint point) const;
  AuditFinding& At(size_t computation, size_t instruction, AuditPoint point);

  const Module& module_;
  const bool keeps_elements_;
  std::vector<std::vector<bool>> live_;
  std::vector<Points> points_;  // by computation: what its instructions, and those that they call, may meet
  std::vector<bool> runs_, is_applied_;  // by computation: as steps of the program; to elements
  std::map<std::tuple<size_t, size_t, int>, AuditFinding> findings_;
};

}  // namespace assay

#endif  // ASSAY_CHECK_MODULE_AUDIT_H_
