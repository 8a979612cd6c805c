#include "check/isolate/isolate.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include "base/run_guard.h"
#include "check/backends/output_keys.h"
#include "check/isolate/records.h"
#include "check/isolate/site_modules.h"
#include "check/isolate/value_sources.h"
#include "check/module_deriver.h"
#include "fmt/format.h"
#include "run/inputs/program_io.h"

namespace assay {
namespace {

// Of a loop, runs of one instruction that are repeated alone: the first ones that were outside.
constexpr int64_t kMostConfirmed = 3;
// Instructions of one program that is made for the backend.
constexpr int64_t kMostInAProgram = 20000;

// The arrays of one iteration, or of one call, by what gave them; those of its parameters included.
using Values = std::map<ValueId, Literal>;

// The instructions of a computation, each alone, with their bounds.
struct Checker {
  std::optional<Program> program;  // none: there is nothing to check
  std::vector<int32_t> members;    // by output of the program: the instruction
  std::vector<ValueId> parameters;
  std::map<std::vector<bool>, PlannedBounds> bounds;  // by SubnormalLeaves
};

// An instruction that is to be run alone.
struct Suspect {
  const Site* site;
  int64_t iteration;
  int32_t instruction;
  std::shared_ptr<const Values> values;
  std::vector<BoundedOutput> bounds;  // of its arrays
  Conformance in_program;
};

void AppendLeaves(const Literal& value, std::vector<Literal>& leaves) {
  if (!value.shape().IsTuple()) return leaves.push_back(value);
  for (int64_t k = 0; k < value.tuple_size(); ++k) AppendLeaves(value.element(k), leaves);
}

absl::StatusOr<Literal> SliceOf(const Literal& stack, int64_t slot) {
  const std::span<const int64_t> sizes = stack.shape().sizes();
  ASSAY_ASSIGN_OR_RETURN(Literal slice,
                         Literal::Make(Shape::ArrayOrDie(stack.shape().element_type(), sizes.subspan(1))));
  const std::span<std::byte> bytes = slice.MutableBytes();
  if (!bytes.empty())
    std::memcpy(bytes.data(), stack.data() + slot * static_cast<int64_t>(bytes.size()), bytes.size());
  return slice;
}

class Isolator {
 public:
  Isolator(const Program& program, const Profile& profile, Backend& backend, const IsolateOptions& options)
      : module_(program.module()),
        profile_(profile),
        backend_(backend),
        options_(options),
        records_(module_) {}

  absl::StatusOr<Isolation> Run(const std::vector<Literal>& arguments) {
    Site entry;
    entry.computation = module_.entry;
    for (const Literal& argument : arguments) AppendLeaves(argument, entry.arguments);
    for (const Literal& argument : entry.arguments) {
      if (!argument.shape().IsArray())
        return NotSupported(
            {}, fmt::format("--isolate: a parameter is {}, want arrays", argument.shape().ToString()));
    }
    sites_left_ = options_.most_sites;
    std::vector<Site> level;
    level.push_back(std::move(entry));
    while (!level.empty()) {
      next_.clear();
      for (size_t begin = 0; begin < level.size();) {
        size_t end = begin;
        for (int64_t size = 0; end < level.size() && (end == begin || size < kMostInAProgram); ++end)
          size += static_cast<int64_t>(module_.computation(level[end].computation).instructions.size());
        ASSAY_RETURN_IF_ERROR(LookInto(std::span(level).subspan(begin, end - begin)));
        ASSAY_RETURN_IF_ERROR(RunAlone());
        begin = end;
      }
      level = std::move(next_);
    }
    if (not_looked_into_ > 0)
      Note(fmt::format("{} calls, branches and loops were not looked into, behind the first {}",
                       not_looked_into_, options_.most_sites));
    std::move(records_).Finish(result_);
    return std::move(result_);
  }

 private:
  void Note(std::string note) { result_.notes.push_back(std::move(note)); }

