// The graphs of a program's computations, and the table that says the same.
#ifndef ASSAY_CHECK_REPORT_GRAPH_SECTION_H_
#define ASSAY_CHECK_REPORT_GRAPH_SECTION_H_

#include <string>

#include "check/report/instruction_marks.h"
#include "check/report/page_text.h"
#include "hlo/module.h"

namespace assay {

struct GraphLimits {
  int64_t most_in_graph =
      3000;                   // instructions; of larger computations what lies around the worst ones is drawn
  int64_t most_around = 300;  // of these
  int64_t most_in_all = 6000;  // of all graphs
  int64_t most_rows = 6000;    // of the table
};

// Appends the sections "Graph" and "Instructions". Errors are PollWork's, and memory's.
absl::Status WriteGraphs(const Module& module, const InstructionMarks& marks, const GraphLimits& limits,
                         PageText& page);

}  // namespace assay

#endif  // ASSAY_CHECK_REPORT_GRAPH_SECTION_H_
