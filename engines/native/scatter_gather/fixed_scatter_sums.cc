#include "engines/native/scatter_gather/fixed_scatter_sums.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/parallel.h"
#include "engines/native/scatter_gather/index_vector_walk.h"
#include "engines/native/scatter_gather/scatter_sums.h"
#include "engines/native/sums/fixed_units.h"
#include "engines/native/sums/tiers.h"
#include "literal/float_format.h"

namespace assay::native {
namespace {

constexpr int64_t kFewest = 512;             // windows: fewer are added as quickly by scatter_sums.h
constexpr int64_t kUpdatesOfPart = 1 << 14;  // worth a task
constexpr int64_t kTermsOfPart = 1 << 15;    // of rows, worth a task
constexpr int64_t kColumns = 1 << 12;        // of a row, summed by a task
constexpr int64_t kAhead = FixedKernels::kRowsAhead;
constexpr int64_t kMaxElements = int64_t{1} << 30;

int64_t* Ints(Literal& scratch) { return reinterpret_cast<int64_t*>(scratch.MutableBytes().data()); }

// Where the windows of a strip start in the operand, in units of `unit` elements, which divides all strides;
// -1: dropped.
void StartsOf(const IndexKernels& kernels, const ScatterGeometry& g, const IndexVectorWalk::Strip& strip,
              int64_t unit, int64_t* starts) {
  kernels.fill(strip.n, strip.b / unit, strip.b_step / unit, starts);
  for (size_t k = 0; k < g.limits.size(); ++k)
    kernels.inside(strip.n, strip.components + static_cast<int64_t>(k) * kStrip, g.limits[k],
                   g.strides[k] / unit, starts);
}

// Single elements that are hit often: sums as integers, update by update,
// for each part of the updates by itself.
class PointSums {
 public:
  PointSums(EvalContext& context, const ScatterKernels& kernels, const ScatterGeometry& g,
            const IndexVectorWalk& walk, const Literal& updates, Literal& result)
      : context_(context),
        kernels_(kernels),
        g_(g),
        walk_(walk),
        positions_(result.shape().num_elements()),
        from_(reinterpret_cast<const float*>(updates.data())),
        to_(reinterpret_cast<float*>(result.MutableBytes().data())) {}

  absl::StatusOr<bool> Run(int64_t updates) {
    if (!ChooseUnits(updates)) return false;
    const int64_t n = walk_.count();
    parts_ = std::max<int64_t>(
        std::min({int64_t{context_.parallel().jobs()}, n / kUpdatesOfPart, n / (2 * positions_ + 1)}), 1);
    // Element -1 is for dropped windows.
    length_ = (positions_ + 1 + 7) / 8 * 8;
    ASSAY_ASSIGN_OR_RETURN(Literal scratch, Int64Scratch(context_, length_ * parts_ * (shift_ > 0 ? 2 : 1)));
    sums_ = Ints(scratch);
    const int64_t part = (n + parts_ - 1) / parts_;
    context_.parallel().For(parts_, 1, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) AddPart(p, p * part, std::min((p + 1) * part, n));
    });
    context_.parallel().For(positions_, kUpdatesOfPart,
                            [&](int64_t begin, int64_t end) { Finish(begin, end); });
    CountTiers({.sums = positions_});
    ASSAY_RETURN_IF_ERROR(context_.Charge(n));
    return true;
  }

 private:
  bool ChooseUnits(int64_t updates) {
    FloatRange range = RangeOf(context_.parallel(), kernels_.fixed, to_, positions_);
    // A sum of -0 alone is -0, and an element that nothing hits stays as it is: integers have no -0.
    if (range.negative_zero) return false;
    Include(range, RangeOf(context_.parallel(), kernels_.fixed, from_, updates));
    const TermBits bits(range);
    if (!bits.finite) return false;
    lowest_ = bits.lowest;
    const int room = kUnitBits - BitsOfCount(walk_.count() + 1);
    if (bits.width() <= room) return true;
    shift_ = room;
    return room > 0 && bits.width() - shift_ <= room;
  }

  // The sums of part p in the larger unit, or (high = false) in the smaller.
  int64_t* SumsOf(int64_t p, bool high) const { return sums_ + (p + (high ? 0 : parts_)) * length_ + 1; }

  void Quantize(int64_t n, const float* x, int64_t* high, int64_t* low) const {
    if (shift_ == 0) return kernels_.fixed.quantize(n, x, std::ldexp(1.0, -lowest_), high);
    kernels_.fixed.split(n, x, std::ldexp(1.0, -lowest_ - shift_), shift_, high, low);
  }

