// A WhyReport as text: a tree of lines.
#ifndef ASSAY_FIND_ORIGIN_WHY_LINES_H_
#define ASSAY_FIND_ORIGIN_WHY_LINES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "find/origin/why.h"

namespace assay {

// What an element reads is one deeper, below it.
struct WhyLine {
  size_t depth = 0;
  std::string text;
};

// An element that was shown with what is below it is not expanded again.
std::vector<WhyLine> LinesOf(const WhyReport& report);
// What the lines leave out, and why: a line for each fact.
std::vector<std::string> NotesOf(const WhyReport& report);

}  // namespace assay

#endif  // ASSAY_FIND_ORIGIN_WHY_LINES_H_
