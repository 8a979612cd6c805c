#include "check/isolate/isolate.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "base/counted.h"
#include "base/work_stage.h"
#include "check/isolate/prober.h"
#include "check/isolate/records.h"
#include "check/isolate/site_judge.h"
#include "check/isolate/site_modules.h"
#include "check/isolate/sites.h"
#include "check/isolate/values_probe.h"
#include "check/module_deriver.h"
#include "fmt/format.h"
#include "literal/leaves.h"

namespace assay {
namespace {

// Of a loop, runs of one instruction that are repeated alone: the first ones that were outside.
constexpr int64_t kMaxConfirmed = 3;

// An instruction that is to be run alone.
struct Suspect {
  const Site* site;
  int64_t iteration;
  int32_t instruction;
  std::shared_ptr<const Values> values;
  std::vector<BoundedOutput> bounds;  // of its arrays
  Conformance in_program;
};

// Sites are taken level by level, from the entry computation down: those of one level are looked into by few
// runs of the backend.
class Isolator {
 public:
  Isolator(const Program& program, const Profile& profile, Backend& backend, const IsolateOptions& options)
      : module_(program.module()),
        options_(options),
        sources_(module_),
        prober_(backend, options),
        judge_(sources_, profile, options),
        records_(module_),
        sites_left_(options.max_sites) {}

  absl::StatusOr<Isolation> Run(const std::vector<Literal>& arguments) {
    ASSAY_RETURN_IF_ERROR(AddEntry(arguments));
    const WorkStage stage("isolating", 0);
    while (!next_.empty()) {
      const std::vector<Site> level = std::exchange(next_, {});
      for (std::span<const Site> rest = level; !rest.empty();) {
        const std::span<const Site> sites = rest.first(
            FirstProgramOf(module_, rest.size(), [&](size_t number) -> const Site& { return rest[number]; }));
        ASSAY_RETURN_IF_ERROR(LookInto(sites));
        ASSAY_RETURN_IF_ERROR(RunSuspectsAlone());
        rest = rest.subspan(sites.size());
      }
    }
    if (not_looked_into_ > 0)
      Note(fmt::format("{} calls, branches and loops were not looked into, behind the first {}",
                       not_looked_into_, options_.max_sites));
    result_.backend_runs = prober_.backend_runs();
    std::move(records_).Finish(result_);
    return std::move(result_);
  }

 private:
  void Note(std::string note) { result_.notes.push_back(std::move(note)); }

  absl::Status AddEntry(const std::vector<Literal>& arguments) {
    Site entry;
    entry.computation = module_.entry;
    for (const Literal& argument : arguments) {
      for (Literal& leaf : LeavesOf(argument)) entry.arguments.push_back(std::move(leaf));
    }
    for (const Literal& leaf : entry.arguments) {
      if (!leaf.shape().IsArray())
        return NotSupported(
            {}, fmt::format("--isolate: a parameter is {}, want arrays", leaf.shape().ToString()));
    }
    next_.push_back(std::move(entry));
    return absl::OkStatus();
  }

  // --- Values of the backend ---

  // The values of the sites by one program that gives them all. Of a single site that the backend does not
  // run, Assay's own.
  absl::Status LookInto(std::span<const Site> sites) {
    const auto write = [this](std::span<const Site> some) {
      ValuesProbe probe(sources_, options_);
      for (const Site& site : some) probe.Add(site);
      return std::move(probe).Finish();
    };
    const auto take = [this](std::span<const Site> some, const Prober::Outputs& outputs) {
      std::span<const Literal> rest = outputs;
      for (const Site& site : some) ASSAY_RETURN_IF_ERROR(CheckSite(site, rest, /*exact=*/false));
      return absl::OkStatus();
    };
    const auto fail = [this](const Site& site, const Prober::Probe& probe, const absl::Status& why) {
      Note(fmt::format(
          "{}the backend does not give its intermediate values, so instructions are run alone on exact ones: "
          "{}",
          site.inside.empty() ? "" : site.inside + ": ", std::string(why.message())));
      ASSAY_ASSIGN_OR_RETURN(const Prober::Outputs outputs, prober_.RunExactly(probe));
      std::span<const Literal> rest = outputs;
      return CheckSite(site, rest, /*exact=*/true);
    };
    return prober_.RunInHalves<Site>(sites, {write, take, fail});
  }

