#include "devices/exchange.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <limits>
#include <map>
#include <mutex>
#include <new>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/counted.h"
#include "base/parallel.h"
#include "fmt/format.h"
#include "hlo/opcode.h"

namespace assay {
namespace {

constexpr std::chrono::milliseconds kBetweenPolls(20);

// A collective that some members have come to.
struct RendezvousState {
  std::vector<int64_t> members;
  std::vector<std::vector<Literal>> contributions;  // by member
  std::vector<bool> here;
  size_t arrived = 0, taken = 0;
  absl::Status status;
  std::vector<Literal> made;  // by member
};
// The instruction, the number of its execution, and the first member, which tells its groups apart.
// Not the channel: JAX gives all collectives of a program the same one (SDY-21).
using RendezvousKey = std::tuple<const Instruction*, int64_t, int64_t>;

// The way of a channel from one device to another.
struct Way {
  int64_t sends = 0, recvs = 0, finished_sends = 0;  // so far
  std::map<int64_t, Literal> values;                 // sent and not received, by the number of the send
};
using WayKey = std::tuple<int64_t, int64_t, int64_t>;  // channel, source, target

// What a device waits for: the members of a rendezvous that have not come, or the other end of a way.
struct Wanted {
  const Instruction* at = nullptr;
  int64_t execution = 0;
  const RendezvousState* rendezvous = nullptr;
  const Way* way = nullptr;
  int64_t other_end = 0;

  // visit(id) of those that are missing, until one call returns true. It allocates nothing.
  template <typename Visit>
  void VisitMissing(Visit visit) const {
    if (rendezvous == nullptr) {
      visit(other_end);
      return;
    }
    for (size_t m = 0; m < rendezvous->members.size(); ++m) {
      if (!rendezvous->here[m] && visit(rendezvous->members[m])) return;
    }
  }
  std::vector<int64_t> Missing() const {
    std::vector<int64_t> missing;
    VisitMissing([&](int64_t id) {
      missing.push_back(id);
      return false;
    });
    return missing;
  }
};

enum class Phase : uint8_t {
  kRunning,
  kWaiting,
  kStalled,  // what it waited for can't come: on its way to its end
  kEnded,
};

// How a device ended, or is going to.
enum class Ending : uint8_t {
  kFine,
  kFailed,
  kLimit,     // or Ctrl-C
  kAlone,     // waits for one that has ended
  kDeadlock,  // waited when all that had not ended did
  kFollows,   // because another one failed, which is what has to be told
};

struct Record {
  Phase phase = Phase::kRunning;
  Ending ending = Ending::kFine;
  std::map<const Instruction*, int64_t> executions;  // of collectives, so far
  Wanted wanted;                                     // while it waits, and from when it stalled
  std::condition_variable wake;
  absl::Status status;  // of its end
  int64_t counted = 0;
};

std::string Names(const DeviceGrid& grid, std::span<const int64_t> ids) {
  constexpr size_t kShown = 8;
  std::string names;
  for (size_t i = 0; i < std::min(ids.size(), kShown); ++i)
    names += (i == 0 ? "" : ", ") + grid.NameOf(ids[i]);
  return ids.size() <= kShown ? names : names + fmt::format(", … ({})", Counted(ids.size(), "device"));
}

std::string WaitingPlace(const Wanted& wanted) {
  const std::string place = fmt::format("'%{} = {}'", wanted.at->name, Name(wanted.at->opcode));
  return wanted.execution == 0 ? place : place + fmt::format(" (execution {})", wanted.execution + 1);
}

absl::StatusOr<std::vector<Literal>> Combined(DeviceLink::Combine combine, RendezvousState& rendezvous) {
  try {
    return combine(std::span(rendezvous.contributions));
  } catch (const LoopEnded& ended) {
    return ended.why;
  } catch (const std::bad_alloc&) {
    return OutOfMemory("what devices bring together");
  }
}

}  // namespace

class Exchange::State {
 public:
  State(const DeviceGrid& grid, std::shared_ptr<RunGuard> guard)
      : grid_(grid),
        guard_(std::move(guard)),
        records_(static_cast<size_t>(grid.size())),
        running_(grid.size()) {}

