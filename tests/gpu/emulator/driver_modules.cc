// The functions of the driver API that load modules and launch kernels.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <type_traits>

#include "tests/gpu/emulator/emulator.h"

namespace assay::emulated {

namespace {

constexpr std::string_view kImagePrefix = "assay-emulated:";

// The log of cuModuleLoadDataEx's caller.
struct Log {
  char* buffer = nullptr;
  size_t bytes = 0;

  Log(unsigned options, const cuda::JitOption* keys, void** values) {
    for (unsigned i = 0; i < options; ++i) {
      if (keys[i] == cuda::JitOption::kErrorLogBuffer) buffer = static_cast<char*>(values[i]);
      if (keys[i] == cuda::JitOption::kErrorLogBufferBytes) bytes = reinterpret_cast<size_t>(values[i]);
    }
  }
  void Write(const std::string& text) const {
    if (buffer != nullptr && bytes > 0) std::snprintf(buffer, bytes, "%s", text.c_str());
  }
};

// The number behind a directive of PTX, ".version 8.3" as 83 and ".target sm_90a" as 90;
// 0 where there is none.
int NumberBehind(std::string_view text, std::string_view directive) {
  size_t at = text.find(directive);
  if (at == text.npos) return 0;
  int number = 0;
  for (at += directive.size(); at < text.size() && text[at] != '\n' && text[at] != ','; ++at) {
    if (text[at] >= '0' && text[at] <= '9') number = number * 10 + (text[at] - '0');
  }
  return number;
}

// The version of PTX that the compiler of CUDA 12.0 and later knows,
// by the table of the PTX ISA's release history.
int LatestPtx(int64_t driver_version) {
  constexpr std::pair<int, int> kVersions[] = {{13000, 90}, {12090, 88}, {12080, 87},
                                               {12070, 86}, {12050, 85}, {12040, 84},
                                               {12030, 83}, {12020, 82}, {12010, 81}};
  for (const auto& [driver, ptx] : kVersions) {
    if (driver_version >= driver) return ptx;
  }
  return 80;
}

Result Compile(const Emulator& emulator, std::string_view text, const Log& log, cuda::ModuleObject* made) {
  const Settings& settings = emulator.settings;
  if (NumberBehind(text, ".version ") > LatestPtx(settings.driver_version)) {
    log.Write("ptxas fatal: unsupported .version");
    return Result::kUnsupportedPtxVersion;
  }
  // A target that ends in "a" is that one device.
  const int target = NumberBehind(text, ".target sm_");
  const int64_t capability = settings.capability_major * 10 + settings.capability_minor;
  const bool only_that = text.find(".target sm_" + std::to_string(target) + "a") != text.npos;
  if (target > capability || (only_that && target != capability)) return Result::kNoBinaryForGpu;
  std::string why;
  made->own = CompilePtx(text, &why);
  made->module = made->own.get();
  log.Write(why);
  return made->own == nullptr ? Result::kInvalidPtx : Result::kSuccess;
}

Result LoadModule(Emulator* emulator, const char* image, const Log& log, cuda::Module* module) {
  auto made = std::make_unique<cuda::ModuleObject>();
  // Nothing that is no text is read any further than its first bytes, where a zero byte ends it.
  const std::string_view text(image);
  Result result = Result::kInvalidImage;
  if (text.starts_with(kImagePrefix)) {
    made->module = emulator->FindModule(text.substr(kImagePrefix.size()));
    const Settings& settings = emulator->settings;
    const bool is_90 = settings.capability_major == 9 && settings.capability_minor == 0;
    result = made->module == nullptr || (made->module->IsOnlyFor90() && !is_90) ? Result::kNoBinaryForGpu
                                                                                : Result::kSuccess;
  } else if (text.find(".version") != text.npos) {
    result = Compile(*emulator, text, log, made.get());
  }
  if (result == Result::kSuccess) *module = Add(&emulator->modules, std::move(made));
  return result;
}

bool KnowsFunction(const Emulator& emulator, cuda::Function function) {
  return std::any_of(emulator.modules.begin(), emulator.modules.end(), [&](const auto& module) {
    const auto& functions = module.second->functions;
    return std::any_of(functions.begin(), functions.end(),
                       [&](const auto& entry) { return entry.second.get() == function; });
  });
}

// The argument's bytes, from either of cuLaunchKernel's last parameters;
// false where they aren't what the kernel takes.
bool ReadArgument(const Kernel& kernel, void** parameters, void** extra, std::vector<std::byte>* argument) {
  const void* bytes = nullptr;
  size_t count = kernel.argument_bytes();
  if ((parameters == nullptr) == (extra == nullptr)) return false;
  if (parameters != nullptr) {
    bytes = parameters[0];
  } else {
    for (; reinterpret_cast<uintptr_t>(extra[0]) != cuda::kLaunchEnd; extra += 2) {
      if (reinterpret_cast<uintptr_t>(extra[0]) == cuda::kLaunchBufferPointer) bytes = extra[1];
      if (reinterpret_cast<uintptr_t>(extra[0]) == cuda::kLaunchBufferSize)
        count = *static_cast<const size_t*>(extra[1]);
    }
  }
  if (bytes == nullptr || count != kernel.argument_bytes()) return false;
  argument->assign(static_cast<const std::byte*>(bytes), static_cast<const std::byte*>(bytes) + count);
  return true;
}

bool FitsDevice(const Launch& launch, int dynamic_shared) {
  const uint32_t* const grid = launch.grid;
  const uint32_t* const block = launch.block;
  const uint64_t threads = uint64_t{block[0]} * block[1] * block[2];
  return grid[0] > 0 && grid[0] <= 0x7fffffff && grid[1] > 0 && grid[1] <= 65535 && grid[2] > 0 &&
         grid[2] <= 65535 && block[0] <= 1024 && block[1] <= 1024 && block[2] <= 64 && threads > 0 &&
         threads <= 1024 && launch.shared_bytes <= static_cast<uint32_t>(dynamic_shared);
}

Result RunKernel(Emulator* emulator, cuda::Function function, const Launch& launch) {
  if (!KnowsFunction(*emulator, function))
    return emulator->Break(Result::kLaunchFailed, "a kernel was launched whose module is unloaded by now");
  const std::string wrong = function->kernel->Run(launch, emulator->heap);
  if (!wrong.empty()) return emulator->Break(Result::kLaunchFailed, wrong);
  const std::string trouble = emulator->heap.Check();
  if (trouble.empty()) return Result::kSuccess;
  return emulator->Break(Result::kIllegalAddress, "the kernel " + function->name + " " + trouble);
}

}  // namespace
}  // namespace assay::emulated

