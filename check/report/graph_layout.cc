#include "check/report/graph_layout.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/run_guard.h"

namespace assay {
namespace {

constexpr int kOrderSweeps = 6;
constexpr int kPlaceSweeps = 8;
// A lane pulls its neighbours of the same line stronger than boxes pull each other,
// so that long lines become straight.
constexpr double kLaneWeight = 4;

// What stands in a row: a box, or the lane of the lines that one box sends further down.
struct Item {
  int32_t node = 0;  // the box, or whose lines these are
  bool is_lane = false;
  int32_t row = 0;
  std::vector<int32_t> above, below;  // items of the neighbouring rows that lines join it with
  double x = 0;                       // the middle
};

class Layouter {
 public:
  Layouter(int32_t nodes, std::span<const GraphEdge> edges, const LayoutSizes& sizes)
      : nodes_(nodes), sizes_(sizes), users_(static_cast<size_t>(nodes)), operands_(users_.size()) {
    for (const GraphEdge& edge : edges) {
      ASSAY_CHECK(0 <= edge.from && edge.from < edge.to && edge.to < nodes);
      users_[static_cast<size_t>(edge.from)].push_back(edge.to);
    }
    for (size_t k = 0; k < users_.size(); ++k) {
      std::vector<int32_t>& users = users_[k];
      std::sort(users.begin(), users.end());
      users.erase(std::unique(users.begin(), users.end()), users.end());
      for (const int32_t user : users)
        operands_[static_cast<size_t>(user)].push_back(static_cast<int32_t>(k));
    }
  }

  absl::StatusOr<GraphLayout> Run() {
    FindLayers();
    FindRows();
    MakeItems();
    ASSAY_RETURN_IF_ERROR(Order());
    ASSAY_RETURN_IF_ERROR(Place());
    return Drawn();
  }

 private:
  // Longest paths from the top; then what has no more operands than users goes down to just above its first
  // user, constants and parameters above all.
  void FindLayers() {
    layer_.assign(users_.size(), 0);
    for (size_t k = 0; k < users_.size(); ++k) {
      for (const int32_t operand : operands_[k])
        layer_[k] = std::max(layer_[k], layer_[static_cast<size_t>(operand)] + 1);
    }
    for (size_t k = users_.size(); k-- > 0;) {
      if (users_[k].empty() || operands_[k].size() > users_[k].size()) continue;
      int32_t first = layer_[static_cast<size_t>(users_[k][0])];
      for (const int32_t user : users_[k]) first = std::min(first, layer_[static_cast<size_t>(user)]);
      layer_[k] = first - 1;
    }
  }

  // Cuts layers of many boxes into rows, by their order in the program.
  void FindRows() {
    const int32_t layers = layer_.empty() ? 0 : *std::max_element(layer_.begin(), layer_.end()) + 1;
    std::vector<std::vector<int32_t>> members(static_cast<size_t>(layers));
    for (size_t k = 0; k < layer_.size(); ++k)
      members[static_cast<size_t>(layer_[k])].push_back(static_cast<int32_t>(k));
    row_.assign(layer_.size(), 0);
    for (const std::vector<int32_t>& layer : members) {
      const int64_t size = static_cast<int64_t>(layer.size());
      const int64_t rows = (size + sizes_.most_in_row - 1) / sizes_.most_in_row;
      for (int64_t k = 0; k < size; ++k)
        row_[static_cast<size_t>(layer[static_cast<size_t>(k)])] =
            num_rows_ + static_cast<int32_t>(k * rows / size);
      num_rows_ += static_cast<int32_t>(rows);
    }
  }

  // The longest stretch of rows that lines may pass in lanes, so that there are not too many of these.
  int32_t LongestInLanes() const {
    for (int32_t longest = num_rows_; longest > 1; longest /= 2) {
      int64_t lanes = 0;
      for (size_t k = 0; k < users_.size(); ++k) lanes += LastInLanes(k, longest) - row_[k];
      if (lanes <= sizes_.most_lanes) return longest;
    }
    return 1;
  }
  // The row of the furthest user that is no further than that.
  int32_t LastInLanes(size_t k, int32_t longest) const {
    int32_t last = row_[k];
    for (const int32_t user : users_[k]) {
      const int32_t row = row_[static_cast<size_t>(user)];
      if (row - row_[k] <= longest) last = std::max(last, row);
    }
    return last;
  }

