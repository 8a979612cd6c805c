// Drawings of graphs: no two boxes overlap, and every line goes down.
#include "check/report/graph_layout.h"

#include <algorithm>
#include <set>

#include "base/run_guard.h"
#include "catch2/catch.hpp"

namespace assay::testing {
namespace {

GraphLayout LaidOut(int32_t nodes, const std::vector<GraphEdge>& edges, const LayoutSizes& sizes = {}) {
  const absl::StatusOr<GraphLayout> layout = LayOutGraph(nodes, edges, sizes);
  REQUIRE(layout.ok());
  return *layout;
}

void CheckDrawing(int32_t nodes, const std::vector<GraphEdge>& edges, const LayoutSizes& sizes = {}) {
  const GraphLayout layout = LaidOut(nodes, edges, sizes);
  REQUIRE(layout.boxes.size() == static_cast<size_t>(nodes));
  std::vector<GraphLayout::Box> boxes = layout.boxes;
  for (const GraphLayout::Box& box : boxes) {
    CHECK(box.x >= 0);
    CHECK(box.y >= 0);
    CHECK(box.x + sizes.box_width <= layout.width);
    CHECK(box.y + sizes.box_height <= layout.height);
  }
  // Boxes of a row side by side, and rows below each other.
  std::sort(boxes.begin(), boxes.end(),
            [](const auto& a, const auto& b) { return std::pair(a.y, a.x) < std::pair(b.y, b.x); });
  for (size_t k = 1; k < boxes.size(); ++k) {
    const bool same_row = boxes[k].y == boxes[k - 1].y;
    if (same_row) {
      CHECK(boxes[k].x >= boxes[k - 1].x + sizes.box_width);
    } else {
      CHECK(boxes[k].y >= boxes[k - 1].y + sizes.box_height);
    }
  }
  std::set<std::pair<int32_t, int32_t>> wanted, drawn;
  for (const GraphEdge& edge : edges) {
    wanted.emplace(edge.from, edge.to);
    CHECK(layout.boxes[static_cast<size_t>(edge.to)].y >=
          layout.boxes[static_cast<size_t>(edge.from)].y + sizes.box_height);
  }
  for (const GraphLayout::Line& line : layout.lines) {
    for (size_t k = 1; k < line.points.size(); ++k) CHECK(line.points[k].y > line.points[k - 1].y);
    if (line.to < 0) continue;
    CHECK(drawn.emplace(line.from, line.to).second);
    const GraphLayout::Box& to = layout.boxes[static_cast<size_t>(line.to)];
    CHECK(line.points.back().x == to.x + sizes.box_width / 2);
    CHECK(line.points.back().y == to.y);
  }
  CHECK(drawn == wanted);
}

// A number that depends on the one before.
uint32_t Next(uint32_t& state) { return state = state * 1664525 + 1013904223; }

}  // namespace

TEST_CASE("report: graphs of all kinds are drawn without overlaps, downward", "[check][report]") {
  CheckDrawing(0, {});
  CheckDrawing(1, {});
  CheckDrawing(3, {{0, 1}, {0, 1}, {1, 2}, {0, 2}});
  // Many users of one, and one user of many.
  std::vector<GraphEdge> star, funnel;
  for (int32_t k = 1; k < 100; ++k) {
    star.push_back({0, k});
    funnel.push_back({k - 1, 99});
  }
  CheckDrawing(100, star);
  CheckDrawing(100, funnel);
  uint32_t state = 7;
  for (const int32_t nodes : {5, 40, 300}) {
    for (const uint32_t reach : {3u, 20u, 1000u}) {
      std::vector<GraphEdge> edges;
      for (int32_t k = 1; k < nodes; ++k) {
        const uint32_t most = std::min(static_cast<uint32_t>(k), reach);
        for (uint32_t operands = (Next(state) >> 16) % 4; operands > 0; --operands)
          edges.push_back({k - 1 - static_cast<int32_t>((Next(state) >> 8) % most), k});
      }
      CheckDrawing(nodes, edges);
    }
  }
}

TEST_CASE("report: where lines would take too many lanes the longest go straight", "[check][report]") {
  std::vector<GraphEdge> edges;
  for (int32_t k = 1; k < 200; ++k) {
    edges.push_back({k - 1, k});
    if (k < 199) edges.push_back({k - 1, 199});
  }
  LayoutSizes sizes;
  CheckDrawing(200, edges, sizes);
  sizes.most_lanes = 300;
  CheckDrawing(200, edges, sizes);
  const GraphLayout layout = LaidOut(200, edges, sizes);
  CHECK(
      std::any_of(layout.lines.begin(), layout.lines.end(), [](const auto& line) { return line.straight; }));
}

TEST_CASE("report: a chain stands in one column, and constants above their users", "[check][report]") {
  // 0 -> 1 -> 2 -> 4, and 3 -> 4.
  const GraphLayout layout = LaidOut(5, {{0, 1}, {1, 2}, {2, 4}, {3, 4}});
  CHECK(layout.boxes[0].x == layout.boxes[1].x);
  CHECK(layout.boxes[1].x == layout.boxes[2].x);
  CHECK(layout.boxes[3].row == layout.boxes[4].row - 1);
}

TEST_CASE("report: drawing ends when the command's time does", "[check][report]") {
  const WorkScope work(std::make_shared<RunGuard>(RunLimits{.timeout_seconds = 1e-9}));
  std::vector<GraphEdge> edges;
  for (int32_t k = 1; k < 3000; ++k) edges.push_back({k - 1, k});
  CHECK(LayOutGraph(3000, edges).status().code() == absl::StatusCode::kResourceExhausted);
}

}  // namespace assay::testing