  const ValueSources& SourcesOf(ComputationId id) {
    std::unique_ptr<ValueSources>& sources = sources_[id.value];
    if (sources == nullptr) sources = std::make_unique<ValueSources>(module_.computation(id));
    return *sources;
  }

  // --- Running ---

  absl::StatusOr<std::vector<Literal>> RunExactly(const Program& program, std::vector<Literal> arguments) {
    ASSAY_ASSIGN_OR_RETURN(const Literal root,
                           program.Run(std::move(arguments), options_.run, options_.engines));
    std::vector<Literal> outputs;
    AppendLeaves(root, outputs);
    return outputs;
  }

  absl::StatusOr<std::vector<Literal>> RunBackend(const Program& program,
                                                  const std::vector<Literal>& arguments) {
    ++result_.backend_runs;
    ASSAY_ASSIGN_OR_RETURN(Backend::Outputs outputs, backend_.Run({program.module(), "", arguments}));
    std::vector<Literal> values;
    for (const auto& [key, shape] : OutputsOf(program.module())) {
      const auto it = outputs.find(key);
      if (it == outputs.end()) return EvalError({}, fmt::format("the backend gave no {}", key));
      if (!Shape::Compatible(it->second.shape(), shape))
        return EvalError({}, fmt::format("the backend gave {} as {}, want {}", it->second.shape().ToString(),
                                         key, shape.ToString()));
      values.push_back(std::move(it->second));
    }
    return values;
  }

  // --- Values of the backend ---

  absl::StatusOr<int64_t> SlotsOf(const Site& site) {
    SiteModule counted(module_, "iterations");
    counted.AddLoop(*site.loop, ValueSources(Computation()), 1);
    ASSAY_ASSIGN_OR_RETURN(Module module, std::move(counted).Finish());
    ASSAY_ASSIGN_OR_RETURN(const Program program, Program::OfModule(std::move(module)));
    ASSAY_ASSIGN_OR_RETURN(const std::vector<Literal> iterations, RunExactly(program, site.arguments));
    int64_t bytes = 1;
    const Computation& body = module_.computation(site.computation);
    for (const ValueId value : SourcesOf(site.computation).own()) {
      const Shape& shape = *body.instructions[static_cast<size_t>(value.instruction)].shape;
      bytes += LeafShapes(shape)[static_cast<size_t>(value.leaf)]->num_bytes();
    }
    // One more shows whether the backend goes on longer.
    return std::max<int64_t>(1, std::min({iterations[0].GetInt(0) + 1, options_.max_iterations,
                                          options_.most_loop_bytes / bytes}));
  }

  // Shows the values of the sites: a program that gives them all is run by the backend, or where it fails two of half of the
  // sites each. Of one site alone it fails with, Assay's own values are taken.
  absl::Status LookInto(std::span<const Site> sites) {
    SiteModule writer(module_, "values");
    std::vector<Literal> arguments;
    std::vector<int64_t> slots;
    for (const Site& site : sites) {
      arguments.insert(arguments.end(), site.arguments.begin(), site.arguments.end());
      slots.push_back(0);
      if (site.loop == nullptr) {
        writer.AddValues(site.computation, SourcesOf(site.computation));
        continue;
      }
      ASSAY_ASSIGN_OR_RETURN(slots.back(), SlotsOf(site));
      writer.AddLoop(*site.loop, SourcesOf(site.computation), slots.back());
    }
    if (writer.num_outputs() == 0) return absl::OkStatus();
    ASSAY_ASSIGN_OR_RETURN(Module module, std::move(writer).Finish());
    ASSAY_ASSIGN_OR_RETURN(const Program program, Program::OfModule(std::move(module)));
    absl::StatusOr<std::vector<Literal>> outputs = RunBackend(program, arguments);
    bool exact = false;
    if (!outputs.ok()) {
      ASSAY_RETURN_IF_ERROR(PollWork());
      if (sites.size() > 1) {
        ASSAY_RETURN_IF_ERROR(LookInto(sites.first(sites.size() / 2)));
        return LookInto(sites.subspan(sites.size() / 2));
      }
      Note(fmt::format(
          "{}the backend does not give its intermediate values, so instructions are run alone on exact ones: "
          "{}",
          sites[0].inside.empty() ? "" : sites[0].inside + ": ", std::string(outputs.status().message())));
      exact = true;
      outputs = RunExactly(program, arguments);
      if (!outputs.ok()) return outputs.status();
    }
    size_t next = 0;
    for (size_t k = 0; k < sites.size(); ++k)
      ASSAY_RETURN_IF_ERROR(CheckSite(sites[k], slots[k], *outputs, next, exact));
    return absl::OkStatus();
  }

