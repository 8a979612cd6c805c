// Two walks: one sum after the other where its terms lie together or there are few sums, and rows of
// neighbouring sums side by side where the sums lie together. Either may be cut into parts, whose partial
// sums are put together by TwoSum.
#include "engines/native/reduce/reduce_add.h"

#include <algorithm>

#include "engines/native/sums/row_source.h"
#include "engines/native/sums/short_sums.h"
#include "engines/native/sums/sum_terms.h"
#include "literal/element_io.h"

namespace assay::native {
namespace {

constexpr int64_t kFewestNeighbours = 16;  // sums side by side
constexpr int64_t kMaxRepeated = 1 << 20;  // rows side by side of a broadcast, whose offsets are all kept
constexpr int64_t kColumns = 512;     // sums side by side in a task: their partial sums stay in the cache
constexpr int64_t kRowsInARow = 128;  // rows added without putting the sums aside
constexpr int64_t kTermsOfPart = 1 << 15;  // terms worth a task
constexpr int64_t kTermsBetweenCharges = 1 << 28;

class ArraySummer {
 public:
  ArraySummer(EvalContext& context, const SumKernels& kernels, const ArraySums& sums)
      : context_(context),
        kernels_(kernels),
        sums_(sums),
        bytes_(Bytes(sums.type)),
        remaining_(MergeLoops(sums.remaining)),
        terms_(kernels, sums.type, sums.input, sums.reduced) {
    LoadStrip(sums.type, sums.init, bytes_, 1, &init_);
  }

  absl::Status Run() {
    if (LoopCount(remaining_) == 0) return absl::OkStatus();
    is_few_ = sums_.type == ElementType::kF32 && terms_.count() > 0 && terms_.count() <= kFewTerms;
    // Few terms are added side by side without much ado.
    const bool is_short =
        is_few_ && !remaining_.empty() && terms_.count() * remaining_.back().size <= kTermsOfPart;
    const bool side_by_side = !remaining_.empty() && remaining_.back().strides[0] == 1 &&
                              terms_.count() > 1 && (terms_.count() <= kMaxRepeated || !RepeatsTerms()) &&
                              remaining_.back().size >= (is_short ? 2 : kFewestNeighbours);
    return side_by_side ? SideBySide() : OneByOne();
  }

 private:
  bool RepeatsTerms() const {
    return std::any_of(sums_.reduced.begin(), sums_.reduced.end(),
                       [](const LoopDim& loop) { return loop.strides[0] == 0 && loop.size > 1; });
  }

  void Store(int64_t at, double sum) const {
    StoreStrip(sums_.type, &sum, 1, sums_.result + at * bytes_, bytes_);
  }

  absl::Status OneByOne() {
    const LoopDim inner = TakeInnermostLoop(remaining_);
    const std::vector<int64_t> bases = OffsetsOf(remaining_, 0), results = OffsetsOf(remaining_, 1);
    const int64_t n = static_cast<int64_t>(bases.size()) * inner.size;
    const int64_t most = kTermsBetweenCharges / (terms_.count() + 1) + 1;
    const LoopDims reduced = MergeLoops(sums_.reduced);
    const bool is_few = is_few_ && (reduced.empty() || (reduced.size() == 1 && reduced[0].strides[0] == 1));
    for (int64_t done = 0; done < n; done += most) {
      const int64_t part = std::min(most, n - done);
      context_.parallel().For(part, kTermsOfPart / (terms_.count() + 8) + 1, [&](int64_t begin, int64_t end) {
        TierCounts counts;
        for (int64_t i = done + begin; i < done + end; ++i) {
          const int64_t outer = i / inner.size, j = i % inner.size;
          const int64_t from = bases[outer] + j * inner.strides[0],
                        to = results[outer] + j * inner.strides[1];
          if (is_few && AddFew(kernels_, Floats() + from, terms_.count(), init_, FloatResults() + to)) {
            ++counts.sums;
          } else {
            Store(to, terms_.RoundedSum(context_.parallel(), from, init_, counts));
          }
        }
        CountTiers(counts);
      });
      ASSAY_RETURN_IF_ERROR(context_.Charge(part * (terms_.count() + 1)));
    }
    return absl::OkStatus();
  }

