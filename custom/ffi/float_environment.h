// Code of the user's may leave other roundings behind, or subnormals that are flushed: a library that was linked with -ffast-math
// does so when it is loaded.
#ifndef ASSAY_CUSTOM_FFI_FLOAT_ENVIRONMENT_H_
#define ASSAY_CUSTOM_FFI_FLOAT_ENVIRONMENT_H_

#include <cfenv>

namespace assay::custom::ffi {

// The environment at the end is that at the beginning.
class KeptFloatEnvironment {
 public:
  KeptFloatEnvironment() { std::fegetenv(&saved_); }
  ~KeptFloatEnvironment() { std::fesetenv(&saved_); }
  KeptFloatEnvironment(const KeptFloatEnvironment&) = delete;
  KeptFloatEnvironment& operator=(const KeptFloatEnvironment&) = delete;

 private:
  std::fenv_t saved_;
};

}  // namespace assay::custom::ffi

#endif  // ASSAY_CUSTOM_FFI_FLOAT_ENVIRONMENT_H_