  // --- Judging ---

  // Takes the site's outputs off the front of `outputs`.
  absl::Status CheckSite(const Site& site, std::span<const Literal>& outputs, bool exact) {
    LeaveOut(site);
    int64_t all_iterations = 1, iterations = 1;
    if (site.loop != nullptr) {
      all_iterations = outputs[0].GetInt(0);
      outputs = outputs.subspan(1);
      const int64_t slots = SlotsOf(sources_, site, options_);
      // The last slot holds the last of all later iterations.
      iterations = all_iterations > slots ? slots - 1 : all_iterations;
      if (iterations < all_iterations)
        Note(fmt::format("{}: {} of {} iterations were looked at", site.inside, iterations, all_iterations));
    }
    const std::span<const Literal> own = outputs.first(sources_.Of(site.computation).own().size());
    outputs = outputs.subspan(own.size());
    std::vector<Literal> state = site.arguments;
    for (int64_t iteration = 0; iteration <= iterations; ++iteration) {
      if (site.loop != nullptr)
        ASSAY_RETURN_IF_ERROR(CheckCondition(site, state, iteration, iteration < all_iterations));
      if (iteration == iterations) break;
      ASSAY_ASSIGN_OR_RETURN(Values values, ValuesOfIteration(sources_, site, iteration, state, own));
      if (site.loop != nullptr)
        state = LeavesAt(sources_, site.computation, values, module_.computation(site.computation).root);
      ASSAY_RETURN_IF_ERROR(
          CheckIteration(site, iteration, std::make_shared<const Values>(std::move(values)), exact));
    }
    return absl::OkStatus();
  }

  void LeaveOut(const Site& site) {
    const std::span<const Instruction> instructions = module_.computation(site.computation).instructions;
    const ValueSources& sources = sources_.Of(site.computation);
    for (size_t k = 0; k < instructions.size(); ++k) {
      const int32_t id = static_cast<int32_t>(k);
      if (sources.RoleOf(id) == IsolatedAs::kLeftOut && instructions[k].opcode != Opcode::kAfterAll)
        records_.LeaveOut(site, id, sources.WhyLeftOut(id));
    }
  }

  absl::Status CheckIteration(const Site& site, int64_t iteration,
                              const std::shared_ptr<const Values>& values, bool exact) {
    ASSAY_ASSIGN_OR_RETURN(JudgedValues judged, judge_.JudgeInstructions(site.computation, *values));
    for (JudgedInstruction& one : judged.instructions) {
      records_.Add(site, one.instruction, one.found);
      if (std::string& why = records_.Of(site, one.instruction).why; why.empty()) why = one.why_unchecked;
      const bool is_suspect = one.found.outside > 0 || exact;
      if (!is_suspect || records_.Confirmed(site, one.instruction) >= kMaxConfirmed) continue;
      suspects_.push_back(
          {&site, iteration, one.instruction, values, std::move(one.bounds), std::move(one.found)});
    }
    AddCalledSites(site, iteration, *values, judged.iterations);
    return absl::OkStatus();
  }

  // Whether the loop went on, or ended, as its condition says of the state; where not, the condition is
  // looked into.
  absl::Status CheckCondition(const Site& site, const std::vector<Literal>& state, int64_t iteration,
                              bool went_on) {
    ASSAY_ASSIGN_OR_RETURN(const bool is_allowed, judge_.ConditionAllows(*site.loop, state, went_on));
    if (is_allowed) return absl::OkStatus();
    Note(fmt::format("{}: after {} the loop {}, and its condition says otherwise of the state", site.inside,
                     Counted(iteration, "iteration"), went_on ? "went on" : "ended"));
    AddSite(ConditionSite(site, iteration, state));
    return absl::OkStatus();
  }

  // --- Sites of the next level ---

  void AddCalledSites(const Site& site, int64_t iteration, const Values& values,
                      const std::map<int32_t, int64_t>& iterations) {
    const std::span<const Instruction> instructions = module_.computation(site.computation).instructions;
    const ValueSources& sources = sources_.Of(site.computation);
    for (size_t k = 0; k < instructions.size(); ++k) {
      const int32_t id = static_cast<int32_t>(k);
      if (!IsLookedInto(instructions[k]) || sources.RoleOf(id) != IsolatedAs::kChecked) continue;
      Site called = CalledSite(sources_, site, iteration, id, values);
      if (called.loop != nullptr) called.exact_iterations = iterations.at(id);
      AddSite(std::move(called));
    }
  }

