// Sums in pairs with the bound 4 chain^2 u^2 M of sum_terms.cc. Windows that it leaves open are summed
// exactly: one by one where they are few or short, else by an accumulator that slides along the line, adding
// what enters the window and subtracting what leaves it, both exactly.
#include "engines/native/window/window_add.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "engines/native/sums/enclosed_sum.h"
#include "engines/native/sums/row_source.h"
#include "engines/native/sums/sum_terms.h"
#include "engines/native/window/prefix_sums.h"
#include "evaluator/scalar/exact_sum.h"
#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay::native {
namespace {

constexpr int64_t kBlock = 512;           // outputs rounded side by side
constexpr int64_t kWorkOfPart = 1 << 13;  // elements worth a task
constexpr int64_t kLongPart = 1 << 15;    // outputs of a cumulative line worth a task
constexpr int64_t kMaxSlidingRows = 64;   // rows kept for a sliding accumulator

struct PairFold {
  using Value = PartialSum;
  const double* sums;
  const double* errors;
  const double* magnitudes;

  static Value Identity() { return {}; }
  Value Element(int64_t i) const { return {sums[i], errors[i], magnitudes[i]}; }
  static Value Combine(Value a, const Value& b) {
    a.Add(b);
    return a;
  }
};
// The same where every element is a term.
struct TermFold {
  using Value = PartialSum;
  const double* terms;

  static Value Identity() { return {}; }
  Value Element(int64_t i) const { return {terms[i], 0, std::fabs(terms[i])}; }
  static Value Combine(Value a, const Value& b) {
    a.Add(b);
    return a;
  }
};

// The sum of terms that come and go.
class SlidingSum {
 public:
  void Add(double x, int sign) {
    terms_ += sign;
    if (std::isnan(x)) {
      nans_ += sign;
    } else if (std::isinf(x)) {
      (x > 0 ? positive_ : negative_) += sign;
    } else if (x == 0) {
      negative_zeros_ += std::signbit(x) ? sign : 0;
    } else {
      finite_.Add(sign > 0 ? x : -x);
    }
  }
  double Round(const FloatFormat& format) const {
    if (nans_ > 0 || (positive_ > 0 && negative_ > 0)) return CanonicalNaN(format);
    if (positive_ > 0 || negative_ > 0) return RoundToFormat(positive_ > 0 ? HUGE_VAL : -HUGE_VAL, format);
    if (finite_.Sign() == 0)
      return RoundToFormat(negative_zeros_ > 0 && negative_zeros_ == terms_ ? -0.0 : 0.0, format);
    return finite_.Round(format);
  }

 private:
  ExactSum finite_;
  int64_t terms_ = 0, nans_ = 0, positive_ = 0, negative_ = 0, negative_zeros_ = 0;
};

// One line at a time; each thread has its own.
class LineSummer {
 public:
  LineSummer(const Parallel& parallel, const SumKernels& kernels, const WindowLines& lines, ElementType type,
             const std::byte* input, double init, std::byte* result)
      : parallel_(parallel),
        kernels_(kernels),
        lines_(lines),
        line_(lines.line()),
        stride_(lines.stride()),
        result_stride_(lines.result_stride()),
        type_(type),
        format_(*Info(type).format),
        rounding_(format_),
        input_(input),
        init_(init),
        result_(result),
        bytes_(Bytes(type)) {
    backward_ = !line_.IsCumulative() && line_.Mirrored().IsCumulative();
    if (!backward_) return;
    line_ = line_.Mirrored();
    stride_ = -stride_;
    result_stride_ = -result_stride_;
  }

