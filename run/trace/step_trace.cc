#include "run/trace/step_trace.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <map>

#include "base/json_writer.h"
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

// What all events of a step say of it: fields of JSON.
std::string ArgumentsOf(const Costs& costs, const Computation& computation, const Step& step) {
  const Instruction& instruction = InstructionOf(computation, step);
  const Cost cost = costs.Of(computation, step);
  JsonWriter json;
  json.Fields("kernel", step.engine == nullptr ? "reference" : step.engine->name(), "op",
              Name(instruction.opcode), "shape", instruction.shape->ToString(), "computation",
              computation.name, "bytes", DecimalPlaces(cost.bytes(), 0), "flops",
              DecimalPlaces(cost.flops, 0), "functions", DecimalPlaces(cost.functions, 0));
  if (step.fusion != nullptr) {
    std::vector<std::string_view> names;
    for (int32_t member : step.fusion->members)
      names.push_back(Name(computation.instructions[static_cast<size_t>(member)].opcode));
    json.Fields("fuses", fmt::format("{}", fmt::join(names, ", ")));
  }
  return json.text();
}

void WriteName(std::string_view what, int64_t process, int64_t thread, std::string_view name,
               JsonWriter& json) {
  json.Object("ph", "M", "name", what, "pid", process, "tid", thread, "args",
              [&] { json.Object("name", name); });
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

void StepTrace::WriteEvent(const Event& event, const std::string& arguments, JsonWriter& json) const {
  const std::string& name = InstructionOf(*event.computation, *event.step).name;
  const bool part = event.begin >= 0;
  const auto write_arguments = [&] {
    json.Begin("{");
    if (part) json.Fields("begin", event.begin, "end", event.end);
    if (!event.fallback.empty()) json.Fields("fallback", event.fallback);
    json.Write(JsonText{arguments});
    json.End("}");
  };
  json.Object("ph", "X", "name", name, "cat", part ? "part" : "step", "pid", getpid(), "tid", event.thread,
              "ts", DecimalPlaces(Microseconds(event.from - start_), 3), "dur",
              DecimalPlaces(Microseconds(event.to - event.from), 3), "args", write_arguments);
}

std::string StepTrace::ToJson() const {
  const double run = Microseconds(Clock::now() - start_);
  const int64_t process = getpid();
  const Costs costs(*plan_.module);
  HashMap<const Step*, std::string> arguments;
  std::map<int64_t, std::string> threads = {{thread_, "evaluator"}};
  for (const Event& event : events_) {
    threads.try_emplace(event.thread, fmt::format("worker {}", threads.size()));
    std::string& text = arguments[event.step];
    if (text.empty()) text = ArgumentsOf(costs, *event.computation, *event.step);
  }
  JsonWriter json;
  json.Begin("{");
  json.Fields("displayTimeUnit", "ns", "otherData", [&] {
    json.Object("program", plan_.module->name, "events", kept() + 1, "dropped_events", dropped_);
  });
  json.SeparateBy(",\n");
  json.Fields("traceEvents", [&] {
    json.Begin("[\n", ",\n");
    WriteName("process_name", process, thread_, "assay", json);
    for (const auto& [thread, name] : threads) WriteName("thread_name", process, thread, name, json);
    json.Object("ph", "X", "name", "run", "cat", "run", "pid", process, "tid", thread_, "ts", 0, "dur",
                DecimalPlaces(run, 3), "args", JsonText{"{}"});
    for (const Event& event : events_) WriteEvent(event, arguments[event.step], json);
    json.End("\n]");
  });
  json.End("}");
  return json.text() + "\n";
}

}  // namespace assay
