// What is printed of outputs and instructions that were compared with what a conforming backend may give.
#ifndef ASSAY_TOOLS_CONFORMANCE_TEXT_H_
#define ASSAY_TOOLS_CONFORMANCE_TEXT_H_

#include <optional>
#include <string>

#include "check/conformance.h"
#include "check/estimate/estimate.h"
#include "check/isolate/isolation.h"

namespace assay {
class JsonWriter;
}

namespace assay::cli {

void WriteJson(const Conformance& output, JsonWriter& json);
std::string TextOf(const Conformance& output);
// What samples said, of all outputs: empty where none ran. JSON: further fields of an object.
std::string EstimatesText(const std::vector<Conformance>& outputs, const Estimates& estimates);
void AddEstimates(const Estimates& estimates, JsonWriter& json);
void WriteJson(const Isolation& isolation, JsonWriter& json);
// Lines on one instruction that is wrong, "WHAT: %add.3 = f32[4] add, in %while.1, iteration 2: …".
std::string Blamed(std::string_view what, const IsolatedInstruction& of);
std::string TextOf(const Isolation& isolation);
// Of a loop, null in JSON where it is -1: in no loop.
std::optional<int64_t> KnownIteration(int64_t iteration);

}  // namespace assay::cli

#endif  // ASSAY_TOOLS_CONFORMANCE_TEXT_H_
