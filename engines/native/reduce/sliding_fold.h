// Folds of all windows of a line in a number of steps that does not depend on the window's length.
//
// The line is cut into blocks as long as the window (van Herk, Gil and Werman), so that a window is the end
// of one block and the beginning of the next: every window is one Combine of a suffix and a prefix. Nothing
// is ever subtracted, so each result depends on the window's own elements alone.
#ifndef ASSAY_ENGINES_NATIVE_REDUCE_SLIDING_FOLD_H_
#define ASSAY_ENGINES_NATIVE_REDUCE_SLIDING_FOLD_H_

#include <algorithm>
#include <cstdint>
#include <vector>

namespace assay::native {

// Window o covers elements [o * stride - padding, … + size) of [0, elements), cut at both ends.
struct WindowLine {
  int64_t elements = 0, size = 1, stride = 1, padding = 0, outputs = 0;

  int64_t begin(int64_t o) const { return std::clamp<int64_t>(o * stride - padding, 0, elements); }
  int64_t end(int64_t o) const { return std::clamp<int64_t>(o * stride - padding + size, 0, elements); }
  // Every window begins with the first element.
  bool IsCumulative() const { return (outputs - 1) * stride <= padding; }
  // How many outputs from o on, which is at least 0, add exactly one element to the one
  // before (a cumulative line).
  int64_t SinglesFrom(int64_t o) const {
    const int64_t before = o * stride - padding + size;  // the end of window o, not cut
    if (stride != 1 || before < 1 || (o == 0 && before > 1)) return 0;
    return std::max<int64_t>(elements + 1 - before, 0);
  }
  // The line from its last element to the first.
  WindowLine Mirrored() const {
    return {elements, size, stride, (outputs - 1) * stride + size - padding - elements, outputs};
  }
  // Steps of SlidingFold, padding included.
  int64_t steps() const { return (outputs - 1) * stride + 2 * size; }
};

// Fold: Value, Identity(), Element(i), Combine(a, b). emit(o, value) for every output in order.
template <class Fold, class Emit>
void SlidingFold(const WindowLine& line, const Fold& fold, const Emit& emit) {
  using Value = typename Fold::Value;
  std::vector<Value> suffix;
  // The block of the prefix starts at `block`, a multiple of the size, and the prefix ends at `end`.
  int64_t first = -line.padding;
  int64_t block =
      first >= 0 ? first / line.size * line.size : -((-first + line.size - 1) / line.size) * line.size;
  int64_t end = block;
  bool has_suffix = false;
  Value prefix = fold.Identity();
  for (int64_t o = 0; o < line.outputs; ++o) {
    const int64_t low = o * line.stride - line.padding, high = low + line.size;
    while (end < high) {
      if (end == block + line.size) {
        // The finished block's suffixes, of the elements that there are.
        const int64_t from = std::clamp<int64_t>(block, 0, line.elements);
        const int64_t to = std::clamp<int64_t>(end, 0, line.elements);
        has_suffix = from < to;
        if (has_suffix) {
          suffix.resize(line.size);
          Value value = fold.Identity();
          std::fill(suffix.begin() + (to - block), suffix.end(), value);
          for (int64_t i = to; i-- > from;) suffix[i - block] = value = fold.Combine(fold.Element(i), value);
          std::fill(suffix.begin(), suffix.begin() + (from - block), value);
        }
        block = end;
        prefix = fold.Identity();
      }
      const int64_t stop = std::min(high, block + line.size);
      for (int64_t i = std::max<int64_t>(end, 0); i < std::min(stop, line.elements); ++i)
        prefix = fold.Combine(prefix, fold.Element(i));
      end = stop;
    }
    emit(o, low < block && has_suffix ? fold.Combine(suffix[low - (block - line.size)], prefix) : prefix);
  }
}

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_REDUCE_SLIDING_FOLD_H_
