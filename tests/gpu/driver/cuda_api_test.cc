// Our declarations of the driver API, held against those of cuda.h where there is one.
#include "gpu/driver/cuda_api.h"

#include <type_traits>

#include "catch2/catch.hpp"

#if __has_include(<cuda.h>)
#include <cuda.h>

#ifdef cuEventElapsedTime
// Drivers have its second version since CUDA 12.8, which tells some errors from others. We use the first one.
#undef cuEventElapsedTime
extern "C" decltype(cuEventElapsedTime_v2) cuEventElapsedTime;
#endif

namespace assay::gpu::cuda {
namespace {

// Whether values of the types are passed alike: pointers as pointers to such types, all else as integers of
// equal size, floats as such. A pointer to what only the driver looks into is like any other of that kind.
template <typename A, typename B>
constexpr bool Alike() {
  if constexpr (std::is_pointer_v<A> && std::is_pointer_v<B>) {
    using PointedA = std::remove_cv_t<std::remove_pointer_t<A>>;
    using PointedB = std::remove_cv_t<std::remove_pointer_t<B>>;
    constexpr bool const_alike =
        std::is_const_v<std::remove_pointer_t<A>> == std::is_const_v<std::remove_pointer_t<B>>;
    if constexpr (std::is_void_v<PointedA> || std::is_void_v<PointedB>)
      return const_alike && std::is_void_v<PointedA> == std::is_void_v<PointedB>;
    else if constexpr (std::is_class_v<PointedA> || std::is_class_v<PointedB>)
      return const_alike && std::is_class_v<PointedA> && std::is_class_v<PointedB>;
    else
      return const_alike && Alike<PointedA, PointedB>();
  } else {
    constexpr bool integers =
        (std::is_integral_v<A> || std::is_enum_v<A>)&&(std::is_integral_v<B> || std::is_enum_v<B>);
    return std::is_same_v<A, B> || (integers && sizeof(A) == sizeof(B));
  }
}

template <typename Ours, typename Theirs>
struct SameCall : std::false_type {};
template <typename R, typename... A, typename S, typename... B>
struct SameCall<R (*)(A...), S (*)(B...)> {
  static constexpr bool AllAlike() {
    if constexpr (sizeof...(A) == sizeof...(B))
      return Alike<R, S>() && (Alike<A, B>() && ...);
    else
      return false;
  }
  static constexpr bool value = AllAlike();
};

// The comparison itself tells things apart.
static_assert(SameCall<int (*)(const char**, CUstream), unsigned (*)(const char**, Stream)>::value);
static_assert(!SameCall<int (*)(int), int (*)(size_t)>::value);
static_assert(!SameCall<int (*)(int), int (*)(int, int)>::value);
static_assert(!SameCall<int (*)(void*), int (*)(const void*)>::value);
static_assert(!SameCall<int (*)(void*), int (*)(void**)>::value);
static_assert(!SameCall<int (*)(int*), int (*)(size_t*)>::value);
static_assert(!SameCall<int (*)(Stream), int (*)(size_t)>::value);

#define ASSAY_CUDA_SAME(symbol, parameters) \
  static_assert(SameCall<decltype(Functions::symbol), decltype(&::symbol)>::value);
ASSAY_CUDA_FUNCTIONS(ASSAY_CUDA_SAME)
#undef ASSAY_CUDA_SAME

// Where cuda.h gives a function's plain name another meaning, ours is that one.
#define ASSAY_CUDA_MEANT(plain, symbol) static_assert(&::plain == &::symbol)
ASSAY_CUDA_MEANT(cuDeviceTotalMem, cuDeviceTotalMem_v2);
ASSAY_CUDA_MEANT(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2);
ASSAY_CUDA_MEANT(cuCtxPushCurrent, cuCtxPushCurrent_v2);
ASSAY_CUDA_MEANT(cuCtxPopCurrent, cuCtxPopCurrent_v2);
ASSAY_CUDA_MEANT(cuStreamDestroy, cuStreamDestroy_v2);
ASSAY_CUDA_MEANT(cuEventDestroy, cuEventDestroy_v2);
ASSAY_CUDA_MEANT(cuMemAlloc, cuMemAlloc_v2);
ASSAY_CUDA_MEANT(cuMemFree, cuMemFree_v2);
ASSAY_CUDA_MEANT(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2);
ASSAY_CUDA_MEANT(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2);
ASSAY_CUDA_MEANT(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2);
ASSAY_CUDA_MEANT(cuStreamBeginCapture, cuStreamBeginCapture_v2);
#undef ASSAY_CUDA_MEANT
// The others have no second meaning: the name of the symbol, after cuda.h's macros,
// is the one that we look up.
#define ASSAY_CUDA_TEXT(name) #name
#define ASSAY_CUDA_EXPANDED(name) ASSAY_CUDA_TEXT(name)
constexpr bool SameText(const char* a, const char* b) {
  for (; *a == *b; ++a, ++b) {
    if (*a == '\0') return true;
  }
  return false;
}
#define ASSAY_CUDA_UNCHANGED(symbol, parameters) \
  static_assert(SameText(#symbol, ASSAY_CUDA_EXPANDED(symbol)));
ASSAY_CUDA_FUNCTIONS(ASSAY_CUDA_UNCHANGED)
#undef ASSAY_CUDA_UNCHANGED

#define ASSAY_CUDA_SAME(name, cuda_name, number, lasting) \
  static_assert(static_cast<int>(::cuda_name) == static_cast<int>(Result::name));
ASSAY_CUDA_RESULTS(ASSAY_CUDA_SAME)
#undef ASSAY_CUDA_SAME
#define ASSAY_CUDA_SAME(name, cuda_name, number) \
  static_assert(static_cast<int>(::cuda_name) == static_cast<int>(DeviceAttribute::name));
ASSAY_CUDA_DEVICE_ATTRIBUTES(ASSAY_CUDA_SAME)
#undef ASSAY_CUDA_SAME

static_assert(static_cast<int>(FunctionAttribute::kSharedBytes) == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
static_assert(static_cast<int>(FunctionAttribute::kMaxDynamicSharedBytes) ==
              CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
static_assert(static_cast<int>(JitOption::kErrorLogBuffer) == CU_JIT_ERROR_LOG_BUFFER);
static_assert(static_cast<int>(JitOption::kErrorLogBufferBytes) == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
static_assert(static_cast<int>(PoolAttribute::kReleaseThreshold) == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
static_assert(static_cast<int>(CaptureMode::kRelaxed) == CU_STREAM_CAPTURE_MODE_RELAXED);
static_assert(kEventDefault == CU_EVENT_DEFAULT);
static_assert(kStreamNonBlocking == CU_STREAM_NON_BLOCKING && kEventDisableTiming == CU_EVENT_DISABLE_TIMING);
static_assert(kLaunchEnd == CU_LAUNCH_PARAM_END_AS_INT);
static_assert(kLaunchBufferPointer == CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT);
static_assert(kLaunchBufferSize == CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT);

static_assert(sizeof(PoolProperties) == sizeof(CUmemPoolProps));
static_assert(offsetof(PoolProperties, allocation_type) == offsetof(CUmemPoolProps, allocType));
static_assert(offsetof(PoolProperties, handle_types) == offsetof(CUmemPoolProps, handleTypes));
static_assert(offsetof(PoolProperties, location_type) == offsetof(CUmemPoolProps, location.type));
static_assert(offsetof(PoolProperties, location_id) == offsetof(CUmemPoolProps, location.id));
static_assert(offsetof(PoolProperties, security_attributes) ==
              offsetof(CUmemPoolProps, win32SecurityAttributes));
static_assert(offsetof(PoolProperties, max_size) == offsetof(CUmemPoolProps, maxSize));
static_assert(offsetof(PoolProperties, usage) == offsetof(CUmemPoolProps, usage));
static_assert(PoolProperties().allocation_type == CU_MEM_ALLOCATION_TYPE_PINNED);
static_assert(PoolProperties().handle_types == CU_MEM_HANDLE_TYPE_NONE);
static_assert(PoolProperties().location_type == CU_MEM_LOCATION_TYPE_DEVICE);

TEST_CASE("our declarations of the driver API are those of cuda.h", "[gpu][driver][cuda_h][toolkit]") {
  SUCCEED(CUDA_VERSION);
}

}  // namespace
}  // namespace assay::gpu::cuda

#else

TEST_CASE("our declarations of the driver API are those of cuda.h", "[gpu][driver][cuda_h][toolkit]") {
  WARN("skipped: there was no cuda.h when this was compiled");
}

#endif
