// Programs by their content, for the whole process: one that is loaded again is not read, verified or planned
// again, and finds the code that its first runs made. Its runs are to be counted by who loaded it
// (Executor::CountRunsIn): what the sampled cross-check looks at must not depend on who
// ran the same program before.
#ifndef ASSAY_RUN_PROGRAM_CACHE_H_
#define ASSAY_RUN_PROGRAM_CACHE_H_

#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "absl/strings/string_view.h"
#include "base/hash_map.h"
#include "hlo/load/load.h"
#include "run/program.h"

namespace assay {

// Keeps up to `programs` programs of up to `bytes` bytes of text, proto or bytecode all together; what was
// loaded longest ago goes first, and what somebody holds outlives its place here. A program that alone has
// more than a quarter of `bytes` is not kept. The cache is safe from many threads.
class ProgramCache {
 public:
  ProgramCache(size_t programs, size_t bytes) : max_programs_(programs), max_bytes_(bytes) {}
  ProgramCache(const ProgramCache&) = delete;
  ProgramCache& operator=(const ProgramCache&) = delete;

  // 64 programs of 4 MiB: a Module takes some twenty times the bytes that it was read from.
  static ProgramCache& OfProcess();

  // Program::Load's result or error; errors are not kept. Equal bytes of one form with the same operations
  // are the same program.
  absl::StatusOr<Program> Load(std::string_view name, std::string_view bytes,
                               const std::shared_ptr<const CustomOps>& custom_ops = nullptr);
  size_t size() const;

 private:
  struct Entry {
    ProgramForm form;
    std::string bytes;
    std::shared_ptr<const CustomOps> custom_ops;
    Program program;
  };
  using Entries = std::list<Entry>;  // last loaded first
  using Key = std::tuple<ProgramForm, absl::string_view, const CustomOps*>;

  static Key KeyOf(ProgramForm form, std::string_view bytes, const std::shared_ptr<const CustomOps>& ops) {
    return {form, absl::string_view(bytes.data(), bytes.size()), ops.get()};
  }
  // Gives nothing where it is not there; else it is now the last loaded. The caller holds mutex_.
  std::optional<Program> Find(const Key& key);
  void DropOldest();  // under mutex_

  const size_t max_programs_, max_bytes_;
  mutable std::mutex mutex_;
  size_t kept_bytes_ = 0;
  Entries entries_;
  HashMap<Key, Entries::iterator> places_;  // keys point into entries_
};

}  // namespace assay

#endif  // ASSAY_RUN_PROGRAM_CACHE_H_
