// The link of a device whose executor is not charged for the work that it does for all members of a collective: which of them
// does it is a matter of timing, and steps (--max-steps) are not. While it is done it counts, so that it ends.
#ifndef ASSAY_DEVICES_UNCOUNTED_LINK_H_
#define ASSAY_DEVICES_UNCOUNTED_LINK_H_

#include <utility>
#include <vector>

#include "evaluator/device.h"
#include "run/executor.h"

namespace assay {

class UncountedLink final : public DeviceLink {
 public:
  explicit UncountedLink(DeviceLink& inner) : inner_(inner) {}
  // Before the executor runs; it outlives the run.
  void SetExecutor(Executor* executor) { executor_ = executor; }

  const DeviceGrid& grid() const override { return inner_.grid(); }
  int64_t id() const override { return inner_.id(); }
  absl::StatusOr<Literal> Meet(const Instruction& at, std::span<const int64_t> members,
                               std::vector<Literal> brought, Combine combine) override {
    return inner_.Meet(at, members, std::move(brought), [&](std::span<std::vector<Literal>> all) {
      const int64_t before = executor_->counted();
      absl::StatusOr<std::vector<Literal>> made = combine(all);
      executor_->SetCounted(before);
      return made;
    });
  }
  absl::Status Send(const Transfer& transfer, Literal value) override {
    return inner_.Send(transfer, std::move(value));
  }
  absl::StatusOr<int64_t> BeginRecv(const Transfer& transfer) override { return inner_.BeginRecv(transfer); }
  absl::StatusOr<Literal> FinishRecv(const Instruction& at, const Transfer& transfer,
                                     int64_t number) override {
    return inner_.FinishRecv(at, transfer, number);
  }
  absl::Status FinishSend(const Instruction& at, const Transfer& transfer) override {
    return inner_.FinishSend(at, transfer);
  }
  const std::atomic<int64_t>& last_count() const override { return inner_.last_count(); }

 private:
  DeviceLink& inner_;
  Executor* executor_ = nullptr;
};

}  // namespace assay

#endif  // ASSAY_DEVICES_UNCOUNTED_LINK_H_
