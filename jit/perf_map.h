// Names of generated code for Linux's perf, which looks for /tmp/perf-PID.map: one line a piece of code,
// "START SIZE NAME". Off until somebody asks for it.
#ifndef ASSAY_JIT_PERF_MAP_H_
#define ASSAY_JIT_PERF_MAP_H_

#include <cstddef>
#include <string_view>

#include "base/error.h"

namespace assay::jit {

// Opens the file; an old one of an earlier process is replaced. Code made from now on is named. BadInput
// where it can't be written. A second call changes nothing.
absl::Status StartPerfMap();
// While it is on, pages of code stay mapped to the end of the process, so that an address has one name alone.
bool PerfMapIsOn();
void AddToPerfMap(const void* code, size_t bytes, std::string_view name);

}  // namespace assay::jit

#endif  // ASSAY_JIT_PERF_MAP_H_
