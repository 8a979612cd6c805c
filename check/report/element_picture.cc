#include "check/report/element_picture.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "fmt/format.h"

namespace assay {
namespace {

constexpr std::string_view kShareBinNames[ElementPicture::kShareBins] = {
    "equal",       "up to 1 %", "1 to 10 %", "10 to 25 %", "25 to 50 %", "50 to 75 %",
    "75 to 100 %", "outside",   "undecided", "plausible",  "implausible"};
constexpr double kShareLimits[] = {0, 0.01, 0.1, 0.25, 0.5, 0.75, 1};

}  // namespace

Severity SeverityOf(const JudgedElement& element) {
  switch (element.verdict) {
    case ElementVerdict::kInside:
      break;
    case ElementVerdict::kOutside:
      return Severity::kOutside;
    case ElementVerdict::kPlausible:
      return Severity::kPlausible;
    case ElementVerdict::kImplausible:
      return Severity::kImplausible;
    case ElementVerdict::kUndecided:
      return Severity::kUndecided;
  }
  if (element.share == 0) return Severity::kEqual;
  if (element.share <= 0.1) return Severity::kTenth;
  return element.share <= 0.5 ? Severity::kHalf : Severity::kWithin;
}

std::string_view NameOf(Severity severity) {
  constexpr std::string_view kNames[kNumSeverities] = {"equal",
                                                       "inside, up to 10 % of the bound",
                                                       "inside, up to 50 %",
                                                       "inside, up to 100 %",
                                                       "plausible",
                                                       "undecided",
                                                       "implausible",
                                                       "outside"};
  return kNames[static_cast<size_t>(severity)];
}

HeatMap::HeatMap(std::span<const int64_t> sizes, int64_t most_cells) {
  int64_t elements = 1;
  for (const int64_t size : sizes) elements *= size;
  if (elements == 0) return;
  line_length_ = sizes.empty() ? 1 : sizes.back();
  if (sizes.size() == 1 && line_length_ > most_cells) {
    const auto root = static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(line_length_))));
    line_length_ = std::min(elements, std::max(most_cells, root));
  }
  lines_ = (elements + line_length_ - 1) / line_length_;
  rows_ = std::min(lines_, most_cells);
  columns_ = std::min(line_length_, most_cells);
  cells_.assign(static_cast<size_t>(rows_ * columns_), Severity::kEqual);
}

void HeatMap::Add(int64_t position, Severity severity) {
  const int64_t row = position / line_length_ * rows_ / lines_;
  const int64_t column = position % line_length_ * columns_ / line_length_;
  Severity& cell = cells_[static_cast<size_t>(row * columns_ + column)];
  cell = std::max(cell, severity);
}

std::string_view ElementPicture::ShareBin(int bin) { return kShareBinNames[bin]; }

std::string ElementPicture::UlpBin(int bin) {
  if (bin == 0) return "0";
  if (bin == 1) return "1";
  if (bin == kUlpBins - 1) return fmt::format("over {}", int64_t{1} << (bin - 2));
  const int64_t low = (int64_t{1} << (bin - 2)) + 1, high = int64_t{1} << (bin - 1);
  return low == high ? fmt::format("{}", low) : fmt::format("{} to {}", low, high);
}

void ElementPicture::Add(const JudgedElement& element) {
  const Severity severity = SeverityOf(element);
  int share = 0;
  if (severity == Severity::kImplausible) {
    share = kShareBins - 1;
  } else if (severity == Severity::kPlausible) {
    share = kShareBins - 2;
  } else if (severity == Severity::kUndecided) {
    share = kShareBins - 3;
  } else if (severity == Severity::kOutside) {
    share = kShareBins - 4;
  } else {
    while (element.share > kShareLimits[share]) ++share;
  }
  ++shares[static_cast<size_t>(share)];
  // 0; 1; 2; 3 and 4; 5 to 8; …
  const auto distance = static_cast<uint64_t>(element.ulps);
  const int ulp =
      distance == 0 ? 0 : std::min(kUlpBins - 1, 1 + static_cast<int>(std::bit_width(distance - 1)));
  ++ulps[static_cast<size_t>(ulp)];
  map.Add(element.position, severity);
  blocks.Add(element.position, severity);
}

}  // namespace assay
