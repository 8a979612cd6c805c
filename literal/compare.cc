// Comparing values leaf by leaf: see compare.h for what passes and what is counted.
#include "literal/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/counted.h"
#include "base/limits.h"
#include "fmt/format.h"
#include "literal/element_io.h"
#include "literal/float_format.h"
#include "literal/literal_text.h"
#include "shape/index.h"

namespace assay {
namespace {

constexpr int64_t kMaxUlps = std::numeric_limits<int64_t>::max();

// |a - b| as a number of ulps, saturated.
int64_t Distance(uint64_t a, uint64_t b) {
  const uint64_t distance = a > b ? a - b : b - a;
  return static_cast<int64_t>(std::min<uint64_t>(distance, kMaxUlps));
}

// Where a value stands among all values of the format in order; both zeros stand in one place.
uint64_t Rank(double value, const FloatFormat& format) {
  constexpr uint64_t kZero = uint64_t{1} << 63;
  const uint64_t magnitude = EncodeFloat(std::fabs(value), format);
  return value < 0 ? kZero - magnitude : kZero + magnitude;
}

// How far one element is from what was expected.
struct Difference {
  bool bits = false;  // as LeafComparison::different counts
  bool outside = false;
  int64_t ulps = 0;
  double absolute = 0;
  bool nan = false;  // on one side at least
};

Difference WorseOf(const Difference& a, const Difference& b) {
  return {a.bits || b.bits, a.outside || b.outside, std::max(a.ulps, b.ulps),
          std::max(a.absolute, b.absolute), a.nan || b.nan};
}

// Greater difference first: beyond the tolerance, then by ulps, then by value.
bool Worse(const Difference& a, const Difference& b) {
  if (a.outside != b.outside) return a.outside;
  if (a.ulps != b.ulps) return a.ulps > b.ulps;
  return a.absolute > b.absolute;
}

class LeafComparer {
 public:
  LeafComparer(const Literal& expected, const Literal& actual, const Tolerance& tolerance)
      : expected_(expected),
        actual_(actual),
        tolerance_(tolerance),
        type_(expected.shape().element_type()),
        component_(ComponentType(type_)),
        format_(Info(type_).format) {}

  void Run(LeafComparison* leaf) {
    const DimVector sizes = expected_.runtime_sizes();
    leaf->elements = 1;
    for (int64_t size : sizes) leaf->elements *= size;
    if (leaf->elements == 0 || Literal::BitwiseEqual(expected_, actual_)) return;
    if (format_ != nullptr) scale_ = tolerance_.scale_rtol * LargestExpected();
    DimVector index(sizes.size(), 0);
    const std::span<int64_t> index_span(index.data(), index.size());
    const DimVector strides = RowMajorStrides(expected_.shape().sizes());
    Difference worst;
    DimVector worst_index;
    do {
      const int64_t offset = LinearPosition(index, strides) * Bytes(type_);
      const Difference difference = Compare(expected_.data() + offset, actual_.data() + offset);
      if (!difference.bits) continue;
      ++leaf->different;
      leaf->outside += difference.outside;
      if (!difference.nan) leaf->max_ulps = std::max(leaf->max_ulps, difference.ulps);
      leaf->max_abs = std::max(leaf->max_abs, difference.absolute);
      if (leaf->different == 1 || Worse(difference, worst)) {
        worst = difference;
        worst_index = index;
      }
    } while (NextIndex(sizes, index_span));
    if (leaf->different > 0) leaf->worst = Describe(worst_index, strides, worst);
  }

 private:
  Difference Compare(const std::byte* expected, const std::byte* actual) const {
    if (std::memcmp(expected, actual, Bytes(type_)) == 0) return {};
    if (format_ == nullptr) return CompareExact(expected, actual);
    Difference difference = CompareReal(expected, actual);
    if (IsComplex(type_)) {
      const int bytes = Bytes(component_);
      difference = WorseOf(difference, CompareReal(expected + bytes, actual + bytes));
    }
    return difference;
  }

  // Integers and predicates: an ulp is one.
  Difference CompareExact(const std::byte* expected, const std::byte* actual) const {
    const ScalarValue e = LoadElement(type_, expected);
    const ScalarValue a = LoadElement(type_, actual);
    constexpr uint64_t kZero = uint64_t{1} << 63;
    Difference difference{.bits = true};
    difference.ulps = e.kind == ComputeKind::kInt64
                          ? Distance(kZero + static_cast<uint64_t>(e.i), kZero + static_cast<uint64_t>(a.i))
                          : Distance(e.u + e.b, a.u + a.b);
    difference.absolute = static_cast<double>(difference.ulps);
    const double magnitude =
        e.kind == ComputeKind::kInt64 ? std::fabs(static_cast<double>(e.i)) : static_cast<double>(e.u + e.b);
    difference.outside = !Passes(difference, magnitude);
    return difference;
  }

  Difference CompareReal(const std::byte* expected, const std::byte* actual) const {
    if (std::memcmp(expected, actual, Bytes(component_)) == 0) return {};
    double e = 0, a = 0;
    LoadStrip(component_, expected, 0, 1, &e);
    LoadStrip(component_, actual, 0, 1, &a);
    const bool both_nan = std::isnan(e) && std::isnan(a);
    if (both_nan && !tolerance_.bitwise) return {};
    Difference difference{.bits = true};
    difference.ulps = both_nan ? 0 : UlpDistance(e, a, *format_);
    difference.nan = std::isnan(e) || std::isnan(a);
    difference.absolute = difference.nan ? 0 : std::fabs(a - e);
    const bool comparable = std::isfinite(e) && std::isfinite(a);
    difference.outside = comparable ? !Passes(difference, std::fabs(e))
                                    : tolerance_.bitwise || difference.ulps > tolerance_.ulps;
    return difference;
  }