  const DeviceGrid& grid() const { return grid_; }
  const std::atomic<int64_t>& last_count() const { return last_count_; }

  absl::StatusOr<Literal> Rendezvous(int64_t id, const Instruction& at, std::span<const int64_t> members,
                                     std::vector<Literal> contributions, DeviceLink::Combine combine) {
    std::unique_lock<std::mutex> lock(mutex_);
    const int64_t execution = records_[id].executions[&at]++;
    const RendezvousKey key{&at, execution, members[0]};
    RendezvousState& rendezvous = RendezvousOf(key, members);
    const size_t number = std::find(members.begin(), members.end(), id) - members.begin();
    rendezvous.contributions[number] = std::move(contributions);
    rendezvous.here[number] = true;
    if (++rendezvous.arrived == members.size()) {
      Finish(lock, rendezvous, combine);
    } else {
      ASSAY_RETURN_IF_ERROR(Wait(lock, id, {.at = &at, .execution = execution, .rendezvous = &rendezvous}));
    }
    absl::StatusOr<Literal> result = rendezvous.status.ok()
                                         ? absl::StatusOr<Literal>(std::move(rendezvous.made[number]))
                                         : rendezvous.status;
    if (++rendezvous.taken == rendezvous.members.size()) rendezvous_.erase(key);
    return result;
  }

  void Send(const Transfer& transfer, Literal value) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Way& way = WayOf(transfer);
    way.values.emplace(way.sends++, std::move(value));
    if (records_[transfer.target].wanted.way == &way) Wake(transfer.target);
  }