  const float* Floats() const { return reinterpret_cast<const float*>(sums_.input); }
  float* FloatResults() const { return reinterpret_cast<float*>(sums_.result); }

  // The sums of few rows, each by itself where doubles don't hold it.
  void AddFewSideBySide(std::span<const int64_t> rows, int64_t base, int64_t result, const LoopDim& inner,
                        TierCounts& counts) {
    for (int64_t first = 0; first < inner.size; first += kFewColumns) {
      const int64_t columns = std::min(kFewColumns, inner.size - first);
      float sums[kFewColumns];
      const uint32_t there = AddFewRows(kernels_, Floats() + base + first, rows, columns, init_, sums);
      for (int64_t j = 0; j < columns; ++j) {
        const int64_t to = result + (first + j) * inner.strides[1];
        if (there >> j & 1) {
          ++counts.sums;
          FloatResults()[to] = sums[j];
        } else {
          Store(to, terms_.RoundedSum(context_.parallel(), base + first + j, init_, counts));
        }
      }
    }
  }

  // The partial sums of neighbouring columns.
  struct Columns {
    double sums[kColumns], errors[kColumns], magnitudes[kColumns];
  };

  absl::Status SideBySide() {
    const LoopDim inner = TakeInnermostLoop(remaining_);
    const std::vector<int64_t> bases = OffsetsOf(remaining_, 0), results = OffsetsOf(remaining_, 1);
    const std::vector<int64_t> rows = OffsetsOf(MergeLoops(sums_.reduced), 0);
    const int64_t count = terms_.count();
    if (is_few_ && count * inner.size <= kTermsOfPart) {
      TierCounts counts;
      for (size_t outer = 0; outer < bases.size(); ++outer) {
        AddFewSideBySide(rows, bases[outer], results[outer], inner, counts);
        ASSAY_RETURN_IF_ERROR(context_.Charge(inner.size * count));
      }
      CountTiers(counts);
      return absl::OkStatus();
    }
    const int64_t blocks = (inner.size + kColumns - 1) / kColumns;
    // Parts of the rows where there are few blocks of columns.
    const int64_t wanted = std::max<int64_t>(32 / blocks, 1);
    const int64_t part_rows = std::max<int64_t>((count + wanted - 1) / wanted, 4 * kRowsInARow);
    const int64_t parts = (count + part_rows - 1) / part_rows;
    for (size_t outer = 0; outer < bases.size(); ++outer) {
      std::vector<Columns> partial(blocks * parts);
      const int64_t grain = kTermsOfPart / (std::min(kColumns, inner.size) * std::min(part_rows, count)) + 1;
      context_.parallel().For(blocks * parts, grain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t column = i / parts * kColumns, from = i % parts * part_rows;
          AddRows({rows.data() + from, static_cast<size_t>(std::min(part_rows, count - from))},
                  bases[outer] + column, std::min(kColumns, inner.size - column), partial[i]);
        }
      });
      ASSAY_RETURN_IF_ERROR(context_.Charge(inner.size * count));
      const int64_t chain = std::min(kRowsInARow, count) + part_rows / kRowsInARow + parts + 8;
      context_.parallel().For(inner.size, 256, [&](int64_t begin, int64_t end) {
        TierCounts counts;
        for (int64_t j = begin; j < end; ++j) {
          PartialSum sum;
          for (int64_t part = 0; part < parts; ++part) {
            const Columns& columns = partial[j / kColumns * parts + part];
            sum.Add(
                {columns.sums[j % kColumns], columns.errors[j % kColumns], columns.magnitudes[j % kColumns]});
          }
          Store(results[outer] + j * inner.strides[1],
                terms_.RoundedSum(context_.parallel(), bases[outer] + j, init_, sum, chain, counts));
        }
        CountTiers(counts);
      });
    }
    return absl::OkStatus();
  }

