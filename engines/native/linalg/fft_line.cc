#include "engines/native/linalg/fft_line.h"

#include <algorithm>
#include <cmath>

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

// Elements of f64 are scaled so that the largest magnitude is near 1: nothing overflows, and what underflows
// is far below the bounds.
FftLine::Input FftLine::Load(const std::byte* src) {
  for (int i = 0; i < 8; ++i) {
    if (storage_[i].empty() && (i % 4 < 2)) storage_[i].assign(form_.count + kMaxLanes, 0.0);
    (i < 4 ? planes_ : spare_)[i % 4] = storage_[i].data();
  }
  const int64_t parts = form_.real_input ? 1 : 2, bytes = Bytes(form_.component);
  Input input;
  double largest = 0, squares = 0;
  for (int part = 0; part < 2; ++part) {
    double* const plane = planes_[Plane(part)];
    if (part >= parts || form_.last_in < form_.last) std::fill_n(plane, form_.count, 0.0);
    if (part >= parts) continue;
    double sum = 0, most = 0;
    for (int64_t row = 0; row < form_.rows; ++row) {
      double* const to = plane + row * form_.last;
      WidenRun(form_.sums, form_.component, src + (row * form_.last_in * parts + part) * bytes, parts * bytes,
               form_.last_in, to);
      for (int64_t i = 0; i < form_.last_in; ++i) {
        most = std::max(most, std::fabs(to[i]));
        sum += 0 * to[i];  // NaN if an element is not finite
      }
    }
    input.finite = input.finite && sum == 0;
    input.imaginary = input.imaginary || (part == 1 && most > 0);
    largest = std::max(largest, most);
  }
  input.zero = largest == 0;
  if (!input.finite || input.zero) return input;
  const bool scaled = form_.component == ElementType::kF64;
  if (scaled) input.exponent = std::ilogb(largest);
  const double power1 = std::ldexp(1.0, -input.exponent / 2);
  const double power2 = std::ldexp(1.0, -input.exponent - -input.exponent / 2);
  for (int part = 0; part < parts; ++part) {
    double* const plane = planes_[Plane(part)];
    for (int64_t i = 0; scaled && i < form_.count; ++i) plane[i] = plane[i] * power1 * power2;
    for (int64_t row = 0; form_.real_result && row < form_.rows; ++row) {
      for (int64_t i = 1; i <= (form_.last - 1) / 2; ++i) plane[row * form_.last + i] *= 2;
    }
    for (int64_t i = 0; i < form_.count; ++i) squares += plane[i] * plane[i];
  }
  input.norm = std::sqrt(squares) * kNormSlack;
  return input;
}

void FftLine::RunAxes(Parallel& parallel, bool pairs) {
  for (int plane = 2; pairs && plane < 4; ++plane) {
    storage_[plane].assign(form_.count + kMaxLanes, 0.0);
    storage_[4 + plane].resize(form_.count + kMaxLanes);
    planes_[plane] = storage_[plane].data();
    spare_[plane] = storage_[4 + plane].data();
  }
  const auto run = pairs ? form_.kernels.pass_of_pairs : form_.kernels.pass_of_doubles;
  for (auto axis = form_.axes.rbegin(); axis != form_.axes.rend(); ++axis) {
    const int64_t block = axis->n * axis->inner;
    for (const FftPass& pass : axis->passes) {
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

std::vector<FftComponent> FftLine::RoundAll(bool pairs, const FftRounding& values, std::byte* dst) const {
  constexpr int64_t kChunk = 256;
  alignas(64) double out[kChunk + kMaxLanes];
  alignas(64) int64_t failed[kChunk + kMaxLanes];
  std::vector<FftComponent> open;
  const int64_t parts = form_.real_result ? 1 : 2, bytes = Bytes(form_.component);
  for (int64_t row = 0; row < form_.rows; ++row) {
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
  return open;
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
  const Input input = Load(src);
  if (!input.finite || input.zero) {
    Fill(input.finite ? 0.0 : CanonicalNaN(format_), dst);
    return {};
  }
  const bool pairs = form_.component == ElementType::kF64;
  RunAxes(parallel, pairs);
  FftRounding values{input.norm * (pairs ? form_.pairs_factor : form_.doubles_factor), Divisor()};
  values.power1 = std::ldexp(1.0, input.exponent / 2);
  values.power2 = std::ldexp(1.0, input.exponent - input.exponent / 2);
  std::vector<FftComponent> open = RoundAll(pairs, values, dst);
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
    Load(src);
    RunAxes(parallel, true);
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
