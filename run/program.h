// A program, from its text or bytes to its results: loaded, verified, planned (once for each list of
// engines), and run any number of times.
//
//   ASSAY_ASSIGN_OR_RETURN(const Program program, Program::Load("add.hlo", text));
//   ASSAY_ASSIGN_OR_RETURN(const Literal sum, program.Run({x, y}));
//
// The stages in between are LoadProgram, Verify, MakePlan and Executor (docs/architecture.md). Code
// outside of this folder uses Program; only tests of a single stage, or with a reader of their own, call
// the stages directly.
#ifndef ASSAY_RUN_PROGRAM_H_
#define ASSAY_RUN_PROGRAM_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "evaluator/verify.h"
#include "hlo/diagnostics.h"
#include "hlo/mlir/refine/known_argument.h"
#include "hlo/proto/import.h"
#include "plan/plan.h"
#include "run/engine_list.h"
#include "run/executor.h"

namespace assay {

namespace custom {
class OpSet;
}

// Options of Load, and what it reports besides the program.
struct LoadOptions {
  // Additional operations for custom calls (evaluator/custom_op.h); may be null.
  std::shared_ptr<const CustomOps> custom_ops;
  // Composite calls are checked against these operations (custom/composites.h); null: none are.
  std::shared_ptr<const custom::OpSet> checked_composites;
  int64_t replicas = 0, partitions = 0;  // replaces the program's count; 0: the program's
  // For StableHLO with free dimensions: the argument shapes for its parameters. nullopt or no
  // function: the dimensions stay free.
  std::function<absl::StatusOr<std::optional<std::vector<KnownArgument>>>(const Module& parameters)>
      arguments;
  std::vector<Warning>* warnings = nullptr;  // receives the reader's warnings, also where Load fails
  // Receives the arguments and result of an HloSnapshot, or why they can't be read; nullopt for other forms.
  absl::StatusOr<std::optional<Snapshot>>* snapshot = nullptr;
};

// A verified program and its plans. A copy is the same program and shares its plans. Safe from many threads:
// threads that plan at the same time wait for each other, and runs are independent.
class Program {
 public:
  // Reads a program of any form (hlo/load/load.h) and verifies it; `name`, of a file, decides only where the
  // content does not. The bytes are kept only of programs with free dimensions. Errors are LoadProgram's and
  // Verify's: InvalidProgram and NotSupported, with the position in a text, and LimitExceeded.
  static absl::StatusOr<Program> Load(std::string_view name, std::string_view bytes,
                                      LoadOptions options = {});
  // Verifies the module. Errors are Verify's, and those of custom calls that contradict themselves.
  static absl::StatusOr<Program> OfModule(Module module);
  // Custom calls of XLA's compilers that contradict themselves are left as they are, and are errors when
  // they run.
  explicit Program(const VerifiedModule& module);

  // StableHLO with free dimensions ('?', docs/free_dimensions.md): Load has read and checked it, and module()
  // has its parameters and result alone. It is run as RefinedFor gives it, and can be planned only so.
  bool has_free_dimensions() const;
  // The program for arguments of these shapes, made at the first call with them and then shared (the last
  // kMaxRefined of them); itself where no dimension is free. BadInput and EvalError where the shapes do not
  // fit.
  static constexpr size_t kMaxRefined = 64;
  absl::StatusOr<Program> RefinedFor(std::span<const KnownArgument> arguments) const;

  // The module that runs, and that bounds and audits refer to: the custom calls of XLA's compilers
  // are expanded (custom/xla).
  const VerifiedModule& verified() const;
  const Module& module() const { return verified().module(); }
  // The module that is printed: the program as it was read.
  const Module& as_written() const;

  // The plan by these engines (EnginesOf), made at the first call with them and then shared. They outlive the
  // program and the plan; their list need not. Errors are MakePlan's and are not kept.
  absl::StatusOr<std::shared_ptr<const Plan>> PlanFor(
      std::span<const Engine* const> engines = EnginesOf()) const;

  // A plan of one step for each instruction (PlanForm::kAsWritten), by kernels that give the reference's
  // bits, for observers that look at values. It is made anew at each call.
  absl::StatusOr<Plan> PlanAsWritten() const;

  // Runs that plan once, on one device (several devices: devices/run_devices.h). Takes one literal for each
  // parameter of the entry computation, compatible with the parameter's shape, and gives the root's value.
  // `options` has the limits (steps, bytes, seconds), threads and cross-check. Errors are PlanFor's and the
  // run's: NotSupported where the module needs more devices, BadInput for arguments that do not fit,
  // EvalError, LimitExceeded, ComparisonFailed by the cross-check, Cancelled where options.interrupted
  // returned true. A program with free dimensions is refined for the arguments. For host queues, observers,
  // statistics, or repeated runs that reuse storage, construct an Executor
  // from PlanFor's plan.
  absl::StatusOr<Literal> Run(std::vector<Literal> arguments, RunOptions options = {},
                              std::span<const Engine* const> engines = EnginesOf()) const;

 private:
  struct Shared;
  // OfModule for a refined program. Errors are EvalError, because the program was valid
  // without sizes.
  static absl::StatusOr<Program> OfRefined(Module module);
  // `expanded`: the module with its custom calls expanded, where it has any.
  Program(VerifiedModule written, std::optional<VerifiedModule> expanded);
  std::shared_ptr<Shared> shared_;
};

}  // namespace assay

#endif  // ASSAY_RUN_PROGRAM_H_
