// A link that is another one but for what a class below it says otherwise.
#ifndef ASSAY_DEVICES_FORWARDING_LINK_H_
#define ASSAY_DEVICES_FORWARDING_LINK_H_

#include <utility>
#include <vector>

#include "evaluator/device.h"

namespace assay {

class ForwardingLink : public DeviceLink {
 public:
  explicit ForwardingLink(DeviceLink& inner) : inner_(inner) {}

  const DeviceGrid& grid() const override { return inner_.grid(); }
  int64_t id() const override { return inner_.id(); }
  absl::StatusOr<Literal> Rendezvous(const Instruction& at, std::span<const int64_t> members,
                                     std::vector<Literal> contributions, Combine combine) override {
    return inner_.Rendezvous(at, members, std::move(contributions), combine);
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

 protected:
  DeviceLink& inner() { return inner_; }

 private:
  DeviceLink& inner_;
};

}  // namespace assay

#endif  // ASSAY_DEVICES_FORWARDING_LINK_H_
