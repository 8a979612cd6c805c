// Operations of the user's own in Python: the registry of the process, libraries, and kernels that are Python
// functions.
#ifndef ASSAY_PYTHON_OPS_BINDINGS_H_
#define ASSAY_PYTHON_OPS_BINDINGS_H_

#include <memory>
#include <string_view>

#include "base/error.h"
#include "evaluator/custom_op.h"
#include "python/objects.h"

namespace assay {

// What custom calls of programs that are loaded now may mean; null where nothing was registered.
std::shared_ptr<const CustomOps> OpsOfProcess();

// Raises the subclass of assay.Error that the status stands for.
[[noreturn]] void Throw(const absl::Status& status, const std::string& file, std::string_view source);

void DefineOps(PyObject* module);

}  // namespace assay

#endif  // ASSAY_PYTHON_OPS_BINDINGS_H_
