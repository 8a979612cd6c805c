#include "engines/native/window/prefix_sums.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engines/native/sums/fixed_units.h"

namespace assay::native {
namespace {

constexpr int64_t kFewest = 32;  // elements of a line
constexpr int64_t kPrefixBlock =
    1 << 9;  // elements summed before their prefixes are: a bound of their partial sums
constexpr int64_t kBlocksOfPart = 64;
constexpr int kShift = 50;  // of the smaller unit: sums of a block's terms below 2^50 and a start fit

}  // namespace

// What the windows of a line add up.
struct PrefixSums::Line {
  const float* from;
  float* to;
  int64_t n;
  float init;
  TermBits bits;

  int64_t blocks() const { return (n + kPrefixBlock - 1) / kPrefixBlock; }
  int64_t size(int64_t b) const { return std::min(kPrefixBlock, n - b * kPrefixBlock); }
  // x in units of 2^lowest, which is exact, as terms are.
  absl::int128 Units(float x) const {
    const double high = std::ldexp(double{x}, -bits.lowest - kShift), whole = std::trunc(high);
    return (absl::int128(static_cast<int64_t>(whole)) << kShift) +
           static_cast<int64_t>(std::ldexp(high - whole, kShift));
  }
};

PrefixSums::PrefixSums(const FixedKernels& kernels, const WindowLines& lines, ElementType type,
                       const std::byte* input, const std::byte* init, std::byte* result)
    : kernels_(kernels),
      lines_(lines),
      input_(reinterpret_cast<const float*>(input)),
      result_(reinterpret_cast<float*>(result)) {
  const WindowLine& line = lines.line();
  if (type != ElementType::kF32 || lines.stride() != 1 || lines.result_stride() != 1 || line.stride != 1 ||
      line.outputs != line.elements || line.elements < kFewest)
    return;
  std::memcpy(&init_, init, sizeof(init_));
  // A zero sum is +0, for the start value is a term that is not -0.
  if (init_ == 0 && std::signbit(init_)) return;
  forward_ = line.padding >= line.outputs - 1 && line.size == line.padding + 1;
  backward_ = line.padding == 0 && line.size >= line.elements;
}

bool PrefixSums::Run(Parallel& parallel, int64_t l) const {
  if (!forward_ && !backward_) return false;
  const std::vector<int64_t> rows = lines_.Rows(l);
  if (rows.size() != 1) return false;
  const int64_t n = lines_.line().elements;
  const float* const from = input_ + rows[0];
  FloatRange range = RangeOf(parallel, kernels_, from, n);
  kernels_.range(1, &init_, &range);
  const Line line{from, result_ + lines_.result_at(l), n, init_, TermBits(range)};
  // Terms of more bits than both units hold, or a unit that is no float.
  if (!line.bits.finite || line.bits.width() > kShift + kUnitBits - 10) return false;
  return Simple(parallel, line) || Split(parallel, line);
}

// Makes blocks' sums into their starts: what is before them (behind and in them: backward). False where some
// partial sum in a block may be beyond `most`.
bool PrefixSums::Starts(const Line& line, absl::int128 most, std::vector<absl::int128>& sums) const {
  const absl::int128 reach = absl::int128(kPrefixBlock) << line.bits.width();
  absl::int128 sum = line.Units(line.init);
  const auto blocks = static_cast<int64_t>(sums.size());
  for (int64_t k = 0; k < blocks; ++k) {
    const int64_t b = forward_ ? k : blocks - 1 - k;
    if (sum + reach >= most || sum - reach <= -most) return false;
    const absl::int128 total = sums[b];
    sums[b] = forward_ ? sum : sum + total;
    sum += total;
  }
  return true;
}

bool PrefixSums::Simple(Parallel& parallel, const Line& line) const {
  const int lowest = line.bits.lowest;
  if (line.bits.width() + BitsOfCount(kPrefixBlock) >= kUnitBits || lowest > 127) return false;
  const double scale = std::ldexp(1.0, -lowest);
  std::vector<absl::int128> starts(line.blocks());
  parallel.For(line.blocks(), kBlocksOfPart, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b)
      starts[b] = kernels_.total(line.size(b), line.from + b * kPrefixBlock, scale);
  });
  if (!Starts(line, absl::int128(1) << kUnitBits, starts)) return false;
  const auto scan = forward_ ? kernels_.prefixes : kernels_.suffixes;
  const float unit = std::ldexp(1.0f, lowest);
  parallel.For(line.blocks(), kBlocksOfPart, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b)
      scan(line.size(b), line.from + b * kPrefixBlock, scale, static_cast<int64_t>(starts[b]), unit,
           line.to + b * kPrefixBlock);
  });
  return true;
}

bool PrefixSums::Split(Parallel& parallel, const Line& line) const {
  const int lowest = line.bits.lowest;
  if (lowest + kShift - 1 > 127) return false;
  const double scale = std::ldexp(1.0, -lowest - kShift);
  std::vector<absl::int128> starts(line.blocks());
  parallel.For(line.blocks(), kBlocksOfPart, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      int64_t high, low;
      kernels_.split_totals(line.size(b), line.from + b * kPrefixBlock, scale, kShift, &high, &low);
      starts[b] = (absl::int128(high) << kShift) + low;
    }
  });
  // One bit less: the larger units are doubled.
  if (!Starts(line, absl::int128(1) << (kShift + kUnitBits - 1), starts)) return false;
  const auto scan = forward_ ? kernels_.split_prefixes : kernels_.split_suffixes;
  const float half_unit = std::ldexp(1.0f, lowest + kShift - 1);
  parallel.For(line.blocks(), kBlocksOfPart, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      const absl::int128 start = starts[b], low = start & ((absl::int128(1) << kShift) - 1);
      if (!scan(line.size(b), line.from + b * kPrefixBlock, scale, kShift,
                static_cast<int64_t>(start >> kShift), static_cast<int64_t>(low), half_unit,
                line.to + b * kPrefixBlock))
        OneByOne(line, b, start);
    }
  });
  return true;
}

void PrefixSums::OneByOne(const Line& line, int64_t b, absl::int128 sum) const {
  for (int64_t i = b * kPrefixBlock; i < b * kPrefixBlock + line.size(b); ++i) {
    const absl::int128 term = line.Units(line.from[i]);
    if (forward_) sum += term;
    line.to[i] = RoundUnits(sum, line.bits.lowest);
    if (!forward_) sum -= term;
  }
}

}  // namespace assay::native
