// Where a program depends on what its specification leaves open: by its text, and in a run (docs/audit.md).
#ifndef ASSAY_CHECK_AUDIT_H_
#define ASSAY_CHECK_AUDIT_H_

#include <string>
#include <vector>

#include "devices/run_devices.h"
#include "evaluator/audit.h"
#include "run/program.h"

namespace assay {

// An instruction that meets a point.
struct AuditFinding {
  AuditPoint point;
  std::string computation, instruction, op;
  SourcePosition position;
  // By the text: whatever the values are, or for some values.
  bool always = false;
  std::string note;
  // In the run: how many times the instruction's values were looked at, in how many of these the result
  // depended on the point, and the elements (windows, index vectors) where it did, of how many.
  int64_t runs = 0, met = 0, count = 0, of = 0;
  int64_t first_run = 0;  // of those, from 0
  std::string first;      // the first element in it
  // Of an array: the result's elements, row-major, of all runs. Only where AuditRun keeps them and the
  // instruction's rule tells them: else there are fewer of them than `count`.
  std::vector<int64_t> elements;

  bool Depends() const { return runs > 0 ? met > 0 : always; }
};

struct AuditReport {
  bool ran = false;
  int64_t instructions = 0;  // that were read: those that run
  // As the program has the instructions, those of callees before those of callers.
  std::vector<AuditFinding> findings;
};

// By the text alone.
AuditReport AuditText(const Module& module);
// And by a run; of several devices the values of device 0 are looked at. Errors are those of the run.
absl::StatusOr<AuditReport> AuditRun(const Program& program, const DeviceGrid& grid,
                                     std::vector<DeviceInputs> inputs, RunOptions options,
                                     bool keeps_elements = false);

// What is open at a point, and what StableHLO says and XLA and Assay do there.
struct AuditPointFacts {
  std::string_view open, stablehlo, xla_cpu, xla_gpu, assay;
};
const AuditPointFacts& FactsOf(AuditPoint point);

}  // namespace assay

#endif  // ASSAY_CHECK_AUDIT_H_
