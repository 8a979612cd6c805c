// What is printed of outputs and instructions that were compared with what a conforming backend may give.
#ifndef ASSAY_TOOLS_CONFORMANCE_TEXT_H_
#define ASSAY_TOOLS_CONFORMANCE_TEXT_H_

#include <string>

#include "check/conformance.h"
#include "check/isolate/isolation.h"

namespace assay::cli {

std::string JsonOf(const Conformance& output);
std::string TextOf(const Conformance& output);
std::string JsonOf(const Isolation& isolation);
std::string TextOf(const Isolation& isolation);

}  // namespace assay::cli

#endif  // ASSAY_TOOLS_CONFORMANCE_TEXT_H_
