// assay diff: two sets of outputs, or a backend's outputs against the exact ones.
#include "evaluator/executor.h"
#include "evaluator/program_io.h"
#include "fmt/format.h"
#include "literal/compare.h"
#include "literal/npz.h"
#include "tools/commands.h"

namespace assay::cli {
namespace {

using ByKey = std::map<std::string, Literal>;
using Arrays = std::map<std::string, NpyArray>;

absl::StatusOr<ByKey> DecodeAll(const Arrays& arrays) {
  ByKey values;
  for (const auto& [key, array] : arrays) {
    ASSAY_ASSIGN_OR_RETURN(Literal value, DecodeNpyByDescr(key, array));
    values.emplace(key, std::move(value));
  }
  return values;
}

// Compares by key and prints one line an output; 1 if anything is outside the tolerance or missing.
int Report(const ByKey& expected, const ByKey& actual, const DiffFlags& flags) {
  Tolerance tolerance;
  tolerance.rtol = flags.rtol;
  tolerance.atol = flags.atol;
  tolerance.ulps = flags.ulps;
  std::string text;
  bool equal = true;
  for (const auto& [key, value] : expected) {
    const auto it = actual.find(key);
    if (it == actual.end()) {
      text += fmt::format("{}: missing in the second set\n", key);
      equal = false;
      continue;
    }
    const Comparison comparison = CompareLiterals(value, it->second, tolerance);
    equal = equal && comparison.ok();
    text += fmt::format("{}: {}\n", key, comparison.Report());
  }
  for (const auto& [key, value] : actual) {
    if (expected.count(key) > 0) continue;
    text += fmt::format("{}: missing in the first set\n", key);
    equal = false;
  }
  if (!Write(text)) return 5;
  return equal ? 0 : 1;
}

int DiffFiles(const DiffFlags& flags) {
  ByKey sides[2];
  const std::string* const files[2] = {&flags.first, &flags.second};
  for (int i = 0; i < 2; ++i) {
    const absl::StatusOr<Arrays> arrays = ReadNpzFile(*files[i]);
    if (!arrays.ok()) return Fail(arrays.status(), *files[i]);
    absl::StatusOr<ByKey> values = DecodeAll(*arrays);
    if (!values.ok()) return Fail(values.status(), *files[i]);
    sides[i] = *std::move(values);
  }
  return Report(sides[0], sides[1], flags);
}

int DiffProgram(const DiffFlags& flags) {
  if (const absl::Status status = CheckEngine(flags.run); !status.ok()) return Fail(status, flags.first);
  int exit_code = 0;
  const std::optional<Program> program = Load(flags.run, exit_code);
  if (!program) return exit_code;
  if (LacksInputs(flags.run, *program)) return AskForInputs(flags.run, *program);
  const absl::StatusOr<Plan> plan = MakePlan(program->module, ChoiceOf(flags.run), *IsaOf(flags.run));
  if (!plan.ok()) return Fail(plan.status(), flags.first, program->text);
  RunOptions options = flags.run.options;
  options.interrupted = Interrupted;
  Executor executor(*plan, options);
  absl::StatusOr<std::vector<Literal>> arguments = Arguments(flags.run, *program, &executor.process().infeed);
  if (!arguments.ok()) return Fail(arguments.status(), InputsOf(flags.run));
  const absl::StatusOr<Literal> root = executor.Run(*std::move(arguments));
  if (!root.ok()) return Fail(root.status(), flags.first, program->text);

  ByKey expected, actual;
  for (auto& [key, value] : ResultsOf(*root)) expected.emplace(key, std::move(value));
  const absl::StatusOr<Arrays> arrays = ReadNpzFile(flags.actual);
  if (!arrays.ok()) return Fail(arrays.status(), flags.actual);
  for (const auto& [key, array] : *arrays) {
    const auto it = expected.find(key);
    absl::StatusOr<Literal> value =
        it == expected.end() ? DecodeNpyByDescr(key, array) : DecodeNpy(key, array, it->second.shape());
    if (!value.ok()) return Fail(value.status(), flags.actual);
    actual.emplace(key, *std::move(value));
  }
  return Report(expected, actual, flags);
}

}  // namespace

int Diff(const DiffFlags& flags) {
  if (flags.actual.empty() == flags.second.empty()) {
    return UsageError("diff takes either two .npz files or a program with --actual OUT.npz");
  }
  if (!flags.actual.empty()) return DiffProgram(flags);
  if (!flags.run.inputs.empty() || flags.run.random_inputs)
    return UsageError("diff of two .npz files runs nothing: --inputs and --random-inputs are for a program");
  return DiffFiles(flags);
}

}  // namespace assay::cli
