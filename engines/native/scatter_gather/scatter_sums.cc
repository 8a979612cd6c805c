#include "engines/native/scatter_gather/scatter_sums.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>

#include "base/parallel.h"
#include "engines/native/sums/enclosed_sum.h"
#include "engines/native/sums/row_source.h"
#include "engines/native/sums/tiers.h"
#include "evaluator/scalar/exact_sum.h"
#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay::native {
namespace {

constexpr int64_t kBlock = 256;               // sums side by side
constexpr int64_t kSumTermsOfPart = 1 << 14;  // terms worth a task

// One component of the elements.
struct Component {
  ElementType type;
  std::byte* elements;
  const std::byte* updates;
  int64_t stride;  // from one element to the next
};

// Reads and writes one element of a type as a double.
template <class T>
struct TypedAccess {
  explicit TypedAccess(ElementType) {}
  double Load(const std::byte* src) const {
    T value;
    std::memcpy(&value, src, sizeof(T));
    return value;
  }
  void Store(double value, std::byte* dst) const {
    const T narrow = static_cast<T>(value);
    std::memcpy(dst, &narrow, sizeof(T));
  }
};
struct AnyAccess {
  explicit AnyAccess(ElementType type) : load(LoadOneFor(type)), store(StoreOneFor(type)) {}
  double Load(const std::byte* src) const {
    double value;
    load(src, &value);
    return value;
  }
  void Store(double value, std::byte* dst) const { store(&value, dst); }
  const LoadOneFn load;
  const StoreOneFn store;
};

class SortedSums {
 public:
  SortedSums(const SumKernels& kernels, const Component& c, const WindowRuns& runs)
      : kernels_(kernels),
        c_(c),
        runs_(runs),
        bytes_(Bytes(c.type)),
        format_(*Info(c.type).format),
        rounding_(format_) {
    std::fill(std::begin(ratios_), std::end(ratios_), std::numeric_limits<double>::infinity());
  }
  ~SortedSums() { CountTiers(counts_); }

  // ScatteredUpdates sorted by target; all of the first and last target's.
  void Run(std::span<const ScatteredUpdate> updates) {
    const bool points = runs_.length == 1 && runs_.starts.size() == 1;
    if (!points) return Windows(updates);
    if (c_.type == ElementType::kF32) return Points(updates, TypedAccess<float>(c_.type));
    if (c_.type == ElementType::kF64) return Points(updates, TypedAccess<double>(c_.type));
    Points(updates, AnyAccess(c_.type));
  }

 private:
  const std::byte* Update(int64_t from) const { return c_.updates + from * c_.stride * bytes_; }
  std::byte* Element(int64_t to) const { return c_.elements + to * c_.stride * bytes_; }

  template <class Access>
  void Points(std::span<const ScatteredUpdate> updates, const Access& access) {
    std::span<const ScatteredUpdate> of[kBlock];
    const WindowRuns::Start start = runs_.starts[0];
    while (!updates.empty()) {
      int64_t n = 0;
      for (; n < kBlock && !updates.empty(); ++n) {
        const int64_t to = updates[0].to;
        double sum = access.Load(Element(to + start.to)), errors = 0, doubt = 0;
        size_t i = 0;
        for (; i < updates.size() && updates[i].to == to; ++i) {
          const double x = access.Load(Update(updates[i].from + start.from)), t = sum + x, z = t - sum;
          const double error = (sum - (t - z)) + (x - z);
          sum = t;
          errors += error;
          doubt += std::fabs(error);
        }
        sums_[n] = sum, errors_[n] = errors, doubts_[n] = doubt;
        of[n] = updates.first(i);
        updates = updates.subspan(i);
      }
      RoundBlock(n, [&](int64_t j) { return Terms{of[j], start.to, start.from}; });
      for (int64_t j = 0; j < n; ++j) access.Store(out_[j], Element(of[j][0].to + start.to));
    }
  }

