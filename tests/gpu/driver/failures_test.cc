// Calls of the driver that fail, each in turn, and kernels that break the device.
#include "gpu/driver/cuda_device.h"
#include "tests/gpu/driver/emulated_driver.h"

namespace assay::gpu {
namespace {

using Catch::Matchers::Contains;

// Calls every function of the driver that a device without an error calls; the first error.
absl::Status UseDevice(CudaDevice& device) {
  ASSAY_ASSIGN_OR_RETURN(const DeviceFunction* add, device.Load(ImageOf(kTestImage), "add"));
  std::vector<uint32_t> host(1000, 7), result(1000);
  {
    ASSAY_ASSIGN_OR_RETURN(const std::shared_ptr<DeviceMemory> a, device.Allocate(4000));
    ASSAY_ASSIGN_OR_RETURN(const std::shared_ptr<DeviceMemory> b, device.Allocate(4000));
    ASSAY_RETURN_IF_ERROR(device.CopyIn(a->address(), std::as_bytes(std::span(host))));
    ASSAY_RETURN_IF_ERROR(device.Zero(b->address(), 4000));
    ASSAY_RETURN_IF_ERROR(device.CopyWithin(b->address(), a->address(), 4000));
    const AddArguments arguments{a->address(), b->address(), b->address(), 1000};
    ASSAY_RETURN_IF_ERROR(
        device.Launch(*add, {.threads = {1000, 1, 1}, .shared_bytes = 100 << 10}, arguments));
    ASSAY_RETURN_IF_ERROR(device.CopyOut(std::as_writable_bytes(std::span(result)), b->address()));
    if (result != std::vector<uint32_t>(1000, 14)) return EvalError({}, "wrong sums");
    // b = a, then a + b of that into b so often, several times: the launches become a graph.
    constexpr uint32_t kLaunches = LaunchQueue::kLeastOfGraph;
    for (int round = 0; round < LaunchQueue::kTimesBeforeGraph + 2; ++round) {
      ASSAY_RETURN_IF_ERROR(device.CopyWithin(b->address(), a->address(), 4000));
      for (uint32_t i = 0; i < kLaunches; ++i)
        ASSAY_RETURN_IF_ERROR(device.Launch(*add, {.threads = {1000, 1, 1}}, arguments));
      ASSAY_RETURN_IF_ERROR(device.CopyOut(std::as_writable_bytes(std::span(result)), b->address()));
      if (result != std::vector<uint32_t>(1000, 7 * (1 + kLaunches))) return EvalError({}, "wrong sums");
    }
  }
  return device.Synchronize();
}

absl::Status OpenAndUse(const EmulatedDriver& driver) {
  ASSAY_ASSIGN_OR_RETURN(const std::shared_ptr<CudaDevice> device, driver.TryOpen());
  const absl::Status status = UseDevice(*device);
  return Both(status, device->Close());
}

// Whether what failed is a call that gives something back, or without which nothing can be.
bool GivesBack(const std::string& message) {
  for (const char* part : {"Free", "Destroy", "Unload", "cuCtxPushCurrent", "CtxRelease"}) {
    if (message.find(part) != std::string::npos) return true;
  }
  return false;
}

struct Poked {
  TestModule module;
  EmulatedDriver driver;
  std::shared_ptr<CudaDevice> device;
  std::shared_ptr<DeviceMemory> memory;

