// What is printed of a compiler's passes.
#ifndef ASSAY_TOOLS_BISECT_TEXT_H_
#define ASSAY_TOOLS_BISECT_TEXT_H_

#include <string>

#include "find/passes/bisect.h"

namespace assay {
class JsonWriter;
}

namespace assay::cli {

// `profile`: the name of the one by which bounds were derived; empty: none.
std::string TextOf(const PassBisection& bisection, const std::string& profile);
void WriteJson(const PassBisection& bisection, JsonWriter& json);
// "  out0: 6 of 200 elements differ, by up to 1 ulp", a line for each output that differs, with how many are
// inside of bounds.
std::string TextOf(const std::vector<OutputChange>& outputs, bool has_bounds);
void WriteJson(const OutputChange& output, JsonWriter& json);
std::string TextOf(const PassDetail& detail);
void WriteFields(const PassDetail& detail, JsonWriter& json);  // further ones of an object

}  // namespace assay::cli

#endif  // ASSAY_TOOLS_BISECT_TEXT_H_