  // Outputs [from, to) of line l; where it can't be cut, all of them with the first.
  void Run(int64_t l, int64_t from, int64_t to, TierCounts& counts) {
    rows_ = lines_.Rows(l);
    dst_ = result_ + lines_.result_at(l) * bytes_;
    if (backward_) {
      for (int64_t& row : rows_) row -= (line_.elements - 1) * stride_;
      dst_ -= (line_.outputs - 1) * result_stride_ * bytes_;
    }
    open_.clear();
    counts.sums += to - from;
    const int64_t chain = std::min(line_.size, line_.elements) + static_cast<int64_t>(rows_.size()) + 16;
    factor_ = 4 * static_cast<double>(chain) * static_cast<double>(chain) * 0x1p-106 * (1 + 0x1p-10);
    if (rows_.size() == 1 && line_.IsCumulative()) {
      Accumulate(from, to);
    } else if (from == 0) {
      Slide();
    }
    Flush();
    if (open_.empty()) return;
    counts.slices += static_cast<int64_t>(open_.size());
    SumOpenWindows();
  }

 private:
  void Slide() {
    FoldRows();
    const auto emit = [this](int64_t o, const PartialSum& window) { Emit(o, window); };
    if (rows_.size() == 1) {
      SlidingFold(line_, TermFold{sums_.data()}, emit);
    } else {
      SlidingFold(line_, PairFold{sums_.data(), errors_.data(), magnitudes_.data()}, emit);
    }
  }

  // Every window is the one before and what is new at its end.
  void Accumulate(int64_t from, int64_t to) {
    PartialSum window = SumOfFirst(from > 0 ? line_.end(from - 1) : 0);
    if (init_ != 0) window.Add({init_, 0, std::fabs(init_)});
    alignas(64) double terms[kBlock];
    const auto add = [&](int64_t first, int64_t n) {
      parallel_.Poll();
      Load(rows_[0], first, n, terms);
      for (int64_t i = 0; i < n; ++i) window.Add({terms[i], 0, std::fabs(terms[i])});
    };
    for (int64_t o = from; o < to;) {
      if (pending_ == 0) first_ = o;
      int64_t done = o > 0 ? line_.end(o - 1) : 0;
      const int64_t singles = std::min({kBlock - pending_, to - o, line_.SinglesFrom(o)});
      Load(rows_[0], done, singles, terms);
      PartialSum running = window;  // in registers
      for (int64_t i = 0; i < singles; ++i) {
        running.Add({terms[i], 0, std::fabs(terms[i])});
        Keep(pending_ + i, running);
      }
      window = running;
      o += singles;
      pending_ += singles;
      if (singles == 0) {
        for (const int64_t end = line_.end(o); done < end; done += kBlock)
          add(done, std::min(kBlock, end - done));
        Keep(pending_++, window);
        ++o;
      }
      if (pending_ == kBlock) Flush();
    }
  }

  // The sum of the line's first n elements.
  PartialSum SumOfFirst(int64_t n) const {
    alignas(64) double terms[kBlock];
    alignas(64) double sums[kBlock] = {}, errors[kBlock] = {}, magnitudes[kBlock] = {};
    for (int64_t done = 0; done < n; done += kBlock) {
      parallel_.Poll();
      const int64_t count = std::min(kBlock, n - done);
      Load(rows_[0], done, count, terms);
      kernels_.add_row_pairs(count, terms, sums, errors, magnitudes);
    }
    PartialSum all;
    for (int64_t i = 0; i < std::min(kBlock, n); ++i) all.Add({sums[i], errors[i], magnitudes[i]});
    return all;
  }

  void Load(int64_t row, int64_t from, int64_t n, double* dst) const {
    WidenRun(kernels_, type_, input_ + (row + from * stride_) * bytes_, stride_ * bytes_, n, dst);
  }

  // The line of the sums of the rows, element by element.
  void FoldRows() {
    const int64_t n = line_.elements;
    sums_.assign(n, 0);
    if (rows_.size() == 1) return Load(rows_[0], 0, n, sums_.data());
    errors_.assign(n, 0);
    magnitudes_.assign(n, 0);
    row_.resize(n);
    for (int64_t row : rows_) {
      parallel_.Poll();
      Load(row, 0, n, row_.data());
      kernels_.add_row_pairs(n, row_.data(), sums_.data(), errors_.data(), magnitudes_.data());
    }
  }

