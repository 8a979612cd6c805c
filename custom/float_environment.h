// Code of the user's may leave other roundings behind, or subnormals that are flushed: a library that was
// linked with -ffast-math does so when it is loaded.
#ifndef ASSAY_CUSTOM_FLOAT_ENVIRONMENT_H_
#define ASSAY_CUSTOM_FLOAT_ENVIRONMENT_H_

#include <cfenv>
#include <cstdint>

namespace assay::custom {

// The environment at the end is that at the beginning, flags of exceptions aside.
#ifdef __x86_64__
// Saving all of it takes a tenth of the time of a small call.
class KeptFloatEnvironment {
 public:
  KeptFloatEnvironment() : sse_(__builtin_ia32_stmxcsr()), x87_(X87()) {}
  ~KeptFloatEnvironment() {
    constexpr uint32_t kFlags = 0x3F;
    if (((__builtin_ia32_stmxcsr() ^ sse_) & ~kFlags) != 0) __builtin_ia32_ldmxcsr(sse_);
    if (X87() != x87_) asm volatile("fldcw %0" : : "m"(x87_));
  }
  KeptFloatEnvironment(const KeptFloatEnvironment&) = delete;
  KeptFloatEnvironment& operator=(const KeptFloatEnvironment&) = delete;

 private:
  static uint16_t X87() {
    uint16_t word;
    asm volatile("fnstcw %0" : "=m"(word));
    return word;
  }

  const uint32_t sse_;
  const uint16_t x87_;
};
#else
class KeptFloatEnvironment {
 public:
  KeptFloatEnvironment() { std::fegetenv(&saved_); }
  ~KeptFloatEnvironment() { std::fesetenv(&saved_); }
  KeptFloatEnvironment(const KeptFloatEnvironment&) = delete;
  KeptFloatEnvironment& operator=(const KeptFloatEnvironment&) = delete;

 private:
  std::fenv_t saved_;
};
#endif

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_FLOAT_ENVIRONMENT_H_
