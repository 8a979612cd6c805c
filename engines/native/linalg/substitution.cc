// Bounds, with T = |b| + |a| |x| >= the sum of the magnitudes of n + 1 terms and u = 2^-53: doubles (n + 17)
// u T, pairs 4 (n + 17)^2 u^2 T, and no error at all where T is so small against the lowest bit of any term
// that no addition rounds (product_bounds.h has the reasoning).
#include "engines/native/linalg/substitution.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "engines/native/sums/enclosed_sum.h"
#include "engines/native/sums/row_source.h"
#include "evaluator/runtime_sizes.h"
#include "evaluator/scalar/exact_sum.h"
#include "evaluator/scalar/real.h"
#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay::native {
namespace {

constexpr double kUp = 1 + 0x1p-20;
constexpr double kLargestStart = 0x1p1000;  // of b, where it moves no sum of products out of a double's range

double PairsFactor(int64_t length) {
  const auto n = static_cast<double>(length + 17);
  return 4 * n * n * 0x1p-106 * kUp;
}

// The lowest bit of any of the elements is worth at least this; infinity where all are zero.
double UnitOf(double smallest, uint64_t bits) {
  if (std::isinf(smallest)) return smallest;
  return std::ldexp(1.0, std::ilogb(smallest) - 52 + std::countr_zero(bits | uint64_t{1} << 52));
}
double UnitOf(const RowStatistics& statistics, int slot) {
  return UnitOf(statistics.smallest[slot], statistics.bits[slot]);
}

}  // namespace

std::string_view WhyNotSubstitute(const Shape& matrices, const Shape& right_sides, int64_t products) {
  constexpr int64_t kFewProducts = 1 << 6;  // packing fewer would take longer than they do in the reference
  if (HasDynamicDimension(matrices) || HasDynamicDimension(right_sides)) return "dynamic dimensions";
  if (products < kFewProducts) return "too few products";
  return 2 * matrices.sizes().back() > kLongestRow ? "long rows" : "";
}

void ClearStatistics(RowStatistics& statistics) {
  std::fill_n(statistics.squares, kMaxPanelWidth, 0.0);
  std::fill_n(statistics.largest, kMaxPanelWidth, 0.0);
  std::fill_n(statistics.smallest, kMaxPanelWidth, std::numeric_limits<double>::infinity());
  std::fill_n(statistics.bits, kMaxPanelWidth, 0);
}

Substitution::Substitution(ElementType type, Isa isa)
    : component_(IsComplex(type) ? ComponentType(type) : type),
      format_(*Info(component_).format),
      sums_(SumKernelsOf(isa)),
      solve_(SolveKernelsOf(isa)),
      rounding_(format_),
      parts_(IsComplex(type) ? 2 : 1),
      pairs_(component_ == ElementType::kF64),
      keeps_zeros_(format_.has_negative_zero()) {}

void Substitution::SumBlock(const double* block, int64_t length, const SystemPanel& panel,
                            double* const c[2]) const {
  for (int part = 0; part < parts_; ++part) {
    std::fill_n(c[part], block_rows() * panel_columns(), 0.0);
    sums_.tile(length, block, panel.x + part * panel.part, c[part], panel_columns());
  }
}

void Substitution::RoundSums(const SystemRow& row, const SystemPanel& panel, int parts, int64_t done,
                             double* const c[2], const PanelRow& b, PanelRow& s, TierCounts& counts) const {
  alignas(64) double sums[kMaxPanelWidth], errors[kMaxPanelWidth];
  alignas(64) int64_t failed[kMaxPanelWidth];
  const RowScale scale = ScaleOf(*row.statistics, row.slot);
  const int width = panel_columns();
  counts.sums += parts * (panel.last - panel.first);
  for (int part = 0; part < parts; ++part) {
    const double* const x = panel.x + part * panel.part;
    const double* const start = b + part * kMaxPanelWidth;
    double* const out = s + part * kMaxPanelWidth;
    bool any = true;
    if (!pairs_) {
      solve_.add_products(row.length - done, row.elements + done * block_rows(), block_rows(),
                          x + done * width, c[part]);
      const SolveBound bound{scale.norm, DoublesFactor(row.length + 1)};
      any = solve_.round_sums(c[part], start, *panel.columns, bound, rounding_, keeps_zeros_, sums, out,
                              failed);
    } else if (scale.products_in_range) {
      for (int j = 0; j < width; j += sums_.lanes) {
        sums_.pair_products(row.length, row.elements, block_rows(), x + j, width, true, sums + j, errors + j);
      }
      const SolveBound bound{scale.norm, PairsFactor(row.length)};
      any = solve_.round_pairs(sums, errors, start, *panel.columns, bound, out, failed);
    } else {
      std::fill_n(failed, width, -1);
    }
    if (any) Repair(row, panel, x, start, sums, failed, out, counts);
  }
}

struct Substitution::Open {
  const SystemRow& row;
  const double* column;  // its elements are panel_columns() apart
  double b;
  double size;    // T
  double unit;    // every term is a multiple of it
  bool in_range;  // products and their errors neither overflow nor underflow
};

