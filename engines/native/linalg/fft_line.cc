#include "engines/native/linalg/fft_line.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "engines/native/functions/arithmetic.h"
#include "engines/native/sums/enclosed_sum.h"
#include "engines/native/sums/row_source.h"
#include "evaluator/scalar/exact_sum.h"
#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay::native {
namespace {

constexpr double kNormSlack = 1 + 0x1p-20;                 // more than the rounding of norms and bounds
constexpr int64_t kPassElementsOfPart = int64_t{1} << 13;  // of a pass, worth a task
constexpr int64_t kElementsOfPart = int64_t{1} << 14;      // loaded or rounded, worth a task
constexpr int64_t kLongestLine = int64_t{1} << 11;         // of which `lanes` fit the L2 cache, as pairs
constexpr int64_t kPad = 64;                               // doubles between planes

}  // namespace

FftForm::FftForm(std::vector<int64_t> sizes, bool is_inverse, bool from_real, bool to_real, ElementType type,
                 Isa isa)
    : lengths(std::move(sizes)),
      inverse(is_inverse),
      real_input(from_real),
      real_result(to_real),
      component(type),
      kernels(FftKernelsOf(isa)),
      sums(SumKernelsOf(isa)) {
  double doubles = 1, pairs = 0;
  for (size_t d = 0; d < lengths.size(); ++d) {
    int64_t inner = 1;
    for (size_t i = d + 1; i < lengths.size(); ++i) inner *= lengths[i];
    axes.emplace_back(lengths[d], inner, kernels.lanes);
    const bool together = lengths[d] <= kLongestLine && (inner == 1 || inner >= kernels.lanes);
    lines.emplace_back(together ? lengths[d] : 1, kernels.lanes, kernels.lanes);
    count *= lengths[d];
    doubles *= 1 + axes.back().error_of_doubles;
    pairs += axes.back().error_of_pairs;
  }
  for (const FftAxis& axis : axes) {
    for (const FftPass& pass : axis.passes) work += count * pass.radix;
  }
  last = lengths.back();
  rows = count / last;
  last_in = real_result ? last / 2 + 1 : last;
  last_out = real_input ? last / 2 + 1 : last;
  const double growth = std::sqrt(static_cast<double>(count)) * kNormSlack;
  doubles_factor = (doubles - 1 + 0x1p-80) * growth;
  pairs_factor = pairs * growth;
}

ExactDft::Line FftForm::LineOf(const std::byte* src) const {
  ExactDft::Line line;
  const int64_t parts = real_input ? 1 : 2, bytes = Bytes(component);
  line.re.assign(count, 0.0);
  if (!real_input) line.im.assign(count, 0.0);
  if (real_result) line.doubled.assign(count, 0);
  for (int64_t row = 0; row < rows; ++row) {
    const std::byte* const from = src + row * last_in * parts * bytes;
    WidenRun(sums, component, from, parts * bytes, last_in, line.re.data() + row * last);
    if (!real_input)
      WidenRun(sums, component, from + bytes, parts * bytes, last_in, line.im.data() + row * last);
    for (int64_t i = 1; real_result && i <= (last - 1) / 2; ++i) line.doubled[row * last + i] = 1;
  }
  return line;
}

double* FftLine::PlaneMemory(int i) {
  if (scratch_ != nullptr) return scratch_ + i * ((form_.count + kPad + 7) / 8 * 8);
  storage_[i].resize(form_.count + kMaxLanes);
  return storage_[i].data();
}

// of_part[part]: of one row.
void FftLine::LoadRow(const std::byte* src, int64_t row, FftStatistics* of_part) const {
  const int64_t parts = form_.real_input ? 1 : 2, bytes = Bytes(form_.component);
  double* const planes[] = {planes_[Plane(0)] + row * form_.last, planes_[Plane(1)] + row * form_.last};
  const std::byte* const from = src + row * form_.last_in * parts * bytes;
  if (form_.component == ElementType::kF32 && parts == 2) {
    form_.kernels.split_f32(form_.last_in, reinterpret_cast<const float*>(from), planes[0], planes[1]);
  } else {
    for (int64_t part = 0; part < parts; ++part)
      WidenRun(form_.sums, form_.component, from + part * bytes, parts * bytes, form_.last_in, planes[part]);
  }
  for (int64_t part = 0; part < 2; ++part) {
    const int64_t loaded = part < parts ? form_.last_in : 0;
    std::fill(planes[part] + loaded, planes[part] + form_.last, 0.0);
    form_.kernels.statistics(loaded, planes[part], &of_part[part]);
  }
}