  void MakeItems() {
    rows_.resize(static_cast<size_t>(num_rows_));
    for (size_t k = 0; k < users_.size(); ++k) {
      Item box;
      box.node = static_cast<int32_t>(k);
      box.row = row_[k];
      items_.push_back(std::move(box));
    }
    longest_ = LongestInLanes();
    lanes_.resize(users_.size());
    for (size_t k = 0; k < users_.size(); ++k) {
      const int32_t last = LastInLanes(k, longest_);
      int32_t before = static_cast<int32_t>(k);
      for (int32_t row = row_[k] + 1; row < last; ++row) {
        const int32_t lane = static_cast<int32_t>(items_.size());
        Item item;
        item.node = static_cast<int32_t>(k);
        item.is_lane = true;
        item.row = row;
        items_.push_back(std::move(item));
        Join(before, lane);
        lanes_[k].push_back(lane);
        before = lane;
      }
      for (const int32_t user : users_[k]) {
        if (const int32_t above = AboveOf(k, user); above >= 0) Join(above, user);
      }
    }
    for (size_t k = 0; k < items_.size(); ++k)
      rows_[static_cast<size_t>(items_[k].row)].push_back(static_cast<int32_t>(k));
    for (std::vector<int32_t>& row : rows_) {
      std::stable_sort(row.begin(), row.end(), [&](int32_t a, int32_t b) { return At(a).node < At(b).node; });
    }
  }

  // The item from which the line from k to its user comes to it; -1 where the line goes straight.
  int32_t AboveOf(size_t k, int32_t user) const {
    const int32_t distance = row_[static_cast<size_t>(user)] - row_[k];
    if (distance > longest_) return -1;
    return distance == 1 ? static_cast<int32_t>(k) : lanes_[k][static_cast<size_t>(distance - 2)];
  }

  void Join(int32_t above, int32_t below) {
    At(above).below.push_back(below);
    At(below).above.push_back(above);
  }
  Item& At(int32_t item) { return items_[static_cast<size_t>(item)]; }
  const Item& At(int32_t item) const { return items_[static_cast<size_t>(item)]; }

  // Rows in turn, downward and upward: sorted by the mean place of what they are joined with.
  absl::Status Order() {
    for (std::vector<int32_t>& row : rows_) {
      Number(row);
    }
    for (int sweep = 0; sweep < kOrderSweeps; ++sweep) {
      const bool down = sweep % 2 == 0;
      for (size_t r = 0; r < rows_.size(); ++r) {
        std::vector<int32_t>& row = rows_[down ? r : rows_.size() - 1 - r];
        std::vector<std::pair<double, int32_t>> keys;
        keys.reserve(row.size());
        for (const int32_t item : row) keys.emplace_back(MeanOf(item, down).first, item);
        std::stable_sort(keys.begin(), keys.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        for (size_t k = 0; k < row.size(); ++k) row[k] = keys[k].second;
        Number(row);
        ASSAY_RETURN_IF_ERROR(PollWork());
      }
    }
    return absl::OkStatus();
  }

  // Places them one beside the other, around 0.
  void Number(const std::vector<int32_t>& row) {
    int64_t x = 0;
    for (size_t k = 0; k < row.size(); ++k) {
      if (k > 0) x += Apart(row[k - 1], row[k]);
      At(row[k]).x = static_cast<double>(x);
    }
    for (const int32_t item : row) At(item).x -= static_cast<double>(x) / 2;
  }

  // The mean place of the neighbours above (or below), or its own where there are none,
  // and how strongly they pull.
  std::pair<double, double> MeanOf(int32_t item, bool above) const {
    const Item& of = At(item);
    double sum = 0, weight = 0;
    for (const int32_t other : above ? of.above : of.below) {
      const double pull = of.is_lane || At(other).is_lane ? kLaneWeight : 1;
      sum += pull * At(other).x;
      weight += pull;
    }
    return weight > 0 ? std::pair(sum / weight, weight) : std::pair(of.x, 0.1);
  }

  int64_t WidthOf(int32_t item) const { return At(item).is_lane ? sizes_.line_width : sizes_.box_width; }
  // Between the middles of neighbours.
  int64_t Apart(int32_t left, int32_t right) const {
    return (WidthOf(left) + WidthOf(right)) / 2 + sizes_.gap;
  }

  // In their order, as near to the means as there is room: least squares,
  // by pooling neighbours that would overlap.
  absl::Status Place() {
    for (int sweep = 0; sweep < kPlaceSweeps; ++sweep) {
      const bool down = sweep % 2 == 0;
      for (size_t r = 0; r < rows_.size(); ++r) {
        PlaceRow(rows_[down ? r : rows_.size() - 1 - r], down);
        ASSAY_RETURN_IF_ERROR(PollWork());
      }
    }
    return absl::OkStatus();
  }

  void PlaceRow(const std::vector<int32_t>& row, bool down) {
    struct Pool {
      double sum, weight;
      size_t size;
      double mean() const { return sum / weight; }
    };
    std::vector<Pool> pools;
    std::vector<int64_t> offsets;
    for (size_t k = 0; k < row.size(); ++k) {
      offsets.push_back(k == 0 ? 0 : offsets.back() + Apart(row[k - 1], row[k]));
      const auto [mean, weight] = MeanOf(row[k], down);
      pools.push_back({weight * (mean - static_cast<double>(offsets.back())), weight, 1});
      while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
        const Pool last = pools.back();
        pools.pop_back();
        pools.back().sum += last.sum;
        pools.back().weight += last.weight;
        pools.back().size += last.size;
      }
    }
    size_t k = 0;
    for (const Pool& pool : pools) {
      // Whole numbers: rounding keeps their order, and offsets are whole.
      for (const size_t end = k + pool.size; k < end; ++k)
        At(row[k]).x = std::round(pool.mean()) + static_cast<double>(offsets[k]);
    }
  }

