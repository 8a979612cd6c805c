// Values for people: LiteralToDisplay of literal_text.h. Arrays look as NumPy prints them: brackets, aligned
// columns, and long arrays summarised by their edges.
#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include "base/limits.h"
#include "fmt/format.h"
#include "literal/element_io.h"
#include "literal/literal_text.h"
#include "shape/index.h"

namespace assay {
namespace {

constexpr int64_t kSummariseAbove = 1000;  // elements
constexpr int64_t kEdgeItems = 3;
constexpr size_t kLineWidth = 75;
constexpr int64_t kMaxShown = 100000;  // elements, summarised or not: many short dimensions

// A real number in the fewest digits that mean it among numbers of its type.
std::string RealText(ElementType type, const std::byte* element) {
  const std::string text = ElementToText(type, element);
  const bool plain = text.find_first_not_of("-0123456789") == std::string::npos;
  if (text == "-0.0") return "-0.";
  return plain ? text + "." : text;
}

std::string DisplayElement(ElementType type, const std::byte* element) {
  if (IsFloat(type)) return RealText(type, element);
  if (!IsComplex(type)) return ElementToText(type, element);
  const ElementType component = ComponentType(type);
  const std::string imaginary = RealText(component, element + Bytes(component));
  return RealText(component, element) + (imaginary.starts_with('-') ? "" : "+") + imaginary + "j";
}

class ArrayDisplay {
 public:
  explicit ArrayDisplay(const Literal& array)
      : type_(array.shape().element_type()),
        sizes_(array.runtime_sizes()),
        strides_(RowMajorStrides(array.shape().sizes())),
        data_(array.data()) {
    int64_t elements = 1;
    for (int64_t size : sizes_) {
      if (__builtin_mul_overflow(elements, size, &elements)) elements = kSummariseAbove + 1;
    }
    empty_ = std::find(sizes_.begin(), sizes_.end(), 0) != sizes_.end();
    summarised_ = !empty_ && elements > kSummariseAbove;
  }

  std::string Print() {
    if (sizes_.empty()) return DisplayElement(type_, data_);
    if (empty_) return "[]";
    Measure(0, 0);
    visited_ = 0;
    Append(0, 0);
    return std::move(out_);
  }

 private:
  int64_t rank() const { return static_cast<int64_t>(sizes_.size()); }
  bool Skips(int64_t d) const { return summarised_ && sizes_[d] > 2 * kEdgeItems; }
  // The index shown after i, jumping over the middle of a long dimension.
  int64_t Next(int64_t d, int64_t i) const {
    return Skips(d) && i + 1 == kEdgeItems ? sizes_[d] - kEdgeItems : i + 1;
  }

  // The width of the widest element shown.
  void Measure(int64_t d, int64_t offset) {
    if (++visited_ > kMaxShown) return;
    if (d == rank()) {
      width_ = std::max(width_, DisplayElement(type_, data_ + offset * Bytes(type_)).size());
      return;
    }
    for (int64_t i = 0; i < sizes_[d]; i = Next(d, i)) Measure(d + 1, offset + i * strides_[d]);
  }

  void Append(int64_t d, int64_t offset) {
    if (visited_ > kMaxShown) return;
    out_ += '[';
    if (d + 1 == rank()) {
      AppendRow(offset);
    } else {
      const std::string separator = std::string(rank() - d - 1, '\n') + std::string(d + 1, ' ');
      for (int64_t i = 0; i < sizes_[d]; i = Next(d, i)) {
        if (i > 0) out_ += separator;
        if (i > 0 && Skips(d) && i == sizes_[d] - kEdgeItems) out_ += "..." + separator;
        Append(d + 1, offset + i * strides_[d]);
      }
    }
    out_ += ']';
  }

  void AppendRow(int64_t offset) {
    const int64_t d = rank() - 1;
    size_t column = rank();
    for (int64_t i = 0; i < sizes_[d]; i = Next(d, i)) {
      if (Skips(d) && i == sizes_[d] - kEdgeItems) AppendWord("...", &column);
      if (++visited_ > kMaxShown) return AppendWord("...", &column);
      const std::string text = DisplayElement(type_, data_ + (offset + i * strides_[d]) * Bytes(type_));
      AppendWord(fmt::format("{:>{}}", text, width_), &column);
    }
  }

  void AppendWord(std::string_view word, size_t* column) {
    const auto indent = static_cast<size_t>(rank());
    if (*column > indent && *column + 1 + word.size() > kLineWidth) {
      out_ += '\n' + std::string(indent, ' ');
      *column = indent;
    }
    if (*column > indent) {
      out_ += ' ';
      ++*column;
    }
    out_ += word;
    *column += word.size();
  }

  ElementType type_;
  DimVector sizes_;
  DimVector strides_;
  const std::byte* data_;
  bool empty_ = false;
  bool summarised_ = false;
  int64_t visited_ = 0;
  size_t width_ = 0;
  std::string out_;
};

// Each leaf of a tuple is a block: its path and shape, then its value.
void AppendLeaves(const Literal& literal, const std::string& path, int depth, std::string* out) {
  const Shape& shape = literal.shape();
  if (shape.IsTuple() && depth <= kMaxNesting) {
    if (literal.tuple_size() == 0) *out += path.empty() ? "()\n" : fmt::format("{}: ()\n", path);
    for (int64_t i = 0; i < literal.tuple_size(); ++i) {
      AppendLeaves(literal.element(i), path.empty() ? fmt::format("{}", i) : fmt::format("{}.{}", path, i),
                   depth + 1, out);
    }
    return;
  }
  if (!path.empty()) fmt::format_to(std::back_inserter(*out), "{}: {}\n", path, shape.ToString());
  if (shape.IsArray()) *out += ArrayDisplay(literal).Print() + "\n";
  if (path.empty() && !shape.IsArray()) *out += shape.ToString() + "\n";
}

}  // namespace

std::string LiteralToDisplay(const Literal& literal) {
  std::string out;
  AppendLeaves(literal, "", 0, &out);
  if (!out.empty()) out.pop_back();
  return out;
}

}  // namespace assay