void FftLine::ScaleRow(int64_t row, double power1, double power2, FftStatistics* of_part) const {
  for (int part = 0; part < 2; ++part) {
    double* const x = planes_[Plane(part)] + row * form_.last;
    for (int64_t i = 0; i < form_.last; ++i) x[i] = x[i] * power1 * power2;
    for (int64_t i = 1; form_.real_result && i <= (form_.last - 1) / 2; ++i) x[i] *= 2;
    of_part[part] = {};
    form_.kernels.statistics(form_.last, x, &of_part[part]);
  }
}

// Elements of f64 are scaled so that the largest magnitude is near 1: nothing overflows, and what underflows
// is far below the bounds.
FftLine::Input FftLine::Load(Parallel& parallel, const std::byte* src) {
  for (int plane = 0; plane < 2; ++plane)
    planes_[plane] = PlaneMemory(plane), spare_[plane] = PlaneMemory(4 + plane);
  std::vector<std::array<FftStatistics, 2>> rows(form_.rows);
  const int64_t rows_of_part = kElementsOfPart / form_.last + 1;
  const auto for_each_row = [&](const auto& fn) {
    parallel.For(form_.rows, rows_of_part, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) fn(row, rows[row].data());
    });
  };
  for_each_row([&](int64_t row, FftStatistics* of_part) { LoadRow(src, row, of_part); });
  Input input;
  double largest = 0;
  for (const std::array<FftStatistics, 2>& row : rows) {
    input.finite = input.finite && row[0].zero == 0 && row[1].zero == 0;
    input.imaginary = input.imaginary || row[1].largest > 0;
    largest = std::max({largest, row[0].largest, row[1].largest});
  }
  input.zero = largest == 0;
  if (!input.finite || input.zero) return input;
  const bool scaled = form_.component == ElementType::kF64;
  if (scaled) input.exponent = std::ilogb(largest);
  if (scaled || form_.real_result) {
    const double power1 = std::ldexp(1.0, -input.exponent / 2);
    const double power2 = std::ldexp(1.0, -input.exponent - -input.exponent / 2);
    for_each_row([&](int64_t row, FftStatistics* of_part) { ScaleRow(row, power1, power2, of_part); });
  }
  double squares = 0;
  for (const std::array<FftStatistics, 2>& row : rows) squares += row[0].squares + row[1].squares;
  input.norm = std::sqrt(squares) * kNormSlack;
  return input;
}

void FftLine::RunAxes(Parallel& parallel, bool pairs, const std::vector<FftComponent>* open) {
  for (int plane = 2; pairs && plane < 4; ++plane)
    planes_[plane] = PlaneMemory(plane), spare_[plane] = PlaneMemory(4 + plane);
  for (size_t axis = form_.axes.size(); axis-- > 0;) {
    const bool first = axis + 1 == form_.axes.size();
    const bool by_lines =
        !form_.lines[axis].passes.empty() && form_.count / form_.lengths[axis] >= form_.kernels.lanes;
    if (by_lines) {
      RunLines(parallel, axis, pairs, pairs && first, axis == 0 ? open : nullptr);
      continue;
    }
    for (int plane = 2; pairs && first && plane < 4; ++plane) std::fill_n(planes_[plane], form_.count, 0.0);
    RunPasses(parallel, form_.axes[axis], pairs);
  }
}

void FftLine::RunPasses(Parallel& parallel, const FftAxis& axis, bool pairs) {
  const auto run = pairs ? form_.kernels.pass_of_pairs : form_.kernels.pass_of_doubles;
  const int64_t block = axis.n * axis.inner;
  for (const FftPass& pass : axis.passes) {
    const int64_t inputs = pass.width * pass.count;
    parallel.For(form_.count / block * inputs, kPassElementsOfPart, [&](int64_t begin, int64_t end) {
      while (begin < end) {
        const int64_t number = begin / inputs, c = begin % inputs;
        const int64_t stop = std::min(inputs, c + end - begin);
        FftPlanes from = planes_, to = spare_;
        for (int plane = 0; plane < (pairs ? 4 : 2); ++plane) {
          from[plane] += number * block;
          to[plane] += number * block;
        }
        run(pass, from, to, c, stop);
        begin += stop - c;
      }
    });
    std::swap(planes_, spare_);
  }
}

