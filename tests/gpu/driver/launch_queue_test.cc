// Small calls that go to the driver together, and as graphs where they recur.
#include "gpu/driver/launch_queue.h"

#include <numeric>

#include "tests/gpu/driver/emulated_driver.h"

namespace assay::gpu {
namespace {

using Catch::Matchers::Contains;

// A device with an array of 8 numbers that a kernel doubles.
struct Doubling {
  TestModule module;
  EmulatedDriver driver;
  std::shared_ptr<CudaDevice> device;
  std::shared_ptr<DeviceMemory> memory;
  const DeviceFunction* add = nullptr;

  Doubling() {
    driver.Register("test", &module);
    device = driver.Open();
    memory = device->Allocate(32).value();
    add = device->Load(ImageOf(kTestImage), "add").value();
    Restart();
  }
  ~Doubling() {
    memory = nullptr;
    CHECK(device->Close().ok());
    CHECK(driver.Live("*") == 0);
    CHECK(driver.Live("reclaimed") == 0);
  }
  void Restart() {
    const std::vector<uint32_t> ones(8, 1);
    REQUIRE(device->CopyIn(memory->address(), std::as_bytes(std::span(ones))).ok());
  }
  void Launch(int times, int64_t count = 8, uint32_t shared_bytes = 0) {
    const AddArguments arguments{memory->address(), memory->address(), memory->address(), count};
    for (int i = 0; i < times; ++i)
      REQUIRE(device->Launch(*add, {.threads = {8, 1, 1}, .shared_bytes = shared_bytes}, arguments).ok());
  }
  uint32_t Number() {
    uint32_t number = 0;
    REQUIRE(device->CopyOut(std::as_writable_bytes(std::span(&number, 1)), memory->address()).ok());
    return number;
  }
};

}  // namespace

TEST_CASE("launch queue: launches that recur are one call of the driver", "[gpu][driver]") {
  Doubling doubling;
  const uint64_t before = doubling.driver.Calls("cuLaunchKernel");
  const auto launches = [&] { return doubling.driver.Calls("cuLaunchKernel") - before; };
  for (int round = 1; round <= 6; ++round) {
    doubling.Launch(4);
    REQUIRE(doubling.device->Flush().ok());
    // Twice by itself; the third time they are captured.
    CHECK(launches() == static_cast<uint64_t>(std::min(round, 3)) * 4);
    CHECK(doubling.driver.Calls("cuGraphLaunch") == static_cast<uint64_t>(std::max(round - 2, 0)));
  }
  CHECK(doubling.driver.Calls("cuGraphInstantiateWithFlags") == 1);
  CHECK(doubling.driver.Live("graphs") == 0);
  CHECK(doubling.Number() == 1u << 24);
}

TEST_CASE("launch queue: nothing is called for a launch until the queue is flushed", "[gpu][driver]") {
  Doubling doubling;
  REQUIRE(doubling.device->Flush().ok());
  const uint64_t calls = doubling.driver.Calls("*");
  doubling.Launch(3);
  REQUIRE(doubling.device->Zero(doubling.memory->address() + 4, 8).ok());
  REQUIRE(doubling.device->CopyWithin(doubling.memory->address() + 16, doubling.memory->address(), 4).ok());
  CHECK(doubling.driver.Calls("*") == calls);
  // Whatever reads or writes the memory otherwise comes behind it.
  CHECK(doubling.Number() == 8);
  doubling.Launch(1);
  doubling.Restart();
  CHECK(doubling.Number() == 1);
  doubling.Launch(1);
  REQUIRE(doubling.device->Tell([](void*) { return absl::OkStatus(); }).ok());
  CHECK(doubling.driver.Calls("cuLaunchKernel") == 5);
  // So does a large launch.
  const AddArguments arguments{doubling.memory->address(), doubling.memory->address(),
                               doubling.memory->address(), 8};
  doubling.Launch(1);
  REQUIRE(doubling.device->Launch(*doubling.add, {.blocks = {1024, 1, 1}, .threads = {256, 1, 1}}, arguments)
              .ok());
  CHECK(doubling.driver.Calls("cuLaunchKernel") == 7);
  CHECK(doubling.Number() == 8);
}

TEST_CASE("launch queue: a full queue is flushed", "[gpu][driver]") {
  Doubling doubling;
  doubling.Launch(LaunchQueue::kMaxCalls - 1, 0);
  CHECK(doubling.driver.Calls("cuLaunchKernel") == 0);
  doubling.Launch(1, 0);
  CHECK(doubling.driver.Calls("cuLaunchKernel") == LaunchQueue::kMaxCalls);
}

TEST_CASE("launch queue: calls that differ in anything are others", "[gpu][driver]") {
  Doubling doubling;
  for (int64_t round = 0; round < 5; ++round) {
    doubling.Launch(3);
    doubling.Launch(1, round);
    REQUIRE(doubling.device->Flush().ok());
  }
  CHECK(doubling.driver.Calls("cuGraphLaunch") == 0);
  CHECK(doubling.Number() == 1u << 19);
}

TEST_CASE("launch queue: more sequences than are remembered", "[gpu][driver]") {
  Doubling doubling;
  uint32_t want = 1;
  for (int round = 0; round < 4; ++round) {
    for (uint32_t k = 0; k < LaunchQueue::kMaxKnown / 2 + 60 * static_cast<uint32_t>(round); ++k) {
      doubling.Restart();
      doubling.Launch(3, 8, k);
      REQUIRE(doubling.device->Flush().ok());
    }
    want = doubling.Number();
    CHECK(want == 8);
  }
  CHECK(doubling.driver.Live("graph execs") <= LaunchQueue::kMaxKnown);
  CHECK(doubling.driver.Calls("cuGraphLaunch") > 0);
  CHECK(doubling.driver.Calls("cuGraphExecDestroy") > 0);
}

TEST_CASE("launch queue: what can't be a graph is launched by itself", "[gpu][driver]") {
  for (const char* function :
       {"cuStreamBeginCapture_v2", "cuStreamEndCapture", "cuGraphInstantiateWithFlags", "cuGraphLaunch"}) {
    INFO(function);
    Doubling doubling;
    doubling.driver.Fail(std::string(function) + ":1+:999");
    for (int round = 0; round < 5; ++round) {
      doubling.Launch(3);
      REQUIRE(doubling.device->Flush().ok());
    }
    doubling.driver.NothingFails();
    CHECK(doubling.Number() == 1u << 15);
  }
}

TEST_CASE("launch queue: what fails later is an error of what was made before", "[gpu][driver]") {
  Doubling doubling;
  const uint64_t losses = doubling.device->losses();
  doubling.Launch(2);
  CHECK(doubling.device->LostSince(losses).ok());
  doubling.driver.Fail("cuLaunchKernel:2:2");
  const absl::Status status = doubling.device->Flush();
  CHECK_THAT(MessageOf(status),
             Contains("cuLaunchKernel: CUDA_ERROR_OUT_OF_MEMORY") && Contains("kernel add"));
  // Not one that the CPU could do the step for.
  const absl::Status lost = doubling.device->LostSince(losses);
  CHECK(ExitCodeOf(lost) == 5);
  CHECK_FALSE(IsMemoryError(lost));
  CHECK_THAT(MessageOf(lost), Contains("work for the GPU was lost") && Contains("cuLaunchKernel"));
  CHECK(doubling.device->LostSince(doubling.device->losses()).ok());
  doubling.Launch(2);
  CHECK(doubling.Number() == 8);
}

TEST_CASE("launch queue: the time on the device is between its first and its last work", "[gpu][driver]") {
  Doubling doubling;
  Device& device = *doubling.device;
  const uint64_t events = doubling.driver.Live("events");
  REQUIRE(device.StartTiming().ok());
  CHECK_FALSE(device.StartTiming().ok());
  CHECK(device.EndTiming().value() == 0);
  REQUIRE(device.StartTiming().ok());
  doubling.Launch(3);
  REQUIRE(device.Flush().ok());
  doubling.Launch(3);
  const double seconds = device.EndTiming().value();
  CHECK(seconds > 0);
  CHECK(seconds < 10);
  CHECK(doubling.driver.Live("events") == events);
  CHECK(doubling.Number() == 64);
  for (const char* function :
       {"cuEventCreate:1", "cuEventCreate:2", "cuEventRecord:1", "cuEventRecord:2", "cuEventElapsedTime:1"}) {
    INFO(function);
    doubling.driver.Fail(std::string(function) + ":999");
    absl::Status status = device.StartTiming();
    if (status.ok()) doubling.Launch(1);
    if (status.ok()) status = device.Flush();
    const absl::StatusOr<double> time = device.EndTiming();
    if (status.ok()) status = time.status();
    CHECK_THAT(MessageOf(status), Contains(std::string(function).substr(0, 12)));
    doubling.driver.NothingFails();
    CHECK(doubling.driver.Live("events") == events);
  }
}

}  // namespace assay::gpu
