// How far a long piece of work is, for who shows it: "samples", 3 of 16.
#ifndef ASSAY_BASE_WORK_STAGE_H_
#define ASSAY_BASE_WORK_STAGE_H_

#include <cstdint>
#include <functional>
#include <string_view>

namespace assay {

// While it lives, `observer` is told of this thread's stages: what is counted, how many are done, and of how
// many (0: nobody knows).
using WorkObserver = std::function<void(std::string_view what, int64_t done, int64_t total)>;
class WorkObserverScope {
 public:
  explicit WorkObserverScope(WorkObserver observer);
  ~WorkObserverScope();
  WorkObserverScope(const WorkObserverScope&) = delete;
  WorkObserverScope& operator=(const WorkObserverScope&) = delete;

 private:
  const WorkObserver observer_;
  const WorkObserver* const before_;
};

// A loop over `total` of `what`. Of stages inside of others the outermost one is told of: the samples, not
// the steps of each. It costs a few nanoseconds where nobody is told.
class WorkStage {
 public:
  WorkStage(std::string_view what, int64_t total);
  ~WorkStage();
  WorkStage(const WorkStage&) = delete;
  WorkStage& operator=(const WorkStage&) = delete;
  void Done(int64_t done) const {
    if (is_told_) Tell(done);
  }

 private:
  void Tell(int64_t done) const;

  const std::string_view what_;
  const int64_t total_;
  const bool is_told_;
};

}  // namespace assay

#endif  // ASSAY_BASE_WORK_STAGE_H_
