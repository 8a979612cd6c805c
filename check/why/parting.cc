#include "check/why/parting.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>

#include "check/estimate/mover.h"
#include "check/estimate/sample_program.h"
#include "check/isolate/site_modules.h"
#include "check/isolate/sites.h"
#include "fmt/format.h"
#include "literal/element_io.h"
#include "literal/leaves.h"

namespace assay {
namespace {

constexpr int kDeepest = 16;
constexpr int64_t kMaxSamples = 8;
constexpr int64_t kMinSamples = 2;
constexpr int64_t kMaxSlots = 4096;              // iterations of a loop whose values are kept
constexpr int64_t kMaxRunBytes = 32 << 20;       // of the values of one run of a loop
constexpr int64_t kMaxBytes = int64_t{1} << 29;  // of the values of all runs

// A value of an iteration of a loop; 0 where the computation runs once.
struct ValuePlace {
  int64_t iteration = 0;
  ValueId value;
  auto operator<=>(const ValuePlace&) const = default;
};

struct Distance {
  double spread = 0, magnitude = 0;
  bool parted() const { return spread > kPartedShare * magnitude; }
};

double NumberAt(const Literal& array, int64_t i, bool imaginary) {
  const ElementType type = array.shape().element_type();
  const ScalarValue value = LoadElement(type, array.data() + i * Bytes(type));
  switch (value.kind) {
    case ComputeKind::kBool:
      return value.b;
    case ComputeKind::kInt64:
      return static_cast<double>(value.i);
    case ComputeKind::kUint64:
      return static_cast<double>(value.u);
    case ComputeKind::kReal:
      return value.r;
    case ComputeKind::kComplex:
      return imaginary ? value.c.imag() : value.c.real();
  }
  return 0;
}

// Adds what a sample's elements in [first, first + count) are away from the exact ones, of finite numbers.
void AddDistance(const Literal& exact, const Literal& sample, int64_t first, int64_t count, Distance& total) {
  const int parts = IsComplex(exact.shape().element_type()) ? 2 : 1;
  for (int64_t i = first; i < first + count; ++i) {
    for (int part = 0; part < parts; ++part) {
      const double e = NumberAt(exact, i, part == 1), s = NumberAt(sample, i, part == 1);
      if (!std::isfinite(e) || !std::isfinite(s)) continue;
      total.spread = std::max(total.spread, std::fabs(s - e));
      total.magnitude = std::max({total.magnitude, std::fabs(e), std::fabs(s)});
    }
  }
}

// The same place in the run of the program and in those of the samples.
struct SampledSite {
  Site exact;
  std::vector<Site> samples;
};

// What the runs gave there: the values of all iterations, as SiteModule gives them.
struct SiteRuns {
  int64_t iterations = 1;  // that all runs have, and that are known
  int64_t fewest = 1, most = 1;
  std::vector<Literal> exact;
  std::vector<std::vector<Literal>> samples;
};

class PartingFinder {
 public:
  PartingFinder(const Program& program, const Profile& profile, const RunOptions& options,
                const EstimateOptions& estimate, std::span<const Engine* const> engines)
      : module_(program.module()),
        profile_(profile),
        options_(options),
        estimate_(estimate),
        engines_(engines),
        sources_(module_) {}

