#include "run/trace/step_trace.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <map>

#include "base/json.h"
#include "fmt/format.h"
#include "plan/costs.h"

namespace assay {
namespace {

int64_t ThreadId() {
  static thread_local const int64_t id = syscall(SYS_gettid);
  return id;
}

double Microseconds(StepObserver::Clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

const Instruction& InstructionOf(const Computation& computation, const Step& step) {
  return computation.instructions[static_cast<size_t>(step.instruction)];
}

// What all events of a step say of it.
std::string ArgumentsOf(const Costs& costs, const Computation& computation, const Step& step) {
  const Instruction& instruction = InstructionOf(computation, step);
  const Cost cost = costs.Of(computation, step);
  std::string fused;
  if (step.fusion != nullptr) {
    for (int32_t member : step.fusion->members) {
      fused += fmt::format("{}{}", fused.empty() ? "" : ", ",
                           Name(computation.instructions[static_cast<size_t>(member)].opcode));
    }
    fused = fmt::format(", \"fuses\": {}", JsonString(fused));
  }
  return fmt::format(
      "\"kernel\": {}, \"op\": {}, \"shape\": {}, \"computation\": {}, \"bytes\": {:.0f}, \"flops\": {:.0f}, "
      "\"functions\": {:.0f}{}",
      JsonString(step.engine == nullptr ? "reference" : step.engine->name()),
      JsonString(Name(instruction.opcode)), JsonString(instruction.shape->ToString()),
      JsonString(computation.name), cost.bytes(), cost.flops, cost.functions, fused);
}

std::string NameText(std::string_view what, int64_t process, int64_t thread, std::string_view name) {
  return fmt::format(
      "{{\"ph\": \"M\", \"name\": \"{}\", \"pid\": {}, \"tid\": {}, \"args\": {{\"name\": {}}}}}", what,
      process, thread, JsonString(name));
}

}  // namespace

StepTrace::StepTrace(const Plan& plan, int64_t most)
    : plan_(plan), most_(most), start_(Clock::now()), thread_(ThreadId()) {}

bool StepTrace::TakeRoom() {
  if (room_ <= 0) {
    ++dropped_;
    return false;
  }
  --room_;
  ++inner_;
  return true;
}

void StepTrace::Begin(const Computation& computation, const Step& step) {
  const std::lock_guard lock(mutex_);
  bool kept;
  if (running_.empty()) {
    room_ = (most_ - inner_ + 1) / 2;
    kept = outer_ < most_;
    ++(kept ? outer_ : dropped_);
  } else {
    kept = TakeRoom();
  }
  running_.push_back(kept ? static_cast<int64_t>(events_.size()) : -1);
  steps_.emplace_back(&computation, &step);
  const Clock::time_point now = Clock::now();
  if (kept) events_.push_back({&computation, &step, now, now, ThreadId()});
}

void StepTrace::End() {
  const Clock::time_point now = Clock::now();
  const std::lock_guard lock(mutex_);
  if (running_.back() >= 0) events_[static_cast<size_t>(running_.back())].to = now;
  running_.pop_back();
  steps_.pop_back();
}

void StepTrace::FellBack(std::string_view reason) {
  const std::lock_guard lock(mutex_);
  if (running_.back() >= 0) events_[static_cast<size_t>(running_.back())].fallback = reason;
}

void StepTrace::Part(Clock::time_point from, Clock::time_point to, int64_t begin, int64_t end) {
  const std::lock_guard lock(mutex_);
  if (steps_.empty() || !TakeRoom()) return;
  events_.push_back({steps_.back().first, steps_.back().second, from, to, ThreadId(), begin, end});
}

std::string StepTrace::EventText(const Event& event, const std::string& arguments) const {
  const std::string& name = InstructionOf(*event.computation, *event.step).name;
  const bool part = event.begin >= 0;
  return fmt::format(
      "{{\"ph\": \"X\", \"name\": {}, \"cat\": \"{}\", \"pid\": {}, \"tid\": {}, \"ts\": {:.3f}, \"dur\": "
      "{:.3f}, "
      "\"args\": {{{}{}{}}}}}",
      JsonString(name), part ? "part" : "step", getpid(), event.thread, Microseconds(event.from - start_),
      Microseconds(event.to - event.from),
      part ? fmt::format("\"begin\": {}, \"end\": {}, ", event.begin, event.end) : "",
      event.fallback.empty() ? "" : fmt::format("\"fallback\": {}, ", JsonString(event.fallback)), arguments);
}

std::string StepTrace::ToJson() const {
  const double run = Microseconds(Clock::now() - start_);
  const int64_t process = getpid();
  const Costs costs(*plan_.module);
  absl::flat_hash_map<const Step*, std::string> arguments;
  std::map<int64_t, std::string> threads = {{thread_, "evaluator"}};
  for (const Event& event : events_) {
    threads.try_emplace(event.thread, fmt::format("worker {}", threads.size()));
    std::string& text = arguments[event.step];
    if (text.empty()) text = ArgumentsOf(costs, *event.computation, *event.step);
  }
  std::string json = fmt::format(
      "{{\"displayTimeUnit\": \"ns\", \"otherData\": {{\"program\": {}, \"events\": {}, \"dropped_events\": "
      "{}}},\n"
      "\"traceEvents\": [\n{}",
      JsonString(plan_.module->name), kept() + 1, dropped_,
      NameText("process_name", process, thread_, "assay"));
  for (const auto& [thread, name] : threads) json += ",\n" + NameText("thread_name", process, thread, name);
  json += fmt::format(
      ",\n{{\"ph\": \"X\", \"name\": \"run\", \"cat\": \"run\", \"pid\": {}, \"tid\": {}, \"ts\": 0, "
      "\"dur\": {:.3f}, "
      "\"args\": {{}}}}",
      process, thread_, run);
  for (const Event& event : events_) json += ",\n" + EventText(event, arguments[event.step]);
  return json + "\n]}\n";
}

}  // namespace assay
