// The devices of a run, and what one of them sees of the others. Spec: docs/spec/operations-collective.md,
// "Process grid" and SYNC-1; docs/spec/operations-control.md, "Channels".
//
// Every device evaluates the same program. A collective is a joint step of its group: the n-th execution of
// an instruction by one member meets the n-th execution by each other one. What waits for whom is decided
// behind this interface (devices/), so that ops state only who takes part and what comes out.
#ifndef ASSAY_EVALUATOR_DEVICE_H_
#define ASSAY_EVALUATOR_DEVICE_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "base/error.h"
#include "hlo/module.h"
#include "literal/literal.h"

namespace assay {

// A run has no more devices than this: each has a thread.
inline constexpr int64_t kMaxDevices = 4096;

// R replicas of P partitions each. Device (r, p) has the id r * P + p.
struct DeviceGrid {
  int64_t replicas = 1, partitions = 1;
  // Values outside of manual regions are the same on all devices (docs/spec/sharding.md, SDY-2): a program
  // that no partitioner has been over. What leaves the run is device 0's.
  bool logical = false;

  bool operator==(const DeviceGrid&) const = default;
  int64_t size() const { return replicas * partitions; }
  int64_t id(int64_t replica, int64_t partition) const { return replica * partitions + partition; }
  int64_t replica(int64_t id) const { return id / partitions; }
  int64_t partition(int64_t id) const { return id % partitions; }
  // "r0p1"
  std::string NameOf(int64_t id) const;
};

// Point-to-point transfers from one device to another on one channel: the n-th send meets the n-th recv.
struct Transfer {
  int64_t channel = 0;
  int64_t source = 0, target = 0;  // ids
};

class DeviceLink {
 public:
  // Makes, from the contributions of the members, in their order, what each of them gets. It runs once, on
  // the thread of one of them, and knows nothing of which.
  using Combine =
      absl::FunctionRef<absl::StatusOr<std::vector<Literal>>(std::span<std::vector<Literal>> contributions)>;

  virtual ~DeviceLink() = default;

  virtual const DeviceGrid& grid() const = 0;
  virtual int64_t id() const = 0;

  // Waits until all members, this device among them, are at the same execution of `at`, and gives this one
  // its part of what `combine` makes. EvalError: a member can never come, or `combine` fails.
  virtual absl::StatusOr<Literal> Rendezvous(const Instruction& at, std::span<const int64_t> members,
                                             std::vector<Literal> contributions, Combine combine) = 0;

  // Puts a value on the channel; waits for nobody.
  virtual absl::Status Send(const Transfer& transfer, Literal value) = 0;
  // The number of the recv that begins here, by which FinishRecv finds its value.
  virtual absl::StatusOr<int64_t> BeginRecv(const Transfer& transfer) = 0;
  // Waits for the value of send number `number`. EvalError: it can never come.
  virtual absl::StatusOr<Literal> FinishRecv(const Instruction& at, const Transfer& transfer,
                                             int64_t number) = 0;
  // Waits until the recv has begun that the first send without a FinishSend is for. EvalError:
  // it can never come.
  virtual absl::Status FinishSend(const Instruction& at, const Transfer& transfer) = 0;

  // A device ends once it has counted more than this (RunContext::Count): another one failed there.
  // Negative: all end at once.
  virtual const std::atomic<int64_t>& last_count() const = 0;
};

// A device that is alone: it waits for no other one, and its channels lead back to itself.
class SingleDevice final : public DeviceLink {
 public:
  const DeviceGrid& grid() const override { return grid_; }
  int64_t id() const override { return 0; }
  absl::StatusOr<Literal> Rendezvous(const Instruction& at, std::span<const int64_t> members,
                                     std::vector<Literal> contributions, Combine combine) override;
  absl::Status Send(const Transfer& transfer, Literal value) override;
  absl::StatusOr<int64_t> BeginRecv(const Transfer& transfer) override;
  absl::StatusOr<Literal> FinishRecv(const Instruction& at, const Transfer& transfer,
                                     int64_t number) override;
  absl::Status FinishSend(const Instruction& at, const Transfer& transfer) override;
  const std::atomic<int64_t>& last_count() const override;

 private:
  struct SelfChannel {
    int64_t sends = 0, recvs = 0, finished_sends = 0;  // so far
    std::map<int64_t, Literal> values;                 // sent and not received, by the number of the send
  };

  DeviceGrid grid_;
  std::map<int64_t, SelfChannel> channels_;  // by channel id
};

}  // namespace assay

#endif  // ASSAY_EVALUATOR_DEVICE_H_
