// Operations that the process adds to what programs may call: handlers of XLA's FFI (jax.ffi), and the host's
// callbacks (jax.pure_callback, jax.debug.print, …), which the Python package serves; and Ctrl-C, of which it
// knows.
#ifndef ASSAY_PJRT_PLUGIN_PROCESS_OPS_H_
#define ASSAY_PJRT_PLUGIN_PROCESS_OPS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/error.h"
#include "custom/ffi/abi.h"
#include "evaluator/custom_op.h"
#include "pjrt/plugin/pjrt_api.h"

namespace assay::pjrt {

// Whether the run of this thread is to end, as who was set by AssaySetInterruption says.
bool IsInterrupted();

// For programs that are compiled from here on; one object until something is registered.
std::shared_ptr<const CustomOps> OpsOfProcess();

// Errors: FfiOps::Register's.
absl::Status RegisterHandler(std::string_view target, const custom::ffi::abi::HandlerBundle& bundle,
                             uint32_t traits);

}  // namespace assay::pjrt

// What the Python package calls besides PJRT's table (python/assay/jax_plugin.py).
extern "C" {

// An array as the host has it; tokens are left out.
struct AssayHostArray {
  assay::pjrt::BufferType type;
  int64_t rank;
  const int64_t* sizes;
  void* data;
  int64_t bytes;
};
// Calls function number `number` with the arrays and fills in its results. 0: fine; else `error` holds a text
// that ends with a zero.
using AssayHostCallback = int(uint64_t number, size_t num_operands, const AssayHostArray* operands,
                              size_t num_results, const AssayHostArray* results, char* error,
                              size_t error_size);
// Who serves custom calls of the target assay_host_callback. Null: nobody.
__attribute__((visibility("default"))) void AssaySetHostCallback(AssayHostCallback* callback);

// Whether the run is to end, as Ctrl-C asks for. It is called every few milliseconds by each thread that
// executes a program, without a lock.
using AssayInterrupted = int();
// Who is asked so; null: nobody. The results of a run that ends so have the status CANCELLED, or that of a
// callback that failed before. Whoever says that a run is to end reports it to the caller in another way.
__attribute__((visibility("default"))) void AssaySetInterruption(AssayInterrupted* interrupted);

// Registers the stages of a handler of XLA's FFI; all but `execute` may be null.
// The same result as AssayHostCallback's.
__attribute__((visibility("default"))) int AssayRegisterFfiHandler(const char* target, void* instantiate,
                                                                   void* prepare, void* initialize,
                                                                   void* execute, uint32_t traits,
                                                                   char* error, size_t error_size);

// Registers a type of states (XLA_FFI_TypeId, XLA_FFI_TypeInfo, which may be null).
__attribute__((visibility("default"))) int AssayRegisterFfiType(const char* name, void* type_id,
                                                                const void* type_info, char* error,
                                                                size_t error_size);
}

#endif  // ASSAY_PJRT_PLUGIN_PROCESS_OPS_H_
