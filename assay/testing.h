// What tests of programs include: see builder/testing.h.
#ifndef ASSAY_ASSAY_TESTING_H_
#define ASSAY_ASSAY_TESTING_H_

#include "builder/testing.h"  // IWYU pragma: export

#endif  // ASSAY_ASSAY_TESTING_H_