  void AddPart(int64_t p, int64_t begin, int64_t end) const {
    int64_t* const high = SumsOf(p, true);
    int64_t* const low = shift_ > 0 ? SumsOf(p, false) : nullptr;
    if (p == 0) {
      Quantize(positions_, to_, high, low);
    } else {
      std::fill_n(high, positions_, 0);
      if (low != nullptr) std::fill_n(low, positions_, 0);
    }
    high[-1] = 0;
    if (low != nullptr) low[-1] = 0;
    walk_.Run(begin, end, [&](const IndexVectorWalk::Strip& strip) {
      context_.parallel().Poll();
      alignas(64) int64_t starts[kStrip], of_high[kStrip], of_low[kStrip];
      alignas(64) float terms[kStrip];
      StartsOf(kernels_.indices, g_, strip, 1, starts);
      const float* from = from_ + strip.a;
      if (strip.a_step != 1) {
        for (int64_t i = 0; i < strip.n; ++i) terms[i] = from[i * strip.a_step];
        from = terms;
      }
      Quantize(strip.n, from, of_high, of_low);
      AddTerms(strip.n, starts, of_high, high);
      if (low != nullptr) AddTerms(strip.n, starts, of_low, low);
    });
  }
  // Sums of dropped windows may wrap.
  static void AddTerms(int64_t n, const int64_t* starts, const int64_t* terms, int64_t* sums) {
    for (int64_t i = 0; i < n; ++i)
      sums[starts[i]] =
          static_cast<int64_t>(static_cast<uint64_t>(sums[starts[i]]) + static_cast<uint64_t>(terms[i]));
  }

  void Finish(int64_t begin, int64_t end) const {
    const int64_t n = end - begin;
    for (int64_t p = 1; p < parts_; ++p) {
      kernels_.fixed.add(n, SumsOf(p, true) + begin, SumsOf(0, true) + begin);
      if (shift_ > 0) kernels_.fixed.add(n, SumsOf(p, false) + begin, SumsOf(0, false) + begin);
    }
    const int64_t* const high = SumsOf(0, true);
    if (shift_ == 0) return kernels_.fixed.round(n, high + begin, std::ldexp(1.0f, lowest_), to_ + begin);
    const int64_t* const low = SumsOf(0, false);
    for (int64_t i = begin; i < end; ++i) {
      const absl::int128 sum = absl::int128(high[i]) * (absl::int128(1) << shift_) + low[i];
      to_[i] = RoundUnits(sum, lowest_);
    }
  }

  EvalContext& context_;
  const ScatterKernels& kernels_;
  const ScatterGeometry& g_;
  const IndexVectorWalk& walk_;
  const int64_t positions_;
  const float* const from_;
  float* const to_;
  int lowest_ = 0, shift_ = 0;  // units of 2^lowest and, where shift is not 0, 2^(lowest + shift)
  int64_t parts_ = 1, length_ = 0;
  int64_t* sums_ = nullptr;
};

// Rows: the windows ordered by the row that they hit, all of a row in registers.
class RowSums {
 public:
  RowSums(EvalContext& context, const ScatterKernels& kernels, const ScatterGeometry& g,
          const IndexVectorWalk& walk, int64_t length, const Literal& updates, Literal& result)
      : context_(context),
        kernels_(kernels),
        g_(g),
        walk_(walk),
        length_(length),
        rows_(result.shape().num_elements() / length),
        arrays_{ElementType::kF32,
                result.MutableBytes().data(),
                result.shape().num_elements(),
                updates.data(),
                {}} {}

