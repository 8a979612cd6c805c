// The functions of CUDA's driver API that are used here, declared by ourselves: nothing of CUDA is needed to
// build, and the driver is a library that is opened at run time (library.h). Symbols that changed their
// meaning over time carry the suffix of the version that is meant, as the macros of cuda.h give it.
// tests/gpu/driver/cuda_api_test.cc holds every value and every signature against cuda.h where there is one.
#ifndef ASSAY_GPU_DRIVER_CUDA_API_H_
#define ASSAY_GPU_DRIVER_CUDA_API_H_

#include <cstddef>
#include <cstdint>

namespace assay::gpu::cuda {

// V(our name, the name in cuda.h, value). The last column says which errors the context doesn't survive:
// every later call repeats them.
#define ASSAY_CUDA_RESULTS(V)                                                           \
  V(kSuccess, CUDA_SUCCESS, 0, false)                                                   \
  V(kInvalidValue, CUDA_ERROR_INVALID_VALUE, 1, false)                                  \
  V(kOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY, 2, false)                                   \
  V(kNotInitialized, CUDA_ERROR_NOT_INITIALIZED, 3, false)                              \
  V(kDeinitialized, CUDA_ERROR_DEINITIALIZED, 4, true)                                  \
  V(kStubLibrary, CUDA_ERROR_STUB_LIBRARY, 34, false)                                   \
  V(kDeviceUnavailable, CUDA_ERROR_DEVICE_UNAVAILABLE, 46, false)                       \
  V(kNoDevice, CUDA_ERROR_NO_DEVICE, 100, false)                                        \
  V(kInvalidDevice, CUDA_ERROR_INVALID_DEVICE, 101, false)                              \
  V(kInvalidImage, CUDA_ERROR_INVALID_IMAGE, 200, false)                                \
  V(kInvalidContext, CUDA_ERROR_INVALID_CONTEXT, 201, false)                            \
  V(kNoBinaryForGpu, CUDA_ERROR_NO_BINARY_FOR_GPU, 209, false)                          \
  V(kEccUncorrectable, CUDA_ERROR_ECC_UNCORRECTABLE, 214, true)                         \
  V(kInvalidPtx, CUDA_ERROR_INVALID_PTX, 218, false)                                    \
  V(kNvlinkUncorrectable, CUDA_ERROR_NVLINK_UNCORRECTABLE, 220, true)                   \
  V(kJitCompilerNotFound, CUDA_ERROR_JIT_COMPILER_NOT_FOUND, 221, false)                \
  V(kUnsupportedPtxVersion, CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222, false)             \
  V(kJitCompilationDisabled, CUDA_ERROR_JIT_COMPILATION_DISABLED, 223, false)           \
  V(kOperatingSystem, CUDA_ERROR_OPERATING_SYSTEM, 304, false)                          \
  V(kInvalidHandle, CUDA_ERROR_INVALID_HANDLE, 400, false)                              \
  V(kNotFound, CUDA_ERROR_NOT_FOUND, 500, false)                                        \
  V(kNotReady, CUDA_ERROR_NOT_READY, 600, false)                                        \
  V(kIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS, 700, true)                             \
  V(kLaunchOutOfResources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 701, false)              \
  V(kLaunchTimeout, CUDA_ERROR_LAUNCH_TIMEOUT, 702, true)                               \
  V(kContextIsDestroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED, 709, true)                    \
  V(kAssert, CUDA_ERROR_ASSERT, 710, true)                                              \
  V(kHardwareStackError, CUDA_ERROR_HARDWARE_STACK_ERROR, 714, true)                    \
  V(kIllegalInstruction, CUDA_ERROR_ILLEGAL_INSTRUCTION, 715, true)                     \
  V(kMisalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS, 716, true)                       \
  V(kInvalidAddressSpace, CUDA_ERROR_INVALID_ADDRESS_SPACE, 717, true)                  \
  V(kInvalidPc, CUDA_ERROR_INVALID_PC, 718, true)                                       \
  V(kLaunchFailed, CUDA_ERROR_LAUNCH_FAILED, 719, true)                                 \
  V(kNotPermitted, CUDA_ERROR_NOT_PERMITTED, 800, false)                                \
  V(kNotSupported, CUDA_ERROR_NOT_SUPPORTED, 801, false)                                \
  V(kSystemNotReady, CUDA_ERROR_SYSTEM_NOT_READY, 802, false)                           \
  V(kSystemDriverMismatch, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, 803, false)               \
  V(kCompatNotSupportedOnDevice, CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, 804, false) \
  V(kStreamCaptureUnsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, 900, false)       \
  V(kStreamCaptureInvalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, 901, false)       \
  V(kUnknown, CUDA_ERROR_UNKNOWN, 999, false)

enum class Result : int32_t {
#define ASSAY_CUDA_VALUE(name, cuda_name, value, lasting) name = value,
  ASSAY_CUDA_RESULTS(ASSAY_CUDA_VALUE)
#undef ASSAY_CUDA_VALUE
};

// V(our name, the name in cuda.h, value)
#define ASSAY_CUDA_DEVICE_ATTRIBUTES(V)                                              \
  V(kMultiprocessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16)              \
  V(kCapabilityMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75)              \
  V(kCapabilityMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76)              \
  V(kSharedPerBlockOptIn, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 97) \
  V(kMemoryPoolsSupported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 115)

enum class DeviceAttribute : int32_t {
#define ASSAY_CUDA_VALUE(name, cuda_name, value) name = value,
  ASSAY_CUDA_DEVICE_ATTRIBUTES(ASSAY_CUDA_VALUE)
#undef ASSAY_CUDA_VALUE
};

enum class FunctionAttribute : int32_t { kSharedBytes = 1, kMaxDynamicSharedBytes = 8 };
enum class JitOption : int32_t { kErrorLogBuffer = 5, kErrorLogBufferBytes = 6 };
enum class PoolAttribute : int32_t { kReleaseThreshold = 4 };
// Which calls of other threads fail while a stream is captured: none.
enum class CaptureMode : int32_t { kRelaxed = 2 };

inline constexpr unsigned kStreamNonBlocking =
    1;  // doesn't wait for the stream that others of the process use by default
inline constexpr unsigned kEventDefault = 0;
inline constexpr unsigned kEventDisableTiming = 2;  // an event that is only waited for
// The keys of cuLaunchKernel's last parameter.
inline constexpr uintptr_t kLaunchEnd = 0;
inline constexpr uintptr_t kLaunchBufferPointer = 1;
inline constexpr uintptr_t kLaunchBufferSize = 2;

// CUmemPoolProps.
struct PoolProperties {
  int32_t allocation_type = 1;  // "pinned": the one there is
  int32_t handle_types = 0;     // none: the memory is not shared with other processes
  int32_t location_type = 1;    // a device
  int32_t location_id = 0;      // its number
  void* security_attributes = nullptr;
  size_t max_size = 0;  // 0: the system's own
  uint16_t usage = 0;
  uint8_t reserved[54] = {};
};

using DeviceNumber = int32_t;
using Address = unsigned long long;
using Context = struct ContextObject*;
using Stream = struct StreamObject*;
using Event = struct EventObject*;
using Pool = struct PoolObject*;
using Module = struct ModuleObject*;
using Function = struct FunctionObject*;
using Graph = struct GraphObject*;
using GraphExec = struct GraphExecObject*;

// F(symbol, (parameters)). Every function is one of CUDA 11.4 or older: of cuEventElapsedTime the first
// version.
#define ASSAY_CUDA_FUNCTIONS(F)                                                                         \
  F(cuGetErrorName, (Result error, const char** name))                                                  \
  F(cuGetErrorString, (Result error, const char** text))                                                \
  F(cuDriverGetVersion, (int* version))                                                                 \
  F(cuInit, (unsigned flags))                                                                           \
  F(cuDeviceGetCount, (int* count))                                                                     \
  F(cuDeviceGet, (DeviceNumber * device, int ordinal))                                                  \
  F(cuDeviceGetName, (char* name, int bytes, DeviceNumber device))                                      \
  F(cuDeviceTotalMem_v2, (size_t * bytes, DeviceNumber device))                                         \
  F(cuDeviceGetAttribute, (int* value, DeviceAttribute attribute, DeviceNumber device))                 \
  F(cuDevicePrimaryCtxRetain, (Context * context, DeviceNumber device))                                 \
  F(cuDevicePrimaryCtxRelease_v2, (DeviceNumber device))                                                \
  F(cuCtxPushCurrent_v2, (Context context))                                                             \
  F(cuCtxPopCurrent_v2, (Context * context))                                                            \
  F(cuStreamCreate, (Stream * stream, unsigned flags))                                                  \
  F(cuStreamDestroy_v2, (Stream stream))                                                                \
  F(cuStreamSynchronize, (Stream stream))                                                               \
  F(cuEventCreate, (Event * event, unsigned flags))                                                     \
  F(cuEventDestroy_v2, (Event event))                                                                   \
  F(cuEventRecord, (Event event, Stream stream))                                                        \
  F(cuEventSynchronize, (Event event))                                                                  \
  F(cuEventElapsedTime, (float* milliseconds, Event start, Event end))                                  \
  F(cuMemHostAlloc, (void** host, size_t bytes, unsigned flags))                                        \
  F(cuMemFreeHost, (void* host))                                                                        \
  F(cuMemAlloc_v2, (Address * address, size_t bytes))                                                   \
  F(cuMemFree_v2, (Address address))                                                                    \
  F(cuMemPoolCreate, (Pool * pool, const PoolProperties* properties))                                   \
  F(cuMemPoolDestroy, (Pool pool))                                                                      \
  F(cuMemPoolSetAttribute, (Pool pool, PoolAttribute attribute, void* value))                           \
  F(cuMemPoolTrimTo, (Pool pool, size_t bytes_to_keep))                                                 \
  F(cuMemAllocFromPoolAsync, (Address * address, size_t bytes, Pool pool, Stream stream))               \
  F(cuMemFreeAsync, (Address address, Stream stream))                                                   \
  F(cuMemcpyHtoDAsync_v2, (Address to, const void* from, size_t bytes, Stream stream))                  \
  F(cuMemcpyDtoHAsync_v2, (void* to, Address from, size_t bytes, Stream stream))                        \
  F(cuMemcpyDtoDAsync_v2, (Address to, Address from, size_t bytes, Stream stream))                      \
  F(cuMemsetD8Async, (Address to, unsigned char value, size_t bytes, Stream stream))                    \
  F(cuModuleLoadDataEx,                                                                                 \
    (Module * module, const void* image, unsigned options, JitOption* keys, void** values))             \
  F(cuModuleUnload, (Module module))                                                                    \
  F(cuModuleGetFunction, (Function * function, Module module, const char* name))                        \
  F(cuFuncGetAttribute, (int* value, FunctionAttribute attribute, Function function))                   \
  F(cuFuncSetAttribute, (Function function, FunctionAttribute attribute, int value))                    \
  F(cuLaunchKernel, (Function function, unsigned blocks_x, unsigned blocks_y, unsigned blocks_z,        \
                     unsigned threads_x, unsigned threads_y, unsigned threads_z, unsigned shared_bytes, \
                     Stream stream, void** parameters, void** extra))                                   \
  F(cuStreamBeginCapture_v2, (Stream stream, CaptureMode mode))                                         \
  F(cuStreamEndCapture, (Stream stream, Graph * graph))                                                 \
  F(cuGraphInstantiateWithFlags, (GraphExec * exec, Graph graph, unsigned long long flags))             \
  F(cuGraphLaunch, (GraphExec exec, Stream stream))                                                     \
  F(cuGraphExecDestroy, (GraphExec exec))                                                               \
  F(cuGraphDestroy, (Graph graph))

struct Functions {
#define ASSAY_CUDA_MEMBER(symbol, parameters) Result(*symbol) parameters = nullptr;
  ASSAY_CUDA_FUNCTIONS(ASSAY_CUDA_MEMBER)
#undef ASSAY_CUDA_MEMBER
};

// Exported by drivers that bring kernels by themselves, as that of the tests does: an image that
// cuModuleLoadDataEx takes, null where there is none of that name.
using KernelImage = const void*(const char* module, size_t* bytes);
inline constexpr char kKernelImageSymbol[] = "assay_kernel_image";
// Exported by drivers that check what kernels access: in the order of the stream, an allocation that is not
// given back may not be used until it is said to be used again.
using MemoryUnused = Result(Stream stream, Address address, int unused);
inline constexpr char kMemoryUnusedSymbol[] = "assay_memory_unused";

}  // namespace assay::gpu::cuda

#endif  // ASSAY_GPU_DRIVER_CUDA_API_H_
