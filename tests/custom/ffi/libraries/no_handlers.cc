// Registers nothing, and exports a handler.
#include "tests/custom/ffi/libraries/registering.h"

namespace abi = assay::custom::ffi::abi;
using assay::custom::ffi::Give;

extern "C" __attribute__((visibility("default"))) abi::Error* Four(abi::CallFrame* frame) {
  return Give(frame, 4, 3);
}