  absl::StatusOr<bool> Run() {
    const int64_t n = walk_.count();
    ASSAY_ASSIGN_OR_RETURN(Literal scratch, Int64Scratch(context_, (2 * n + kAhead + rows_ + 2) / 2 + 1));
    auto* const numbers = reinterpret_cast<int32_t*>(Ints(scratch));
    int32_t* const rows = numbers;
    ids_ = numbers + n;
    std::fill_n(ids_ + n, kAhead, 0);
    ends_ = ids_ + n + kAhead + 1;
    context_.parallel().For(n, kUpdatesOfPart, [&](int64_t begin, int64_t end) {
      walk_.Run(begin, end, [&](const IndexVectorWalk::Strip& strip) {
        alignas(64) int64_t starts[kStrip];
        StartsOf(kernels_.indices, g_, strip, length_, starts);
        for (int64_t i = 0; i < strip.n; ++i) rows[strip.first + i] = static_cast<int32_t>(starts[i]);
      });
    });
    Order(n, rows);
    const int64_t blocks = (length_ + kColumns - 1) / kColumns;
    const int64_t terms = (n / rows_ + 1) * std::min(length_, kColumns);
    context_.parallel().For(rows_ * blocks, kTermsOfPart / terms + 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) AddToRow(i / blocks, i % blocks * kColumns);
    });
    CountTiers({.sums = rows_ * length_});
    ASSAY_RETURN_IF_ERROR(context_.Charge(n * length_));
    return true;
  }

 private:
  // ids_[ends_[r - 1] .. ends_[r]) are the windows that hit row r; row -1 is for dropped ones.
  void Order(int64_t n, const int32_t* rows) const {
    std::fill_n(ends_ - 1, rows_ + 1, 0);
    for (int64_t i = 0; i < n; ++i) ++ends_[rows[i]];
    int32_t sum = 0;
    for (int64_t r = -1; r < rows_; ++r) {
      const int32_t count = ends_[r];
      ends_[r] = sum;
      sum += count;
    }
    for (int64_t i = 0; i < n; ++i) ids_[ends_[rows[i]]++] = static_cast<int32_t>(i);
  }

  // Columns [first, first + kColumns) of a row.
  void AddToRow(int64_t row, int64_t first) const {
    const int32_t* const ids = ids_ + ends_[row - 1];
    const int64_t windows = ends_[row] - ends_[row - 1], n = std::min(kColumns, length_ - first);
    if (windows == 0) return;
    const int64_t at = row * length_ + first, step = walk_.a_step();
    float* const to = reinterpret_cast<float*>(arrays_.elements) + at;
    const float* const from = reinterpret_cast<const float*>(arrays_.updates) + first;
    alignas(64) float out[kColumns];
    if (kernels_.fixed.sum_rows(n, to, from, step, ids, windows, out)) {
      std::memcpy(to, out, static_cast<size_t>(n) * sizeof(float));
      return;
    }
    std::vector<ScatteredUpdate> columns;
    for (int64_t i = 0; i < windows; ++i) columns.push_back({at, ids[i] * step + first});
    ScatterArrays arrays = arrays_;
    arrays.runs = WindowRuns{{{0, 0}}, n, 1, 1};
    AddSortedUpdates(kernels_.sums, arrays, columns);
  }

  EvalContext& context_;
  const ScatterKernels& kernels_;
  const ScatterGeometry& g_;
  const IndexVectorWalk& walk_;
  const int64_t length_, rows_;
  const ScatterArrays arrays_;
  int32_t* ids_ = nullptr;
  int32_t* ends_ = nullptr;
};

bool AreMultiples(const DimVector& strides, int64_t of) {
  return std::all_of(strides.begin(), strides.end(), [of](int64_t stride) { return stride % of == 0; });
}

}  // namespace

absl::StatusOr<bool> AddWindowsInFixedUnits(EvalContext& context, const ScatterKernels& kernels,
                                            const ScatterGeometry& g, const Literal& updates,
                                            Literal& result) {
  const int64_t positions = result.shape().num_elements(), n = updates.shape().num_elements();
  if (result.shape().element_type() != ElementType::kF32 ||
      updates.shape().element_type() != ElementType::kF32 || !g.disjoint || !updates.IsFullSize() ||
      !result.IsFullSize() || positions > kMaxElements || n > kMaxElements)
    return false;
  const IndexVectorWalk walk(kernels.indices, *g.indices, g.index_vector_dim, g.updates, g.batch);
  const WindowRuns runs = RunsOf(g);
  if (walk.count() < kFewest || runs.starts.size() != 1) return false;
  if (runs.length == 1) {
    if (positions > 4 * walk.count()) return false;
    return PointSums(context, kernels, g, walk, updates, result).Run(n);
  }
  if (runs.to_stride != 1 || runs.from_stride != 1 || !walk.is_one_run() || walk.a_step() < 0 ||
      !AreMultiples(g.strides, runs.length) || !AreMultiples(g.batch.strides, runs.length) ||
      positions % runs.length != 0 || positions / runs.length > 8 * walk.count())
    return false;
  return RowSums(context, kernels, g, walk, runs.length, updates, result).Run();
}

}  // namespace assay::native