  absl::StatusOr<std::optional<Parting>> Find(const SampledSite& site, int64_t leaf, int depth) {
    // Those of the entry computation are the same for all leaves.
    std::optional<SiteRuns> own;
    std::optional<SiteRuns>& kept = depth == 0 ? entry_ : own;
    if (!kept) {
      ASSAY_ASSIGN_OR_RETURN(kept, Run(site));
    }
    const SiteRuns* const runs = &*kept;
    const std::optional<ValuePlace> origin = OriginOf(site, *runs, leaf);
    const bool is_loop = site.exact.loop != nullptr;
    if (!origin) {
      if (is_loop && runs->fewest != runs->most) return LeavesLoop(site, *runs);
      return std::nullopt;
    }
    const Instruction& instruction = At(site, origin->value.instruction);
    if (depth < kDeepest && IsLookedInto(instruction)) {
      absl::StatusOr<std::optional<Parting>> deeper = FindInside(site, *runs, *origin, depth);
      // What is too large to be looked into is named itself.
      if (!deeper.ok() && ExitCodeOf(deeper.status()) != 4) return deeper.status();
      if (deeper.ok() && *deeper) return deeper;
    }
    Parting found;
    found.at = {instruction.name,
                std::string(Name(instruction.opcode)),
                site.exact.inside,
                is_loop ? origin->iteration : site.exact.iteration,
                {}};
    const Distance distance = DistanceAt(site, *runs, *origin);
    found.spread = distance.spread;
    found.magnitude = distance.magnitude;
    return found;
  }

  static SampledSite EntryOf(const Module& module, const std::vector<Literal>& arguments, int64_t samples) {
    SampledSite site;
    site.exact.computation = module.entry;
    for (const Literal& argument : arguments) {
      for (Literal& leaf : LeavesOf(argument)) site.exact.arguments.push_back(std::move(leaf));
    }
    site.samples.assign(static_cast<size_t>(std::clamp(samples, kMinSamples, kMaxSamples)), site.exact);
    return site;
  }

 private:
  const Instruction& At(const SampledSite& site, int32_t instruction) const {
    return module_.computation(site.exact.computation).instructions[static_cast<size_t>(instruction)];
  }

  // --- Runs ---

  int64_t BytesOf(const SampledSite& site) {
    int64_t bytes = 1;
    for (const ValueId value : sources_.Of(site.exact.computation).own()) {
      const Shape& shape = *At(site, value.instruction).shape;
      bytes += LeafShapes(shape)[static_cast<size_t>(value.leaf)]->num_bytes();
    }
    return bytes;
  }

  absl::StatusOr<SiteRuns> Run(const SampledSite& site) {
    const ValueSources& sources = sources_.Of(site.exact.computation);
    const bool is_loop = site.exact.loop != nullptr;
    int64_t slots = 1;
    if (is_loop) {
      // How many there are: one slot is enough to count.
      ASSAY_ASSIGN_OR_RETURN(const Program counted, ProgramOf(site, sources, 1));
      ASSAY_ASSIGN_OR_RETURN(const std::vector<Literal> outputs, RunOne(counted, site.exact.arguments));
      slots = std::clamp<int64_t>(outputs[0].GetInt(0) + 1, 1,
                                  std::clamp<int64_t>(kMaxRunBytes / BytesOf(site), 1, kMaxSlots));
    }
    const int64_t bytes = slots * BytesOf(site);
    if (bytes > kMaxBytes / (kMinSamples + 1))
      return NotSupported({}, fmt::format("{} bytes of values to compare, want at most {}", bytes,
                                          kMaxBytes / (kMinSamples + 1)));
    ASSAY_ASSIGN_OR_RETURN(const Program program, ProgramOf(site, sources, slots));
    ASSAY_ASSIGN_OR_RETURN(SampledProgram made,
                           SampleProgram(program.verified(), profile_, SubnormalLeaves(site.exact.arguments),
                                         SampleRadii::kOfEachSample));
    ASSAY_ASSIGN_OR_RETURN(const Program sampled, Program::OfModule(std::move(made.module)));
    SiteRuns runs;
    ASSAY_ASSIGN_OR_RETURN(runs.exact, RunOne(program, site.exact.arguments));
    const int64_t fitting = kMaxBytes / bytes - 1;
    for (int64_t k = 0; k < std::min(fitting, std::ssize(site.samples)); ++k) {
      std::vector<Literal> arguments = site.samples[static_cast<size_t>(k)].arguments;
      const uint32_t key = KeyOfSeed(estimate_.seed + static_cast<uint64_t>(k));
      arguments.push_back(Literal::ScalarInt(ElementType::kU32, key));
      ASSAY_ASSIGN_OR_RETURN(runs.samples.emplace_back(), RunOne(sampled, std::move(arguments)));
    }
    if (is_loop) CountIterations(runs, slots);
    return runs;
  }

