// The header of the library: read, build, verify, evaluate, print, compare.
#ifndef ASSAY_ASSAY_ASSAY_H_
#define ASSAY_ASSAY_ASSAY_H_

#include "builder/builder.h"             // IWYU pragma: export
#include "custom/attr_config.h"          // IWYU pragma: export
#include "custom/ffi/library.h"          // IWYU pragma: export
#include "custom/library.h"              // IWYU pragma: export
#include "devices/run_devices.h"         // IWYU pragma: export
#include "evaluator/grid/device_grid.h"  // IWYU pragma: export
#include "evaluator/verify.h"            // IWYU pragma: export
#include "hlo/load/load.h"               // IWYU pragma: export
#include "hlo/text/printer.h"            // IWYU pragma: export
#include "literal/compare.h"             // IWYU pragma: export
#include "literal/literal_text.h"        // IWYU pragma: export
#include "run/program.h"                 // IWYU pragma: export

namespace assay {

// User-defined operations: the registry, and the function that loads a library into it.
using custom::LoadOps;
using custom::OpRegistry;

}  // namespace assay

#endif  // ASSAY_ASSAY_ASSAY_H_
