#include "find/passes/bisect.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/file_io.h"
#include "base/run_guard.h"
#include "base/work_stage.h"
#include "fmt/format.h"

namespace assay {
namespace {

bool HasOtherBits(const std::vector<OutputChange>& outputs) {
  return std::any_of(outputs.begin(), outputs.end(),
                     [](const OutputChange& output) { return output.different > 0; });
}

bool IsOutside(const std::vector<OutputChange>& outputs) {
  return std::any_of(outputs.begin(), outputs.end(),
                     [](const OutputChange& output) { return output.outside > 0; });
}

class Bisection {
 public:
  Bisection(const ModuleDumps& dumps, const BisectOptions& options) : options_(options) {
    result_.module = dumps.module;
    for (const DumpFile& file : dumps.files) result_.steps.push_back({.file = file});
  }

  absl::StatusOr<PassBisection> Run() && {
    const WorkStage stage("dumps", static_cast<int64_t>(result_.steps.size()));
    for (size_t k = 0; k < result_.steps.size(); ++k) {
      stage.Done(static_cast<int64_t>(k));
      const absl::Status status = Evaluate(k);
      if (status.ok()) continue;
      // Only what came first has no result to show.
      if (!baseline_) return status;
      result_.ended = status;
      result_.steps.resize(k);
      break;
    }
    if (!baseline_) return first_error_;
    Summarize();
    return std::move(result_);
  }

 private:
  absl::StatusOr<Program> Load(size_t step) const {
    const std::string path = options_.folder + "/" + result_.steps[step].file.file;
    ASSAY_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
    return options_.load(path, text);
  }

  // An error ends the bisection; a step that can't be evaluated is skipped.
  absl::Status Evaluate(size_t k) {
    ASSAY_RETURN_IF_ERROR(PollWork());
    PassStep& step = result_.steps[k];
    const std::string path = options_.folder + "/" + step.file.file;
    absl::StatusOr<std::string> bytes = ReadFile(path);
    if (!bytes.ok()) return Skip(step, bytes.status());
    const auto [known, is_new] = known_.try_emplace(
        DigestOfBytes(std::as_bytes(std::span<const char>(bytes->data(), bytes->size()))), k);
    if (!is_new) return TakeOver(result_.steps[known->second], step);
    ++result_.distinct;
    absl::StatusOr<Program> program = options_.load(path, *bytes);
    if (!program.ok()) return Skip(step, program.status());
    if (!baseline_) return MakeBaseline(k, *std::move(program));
    const absl::StatusOr<BaselineRun> run = baseline_->Run(*program);
    if (!run.ok()) return Skip(step, run.status());
    ++result_.evaluated;
    step.outputs = baseline_->Compare(*run);
    step.outside = IsOutside(step.outputs);
    Follow(k, *run);
    Note(k);
    return absl::OkStatus();
  }

  // The same program as that of an earlier step.
  absl::Status TakeOver(const PassStep& earlier, PassStep& step) {
    step.kind =
        earlier.kind == PassStep::Kind::kSkipped ? PassStep::Kind::kSkipped : PassStep::Kind::kSameBytes;
    step.why = earlier.why;
    step.exit_code = earlier.exit_code;
    step.outputs = earlier.outputs;
    step.outside = earlier.outside;
    const auto outputs = outputs_.find(&earlier - result_.steps.data());
    if (outputs == outputs_.end()) return absl::OkStatus();
    step.changed = outputs->second != *last_outputs_;
    last_outputs_ = &outputs->second;
    return absl::OkStatus();
  }

  // Keeps the outputs of a step, and compares them with those of the one before.
  void Follow(size_t k, const BaselineRun& run) {
    std::vector<ValueDigest> digests;
    for (const Literal& output : run.outputs) digests.push_back(DigestOf(output));
    const auto it = outputs_.emplace(static_cast<std::ptrdiff_t>(k), std::move(digests)).first;
    result_.steps[k].changed = last_outputs_ != nullptr && it->second != *last_outputs_;
    last_outputs_ = &it->second;
  }

  absl::Status Skip(PassStep& step, const absl::Status& why) {
    ASSAY_RETURN_IF_ERROR(PollWork());
    step.kind = PassStep::Kind::kSkipped;
    step.why = std::string(why.message());
    step.exit_code = ExitCodeOf(why);
    if (first_error_.ok()) first_error_ = why;
    return absl::OkStatus();
  }

  absl::Status MakeBaseline(size_t k, Program program) {
    PassStep& step = result_.steps[k];
    ASSAY_ASSIGN_OR_RETURN(ProgramInputs inputs, options_.inputs(program));
    absl::StatusOr<Baseline> baseline = Baseline::Make(program, std::move(inputs), options_.profile);
    if (!baseline.ok()) return Skip(step, baseline.status());
    baseline_ = *std::move(baseline);
    ASSAY_ASSIGN_OR_RETURN(const BaselineRun run, baseline_->Run(baseline_->program()));
    ++result_.evaluated;
    result_.baseline = k;
    result_.has_bounds = baseline_->has_bounds();
    result_.why_no_bounds = std::string(baseline_->bounds_status().message());
    step.outputs = baseline_->Compare(run);
    Follow(k, run);
    return absl::OkStatus();
  }

  // What came first.
  void Note(size_t k) {
    const PassStep& step = result_.steps[k];
    const bool is_change = !result_.first_change && HasOtherBits(step.outputs);
    const bool is_outside = !result_.first_outside && step.outside;
    if (is_change) result_.first_change = k;
    if (is_outside) result_.first_outside = k;
    if (is_change || is_outside) result_.changes.push_back({.before = Before(k), .after = k});
  }

  // The last step in front of it that was evaluated, or had the bytes of one.
  size_t Before(size_t k) const {
    while (k-- > 0) {
      if (result_.steps[k].kind != PassStep::Kind::kSkipped) return k;
    }
    return result_.baseline;
  }

  // What the passes did; where the time is over, without.
  void Summarize() {
    for (PassChange& change : result_.changes) {
      absl::StatusOr<PassDetail> detail = DetailOf(change);
      if (detail.ok()) change.detail = *std::move(detail);
      if (!detail.ok() && result_.ended.ok()) result_.ended = detail.status();
    }
  }

  absl::StatusOr<PassDetail> DetailOf(const PassChange& change) const {
    ASSAY_ASSIGN_OR_RETURN(const Program before, Load(change.before));
    ASSAY_ASSIGN_OR_RETURN(const Program after, Load(change.after));
    return ComparePass(*baseline_, before, after, options_.profile);
  }

  const BisectOptions& options_;
  PassBisection result_;
  std::optional<Baseline> baseline_;
  std::map<ValueDigest, size_t> known_;                         // steps by the bytes of their files
  std::map<std::ptrdiff_t, std::vector<ValueDigest>> outputs_;  // of steps that were evaluated
  const std::vector<ValueDigest>* last_outputs_ = nullptr;      // of the last one
  absl::Status first_error_;
};

}  // namespace

absl::StatusOr<PassBisection> BisectDumps(const ModuleDumps& dumps, const BisectOptions& options) {
  return Bisection(dumps, options).Run();
}

}  // namespace assay
