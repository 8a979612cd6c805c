// The functions that handlers call: states, memory, tasks, futures, the run.
#include "custom/ffi/api.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "devices/run_devices.h"
#include "tests/custom/ffi/handler_testing.h"

namespace assay::custom::ffi {
namespace {

using abi::CallFrame;
using abi::Error;
using abi::ErrorCode;
using abi::Stage;
using Catch::Contains;

int live_counters = 0;
struct Counter {
  explicit Counter(int start) : value(start) { ++live_counters; }
  ~Counter() { --live_counters; }
  std::atomic<int> value;
};
abi::TypeId counter_type = {};

void RegisterCounter() {
  static const abi::TypeInfo info = {sizeof(info), nullptr,
                                     [](void* object) { delete static_cast<Counter*>(object); }};
  const std::string name = "assay test counter";
  abi::TypeRegisterArgs args = {
      abi::kTypeRegisterSize, nullptr, {name.data(), name.size()}, &counter_type, &info};
  REQUIRE(FunctionTable().type_register(&args) == nullptr);
  REQUIRE(counter_type.value > 0);
}

std::string TakeMessage(Error* error) { return error == nullptr ? "" : TakeError(error).message; }

Error* SetCounter(CallFrame* frame, Stage stage, int start) {
  abi::StateSetArgs args = {sizeof(args), nullptr, frame->context, stage, &counter_type, new Counter(start)};
  Error* const error = frame->api->state_set(&args);
  if (error != nullptr) delete static_cast<Counter*>(args.state);
  return error;
}
Counter* CounterOf(CallFrame* frame, Stage stage, Error** error) {
  abi::StateGetArgs args = {sizeof(args), nullptr, frame->context, stage, &counter_type, nullptr};
  *error = frame->api->state_get(&args);
  return static_cast<Counter*>(args.state);
}

template <Stage stage, int start>
Error* Count(CallFrame* frame) {
  if (AnswersVersion(*frame)) return nullptr;
  return SetCounter(frame, stage, start);
}
// Gives what the stages set, and counts each.
Error* Sum(CallFrame* frame) {
  if (AnswersVersion(*frame)) return nullptr;
  int sum = 0;
  for (const Stage stage : {Stage::kInstantiate, Stage::kPrepare, Stage::kInitialize}) {
    Error* error = nullptr;
    Counter* const counter = CounterOf(frame, stage, &error);
    if (error != nullptr) return error;
    sum += counter->value++;
  }
  *static_cast<int32_t*>(ResultOf(*frame, 0).data) = sum;
  return nullptr;
}

TEST_CASE("ffi: the state of instantiate lives as long as the kernel, the others' as long as the run",
          "[custom][ffi]") {
  RegisterCounter();
  const abi::HandlerBundle bundle = {Count<Stage::kInstantiate, 1>, Count<Stage::kPrepare, 10>,
                                     Count<Stage::kInitialize, 100>, Sum};
  {
    const absl::StatusOr<Program> program =
        ProgramWith(OpsWith("sum", bundle), CallProgram("sum", {}, "s32[]"));
    REQUIRE(program.ok());
    for (const int expected : {111, 112, 113}) {
      const absl::StatusOr<Literal> result = program->Run({});
      INFO(result.status());
      REQUIRE(result.ok());
      CHECK(result->GetInt(0) == expected);
      CHECK(live_counters == 1);
    }
  }
  CHECK(live_counters == 0);
  // Of two calls each has its own.
  const std::string two = R"(HloModule m
ENTRY e {
  a = s32[] custom-call(), custom_call_target="sum", api_version=API_VERSION_TYPED_FFI, custom_call_has_side_effect=true
  b = s32[] custom-call(), custom_call_target="sum", api_version=API_VERSION_TYPED_FFI, custom_call_has_side_effect=true
  ROOT t = (s32[], s32[]) tuple(a, b)
})";
  CHECK(Called(OpsWith("sum", bundle), two, {}) == "( 111, 111 )");
  CHECK(live_counters == 0);
}

Error* Nothing(CallFrame* frame) {
  AnswersVersion(*frame);
  return nullptr;
}
Error* SetTwice(CallFrame* frame) {
  if (AnswersVersion(*frame)) return nullptr;
  if (Error* const error = SetCounter(frame, Stage::kPrepare, 0)) return error;
  return SetCounter(frame, Stage::kPrepare, 0);
}
Error* SetForOther(CallFrame* frame) {
  return AnswersVersion(*frame) ? nullptr : SetCounter(frame, Stage::kInitialize, 0);
}
Error* SetUnknownType(CallFrame* frame) {
  if (AnswersVersion(*frame)) return nullptr;
  abi::TypeId unknown = {12345};
  int object = 0;
  abi::StateSetArgs args = {sizeof(args), nullptr, frame->context, Stage::kPrepare, &unknown, &object};
  return frame->api->state_set(&args);
}
Error* GetOtherType(CallFrame* frame) {
  if (AnswersVersion(*frame)) return nullptr;
  static abi::TypeId other = {};
  const std::string name = "assay test other";
  abi::TypeRegisterArgs type = {abi::kTypeRegisterSize, nullptr, {name.data(), name.size()}, &other, nullptr};
  if (Error* const error = frame->api->type_register(&type)) TakeError(error);  // the second time
  abi::StateGetArgs args = {sizeof(args), nullptr, frame->context, Stage::kPrepare, &other, nullptr};
  return frame->api->state_get(&args);
}

TEST_CASE("ffi: states that are not there, not of their type, or set twice are errors", "[custom][ffi]") {
  RegisterCounter();
  const auto error = [](const abi::HandlerBundle& bundle) {
    return Called(OpsWith("t", bundle), CallProgram("t", {}, "s32[]"), {});
  };
  CHECK_THAT(error({nullptr, nullptr, nullptr, Sum}),
             Contains("execute: NOT_FOUND: State_Get: stage 0 has set no state"));
  CHECK_THAT(error({nullptr, SetTwice, nullptr, Nothing}), Contains("prepare: ALREADY_EXISTS: State_Set"));
  CHECK_THAT(error({nullptr, SetForOther, nullptr, Nothing}),
             Contains("prepare: INVALID_ARGUMENT: State_Set: stage 1 sets a state of stage 2"));
  CHECK_THAT(error({nullptr, SetUnknownType, nullptr, Nothing}), Contains("type 12345 is not registered"));
  CHECK_THAT(error({nullptr, Count<Stage::kPrepare, 1>, nullptr, GetOtherType}),
             Contains("the state is of type 'assay test counter'"));
  CHECK(live_counters == 0);
}

TEST_CASE("ffi: a type has one name and one number in the process", "[custom][ffi]") {
  RegisterCounter();
  const int64_t number = counter_type.value;
  RegisterCounter();  // it has its number
  CHECK(counter_type.value == number);
  const auto refusal = [](std::string name, abi::TypeId type) {
    abi::TypeRegisterArgs args = {sizeof(args), nullptr, {name.data(), name.size()}, &type, nullptr};
    return TakeMessage(FunctionTable().type_register(&args));
  };
  CHECK_THAT(refusal("assay test counter", {0}), Contains("registered already"));
  CHECK_THAT(refusal("another", {number}), Contains("that of 'assay test counter'"));
  // Another runtime in the process has numbers of its own.
  CHECK(refusal("assay test type of elsewhere", {5}).empty());
  CHECK(refusal("assay test type of elsewhere", {5}).empty());
  CHECK_THAT(refusal("assay test type of elsewhere", {6}), Contains("registered already"));
  CHECK_THAT(refusal("another", {5}), Contains("that of 'assay test type of elsewhere'"));
}

Error* UseMemory(CallFrame* frame) {
  if (AnswersVersion(*frame)) return nullptr;
  for (const size_t size : {size_t{0}, size_t{1}, size_t{100}, size_t{5000}}) {
    abi::MemoryAllocateArgs args = {sizeof(args), nullptr, frame->context, size, 256, nullptr};
    if (Error* const error = frame->api->memory_allocate(&args)) return error;
    if (args.data == nullptr || reinterpret_cast<uintptr_t>(args.data) % 256 != 0)
      return NewError(*frame, ErrorCode::kInternal, "a bad address");
    std::memset(args.data, 7, size);
    if (size == 100) {
      abi::MemoryFreeArgs free = {sizeof(free), nullptr, frame->context, size, args.data};
      if (Error* const error = frame->api->memory_free(&free)) return error;
      Error* const again = frame->api->memory_free(&free);
      if (TakeMessage(again).find("was not given") == std::string::npos)
        return NewError(*frame, ErrorCode::kInternal, "freed twice");
    }
  }
  return nullptr;
}
Error* UseMuchMemory(CallFrame* frame) {
  if (AnswersVersion(*frame)) return nullptr;
  abi::MemoryAllocateArgs args = {sizeof(args), nullptr, frame->context, 1 << 20, 1, nullptr};
  return frame->api->memory_allocate(&args);
}
Error* UseHugeMemory(CallFrame* frame) {
  if (AnswersVersion(*frame)) return nullptr;
  abi::MemoryAllocateArgs args = {sizeof(args), nullptr, frame->context, SIZE_MAX, 1, nullptr};
  return frame->api->memory_allocate(&args);
}
Error* UseBadAlignment(CallFrame* frame) {
  if (AnswersVersion(*frame)) return nullptr;
  abi::MemoryAllocateArgs args = {sizeof(args), nullptr, frame->context, 8, 24, nullptr};
  return frame->api->memory_allocate(&args);
}

TEST_CASE("ffi: temporary memory is aligned, counts against the run's limit, and goes with the call",
          "[custom][ffi]") {
  const auto called = [](abi::Handler* handler, int64_t limit) {
    RunOptions options;
    options.limits.memory_limit = limit;
    return Called(OpsWith("t", handler), CallProgram("t", {}, "s32[]"), {}, options);
  };
  CHECK(called(UseMemory, 1 << 16) == "0");
  CHECK(called(UseMuchMemory, 1 << 21) == "0");
  CHECK_THAT(called(UseMuchMemory, 1 << 16), Contains("exit 5: ") && Contains("RESOURCE_EXHAUSTED"));
  CHECK_THAT(called(UseHugeMemory, 1 << 16), Contains("exit 5: ") && Contains("RESOURCE_EXHAUSTED"));
  CHECK_THAT(called(UseBadAlignment, 1 << 16), Contains("INVALID_ARGUMENT") && Contains("power of 2"));
}

struct Part {
  CallFrame* frame;
  std::atomic<int>* done;
  int32_t* out;
  int32_t value;
};
// Writes the squares of 0..99 from tasks, of which each schedules another one.
Error* Squares(CallFrame* frame) {
  if (AnswersVersion(*frame)) return nullptr;
  static std::atomic<int> done;
  for (int32_t i = 0; i < 50; ++i) {
    const auto task = [](void* data) {
      auto* const part = static_cast<Part*>(data);
      part->out[part->value] = part->value * part->value;
      if (part->value < 50) {
        part->value += 50;
        abi::ScheduleArgs args = {sizeof(args), nullptr, part->frame->context,
                                  [](void* inner) {
                                    auto* const second = static_cast<Part*>(inner);
                                    second->out[second->value] = second->value * second->value;
                                    delete second;
                                  },
                                  data};
        if (Error* const error = part->frame->api->schedule(&args)) TakeError(error);
      }
    };
    auto* const part = new Part{frame, &done, static_cast<int32_t*>(ResultOf(*frame, 0).data), i};
    abi::ScheduleArgs args = {sizeof(args), nullptr, frame->context, task, part};
    if (Error* const error = frame->api->schedule(&args)) return error;
  }
  return nullptr;
}
// Waits for its tasks by itself.
Error* WaitForTasks(CallFrame* frame) {
  if (AnswersVersion(*frame)) return nullptr;
  std::atomic<int> done = 0;
  for (int i = 0; i < 20; ++i) {
    abi::ScheduleArgs args = {sizeof(args), nullptr, frame->context,
                              [](void* data) { ++*static_cast<std::atomic<int>*>(data); }, &done};
    if (Error* const error = frame->api->schedule(&args)) return error;
  }
  while (done < 20) std::this_thread::yield();
  int64_t threads = 0;
  abi::NumThreadsArgs args = {sizeof(args), nullptr, frame->context, &threads};
  if (Error* const error = frame->api->num_threads(&args)) return error;
  *static_cast<int32_t*>(ResultOf(*frame, 0).data) = static_cast<int32_t>(threads);
  return nullptr;
}
Error* PrepareByTask(CallFrame* frame) {
  if (AnswersVersion(*frame)) return nullptr;
  abi::ScheduleArgs args = {sizeof(args), nullptr, frame->context, [](void*) {}, nullptr};
  return frame->api->schedule(&args);
}
// Whether a task runs on another thread than the handler.
Error* RunsBeside(CallFrame* frame) {
  if (AnswersVersion(*frame)) return nullptr;
  struct Seen {
    std::thread::id thread;
    std::atomic<bool> done = false;
  } seen;
  abi::ScheduleArgs args = {sizeof(args), nullptr, frame->context,
                            [](void* data) {
                              auto* const told = static_cast<Seen*>(data);
                              told->thread = std::this_thread::get_id();
                              told->done = true;
                            },
                            &seen};
  if (Error* const error = frame->api->schedule(&args)) return error;
  while (!seen.done) std::this_thread::yield();
  *static_cast<int32_t*>(ResultOf(*frame, 0).data) = seen.thread != std::this_thread::get_id() ? 1 : 0;
  return nullptr;
}
Error* ThrowInTask(CallFrame* frame) {
  if (AnswersVersion(*frame)) return nullptr;
  abi::ScheduleArgs args = {sizeof(args), nullptr, frame->context,
                            [](void*) { throw std::runtime_error("in a task"); }, nullptr};
  return frame->api->schedule(&args);
}

TEST_CASE("ffi: tasks have run when the call is over, whatever the number of threads", "[custom][ffi]") {
  for (const int jobs : {1, 2, 7}) {
    RunOptions options;
    options.jobs = jobs;
    const absl::StatusOr<Literal> squares =
        RunWith(OpsWith("t", Squares), CallProgram("t", {}, "s32[100]"), {}, EngineChoice::kExact, options);
    INFO(squares.status());
    REQUIRE(squares.ok());
    for (int i = 0; i < 100; ++i) CHECK(squares->GetInt(i) == i * i);
    const absl::StatusOr<Literal> threads =
        RunWith(OpsWith("t", WaitForTasks), CallProgram("t", {}, "s32[]"), {}, EngineChoice::kExact, options);
    REQUIRE(threads.ok());
    CHECK(threads->GetInt(0) >= 1);
    CHECK(threads->GetInt(0) <= jobs);
    // A stage's end is not the end of the threads: those of execute run beside it, whatever prepare did.
    const absl::StatusOr<Literal> again =
        RunWith(OpsWith("t", {nullptr, PrepareByTask, nullptr, RunsBeside}), CallProgram("t", {}, "s32[]"),
                {}, EngineChoice::kExact, options);
    INFO(again.status());
    REQUIRE(again.ok());
    CHECK(again->GetInt(0) == (std::min(jobs, static_cast<int>(threads->GetInt(0))) > 1 ? 1 : 0));
    const absl::StatusOr<Literal> thrown =
        RunWith(OpsWith("t", ThrowInTask), CallProgram("t", {}, "s32[]"), {}, EngineChoice::kExact, options);
    CHECK_THAT(std::string(thrown.status().message()),
               Contains("INTERNAL") && Contains("scheduled task: in a task"));
  }
}

std::thread later;
// Goes on after it returned: writes, and tells.
template <bool fails>
Error* Later(CallFrame* frame) {
  if (AnswersVersion(*frame)) return nullptr;
  abi::FutureCreateArgs args = {abi::kFutureCreateSize, nullptr, nullptr};
  if (Error* const error = frame->api->future_create(&args)) return error;
  frame->future = args.future;
  auto* const out = static_cast<int32_t*>(ResultOf(*frame, 0).data);
  const abi::Api* const api = frame->api;
  if (later.joinable()) later.join();
  later = std::thread([api, out, future = args.future] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    *out = 42;
    if (fails) {
      abi::ErrorCreateArgs create = {sizeof(create), nullptr, "too late", ErrorCode::kAborted};
      abi::FutureSetErrorArgs set = {sizeof(set), nullptr, future, api->error_create(&create)};
      TakeError(api->future_set_error(&set));
    } else {
      abi::FutureSetAvailableArgs set = {sizeof(set), nullptr, future};
      TakeError(api->future_set_available(&set));
    }
  });
  return nullptr;
}
// Tells before it returns.
Error* AtOnce(CallFrame* frame) {
  if (AnswersVersion(*frame)) return nullptr;
  abi::FutureCreateArgs args = {abi::kFutureCreateSize, nullptr, nullptr};
  if (Error* const error = frame->api->future_create(&args)) return error;
  abi::FutureSetAvailableArgs set = {sizeof(set), nullptr, args.future};
  frame->future = args.future;
  return frame->api->future_set_available(&set);
}