// `lanes` lines at a time, in all passes. Where the axis is the last one, these are neighbouring rows; else
// they have neighbouring elements.
void FftLine::RunLines(Parallel& parallel, size_t axis, bool pairs, bool low_is_zero,
                       const std::vector<FftComponent>* open) {
  const int64_t n = form_.lengths[axis], inner = form_.axes[axis].inner, lanes = form_.kernels.lanes;
  const FftAxis& lines = form_.lines[axis];
  const auto run = pairs ? form_.kernels.pass_of_pairs : form_.kernels.pass_of_doubles;
  const int planes = pairs ? 4 : 2;
  // Groups of lines; of the last axis, all lines are one run of them.
  const int64_t run_length = inner == 1 ? form_.count / n : inner;
  const int64_t groups_of_run = (run_length + lanes - 1) / lanes, runs = form_.count / n / run_length;
  const int64_t step = inner, apart = inner == 1 ? n : 1;
  std::vector<uint8_t> wanted(groups_of_run, open == nullptr || runs > 1 || inner == 1);
  for (size_t i = 0; open != nullptr && i < open->size(); ++i)
    wanted[(*open)[i].position % inner / lanes] = 1;
  const int64_t work = n * lanes * static_cast<int64_t>(lines.passes.size());
  parallel.For(runs * groups_of_run, kPassElementsOfPart / work + 1, [&](int64_t begin, int64_t end) {
    const int64_t size = n * lanes + kPad;
    std::vector<double> memory(2 * planes * size + kMaxLanes);
    FftPlanes from{}, to{};
    auto* at = reinterpret_cast<double*>((reinterpret_cast<uintptr_t>(memory.data()) + 63) / 64 * 64);
    for (int plane = 0; plane < planes; ++plane, at += 2 * size) from[plane] = at, to[plane] = at + size;
    for (int64_t group = begin; group < end; ++group) {
      const int64_t q = group % groups_of_run * lanes, count = std::min(lanes, run_length - q);
      if (wanted[group % groups_of_run] == 0) continue;
      const int64_t base = group / groups_of_run * n * inner + q * apart;
      for (int plane = 0; plane < planes; ++plane) {
        if (plane >= 2 && low_is_zero) {
          std::fill_n(from[plane], n * lanes, 0.0);
        } else {
          form_.kernels.gather_lines(n, count, planes_[plane] + base, step, apart, from[plane]);
        }
      }
      for (const FftPass& pass : lines.passes) {
        run(pass, from, to, 0, pass.width * pass.count);
        std::swap(from, to);
      }
      for (int plane = 0; plane < planes; ++plane)
        form_.kernels.scatter_lines(n, count, from[plane], step, apart, planes_[plane] + base);
    }
  });
}

void FftLine::Fill(double value, std::byte* dst) const {
  const int64_t bytes = Bytes(form_.component);
  StoreStrip(form_.component, &value, 1, dst, bytes);
  for (int64_t at = bytes; at < form_.result_bytes(); at += bytes) std::copy_n(dst, bytes, dst + at);
}

void FftLine::Patch(const FftForm& form, const FftComponent& component, double value, std::byte* dst) {
  const int64_t row = component.position / form.last, i = component.position % form.last;
  const int64_t at = (row * form.last_out + i) * (form.real_result ? 1 : 2) + component.part;
  StoreStrip(form.component, &value, 1, dst + at * Bytes(form.component), 0);
}

std::vector<FftComponent> FftLine::RoundAll(Parallel& parallel, bool pairs, const FftRounding& values,
                                            std::byte* dst) const {
  std::vector<std::vector<FftComponent>> of_rows(form_.rows);
  parallel.For(form_.rows, kElementsOfPart / form_.last + 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) RoundRow(row, pairs, values, dst, of_rows[row]);
  });
  std::vector<FftComponent> open;
  for (const std::vector<FftComponent>& row : of_rows) open.insert(open.end(), row.begin(), row.end());
  return open;
}

void FftLine::RoundRow(int64_t row, bool pairs, const FftRounding& values, std::byte* dst,
                       std::vector<FftComponent>& open) const {
  constexpr int64_t kChunk = 256;
  alignas(64) double out[kChunk + kMaxLanes];
  alignas(64) int64_t failed[kChunk + kMaxLanes];
  const int64_t parts = form_.real_result ? 1 : 2, bytes = Bytes(form_.component);
  for (int64_t i = 0; i < form_.last_out; i += kChunk) {
    const int64_t n = std::min(kChunk, form_.last_out - i), position = row * form_.last + i;
    for (int part = 0; part < parts; ++part) {
      const double* const x = planes_[Plane(part)] + position;
      const bool any =
          pairs ? form_.kernels.round_pairs(n, x, planes_[2 + Plane(part)] + position, values, out, failed)
                : form_.kernels.round_doubles(n, x, values, rounding_, out, failed);
      for (int64_t c = 0; any && c < n; ++c) {
        if (failed[c] != 0) open.push_back({position + c, part});
      }
      StoreStrip(form_.component, out, n, dst + ((row * form_.last_out + i) * parts + part) * bytes,
                 parts * bytes);
    }
  }
}

