#include "devices/many_processes.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include "base/thread_team.h"
#include "devices/exchange.h"
#include "devices/forwarding_link.h"
#include "devices/uncounted_link.h"
#include "devices/wire.h"
#include "fmt/format.h"

namespace assay {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks(20);

// What messages begin with. From a process to the first: what its devices ask for, with the device;
// from the first: answers.
enum class Word : int64_t {
  kHello,
  kMeet,
  kSend,
  kBeginRecv,
  kFinishRecv,
  kFinishSend,
  kEnd,
  kReply,
  kLastCount,
  kResult
};

// Messages for one device, or one process.
class Mailbox {
 public:
  void Put(std::string bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    messages_.push_back(std::move(bytes));
    there_.notify_one();
  }
  // Waits; `poll` is asked meanwhile and may end it.
  absl::StatusOr<std::string> Take(const std::function<absl::Status()>& poll) {
    std::unique_lock<std::mutex> lock(mutex_);
    while (messages_.empty()) {
      there_.wait_for(lock, kBetweenLooks);
      if (!messages_.empty()) break;
      lock.unlock();
      const absl::Status status = poll();
      lock.lock();
      if (!status.ok() && messages_.empty()) return status;
    }
    std::string bytes = std::move(messages_.front());
    messages_.pop_front();
    return bytes;
  }

 private:
  std::mutex mutex_;
  std::condition_variable there_;
  std::deque<std::string> messages_;
};

absl::Status GoOn() { return absl::OkStatus(); }

// An instruction by its place in the plan's module, which is the same in every process.
struct Place {
  int64_t computation = 0, instruction = 0;
};

Place PlaceOf(const Module& module, const Instruction& at) {
  for (size_t c = 0; c < module.computations.size(); ++c) {
    const std::vector<Instruction>& instructions = module.computations[c].instructions;
    if (std::less_equal<>()(instructions.data(), &at) &&
        std::less<>()(&at, instructions.data() + instructions.size()))
      return {static_cast<int64_t>(c), &at - instructions.data()};
  }
  ASSAY_CHECK(false);
  return {};
}

const Instruction* InstructionAt(const Module& module, const Place& place) {
  if (place.computation < 0 || place.computation >= std::ssize(module.computations)) return nullptr;
  const std::vector<Instruction>& instructions =
      module.computations[static_cast<size_t>(place.computation)].instructions;
  const bool is_there = place.instruction >= 0 && place.instruction < std::ssize(instructions);
  return is_there ? &instructions[static_cast<size_t>(place.instruction)] : nullptr;
}

// Differs between programs that differ in their instructions, but by chance.
int64_t FingerprintOf(const Module& module, const DeviceGrid& grid) {
  size_t hash = static_cast<size_t>(grid.replicas * 4099 + grid.partitions);
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      hash = hash * 31 + std::hash<std::string>()(instruction.name);
      hash = hash * 31 + static_cast<size_t>(instruction.opcode);
    }
  }
  return static_cast<int64_t>(hash);
}

// The contributions of all members, as one value, and back.
Literal Packed(std::span<const std::vector<Literal>> contributions) {
  std::vector<Literal> members;
  for (const std::vector<Literal>& member : contributions) members.push_back(Literal::Tuple(member));
  return Literal::Tuple(std::move(members));
}

std::vector<std::vector<Literal>> Unpacked(const Literal& packed) {
  std::vector<std::vector<Literal>> contributions;
  for (int64_t m = 0; m < packed.tuple_size(); ++m) {
    std::vector<Literal>& member = contributions.emplace_back();
    for (int64_t k = 0; k < packed.element(m).tuple_size(); ++k)
      member.push_back(packed.element(m).element(k));
  }
  return contributions;
}

// Devices of several processes bring values together at the first;
// each works out what comes of them by itself.
absl::StatusOr<Literal> OwnPart(int64_t id, std::span<const int64_t> members, const Literal& packed,
                                DeviceLink::Combine combine) {
  std::vector<std::vector<Literal>> contributions = Unpacked(packed);
  ASSAY_ASSIGN_OR_RETURN(std::vector<Literal> made, combine(std::span(contributions)));
  return std::move(
      made[static_cast<size_t>(std::find(members.begin(), members.end(), id) - members.begin())]);
}