  // The first output of a loop is their number. Of more than there are slots the last slot holds one of
  // those.
  static void CountIterations(SiteRuns& runs, int64_t slots) {
    runs.fewest = runs.most = runs.exact[0].GetInt(0);
    runs.exact.erase(runs.exact.begin());
    for (std::vector<Literal>& sample : runs.samples) {
      runs.fewest = std::min(runs.fewest, sample[0].GetInt(0));
      runs.most = std::max(runs.most, sample[0].GetInt(0));
      sample.erase(sample.begin());
    }
    runs.iterations = std::min(runs.fewest, runs.most > slots ? slots - 1 : slots);
  }

  absl::StatusOr<Program> ProgramOf(const SampledSite& site, const ValueSources& sources, int64_t slots) {
    SiteModule writer(module_, "samples");
    if (site.exact.loop != nullptr) {
      writer.AddLoop(*site.exact.loop, sources, slots);
    } else {
      writer.AddValues(site.exact.computation, sources);
    }
    return std::move(writer).Finish();
  }

  absl::StatusOr<std::vector<Literal>> RunOne(const Program& program, std::vector<Literal> arguments) const {
    ASSAY_ASSIGN_OR_RETURN(Literal root, program.Run(std::move(arguments), options_, engines_));
    return LeavesOf(std::move(root));
  }

  // --- Back from a leaf of the root ---

  Distance DistanceAt(const SampledSite& site, const SiteRuns& runs, const ValuePlace& place) {
    const std::vector<ValueId>& own = sources_.Of(site.exact.computation).own();
    const auto at = std::lower_bound(own.begin(), own.end(), place.value);
    Distance distance;
    if (at == own.end() || *at != place.value) return distance;  // a parameter or constant
    const size_t output = static_cast<size_t>(at - own.begin());
    const Literal& exact = runs.exact[output];
    const bool is_loop = site.exact.loop != nullptr;
    const int64_t all = exact.shape().num_elements();
    const int64_t count = is_loop ? all / exact.shape().size(0) : all;
    for (const std::vector<Literal>& sample : runs.samples)
      AddDistance(exact, sample[output], is_loop ? place.iteration * count : 0, count, distance);
    return distance;
  }

  bool IsParameter(const SampledSite& site, ValueId value) const {
    return At(site, value.instruction).opcode == Opcode::kParameter;
  }

  // The same value as what gave it: a loop's state is what the iteration before left.
  std::optional<ValuePlace> Resolved(const SampledSite& site, ValuePlace place) {
    const Computation& computation = module_.computation(site.exact.computation);
    const ValueSources& sources = sources_.Of(site.exact.computation);
    while (IsParameter(site, place.value)) {
      if (site.exact.loop == nullptr || place.iteration == 0) return std::nullopt;
      place = {place.iteration - 1, sources.Of(computation.root)[static_cast<size_t>(place.value.leaf)]};
    }
    return place;
  }

  // From the leaf, of the last iteration that is known, by values whose samples have parted, to the first
  // that depends on none.
  std::optional<ValuePlace> OriginOf(const SampledSite& site, const SiteRuns& runs, int64_t leaf) {
    const Computation& computation = module_.computation(site.exact.computation);
    const ValueSources& sources = sources_.Of(site.exact.computation);
    if (runs.iterations == 0) return std::nullopt;
    std::vector<ValuePlace> open;
    std::map<ValuePlace, bool> seen;
    const auto look_at = [&](int64_t iteration, ValueId value) {
      const std::optional<ValuePlace> place = Resolved(site, {iteration, value});
      if (!place) return false;
      const auto [it, is_new] = seen.try_emplace(*place);
      if (!is_new) return it->second;
      it->second = DistanceAt(site, runs, *place).parted();
      if (it->second) open.push_back(*place);
      return it->second;
    };
    const std::vector<ValueId>& root = sources.Of(computation.root);
    look_at(runs.iterations - 1, root[static_cast<size_t>(leaf)]);
    std::optional<ValuePlace> origin;
    while (!open.empty()) {
      const ValuePlace place = open.back();
      open.pop_back();
      bool is_origin = true;
      for (const int32_t operand : At(site, place.value.instruction).operands) {
        for (const ValueId source : sources.Of(operand))
          is_origin = !look_at(place.iteration, source) && is_origin;
      }
      if (is_origin && (!origin || place < *origin)) origin = place;
    }
    return origin;
  }

