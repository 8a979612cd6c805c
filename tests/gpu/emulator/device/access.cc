// What compilers call before each access to memory of code that is compiled with -fsanitize=thread. Kernels
// are, but the library of that sanitizer is not linked: these are its functions' names with our own checks.
#if defined(__SANITIZE_THREAD__)
#define ASSAY_THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ASSAY_THREAD_SANITIZER
#endif
#endif
#ifndef ASSAY_THREAD_SANITIZER

#include <cstring>

#include "tests/gpu/emulator/device/block.h"

namespace {

using assay::emulated::Access;
using assay::emulated::GridRun;

inline void Touch(const void* address, uint32_t bytes, Access access, uint32_t alignment) {
  GridRun* const run = GridRun::Current();
  if (run != nullptr) run->Touch(reinterpret_cast<uintptr_t>(address), bytes, access, alignment);
}
inline void TouchRange(const void* address, uint64_t bytes, Access access) {
  if (bytes != 0) Touch(address, static_cast<uint32_t>(bytes), access, 1);
}

}  // namespace

#define ASSAY_HIDDEN extern "C" __attribute__((visibility("hidden")))
#define ASSAY_ACCESSES(N)                                                                           \
  ASSAY_HIDDEN void __tsan_read##N(void* p) { Touch(p, N, Access::kRead, N); }                      \
  ASSAY_HIDDEN void __tsan_write##N(void* p) { Touch(p, N, Access::kWrite, N); }                    \
  ASSAY_HIDDEN void __tsan_unaligned_read##N(void* p) { Touch(p, N, Access::kRead, N); }            \
  ASSAY_HIDDEN void __tsan_unaligned_write##N(void* p) { Touch(p, N, Access::kWrite, N); }          \
  ASSAY_HIDDEN void __tsan_volatile_read##N(void* p) { Touch(p, N, Access::kRead, N); }             \
  ASSAY_HIDDEN void __tsan_volatile_write##N(void* p) { Touch(p, N, Access::kWrite, N); }           \
  ASSAY_HIDDEN void __tsan_unaligned_volatile_read##N(void* p) { Touch(p, N, Access::kRead, N); }   \
  ASSAY_HIDDEN void __tsan_unaligned_volatile_write##N(void* p) { Touch(p, N, Access::kWrite, N); } \
  ASSAY_HIDDEN void __tsan_read_write##N(void* p) { Touch(p, N, Access::kWrite, N); }               \
  ASSAY_HIDDEN void __tsan_unaligned_read_write##N(void* p) { Touch(p, N, Access::kWrite, N); }

ASSAY_ACCESSES(1)
ASSAY_ACCESSES(2)
ASSAY_ACCESSES(4)
ASSAY_ACCESSES(8)
ASSAY_ACCESSES(16)

ASSAY_HIDDEN void __tsan_init() {}
ASSAY_HIDDEN void __tsan_func_entry(void*) {}
ASSAY_HIDDEN void __tsan_func_exit() {}
ASSAY_HIDDEN void __tsan_vptr_read(void**) {}
ASSAY_HIDDEN void __tsan_vptr_update(void**, void*) {}
ASSAY_HIDDEN void __tsan_read_range(void* p, uint64_t bytes) { TouchRange(p, bytes, Access::kRead); }
ASSAY_HIDDEN void __tsan_write_range(void* p, uint64_t bytes) { TouchRange(p, bytes, Access::kWrite); }
ASSAY_HIDDEN void* __tsan_memcpy(void* to, const void* from, uint64_t bytes) {
  TouchRange(from, bytes, Access::kRead);
  TouchRange(to, bytes, Access::kWrite);
  return std::memcpy(to, from, bytes);
}
ASSAY_HIDDEN void* __tsan_memmove(void* to, const void* from, uint64_t bytes) {
  TouchRange(from, bytes, Access::kRead);
  TouchRange(to, bytes, Access::kWrite);
  return std::memmove(to, from, bytes);
}
ASSAY_HIDDEN void* __tsan_memset(void* to, int value, uint64_t bytes) {
  TouchRange(to, bytes, Access::kWrite);
  return std::memset(to, value, bytes);
}

#endif  // ASSAY_THREAD_SANITIZER
