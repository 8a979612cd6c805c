#include "tests/gpu/emulator/emulator.h"

#include <algorithm>
#include <cstring>

#include "tests/gpu/emulator/control.h"

namespace assay::emulated {

Emulator& Emulator::Get() {
  static Emulator& emulator = *new Emulator();  // never destroyed: the driver may be called at the very end
  return emulator;
}

void Emulator::DestroyContext() {
  retained = 0;
  reclaimed += streams.size() + events.size() + pools.size() + modules.size() + host.size() + memory.size() +
               graphs.size() + graph_execs.size();
  graphs.clear();
  graph_execs.clear();
  streams.clear();
  events.clear();
  pools.clear();
  modules.clear();
  host.clear();
  for (const auto& [address, block] : memory) heap.Free(address);
  memory.clear();
  context = nullptr;
  fault = Result::kSuccess;
  fault_text.clear();
}

Result Emulator::Break(Result error, std::string why) {
  if (fault != Result::kSuccess) return fault;
  fault = error;
  fault_text = std::move(why);
  for (const auto& [stream, object] : streams) object->queue.clear();
  return fault;
}

Result Emulator::Drain(cuda::Stream stream, const bool* until) {
  while (fault == Result::kSuccess && !stream->queue.empty() && (until == nullptr || !*until)) {
    const std::function<Result()> run = std::move(stream->queue.front());
    stream->queue.pop_front();
    const Result result = run();
    if (result != Result::kSuccess) return result;
  }
  return fault;
}

Result Emulator::Enqueue(cuda::Stream stream, std::function<Result()> run) {
  if (stream->captured != nullptr) {
    stream->captured->calls.push_back(std::move(run));
    return Result::kSuccess;
  }
  stream->queue.push_back(std::move(run));
  return settings.eager != 0 ? Drain(stream) : Result::kSuccess;
}

Result Emulator::NotInCapture(cuda::Stream stream) {
  if (stream->captured == nullptr) return Result::kSuccess;
  stream->capture_failed = true;
  return Result::kStreamCaptureUnsupported;
}

const Module* Emulator::FindModule(std::string_view name) const {
  const auto known = registered.find(name);
  if (known != registered.end()) return known->second;
  return CompiledModule(name);
}

std::vector<cuda::Context>& CurrentContexts() {
  thread_local std::vector<cuda::Context> contexts;
  return contexts;
}

namespace {

bool IsLasting(Result result) {
  switch (result) {
#define ASSAY_CUDA_LASTING(name, cuda_name, value, lasting) \
  case Result::name:                                        \
    return lasting;
    ASSAY_CUDA_RESULTS(ASSAY_CUDA_LASTING)
#undef ASSAY_CUDA_LASTING
  }
  return false;
}

}  // namespace

Result Call(const char* name, Needs needs, const std::function<Result(Emulator&)>& body) {
  Emulator& emulator = Emulator::Get();
  const std::lock_guard lock(emulator.mutex);
  ++emulator.calls[name];
  ++emulator.calls["*"];
  const Result failure = NextFailure(name, &emulator.settings.fail);
  if (failure != Result::kSuccess && IsLasting(failure) && emulator.context != nullptr)
    return emulator.Break(failure, "it was to fail");
  if (failure != Result::kSuccess) return failure;
  if (needs == Needs::kNothing) return body(emulator);
  if (!emulator.initialized) return Result::kNotInitialized;
  if (needs == Needs::kStart) return body(emulator);
  if (emulator.context == nullptr || CurrentContexts().empty() ||
      CurrentContexts().back() != emulator.context.get())
    return Result::kInvalidContext;
  return emulator.fault != Result::kSuccess ? emulator.fault : body(emulator);
}

}  // namespace assay::emulated

using assay::emulated::Emulator;

extern "C" {

bool assay_emulated_set(const char* name, const char* value) {
  Emulator& emulator = Emulator::Get();
  const std::lock_guard lock(emulator.mutex);
  return emulator.settings.Set(name, value);
}

void assay_emulated_reset() {
  Emulator& emulator = Emulator::Get();
  const std::lock_guard lock(emulator.mutex);
  emulator.DestroyContext();
  emulator.settings = assay::emulated::EnvironmentSettings();
  emulator.calls.clear();
  emulator.reclaimed = 0;
  emulator.initialized = false;
  emulator.registered.clear();
}

uint64_t assay_emulated_calls(const char* function) {
  Emulator& emulator = Emulator::Get();
  const std::lock_guard lock(emulator.mutex);
  const auto calls = emulator.calls.find(std::string_view(function));
  return calls == emulator.calls.end() ? 0 : calls->second;
}

uint64_t assay_emulated_live(const char* kind) {
  Emulator& emulator = Emulator::Get();
  const std::lock_guard lock(emulator.mutex);
  uint64_t queued = 0;
  for (const auto& [stream, object] : emulator.streams) queued += object->queue.size();
  const std::pair<std::string_view, uint64_t> objects[] = {{"contexts", emulator.context == nullptr ? 0 : 1},
                                                           {"streams", emulator.streams.size()},
                                                           {"events", emulator.events.size()},
                                                           {"pools", emulator.pools.size()},
                                                           {"modules", emulator.modules.size()},
                                                           {"host", emulator.host.size()},
                                                           {"graphs", emulator.graphs.size()},
                                                           {"graph execs", emulator.graph_execs.size()},
                                                           {"memory", emulator.heap.blocks()}};
  uint64_t all = 0;
  for (const auto& [name, count] : objects) {
    if (name == kind) return count;
    all += count;
  }
  if (std::string_view(kind) == "bytes") return emulator.heap.bytes();
  if (std::string_view(kind) == "reclaimed") return emulator.reclaimed;
  return std::string_view(kind) == "queued" ? queued : all;
}

void assay_emulated_register(const char* name, const assay::emulated::Module* module) {
  Emulator& emulator = Emulator::Get();
  const std::lock_guard lock(emulator.mutex);
  emulator.registered[name] = module;
}
}