  void Windows(std::span<const ScatteredUpdate> updates) {
    while (!updates.empty()) {
      size_t i = 1;
      while (i < updates.size() && updates[i].to == updates[0].to) ++i;
      for (const WindowRuns::Start& start : runs_.starts) {
        for (int64_t first = 0; first < runs_.length; first += kBlock) {
          Row(updates.first(i), std::min(kBlock, runs_.length - first),
              {start.to + first * runs_.to_stride, start.from + first * runs_.from_stride});
        }
      }
      updates = updates.subspan(i);
    }
  }

  // n neighbouring elements of a window.
  void Row(std::span<const ScatteredUpdate> updates, int64_t n, const WindowRuns::Start& start) {
    const int64_t to_stride = runs_.to_stride * c_.stride * bytes_;
    const int64_t from_stride = runs_.from_stride * c_.stride * bytes_;
    std::byte* const to = Element(updates[0].to + start.to);
    WidenRun(kernels_, c_.type, to, to_stride, n, sums_);
    std::fill_n(errors_, n, 0.0);
    std::fill_n(doubts_, n, 0.0);
    for (const ScatteredUpdate& update : updates) {
      const std::byte* const from = Update(update.from + start.from);
      if (c_.type == ElementType::kF32 && from_stride == bytes_) {
        kernels_.absorb_f32(n, reinterpret_cast<const float*>(from), sums_, errors_, doubts_);
        continue;
      }
      WidenRun(kernels_, c_.type, from, from_stride, n, terms_);
      kernels_.absorb(n, terms_, sums_, errors_, doubts_);
    }
    RoundBlock(n, [&](int64_t j) {
      return Terms{updates, start.to + j * runs_.to_stride, start.from + j * runs_.from_stride};
    });
    for (int64_t done = 0; done < n; done += kStrip) {
      StoreStrip(c_.type, out_ + done, std::min(kStrip, n - done), to + done * to_stride, to_stride);
    }
  }

  // The terms of a sum: the element and its updates, moved by offsets.
  struct Terms {
    std::span<const ScatteredUpdate> updates;
    int64_t to, from;
  };

  // out_[j] = the rounded sum; terms_of(j) are its terms.
  template <class TermsOf>
  void RoundBlock(int64_t n, const TermsOf& terms_of) {
    counts_.sums += n;
    if (format_.mantissa_bits == 52) {
      for (int64_t j = 0; j < n; ++j) out_[j] = Settle(j, terms_of);
      return;
    }
    const int64_t whole = (n + kernels_.lanes - 1) / kernels_.lanes * kernels_.lanes;
    for (int64_t j = n; j < whole; ++j) sums_[j] = 1, doubts_[j] = 0;
    kernels_.bounds_of_doubts(whole, sums_, doubts_, bounds_);
    const RowBounds bounds{1, 1, 1, bounds_, ratios_};
    if (!kernels_.round_row(whole, sums_, bounds, rounding_, out_, failed_)) return;
    for (int64_t j = 0; j < n; ++j) {
      if (failed_[j] != 0) out_[j] = Settle(j, terms_of);
    }
  }

  template <class TermsOf>
  double Settle(int64_t j, const TermsOf& terms_of) {
    if (doubts_[j] == 0) return RoundToFormat(sums_[j], format_);
    const Terms terms = terms_of(j);
    const double count = static_cast<double>(terms.updates.size());
    // One addition of doubles is rounded as it is.
    if (count == 1 && format_.mantissa_bits == 52 && !std::isnan(doubts_[j])) return sums_[j];
    ++counts_.pairs;
    if (doubts_[j] > 0x1p-900) {
      const double bound = count == 1 ? 0 : count * 0x1p-53 * (1 + 0x1p-20) * doubts_[j];
      if (const auto rounded = RoundEnclosed(sums_[j], errors_[j], bound, format_)) return *rounded;
    }
    if (const auto rounded = ByExactErrors(terms)) return *rounded;
    ++counts_.slices;
    return Exactly(terms);
  }

  // Ties of f64: few terms of about one size have errors whose sum is a double.
  std::optional<double> ByExactErrors(const Terms& terms) const {
    double sum, errors = 0, x;
    LoadStrip(c_.type, Element(terms.updates[0].to + terms.to), 0, 1, &sum);
    for (const ScatteredUpdate& update : terms.updates) {
      LoadStrip(c_.type, Update(update.from + terms.from), 0, 1, &x);
      const double t = sum + x, z = t - sum, error = (sum - (t - z)) + (x - z);
      const double all = errors + error, w = all - errors;
      if ((errors - (all - w)) + (error - w) != 0) return std::nullopt;
      sum = t, errors = all;
    }
    return RoundEnclosed(sum, errors, 0, format_);
  }