  void Emit(int64_t o, PartialSum window) {
    if (init_ != 0) window.Add({init_, 0, std::fabs(init_)});
    const int64_t slot = pending_++;
    first_ = o - slot;
    Keep(slot, window);
    if (pending_ == kBlock) Flush();
  }
  void Keep(int64_t slot, const PartialSum& window) {
    whole_[slot] = window;
    middle_[slot] = window.sum + window.error;
    norms_[slot] = window.magnitude;
  }

  void Flush() {
    if (pending_ == 0) return;
    parallel_.Poll();
    const int64_t padded = (pending_ + kernels_.lanes - 1) / kernels_.lanes * kernels_.lanes;
    for (int64_t i = pending_; i < padded; ++i) middle_[i] = norms_[i] = 0;
    alignas(64) double ratios[kBlock];
    std::fill_n(ratios, padded, HUGE_VAL);  // no exactness test
    // The sum of the pair, and those with the bound, round once each.
    const RowBounds bounds{1, 1, factor_ + 0x1p-51, norms_, ratios};
    alignas(64) double out[kBlock];
    alignas(64) int64_t failed[kBlock];
    if (kernels_.round_row(padded, middle_, bounds, rounding_, out, failed)) {
      for (int64_t i = 0; i < pending_; ++i) {
        if (failed[i] != 0 && !Settle(whole_[i], out + i)) open_.push_back(first_ + i);
      }
    }
    StoreStrip(type_, out, pending_, dst_ + first_ * result_stride_ * bytes_, result_stride_ * bytes_);
    pending_ = 0;
  }

  bool Settle(const PartialSum& window, double* out) const {
    // Sums of narrower elements than f64 don't overflow: an infinite or NaN one is the answer.
    if (type_ != ElementType::kF64 && !std::isfinite(window.sum)) {
      *out = RoundToFormat(window.sum, format_);
      return true;
    }
    if (window.magnitude == 0 && !std::signbit(init_)) {
      *out = RoundToFormat(0.0, format_);
      return true;
    }
    const double bound = factor_ * window.magnitude;
    if (!(window.magnitude <= 0x1p1000) || !(bound > 0x1p-1000)) return false;
    const auto rounded = RoundEnclosed(window.sum, window.error, bound, format_);
    if (rounded) *out = *rounded;
    return rounded.has_value();
  }

  void Store(int64_t o, double value) const {
    StoreStrip(type_, &value, 1, dst_ + o * result_stride_ * bytes_, bytes_);
  }

  void SumOpenWindows() {
    const auto rows = static_cast<int64_t>(rows_.size());
    int64_t work = 0;
    for (int64_t o : open_) work += line_.end(o) - line_.begin(o);
    if (work <= 8 * line_.elements || rows > kMaxSlidingRows) {
      for (int64_t o : open_) Store(o, OneWindow(o));
      return;
    }
    std::vector<double> elements(rows * line_.elements);
    for (int64_t r = 0; r < rows; ++r)
      Load(rows_[r], 0, line_.elements, elements.data() + r * line_.elements);
    SlidingSum sum;
    sum.Add(init_, 1);
    const auto add = [&](int64_t i, int sign) {
      for (int64_t r = 0; r < rows; ++r) sum.Add(elements[r * line_.elements + i], sign);
    };
    int64_t begin = line_.begin(open_[0]), end = begin;
    for (int64_t o : open_) {
      parallel_.Poll();
      const int64_t low = line_.begin(o), high = line_.end(o);
      for (; begin < std::min(low, end); ++begin) add(begin, -1);
      if (begin < low) begin = end = low;
      for (; end < high; ++end) add(end, 1);
      Store(o, sum.Round(format_));
    }
  }

