// Checks of results that kernels leave for later. A kernel on a device may have to ask the device whether a
// result is right as it stands, and would wait for the answer. Between two points at which the executor can
// go back to the values that it had (the iterations of a loop), it lets kernels note such checks instead, and
// asks once: if one fails, it runs the steps again, without this.
#ifndef ASSAY_ENGINES_DEFERRED_CHECKS_H_
#define ASSAY_ENGINES_DEFERRED_CHECKS_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"

namespace assay {

class DeferredChecks {
 public:
  class Check {
   public:
    virtual ~Check() = default;
    // Waits for the results that it is about. False: one of them is wrong.
    virtual absl::StatusOr<bool> Holds() = 0;
  };

  // Those of the steps that run on this thread; null: results have to be right when a step ends.
  static DeferredChecks* Current() { return current_; }

  // While it lives, steps of this thread note their checks here; null: nowhere.
  class Scope {
   public:
    explicit Scope(DeferredChecks* checks) : before_(current_) { current_ = checks; }
    ~Scope() { current_ = before_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    DeferredChecks* const before_;
  };

  // A check, by its owner; one for all results of an owner's suffices.
  Check* Find(const void* owner) const {
    for (const Entry& entry : entries_) {
      if (entry.owner == owner) return entry.check.get();
    }
    return nullptr;
  }
  Check* Add(const void* owner, std::unique_ptr<Check> check) {
    entries_.push_back({owner, std::move(check)});
    return entries_.back().check.get();
  }

  // Whether all of them hold; none are left then.
  absl::StatusOr<bool> Hold() {
    bool all = true;
    for (const Entry& entry : entries_) {
      const absl::StatusOr<bool> holds = entry.check->Holds();
      if (!holds.ok()) return holds.status();
      all = all && *holds;
    }
    entries_.clear();
    return all;
  }

 private:
  struct Entry {
    const void* owner;
    std::unique_ptr<Check> check;
  };
  inline static thread_local DeferredChecks* current_ = nullptr;
  std::vector<Entry> entries_;
};

}  // namespace assay

#endif  // ASSAY_ENGINES_DEFERRED_CHECKS_H_
