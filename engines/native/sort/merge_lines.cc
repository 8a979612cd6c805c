// Long lines are cut where the recursion cuts them; the parts, and then the merges of one depth, are shared
// among the threads.
#include "engines/native/sort/merge_lines.h"

#include <algorithm>
#include <bit>

#include "base/parallel.h"

namespace assay::native {
namespace {

constexpr int64_t kMergedOfPart = 1 << 11;   // worth a task
constexpr int64_t kMergedOfRound = 1 << 19;  // between two charges

// Ranges of a line, from its first element; its halves are cut at floor(length / 2).
class Merger {
 public:
  Merger(const codegen::ScalarCode& comparator, const LineArrays& arrays)
      : arrays_(arrays), frame_(comparator, /*vectors=*/false) {
    for (size_t i = 0; i < 2 * arrays.bytes.size(); ++i) {
      frame_.SetInputStride(i, 0);
      if (void** const address = frame_.InputAddress(i)) {
        (i % 2 == 0 ? right_ : left_).push_back({address, i / 2, nullptr, arrays.bytes[i / 2]});
      }
    }
    frame_.SetOutput(0, &answer_);
    frame_.SetOutputStride(0, 0);
  }

  void SetLine(int64_t at, uint32_t* order, uint32_t* scratch) {
    for (std::vector<Argument>* arguments : {&left_, &right_}) {
      for (Argument& argument : *arguments)
        argument.line = arrays_.elements[argument.operand] + at * argument.bytes;
    }
    order_ = order;
    scratch_ = scratch;
  }

  void Sort(int64_t begin, int64_t end) {
    if (end - begin < 2) {
      if (begin < end) order_[begin] = static_cast<uint32_t>(begin);
      return;
    }
    Sort(begin, begin + (end - begin) / 2);
    Sort(begin + (end - begin) / 2, end);
    Merge(begin, end);
  }

  void Merge(int64_t begin, int64_t end) {
    const int64_t middle = begin + (end - begin) / 2;
    std::copy(order_ + begin, order_ + middle, scratch_ + begin);
    uint32_t* out = order_ + begin;
    const uint32_t *left = scratch_ + begin, *const left_end = scratch_ + middle;
    const uint32_t *right = order_ + middle, *const right_end = order_ + end;
    Set(left_, *left);
    Set(right_, *right);
    for (;;) {
      frame_.Run(1);
      if (answer_ != std::byte{0}) {
        *out++ = *right++;
        if (right == right_end) break;
        Set(right_, *right);
      } else {
        *out++ = *left++;
        if (left == left_end) return;
        Set(left_, *left);
      }
    }
    std::copy(left, left_end, out);
  }

 private:
  // An argument of the comparator that it reads; those of the right part's element come first.
  struct Argument {
    void** address;
    size_t operand;
    const std::byte* line;  // the operand's elements
    int64_t bytes;
  };
  static void Set(const std::vector<Argument>& arguments, uint32_t position) {
    for (const Argument& argument : arguments)
      *argument.address = const_cast<std::byte*>(argument.line + position * argument.bytes);
  }

  const LineArrays& arrays_;
  codegen::ScalarCode::Frame frame_;
  std::byte answer_{0};
  std::vector<Argument> left_, right_;
  uint32_t *order_ = nullptr, *scratch_ = nullptr;
};

// The i-th range at a depth.
std::pair<int64_t, int64_t> RangeAt(int64_t length, int depth, int64_t i) {
  int64_t begin = 0, end = length;
  for (int bit = depth; bit-- > 0;) {
    const int64_t middle = begin + (end - begin) / 2;
    (i >> bit & 1 ? begin : end) = middle;
  }
  return {begin, end};
}

}  // namespace

absl::Status MergeLines(EvalContext& context, const codegen::ScalarCode& comparator, const LineArrays& arrays,
                        int64_t length, std::span<uint32_t> order, std::span<uint32_t> scratch) {
  const auto total = static_cast<int64_t>(order.size());
  const int deepest =
      std::max(static_cast<int>(std::bit_width(static_cast<uint64_t>(length / kMergedOfPart))) - 1, 0);
  for (int depth = deepest; depth >= 0; --depth) {
    // Ranges of all lines at this depth, in rounds.
    const int64_t ranges = int64_t{1} << depth, all = total / length * ranges;
    const int64_t size = length / ranges + 1;
    const int64_t most = kMergedOfRound / size + 1;
    for (int64_t done = 0; done < all; done += most) {
      const int64_t some = std::min(most, all - done);
      context.parallel().For(some, kMergedOfPart / size + 1, [&](int64_t begin, int64_t end) {
        Merger merger(comparator, arrays);
        for (int64_t i = done + begin; i < done + end; ++i) {
          const int64_t at = i / ranges * length;
          const auto [from, to] = RangeAt(length, depth, i % ranges);
          merger.SetLine(at, order.data() + at, scratch.data() + at);
          if (depth == deepest) {
            merger.Sort(from, to);
          } else {
            merger.Merge(from, to);
          }
        }
      });
      const int64_t levels = depth == deepest ? std::bit_width(static_cast<uint64_t>(size)) : 1;
      ASSAY_RETURN_IF_ERROR(context.Charge(some * size * levels));
    }
  }
  return absl::OkStatus();
}

}  // namespace assay::native
