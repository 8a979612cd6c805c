// How the elements of one output lie in their bounds: counts by share and by ulps, and a map of the array.
#ifndef ASSAY_CHECK_REPORT_ELEMENT_PICTURE_H_
#define ASSAY_CHECK_REPORT_ELEMENT_PICTURE_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "check/conformance.h"

namespace assay {

// What is known of an element, or of the worst of several.
enum class Severity : uint8_t {
  kEqual,
  kTenth,
  kHalf,
  kWithin,
  kPlausible,
  kUndecided,
  kImplausible,
  kOutside
};
inline constexpr int kNumSeverities = 8;
Severity SeverityOf(const JudgedElement& element);
std::string_view NameOf(Severity severity);

// A two-dimensional view: the last dimension to the right, all others one below the other; arrays of one
// dimension are cut into lines of about the same number. A cell stands for several elements,
// the worst of which it shows.
class HeatMap {
 public:
  static constexpr int64_t kMaxCells = 48;  // a side

  HeatMap(std::span<const int64_t> sizes, int64_t most_cells);
  void Add(int64_t position, Severity severity);

  int64_t rows() const { return rows_; }        // of cells
  int64_t columns() const { return columns_; }  // of cells
  int64_t lines() const { return lines_; }      // of elements
  int64_t line_length() const { return line_length_; }
  Severity At(int64_t row, int64_t column) const {
    return cells_[static_cast<size_t>(row * columns_ + column)];
  }
  // Lines [first, second) of a row of cells, and elements of a line of a column of cells.
  std::pair<int64_t, int64_t> LinesOf(int64_t row) const { return Part(row, rows_, lines_); }
  std::pair<int64_t, int64_t> ElementsOf(int64_t column) const {
    return Part(column, columns_, line_length_);
  }

 private:
  // Elements [first, second) of cell k: those whose position * cells / elements is k.
  static std::pair<int64_t, int64_t> Part(int64_t k, int64_t cells, int64_t elements) {
    return {(k * elements + cells - 1) / cells, ((k + 1) * elements + cells - 1) / cells};
  }

  int64_t lines_ = 0, line_length_ = 0, rows_ = 0, columns_ = 0;
  std::vector<Severity> cells_;
};

struct ElementPicture {
  static constexpr int kShareBins = 11;
  static constexpr int kUlpBins = 14;
  // What each bin holds, in words.
  static std::string_view ShareBin(int bin);
  static std::string UlpBin(int bin);

  explicit ElementPicture(std::span<const int64_t> sizes)
      : map(sizes, HeatMap::kMaxCells), blocks(sizes, 8) {}
  void Add(const JudgedElement& element);

  std::array<int64_t, kShareBins> shares = {};
  std::array<int64_t, kUlpBins> ulps = {};
  HeatMap map, blocks;  // fine, and coarse: what is told in words
};

}  // namespace assay

#endif  // ASSAY_CHECK_REPORT_ELEMENT_PICTURE_H_