  // --- Inside of calls, branches and loops ---

  static Parting LeavesLoop(const SampledSite& site, const SiteRuns& runs) {
    Parting found;
    const Instruction& loop = *site.exact.loop;
    const size_t slash = site.exact.inside.rfind('/');
    found.at = {loop.name, std::string(Name(loop.opcode)),
                slash == std::string::npos ? std::string() : site.exact.inside.substr(0, slash),
                site.exact.iteration,
                fmt::format("they leave the loop after {} to {} iterations", runs.fewest, runs.most)};
    return found;
  }

  absl::StatusOr<std::optional<Parting>> FindInside(const SampledSite& site, const SiteRuns& runs,
                                                    const ValuePlace& place, int depth) {
    const auto called_of = [&](const Site& from, const std::vector<Literal>& outputs) {
      return CalledFrom(from, outputs, place);
    };
    SampledSite called;
    ASSAY_ASSIGN_OR_RETURN(called.exact, called_of(site.exact, runs.exact));
    for (size_t k = 0; k < runs.samples.size(); ++k) {
      ASSAY_ASSIGN_OR_RETURN(called.samples.emplace_back(), called_of(site.samples[k], runs.samples[k]));
      if (called.samples.back().computation.value == called.exact.computation.value) continue;
      const Instruction& instruction = At(site, place.value.instruction);
      Parting found;
      found.at = {instruction.name, std::string(Name(instruction.opcode)), site.exact.inside,
                  site.exact.loop != nullptr ? place.iteration : site.exact.iteration,
                  "they take different branches"};
      return found;
    }
    return Find(called, place.value.leaf, depth + 1);
  }

  // What the instruction calls, on the values of one run.
  absl::StatusOr<Site> CalledFrom(const Site& site, const std::vector<Literal>& outputs,
                                  const ValuePlace& place) {
    std::vector<Literal> state = site.arguments;
    for (int64_t iteration = 0;; ++iteration) {
      ASSAY_ASSIGN_OR_RETURN(const Values values,
                             ValuesOfIteration(sources_, site, iteration, state, outputs));
      if (iteration == place.iteration)
        return CalledSite(sources_, site, iteration, place.value.instruction, values);
      state = LeavesAt(sources_, site.computation, values, module_.computation(site.computation).root);
    }
  }

  const Module& module_;
  const Profile& profile_;
  const RunOptions& options_;
  const EstimateOptions& estimate_;
  const std::span<const Engine* const> engines_;
  ModuleSources sources_;
  std::optional<SiteRuns> entry_;
};

}  // namespace

absl::StatusOr<std::vector<std::optional<Parting>>> FindPartings(
    const Program& program, const Profile& profile, const std::vector<Literal>& arguments,
    std::span<const int64_t> leaves, const RunOptions& options, const EstimateOptions& estimate,
    std::span<const Engine* const> engines) {
  PartingFinder finder(program, profile, options, estimate, engines);
  const SampledSite entry = PartingFinder::EntryOf(program.module(), arguments, estimate.samples);
  std::vector<std::optional<Parting>> found;
  for (const int64_t leaf : leaves) {
    ASSAY_ASSIGN_OR_RETURN(std::optional<Parting> one, finder.Find(entry, leaf, 0));
    found.push_back(std::move(one));
  }
  return found;
}

}  // namespace assay