  absl::Status CheckSite(const Site& site, int64_t slots, const std::vector<Literal>& outputs, size_t& next,
                         bool exact) {
    const Computation& computation = module_.computation(site.computation);
    const ValueSources& sources = SourcesOf(site.computation);
    for (size_t k = 0; k < computation.instructions.size(); ++k) {
      const int32_t id = static_cast<int32_t>(k);
      if (sources.RoleOf(id) == IsolatedAs::kLeftOut &&
          computation.instructions[k].opcode != Opcode::kAfterAll)
        records_.LeaveOut(site, id, sources.WhyLeftOut(id));
    }
    int64_t iterations = 1, all_iterations = 1;
    if (site.loop != nullptr) {
      all_iterations = outputs[next++].GetInt(0);
      // The last slot holds the last of all later iterations.
      iterations = all_iterations > slots ? slots - 1 : all_iterations;
      if (iterations < all_iterations)
        Note(fmt::format("{}: {} of {} iterations were looked at", site.inside, iterations, all_iterations));
    }
    const size_t first = next;
    next += sources.own().size();
    std::vector<Literal> state = site.arguments;
    for (int64_t iteration = 0; iteration <= iterations; ++iteration) {
      if (site.loop != nullptr)
        ASSAY_RETURN_IF_ERROR(CheckCondition(site, state, iteration, iteration < all_iterations));
      if (iteration == iterations) break;
      auto values = std::make_shared<Values>();
      size_t argument = 0;
      for (const int32_t p : computation.parameters) {
        for (const ValueId value : sources.Of(p)) (*values)[value] = state[argument++];
      }
      for (size_t k = 0; k < sources.own().size(); ++k) {
        Literal value = outputs[first + k];
        if (site.loop != nullptr) {
          ASSAY_ASSIGN_OR_RETURN(value, SliceOf(value, iteration));
        }
        values->emplace(sources.own()[k], std::move(value));
      }
      if (site.loop != nullptr) state = LeavesAt(site.computation, *values, computation.root);
      ASSAY_RETURN_IF_ERROR(CheckValues(site, iteration, std::move(values), exact));
    }
    return absl::OkStatus();
  }

  std::vector<Literal> LeavesAt(ComputationId id, const Values& values, int32_t instruction) {
    const Computation& computation = module_.computation(id);
    std::vector<Literal> leaves;
    for (const ValueId value : SourcesOf(id).Of(instruction)) {
      const Instruction& source = computation.instructions[static_cast<size_t>(value.instruction)];
      if (source.opcode == Opcode::kConstant) {
        std::vector<Literal> parts;
        AppendLeaves(*source.literal, parts);
        leaves.push_back(parts[static_cast<size_t>(value.leaf)]);
      } else if (const auto it = values.find(value); it != values.end()) {
        leaves.push_back(it->second);
      } else {
        leaves.push_back(Literal::Token());
      }
    }
    return leaves;
  }

  // --- Judging ---

