// Handlers of XLA's FFI that Python registers, for all programs of the process that are loaded from then on.
#ifndef ASSAY_PYTHON_FFI_BINDINGS_H_
#define ASSAY_PYTHON_FFI_BINDINGS_H_

#include <memory>

#include "evaluator/custom_op.h"
#include "python/objects.h"

namespace assay {

// The handlers that are registered by now; null where there are none.
std::shared_ptr<const CustomOps> FfiOpsOfProcess();
// Adds register_ffi(name, capsules by stage), register_ffi_type(name, id, info) and load_ffi(path).
void DefineFfi(PyObject* module);

}  // namespace assay

#endif  // ASSAY_PYTHON_FFI_BINDINGS_H_