TEST_CASE("ffi: the run waits for a handler's future, and takes its error", "[custom][ffi]") {
  const std::string program = CallProgram("t", {}, "s32[]");
  CHECK(Called(OpsWith("t", Later<false>), program, {}) == "42");
  CHECK_THAT(Called(OpsWith("t", Later<true>), program, {}),
             Contains("exit 5: ") && Contains("execute: ABORTED: too late"));
  CHECK(Called(OpsWith("t", AtOnce), program, {}) == "0");
  // A run that may wait no longer ends, and leaves the handler the memory that it writes to.
  RunOptions options;
  options.limits.timeout_seconds = 0.005;
  const absl::StatusOr<Literal> result =
      RunWith(OpsWith("t", Later<false>), program, {}, EngineChoice::kExact, options);
  CHECK_THAT(std::string(result.status().message()), Contains("timeout"));
  later.join();
}

int user_data = 7;
abi::TypeId user_type = {};
Error* TellRun(CallFrame* frame) {
  if (AnswersVersion(*frame)) return nullptr;
  auto* const out = static_cast<int64_t*>(ResultOf(*frame, 0).data);
  abi::RunIdGetArgs run = {sizeof(run), nullptr, frame->context, -1};
  if (Error* const error = frame->api->run_id_get(&run)) return error;
  abi::DeviceOrdinalGetArgs device = {abi::kDeviceOrdinalGetSize, nullptr, frame->context, -1};
  if (Error* const error = frame->api->device_ordinal_get(&device)) return error;
  abi::ContextGetArgs data = {sizeof(data), nullptr, frame->context, &user_type, nullptr};
  if (Error* const error = frame->api->context_get(&data)) return error;
  out[0] = run.run_id;
  out[1] = device.ordinal;
  out[2] = *static_cast<int*>(data.data);
  return nullptr;
}
Error* WantStream(CallFrame* frame) {
  if (AnswersVersion(*frame)) return nullptr;
  abi::StreamGetArgs args = {sizeof(args), nullptr, frame->context, nullptr};
  return frame->api->stream_get(&args);
}
Error* WantRunTooEarly(CallFrame* frame) {
  if (AnswersVersion(*frame)) return nullptr;
  abi::MemoryAllocateArgs args = {sizeof(args), nullptr, frame->context, 8, 8, nullptr};
  return frame->api->memory_allocate(&args);
}