  absl::StatusOr<Checker*> CheckerOf(ComputationId id) {
    std::unique_ptr<Checker>& checker = checkers_[id.value];
    if (checker != nullptr) return checker.get();
    checker = std::make_unique<Checker>();
    const ValueSources& sources = SourcesOf(id);
    SiteModule alone(module_, "alone");
    for (size_t k = 0; k < module_.computation(id).instructions.size(); ++k) {
      const int32_t instruction = static_cast<int32_t>(k);
      if (sources.RoleOf(instruction) != IsolatedAs::kChecked) continue;
      alone.AddAlone(0, id, sources, instruction);
      checker->members.resize(static_cast<size_t>(alone.num_outputs()), instruction);
    }
    if (checker->members.empty()) return checker.get();
    for (const auto& [set, value] : alone.parameters()) checker->parameters.push_back(value);
    ASSAY_ASSIGN_OR_RETURN(Module module, std::move(alone).Finish());
    ASSAY_ASSIGN_OR_RETURN(checker->program, Program::OfModule(std::move(module)));
    return checker.get();
  }

  absl::StatusOr<std::vector<BoundedOutput>> BoundsOf(Checker& checker, const Values& values) {
    DeviceInputs inputs;
    for (const ValueId value : checker.parameters) inputs.arguments.push_back(values.at(value));
    std::vector<bool> subnormals = SubnormalLeaves(inputs.arguments);
    auto it = checker.bounds.find(subnormals);
    if (it == checker.bounds.end()) {
      ASSAY_ASSIGN_OR_RETURN(PlannedBounds planned,
                             PlanBounds(*checker.program, profile_, subnormals, options_.engines));
      it = checker.bounds.emplace(std::move(subnormals), std::move(planned)).first;
    }
    std::vector<DeviceInputs> devices;
    devices.push_back(std::move(inputs));
    return RunBounds(it->second, DeviceGrid(), std::move(devices), options_.run);
  }

  absl::Status CheckValues(const Site& site, int64_t iteration, std::shared_ptr<const Values> values,
                           bool exact) {
    ASSAY_ASSIGN_OR_RETURN(Checker* const checker, CheckerOf(site.computation));
    std::vector<BoundedOutput> bounds;
    if (checker->program) {
      ASSAY_ASSIGN_OR_RETURN(bounds, BoundsOf(*checker, *values));
    }
    for (size_t k = 0; k < checker->members.size();) {
      const int32_t instruction = checker->members[k];
      Suspect suspect = {&site, iteration, instruction, values, {}, {}};
      Conformance all;
      for (int32_t leaf = 0; k < checker->members.size() && checker->members[k] == instruction; ++k, ++leaf) {
        Conformance one = Judge(bounds[k], &values->at({instruction, leaf}));
        Total(all, one);
        suspect.bounds.push_back(std::move(bounds[k]));
      }
      records_.Add(site, instruction, all);
      if (all.unchecked == all.elements && all.elements > 0) NoteWhy(site, instruction, *checker);
      if ((all.outside > 0 || exact) && records_.Confirmed(site, instruction) < kMostConfirmed) {
        suspect.in_program = std::move(all);
        suspects_.push_back(std::move(suspect));
      }
    }
    return Descend(site, iteration, *values);
  }

  void NoteWhy(const Site& site, int32_t instruction, const Checker& checker) {
    IsolatedInstruction& record = records_.Of(site, instruction);
    if (!record.why.empty() || checker.bounds.empty()) return;
    for (const DerivedBounds::Note& note : checker.bounds.begin()->second.unchecked) {
      if (note.instruction == record.name) record.why = note.why;
    }
  }

  static void Total(Conformance& total, const Conformance& one) {
    if (total.worst.empty() || (total.outside == 0 && one.outside > 0)) total.worst = one.worst;
    if (!one.error.empty()) total.error = one.error;
    AddCounts(total, one);
  }

