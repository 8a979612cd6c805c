// The state of a fuzz target that calls the plugin (pjrt_fuzz.cc): what handles there are, and what was
// promised.
#ifndef ASSAY_TESTS_FUZZ_PJRT_SESSION_H_
#define ASSAY_TESTS_FUZZ_PJRT_SESSION_H_

#include <atomic>
#include <string_view>
#include <vector>

#include "pjrt/plugin/extensions.h"
#include "tests/fuzz/pjrt_calls.h"

namespace assay::pjrt {

// Numbers of calls behind those of the table.
inline constexpr uint8_t kLayouts = 200, kFfi = 210, kNewClient = 220, kThreads = 221;

// A function whose arguments are single values (pjrt_session.cc).
struct Row {
  FunctionId id;
  size_t least, known;
  const char* fields;
};

struct Loaded {
  LoadedExecutable* handle = nullptr;
  Client* client = nullptr;
  size_t outputs = 0, devices = 0;
};

struct Pools {
  std::vector<Client*> clients;
  std::vector<Device*> devices;
  std::vector<Memory*> memories;
  std::vector<DeviceDescription*> descriptions;
  std::vector<TopologyDescription*> topologies;
  std::vector<Loaded> loaded;
  std::vector<Executable*> executables;
  std::vector<Buffer*> buffers;
  std::vector<Event*> events;
  std::vector<ExecuteContext*> contexts;
  std::vector<MemoryLayout*> layouts;
};

// Choice 0: null.
template <class Handle>
Handle Chosen(const std::vector<Handle>& pool, uint8_t choice) {
  return choice == 0 || pool.empty() ? Handle() : pool[(choice - 1u) % pool.size()];
}

template <class T>
void* Taken(T* handle) {
  return const_cast<void*>(static_cast<const void*>(handle));
}

class Session {
 public:
  explicit Session(std::span<const uint8_t> bytes) : choices_(bytes) {
    AddClient(3);
    AddClient(1);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void Run();
  void End();

 private:
  void CallOne();
  void CallRow(const Row& row, uint8_t size);
  void* In(char letter);
  void Out(char letter, void* handle);
  void CallLayouts(uint8_t function, uint8_t size);
  void CallFfi(uint8_t function, uint8_t size);
  bool CallSpecial(FunctionId id, uint8_t size);
  bool CallOfExecutable(FunctionId id, uint8_t size);

  void AddClient(int64_t devices);
  void NewClient(uint8_t size);
  void Compile(uint8_t size);
  void Deserialize(uint8_t size);
  void AddLoaded(Client* client, LoadedExecutable* handle);
  void DefaultAssignment(uint8_t size);
  void BufferFromHost(uint8_t size);
  void View(uint8_t size);
  void Uninitialized(uint8_t size);
  void ToHost(uint8_t size);
  void RawToHost(uint8_t size);
  void OptimizedProgram(uint8_t size);
  void DestroyLoaded(uint8_t size);
  void Execute(uint8_t size);
  void Await(uint8_t size);
  void OnReady(uint8_t size);
  void Threads();
  void CheckMade(Buffer* buffer, const std::vector<int64_t>& sizes);
  static bool IsOf(Client* client, Device* device);

  std::vector<int64_t> Sizes();
  std::vector<int64_t> Strides(size_t count);
  BufferMemoryLayout* Layout(size_t rank);
  std::string_view OptionsOfCompiling();
  std::vector<bool> DeletedBuffers() const;

  Choices choices_;
  Pools pools_;
  std::vector<int64_t> order_, layout_strides_;
  BufferMemoryLayout layout_ = {};
  int64_t callbacks_wanted_ = 0, views_wanted_ = 0;
  std::atomic<int64_t> callbacks_ = 0, views_ = 0;
};

}  // namespace assay::pjrt

#endif  // ASSAY_TESTS_FUZZ_PJRT_SESSION_H_