  GraphLayout Drawn() const {
    GraphLayout layout;
    double left = 0, right = 0;
    for (size_t k = 0; k < items_.size(); ++k) {
      const double half = static_cast<double>(WidthOf(static_cast<int32_t>(k))) / 2;
      left = std::min(left, items_[k].x - half);
      right = std::max(right, items_[k].x + half);
    }
    const int64_t margin = sizes_.gap;
    const int64_t shift = margin - static_cast<int64_t>(std::floor(left));
    const int64_t pitch = sizes_.box_height + sizes_.row_gap;
    layout.width = static_cast<int64_t>(std::ceil(right)) + shift + margin;
    layout.height = num_rows_ == 0 ? 0 : num_rows_ * pitch - sizes_.row_gap + 2 * margin;
    const auto middle = [&](int32_t item) { return static_cast<int64_t>(At(item).x) + shift; };
    const auto top = [&](int32_t item) { return margin + At(item).row * pitch; };
    for (int32_t k = 0; k < nodes_; ++k)
      layout.boxes.push_back({middle(k) - sizes_.box_width / 2, top(k), At(k).row});
    for (int32_t k = 0; k < nodes_; ++k) {
      const GraphLayout::Point start = {middle(k), top(k) + sizes_.box_height};
      const std::vector<int32_t>& lanes = lanes_[static_cast<size_t>(k)];
      if (!lanes.empty()) {
        GraphLayout::Line shared{k, -1, false, {start}};
        for (const int32_t lane : lanes) {
          shared.points.push_back({middle(lane), top(lane)});
          shared.points.push_back({middle(lane), top(lane) + sizes_.box_height});
        }
        layout.lines.push_back(std::move(shared));
      }
      for (const int32_t user : users_[static_cast<size_t>(k)]) {
        const int32_t above = AboveOf(static_cast<size_t>(k), user);
        const GraphLayout::Point from =
            above < 0 ? start : GraphLayout::Point{middle(above), top(above) + sizes_.box_height};
        layout.lines.push_back({k, user, above < 0, {from, {middle(user), top(user)}}});
      }
    }
    return layout;
  }

  const int32_t nodes_;
  const LayoutSizes sizes_;
  std::vector<std::vector<int32_t>> users_, operands_;  // by box
  std::vector<int32_t> layer_, row_;                    // by box
  int32_t num_rows_ = 0, longest_ = 0;
  std::vector<Item> items_;                  // boxes first
  std::vector<std::vector<int32_t>> lanes_;  // by box, downward
  std::vector<std::vector<int32_t>> rows_;
};

}  // namespace

absl::StatusOr<GraphLayout> LayOutGraph(int32_t nodes, std::span<const GraphEdge> edges,
                                        const LayoutSizes& sizes) {
  return Layouter(nodes, edges, sizes).Run();
}

}  // namespace assay
