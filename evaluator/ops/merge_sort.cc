// Top-down merge sort, splitting at floor(length / 2), run level by level from the leaves: merges of one
// level do not depend on each other, so many of them, of all lines, take a step at a time and one call of the
// comparator decides for all. A step of a merge compares the first `side` elements of both parts at once: the
// comparator is pure, so answers that turn out not to be needed cost only time.
#include "evaluator/ops/merge_sort.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

namespace assay {
namespace {

// Places are relative to the line.
struct Merge {
  int32_t left, left_end, right, right_end;  // what is left to merge; both parts are sorted
  int32_t out;                               // next place in the merged line
  int64_t line;                              // start of the line in `order`
  int64_t element;                           // its first element in the operands
};

struct Range {
  int32_t begin, end;
  int32_t middle() const { return begin + (end - begin) / 2; }
};

// The ranges of two or more elements that the recursion visits, by depth.
std::vector<std::vector<Range>> Levels(int64_t length) {
  std::vector<std::vector<Range>> levels;
  std::vector<Range> next = {{0, static_cast<int32_t>(length)}};
  while (!next.empty()) {
    std::vector<Range> level;
    std::swap(level, next);
    std::erase_if(level, [](const Range& r) { return r.end - r.begin < 2; });
    for (const Range& r : level) {
      next.push_back({r.begin, r.middle()});
      next.push_back({r.middle(), r.end});
    }
    if (!level.empty()) levels.push_back(std::move(level));
  }
  return levels;
}

class Merger {
 public:
  Merger(EvalContext& context, ScalarFunction& comparator, std::span<const Literal> operands, int64_t stride,
         std::span<int32_t> order)
      : context_(context),
        comparator_(comparator),
        operands_(operands),
        stride_(stride),
        order_(order),
        merged_(order.size()),
        arguments_(2 * operands.size()),
        in_(2 * operands.size()) {
    for (const Literal& operand : operands) {
      const int64_t bytes = Bytes(operand.shape().element_type());
      in_strides_.insert(in_strides_.end(), {bytes, bytes});
    }
  }

  // Merges all of `merges` into order_; empties the list.
  absl::Status Run(std::vector<Merge>& merges) {
    const std::vector<Merge> all = merges;
    while (!merges.empty()) {
      // The fewer merges, the further each looks ahead.
      const size_t active = merges.size();
      const int32_t side = active >= 64 ? 1 : active >= 16 ? 2 : active >= 4 ? 4 : 8;
      ASSAY_RETURN_IF_ERROR(Compare(merges, side));
      const uint8_t* answers = answers_.data();
      for (Merge& merge : merges) {
        Advance(merge, side, answers);
        answers += side * side;
      }
      std::erase_if(merges, [](const Merge& m) { return m.left == m.left_end; });
    }
    for (const Merge& m : all) {
      std::copy(merged_.begin() + m.line + m.out, merged_.begin() + m.line + m.right_end,
                order_.begin() + m.line + m.out);
    }
    return absl::OkStatus();
  }

 private:
  // Per merge, answers[r * side + l] = comparator(r-th element of the right part, l-th of the left part);
  // past an end the last element stands in, and its answer is not read.
  absl::Status Compare(const std::vector<Merge>& merges, int32_t side) {
    const int64_t n = static_cast<int64_t>(merges.size()) * side * side;
    answers_.resize(n);
    for (size_t k = 0; k < operands_.size(); ++k) {
      for (size_t i = 2 * k; i < 2 * k + 2; ++i) {
        arguments_[i].resize(n * in_strides_[i]);
        in_[i] = arguments_[i].data();
      }
      Collect(merges, side, k);
    }
    std::byte* const out = reinterpret_cast<std::byte*>(answers_.data());
    const int64_t out_stride = 1;
    ASSAY_RETURN_IF_ERROR(comparator_.Run(n, in_, in_strides_, {&out, 1}, {&out_stride, 1}));
    return context_.Charge(n);
  }

  void Collect(const std::vector<Merge>& merges, int32_t side, size_t k) {
    switch (in_strides_[2 * k]) {
      case 1:
        return CollectOf<1>(merges, side, k);
      case 2:
        return CollectOf<2>(merges, side, k);
      case 4:
        return CollectOf<4>(merges, side, k);
      case 8:
        return CollectOf<8>(merges, side, k);
      default:
        return CollectOf<16>(merges, side, k);
    }
  }
  template <int kBytes>
  void CollectOf(const std::vector<Merge>& merges, int32_t side, size_t k) {
    std::byte* right = arguments_[2 * k].data();
    std::byte* left = arguments_[2 * k + 1].data();
    const std::byte* data = operands_[k].data();
    for (const Merge& m : merges) {
      const auto element = [&](int32_t place) {
        return data + (m.element + order_[m.line + place] * stride_) * kBytes;
      };
      for (int32_t r = 0; r < side; ++r) {
        const std::byte* from = element(std::min(m.right + r, m.right_end - 1));
        for (int32_t l = 0; l < side; ++l, right += kBytes, left += kBytes) {
          std::memcpy(right, from, kBytes);
          std::memcpy(left, element(std::min(m.left + l, m.left_end - 1)), kBytes);
        }
      }
    }
  }

  // Takes elements as far as the answers reach; when one part is used up, the rest of the other.
  void Advance(Merge& m, int32_t side, const uint8_t* answers) {
    const auto take = [&](int32_t place) { merged_[m.line + m.out++] = order_[m.line + place]; };
    int32_t r = 0, l = 0;
    while (r < side && l < side && m.right < m.right_end && m.left < m.left_end) {
      if (answers[r * side + l] != 0) {
        take(m.right++);
        ++r;
      } else {
        take(m.left++);
        ++l;
      }
    }
    if (m.right < m.right_end && m.left < m.left_end) return;
    while (m.left < m.left_end) take(m.left++);
    while (m.right < m.right_end) take(m.right++);
  }

  EvalContext& context_;
  ScalarFunction& comparator_;
  const std::span<const Literal> operands_;
  const int64_t stride_;
  const std::span<int32_t> order_;
  std::vector<int32_t> merged_;
  std::vector<std::vector<std::byte>> arguments_;  // right and left elements of each operand
  std::vector<const std::byte*> in_;
  std::vector<int64_t> in_strides_;
  std::vector<uint8_t> answers_;
};

}  // namespace

absl::Status MergeSort(EvalContext& context, ScalarFunction& comparator, std::span<const Literal> operands,
                       std::span<const int64_t> starts, int64_t length, int64_t stride,
                       std::span<int32_t> order) {
  constexpr size_t kTogether = 1 << 11;
  const int64_t lines = static_cast<int64_t>(starts.size());
  for (int64_t l = 0; l < lines; ++l) {
    std::iota(order.begin() + l * length, order.begin() + (l + 1) * length, 0);
  }
  Merger merger(context, comparator, operands, stride, order);
  const std::vector<std::vector<Range>> levels = Levels(length);
  std::vector<Merge> merges;
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    for (int64_t l = 0; l < lines; ++l) {
      for (const Range& r : *level) {
        merges.push_back({r.begin, r.middle(), r.middle(), r.end, r.begin, l * length, starts[l]});
        if (merges.size() == kTogether) ASSAY_RETURN_IF_ERROR(merger.Run(merges));
      }
    }
    ASSAY_RETURN_IF_ERROR(merger.Run(merges));
  }
  return absl::OkStatus();
}

}  // namespace assay
