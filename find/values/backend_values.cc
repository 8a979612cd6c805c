#include "find/values/backend_values.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "base/counted.h"
#include "check/isolate/prober.h"
#include "check/isolate/sites.h"
#include "check/isolate/values_probe.h"
#include "find/values/value_names.h"
#include "fmt/format.h"
#include "literal/leaves.h"

namespace assay {
namespace {

// A body, and what stands before the names of its values. Of a loop the name of an iteration is missing yet.
struct NamedSite {
  Site site;
  std::string path;
};

// Level by level, from the entry computation inward: sites of one level are looked into by few runs.
class Reader {
 public:
  Reader(const Program& program, const RunValues& exact, Backend& backend, const IsolateOptions& options)
      : module_(program.module()),
        exact_(exact),
        options_(options),
        sources_(module_),
        prober_(backend, options),
        sites_left_(options.max_sites) {
    for (const auto& [name, value] : exact.values) names_.insert(name);
  }

  absl::StatusOr<BackendValues> Run(const std::vector<Literal>& arguments) {
    NamedSite entry;
    entry.site.computation = module_.entry;
    for (const Literal& argument : arguments) AppendLeaves(argument, entry.site.arguments);
    for (const Literal& leaf : entry.site.arguments) {
      if (!leaf.shape().IsArray())
        return NotSupported({},
                            fmt::format("--values: a parameter is {}, want arrays", leaf.shape().ToString()));
    }
    next_.push_back(std::move(entry));
    while (!next_.empty()) {
      const std::vector<NamedSite> level = std::exchange(next_, {});
      for (std::span<const NamedSite> rest = level; !rest.empty();) {
        const std::span<const NamedSite> sites = rest.first(FirstProgramOf(
            module_, rest.size(), [&](size_t number) -> const Site& { return rest[number].site; }));
        ASSAY_RETURN_IF_ERROR(LookInto(sites));
        rest = rest.subspan(sites.size());
      }
    }
    if (not_looked_into_ > 0) {
      result_.notes.push_back(fmt::format("{} were not looked into, behind the first {}",
                                          Counted(not_looked_into_, "call, branch or loop"),
                                          options_.max_sites));
    }
    return std::move(result_);
  }

 private:
  absl::Status LookInto(std::span<const NamedSite> sites) {
    const auto write = [this](std::span<const NamedSite> some) {
      ValuesProbe probe(sources_, options_);
      for (const NamedSite& named : some) probe.Add(named.site);
      return std::move(probe).Finish();
    };
    const auto take = [this](std::span<const NamedSite> some, const Prober::Outputs& outputs) {
      std::span<const Literal> rest = outputs;
      for (const NamedSite& site : some) ASSAY_RETURN_IF_ERROR(TakeSite(site, rest));
      return absl::OkStatus();
    };
    const auto fail = [this](const NamedSite& site, const Prober::Probe&, const absl::Status& why) {
      result_.notes.push_back(fmt::format("{}: the backend does not give its intermediate values: {}",
                                          site.path.empty() ? "the entry computation" : site.path,
                                          std::string(why.message())));
      return absl::OkStatus();
    };
    return prober_.RunInHalves<NamedSite>(sites, {write, take, fail});
  }

  // Takes the site's outputs off the front of `outputs`.
  absl::Status TakeSite(const NamedSite& named, std::span<const Literal>& outputs) {
    const Site& site = named.site;
    int64_t iterations = 1;
    if (site.loop != nullptr) {
      const int64_t all = outputs[0].GetInt(0), slots = SlotsOf(sources_, site, options_);
      outputs = outputs.subspan(1);
      // The last slot holds the last of all later iterations.
      iterations = all > slots ? slots - 1 : all;
      if (iterations < all || all != site.exact_iterations) {
        result_.notes.push_back(fmt::format("{}: {} of the backend's {} were looked at; exactly there are {}",
                                            named.path, iterations, Counted(all, "iteration"),
                                            site.exact_iterations));
      }
    }
    const std::span<const Literal> own = outputs.first(sources_.Of(site.computation).own().size());
    outputs = outputs.subspan(own.size());
    std::vector<Literal> state = site.arguments;
    for (int64_t iteration = 0; iteration < iterations; ++iteration) {
      ASSAY_ASSIGN_OR_RETURN(const Values values, ValuesOfIteration(sources_, site, iteration, state, own));
      if (site.loop != nullptr)
        state = LeavesAt(sources_, site.computation, values, module_.computation(site.computation).root);
      const std::string path =
          site.loop == nullptr ? named.path
                               : named.path + CallName(*site.loop, {site.computation, 0, iteration, false});
      TakeValues(site, path, values);
      AddCalledSites(site, iteration, path, values);
    }
    return absl::OkStatus();
  }

  void TakeValues(const Site& site, const std::string& path, const Values& values) {
    const Computation& computation = module_.computation(site.computation);
    for (const ValueId id : sources_.Of(site.computation).own()) {
      const Instruction& instruction = computation.instructions[static_cast<size_t>(id.instruction)];
      std::vector<ShapeIndex> leaves;
      ForEachLeaf(*instruction.shape, [&](const ShapeIndex& leaf, const Shape&) { leaves.push_back(leaf); });
      std::string name = path + LeafName(instruction, leaves[static_cast<size_t>(id.leaf)]);
      if (names_.contains(name)) result_.values.emplace(std::move(name), values.at(id));
    }
  }

  bool HasValuesBelow(const std::string& path) const {
    const auto it = names_.lower_bound(path);
    return it != names_.end() && it->starts_with(path);
  }

  void AddCalledSites(const Site& site, int64_t iteration, const std::string& path, const Values& values) {
    const std::span<const Instruction> instructions = module_.computation(site.computation).instructions;
    const ValueSources& sources = sources_.Of(site.computation);
    for (size_t k = 0; k < instructions.size(); ++k) {
      const int32_t id = static_cast<int32_t>(k);
      const Instruction& caller = instructions[k];
      if (!IsLookedInto(caller) || sources.RoleOf(id) != IsolatedAs::kChecked) continue;
      const std::string name = path + LeafName(caller, {});
      if (!HasValuesBelow(name + "/")) continue;
      if (sites_left_ == 0) {
        ++not_looked_into_;
        continue;
      }
      --sites_left_;
      Site called = CalledSite(sources_, site, iteration, id, values);
      if (called.loop != nullptr) {
        const auto it = exact_.iterations.find(name);
        called.exact_iterations = it == exact_.iterations.end() ? 0 : it->second;
      }
      const bool is_loop = called.loop != nullptr;
      next_.push_back({std::move(called), is_loop ? path : name + "/"});
    }
  }

  const Module& module_;
  const RunValues& exact_;
  const IsolateOptions& options_;
  ModuleSources sources_;
  Prober prober_;
  std::set<std::string> names_;
  BackendValues result_;
  std::vector<NamedSite> next_;
  int64_t sites_left_, not_looked_into_ = 0;
};

}  // namespace

absl::StatusOr<BackendValues> ValuesOfBackend(const Program& program, const RunValues& exact,
                                              Backend& backend, const std::vector<Literal>& arguments,
                                              const IsolateOptions& options) {
  return Reader(program, exact, backend, options).Run(arguments);
}

}  // namespace assay
