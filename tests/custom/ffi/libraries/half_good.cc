// Registers a good handler, and one that was compiled for a version to come.
#include "tests/custom/ffi/libraries/registering.h"

namespace abi = assay::custom::ffi::abi;
using assay::custom::ffi::Give;
using assay::custom::ffi::Registered;

namespace {

const bool good = Registered("library.Good", "Host", [](abi::CallFrame* frame) { return Give(frame, 1, 3); });
const bool late = Registered("library.Late", "Host", [](abi::CallFrame* frame) { return Give(frame, 2, 4); });

}  // namespace

extern "C" __attribute__((visibility("default"))) bool Both() { return good && late; }