  int64_t BeginRecv(const Transfer& transfer) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Way& way = WayOf(transfer);
    if (records_[transfer.source].wanted.way == &way) Wake(transfer.source);
    return way.recvs++;
  }

  absl::StatusOr<Literal> FinishRecv(const Instruction& at, const Transfer& transfer, int64_t number) {
    std::unique_lock<std::mutex> lock(mutex_);
    Way& way = WayOf(transfer);
    while (way.values.count(number) == 0) {
      ASSAY_RETURN_IF_ERROR(
          Wait(lock, transfer.target,
               {.at = &at, .execution = number, .way = &way, .other_end = transfer.source}));
    }
    return std::move(way.values.extract(number).mapped());
  }

  absl::Status FinishSend(const Instruction& at, const Transfer& transfer) {
    std::unique_lock<std::mutex> lock(mutex_);
    Way& way = WayOf(transfer);
    const int64_t number = way.finished_sends++;
    while (way.recvs <= number) {
      ASSAY_RETURN_IF_ERROR(
          Wait(lock, transfer.source,
               {.at = &at, .execution = number, .way = &way, .other_end = transfer.target}));
    }
    return absl::OkStatus();
  }

  // Of a device that threw an exception, too, which may have been while it waited. It allocates nothing: who
  // has no memory ends as well.
  void End(int64_t id, const absl::Status& status, int64_t counted) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    Record& record = records_[id];
    if (record.phase != Phase::kWaiting) --running_;
    record.ending = EndingOf(record, status, counted);
    record.phase = Phase::kEnded;
    record.status = status;
    record.counted = counted;
    if (record.ending == Ending::kLimit) {
      last_count_ = -1;
    } else if (record.ending != Ending::kFine && record.ending != Ending::kFollows) {
      last_count_ = std::min(last_count_.load(), counted);
    }
    for (size_t other = 0; other < records_.size(); ++other) {
      if (records_[other].phase == Phase::kWaiting) StallBehindEnded(other);
    }
    StallIfNobodyRuns();
  }

  absl::Status Outcome() const {
    const Record* first = nullptr;
    for (const Record& record : records_) {
      if (record.ending == Ending::kLimit) return record.status;
      if (record.ending == Ending::kFine || record.ending == Ending::kFollows) continue;
      if (first == nullptr || record.counted < first->counted) first = &record;
    }
    if (first == nullptr) return absl::OkStatus();
    const int64_t id = first - records_.data();
    if (first->ending == Ending::kFailed)
      return WithSuffix(first->status, fmt::format(" (on {})", grid_.NameOf(id)));
    const std::string why = first->ending == Ending::kAlone ? WaitsForEnded(id) : WaitForEachOther();
    return EvalError(first->wanted.at->position, "deadlock: " + why);
  }

 private:
  Way& WayOf(const Transfer& transfer) { return ways_[{transfer.channel, transfer.source, transfer.target}]; }

  // Whole, or not there: the next member finds what an exception leaves.
  RendezvousState& RendezvousOf(const RendezvousKey& key, std::span<const int64_t> members) {
    const auto known = rendezvous_.find(key);
    if (known != rendezvous_.end()) return known->second;
    RendezvousState fresh;
    fresh.members.assign(members.begin(), members.end());
    fresh.contributions.resize(members.size());
    fresh.here.resize(members.size(), false);
    return rendezvous_.emplace(key, std::move(fresh)).first->second;
  }

  void Wake(int64_t id) {
    Record& record = records_[id];
    if (record.phase != Phase::kWaiting) return;
    record.phase = Phase::kRunning;
    record.wanted = {};
    ++running_;
    record.wake.notify_one();
  }

  // The last member does the work of all.
  void Finish(std::unique_lock<std::mutex>& lock, RendezvousState& rendezvous, DeviceLink::Combine combine) {
    lock.unlock();
    absl::StatusOr<std::vector<Literal>> made = Combined(combine, rendezvous);
    lock.lock();
    rendezvous.status = made.status();
    if (made.ok()) rendezvous.made = *std::move(made);
    rendezvous.contributions.clear();
    for (int64_t member : rendezvous.members) {
      if (records_[member].wanted.rendezvous == &rendezvous) Wake(member);
    }
  }

  absl::Status Wait(std::unique_lock<std::mutex>& lock, int64_t id, const Wanted& wanted) {
    Record& record = records_[id];
    record.phase = Phase::kWaiting;
    record.wanted = wanted;
    --running_;
    StallBehindEnded(id);
    StallIfNobodyRuns();
    while (record.phase == Phase::kWaiting) {
      record.wake.wait_for(lock, kBetweenPolls);
      if (record.phase != Phase::kWaiting) break;
      lock.unlock();
      absl::Status status = guard_->Poll();
      lock.lock();
      if (status.ok() && last_count_ < 0) status = absl::CancelledError("another device failed");
      if (status.ok()) continue;
      if (record.phase == Phase::kWaiting) Wake(id);
      return status;
    }
    return record.phase == Phase::kStalled ? absl::CancelledError("deadlock") : absl::OkStatus();
  }

  // It goes on, to its end.
  void Stall(int64_t id, Ending ending) {
    Record& record = records_[id];
    record.phase = Phase::kStalled;
    record.ending = ending;
    ++running_;
    record.wake.notify_one();
  }

  void StallBehindEnded(int64_t id) {
    records_[id].wanted.VisitMissing([&](int64_t missing) {
      const Record& other = records_[missing];
      if (other.phase != Phase::kEnded) return false;
      Stall(id, other.ending == Ending::kFine ? Ending::kAlone : Ending::kFollows);
      return true;
    });
  }

  void StallIfNobodyRuns() {
    if (running_ > 0) return;
    for (size_t id = 0; id < records_.size(); ++id) {
      if (records_[id].phase == Phase::kWaiting) Stall(static_cast<int64_t>(id), Ending::kDeadlock);
    }
  }

  Ending EndingOf(const Record& record, const absl::Status& status, int64_t counted) const {
    if (status.ok()) return Ending::kFine;
    if (record.phase == Phase::kStalled) return record.ending;
    const int64_t last_count = last_count_;
    if (status.code() == absl::StatusCode::kCancelled && (last_count < 0 || counted > last_count))
      return Ending::kFollows;
    const bool is_limit = status.code() == absl::StatusCode::kCancelled ||
                          status.code() == absl::StatusCode::kResourceExhausted;
    return is_limit ? Ending::kLimit : Ending::kFailed;
  }

  std::string WaitsForEnded(int64_t id) const {
    const Wanted& wanted = records_[id].wanted;
    std::vector<int64_t> ended;
    for (int64_t missing : wanted.Missing()) {
      if (records_[missing].ending == Ending::kFine) ended.push_back(missing);
    }
    return fmt::format("{} waits at {} for {}, which {} ended", grid_.NameOf(id), WaitingPlace(wanted),
                       Names(grid_, ended), ended.size() == 1 ? "has" : "have");
  }

  // Those that wait at one place for the same devices are told together.
  std::string WaitForEachOther() const {
    constexpr size_t kShown = 8;
    struct Group {
      const Wanted* wanted;
      std::vector<int64_t> waiting, missing;
    };
    std::vector<Group> groups;
    for (size_t id = 0; id < records_.size(); ++id) {
      if (records_[id].ending != Ending::kDeadlock) continue;
      const Wanted& wanted = records_[id].wanted;
      std::vector<int64_t> missing = wanted.Missing();
      const auto same = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
        return group.wanted->at == wanted.at && group.wanted->execution == wanted.execution &&
               group.missing == missing;
      });
      Group& group =
          same == groups.end() ? groups.emplace_back(Group{&wanted, {}, std::move(missing)}) : *same;
      group.waiting.push_back(static_cast<int64_t>(id));
    }
    std::string text;
    for (size_t g = 0; g < std::min(groups.size(), kShown); ++g) {
      text += fmt::format("{}{} {} at {} for {}", g == 0 ? "" : "; ", Names(grid_, groups[g].waiting),
                          groups[g].waiting.size() == 1 ? "waits" : "wait", WaitingPlace(*groups[g].wanted),
                          Names(grid_, groups[g].missing));
    }
    if (groups.size() > kShown) text += fmt::format("; and {} more", groups.size() - kShown);
    return text;
  }

  const DeviceGrid grid_;
  const std::shared_ptr<RunGuard> guard_;
  std::mutex mutex_;  // of all that follows
  std::vector<Record> records_;
  int64_t running_;  // devices that neither wait nor have ended
  std::map<RendezvousKey, RendezvousState> rendezvous_;
  std::map<WayKey, Way> ways_;
  std::atomic<int64_t> last_count_{std::numeric_limits<int64_t>::max()};
};

