#include "engines/native/sort/top_k.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "base/parallel.h"
#include "engines/native/sort/order_keys.h"
#include "evaluator/eval_context.h"
#include "evaluator/registry.h"

namespace assay::native {
namespace {

constexpr int64_t kBlock = 1024;              // keys made at a time
constexpr int64_t kSearchedOfPart = 1 << 14;  // worth a task
constexpr int64_t kSearchedOfRound = 1 << 22;

// One row at a time; each thread has its own. Candidates come in the order of their positions, so that one
// with the key of the last that is kept is never better.
template <class Word>
class RowSelector {
 public:
  RowSelector(const KeyEncoder& encoder, int64_t n, int64_t k) : encoder_(encoder), n_(n), k_(k) {
    best_.reserve(static_cast<size_t>(std::min(n, 2 * k + kBlock)));
  }

  void Run(const std::byte* row, int64_t bytes, std::byte* values, std::byte* indices) {
    best_.clear();
    Word words[kBlock];
    Word limit = std::numeric_limits<Word>::max();
    bool full = false;
    for (int64_t first = 0; first < n_; first += kBlock) {
      const int64_t count = std::min(kBlock, n_ - first);
      std::fill_n(words, count, Word{0});
      encoder_.Append(row + first * bytes, count, words);  // the total order has every NaN
      for (int64_t i = 0; i < count; ++i) {
        if (full && words[i] >= limit) continue;
        best_.push_back({words[i], static_cast<int32_t>(first + i)});
      }
      if (static_cast<int64_t>(best_.size()) <= 2 * k_ && first + count < n_) continue;
      if (static_cast<int64_t>(best_.size()) < k_) continue;
      std::nth_element(best_.begin(), best_.begin() + (k_ - 1), best_.end());
      best_.resize(static_cast<size_t>(k_));
      limit = best_.back().key;
      full = true;
    }
    std::sort(best_.begin(), best_.end());
    for (int64_t j = 0; j < k_; ++j) {
      const int32_t p = best_[static_cast<size_t>(j)].position;
      std::memcpy(values + j * bytes, row + p * bytes, static_cast<size_t>(bytes));
      std::memcpy(indices + j * static_cast<int64_t>(sizeof(p)), &p, sizeof(p));
    }
  }

 private:
  struct Candidate {
    Word key;
    int32_t position;
    friend bool operator<(const Candidate& a, const Candidate& b) {
      return a.key != b.key ? a.key < b.key : a.position < b.position;
    }
  };

  const KeyEncoder& encoder_;
  const int64_t n_, k_;
  std::vector<Candidate> best_;
};

class TopKKernel final : public Kernel {
 public:
  TopKKernel(ElementType type, bool largest, Isa isa)
      : encoder_({.type = type, .operand = 0, .descending = largest}, isa) {}

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    const Literal& operand = operands[0];
    const int64_t k = context.attributes().Int(Attr::kK);
    if (!operand.IsFullSize()) return Fallback("run-time sizes");
    std::vector<Literal> results;
    for (int64_t i = 0; i < 2; ++i) {
      ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResultElement(i));
      results.push_back(std::move(result));
    }
    if (encoder_.bits() <= 32) {
      ASSAY_RETURN_IF_ERROR(SelectRows<uint32_t>(context, operand, k, results));
    } else {
      ASSAY_RETURN_IF_ERROR(SelectRows<uint64_t>(context, operand, k, results));
    }
    return Literal::Tuple(context.shared_result_shape(), std::move(results));
  }

 private:
  template <class Word>
  absl::Status SelectRows(EvalContext& context, const Literal& operand, int64_t k,
                          std::span<Literal> results) const {
    const int64_t n = operand.shape().sizes().back(), rows = operand.shape().num_elements() / n;
    const int64_t bytes = Bytes(operand.shape().element_type());
    std::byte* const values = results[0].MutableBytes().data();
    std::byte* const indices = results[1].MutableBytes().data();
    const int64_t most = kSearchedOfRound / n + 1;
    for (int64_t done = 0; done < rows; done += most) {
      const int64_t some = std::min(most, rows - done);
      context.parallel().For(some, kSearchedOfPart / n + 1, [&](int64_t begin, int64_t end) {
        RowSelector<Word> selector(encoder_, n, k);
        for (int64_t r = done + begin; r < done + end; ++r) {
          selector.Run(operand.data() + r * n * bytes, bytes, values + r * k * bytes,
                       indices + r * k * static_cast<int64_t>(sizeof(int32_t)));
        }
      });
      ASSAY_RETURN_IF_ERROR(context.Charge(some * n));
    }
    return absl::OkStatus();
  }

  const KeyEncoder encoder_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareTopK(const StepView& step, Isa isa) {
  if (step.instruction.attributes.Int(Attr::kK) == 0 || step.operand_shape(0).num_elements() == 0)
    return NotSupported({}, "no elements");
  const bool largest = step.instruction.attributes.Bool(Attr::kLargest, true);
  return std::make_shared<TopKKernel>(step.operand_shape(0).element_type(), largest, isa);
}

}  // namespace assay::native