  bool Passes(const Difference& difference, double expected) const {
    if (tolerance_.bitwise) return false;
    const double bound = std::max({tolerance_.atol, tolerance_.rtol * expected, scale_});
    return difference.absolute <= bound || difference.ulps <= tolerance_.ulps;
  }

  // The largest of the finite components of the live elements (dead ones hold zero).
  double LargestExpected() const {
    double largest = 0;
    alignas(64) double strip[kStrip];
    const int64_t bytes = Bytes(component_);
    const int64_t count = static_cast<int64_t>(expected_.bytes().size()) / bytes;
    for (int64_t i = 0; i < count; i += kStrip) {
      const int64_t n = std::min(kStrip, count - i);
      LoadStrip(component_, expected_.data() + i * bytes, bytes, n, strip);
      for (int64_t j = 0; j < n; ++j) {
        if (std::isfinite(strip[j])) largest = std::max(largest, std::fabs(strip[j]));
      }
    }
    return largest;
  }

  std::string Describe(const DimVector& index, const DimVector& strides, const Difference& difference) const {
    const int64_t offset = LinearPosition(index, strides) * Bytes(type_);
    std::string text = fmt::format("[{}]: expected {}, actual {}", fmt::join(index, ","),
                                   ElementToText(type_, expected_.data() + offset),
                                   ElementToText(type_, actual_.data() + offset));
    if (format_ == nullptr || type_ == ElementType::kPred || difference.ulps == 0) return text;
    return text +
           (difference.ulps == kMaxUlps ? " (not comparable)" : fmt::format(" ({} ulp)", difference.ulps));
  }

  const Literal& expected_;
  const Literal& actual_;
  const Tolerance& tolerance_;
  ElementType type_;
  ElementType component_;
  const FloatFormat* format_;
  double scale_ = 0;
};

std::string ShapeError(const Literal& expected, const Literal& actual) {
  const Shape& e = expected.shape();
  const Shape& a = actual.shape();
  if (e.kind() != a.kind() || (e.IsArray() && !Shape::Compatible(e, a)) ||
      (e.IsTuple() && expected.tuple_size() != actual.tuple_size())) {
    return fmt::format("expected shape {}, actual {}", e.ToString(), a.ToString());
  }
  if (!e.IsArray() || expected.runtime_sizes() == actual.runtime_sizes()) return "";
  return fmt::format("expected run-time sizes [{}], actual [{}]", fmt::join(expected.runtime_sizes(), ","),
                     fmt::join(actual.runtime_sizes(), ","));
}

void CompareInto(const Literal& expected, const Literal& actual, const Tolerance& tolerance,
                 const std::string& path, int depth, Comparison* result) {
  LeafComparison leaf;
  leaf.path = path;
  leaf.error = depth > kMaxNesting ? "tuples nest too deeply" : ShapeError(expected, actual);
  if (leaf.error.empty() && expected.shape().IsTuple()) {
    for (int64_t i = 0; i < expected.tuple_size(); ++i) {
      const std::string below = path.empty() ? fmt::format("{}", i) : fmt::format("{}.{}", path, i);
      CompareInto(expected.element(i), actual.element(i), tolerance, below, depth + 1, result);
    }
    return;
  }
  if (leaf.error.empty() && expected.shape().IsArray()) LeafComparer(expected, actual, tolerance).Run(&leaf);
  result->leaves.push_back(std::move(leaf));
}

}  // namespace

Comparison CompareLiterals(const Literal& expected, const Literal& actual, const Tolerance& tolerance) {
  Comparison result;
  CompareInto(expected, actual, tolerance, "", 0, &result);
  return result;
}

int64_t UlpDistance(double a, double b, const FloatFormat& format) {
  if (std::isnan(a) && std::isnan(b)) return 0;
  if (std::isnan(a) || std::isnan(b)) return kMaxUlps;
  if (std::isinf(a) && std::isinf(b)) return a == b ? 0 : kMaxUlps;
  return Distance(Rank(a, format), Rank(b, format));
}

bool Comparison::ok() const {
  return std::all_of(leaves.begin(), leaves.end(),
                     [](const LeafComparison& leaf) { return leaf.error.empty() && leaf.outside == 0; });
}

std::string Comparison::Report() const {
  std::string report;
  for (const LeafComparison& leaf : leaves) {
    const std::string name = leaf.path.empty() ? "value" : leaf.path;
    if (!leaf.error.empty()) {
      report += fmt::format("{}: {}\n", name, leaf.error);
    } else if (leaf.different == 0) {
      report += fmt::format("{}: {}, all equal\n", name, Counted(leaf.elements, "element"));
    } else {
      const std::string ulps =
          leaf.max_ulps == kMaxUlps ? "not comparable" : fmt::format("at most {} ulp", leaf.max_ulps);
      report += fmt::format(
          "{}: {}, {} different, {} outside the tolerance, {}, |difference| at most {:.6g}; worst "
          "{}\n",
          name, Counted(leaf.elements, "element"), leaf.different, leaf.outside, ulps, leaf.max_abs,
          leaf.worst);
    }
  }
  return report;
}

}  // namespace assay
