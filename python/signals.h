// Handlers of signals that Python has, while code that Python called runs.
#ifndef ASSAY_PYTHON_SIGNALS_H_
#define ASSAY_PYTHON_SIGNALS_H_

#include <cstdint>

#include "python/objects.h"

namespace assay {

// The address of an AssayInterrupted (pjrt/plugin/process_ops.h). In the main thread it runs the handlers of
// signals that arrived. Where one of them raises an exception, the run is to end, and the exception is raised
// as soon as the interpreter goes on in that thread.
int64_t SignalPollAddress();
// The exception was raised by a callback that a run made in the main thread: that run is to end by it, too.
void KeepSignalException(const py::Object& exception);

}  // namespace assay

#endif  // ASSAY_PYTHON_SIGNALS_H_
