// The link of a device whose executor is not charged for the work that it does for all members of a
// collective: which of them does it is a matter of timing, and steps (--max-steps) are not. While it is done
// it counts, so that it ends.
#ifndef ASSAY_DEVICES_UNCOUNTED_LINK_H_
#define ASSAY_DEVICES_UNCOUNTED_LINK_H_

#include <utility>
#include <vector>

#include "devices/forwarding_link.h"
#include "run/executor.h"

namespace assay {

class UncountedLink final : public ForwardingLink {
 public:
  using ForwardingLink::ForwardingLink;
  // Before the executor runs; it outlives the run.
  void SetExecutor(Executor* executor) { executor_ = executor; }

  absl::StatusOr<Literal> Rendezvous(const Instruction& at, std::span<const int64_t> members,
                                     std::vector<Literal> contributions, Combine combine) override {
    return inner().Rendezvous(at, members, std::move(contributions),
                              [&](std::span<std::vector<Literal>> all) {
                                const int64_t before = executor_->step_units();
                                absl::StatusOr<std::vector<Literal>> made = combine(all);
                                executor_->SetStepUnits(before);
                                return made;
                              });
  }

 private:
  Executor* executor_ = nullptr;
};

}  // namespace assay

#endif  // ASSAY_DEVICES_UNCOUNTED_LINK_H_
