// Registers two handlers, and exports a third.
#include "tests/custom/ffi/libraries/registering.h"

namespace abi = assay::custom::ffi::abi;
using assay::custom::ffi::Give;
using assay::custom::ffi::Registered;

namespace {

const bool one = Registered("library.One", "Host", [](abi::CallFrame* frame) { return Give(frame, 1, 3); });
const bool two = Registered("library.Two", "cpu", [](abi::CallFrame* frame) { return Give(frame, 2, 1); });

}  // namespace

extern "C" __attribute__((visibility("default"))) abi::Error* Three(abi::CallFrame* frame) {
  return Give(frame, one && two ? 3 : 0, 3);
}
