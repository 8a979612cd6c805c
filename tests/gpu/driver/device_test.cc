// What a device does, on the emulated driver: copies, kernels, their order, memory, modules.
#include "gpu/driver/device.h"

#include <algorithm>
#include <numeric>
#include <thread>

#include "tests/gpu/driver/emulated_driver.h"

namespace assay::gpu {
namespace {

using Catch::Matchers::Contains;

std::vector<uint32_t> Numbers(size_t count, uint32_t first) {
  std::vector<uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

std::shared_ptr<DeviceMemory> MustAllocate(Device& device, int64_t bytes) {
  absl::StatusOr<std::shared_ptr<DeviceMemory>> memory = device.Allocate(bytes);
  INFO(MessageOf(memory.status()));
  REQUIRE(memory.ok());
  return *memory;
}

const DeviceFunction& MustLoad(Device& device, const std::string& kernel) {
  absl::StatusOr<const DeviceFunction*> function = device.Load(ImageOf(kTestImage), kernel);
  INFO(MessageOf(function.status()));
  REQUIRE(function.ok());
  return **function;
}

// A device of the emulated driver with the kernels of the tests. Nothing is left when it goes.
struct TestDevice {
  explicit TestDevice(const std::string& pools = "1", const std::string& eager = "0") {
    driver.Set("POOLS", pools);
    driver.Set("EAGER", eager);
    driver.Register("test", &module);
    device = driver.Open();
  }
  ~TestDevice() {
    const absl::Status closed = device->Close();
    INFO(MessageOf(closed));
    CHECK(closed.ok());
    CHECK(driver.Live("*") == 0);
    CHECK(driver.Live("reclaimed") == 0);
  }

  TestModule module;
  EmulatedDriver driver;
  std::shared_ptr<CudaDevice> device;
};

// With the error of the launch itself.
template <typename Argument>
absl::Status LaunchNow(Device& device, const DeviceFunction& function, const LaunchShape& shape,
                       const Argument& argument) {
  const absl::Status status = device.Launch(function, shape, argument);
  return status.ok() ? device.Flush() : status;
}

template <typename T>
std::vector<T> CopiedOut(Device& device, DeviceAddress from, size_t count) {
  std::vector<T> host(count);
  REQUIRE(device.CopyOut(std::as_writable_bytes(std::span(host)), from).ok());
  return host;
}

}  // namespace

TEST_CASE("device: a kernel's sums come back", "[gpu][driver]") {
  TestDevice test(GENERATE("0", "1"), GENERATE("0", "1"));
  Device& device = *test.device;
  const std::vector<uint32_t> a = Numbers(1000, 5), b = Numbers(1000, 70);
  const auto on_device = MustAllocate(device, 4000), b_on_device = MustAllocate(device, 4000),
             sum = MustAllocate(device, 4000);
  REQUIRE(device.CopyIn(on_device->address(), std::as_bytes(std::span(a))).ok());
  REQUIRE(device.CopyIn(b_on_device->address(), std::as_bytes(std::span(b))).ok());
  REQUIRE(device
              .Launch(MustLoad(device, "add"), {.blocks = {8, 1, 1}, .threads = {128, 1, 1}},
                      AddArguments{on_device->address(), b_on_device->address(), sum->address(), 1000})
              .ok());
  std::vector<uint32_t> want(1000);
  for (size_t i = 0; i < 1000; ++i) want[i] = a[i] + b[i];
  CHECK(CopiedOut<uint32_t>(device, sum->address(), 1000) == want);
}

TEST_CASE("device: the host's memory may be used again when CopyIn returns", "[gpu][driver]") {
  TestDevice test;
  Device& device = *test.device;
  const auto memory = MustAllocate(device, 400);
  std::vector<uint32_t> host = Numbers(100, 1);
  REQUIRE(device.CopyIn(memory->address(), std::as_bytes(std::span(host))).ok());
  REQUIRE(test.driver.Live("queued") > 0);  // else this test would show nothing
  std::fill(host.begin(), host.end(), 0);
  CHECK(CopiedOut<uint32_t>(device, memory->address(), 100) == Numbers(100, 1));
}

TEST_CASE("device: more is copied in than the staging memory holds, without waiting between",
          "[gpu][driver]") {
  TestDevice test;
  Device& device = *test.device;
  // Pieces of many sizes, so that the ring's end is met in all ways; one is larger than the ring.
  std::vector<size_t> sizes;
  for (size_t i = 0; i < 60; ++i) sizes.push_back(1 + (i * 7919) % 300000);
  sizes.push_back(Staging::kRingBytes / 4 + 12345);
  sizes.push_back(Staging::kPartBytes / 4);
  std::vector<std::shared_ptr<DeviceMemory>> pieces;
  for (size_t i = 0; i < sizes.size(); ++i) {
    pieces.push_back(MustAllocate(device, static_cast<int64_t>(sizes[i]) * 4));
    const std::vector<uint32_t> host = Numbers(sizes[i], static_cast<uint32_t>(i * 1000));
    REQUIRE(device.CopyIn(pieces.back()->address(), std::as_bytes(std::span(host))).ok());
  }
  for (size_t i = 0; i < sizes.size(); ++i)
    CHECK((CopiedOut<uint32_t>(device, pieces[i]->address(), sizes[i]) ==
           Numbers(sizes[i], static_cast<uint32_t>(i * 1000))));
}

TEST_CASE("device: everything runs in the order in which it was called", "[gpu][driver]") {
  TestDevice test(GENERATE("0", "1"));
  Device& device = *test.device;
  const auto a = MustAllocate(device, 400), b = MustAllocate(device, 400);
  const DeviceFunction& add = MustLoad(device, "add");
  const std::vector<uint32_t> ones(100, 1);
  REQUIRE(device.CopyIn(a->address(), std::as_bytes(std::span(ones))).ok());
  REQUIRE(device.CopyWithin(b->address(), a->address(), 400).ok());
  for (int i = 0; i < 5; ++i)
    REQUIRE(device
                .Launch(add, {.threads = {128, 1, 1}},
                        AddArguments{b->address(), b->address(), b->address(), 100})
                .ok());
  REQUIRE(device.Zero(a->address(), 200).ok());
  CHECK(CopiedOut<uint32_t>(device, b->address(), 100) == std::vector<uint32_t>(100, 32));
  std::vector<uint32_t> half(100, 1);
  std::fill(half.begin(), half.begin() + 50, 0);
  CHECK(CopiedOut<uint32_t>(device, a->address(), 100) == half);
}

TEST_CASE("device: memory may be given back while what uses it still waits", "[gpu][driver]") {
  TestDevice test(GENERATE("0", "1"));
  Device& device = *test.device;
  const DeviceFunction& add = MustLoad(device, "add");
  const auto sum = MustAllocate(device, 4000);
  const std::vector<uint32_t> numbers = Numbers(1000, 3);
  for (int i = 0; i < 3; ++i) {
    const auto a = MustAllocate(device, 4000);
    REQUIRE(device.CopyIn(a->address(), std::as_bytes(std::span(numbers))).ok());
    REQUIRE(device
                .Launch(add, {.threads = {1000, 1, 1}},
                        AddArguments{a->address(), a->address(), sum->address(), 1000})
                .ok());
  }
  // Without pools, what was given back is given out at once.
  const auto again = MustAllocate(device, 4000);
  REQUIRE(device.Zero(again->address(), 4000).ok());
  std::vector<uint32_t> want = numbers;
  for (uint32_t& number : want) number *= 2;
  CHECK(CopiedOut<uint32_t>(device, sum->address(), 1000) == want);
  CHECK(device.live_allocations() == 2);
}

TEST_CASE("device: new memory holds no zeros and is 256-byte aligned", "[gpu][driver]") {
  TestDevice test;
  const auto memory = MustAllocate(*test.device, 1001);
  CHECK(memory->address() % 256 == 0);
  CHECK(memory->size() == 1001);
  CHECK(CopiedOut<uint8_t>(*test.device, memory->address(), 1001) == std::vector<uint8_t>(1001, 0xFB));
  for (const int64_t bytes : {0, -1})
    CHECK_THAT(MessageOf(test.device->Allocate(bytes).status()),
               Contains("bytes requested of the GPU, wanted at least 1"));
}

TEST_CASE("device: what is empty is copied without asking the driver", "[gpu][driver]") {
  TestDevice test;
  Device& device = *test.device;
  CHECK(device.CopyIn(0, {}).ok());
  CHECK(device.CopyOut({}, 0).ok());
  CHECK(device.CopyWithin(0, 0, 0).ok());
  CHECK(device.Zero(0, 0).ok());
}

TEST_CASE("device: out of memory is an error of that class and nothing else suffers", "[gpu][driver]") {
  TestDevice test(GENERATE("0", "1"));
  Device& device = *test.device;
  test.driver.Set("MEMORY", "1000000");
  auto first = MustAllocate(device, 700000);
  const absl::Status status = device.Allocate(600000).status();
  CHECK(IsMemoryError(status));
  CHECK_THAT(MessageOf(status),
             Contains("CUDA_ERROR_OUT_OF_MEMORY") && Contains("600000 bytes, with 700000 bytes in use"));
  CHECK(CopiedOut<uint8_t>(device, first->address(), 700000).front() == 0xFB);
  // What was given back, and waits in the stream or in a list, is there for others.
  first = nullptr;
  CHECK(MustAllocate(device, 600000)->size() == 600000);
}

TEST_CASE("device: a driver without pools is asked once for pieces of a size", "[gpu][driver]") {
  TestDevice test("0");
  Device& device = *test.device;
  for (int i = 0; i < 10; ++i) MustAllocate(device, 5000 + i);
  CHECK(test.driver.Calls("cuMemAlloc_v2") == 1);
  CHECK(test.driver.Calls("cuMemFree_v2") == 0);
  for (const int64_t bytes : {1, 512, 513, 4096, 5000, 1 << 20, (1 << 20) + 1, 123456789}) {
    CHECK(RoundedForReuse(bytes) >= bytes);
    CHECK(RoundedForReuse(bytes) <= std::max<int64_t>(512 + bytes, bytes + bytes / 8));
    CHECK(RoundedForReuse(RoundedForReuse(bytes)) == RoundedForReuse(bytes));
  }
}

TEST_CASE("device: modules are loaded once, by their contents", "[gpu][driver]") {
  TestDevice test;
  Device& device = *test.device;
  const std::string one(kTestImage), other(kTestImage);
  const auto first = device.Load(ImageOf(one), "add"), second = device.Load(ImageOf(other), "add"),
             third = device.Load(ImageOf(other), "poke");
  REQUIRE((first.ok() && second.ok() && third.ok()));
  CHECK(*first == *second);
  CHECK(*first != *third);
  CHECK(test.driver.Calls("cuModuleLoadDataEx") == 1);
  CHECK(test.driver.Calls("cuModuleGetFunction") == 2);
}

TEST_CASE("device: kernels and images that aren't there", "[gpu][driver]") {
  TestDevice test;
  Device& device = *test.device;
  const absl::Status kernel = device.Load(ImageOf(kTestImage), "subtract").status();
  CHECK(ExitCodeOf(kernel) == 5);
  CHECK_THAT(MessageOf(kernel),
             Contains("cuModuleGetFunction: CUDA_ERROR_NOT_FOUND") && Contains("the kernel subtract"));
  CHECK(ExitCodeOf(device.Load(ImageOf("assay-emulated:none"), "add").status()) == 4);
  const absl::Status wrong = device.Load(ImageOf("no image"), "add").status();
  CHECK(ExitCodeOf(wrong) == 4);
  CHECK_THAT(MessageOf(wrong),
             Contains("CUDA_ERROR_INVALID_IMAGE") && Contains(": by a driver for CUDA 12.4"));
  CHECK(ExitCodeOf(device.Load({}, "add").status()) == 5);
  // Neither is remembered as loaded.
  CHECK(test.driver.Live("modules") == 1);
  CHECK(device.Load(ImageOf(kTestImage), "add").ok());
}

TEST_CASE("device: PTX for later drivers or devices is refused with the compiler's own words",
          "[gpu][driver]") {
  TestDevice test;
  const absl::Status version =
      test.device->Load(ImageOf(".version 9.9\n.target sm_80\n.address_size 64\n"), "k").status();
  CHECK(ExitCodeOf(version) == 4);
  CHECK_THAT(MessageOf(version), Contains("CUDA_ERROR_UNSUPPORTED_PTX_VERSION") &&
                                     Contains("unsupported .version, by a driver for CUDA 12.4"));
  const absl::Status target =
      test.device->Load(ImageOf(".version 8.0\n.target sm_100a\n.address_size 64\n"), "k").status();
  CHECK(ExitCodeOf(target) == 4);
  CHECK_THAT(MessageOf(target), Contains("CUDA_ERROR_NO_BINARY_FOR_GPU"));
}

TEST_CASE("device: images that the driver brings are found by their name", "[gpu][driver]") {
  TestDevice test;
  CHECK(test.device->OwnImage("none").empty());
  const std::span<const std::byte> image = test.device->OwnImage("test");
  CHECK(image.size() == kTestImage.size());
  CHECK(test.device->Load(image, "add").ok());
}

TEST_CASE("device: launches that the device can't do name kernel and shape", "[gpu][driver]") {
  TestDevice test;
  Device& device = *test.device;
  const DeviceFunction& add = MustLoad(device, "add");
  const auto memory = MustAllocate(device, 4);
  const AddArguments arguments{memory->address(), memory->address(), memory->address(), 1};
  for (const LaunchShape& shape : {LaunchShape{.threads = {1025, 1, 1}}, LaunchShape{.blocks = {0, 1, 1}},
                                   LaunchShape{.blocks = {1, 65536, 1}}}) {
    const absl::Status status = LaunchNow(device, add, shape, arguments);
    CHECK(ExitCodeOf(status) == 5);
    CHECK_THAT(MessageOf(status),
               Contains("cuLaunchKernel: CUDA_ERROR_INVALID_VALUE") && Contains("kernel add in "));
  }
  // An argument of another size than the kernel's.
  CHECK_THAT(MessageOf(LaunchNow(device, add, {}, uint64_t{0})), Contains("an argument of 8 bytes"));
  CHECK(LaunchNow(device, add, {}, arguments).ok());
}

TEST_CASE("device: shared memory above 48 KiB is asked for, once", "[gpu][driver]") {
  TestDevice test;
  Device& device = *test.device;
  const DeviceFunction& add = MustLoad(device, "add");
  const auto memory = MustAllocate(device, 4);
  const AddArguments arguments{memory->address(), memory->address(), memory->address(), 1};
  CHECK(LaunchNow(device, add, {.shared_bytes = 48 << 10}, arguments).ok());
  CHECK(test.driver.Calls("cuFuncSetAttribute") == 0);
  CHECK(LaunchNow(device, add, {.shared_bytes = 200 << 10}, arguments).ok());
  CHECK(LaunchNow(device, add, {.shared_bytes = 100 << 10}, arguments).ok());
  CHECK(test.driver.Calls("cuFuncSetAttribute") == 1);
  const absl::Status status = LaunchNow(device, add, {.shared_bytes = 300 << 10}, arguments);
  CHECK_THAT(MessageOf(status),
             Contains("cuFuncSetAttribute") && Contains("307200 bytes of dynamic shared memory for add"));
}

TEST_CASE("device: small pieces of memory are kept, and the lowest is given out first", "[gpu][driver]") {
  TestDevice test;
  Device& device = *test.device;
  std::vector<std::shared_ptr<DeviceMemory>> pieces;
  std::vector<DeviceAddress> addresses;
  for (int i = 0; i < 5; ++i) {
    pieces.push_back(MustAllocate(device, 1000));
    addresses.push_back(pieces.back()->address());
  }
  std::sort(addresses.begin(), addresses.end());
  const uint64_t calls = test.driver.Calls("*");
  std::swap(pieces[1], pieces[4]);
  pieces.clear();
  for (int i = 0; i < 5; ++i) {
    pieces.push_back(MustAllocate(device, 1000));
    CHECK(pieces.back()->address() == addresses[static_cast<size_t>(i)]);
  }
  CHECK(test.driver.Calls("*") == calls);
  // What was in it is gone.
  CHECK(CopiedOut<uint8_t>(device, addresses[0], 1000) == std::vector<uint8_t>(1000, 0xFB));
  // Others are asked for, and large ones are given back.
  CHECK(MustAllocate(device, 1001) != nullptr);
  CHECK(test.driver.Calls("cuMemFreeAsync") == 0);
  CHECK(MustAllocate(device, (1 << 20) + 1) != nullptr);
  CHECK(test.driver.Calls("cuMemFreeAsync") == 1);
  pieces.clear();
  REQUIRE(device.ReturnUnused().ok());
  REQUIRE(device.Synchronize().ok());
  CHECK(test.driver.Calls("cuMemFreeAsync") == 7);
  CHECK(test.driver.Live("bytes") == 0);
}

TEST_CASE("device: a thread's own context is its own again after each call", "[gpu][driver]") {
  TestDevice test;
  REQUIRE(test.device->Synchronize().ok());
  cuda::Context context = nullptr;
  CHECK(test.driver.api().cuCtxPopCurrent_v2(&context) == cuda::Result::kInvalidContext);
}

TEST_CASE("device: any thread may call it", "[gpu][driver]") {
  TestDevice test(GENERATE("0", "1"));
  Device& device = *test.device;
  const DeviceFunction& add = MustLoad(device, "add");
  std::vector<std::string> wrong(4);
  const auto work = [&](uint32_t number) -> std::string {
    for (uint32_t i = 0; i < 50; ++i) {
      const auto a = device.Allocate(4000), sum = device.Allocate(4000);
      if (!a.ok() || !sum.ok()) return "no memory";
      const std::vector<uint32_t> host = Numbers(1000, number * 1000 + i);
      std::vector<uint32_t> result(1000);
      if (!device.CopyIn((*a)->address(), std::as_bytes(std::span(host))).ok()) return "not copied in";
      const AddArguments arguments{(*a)->address(), (*a)->address(), (*sum)->address(), 1000};
      if (!device.Launch(add, {.threads = {1000, 1, 1}}, arguments).ok()) return "not launched";
      if (!device.CopyOut(std::as_writable_bytes(std::span(result)), (*sum)->address()).ok())
        return "not copied out";
      for (size_t k = 0; k < 1000; ++k) {
        if (result[k] != 2 * host[k]) return "a wrong sum";
      }
    }
    return {};
  };
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < 4; ++i) threads.emplace_back([&, i] { wrong[i] = work(i); });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<std::string>(4));
  CHECK(device.live_allocations() == 0);
}

}  // namespace assay::gpu