class Exchange::Link final : public DeviceLink {
 public:
  Link(State& state, int64_t id) : state_(state), id_(id) {}
  const DeviceGrid& grid() const override { return state_.grid(); }
  int64_t id() const override { return id_; }
  absl::StatusOr<Literal> Rendezvous(const Instruction& at, std::span<const int64_t> members,
                                     std::vector<Literal> contributions, Combine combine) override {
    return state_.Rendezvous(id_, at, members, std::move(contributions), combine);
  }
  absl::Status Send(const Transfer& transfer, Literal value) override {
    state_.Send(transfer, std::move(value));
    return absl::OkStatus();
  }
  absl::StatusOr<int64_t> BeginRecv(const Transfer& transfer) override { return state_.BeginRecv(transfer); }
  absl::StatusOr<Literal> FinishRecv(const Instruction& at, const Transfer& transfer,
                                     int64_t number) override {
    return state_.FinishRecv(at, transfer, number);
  }
  absl::Status FinishSend(const Instruction& at, const Transfer& transfer) override {
    return state_.FinishSend(at, transfer);
  }
  const std::atomic<int64_t>& last_count() const override { return state_.last_count(); }

 private:
  State& state_;
  const int64_t id_;
};

Exchange::Exchange(const DeviceGrid& grid, std::shared_ptr<RunGuard> guard)
    : state_(std::make_unique<State>(grid, std::move(guard))) {
  links_.reserve(static_cast<size_t>(grid.size()));
  for (int64_t id = 0; id < grid.size(); ++id) links_.push_back(std::make_unique<Link>(*state_, id));
}

Exchange::~Exchange() = default;

DeviceLink& Exchange::device(int64_t id) { return *links_[static_cast<size_t>(id)]; }

void Exchange::End(int64_t id, const absl::Status& status, int64_t counted) {
  state_->End(id, status, counted);
}

absl::Status Exchange::Outcome() const { return state_->Outcome(); }

}  // namespace assay
