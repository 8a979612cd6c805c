// The emulated driver from outside: what it is like, what fails in it, what it counts. The library exports
// these functions beside those of the driver API; a program that knows only its path finds them by dlsym.
//
// Settings are environment variables ASSAY_EMULATED_NAME, read when the library is first called, or set by
// assay_emulated_set("NAME", value):
//
//   DEVICES          how many devices there are: 1, or 0
//   NAME             the device's name: "Assay emulated device"
//   CAPABILITY       its compute capability: 9.0
//   DRIVER_VERSION   CUDA's number of the driver: 12040. PTX of a later version than its compiler knows is
//                    refused.
//   MULTIPROCESSORS  4
//   MEMORY           bytes of device memory: 2147483648. What goes beyond is out of memory.
//   SHARED           bytes of shared memory that a block may ask for: 232448
//   POOLS            1: there are memory pools; 0: there are none
//   KERNELS          1: the library offers the kernels of gpu/kernels; 0: it offers none
//   EAGER            0: what is put into a stream waits there until somebody waits for it; 1: it runs at once
//   ORDER            0: blocks of a kernel run one after the other; else a seed: those of each launch
//                    start in another random order, some at once (device/block.h)
//   FAIL             calls that fail: FUNCTION:N:ERROR,… The N-th call from now (1: the next) of FUNCTION,
//                    * for any, gives ERROR, CUDA's number, and does nothing else; N+:
//                      all calls from the N-th on.
//
// Device memory is the host's, between red zones of 4 KiB that are looked at after each kernel. New memory
// holds a pattern, and freed memory stays for a while, holding another, so that what writes there is seen.
// Kernels, copies and fills that leave an allocation end the context, as on a device; the driver's text of
// the error then says what was wrong.
#ifndef ASSAY_TESTS_GPU_EMULATOR_CONTROL_H_
#define ASSAY_TESTS_GPU_EMULATOR_CONTROL_H_

#include <cstdint>

#include "tests/gpu/emulator/emulated_module.h"

extern "C" {

// Whether there is such a setting with such a value. Null: the one of the environment, else the default. FAIL
// adds to what is to fail; null ends it.
bool assay_emulated_set(const char* name, const char* value);
// As when the library was loaded: with the settings of the environment, no objects, nothing counted,
// no modules registered.
void assay_emulated_reset();
// How often the function was called, "*": all of them.
uint64_t assay_emulated_calls(const char* function);
// How many of these objects there are: "contexts", "streams", "events", "pools", "modules", "host"
// (pieces of pinned memory), "graphs", "graph execs", "memory" (of device memory), "bytes" of it, "queued"
// (things that wait in streams), "*": all objects. "reclaimed": how many went with their context, as nobody
// had given them back.
uint64_t assay_emulated_live(const char* kind);
// The kernels of the image "assay-emulated:NAME", before those of CompiledModule(NAME). The caller owns it.
void assay_emulated_register(const char* name, const assay::emulated::Module* module);
}

#endif  // ASSAY_TESTS_GPU_EMULATOR_CONTROL_H_