  double Exactly(const Terms& terms) {
    exact_.Clear();
    double term;
    LoadStrip(c_.type, Element(terms.updates[0].to + terms.to), 0, 1, &term);
    exact_.Add(term);
    for (const ScatteredUpdate& update : terms.updates) {
      LoadStrip(c_.type, Update(update.from + terms.from), 0, 1, &term);
      exact_.Add(term);
    }
    return exact_.Round(format_);
  }

  const SumKernels& kernels_;
  const Component c_;
  const WindowRuns& runs_;
  const int64_t bytes_;
  const FloatFormat& format_;
  const NarrowRounding rounding_;
  ExactSum exact_;
  TierCounts counts_;
  alignas(64) double sums_[kBlock], errors_[kBlock], doubts_[kBlock], terms_[kBlock], bounds_[kBlock];
  alignas(64) double ratios_[kBlock], out_[kBlock];
  int64_t failed_[kBlock];
};

// Single elements that are hit often: all sums side by side, update by update, so that nothing is sorted.
// Those that their TwoSum errors leave open keep their updates, which are moved to the front;
// returns how many these are.
class DenseSums {
 public:
  DenseSums(const SumKernels& kernels, const Component& c, const ScatterArrays& arrays)
      : kernels_(kernels),
        c_(c),
        bytes_(Bytes(c.type)),
        format_(*Info(c.type).format),
        to_(arrays.runs.starts[0].to),
        from_(arrays.runs.starts[0].from),
        sums_((arrays.positions + kBlock - 1) / kBlock * kBlock, 1.0),
        doubts_(sums_.size(), 0.0),
        states_(sums_.size(), State::kUntouched) {}

  int64_t Run(std::span<ScatteredUpdate> updates) {
    if (c_.type == ElementType::kF32) {
      Add(updates, TypedAccess<float>(c_.type));
    } else {
      Add(updates, AnyAccess(c_.type));
    }
    bool open = false;
    for (size_t first = 0; first < sums_.size(); first += kBlock) open |= RoundBlock(first);
    CountTiers(counts_);
    if (!open) return 0;
    const auto settled = [this](const ScatteredUpdate& update) { return states_[update.to] != State::kOpen; };
    return std::remove_if(updates.begin(), updates.end(), settled) - updates.begin();
  }

 private:
  enum class State : uint8_t { kUntouched, kTouched, kOpen };

  std::byte* Element(int64_t to) const { return c_.elements + (to + to_) * c_.stride * bytes_; }

  template <class Access>
  void Add(std::span<const ScatteredUpdate> updates, const Access& access) {
    double *const sums = sums_.data(), *const doubts = doubts_.data();
    State* const states = states_.data();
    for (const ScatteredUpdate& update : updates) {
      const int64_t to = update.to;
      const double sum = states[to] == State::kUntouched ? access.Load(Element(to)) : sums[to];
      const double x = access.Load(c_.updates + (update.from + from_) * c_.stride * bytes_);
      const double t = sum + x, z = t - sum;
      states[to] = State::kTouched;
      sums[to] = t;
      doubts[to] += std::fabs((sum - (t - z)) + (x - z));
    }
  }

  bool RoundBlock(size_t first) {
    alignas(64) double sums[kBlock], doubts[kBlock], bounds[kBlock], ratios[kBlock], out[kBlock];
    int64_t failed[kBlock];
    std::copy_n(sums_.data() + first, kBlock, sums);
    std::copy_n(doubts_.data() + first, kBlock, doubts);
    std::fill_n(ratios, kBlock, std::numeric_limits<double>::infinity());
    kernels_.bounds_of_doubts(kBlock, sums, doubts, bounds);
    const bool some = kernels_.round_row(kBlock, sums, RowBounds{1, 1, 1, bounds, ratios},
                                         NarrowRounding(format_), out, failed);
    bool open = false;
    for (int64_t j = 0; j < kBlock; ++j) {
      State& state = states_[first + j];
      if (state == State::kUntouched) continue;
      if (some && failed[j] != 0) {
        if (doubts[j] != 0) {  // NaN too
          state = State::kOpen;
          open = true;
          continue;
        }
        out[j] = RoundToFormat(sums[j], format_);
      }
      ++counts_.sums;
      StoreStrip(c_.type, out + j, 1, Element(static_cast<int64_t>(first) + j), bytes_);
    }
    return open;
  }

