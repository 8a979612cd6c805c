// The parts of a program's run that are looked into: its entry computation, and bodies of calls, branches and
// loops, each on the arrays that the backend had there.
#ifndef ASSAY_CHECK_ISOLATE_SITES_H_
#define ASSAY_CHECK_ISOLATE_SITES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "check/isolate/value_sources.h"
#include "hlo/module.h"
#include "literal/literal.h"

namespace assay {

// A place in the run of a program: indices of instructions and, of those in a computation that another one
// calls, iterations of loops, from the outside in. What is called stands before its caller.
using Place = std::vector<int64_t>;

struct Site {
  ComputationId computation;          // of a loop, its body
  const Instruction* loop = nullptr;  // null: it runs once
  int64_t exact_iterations = 0;       // of the loop on these arguments, by the exact engine
  std::vector<Literal> arguments;     // the leaves of its parameters
  Place place;  // of the instruction that calls it, in this run; empty: the entry computation
  std::vector<int64_t> callers;  // the same without iterations
  std::string inside;            // the same in words
  int64_t iteration = -1;        // of the innermost loop around it
};

// The arrays of one iteration of a site, or of one call, by what gave them; those of its parameters included.
using Values = std::map<ValueId, Literal>;

// ValueSources of a module's computations, each made when it is first asked for.
class ModuleSources {
 public:
  explicit ModuleSources(const Module& module) : module_(module) {}
  const Module& module() const { return module_; }
  const ValueSources& Of(ComputationId id);

 private:
  const Module& module_;
  std::map<int32_t, std::unique_ptr<ValueSources>> sources_;  // by computation
};

// The leaves of what an instruction of a computation gives; one that `values` lacks is a token.
std::vector<Literal> LeavesAt(ModuleSources& sources, ComputationId id, const Values& values,
                              int32_t instruction);

// Whether the instruction calls what is looked into.
bool IsLookedInto(const Instruction& instruction);
// What such an instruction of a site calls, in an iteration with these values. Of a loop the exact iterations
// are left out.
Site CalledSite(ModuleSources& sources, const Site& site, int64_t iteration, int32_t instruction,
                const Values& values);
// The condition of the site's loop on the state before an iteration.
Site ConditionSite(const Site& site, int64_t iteration, const std::vector<Literal>& state);

// The values of an iteration of a site that has this state before it. `outputs`: what SiteModule::AddValues
// or AddLoop gives, of own arrays alone.
absl::StatusOr<Values> ValuesOfIteration(ModuleSources& sources, const Site& site, int64_t iteration,
                                         const std::vector<Literal>& state, std::span<const Literal> outputs);

}  // namespace assay

#endif  // ASSAY_CHECK_ISOLATE_SITES_H_
