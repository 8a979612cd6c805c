// Any sequence of calls of PJRT's C API that keeps to what a plugin can't see: handles are of the type that
// is wanted and not yet destroyed, and arrays have as many elements as is said. All else is of the input:
// sizes of structs, null, counts, sizes of arrays, strides, layouts, types, options, what was deleted or
// donated, the order of calls, and calls of two threads.
//
// A call is the number of its function in pjrt_functions.def and a byte for the size of its arguments, then
// what the function takes, one byte each (pjrt_session.cc).
#include <cstdint>

#include "tests/fuzz/pjrt_session.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  assay::pjrt::Session session({data, size});
  session.Run();
  session.End();
  return 0;
}