  double OneWindow(int64_t o) const {
    constexpr double kOne = 1;
    constexpr int64_t kPiece = 1024;
    double terms[kPiece];
    ExactSum sum;
    sum.Add(init_);
    for (int64_t row : rows_) {
      for (int64_t from = line_.begin(o); from < line_.end(o); from += kPiece) {
        parallel_.Poll();
        const int64_t n = std::min(kPiece, line_.end(o) - from);
        Load(row, from, n, terms);
        sum.AddProducts(terms, 1, &kOne, 0, n);
      }
    }
    return sum.Round(format_);
  }

  const Parallel& parallel_;  // polled: a line may be as long as memory
  const SumKernels& kernels_;
  const WindowLines& lines_;
  WindowLine line_;
  int64_t stride_, result_stride_;
  bool backward_ = false;  // line_ and the strides run from the last element to the first
  const ElementType type_;
  const FloatFormat& format_;
  const NarrowRounding rounding_;
  const std::byte* const input_;
  const double init_;
  std::byte* const result_;
  const int64_t bytes_;
  // The line at work has these.
  std::byte* dst_ = nullptr;
  std::vector<int64_t> rows_, open_;  // open_: outputs that the pairs did not settle
  std::vector<double> sums_, errors_, magnitudes_, row_;
  double factor_ = 0;
  int64_t pending_ = 0, first_ = 0;
  PartialSum whole_[kBlock];
  alignas(64) double middle_[kBlock], norms_[kBlock];
};

// Long cumulative lines, one after the other, each cut among the threads: a part begins with the sum of what
// is before it, so there are not more parts than threads.
absl::Status SumInParts(EvalContext& context, const SumKernels& kernels, const WindowLines& lines,
                        const PrefixSums& prefixes, ElementType type, const std::byte* input, double start,
                        std::byte* result) {
  const WindowLine& line = lines.line();
  const int64_t parts = std::clamp<int64_t>(line.outputs / kLongPart, 1, context.parallel().jobs());
  const int64_t part = (line.outputs + parts - 1) / parts;
  for (int64_t l = 0; l < lines.lines(); ++l) {
    if (prefixes.Run(context.parallel(), l)) {
      CountTiers({.sums = line.outputs});
    } else {
      context.parallel().For(parts, 1, [&](int64_t begin, int64_t end) {
        LineSummer summer(context.parallel(), kernels, lines, type, input, start, result);
        TierCounts counts;
        summer.Run(l, begin * part, std::min(end * part, line.outputs), counts);
        CountTiers(counts);
      });
    }
    ASSAY_RETURN_IF_ERROR(context.Charge(line.steps() + line.elements));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RunWindowSums(EvalContext& context, Isa isa, const WindowLines& lines, ElementType type,
                           const std::byte* input, const std::byte* init, std::byte* result) {
  const SumKernels& kernels = SumKernelsOf(isa);
  double start = 0;
  LoadStrip(type, init, Bytes(type), 1, &start);
  if (lines.lines() == 0 || lines.line().outputs == 0) return absl::OkStatus();
  const WindowLine& line = lines.line();
  const PrefixSums prefixes(FixedKernelsOf(isa), lines, type, input, init, result);
  const int64_t work = line.steps() + line.elements;
  if ((line.IsCumulative() || line.Mirrored().IsCumulative()) && line.outputs > 2 * kLongPart)
    return SumInParts(context, kernels, lines, prefixes, type, input, start, result);
  const int64_t most = (int64_t{1} << 24) / work + 1;
  for (int64_t done = 0; done < lines.lines(); done += most) {
    const int64_t part = std::min(most, lines.lines() - done);
    context.parallel().For(part, kWorkOfPart / work + 1, [&](int64_t begin, int64_t end) {
      LineSummer summer(context.parallel(), kernels, lines, type, input, start, result);
      TierCounts counts;
      for (int64_t l = done + begin; l < done + end; ++l) {
        if (prefixes.Run(context.parallel(), l)) {
          counts.sums += line.outputs;
        } else {
          summer.Run(l, 0, line.outputs, counts);
        }
      }
      CountTiers(counts);
    });
    ASSAY_RETURN_IF_ERROR(context.Charge(part * work));
  }
  return absl::OkStatus();
}

}  // namespace assay::native