absl::StatusOr<Literal> Gather(DeviceLink& link, const Instruction& at, std::span<const int64_t> members,
                               std::vector<Literal> contributions) {
  return link.Rendezvous(at, members, std::move(contributions),
                         [](std::span<std::vector<Literal>> all) -> absl::StatusOr<std::vector<Literal>> {
                           return std::vector<Literal>(all.size(), Packed(all));
                         });
}

// A device of the first process.
class NearLink final : public ForwardingLink {
 public:
  using ForwardingLink::ForwardingLink;

  absl::StatusOr<Literal> Rendezvous(const Instruction& at, std::span<const int64_t> members,
                                     std::vector<Literal> contributions, Combine combine) override {
    ASSAY_ASSIGN_OR_RETURN(const Literal packed, Gather(inner(), at, members, std::move(contributions)));
    return OwnPart(id(), members, packed, combine);
  }
};

void WriteTransfer(WireWriter& out, const Transfer& transfer) {
  out.Ints(std::array{transfer.channel, transfer.source, transfer.target});
}

Transfer ReadTransfer(WireReader& in) {
  const std::vector<int64_t> values = in.Ints();
  return values.size() == 3 ? Transfer{values[0], values[1], values[2]} : Transfer{};
}

// A device of another process: it asks the first one.
class FarLink final : public DeviceLink {
 public:
  FarLink(Transport& transport, const Module& module, const DeviceGrid& grid, int64_t id, RunGuard& guard,
          const std::atomic<int64_t>& last_count)
      : transport_(transport),
        module_(module),
        grid_(grid),
        id_(id),
        guard_(guard),
        last_count_(last_count) {}

  Mailbox& replies() { return replies_; }

  const DeviceGrid& grid() const override { return grid_; }
  int64_t id() const override { return id_; }

  absl::StatusOr<Literal> Rendezvous(const Instruction& at, std::span<const int64_t> members,
                                     std::vector<Literal> contributions, Combine combine) override {
    WireWriter question = Question(Word::kMeet, &at);
    question.Ints(members);
    question.Values(contributions);
    ASSAY_ASSIGN_OR_RETURN(const Literal packed, AskForValue(std::move(question)));
    return OwnPart(id_, members, packed, combine);
  }

  absl::Status Send(const Transfer& transfer, Literal value) override {
    WireWriter question = Question(Word::kSend, nullptr);
    WriteTransfer(question, transfer);
    question.Value(value);
    return AskForValue(std::move(question)).status();
  }

  absl::StatusOr<int64_t> BeginRecv(const Transfer& transfer) override {
    WireWriter question = Question(Word::kBeginRecv, nullptr);
    WriteTransfer(question, transfer);
    ASSAY_ASSIGN_OR_RETURN(const Literal number, AskForValue(std::move(question)));
    return number.GetInt(0);
  }

  absl::StatusOr<Literal> FinishRecv(const Instruction& at, const Transfer& transfer,
                                     int64_t number) override {
    WireWriter question = Question(Word::kFinishRecv, &at);
    WriteTransfer(question, transfer);
    question.Int(number);
    return AskForValue(std::move(question));
  }

  absl::Status FinishSend(const Instruction& at, const Transfer& transfer) override {
    WireWriter question = Question(Word::kFinishSend, &at);
    WriteTransfer(question, transfer);
    return AskForValue(std::move(question)).status();
  }

  const std::atomic<int64_t>& last_count() const override { return last_count_; }

 private:
  WireWriter Question(Word word, const Instruction* at) const {
    const Place place = at == nullptr ? Place{} : PlaceOf(module_, *at);
    WireWriter question;
    question.Int(static_cast<int64_t>(word));
    question.Int(id_);
    question.Int(place.computation);
    question.Int(place.instruction);
    return question;
  }

  absl::StatusOr<Literal> AskForValue(WireWriter question) {
    transport_.Send(0, std::move(question).Take());
    ASSAY_ASSIGN_OR_RETURN(const std::string bytes, replies_.Take([&] { return Poll(); }));
    WireReader reply(bytes);
    ASSAY_RETURN_IF_ERROR(reply.Status());
    Literal value = reply.Value();
    if (!reply.ok()) return OutOfMemory("what another process sent");
    return value;
  }

  absl::Status Poll() {
    if (last_count_.load(std::memory_order_relaxed) < 0) return absl::CancelledError("another device failed");
    return guard_.Poll();
  }

  Transport& transport_;
  const Module& module_;
  const DeviceGrid grid_;
  const int64_t id_;
  RunGuard& guard_;
  const std::atomic<int64_t>& last_count_;
  Mailbox replies_;
};