using namespace assay::emulated;  // NOLINT: a file of C functions
namespace cuda = assay::gpu::cuda;
using cuda::Result;

extern "C" {

Result cuModuleLoadDataEx(cuda::Module* module, const void* image, unsigned options, cuda::JitOption* keys,
                          void** values) {
  return Call("cuModuleLoadDataEx", Needs::kContext, [&](Emulator& emulator) {
    return LoadModule(&emulator, static_cast<const char*>(image), Log(options, keys, values), module);
  });
}

Result cuModuleUnload(cuda::Module module) {
  return Call("cuModuleUnload", Needs::kContext, [&](Emulator& emulator) {
    return emulator.modules.erase(module) == 1 ? Result::kSuccess : Result::kInvalidHandle;
  });
}

Result cuModuleGetFunction(cuda::Function* function, cuda::Module module, const char* name) {
  return Call("cuModuleGetFunction", Needs::kContext, [&](Emulator& emulator) {
    if (!Knows(emulator.modules, module)) return Result::kInvalidHandle;
    const Kernel* const kernel = module->module->Find(name);
    if (kernel == nullptr) return Result::kNotFound;
    std::unique_ptr<cuda::FunctionObject>& found = module->functions[name];
    if (found == nullptr) found = std::make_unique<cuda::FunctionObject>(cuda::FunctionObject{name, kernel});
    *function = found.get();
    return Result::kSuccess;
  });
}

// The emulated kernels have their static shared memory elsewhere.
Result cuFuncGetAttribute(int* value, cuda::FunctionAttribute attribute, cuda::Function function) {
  return Call("cuFuncGetAttribute", Needs::kContext, [&](Emulator& emulator) {
    if (!KnowsFunction(emulator, function)) return Result::kInvalidHandle;
    *value = attribute == cuda::FunctionAttribute::kSharedBytes ? 0 : function->dynamic_shared;
    return Result::kSuccess;
  });
}

Result cuFuncSetAttribute(cuda::Function function, cuda::FunctionAttribute attribute, int value) {
  return Call("cuFuncSetAttribute", Needs::kContext, [&](Emulator& emulator) {
    if (!KnowsFunction(emulator, function)) return Result::kInvalidHandle;
    if (attribute != cuda::FunctionAttribute::kMaxDynamicSharedBytes || value < 0 ||
        value > emulator.settings.shared)
      return Result::kInvalidValue;
    function->dynamic_shared = value;
    return Result::kSuccess;
  });
}

Result cuLaunchKernel(cuda::Function function, unsigned blocks_x, unsigned blocks_y, unsigned blocks_z,
                      unsigned threads_x, unsigned threads_y, unsigned threads_z, unsigned shared_bytes,
                      cuda::Stream stream, void** parameters, void** extra) {
  return Call("cuLaunchKernel", Needs::kContext, [&](Emulator& emulator) {
    if (!KnowsFunction(emulator, function) || !Knows(emulator.streams, stream)) return Result::kInvalidHandle;
    const Launch shape{{blocks_x, blocks_y, blocks_z}, {threads_x, threads_y, threads_z}, shared_bytes};
    std::vector<std::byte> argument;
    if (!FitsDevice(shape, function->dynamic_shared) ||
        !ReadArgument(*function->kernel, parameters, extra, &argument))
      return Result::kInvalidValue;
    // The seed of this launch.
    const auto order = static_cast<uint64_t>(
        emulator.settings.order == 0
            ? 0
            : emulator.settings.order + static_cast<int64_t>(emulator.calls["cuLaunchKernel"]));
    const Settings& settings = emulator.settings;
    const auto capability = static_cast<int>(settings.capability_major * 10 + settings.capability_minor);
    return emulator.Enqueue(stream, [&emulator, function, shape, argument, order, capability] {
      Launch launch = shape;
      launch.capability = capability;
      launch.argument = argument.data();
      launch.order = order;
      return RunKernel(&emulator, function, launch);
    });
  });
}

// The images of the registered modules, and of the kernels that were compiled as C++.
const void* assay_kernel_image(const char* module, size_t* bytes) {
  Emulator& emulator = Emulator::Get();
  const std::lock_guard lock(emulator.mutex);
  if (emulator.settings.kernels == 0 || emulator.FindModule(module) == nullptr) return nullptr;
  const std::string& image = *emulator.images.insert(std::string(kImagePrefix) + module).first;
  *bytes = image.size();
  return image.c_str();
}
}

// Every function is there, with its signature.
namespace assay::gpu::cuda {
#define ASSAY_CUDA_EXPORTED(symbol, parameters) \
  extern "C" {                                  \
  Result symbol parameters;                     \
  }                                             \
  static_assert(std::is_same_v<decltype(&symbol), decltype(Functions::symbol)>);
ASSAY_CUDA_FUNCTIONS(ASSAY_CUDA_EXPORTED)
static_assert(std::is_same_v<decltype(assay_kernel_image), KernelImage>);
extern "C" Result assay_memory_unused(Stream stream, Address address, int unused);
static_assert(std::is_same_v<decltype(assay_memory_unused), MemoryUnused>);
}  // namespace assay::gpu::cuda
