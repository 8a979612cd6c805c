// The routines of liblapack.so.3, which is opened when the first one is asked for.
#ifndef ASSAY_CUSTOM_LAPACK_LIBRARY_H_
#define ASSAY_CUSTOM_LAPACK_LIBRARY_H_

#include <string_view>

#include "base/error.h"

namespace assay::custom {

// The address of a routine by its name in Fortran ("dgesdd"). It calculates with one thread. NotSupported:
// there is no library, or it lacks the routine.
absl::StatusOr<void*> FindLapackRoutine(std::string_view name);

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_LAPACK_LIBRARY_H_
