// The emulated driver's state: one device, its primary context, and what was made in it. The functions of the
// driver API (driver.cc, driver_memory.cc, driver_modules.cc) and those of control.h
// work on it under one lock.
//
// Streams are queues that nobody works off by himself: what is put into one runs when somebody waits for it,
// as late as a device may. So a program that reads results, or uses memory again, without having waited for
// it is always wrong here.
#ifndef ASSAY_TESTS_GPU_EMULATOR_EMULATOR_H_
#define ASSAY_TESTS_GPU_EMULATOR_EMULATOR_H_

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/driver/cuda_api.h"
#include "tests/gpu/emulator/emulated_module.h"
#include "tests/gpu/emulator/heap.h"
#include "tests/gpu/emulator/settings.h"

namespace assay::gpu::cuda {

struct ContextObject {};

// Each call gives what was wrong, kSuccess where nothing was.
using Calls = std::deque<std::function<Result()>>;

struct GraphObject {
  Calls calls;
};

struct GraphExecObject {
  std::shared_ptr<const Calls> calls;
};

struct StreamObject {
  Calls queue;
  std::unique_ptr<GraphObject> captured;  // null: it is not being captured
  bool capture_failed = false;            // by a call that can't be captured
};

struct EventObject {
  Stream stream = nullptr;     // into which it was put last
  std::shared_ptr<bool> done;  // null: it never was
  bool is_timed = false;
  std::shared_ptr<std::chrono::steady_clock::time_point> time;  // when it was done last
};

struct PoolObject {};

struct FunctionObject {
  std::string name;
  const emulated::Kernel* kernel = nullptr;
  int dynamic_shared = 48 << 10;  // bytes that a launch may ask for
};

struct ModuleObject {
  const emulated::Module* module = nullptr;
  std::unique_ptr<emulated::Module> own;  // where it was compiled
  std::map<std::string, std::unique_ptr<FunctionObject>> functions;
};

}  // namespace assay::gpu::cuda

namespace assay::emulated {

namespace cuda = gpu::cuda;
using cuda::Result;

template <typename T>
using Objects = std::map<T*, std::unique_ptr<T>>;

struct HostBlock {
  uint64_t bytes = 0;
  std::unique_ptr<std::byte[]> storage;
};

struct DeviceBlock {
  bool of_pool = false;
  bool freed = false;  // as soon as the stream is there
};

struct Emulator {
  std::mutex mutex;
  Settings settings = EnvironmentSettings();
  std::map<std::string, uint64_t, std::less<>> calls;
  bool initialized = false;

  int retained = 0;
  std::unique_ptr<cuda::ContextObject> context;  // where it is retained
  Result fault = Result::kSuccess;               // that the context doesn't survive
  std::string fault_text;
  std::string error_text;  // what cuGetErrorString gave last

  Objects<cuda::StreamObject> streams;
  Objects<cuda::EventObject> events;
  Objects<cuda::PoolObject> pools;
  Objects<cuda::ModuleObject> modules;
  Objects<cuda::GraphObject> graphs;
  Objects<cuda::GraphExecObject> graph_execs;
  std::map<void*, HostBlock> host;
  Heap heap;
  std::map<uint64_t, DeviceBlock> memory;  // by address

  uint64_t reclaimed = 0;  // objects that went with the context, as nobody had given them back

  std::map<std::string, const Module*, std::less<>> registered;
  std::set<std::string, std::less<>> images;  // that assay_kernel_image gave

  static Emulator& Get();
  void DestroyContext();

  // Ends the context: this and all later calls give the error, whose text says why.
  Result Break(Result error, std::string why);
  // Runs what waits in the stream, up to the event where there is one. The context's error.
  Result Drain(cuda::Stream stream, const bool* until = nullptr);
  // Into the graph, of a stream that is being captured.
  Result Enqueue(cuda::Stream stream, std::function<Result()> run);
  // Ends the capture, where there is one: the call can't be part of a graph.
  Result NotInCapture(cuda::Stream stream);

  // The modules of an image's name; null where there is none.
  const Module* FindModule(std::string_view name) const;
};

enum class Needs { kNothing, kStart, kContext };

// A call of the driver's function `name`: counts it, lets it fail where it is to, refuses it where what it
// needs is missing, else runs `body`.
Result Call(const char* name, Needs needs, const std::function<Result(Emulator&)>& body);

// The contexts that are current on this thread, innermost last.
std::vector<cuda::Context>& CurrentContexts();

// Whether it is one of these objects.
template <typename T>
bool Knows(const Objects<T>& objects, T* object) {
  return objects.contains(object);
}

// One more of them.
template <typename T>
T* Add(Objects<T>* objects, std::unique_ptr<T> object) {
  T* const added = object.get();
  objects->emplace(added, std::move(object));
  return added;
}

}  // namespace assay::emulated

#endif  // ASSAY_TESTS_GPU_EMULATOR_EMULATOR_H_
