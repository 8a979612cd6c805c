// Programs by their content, for the whole process: one that is loaded again is not read, verified or planned again, and
// finds the code that its first runs made. Its runs are to be counted by who loaded it (Executor::CountRunsIn): what the sampled
// cross-check looks at must not depend on who ran the same program before.
#ifndef ASSAY_RUN_PROGRAM_CACHE_H_
#define ASSAY_RUN_PROGRAM_CACHE_H_

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "evaluator/verify.h"
#include "hlo/load/load.h"
#include "plan/plan.h"
#include "run/engine_list.h"

namespace assay {

// A verified program and its plans. Safe from many threads.
class PlannedProgram {
 public:
  explicit PlannedProgram(VerifiedModule module) : module_(std::move(module)) {}
  const VerifiedModule& module() const { return module_; }
  // MakePlan's, made at the first call for the engines and the instruction set; runs share it.
  absl::StatusOr<std::shared_ptr<const Plan>> PlanFor(EngineChoice choice, Isa isa = MachineIsa());

 private:
  const VerifiedModule module_;
  std::mutex mutex_;  // of plans_
  std::map<std::pair<EngineChoice, Isa>, std::shared_ptr<const Plan>> plans_;
};

// Keeps up to `programs` programs of up to `bytes` bytes of text, proto or bytecode all together; what was loaded
// longest ago goes first, and what somebody holds outlives its place here. A program that alone has more than a quarter
// of `bytes` is not kept. Safe from many threads.
class ProgramCache {
 public:
  ProgramCache(size_t programs, size_t bytes) : max_programs_(programs), max_bytes_(bytes) {}
  ProgramCache(const ProgramCache&) = delete;
  ProgramCache& operator=(const ProgramCache&) = delete;

  // 64 programs of 4 MiB: a Module takes some twenty times the bytes that it was read from.
  static ProgramCache& OfProcess();

  // LoadProgram's and Verify's result or error; errors are not kept. Equal bytes of one form are the same program.
  absl::StatusOr<std::shared_ptr<PlannedProgram>> Load(std::string_view name, std::string_view bytes);
  size_t size() const;

 private:
  struct Entry {
    ProgramForm form;
    std::string bytes;
    std::shared_ptr<PlannedProgram> program;
  };
  using Entries = std::list<Entry>;  // last loaded first
  using Key = std::pair<ProgramForm, absl::string_view>;

  static Key KeyOf(ProgramForm form, std::string_view bytes) {
    return {form, absl::string_view(bytes.data(), bytes.size())};
  }
  // Null where it is not there; else it is now the last loaded. Under mutex_.
  std::shared_ptr<PlannedProgram> Find(const Key& key);
  void DropOldest();  // under mutex_

  const size_t max_programs_, max_bytes_;
  mutable std::mutex mutex_;
  size_t kept_bytes_ = 0;
  Entries entries_;
  absl::flat_hash_map<Key, Entries::iterator> places_;  // keys point into entries_
};

}  // namespace assay

#endif  // ASSAY_RUN_PROGRAM_CACHE_H_
