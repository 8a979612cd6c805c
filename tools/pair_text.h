// What is printed of two programs that were held beside each other.
#ifndef ASSAY_TOOLS_PAIR_TEXT_H_
#define ASSAY_TOOLS_PAIR_TEXT_H_

#include <string>

#include "find/programs/first_collective.h"
#include "find/programs/pair.h"

namespace assay {
class JsonWriter;
}

namespace assay::cli {

std::string TextOf(const FirstDifference& difference);
void WriteJson(const FirstDifference& difference, JsonWriter& json);
std::string TextOf(const CollectiveDifference& difference);
// Of one output: how many elements are inside by the bounds of either, and by which program's.
std::string TextOf(const PairBounds& bounds);
void WriteJson(const PairBounds& bounds, JsonWriter& json);

}  // namespace assay::cli

#endif  // ASSAY_TOOLS_PAIR_TEXT_H_
