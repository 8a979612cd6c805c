#include "run/program.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <utility>

#include "base/counted.h"
#include "custom/combined_ops.h"
#include "custom/composites.h"
#include "custom/lapack/lapack_ops.h"
#include "custom/xla/expand_calls.h"
#include "fmt/format.h"
#include "hlo/load/load.h"
#include "plan/make_plan.h"
#include "run/inputs/known_arguments.h"

namespace assay {

struct Program::Shared {
  Shared(VerifiedModule verified, std::optional<VerifiedModule> expanded)
      : written(verified), module(expanded ? *std::move(expanded) : std::move(verified)) {}

  const VerifiedModule written, module;
  std::mutex mutex;                                // of plans
  std::vector<std::shared_ptr<const Plan>> plans;  // one for each list of engines: few enough to look through
  // Of a program with free dimensions: what it was read from, and what it was refined to, last used first.
  bool is_free = false;
  std::string name, bytes;
  LoadOptions options;  // what Changed reads of them
  std::vector<std::pair<std::vector<KnownArgument>, Program>> refined;
};

namespace {

// LAPACK's targets are known to every program, besides what it was given.
void AddLapack(std::shared_ptr<const CustomOps>& ops) {
  std::shared_ptr<const CustomOps> lapack = custom::LapackOps();
  if (ops == nullptr) {
    ops = std::move(lapack);
  } else if (ops->Find("lapack_sgetrf_ffi") == nullptr) {
    ops = std::make_shared<const custom::CombinedOps>(std::vector{ops, std::move(lapack)});
  }
}

// What the options say of the module itself.
Module Changed(Module module, const LoadOptions& options) {
  module.custom_ops = options.custom_ops;
  if (options.checked_composites != nullptr) custom::AddCompositeChecks(module, *options.checked_composites);
  if (options.replicas > 0) module.replica_count = options.replicas;
  if (options.partitions > 0) module.num_partitions = options.partitions;
  return module;
}

}  // namespace

absl::StatusOr<Program> Program::Load(std::string_view name, std::string_view bytes, LoadOptions options) {
  if (options.snapshot != nullptr) *options.snapshot = ReadSnapshot(bytes);
  ASSAY_ASSIGN_OR_RETURN(Module module, LoadProgram(name, bytes, options.warnings));
  if (HasFreeDimensions(module) && options.arguments) {
    ASSAY_ASSIGN_OR_RETURN(const auto arguments, options.arguments(module));
    if (arguments) {
      ASSAY_ASSIGN_OR_RETURN(module, RefineProgram(name, bytes, *arguments));
      return OfRefined(Changed(std::move(module), options));
    }
  }
  ASSAY_ASSIGN_OR_RETURN(Program program, OfModule(Changed(std::move(module), options)));
  if (program.has_free_dimensions()) {
    program.shared_->name = name;
    program.shared_->bytes = bytes;
    program.shared_->options = {std::move(options.custom_ops), std::move(options.checked_composites),
                                options.replicas, options.partitions};
  }
  return program;
}

absl::StatusOr<Program> Program::OfModule(Module module) {
  AddLapack(module.custom_ops);
  ASSAY_ASSIGN_OR_RETURN(VerifiedModule verified, Verify(std::move(module)));
  ASSAY_ASSIGN_OR_RETURN(std::optional<VerifiedModule> expanded, custom::ExpandXlaCalls(verified));
  return Program(std::move(verified), std::move(expanded));
}

Program::Program(const VerifiedModule& module)
    : Program(module, custom::ExpandXlaCalls(module).value_or(std::nullopt)) {}

Program::Program(VerifiedModule written, std::optional<VerifiedModule> expanded)
    : shared_(std::make_shared<Shared>(std::move(written), std::move(expanded))) {
  shared_->is_free = HasFreeDimensions(shared_->written.module());
}

bool Program::has_free_dimensions() const { return shared_->is_free; }

absl::StatusOr<Program> Program::RefinedFor(std::span<const KnownArgument> arguments) const {
  if (!has_free_dimensions()) return *this;
  if (shared_->bytes.empty()) return LacksShapes(module());
  const std::lock_guard<std::mutex> lock(shared_->mutex);
  auto& refined = shared_->refined;
  const auto same = [](const KnownArgument& a, const KnownArgument& b) {
    return Shape::Equal(a.shape, b.shape) && a.value == b.value;
  };
  const auto known = std::ranges::find_if(
      refined, [&](const auto& entry) { return std::ranges::equal(entry.first, arguments, same); });
  if (known != refined.end()) {
    std::rotate(refined.begin(), known, known + 1);
    return refined.front().second;
  }
  ASSAY_ASSIGN_OR_RETURN(Module made, RefineProgram(shared_->name, shared_->bytes, arguments));
  absl::StatusOr<Program> program = OfRefined(Changed(std::move(made), shared_->options));
  if (!program.ok()) return program;
  if (refined.size() == kMaxRefined) refined.pop_back();
  refined.emplace(refined.begin(), std::vector<KnownArgument>(arguments.begin(), arguments.end()), *program);
  return program;
}

absl::StatusOr<Program> Program::OfRefined(Module module) {
  absl::StatusOr<Program> program = OfModule(std::move(module));
  if (program.ok()) return program;
  return WrongForShapes(program.status());
}

const VerifiedModule& Program::verified() const { return shared_->module; }
const Module& Program::as_written() const { return shared_->written.module(); }

absl::StatusOr<std::shared_ptr<const Plan>> Program::PlanFor(std::span<const Engine* const> engines) const {
  if (has_free_dimensions()) return LacksShapes(module());
  const std::lock_guard<std::mutex> lock(shared_->mutex);
  for (const std::shared_ptr<const Plan>& plan : shared_->plans) {
    if (std::ranges::equal(plan->engines, engines)) return plan;
  }
  ASSAY_ASSIGN_OR_RETURN(Plan plan, MakePlan(shared_->module, engines));
  return shared_->plans.emplace_back(std::make_shared<const Plan>(std::move(plan)));
}

absl::StatusOr<Plan> Program::PlanAsWritten() const {
  if (has_free_dimensions()) return LacksShapes(module());
  return MakePlan(shared_->module, InstructionEngines(), PlanForm::kAsWritten);
}

absl::StatusOr<Literal> Program::Run(std::vector<Literal> arguments, RunOptions options,
                                     std::span<const Engine* const> engines) const {
  if (has_free_dimensions()) {
    ASSAY_ASSIGN_OR_RETURN(const Program refined, RefinedFor(KnownArgumentsFrom(module(), arguments)));
    return refined.Run(std::move(arguments), std::move(options), engines);
  }
  if (module().replica_count > 1 || module().num_partitions > 1) {
    return NotSupported({}, fmt::format("the program runs on {} of {}: Program::Run has one device",
                                        Counted(module().replica_count, "replica"),
                                        Counted(module().num_partitions, "partition")));
  }
  ASSAY_ASSIGN_OR_RETURN(const std::shared_ptr<const Plan> plan, PlanFor(engines));
  return Executor(*plan, std::move(options)).Run(std::move(arguments));
}

}  // namespace assay