void Substitution::Repair(const SystemRow& row, const SystemPanel& panel, const double* x, const double* b,
                          const double* sums, const int64_t* failed, double* out, TierCounts& counts) const {
  const RowScale row_scale = ScaleOf(*row.statistics, row.slot);
  const double row_unit = UnitOf(*row.statistics, row.slot);
  int group = -1;  // whose pairs are known
  alignas(64) double sum[kMaxLanes], error[kMaxLanes];
  for (int j = panel.first; j < panel.last; ++j) {
    if (failed[j] == 0) continue;
    const RowScale scale = ScaleOf(*panel.columns, j);
    const double magnitude = std::fabs(b[j]);
    const double unit = std::min(row_unit * UnitOf(*panel.columns, j),
                                 magnitude > 0 ? UnitOf(magnitude, std::bit_cast<uint64_t>(magnitude))
                                               : std::numeric_limits<double>::infinity());
    const Open open{
        row,  x + j,
        b[j], (magnitude + row_scale.norm * scale.norm) * kUp,
        unit, row_scale.products_in_range && scale.products_in_range && magnitude <= kLargestStart};
    bool settled = false;
    if (!pairs_) out[j] = SettleByDoubles(open, sums[j], &settled);
    if (settled) continue;
    ++counts.pairs;
    if (pairs_ && !open.in_range) {
      ++counts.slices;
      out[j] = ByAccumulator(open);
      continue;
    }
    const int lane = j % sums_.lanes;
    if (group != j - lane) {
      group = j - lane;
      sums_.pair_products(row.length, row.elements, block_rows(), x + group, panel_columns(), pairs_, sum,
                          error);
    }
    const double t = sum[lane] + b[j], z = t - sum[lane];
    out[j] = Settle(open, t, ((sum[lane] - (t - z)) + (b[j] - z)) + error[lane]);
  }
}

// In doubles no sum of finite exact products is infinite, so an infinite or NaN sum is the answer.
double Substitution::SettleByDoubles(const Open& open, double sum, bool* settled) const {
  *settled = !std::isfinite(sum) || open.size < open.unit * 0x1p52;
  if (*settled && sum == 0) return Zero(open);
  return RoundToFormat(sum, format_);
}

double Substitution::Settle(const Open& open, double sum, double error) const {
  const auto n = static_cast<double>(open.row.length + 17);
  const bool exact = 2 * n * open.size < 0x1p105 * open.unit;
  const double bound = exact ? 0 : PairsFactor(open.row.length) * open.size;
  if (const auto rounded = RoundEnclosed(sum, error, bound, format_)) return *rounded;
  if (exact && sum + error == 0) return Zero(open);
  return ByAccumulator(open);
}

double Substitution::ByAccumulator(const Open& open) const {
  ExactSum sum;
  sum.Add(open.b);
  sum.AddProducts(open.row.elements, block_rows(), open.column, panel_columns(), open.row.length);
  return sum.Round(format_);
}

// A sum that is zero: +0 unless every term is -0.
double Substitution::Zero(const Open& open) const {
  bool negative = open.b == 0 && std::signbit(open.b);
  for (int64_t l = 0; negative && l < open.row.length; ++l) {
    const double a = open.row.elements[l * block_rows()], x = open.column[l * panel_columns()];
    negative = (a == 0 || x == 0) && std::signbit(a) != std::signbit(x);
  }
  return RoundToFormat(negative ? -0.0 : 0.0, format_);
}

void Substitution::Divide(double divisor, const SystemPanel& panel, const PanelRow& s, PanelRow& x) const {
  alignas(64) int64_t failed[kMaxPanelWidth];
  for (int part = 0; part < parts_; ++part) {
    const double* const from = s + part * kMaxPanelWidth;
    double* const to = x + part * kMaxPanelWidth;
    if (!solve_.divide(from, divisor, rounding_, keeps_zeros_, to, failed)) continue;
    for (int j = panel.first; j < panel.last; ++j) {
      if (failed[j] != 0) to[j] = RealDivide(from[j], divisor, format_);
    }
  }
}

void Substitution::DivideComplex(Complex divisor, const SystemPanel& panel, const PanelRow& s,
                                 PanelRow& x) const {
  alignas(64) int64_t failed[kMaxPanelWidth];
  const double* const imaginary = s + kMaxPanelWidth;
  const auto divide = pairs_ ? solve_.divide_complex_f64 : solve_.divide_complex_f32;
  if (!divide(s, imaginary, divisor.real(), divisor.imag(), rounding_, x, x + kMaxPanelWidth, failed)) return;
  for (int j = panel.first; j < panel.last; ++j) {
    if (failed[j] == 0) continue;
    const Complex quotient = ComplexDivide({s[j], imaginary[j]}, divisor, format_);
    x[j] = quotient.real();
    x[kMaxPanelWidth + j] = quotient.imag();
  }
}

void Substitution::Put(int64_t i, const PanelRow& x, const SystemPanel& panel) const {
  const int width = panel_columns();
  double* const at = panel.x + i * parts_ * width;
  std::fill_n(at, parts_ * width, 0.0);
  std::copy(x + panel.first, x + panel.last, at + panel.first);
  if (parts_ == 2) {
    const double* const imaginary = x + kMaxPanelWidth;
    double* const turned = at + panel.part;
    std::copy(imaginary + panel.first, imaginary + panel.last, at + width + panel.first);
    std::copy(at + width, at + 2 * width, turned);
    for (int j = 0; j < width; ++j) turned[width + j] = -at[j];
    solve_.add_statistics(at + width, panel.columns);
  }
  solve_.add_statistics(at, panel.columns);
}

void Substitution::Load(const std::byte* src, int64_t stride, int count, PanelRow& row) const {
  std::fill_n(row, 2 * kMaxPanelWidth, 0.0);
  for (int part = 0; part < parts_; ++part)
    WidenRun(sums_, component_, src + part * Bytes(component_), stride, count, row + part * kMaxPanelWidth);
}

void Substitution::Store(const PanelRow& row, int first, int count, std::byte* dst, int64_t stride) const {
  for (int part = 0; part < parts_; ++part) {
    StoreStrip(component_, row + part * kMaxPanelWidth + first, count, dst + part * Bytes(component_),
               stride);
  }
}

}  // namespace assay::native
