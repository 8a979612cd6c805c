// Registers a handler, and exports another.
#include "tests/custom/ffi/libraries/registering.h"

namespace abi = assay::custom::ffi::abi;
using assay::custom::ffi::Give;
using assay::custom::ffi::Registered;

namespace {

const bool six = Registered("library.Six", "Host", [](abi::CallFrame* frame) { return Give(frame, 6, 3); });

}  // namespace

extern "C" __attribute__((visibility("default"))) abi::Error* Five(abi::CallFrame* frame) {
  return Give(frame, six ? 5 : 0, 3);
}
