// Where the devices of one process meet: who waits for whom, what each gets, and when nobody can go on.
//
// A device that waits is woken by the one that completes what it waits for; the last that comes to a
// collective does its work, once for all members. Waiting ends in an error as soon as it can't end otherwise:
// what is waited for has ended, or all devices wait. As each device does the same until it waits, whatever
// the others do meanwhile, what is found does not depend on timing.
#ifndef ASSAY_DEVICES_EXCHANGE_H_
#define ASSAY_DEVICES_EXCHANGE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/error.h"
#include "base/run_guard.h"
#include "evaluator/device.h"

namespace assay {

class Exchange {
 public:
  // `guard` is asked by those that wait.
  Exchange(const DeviceGrid& grid, std::shared_ptr<RunGuard> guard);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // The device's link, to be used by one thread.
  DeviceLink& device(int64_t id);
  // The device has come to its end with `status`, having counted `counted`. To be called once for each.
  void End(int64_t id, const absl::Status& status, int64_t counted);
  // Once all have ended: OK, or why the run failed, with the device's name: the error of the device that had
  // counted least, or a deadlock with who waits for whom.
  absl::Status Outcome() const;

 private:
  class State;
  class Link;
  const std::unique_ptr<State> state_;
  std::vector<std::unique_ptr<Link>> links_;
};

}  // namespace assay

#endif  // ASSAY_DEVICES_EXCHANGE_H_