  // Whether the loop went on as its condition says of the state; where not, the condition is looked into.
  absl::Status CheckCondition(const Site& site, const std::vector<Literal>& state, int64_t iteration,
                              bool went_on) {
    const ComputationId id = *site.loop->attributes.Computation(Attr::kCondition);
    std::unique_ptr<Checker>& checker = conditions_[id.value];
    if (checker == nullptr) {
      checker = std::make_unique<Checker>();
      SiteModule whole(module_, "condition");
      whole.AddValues(id, SourcesOf(id));
      if (whole.num_outputs() > 0) {
        ASSAY_ASSIGN_OR_RETURN(Module module, std::move(whole).Finish());
        ASSAY_ASSIGN_OR_RETURN(checker->program, Program::OfModule(std::move(module)));
      }
    }
    const Computation& condition = module_.computation(id);
    const ValueSources& sources = SourcesOf(id);
    const std::vector<ValueId>& own = sources.own();
    const auto root = std::find(own.begin(), own.end(), sources.Of(condition.root)[0]);
    if (!checker->program || root == own.end()) return absl::OkStatus();
    Values given;
    for (size_t k = 0; k < state.size(); ++k) given[{static_cast<int32_t>(k), 0}] = state[k];
    checker->parameters.clear();
    for (const auto& [value, literal] : given) checker->parameters.push_back(value);
    ASSAY_ASSIGN_OR_RETURN(const std::vector<BoundedOutput> bounds, BoundsOf(*checker, given));
    const BoundedOutput& decided = bounds[static_cast<size_t>(root - own.begin())];
    const Conformance judged = Judge(decided, &(went_on ? true_ : false_));
    if (judged.outside == 0) return absl::OkStatus();
    Note(fmt::format("{}: after {} iterations the loop {}, and its condition says otherwise of the state",
                     site.inside, iteration, went_on ? "went on" : "ended"));
    Site child;
    child.computation = id;
    child.arguments = state;
    child.place = site.place;
    child.place.push_back(iteration);
    child.callers = site.callers;
    child.inside = site.inside;
    child.iteration = iteration;
    AddSite(std::move(child));
    return absl::OkStatus();
  }

  // --- What is called ---

  void AddSite(Site site) {
    if (sites_left_ == 0) {
      ++not_looked_into_;
      return;
    }
    --sites_left_;
    next_.push_back(std::move(site));
  }

  absl::Status Descend(const Site& site, int64_t iteration, const Values& values) {
    const Computation& computation = module_.computation(site.computation);
    for (size_t k = 0; k < computation.instructions.size(); ++k) {
      const int32_t id = static_cast<int32_t>(k);
      const Instruction& instruction = computation.instructions[k];
      if (!IsLookedInto(instruction) || SourcesOf(site.computation).RoleOf(id) != IsolatedAs::kChecked)
        continue;
      Site child;
      size_t first = 0, count = instruction.operands.size();
      if (instruction.opcode == Opcode::kWhile) {
        child.loop = &instruction;
        child.computation = *instruction.attributes.Computation(Attr::kBody);
      } else if (instruction.opcode == Opcode::kConditional) {
        const std::vector<ComputationId> branches = CalledComputations(instruction);
        const Literal chosen = LeavesAt(site.computation, values, instruction.operands[0])[0];
        const int64_t last = static_cast<int64_t>(branches.size()) - 1;
        int64_t branch = chosen.GetInt(0);
        if (chosen.shape().element_type() == ElementType::kPred) {
          branch = branch != 0 ? 0 : 1;
        } else if (branch < 0 || branch > last) {
          branch = last;
        }
        child.computation = branches[static_cast<size_t>(branch)];
        first = static_cast<size_t>(branch) + 1;
        count = 1;
      } else {
        child.computation = CalledComputations(instruction)[0];
      }
      for (size_t o = first; o < first + count; ++o) {
        for (Literal& leaf : LeavesAt(site.computation, values, instruction.operands[o]))
          child.arguments.push_back(std::move(leaf));
      }
      child.place = site.place;
      if (!site.place.empty()) child.place.push_back(site.loop != nullptr ? iteration : 0);
      child.place.push_back(id);
      child.callers = site.callers;
      child.callers.push_back(site.computation.value);
      child.callers.push_back(id);
      child.inside = fmt::format("{}{}{}", site.inside, site.inside.empty() ? "" : "/", instruction.name);
      child.iteration = site.loop != nullptr ? iteration : site.iteration;
      AddSite(std::move(child));
    }
    return absl::OkStatus();
  }