  // Chains of kRowsInARow additions, and then of those.
  void AddRows(std::span<const int64_t> rows, int64_t base, int64_t columns, Columns& total) const {
    Columns part;
    std::fill_n(total.sums, columns, 0.0);
    std::fill_n(total.errors, columns, 0.0);
    std::fill_n(total.magnitudes, columns, 0.0);
    while (!rows.empty()) {
      const auto some = rows.first(std::min<size_t>(rows.size(), kRowsInARow));
      rows = rows.subspan(some.size());
      std::fill_n(part.sums, columns, 0.0);
      std::fill_n(part.errors, columns, 0.0);
      std::fill_n(part.magnitudes, columns, 0.0);
      AddSomeRows(some, base, columns, part);
      for (int64_t j = 0; j < columns; ++j) {
        PartialSum sum{total.sums[j], total.errors[j], total.magnitudes[j]};
        sum.Add({part.sums[j], part.errors[j], part.magnitudes[j]});
        total.sums[j] = sum.sum, total.errors[j] = sum.error, total.magnitudes[j] = sum.magnitude;
      }
    }
  }

  void AddSomeRows(std::span<const int64_t> rows, int64_t base, int64_t columns, Columns& part) const {
    // Few at a time: the next columns' elements then still lie in the cache.
    constexpr size_t kRowsAtOnce = 8;
    const std::byte* const src = sums_.input + base * bytes_;
    const bool direct = sums_.type == ElementType::kF32 || sums_.type == ElementType::kBF16;
    for (; direct && !rows.empty(); rows = rows.subspan(std::min(rows.size(), kRowsAtOnce))) {
      const auto some = rows.first(std::min(rows.size(), kRowsAtOnce));
      if (sums_.type == ElementType::kF32) {
        kernels_.add_rows_f32(columns, reinterpret_cast<const float*>(src), some, part.sums, part.magnitudes);
      } else {
        kernels_.add_rows_bf16(columns, reinterpret_cast<const uint16_t*>(src), some, part.sums,
                               part.magnitudes);
      }
    }
    constexpr int64_t kStart[] = {0};
    alignas(64) double terms[kColumns];
    for (int64_t row : rows) {
      LoadStrip(sums_.type, src + row * bytes_, bytes_, columns, terms);
      if (terms_.pairs_first()) {
        kernels_.add_row_pairs(columns, terms, part.sums, part.errors, part.magnitudes);
      } else {
        kernels_.add_rows(columns, terms, {kStart, 1}, part.sums, part.magnitudes);
      }
    }
  }

  EvalContext& context_;
  const SumKernels& kernels_;
  const ArraySums& sums_;
  const int64_t bytes_;
  LoopDims remaining_;
  const SumTerms terms_;
  double init_ = 0;
  bool is_few_ = false;
};

// A complex array as the array of its components, one dimension more.
ArraySums Components(const ArraySums& sums) {
  ArraySums parts = sums;
  parts.type = ComponentType(sums.type);
  for (LoopDim& dim : parts.remaining) {
    for (int64_t& stride : dim.strides) stride *= 2;
  }
  for (LoopDim& dim : parts.reduced) {
    for (int64_t& stride : dim.strides) stride *= 2;
  }
  return parts;
}

}  // namespace

absl::Status RunArraySums(EvalContext& context, const SumKernels& kernels, const ArraySums& sums) {
  if (!IsComplex(sums.type)) return ArraySummer(context, kernels, sums).Run();
  ArraySums parts = Components(sums);
  const int64_t bytes = Bytes(parts.type);
  for (int component = 0; component < 2; ++component) {
    ASSAY_RETURN_IF_ERROR(ArraySummer(context, kernels, parts).Run());
    parts.input += bytes;
    parts.init += bytes;
    parts.result += bytes;
  }
  return absl::OkStatus();
}

}  // namespace assay::native