void WriteOutputs(WireWriter& out, const DeviceOutputs& outputs) {
  out.Value(outputs.root);
  const ProcessState& process = outputs.process;
  out.Values(process.outfeed);
  out.Int(std::ssize(process.device_to_host));
  for (const auto& [key, values] : process.device_to_host) {
    out.Text(key);
    out.Values(std::vector<Literal>(values.begin(), values.end()));
  }
  out.Int(std::ssize(process.probes));
  for (const auto& [key, values] : process.probes) {
    out.Text(key);
    out.Values(values);
  }
  const RunStatistics& statistics = outputs.statistics;
  out.Ints(std::array{statistics.steps, statistics.parts, statistics.peak_bytes, statistics.crosschecked});
}

DeviceOutputs ReadOutputs(WireReader& in) {
  DeviceOutputs outputs;
  outputs.root = in.Value();
  outputs.process.outfeed = in.Values();
  for (int64_t n = in.Int(); n > 0 && in.ok(); --n) {
    const std::string key = in.Text();
    const std::vector<Literal> values = in.Values();
    outputs.process.device_to_host[key].assign(values.begin(), values.end());
  }
  for (int64_t n = in.Int(); n > 0 && in.ok(); --n) {
    const std::string key = in.Text();
    outputs.process.probes[key] = in.Values();
  }
  const std::vector<int64_t> counts = in.Ints();
  if (counts.size() == 4) {
    outputs.statistics.steps = counts[0];
    outputs.statistics.parts = counts[1];
    outputs.statistics.peak_bytes = counts[2];
    outputs.statistics.crosschecked = counts[3];
  }
  return outputs;
}

// What the processes have in common: who has which device, and how one is run.
class ProcessRun {
 public:
  ProcessRun(Transport& transport, const Plan& plan, const DeviceGrid& grid, std::vector<DeviceInputs> inputs,
             RunOptions options)
      : transport_(transport),
        plan_(plan),
        grid_(grid),
        inputs_(std::move(inputs)),
        options_(std::move(options)),
        guard_(std::make_shared<RunGuard>(options_.limits, options_.interrupted, options_.parent_guard)) {
    options_.interrupted = nullptr;
    options_.parent_guard = nullptr;
    guard_->BindThread();
    transport_.BeginRun();
  }
  virtual ~ProcessRun() { transport_.Listen(nullptr); }

 protected:
  int RankOf(int64_t id) const { return static_cast<int>(id * transport_.size() / grid_.size()); }

  std::vector<int64_t> DevicesOf(int rank) const {
    std::vector<int64_t> ids;
    for (int64_t id = 0; id < grid_.size(); ++id) {
      if (RankOf(id) == rank) ids.push_back(id);
    }
    return ids;
  }

  struct DeviceResult {
    absl::Status status;
    int64_t counted = 0;
    DeviceOutputs outputs;
  };

  DeviceResult RunOne(int64_t id, DeviceLink& link) {
    try {
      const WorkScope scope(guard_);
      UncountedLink uncounted(link);
      const DeviceSlot device_slot{uncounted, guard_};
      Executor executor(plan_, options_, &device_slot);
      uncounted.SetExecutor(&executor);
      DeviceResult result;
      result.status =
          assay::RunOne(executor, std::move(inputs_[static_cast<size_t>(id)]), nullptr, result.outputs);
      result.counted = executor.step_units();
      return result;
    } catch (const std::bad_alloc&) {
      return {OutOfMemory("a device's bookkeeping"), 0, {}};
    }
  }

  Transport& transport_;
  const Plan& plan_;
  const DeviceGrid grid_;
  std::vector<DeviceInputs> inputs_;
  RunOptions options_;
  const std::shared_ptr<RunGuard> guard_;
};

// The first process: its own devices, and a thread that asks on behalf of each other one.
class FirstProcess final : public ProcessRun {
 public:
  FirstProcess(Transport& transport, const Plan& plan, const DeviceGrid& grid,
               std::vector<DeviceInputs> inputs, RunOptions options)
      : ProcessRun(transport, plan, grid, std::move(inputs), std::move(options)),
        exchange_(grid, guard_),
        questions_(static_cast<size_t>(grid.size())),
        outputs_(static_cast<size_t>(grid.size())) {}

