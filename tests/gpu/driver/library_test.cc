// Drivers that are missing, wrong or old, and devices that are missing or old.
#include "gpu/driver/library.h"

#include "tests/gpu/driver/emulated_driver.h"

namespace assay::gpu {
namespace {

using Catch::Matchers::Contains;

absl::Status OpenStatus(const EmulatedDriver& driver) { return driver.TryOpen().status(); }

}  // namespace

TEST_CASE("driver: a library that isn't there is named", "[gpu][driver]") {
  const absl::Status status = Device::Open("./no_such_folder/libcuda.so.1").status();
  CHECK(ExitCodeOf(status) == 4);
  CHECK_THAT(MessageOf(status),
             Contains("the CUDA driver can't be loaded") && Contains("no_such_folder/libcuda.so.1"));
}

TEST_CASE("driver: without a name it is libcuda.so.1", "[gpu][driver]") {
  const absl::StatusOr<std::shared_ptr<CudaLibrary>> library = LoadCudaLibrary("");
  if (library.ok())
    CHECK((*library)->name == "libcuda.so.1");
  else
    CHECK_THAT(MessageOf(library.status()), Contains("libcuda.so.1"));
}

TEST_CASE("driver: another library is no driver", "[gpu][driver]") {
  const absl::Status status = LoadCudaLibrary("libm.so.6").status();
  CHECK(ExitCodeOf(status) == 4);
  CHECK(MessageOf(status) == "libm.so.6 is not a CUDA driver: no cuDriverGetVersion");
}

TEST_CASE("driver: a missing function is named, with the driver's version", "[gpu][driver]") {
  const absl::Status status = LoadCudaLibrary(ASSAY_INCOMPLETE_CUDA).status();
  CHECK(ExitCodeOf(status) == 4);
  CHECK_THAT(MessageOf(status), Contains("(for CUDA 12.2) has no cuGetErrorName"));
}

TEST_CASE("driver: an old one is refused with the version found and wanted", "[gpu][driver]") {
  const TemporaryFolder folder;
  const std::string path = CopyOfDriver(folder, "old.so");
  REQUIRE(setenv("ASSAY_EMULATED_DRIVER_VERSION", "11080", 1) == 0);
  const absl::Status status = LoadCudaLibrary(path).status();
  REQUIRE(unsetenv("ASSAY_EMULATED_DRIVER_VERSION") == 0);
  CHECK(ExitCodeOf(status) == 4);
  CHECK_THAT(MessageOf(status), Contains("is for CUDA 11.8, wanted 12.0 or newer"));
}

TEST_CASE("driver: one without a device says so", "[gpu][driver]") {
  const EmulatedDriver driver;
  driver.Set("DEVICES", "0");
  const absl::Status status = OpenStatus(driver);
  CHECK(ExitCodeOf(status) == 4);
  CHECK_THAT(MessageOf(status),
             Contains("initializing the CUDA driver") && Contains("failed: cuInit: CUDA_ERROR_NO_DEVICE"));
}

TEST_CASE("driver: a device of a capability below 8.0 is refused", "[gpu][driver]") {
  const EmulatedDriver driver;
  driver.Set("CAPABILITY", "7.5");
  driver.Set("NAME", "Turing");
  const absl::Status status = OpenStatus(driver);
  CHECK(ExitCodeOf(status) == 4);
  CHECK(MessageOf(status) == "Turing has compute capability 7.5, wanted 8.0 or newer");
  CHECK(driver.Live("*") == 0);
  driver.Set("CAPABILITY", "8.0");
  CHECK(OpenStatus(driver).ok());
}

TEST_CASE("driver: its symbols are no others' to find", "[gpu][driver]") {
  const EmulatedDriver driver;
  CHECK(dlsym(RTLD_DEFAULT, "assay_emulated_reset") == nullptr);
}

TEST_CASE("driver: the device's properties are those that the driver says", "[gpu][driver]") {
  const EmulatedDriver driver;
  driver.Set("NAME", "A device");
  driver.Set("CAPABILITY", "12.1");
  driver.Set("MULTIPROCESSORS", "132");
  driver.Set("MEMORY", "1234567");
  driver.Set("SHARED", "99000");
  const DeviceProperties properties = driver.Open()->properties();
  CHECK(properties.name == "A device");
  CHECK(properties.capability == Capability{12, 1});
  CHECK(properties.driver_version == 12040);
  CHECK(properties.multiprocessors == 132);
  CHECK(properties.memory == 1234567);
  CHECK(properties.shared_per_block == 99000);
}

TEST_CASE("driver: a device is opened once a driver, and so is a failure", "[gpu][driver]") {
  const TemporaryFolder folder;
  const std::string good = CopyOfDriver(folder, "good.so"), bad = CopyOfDriver(folder, "bad.so");
  const absl::StatusOr<std::shared_ptr<Device>> first = Device::Open(good);
  REQUIRE(first.ok());
  CHECK(Device::Open(good)->get() == first->get());
  void* const copy = dlopen(good.c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(copy != nullptr);
  auto* const calls = reinterpret_cast<decltype(assay_emulated_calls)*>(dlsym(copy, "assay_emulated_calls"));
  CHECK(calls("cuInit") == 1);
  REQUIRE(setenv("ASSAY_EMULATED_DEVICES", "0", 1) == 0);
  const absl::Status status = Device::Open(bad).status();
  REQUIRE(unsetenv("ASSAY_EMULATED_DEVICES") == 0);
  CHECK(ExitCodeOf(status) == 4);
  CHECK(Device::Open(bad).status() == status);
}

}  // namespace assay::gpu