  // --- Alone on the backend ---

  absl::Status RunAlone() {
    // Sites of the level outlive this.
    std::vector<Suspect> suspects = std::move(suspects_);
    suspects_.clear();
    std::map<std::pair<const Site*, int32_t>, int64_t> taken;
    std::erase_if(suspects, [&](const Suspect& s) {
      return ++taken[{s.site, s.instruction}] > kMostConfirmed;
    });
    return RunAlone(suspects);
  }

  absl::Status RunAlone(std::span<const Suspect> suspects) {
    if (suspects.empty()) return absl::OkStatus();
    SiteModule writer(module_, "alone");
    std::map<const Values*, int64_t> sets;
    std::vector<const Values*> values_of_set;
    for (const Suspect& suspect : suspects) {
      const auto [it, is_new] = sets.try_emplace(suspect.values.get(), static_cast<int64_t>(sets.size()));
      if (is_new) values_of_set.push_back(suspect.values.get());
      writer.AddAlone(it->second, suspect.site->computation, SourcesOf(suspect.site->computation),
                      suspect.instruction);
    }
    std::vector<Literal> arguments;
    for (const auto& [set, value] : writer.parameters())
      arguments.push_back(values_of_set[static_cast<size_t>(set)]->at(value));
    ASSAY_ASSIGN_OR_RETURN(Module module, std::move(writer).Finish());
    ASSAY_ASSIGN_OR_RETURN(const Program program, Program::OfModule(std::move(module)));
    const absl::StatusOr<std::vector<Literal>> outputs = RunBackend(program, arguments);
    if (!outputs.ok()) {
      ASSAY_RETURN_IF_ERROR(PollWork());
      if (suspects.size() > 1) {
        ASSAY_RETURN_IF_ERROR(RunAlone(suspects.first(suspects.size() / 2)));
        return RunAlone(suspects.subspan(suspects.size() / 2));
      }
      const Suspect& one = suspects[0];
      if (one.in_program.outside > 0) {
        records_.Confirm(*one.site, one.instruction, one.iteration, one.in_program, nullptr);
      } else {
        records_.LeaveOut(
            *one.site, one.instruction,
            fmt::format("the backend does not run it alone: {}", std::string(outputs.status().message())));
      }
      return absl::OkStatus();
    }
    size_t next = 0;
    for (const Suspect& suspect : suspects) {
      Conformance alone;
      for (const BoundedOutput& bound : suspect.bounds) Total(alone, Judge(bound, &(*outputs)[next++]));
      if (alone.outside > 0 || suspect.in_program.outside > 0)
        records_.Confirm(*suspect.site, suspect.instruction, suspect.iteration, suspect.in_program, &alone);
    }
    return absl::OkStatus();
  }

  const Module& module_;
  const Profile& profile_;
  Backend& backend_;
  const IsolateOptions& options_;
  Records records_;
  Isolation result_;
  std::map<int32_t, std::unique_ptr<ValueSources>> sources_;
  std::map<int32_t, std::unique_ptr<Checker>> checkers_, conditions_;
  std::vector<Suspect> suspects_;
  std::vector<Site> next_;  // the level below
  int64_t sites_left_ = 0, not_looked_into_ = 0;
  const Literal true_ = Literal::ScalarInt(ElementType::kPred, 1);
  const Literal false_ = Literal::ScalarInt(ElementType::kPred, 0);
};

}  // namespace

absl::StatusOr<Isolation> Isolate(const Program& program, const Profile& profile, Backend& backend,
                                  const std::vector<Literal>& arguments, const IsolateOptions& options) {
  return Isolator(program, profile, backend, options).Run(arguments);
}

}  // namespace assay