  Poked() {
    driver.Register("test", &module);
    device = driver.Open();
    absl::StatusOr<std::shared_ptr<DeviceMemory>> allocated = device->Allocate(100);
    REQUIRE(allocated.ok());
    memory = *allocated;
  }
  // The error that a kernel ends with which writes there.
  absl::Status Poke(DeviceAddress address, bool checked) {
    const auto poke = device->Load(ImageOf(kTestImage), "poke");
    REQUIRE(poke.ok());
    const PokeArguments arguments{address, 0x12345678, checked};
    REQUIRE(device->Launch(**poke, {}, arguments).ok());
    return device->Synchronize();
  }
};

}  // namespace

TEST_CASE("failures: every call of the driver that fails once is an error of its own, and nothing leaks",
          "[gpu][driver]") {
  const EmulatedDriver driver;
  const TestModule module;
  driver.Register("test", &module);
  driver.Set("POOLS", GENERATE("0", "1"));
  driver.Set("EAGER", GENERATE("0", "1"));
  // Of the classes of errors: any, out of memory, one that the context doesn't survive.
  const int error = GENERATE(999, 2, 719);
  REQUIRE(OpenAndUse(driver).ok());
  REQUIRE(driver.Live("*") == 0);
  const uint64_t calls_before = driver.Calls("*");
  REQUIRE(OpenAndUse(driver).ok());
  const uint64_t calls = driver.Calls("*") - calls_before;
  CHECK(calls > 50);
  // Without a graph, the calls are told one by one: those that make one (a stream, and the calls in it) and
  // two launches of it may fail.
  constexpr uint64_t kOfGraph = 1 + 1 + (1 + LaunchQueue::kLeastOfGraph) + 1 + 1 + 2;
  uint64_t survived = 0;
  uint64_t reclaimed = 0;
  for (uint64_t call = 1; call <= calls; ++call) {
    driver.Fail("*:" + std::to_string(call) + ":" + std::to_string(error));
    const absl::Status status = OpenAndUse(driver);
    driver.NothingFails();
    INFO("call " << call << " gives " << error << ": " << MessageOf(status));
    // Memory is asked for again when unused memory was given to the driver.
    if (status.ok()) {
      CHECK(error != 719);
      survived += error == 2 ? 0 : 1;
    } else {
      CHECK_THAT(MessageOf(status), Contains("CUDA_ERROR_") && Contains("cu"));
      CHECK((error == 2 ? IsMemoryError(status) || ExitCodeOf(status) == 4
                        : ExitCodeOf(status) == 5 || ExitCodeOf(status) == 4));
    }
    // Nothing is left to the context but what could not be given back.
    if (error != 719 && !GivesBack(MessageOf(status))) CHECK(driver.Live("reclaimed") == reclaimed);
    reclaimed = driver.Live("reclaimed");
    // Whether the context was given back then is not known, and not tried again.
    const bool kept = MessageOf(status).find("cuDevicePrimaryCtxRelease_v2") != std::string::npos;
    CHECK(driver.Live("contexts") == (kept ? 1 : 0));
    if (kept) CHECK(driver.api().cuDevicePrimaryCtxRelease_v2(0) == cuda::Result::kSuccess);
    CHECK(driver.Live("*") == 0);
    CHECK(OpenAndUse(driver).ok());
  }
  CHECK(survived == (error == 999 ? kOfGraph : 0));
}

TEST_CASE("failures: every call that fails for ever is a clean error", "[gpu][driver]") {
  const EmulatedDriver driver;
  const TestModule module;
  driver.Register("test", &module);
  driver.Set("POOLS", GENERATE("0", "1"));
  const int error = GENERATE(999, 2, 719);
#define ASSAY_CUDA_NAME(symbol, parameters) #symbol,
  for (const std::string function : {ASSAY_CUDA_FUNCTIONS(ASSAY_CUDA_NAME)}) {
#undef ASSAY_CUDA_NAME
    const uint64_t before = driver.Calls(function.c_str());
    driver.Fail(function + ":1+:" + std::to_string(error));
    const absl::Status status = OpenAndUse(driver);
    driver.NothingFails();
    INFO(function << " gives " << error << ": " << MessageOf(status));
    // Without graphs, calls are told one by one. What can't be given back is an error.
    const bool is_needed = (function != "cuStreamBeginCapture_v2" && function != "cuStreamEndCapture" &&
                            function != "cuGraphInstantiateWithFlags" && function != "cuGraphLaunch") ||
                           error == 719;
    const bool is_called = driver.Calls(function.c_str()) != before;
    CHECK(status.ok() == !(is_called && is_needed));
    if (!status.ok()) CHECK_THAT(MessageOf(status), Contains(function));
    while (driver.Live("contexts") > 0)
      REQUIRE(driver.api().cuDevicePrimaryCtxRelease_v2(0) == cuda::Result::kSuccess);
    CHECK(driver.Live("*") == 0);
  }
}

TEST_CASE("failures: an error without a name of the driver's has its number", "[gpu][driver]") {
  const EmulatedDriver driver;
  driver.Fail("cuDeviceGet:1:4711");
  const absl::Status status = driver.TryOpen().status();
  CHECK(ExitCodeOf(status) == 5);
  CHECK(MessageOf(status) == "cuDeviceGet: error 4711");
}

TEST_CASE("failures: memory that can't be given back is the next call's error, and counted",
          "[gpu][driver]") {
  const EmulatedDriver driver;
  const std::shared_ptr<CudaDevice> device = driver.Open();
  constexpr int64_t kLarge = (1 << 20) + 1;  // smaller pieces are kept
  auto memory = device->Allocate(kLarge);
  REQUIRE(memory.ok());
  driver.Fail("cuMemFreeAsync:1:999");
  memory = absl::UnknownError("");
  const absl::Status status = device->Allocate(100).status();
  CHECK(ExitCodeOf(status) == 5);
  CHECK_THAT(MessageOf(status), Contains("cuMemFreeAsync: CUDA_ERROR_UNKNOWN") && !Contains("more such"));
  CHECK(device->live_allocations() == 1);
  CHECK(driver.Live("memory") == 1);
  CHECK(device->Synchronize().ok());
  // Several at once are one error.
  auto first = device->Allocate(kLarge), second = device->Allocate(kLarge);
  driver.Fail("cuMemFreeAsync:1:999,cuMemFreeAsync:2:999");
  first = second = absl::UnknownError("");
  CHECK_THAT(MessageOf(device->Synchronize()), Contains("(and 1 more such errors)"));
  CHECK(device->Synchronize().ok());
  CHECK(device->Close().ok());
}

TEST_CASE("failures: a device is closed behind all that it was given to do", "[gpu][driver]") {
  Poked poked;
  const auto poke = poked.device->Load(ImageOf(kTestImage), "poke");
  REQUIRE(poke.ok());
  SECTION("of which nothing fails") {
    REQUIRE(poked.device->CopyIn(poked.memory->address(), std::vector<std::byte>(100)).ok());
    REQUIRE(poked.device->Launch(**poke, {}, PokeArguments{poked.memory->address(), 1, 1}).ok());
    CHECK(poked.device->Close().ok());
    CHECK(poked.driver.Live("reclaimed") == 1);  // the memory that still has an owner
  }
  SECTION("of which the last fails") {
    REQUIRE(poked.device->Launch(**poke, {}, PokeArguments{poked.memory->address() + 100, 1, 1}).ok());
    CHECK_THAT(MessageOf(poked.device->Close()), Contains("the kernel poke left its memory"));
  }
  SECTION("and what nobody was told is told then") {
    poked.driver.Fail("cuMemFreeAsync:1:999");
    poked.memory = nullptr;
    CHECK_THAT(MessageOf(poked.device->Close()), Contains("cuMemFreeAsync: CUDA_ERROR_UNKNOWN"));
  }
  CHECK(poked.driver.Live("*") == 0);
}

TEST_CASE("failures: what fails when a device goes is told when the next one is opened", "[gpu][driver]") {
  const EmulatedDriver driver;
  driver.Open();
  CHECK(driver.TryOpen().ok());
  driver.Fail("cuStreamDestroy_v2:1:999");
  driver.Open();
  CHECK_THAT(MessageOf(driver.TryOpen().status()), Contains("cuStreamDestroy_v2"));
  CHECK(driver.TryOpen().ok());
  CHECK(driver.Live("*") == 0);
}

TEST_CASE("failures: a kernel that leaves its memory breaks the device, and every later call says so",
          "[gpu][driver]") {
  Poked poked;
  const auto poke = poked.device->Load(ImageOf(kTestImage), "poke");
  REQUIRE(poke.ok());
  const absl::Status status = poked.Poke(poked.memory->address() + 97, true);
  CHECK(ExitCodeOf(status) == 5);
  CHECK_THAT(MessageOf(status), Contains("cuStreamSynchronize: CUDA_ERROR_LAUNCH_FAILED") &&
                                    Contains("the kernel poke left its memory") &&
                                    Contains("the kernel launched last is poke"));
  const absl::Status later = poked.device->Allocate(4).status();
  CHECK(ExitCodeOf(later) == 5);
  CHECK(MessageOf(later) == "the GPU can't be used since it failed: " + MessageOf(status));
  std::byte byte{};
  CHECK(poked.device->CopyOut({&byte, 1}, poked.memory->address()) == later);
  CHECK(poked.device->Launch(**poke, {}, PokeArguments{}) == later);
  // It isn't asked any more.
  const uint64_t calls = poked.driver.Calls("*");
  poked.memory = nullptr;
  CHECK(poked.device->live_allocations() == 0);
  CHECK(poked.driver.Calls("*") == calls);
  CHECK(poked.device->Close().ok());
  CHECK(poked.driver.Live("*") == 0);
}

TEST_CASE("failures: an error of an earlier kernel comes from the next call that waits", "[gpu][driver]") {
  Poked poked;
  poked.driver.Set("EAGER", "1");
  const auto poke = poked.device->Load(ImageOf(kTestImage), "poke");
  REQUIRE(poke.ok());
  REQUIRE(poked.device->Launch(**poke, {}, PokeArguments{poked.memory->address() + 100, 1, 1}).ok());
  const absl::Status status = poked.device->Flush();
  CHECK_THAT(MessageOf(status), Contains("cuLaunchKernel: CUDA_ERROR_LAUNCH_FAILED"));
}

TEST_CASE("emulated driver: writes into red zones are found after the kernel", "[gpu][driver]") {
  Poked poked;
  const auto [offset, words] =
      GENERATE(table<int64_t, std::string>({{100, "wrote 0 bytes behind the end"},
                                            {4191, "wrote 4091 bytes behind the end"},
                                            {-4, "wrote 4 bytes before"},
                                            {-4096, "wrote 4096 bytes before"},
                                            {97, "wrote 0 bytes behind the end"}}));
  const absl::Status status = poked.Poke(poked.memory->address() + static_cast<uint64_t>(offset), false);
  INFO(offset);
  CHECK_THAT(MessageOf(status), Contains("CUDA_ERROR_ILLEGAL_ADDRESS") &&
                                    Contains("the kernel poke " + words) &&
                                    Contains("the allocation of 100 bytes at"));
}

TEST_CASE("emulated driver: the last bytes of an allocation are its own", "[gpu][driver]") {
  Poked poked;
  CHECK(poked.Poke(poked.memory->address() + 96, true).ok());
  CHECK(poked.Poke(poked.memory->address(), true).ok());
}

TEST_CASE("emulated driver: writes to freed memory are found", "[gpu][driver]") {
  Poked poked;
  const DeviceAddress address = poked.memory->address();
  poked.memory = nullptr;
  SECTION("by a kernel that does not look") {
    CHECK_THAT(MessageOf(poked.Poke(address + 8, false)),
               Contains("wrote byte 8 of the freed allocation of 100 bytes"));
  }
  SECTION("by one that does") {
    CHECK_THAT(MessageOf(poked.Poke(address + 8, true)), Contains("the kernel poke left its memory"));
  }
  SECTION("by a copy") {
    const std::byte bytes[4] = {};
    REQUIRE(poked.device->CopyIn(address, bytes).ok());
    CHECK_THAT(MessageOf(poked.device->Synchronize()),
               Contains("a copy from the host to 4 bytes") &&
                   Contains("0 bytes into an allocation of 100 bytes that was freed"));
  }
  SECTION("by a fill") {
    REQUIRE(poked.device->Zero(address, 4).ok());
    CHECK_THAT(MessageOf(poked.device->Synchronize()), Contains("a fill of 4 bytes"));
  }
}

TEST_CASE("emulated driver: copies that leave an allocation break the device", "[gpu][driver]") {
  Poked poked;
  const auto other = poked.device->Allocate(200);
  REQUIRE(other.ok());
  const bool into = GENERATE(true, false);
  DeviceAddress to = poked.memory->address(), from = (*other)->address();
  if (!into) std::swap(to, from);
  REQUIRE(poked.device->CopyWithin(to, from, 101).ok());
  CHECK_THAT(MessageOf(poked.device->Synchronize()),
             Contains("CUDA_ERROR_ILLEGAL_ADDRESS") &&
                 Contains(into ? "a copy to 101 bytes" : "a copy from 101 bytes"));
}

TEST_CASE("emulated driver: copies within memory don't overlap", "[gpu][driver]") {
  Poked poked;
  REQUIRE(poked.device->CopyWithin(poked.memory->address() + 9, poked.memory->address(), 10).ok());
  CHECK_THAT(MessageOf(poked.device->Flush()), Contains("CUDA_ERROR_INVALID_VALUE"));
  REQUIRE(poked.device->CopyWithin(poked.memory->address() + 10, poked.memory->address(), 10).ok());
  CHECK(poked.device->Flush().ok());
}

}  // namespace assay::gpu