  const SumKernels& kernels_;
  const Component& c_;
  const int64_t bytes_;
  const FloatFormat& format_;
  const int64_t to_, from_;
  TierCounts counts_;
  std::vector<double> sums_, doubts_;
  std::vector<State> states_;
};

// Whether DenseSums pays. Of f64 sums, nearly all would be open.
bool UpdatesAreDense(const ScatterArrays& arrays, int64_t count) {
  const bool points = arrays.runs.length == 1 && arrays.runs.starts.size() == 1;
  return !arrays.distinct && points && !IsComplex(arrays.type) && arrays.type != ElementType::kF64 &&
         count >= 1024 && arrays.positions <= 4 * count;
}

// Sorts by target, with the whole of it as the digit where that has not many more
// values than there are updates.
ScatteredUpdate* SortByTarget(ScatteredUpdate* updates, int64_t n, int64_t positions) {
  if (positions > 8 * n || n > std::numeric_limits<int32_t>::max()) return SortUpdates(updates, n, positions);
  const auto next = std::make_unique<uint32_t[]>(positions + 1);
  for (int64_t i = 0; i < n; ++i) ++next[updates[i].to + 1];
  for (int64_t p = 1; p < positions; ++p) next[p] += next[p - 1];
  ScatteredUpdate* const sorted = updates + n;
  for (int64_t i = 0; i < n; ++i) sorted[next[updates[i].to]++] = updates[i];
  return sorted;
}

}  // namespace

absl::Status AddUpdates(EvalContext& context, const SumKernels& kernels, const ScatterArrays& arrays,
                        ScatteredUpdate* updates, int64_t count) {
  if (count == 0) return absl::OkStatus();
  if (UpdatesAreDense(arrays, count)) {
    const Component component{arrays.type, arrays.elements, arrays.updates, 1};
    count = DenseSums(kernels, component, arrays).Run({updates, static_cast<size_t>(count)});
    if (count == 0) return absl::OkStatus();
  }
  if (!arrays.distinct) updates = SortByTarget(updates, count, arrays.positions);
  const bool complex = IsComplex(arrays.type);
  const ElementType type = complex ? ComponentType(arrays.type) : arrays.type;
  const int64_t window = arrays.runs.length * static_cast<int64_t>(arrays.runs.starts.size());
  for (int64_t part = 0; part < (complex ? 2 : 1); ++part) {
    const Component component{type, arrays.elements + part * Bytes(type), arrays.updates + part * Bytes(type),
                              complex ? 2 : 1};
    // A part begins and ends where the target changes.
    const auto boundary = [&](int64_t i) {
      if (i == 0 || i >= count || updates[i].to != updates[i - 1].to) return i;
      const auto beyond = [](int64_t to, const ScatteredUpdate& update) { return to < update.to; };
      return std::upper_bound(updates + i, updates + count, updates[i].to, beyond) - updates;
    };
    context.parallel().For(count, kSumTermsOfPart / window + 1, [&](int64_t begin, int64_t end) {
      begin = boundary(begin), end = boundary(end);
      if (begin >= end) return;
      SortedSums(kernels, component, arrays.runs).Run({updates + begin, static_cast<size_t>(end - begin)});
    });
  }
  return absl::OkStatus();
}

void AddSortedUpdates(const SumKernels& kernels, const ScatterArrays& arrays,
                      std::span<const ScatteredUpdate> updates) {
  const Component component{arrays.type, arrays.elements, arrays.updates, 1};
  SortedSums(kernels, component, arrays.runs).Run(updates);
}

}  // namespace assay::native