  absl::StatusOr<std::vector<DeviceOutputs>> Run() {
    transport_.Listen([this](int, std::string bytes) { return Hear(std::move(bytes)); });
    ThreadTeam threads;
    const auto run = [this](int64_t i) { RankOf(i + 1) == 0 ? RunNear(i + 1) : Serve(i + 1); };
    ASSAY_RETURN_IF_ERROR(threads.Start(grid_.size() - 1, run, "threads for devices"));
    RunNear(0);
    threads.Join();
    all_said_hello_.Take(GoOn).IgnoreError();
    guard_->budget()->StopRecycling();
    const absl::Status outcome =
        different_ ? EvalError({}, "the processes that mpirun started run different programs")
                   : exchange_.Outcome();
    Tell(outcome);
    transport_.EndRun();
    if (!outcome.ok()) return outcome;
    return std::move(outputs_);
  }

 private:
  // Each process says hello, and each device of another process that it has ended:
  // what comes behind is of the next run.
  bool Hear(std::string bytes) {
    WireReader message(bytes);
    const auto word = static_cast<Word>(message.Int());
    const int64_t device = message.Int();
    if (word == Word::kHello) {
      if (device != FingerprintOf(*plan_.module, grid_)) different_ = true;
      if (++hellos_ == transport_.size() - 1) all_said_hello_.Put("");
    } else if (device >= 0 && device < grid_.size()) {
      ends_ += word == Word::kEnd ? 1 : 0;
      questions_[static_cast<size_t>(device)].Put(std::move(bytes));
    }
    return hellos_ < transport_.size() - 1 || ends_ < grid_.size() - std::ssize(DevicesOf(0));
  }

  void RunNear(int64_t id) {
    NearLink link(exchange_.device(id));
    Finish(id, RunOne(id, link));
  }

  void Finish(int64_t id, DeviceResult result) {
    outputs_[static_cast<size_t>(id)] = std::move(result.outputs);
    exchange_.End(id, result.status, result.counted);
    const int64_t last_count = exchange_.device(id).last_count();
    if (last_count == std::numeric_limits<int64_t>::max()) return;
    WireWriter message;
    message.Int(static_cast<int64_t>(Word::kLastCount));
    message.Int(last_count);
    const std::string bytes = std::move(message).Take();
    for (int rank = 1; rank < transport_.size(); ++rank) transport_.Send(rank, bytes);
  }

  // Asks for a device of another process, one question after the other.
  void Serve(int64_t id) {
    while (true) {
      const std::string bytes = *questions_[static_cast<size_t>(id)].Take(GoOn);
      WireReader question(bytes);
      const auto word = static_cast<Word>(question.Int());
      question.Int();  // the device
      if (word == Word::kEnd) {
        DeviceResult result{question.Status(), question.Int(), {}};
        result.outputs = ReadOutputs(question);
        if (!question.ok() && result.status.ok()) result.status = OutOfMemory("what another process sent");
        Finish(id, std::move(result));
        return;
      }
      const absl::StatusOr<Literal> answer = Answer(id, word, question);
      WireWriter reply;
      reply.Int(static_cast<int64_t>(Word::kReply));
      reply.Int(id);
      reply.Status(answer.status());
      if (answer.ok()) reply.Value(*answer);
      transport_.Send(RankOf(id), std::move(reply).Take());
    }
  }

  absl::StatusOr<Literal> Answer(int64_t id, Word word, WireReader& question) {
    Place place;
    place.computation = question.Int();
    place.instruction = question.Int();
    const Instruction* const at = InstructionAt(*plan_.module, place);
    if (at == nullptr || different_) return absl::CancelledError("another program");
    DeviceLink& link = exchange_.device(id);
    if (word == Word::kMeet) {
      const std::vector<int64_t> members = question.Ints();
      std::vector<Literal> contributions = question.Values();
      if (!question.ok()) return OutOfMemory("what another process sent");
      return Gather(link, *at, members, std::move(contributions));
    }
    const Transfer transfer = ReadTransfer(question);
    switch (word) {
      case Word::kSend: {
        Literal value = question.Value();
        if (!question.ok()) return OutOfMemory("what another process sent");
        ASSAY_RETURN_IF_ERROR(link.Send(transfer, std::move(value)));
        return Literal::Token();
      }
      case Word::kBeginRecv: {
        ASSAY_ASSIGN_OR_RETURN(const int64_t number, link.BeginRecv(transfer));
        return Literal::ScalarInt(ElementType::kS64, number);
      }
      case Word::kFinishRecv:
        return link.FinishRecv(*at, transfer, question.Int());
      default:
        ASSAY_RETURN_IF_ERROR(link.FinishSend(*at, transfer));
        return Literal::Token();
    }
  }

