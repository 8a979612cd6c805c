// assay fuzz: generated programs against an engine or a backend, until something differs.
#include <cstdio>

#include "base/counted.h"
#include "base/json_writer.h"
#include "base/quoted.h"
#include "check/isolate/isolate.h"
#include "find/fuzz/defined.h"
#include "find/fuzz/features.h"
#include "find/fuzz/fuzzer.h"
#include "fmt/format.h"
#include "tools/about/progress.h"
#include "tools/backend.h"
#include "tools/commands.h"

namespace assay::cli {
namespace {

constexpr size_t kRefusalsShown = 10;

bool HasBackend(const FuzzFlags& flags) { return !flags.backend.empty() || !flags.plugin.empty(); }

// What is wrong with the flags; empty: nothing.
std::string FuzzUsage(const FuzzFlags& flags) {
  if (std::string wrong = BackendUsage(flags.backend); !wrong.empty()) return wrong;
  if (HasBackend(flags) && flags.profile.empty())
    return "fuzz takes a --profile with --backend and --plugin: the bounds that outputs are held to";
  if (!HasBackend(flags) && !flags.profile.empty())
    return "fuzz takes --backend 'CMD {program} {inputs} {outputs}' or --plugin LIB.so with --profile";
  if (!HasBackend(flags) && flags.engine == "reference")
    return "fuzz --engine reference would compare the reference with itself; it takes exact, fast, gpu or "
           "gpu-fast";
  return {};
}

std::string_view KindOfText(std::string_view number) {
  return number.find("nan") != std::string_view::npos   ? "a NaN"
         : number.find("inf") != std::string_view::npos ? "an infinity"
                                                        : "a number";
}

// What the instruction is asked for besides sizes: ", lower, feature_group_count".
std::string AskedFor(const Instruction& instruction) {
  std::string text;
  for (const AttributeMap::Entry& entry : instruction.attributes.entries()) {
    const bool* const flag = std::get_if<bool>(&entry.value);
    const int64_t* const count = std::get_if<int64_t>(&entry.value);
    if ((flag != nullptr && *flag) || (count != nullptr && *count > 1))
      text += fmt::format(", {}", Name(entry.attr));
  }
  return text;
}

// The opcode and types of the first instruction that is wrong when it runs alone, and of what kind the worst
// element is; empty: none is.
std::string FirstWrong(const CheckedCase& test_case, const Profile& profile, Backend& backend,
                       const SearchOptions& search, std::span<const Engine* const> engines) {
  RunLimits limits = search.limits;
  limits.timeout_seconds = search.try_seconds;
  const WorkScope work(std::make_shared<RunGuard>(limits, search.interrupted));
  IsolateOptions options;
  options.run = search.run;
  options.run.parent_guard = WorkScope::Current();
  options.engines = engines;
  const absl::StatusOr<Isolation> found =
      Isolate(test_case.program(), profile, backend, test_case.arguments(), options);
  if (!found.ok() || found->first_wrong < 0) return {};
  const IsolatedInstruction& wrong = found->instructions[static_cast<size_t>(found->first_wrong)];
  const Computation& computation = test_case.program().module().computation(wrong.computation);
  const Instruction& instruction = computation.instructions[static_cast<size_t>(wrong.instruction)];
  std::string sign = fuzz::SignatureOf(computation, instruction) + AskedFor(instruction);
  if (!wrong.result.worst.empty()) {
    const Conformance::Element& worst = wrong.result.worst[0];
    sign += fmt::format("; {} for {}", KindOfText(worst.actual), KindOfText(worst.exact));
  }
  return sign;
}

absl::StatusOr<fuzz::FuzzQuestions> FuzzQuestionsOf(const FuzzFlags& flags,
                                                    const fuzz::FuzzOptions& options) {
  fuzz::FuzzQuestions questions;
  if (!HasBackend(flags)) {
    questions.wrong = AskDiffers(flags.engine, options.ask);
    return questions;
  }
  ASSAY_ASSIGN_OR_RETURN(const std::shared_ptr<Backend> backend, BackendInOwnProcess(flags, flags.backend));
  const Profile& profile = options.profile;
  const std::string text = BackendFlagsText(flags, flags.backend, flags.profile);
  questions.wrong =
      fuzz::AskWhereDefined(AskBounds({profile, backend, text, false}, options.ask), options.ask);
  questions.crash = [backend, text, ask = options.ask] {
    return AskCrash({backend, /*command=*/"", text}, ask);
  };
  questions.sign = [backend, profile, search = options.search,
                    engines = options.ask.engines](const CheckedCase& test_case) {
    return FirstWrong(test_case, profile, *backend, search, engines);
  };
  return questions;
}

void ShowFuzzProgress(const fuzz::FuzzProgress& progress) {
  const fuzz::FuzzState& state = progress.state;
  ShowWords(fmt::format("{}, {} judged, {}{}{}", Counted(state.next, "program"), state.judged,
                        Counted(state.findings.size(), "finding"), progress.doing.empty() ? "" : ", ",
                        progress.doing));
}

std::string FuzzText(const FuzzFlags& flags, const fuzz::FuzzState& state) {
  std::string text =
      fmt::format("{} in {:.0f} s: {} judged, {} without a result, {} written in another way; {}\n",
                  Counted(state.next, "program"), state.seconds, state.judged, state.without_result,
                  state.rewritten, Counted(state.corpus.features().size(), "feature"));
  for (const fuzz::FuzzFinding& finding : state.findings) {
    text += fmt::format("{}: {} ({})\n  {}/{}\n", KindName(finding.kind), EscapeControls(finding.cause),
                        Counted(finding.count, "program"), EscapeControls(flags.output), finding.folder);
  }
  size_t shown = 0;
  for (const auto& [message, count] : state.refused) {
    if (++shown > kRefusalsShown) continue;
    text += fmt::format("not run ({}): {}\n", Counted(count, "program"), EscapeControls(message));
  }
  if (shown > kRefusalsShown)
    text += fmt::format("and {}\n", Counted(shown - kRefusalsShown, "other message"));
  return text;
}

std::string FuzzJson(const FuzzFlags& flags, const fuzz::FuzzState& state) {
  JsonWriter json;
  const auto write_finding = [&](const fuzz::FuzzFinding& finding) {
    json.Object("kind", KindName(finding.kind), "cause", finding.cause, "folder",
                flags.output + "/" + finding.folder, "programs", finding.count);
  };
  const auto write_refused = [&] {
    json.Begin("{");
    for (const auto& [message, count] : state.refused) json.Fields(message, count);
    json.End("}");
  };
  json.Begin("{");
  json.Fields(
      "programs", state.next, "judged", state.judged, "without_result", state.without_result, "rewritten",
      state.rewritten, "features", state.corpus.features().size(), "seconds", state.seconds, "findings",
      [&] { json.Array(state.findings, write_finding); }, "refused", write_refused);
  json.End("}");
  return json.text() + "\n";
}

// What is asked, for the journal.
std::string QuestionText(const FuzzFlags& flags) {
  std::string text =
      HasBackend(flags) ? BackendFlagsText(flags, flags.backend, flags.profile) : "--engine " + flags.engine;
  return text + fmt::format(" --instructions {} --elements {}", flags.instructions, flags.elements);
}

absl::StatusOr<fuzz::FuzzOptions> OptionsOfFuzz(const FuzzFlags& flags) {
  fuzz::FuzzOptions options;
  // Engines round each operation correctly.
  ASSAY_ASSIGN_OR_RETURN(options.profile, LoadProfile(HasBackend(flags) ? flags.profile : "strict"));
  options.folder = flags.output;
  options.what = QuestionText(flags);
  options.seed = flags.seed;
  options.programs = flags.programs;
  options.seconds = flags.seconds;
  options.findings = flags.findings;
  options.generator = {
      .instructions = static_cast<int>(flags.instructions), .max_elements = flags.elements, .pure = true};
  options.search.try_seconds = flags.try_timeout;
  options.search.seconds = flags.reduce_seconds;
  options.search.limits = flags.options.limits;
  options.search.run = OptionsOf(flags);
  options.search.run.jobs = 1;
  options.search.interrupted = Interrupted;
  options.ask.run = options.search.run;
  options.ask.engines = EnginesOf(flags);
  options.interrupted = Interrupted;
  return options;
}

}  // namespace

int FuzzBackend(const FuzzFlags& flags) {
  if (std::string wrong = FuzzUsage(flags); !wrong.empty()) return UsageError(wrong);
  if (const absl::Status status = CheckEngine(flags); !status.ok()) return Fail(status, flags.output);
  EndOnSecondSignal();
  const absl::StatusOr<fuzz::FuzzOptions> options = OptionsOfFuzz(flags);
  if (!options.ok()) return Fail(options.status(), flags.profile);
  const absl::StatusOr<fuzz::FuzzQuestions> questions = FuzzQuestionsOf(flags, *options);
  if (!questions.ok()) return Fail(questions.status(), flags.profile);
  const absl::StatusOr<fuzz::FuzzState> state = fuzz::Fuzz(*options, *questions, ShowFuzzProgress);
  if (!state.ok()) return Fail(state.status(), flags.output);
  if (!Write(flags.json ? FuzzJson(flags, *state) : FuzzText(flags, *state))) return 5;
  return state->findings.empty() ? 0 : 1;
}

}  // namespace assay::cli
