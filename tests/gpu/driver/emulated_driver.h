// The emulated driver as the tests of gpu/driver use it: a copy of the library, so that what they make fail
// in it fails in no other test, and kernels of theirs.
#ifndef ASSAY_TESTS_GPU_DRIVER_EMULATED_DRIVER_H_
#define ASSAY_TESTS_GPU_DRIVER_EMULATED_DRIVER_H_

#include <dlfcn.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "gpu/driver/cuda_device.h"
#include "tests/gpu/emulator/control.h"

namespace assay::gpu {

// A folder that goes with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "assay_gpu_XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// A copy of the emulated driver: a library of its own, as the loader sees it.
inline std::string CopyOfDriver(const TemporaryFolder& folder, const std::string& name) {
  const std::filesystem::path copy = folder.path() / name;
  std::filesystem::copy_file(ASSAY_EMULATED_CUDA, copy);
  return copy.string();
}

// All objects are of one copy, which is as if it had just been loaded when an object is made.
class EmulatedDriver {
 public:
  EmulatedDriver() {
    Control<decltype(assay_emulated_reset)>("assay_emulated_reset")();
    absl::StatusOr<std::shared_ptr<CudaLibrary>> loaded = LoadCudaLibrary(path());
    REQUIRE(loaded.ok());
    library_ = *loaded;
  }
  ~EmulatedDriver() { Control<decltype(assay_emulated_reset)>("assay_emulated_reset")(); }

  const std::shared_ptr<CudaLibrary>& library() const { return library_; }
  const cuda::Functions& api() const { return library_->functions; }

  void Set(const char* setting, const std::string& value) const {
    INFO(setting << " " << value);
    REQUIRE(Control<decltype(assay_emulated_set)>("assay_emulated_set")(setting, value.c_str()));
  }
  void Fail(const std::string& rule) const { Set("FAIL", rule); }
  void NothingFails() const {
    REQUIRE(Control<decltype(assay_emulated_set)>("assay_emulated_set")("FAIL", nullptr));
  }
  uint64_t Calls(const char* function) const {
    return Control<decltype(assay_emulated_calls)>("assay_emulated_calls")(function);
  }
  uint64_t Live(const char* kind) const {
    return Control<decltype(assay_emulated_live)>("assay_emulated_live")(kind);
  }
  void Register(const char* name, const emulated::Module* module) const {
    Control<decltype(assay_emulated_register)>("assay_emulated_register")(name, module);
  }

  absl::StatusOr<std::shared_ptr<CudaDevice>> TryOpen() const { return CudaDevice::Open(library_); }
  std::shared_ptr<CudaDevice> Open() const {
    absl::StatusOr<std::shared_ptr<CudaDevice>> device = TryOpen();
    INFO(std::string(device.status().message()));
    REQUIRE(device.ok());
    return *device;
  }

 private:
  static const std::string& path() {
    static const TemporaryFolder folder;
    static const std::string copy = CopyOfDriver(folder, "libcuda_copy.so");
    return copy;
  }
  template <typename Function>
  Function* Control(const char* name) const {
    static void* const handle = dlopen(path().c_str(), RTLD_NOW | RTLD_LOCAL);
    REQUIRE(handle != nullptr);
    auto* const function = reinterpret_cast<Function*>(dlsym(handle, name));
    REQUIRE(function != nullptr);
    return function;
  }

  std::shared_ptr<CudaLibrary> library_;
};

// The arguments of the kernels below.
struct AddArguments {
  DeviceAddress a, b, sum;
  int64_t count;
};
struct PokeArguments {
  DeviceAddress address;
  uint32_t value;
  uint32_t checked;  // whether it looks where it writes, as compiled kernels do
};

// sum[i] = a[i] + b[i], of 32-bit integers, one a thread.
class AddKernel final : public emulated::Kernel {
 public:
  uint32_t argument_bytes() const override { return sizeof(AddArguments); }
  std::string Run(const emulated::Launch& launch, const emulated::Memory& memory) const override {
    AddArguments arguments;
    std::memcpy(&arguments, launch.argument, sizeof(arguments));
    const uint64_t bytes = static_cast<uint64_t>(arguments.count) * 4;
    for (const DeviceAddress address : {arguments.a, arguments.b, arguments.sum}) {
      if (!memory.Contains(address, bytes)) return "the kernel add left its memory";
    }
    const auto* a = reinterpret_cast<const uint32_t*>(arguments.a);
    const auto* b = reinterpret_cast<const uint32_t*>(arguments.b);
    auto* sum = reinterpret_cast<uint32_t*>(arguments.sum);
    const int64_t threads = int64_t{launch.grid[0]} * launch.block[0];
    for (int64_t i = 0; i < std::min(threads, arguments.count); ++i) sum[i] = a[i] + b[i];
    return {};
  }
};

// Writes one value somewhere.
class PokeKernel final : public emulated::Kernel {
 public:
  uint32_t argument_bytes() const override { return sizeof(PokeArguments); }
  std::string Run(const emulated::Launch& launch, const emulated::Memory& memory) const override {
    PokeArguments arguments;
    std::memcpy(&arguments, launch.argument, sizeof(arguments));
    if (arguments.checked != 0 && !memory.Contains(arguments.address, 4))
      return "the kernel poke left its memory";
    std::memcpy(reinterpret_cast<void*>(arguments.address), &arguments.value, 4);
    return {};
  }
};

class TestModule final : public emulated::Module {
 public:
  const emulated::Kernel* Find(std::string_view name) const override {
    if (name == "add") return &add_;
    return name == "poke" ? &poke_ : nullptr;
  }

 private:
  AddKernel add_;
  PokeKernel poke_;
};

inline std::span<const std::byte> ImageOf(std::string_view text) { return std::as_bytes(std::span(text)); }
inline constexpr std::string_view kTestImage = "assay-emulated:test";

inline std::string MessageOf(const absl::Status& status) { return std::string(status.message()); }

}  // namespace assay::gpu

#endif  // ASSAY_TESTS_GPU_DRIVER_EMULATED_DRIVER_H_