bool FftLine::SettledByPairs(const FftComponent& component, double bound, std::byte* dst) const {
  const int plane = Plane(component.part);
  Double<false> value = {planes_[plane][component.position], planes_[plane + 2][component.position]};
  if (form_.inverse) {
    value = value / Double<false>::Of(Divisor());
    bound = (bound / Divisor() + std::fabs(value.hi) * 0x1p-102) * kNormSlack;
  }
  const std::optional<double> rounded = RoundEnclosed(value.hi, value.lo, bound, format_);
  if (rounded) Patch(form_, component, *rounded, dst);
  return rounded.has_value();
}

// Where every 4 k_d is a multiple of n_d the roots are 1, -i, -1 and i.
bool FftLine::SettledExactly(const FftComponent& component, const ExactDft::Line& line,
                             std::byte* dst) const {
  const size_t rank = form_.lengths.size();
  std::vector<int64_t> quarters(rank), j(rank);
  for (size_t d = rank, position = component.position; d-- > 0; position /= form_.lengths[d]) {
    const int64_t n = form_.lengths[d], k = static_cast<int64_t>(position) % n;
    if (4 * k % n != 0) return false;
    quarters[d] = (form_.inverse ? 4 - 4 * k / n : 4 * k / n) % 4;
  }
  assay::ExactSum sum;
  int64_t turn = 0;  // the root is (-i)^turn
  for (int64_t position = 0; position < form_.count; ++position) {
    const double re = line.re[position], im = line.im.empty() ? 0.0 : line.im[position];
    // (re + i im) (-i)^turn
    const double real[] = {re, im, -re, -im}, imaginary[] = {im, -re, -im, re};
    const double term = (component.part == 0 ? real : imaginary)[turn];
    sum.AddProduct(term, line.doubled.empty() || line.doubled[position] == 0 ? 1.0 : 2.0);
    for (size_t d = rank; d-- > 0;) {
      turn = (turn + quarters[d]) % 4;
      if (++j[d] < form_.lengths[d]) break;
      turn = (turn + 4 - form_.lengths[d] * quarters[d] % 4) % 4;
      j[d] = 0;
    }
  }
  const double value = sum.Sign() == 0 ? RoundToFormat(0.0, format_)
                                       : sum.RoundQuotient(static_cast<int64_t>(Divisor()), format_);
  Patch(form_, component, value, dst);
  return true;
}

std::vector<FftComponent> FftLine::Transform(Parallel& parallel, const std::byte* src, std::byte* dst,
                                             TierCounts& counts) {
  const Input input = Load(parallel, src);
  if (!input.finite || input.zero) {
    Fill(input.finite ? 0.0 : CanonicalNaN(format_), dst);
    return {};
  }
  const bool pairs = form_.component == ElementType::kF64;
  RunAxes(parallel, pairs, nullptr);
  FftRounding values{input.norm * (pairs ? form_.pairs_factor : form_.doubles_factor), Divisor()};
  values.power1 = std::ldexp(1.0, input.exponent / 2);
  values.power2 = std::ldexp(1.0, input.exponent - input.exponent / 2);
  std::vector<FftComponent> open = RoundAll(parallel, pairs, values, dst);
  counts.sums += form_.rows * form_.last_out * (form_.real_result ? 1 : 2);
  if (open.empty()) return open;
  // Real input: what is its own mirror image has no imaginary part.
  const auto is_real = [&](const FftComponent& component) {
    if (input.imaginary || component.part == 0) return false;
    int64_t position = component.position;
    for (size_t d = form_.lengths.size(); d-- > 0; position /= form_.lengths[d]) {
      if (2 * (position % form_.lengths[d]) % form_.lengths[d] != 0) return false;
    }
    Patch(form_, component, 0.0, dst);
    return true;
  };
  std::erase_if(open, is_real);
  if (!pairs && !open.empty()) {
    counts.pairs += static_cast<int64_t>(open.size());
    Load(parallel, src);
    RunAxes(parallel, true, &open);
    const double bound = input.norm * form_.pairs_factor;
    std::erase_if(open, [&](const FftComponent& component) { return SettledByPairs(component, bound, dst); });
  }
  if (open.empty()) return open;
  counts.slices += static_cast<int64_t>(open.size());
  const ExactDft::Line line = form_.LineOf(src);
  std::erase_if(open, [&](const FftComponent& component) { return SettledExactly(component, line, dst); });
  return open;
}

}  // namespace assay::native