  void AddSite(Site site) {
    if (sites_left_ == 0) {
      ++not_looked_into_;
      return;
    }
    --sites_left_;
    next_.push_back(std::move(site));
  }

  // --- Alone on the backend ---

  // Sites of the level outlive this.
  absl::Status RunSuspectsAlone() {
    std::vector<Suspect> suspects = std::exchange(suspects_, {});
    std::map<std::pair<const Site*, int32_t>, int64_t> taken;
    std::erase_if(suspects, [&](const Suspect& s) {
      return ++taken[{s.site, s.instruction}] > kMaxConfirmed;
    });
    const auto write = [this](std::span<const Suspect> some) { return AloneProbe(some); };
    const auto take = [this](std::span<const Suspect> some, const Prober::Outputs& outputs) {
      size_t next = 0;
      for (const Suspect& suspect : some) {
        Conformance alone;
        for (const BoundedOutput& bound : suspect.bounds)
          SiteJudge::Add(alone, CompareToBounds(bound, &outputs[next++]));
        if (alone.outside > 0 || suspect.in_program.outside > 0)
          records_.Confirm(*suspect.site, suspect.instruction, suspect.iteration, suspect.in_program, &alone);
        if (alone.outside > 0) ASSAY_RETURN_IF_ERROR(KeepWrong(suspect));
      }
      return absl::OkStatus();
    };
    const auto fail = [this](const Suspect& one, const Prober::Probe&, const absl::Status& why) {
      if (one.in_program.outside > 0) {
        records_.Confirm(*one.site, one.instruction, one.iteration, one.in_program, nullptr);
      } else {
        records_.LeaveOut(*one.site, one.instruction,
                          fmt::format("the backend does not run it alone: {}", std::string(why.message())));
      }
      return absl::OkStatus();
    };
    return prober_.RunInHalves<Suspect>(suspects, {write, take, fail});
  }

  // Of an instruction the first time that it was wrong.
  absl::Status KeepWrong(const Suspect& suspect) {
    IsolatedInstruction& of = records_.Of(*suspect.site, suspect.instruction);
    if (!options_.keeps_wrong || of.alone != nullptr) return absl::OkStatus();
    ASSAY_ASSIGN_OR_RETURN(Prober::Probe probe, AloneProbe({&suspect, 1}));
    of.alone =
        std::make_shared<const WrongAlone>(WrongAlone{*std::move(probe.program), std::move(probe.arguments)});
    return absl::OkStatus();
  }

  absl::StatusOr<Prober::Probe> AloneProbe(std::span<const Suspect> suspects) {
    SiteModule writer(module_, "alone");
    std::map<const Values*, int64_t> sets;
    std::vector<const Values*> values_of_set;
    for (const Suspect& suspect : suspects) {
      const auto [it, is_new] = sets.try_emplace(suspect.values.get(), std::ssize(values_of_set));
      if (is_new) values_of_set.push_back(suspect.values.get());
      writer.AddAlone(it->second, suspect.site->computation, sources_.Of(suspect.site->computation),
                      suspect.instruction);
    }
    Prober::Probe probe;
    for (const auto& [set, value] : writer.parameters())
      probe.arguments.push_back(values_of_set[static_cast<size_t>(set)]->at(value));
    ASSAY_ASSIGN_OR_RETURN(probe.program, std::move(writer).Finish());
    return probe;
  }

  const Module& module_;
  const IsolateOptions& options_;
  ModuleSources sources_;
  Prober prober_;
  SiteJudge judge_;
  Records records_;
  Isolation result_;
  std::vector<Suspect> suspects_;
  std::vector<Site> next_;  // the level below
  int64_t sites_left_ = 0, not_looked_into_ = 0;
};

}  // namespace

absl::StatusOr<Isolation> Isolate(const Program& program, const Profile& profile, Backend& backend,
                                  const std::vector<Literal>& arguments, const IsolateOptions& options) {
  return Isolator(program, profile, backend, options).Run(arguments);
}

}  // namespace assay
