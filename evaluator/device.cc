#include "evaluator/device.h"

#include <limits>
#include <utility>

#include "fmt/format.h"

namespace assay {

std::string DeviceGrid::NameOf(int64_t id) const { return fmt::format("r{}p{}", replica(id), partition(id)); }

absl::StatusOr<Literal> SingleDevice::Rendezvous(const Instruction&, std::span<const int64_t> members,
                                                 std::vector<Literal> contributions, Combine combine) {
  ASSAY_CHECK(members.size() == 1 && members[0] == 0);
  ASSAY_ASSIGN_OR_RETURN(std::vector<Literal> made, combine({&contributions, 1}));
  return std::move(made[0]);
}

absl::Status SingleDevice::Send(const Transfer& transfer, Literal value) {
  SelfChannel& channel = channels_[transfer.channel];
  channel.values.emplace(channel.sends++, std::move(value));
  return absl::OkStatus();
}

absl::StatusOr<int64_t> SingleDevice::BeginRecv(const Transfer& transfer) {
  return channels_[transfer.channel].recvs++;
}

absl::StatusOr<Literal> SingleDevice::FinishRecv(const Instruction&, const Transfer& transfer,
                                                 int64_t number) {
  std::map<int64_t, Literal>& values = channels_[transfer.channel].values;
  const auto sent = values.find(number);
  if (sent == values.end()) {
    return EvalError({}, fmt::format("deadlock: recv-done waits for channel {}, on which nothing was sent",
                                     transfer.channel));
  }
  Literal value = std::move(sent->second);
  values.erase(sent);
  return value;
}

// Decision: send-without-recv
absl::Status SingleDevice::FinishSend(const Instruction&, const Transfer& transfer) {
  SelfChannel& channel = channels_[transfer.channel];
  if (channel.finished_sends++ < channel.recvs) return absl::OkStatus();
  return EvalError({}, fmt::format("deadlock: send-done waits for channel {}, on which nothing is received",
                                   transfer.channel));
}

const std::atomic<int64_t>& SingleDevice::last_count() const {
  static const std::atomic<int64_t> never{std::numeric_limits<int64_t>::max()};
  return never;
}

}  // namespace assay
