// Where the boxes and lines of a program's graph go: rows by longest path, order in a row by barycentres,
// places by least squares. The same graph gives the same drawing everywhere.
#ifndef ASSAY_CHECK_REPORT_GRAPH_LAYOUT_H_
#define ASSAY_CHECK_REPORT_GRAPH_LAYOUT_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"

namespace assay {

struct GraphEdge {
  int32_t from = 0, to = 0;  // from < to: operands stand before their users
};

struct LayoutSizes {
  int64_t box_width = 156, box_height = 54;
  int64_t line_width = 10;   // of the lane that a line has where it passes a row
  int64_t gap = 12;          // between neighbours of a row
  int64_t row_gap = 34;      // between rows
  int64_t most_in_row = 10;  // boxes; more of one layer take several rows
  int64_t most_lanes =
      40000;  // where lines would pass more rows than this in all, the longest ones go straight
};

struct GraphLayout {
  struct Box {
    int64_t x = 0, y = 0;  // the upper left corner
    int32_t row = 0;
  };
  struct Point {
    int64_t x = 0, y = 0;
  };
  // A line from the bottom of one box downward: to the top of another one,
  // or (to < 0) the part that lines to several share.
  struct Line {
    int32_t from = 0, to = -1;
    bool straight = false;  // it passes behind boxes
    std::vector<Point> points;
  };
  std::vector<Box> boxes;
  std::vector<Line> lines;
  int64_t width = 0, height = 0;
};

// Lays out `nodes` boxes. Edges may be given several times. The time is linear in nodes, edges and lanes, but
// for sorting rows. Errors are PollWork's.
absl::StatusOr<GraphLayout> LayOutGraph(int32_t nodes, std::span<const GraphEdge> edges,
                                        const LayoutSizes& sizes = {});

}  // namespace assay

#endif  // ASSAY_CHECK_REPORT_GRAPH_LAYOUT_H_