TEST_CASE("ffi: a handler is told of the run, of its device and of user data; there is no stream",
          "[custom][ffi]") {
  const std::string name = "assay test user data";
  abi::TypeRegisterArgs type = {sizeof(type), nullptr, {name.data(), name.size()}, &user_type, nullptr};
  TakeError(FunctionTable().type_register(&type));
  const std::string program = CallProgram("t", {}, "s64[3]");
  const auto ops = std::make_shared<FfiOps>();
  REQUIRE(ops->Register("t", {nullptr, nullptr, nullptr, TellRun}).ok());
  CHECK_THAT(Called(ops, program, {}),
             Contains("NOT_FOUND") && Contains("no user data of type 'assay test user data'"));
  ops->SetUserData(user_type, &user_data);
  CHECK(Called(ops, program, {}) == "{42, 0, 7}");
  CHECK_THAT(Called(OpsWith("t", WantStream), program, {}),
             Contains("exit 4: ") && Contains("there is no stream"));
  CHECK_THAT(Called(OpsWith("t", {WantRunTooEarly, nullptr, nullptr, TellRun}), program, {}),
             Contains("instantiate: FAILED_PRECONDITION") && Contains("while a handler is instantiated"));
}

TEST_CASE("ffi: each device of a run has its number, all have one run", "[custom][ffi]") {
  const auto ops = std::make_shared<FfiOps>();
  ops->SetUserData(user_type, &user_data);
  REQUIRE(ops->Register("t", {nullptr, nullptr, nullptr, TellRun}).ok());
  const absl::StatusOr<Program> program = ProgramWith(ops, CallProgram("t", {}, "s64[3]"));
  REQUIRE(program.ok());
  const auto plan = program->PlanFor();
  REQUIRE(plan.ok());
  RunOptions options;
  options.run_seed = 5;
  const auto outputs =
      RunDevices(**plan, {.replicas = 2, .partitions = 2}, std::vector<DeviceInputs>(4), options);
  INFO(outputs.status());
  REQUIRE(outputs.ok());
  for (size_t device = 0; device < 4; ++device)
    CHECK(LiteralToText((*outputs)[device].root) == fmt::format("{{5, {}, 7}}", device));
}

TEST_CASE("ffi: arguments of an older, smaller form are refused, larger ones are taken", "[custom][ffi]") {
  abi::StateGetArgs small = {sizeof(small) - 8, nullptr, nullptr, Stage::kPrepare, nullptr, nullptr};
  CHECK_THAT(TakeMessage(FunctionTable().state_get(&small)),
             Contains("arguments of 40 bytes, want 48 as in version 0.3"));
  // jaxlib's header writes the size of another struct, which is larger, here.
  abi::RunIdGetArgs large = {sizeof(large) + 8, nullptr, nullptr, 0};
  CHECK_THAT(TakeMessage(FunctionTable().run_id_get(&large)), Contains("the context is null"));
  abi::HandlerRegisterArgs outside = {sizeof(outside), nullptr, {"a", 1}, {"Host", 4}, {}, 0};
  CHECK_THAT(TakeMessage(FunctionTable().handler_register(&outside)), Contains("while a library is loaded"));
  CHECK(XLA_FFI_GetApi() == &FunctionTable());
}

}  // namespace
}  // namespace assay::custom::ffi