  // The outcome, to all.
  void Tell(const absl::Status& outcome) {
    WireWriter message;
    message.Int(static_cast<int64_t>(Word::kResult));
    message.Status(outcome);
    for (const DeviceOutputs& device : outputs_) {
      if (outcome.ok()) WriteOutputs(message, device);
    }
    const std::string bytes = std::move(message).Take();
    for (int rank = 1; rank < transport_.size(); ++rank) transport_.Send(rank, bytes);
  }

  Exchange exchange_;
  std::vector<Mailbox> questions_;  // by device
  Mailbox all_said_hello_;
  int64_t hellos_ = 0, ends_ = 0;  // of the transport's thread
  std::vector<DeviceOutputs> outputs_;
  std::atomic<bool> different_{false};
};

// Another process: its devices ask the first.
class OtherProcess final : public ProcessRun {
 public:
  using ProcessRun::ProcessRun;

  absl::StatusOr<std::vector<DeviceOutputs>> Run() {
    const std::vector<int64_t> own = DevicesOf(transport_.rank());
    for (int64_t id : own)
      links_.push_back(std::make_unique<FarLink>(transport_, *plan_.module, grid_, id, *guard_, last_count_));
    WireWriter hello;
    hello.Int(static_cast<int64_t>(Word::kHello));
    hello.Int(FingerprintOf(*plan_.module, grid_));
    transport_.Send(0, std::move(hello).Take());
    transport_.Listen([this](int, std::string bytes) { return Hear(std::move(bytes)); });
    ThreadTeam threads;
    const auto run = [this](int64_t i) { RunFar(*links_[static_cast<size_t>(i) + 1]); };
    if (own.size() > 1) ASSAY_RETURN_IF_ERROR(threads.Start(std::ssize(own) - 1, run, "threads for devices"));
    if (!own.empty()) RunFar(*links_[0]);
    threads.Join();
    guard_->budget()->StopRecycling();
    const std::string bytes = *result_.Take(GoOn);
    transport_.EndRun();
    WireReader message(bytes);
    message.Int();
    ASSAY_RETURN_IF_ERROR(message.Status());
    std::vector<DeviceOutputs> outputs;
    for (int64_t id = 0; id < grid_.size(); ++id) outputs.push_back(ReadOutputs(message));
    if (!message.ok()) return OutOfMemory("what another process sent");
    return outputs;
  }

 private:
  // The result is the last message of a run.
  bool Hear(std::string bytes) {
    WireReader message(bytes);
    const auto word = static_cast<Word>(message.Int());
    if (word == Word::kResult) {
      result_.Put(std::move(bytes));
      return false;
    }
    if (word == Word::kLastCount) {
      last_count_ = message.Int();
    } else {
      const int64_t id = message.Int();
      const auto link =
          std::find_if(links_.begin(), links_.end(), [&](const auto& l) { return l->id() == id; });
      if (link != links_.end()) (*link)->replies().Put(bytes.substr(2 * sizeof(int64_t)));
    }
    return true;
  }

  void RunFar(FarLink& link) {
    const DeviceResult result = RunOne(link.id(), link);
    WireWriter message;
    message.Int(static_cast<int64_t>(Word::kEnd));
    message.Int(link.id());
    message.Status(result.status);
    message.Int(result.counted);
    WriteOutputs(message, result.outputs);
    transport_.Send(0, std::move(message).Take());
  }

  std::vector<std::unique_ptr<FarLink>> links_;
  Mailbox result_;
  std::atomic<int64_t> last_count_{std::numeric_limits<int64_t>::max()};
};

}  // namespace

absl::StatusOr<std::vector<DeviceOutputs>> RunOnProcesses(Transport& transport, const Plan& plan,
                                                          const DeviceGrid& grid,
                                                          std::vector<DeviceInputs> inputs,
                                                          RunOptions options) {
  if (transport.rank() == 0)
    return FirstProcess(transport, plan, grid, std::move(inputs), std::move(options)).Run();
  return OtherProcess(transport, plan, grid, std::move(inputs), std::move(options)).Run();
}

}  // namespace assay
