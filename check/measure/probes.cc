#include "check/measure/probes.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "check/measure/arguments.h"
#include "fmt/format.h"

namespace assay {
namespace {

constexpr ElementType kWide[] = {ElementType::kF32, ElementType::kF64};
constexpr ElementType kNarrow[] = {ElementType::kBF16, ElementType::kF16};
constexpr int64_t kCopies = 256;  // of the numbers of a probe: kernels of many elements

int64_t Size(const std::vector<double>& values) { return static_cast<int64_t>(values.size()); }

std::vector<double> Repeated(const std::vector<double>& values) {
  std::vector<double> all;
  for (int64_t k = 0; k < kCopies; ++k) all.insert(all.end(), values.begin(), values.end());
  return all;
}

Literal Matrix(ElementType type, int64_t rows, int64_t columns, const std::vector<double>& values) {
  const int64_t sizes[] = {rows, columns};
  return Literal::FromDoubles(type, sizes, values);
}

class Prober {
 public:
  Prober(Both& both, Profile& found, std::vector<std::string>& refused)
      : both_(both), found_(found), refused_(refused) {}

  absl::Status Run() {
    for (const ElementType type : kWide) ASSAY_RETURN_IF_ERROR(Contraction(type));
    for (const ElementType type : kNarrow) {
      ASSAY_RETURN_IF_ERROR(Precision(type));
      ASSAY_RETURN_IF_ERROR(Accumulator(type));
    }
    for (const ElementType type :
         {ElementType::kF32, ElementType::kF64, ElementType::kBF16, ElementType::kF16})
      ASSAY_RETURN_IF_ERROR(Subnormals(type));
    ASSAY_RETURN_IF_ERROR(InputBits());
    for (const ElementType type : {ElementType::kF32, ElementType::kBF16, ElementType::kF16,
                                   ElementType::kF8E4M3FN, ElementType::kF8E5M2})
      ASSAY_RETURN_IF_ERROR(TensorCores(type));
    return absl::OkStatus();
  }

 private:
  // Calls `judge` with what the program gives, where the backend runs it.
  absl::Status Probe(const std::string& what, const std::string& text, const std::vector<Literal>& arguments,
                     const std::function<void(const BothOutputs&)>& judge) {
    const absl::StatusOr<BothOutputs> outputs = both_.Run(text, arguments);
    if (outputs.ok()) {
      judge(*outputs);
    } else if (IsRefusal(outputs.status())) {
      refused_.push_back(fmt::format("{}: {}", what, std::string(outputs.status().message())));
    } else {
      return outputs.status();
    }
    return absl::OkStatus();
  }

  // f(x, y, z) of these numbers: `body` has its instructions, of which the last is the root.
  absl::Status ProbeElements(const std::string& what, ElementType type, std::string body,
                             const std::vector<double>& x, const std::vector<double>& y,
                             const std::vector<double>& z,
                             const std::function<void(const BothOutputs&)>& judge) {
    const std::string shape = fmt::format("{}[{}]", Name(type), Size(x) * kCopies);
    for (size_t at = 0; (at = body.find("SHAPE", at)) != std::string::npos;) body.replace(at, 5, shape);
    std::string text = "ENTRY e {\n";
    for (const char* const name : {"x", "y", "z"})
      text += fmt::format("  {} = {} parameter({})\n", name, shape, name[0] - 'x');
    return Probe(what, text + body + "}\n",
                 {ArrayOf(type, Repeated(x)), ArrayOf(type, Repeated(y)), ArrayOf(type, Repeated(z))}, judge);
  }

  static bool Differ(const BothOutputs& outputs) {
    for (size_t k = 0; k < outputs.exact.size(); ++k) {
      for (int64_t i = 0; i < outputs.exact[k].shape().num_elements(); ++i) {
        if (outputs.exact[k].GetDouble(i) != outputs.actual[k].GetDouble(i)) return true;
      }
    }
    return false;
  }

  // (1 + e)(1 + e) - (1 + 2e): 0 where the product is rounded, e^2 where it is not.
  absl::Status Contraction(ElementType type) {
    const double e = std::ldexp(1, -Info(type).format->mantissa_bits);
    const std::vector<double> x = {1 + e, 1 + 3 * e, 1 + 5 * e}, z = {1 + 2 * e, 1 + 6 * e, 1 + 10 * e};
    return ProbeElements(
        fmt::format("contracts {}", Name(type)), type,
        "  p = SHAPE multiply(x, y)\n  s = SHAPE subtract(p, z)\n  n = SHAPE negate(z)\n"
        "  a = SHAPE add(p, n)\n  ROOT t = (SHAPE, SHAPE) tuple(s, a)\n",
        x, x, z, [&](const BothOutputs& outputs) { found_.contracts = found_.contracts || Differ(outputs); });
  }

  // (2^p + 1) - 2^p, where 2^p + 1 is rounded to 2^p: 1 where the sum is kept wider.
  absl::Status Precision(ElementType type) {
    const double big = std::ldexp(1, Info(type).format->mantissa_bits + 1);
    return ProbeElements(fmt::format("keeps_precision {}", Name(type)), type,
                         "  s = SHAPE add(x, y)\n  ROOT d = SHAPE subtract(s, x)\n", {big, big / 2, 4},
                         {1, 0.5, 1}, {0, 0, 0}, [&](const BothOutputs& outputs) {
                           if (Differ(outputs))
                             found_.keeps_precision = found_.keeps_precision | TypeSet::Of(type);
                         });
  }

  // Products and sums whose results or operands are subnormal, and are no zeros.
  absl::Status Subnormals(ElementType type) {
    const FloatFormat& format = *Info(type).format;
    const double tiny = std::ldexp(1, format.min_exponent), least = format.min_subnormal;
    const std::vector<double> x = {tiny, 1.5 * tiny, 4 * least, tiny - least}, y = {0.5, 0.25, 1024, 2},
                              z = {-tiny / 2, -tiny, 4 * least, least};
    return ProbeElements(fmt::format("flushes_subnormals {}", Name(type)), type,
                         "  p = SHAPE multiply(x, y)\n  s = SHAPE add(x, z)\n"
                         "  ROOT t = (SHAPE, SHAPE) tuple(p, s)\n",
                         x, y, z, [&](const BothOutputs& outputs) {
                           if (Differ(outputs)) found_.flushes = found_.flushes | TypeSet::Of(type);
                         });
  }

  // Sums of 1,000 numbers in [1, 2), kept in f32, are nearly all the exact ones, rounded; kept in the type
  // itself, in whatever order, many are not.
  absl::Status Accumulator(ElementType type) {
    constexpr int64_t kRows = 256, kTerms = 1000;
    MeasureRandom random(both_.options().seed);
    std::vector<double> terms;
    for (int64_t k = 0; k < kRows * kTerms; ++k) terms.push_back(1 + random.Uniform());
    const std::string_view name = Name(type);
    const std::string text = fmt::format(
        "f {{\n  a = {0}[] parameter(0)\n  b = {0}[] parameter(1)\n  ROOT s = {0}[] add(a, b)\n}}\n"
        "ENTRY e {{\n  x = {0}[{1},{2}] parameter(0)\n  y = {0}[{2},16] parameter(1)\n  z = {0}[] "
        "constant(0)\n"
        "  r = {0}[{1}] reduce(x, z), dimensions={{1}}, to_apply=f\n"
        "  d = {0}[{1},16] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n"
        "  ROOT t = ({0}[{1}], {0}[{1},16]) tuple(r, d)\n}}\n",
        name, kRows, kTerms);
    const std::vector<double> ones(kTerms * 16, 1);
    return Probe(fmt::format("accumulate {}", name), text,
                 {Matrix(type, kRows, kTerms, terms), Matrix(type, kTerms, 16, ones)},
                 [&](const BothOutputs& outputs) {
                   const auto t = static_cast<size_t>(type);
                   if (!AreExact(outputs, 1)) return;
                   found_.dot_accumulators[t] = ElementType::kF32;
                   if (AreExact(outputs, 0)) found_.accumulators[t] = ElementType::kF32;
                 });
  }

  // At most one in 20 of the results of an output is another number.
  static bool AreExact(const BothOutputs& outputs, size_t k) {
    const int64_t all = outputs.exact[k].shape().num_elements();
    int64_t differ = 0;
    for (int64_t i = 0; i < all; ++i)
      differ += outputs.exact[k].GetDouble(i) != outputs.actual[k].GetDouble(i);
    return differ <= all / 20;
  }

  // Products of 1 + 2^-k with 1: the significant bits of f32 operands that are left, on either side.
  absl::Status InputBits() {
    constexpr int64_t kSizes[] = {16, 128};
    constexpr int kBits = 24;
    int least = kBits;
    const auto count = [&](const Literal& result, const std::vector<double>& wanted) {
      for (int64_t i = 0; i < result.shape().num_elements(); ++i) {
        const double value = wanted[static_cast<size_t>(i)];
        if (value == 0 || result.GetDouble(i) == value) continue;
        least = std::min(least, static_cast<int>(std::lround(-std::log2(value - 1))));
      }
    };
    for (const int64_t n : kSizes) {
      std::vector<double> identity(static_cast<size_t>(n * n), 0), steps = identity;
      for (int64_t k = 0; k < n; ++k) {
        identity[static_cast<size_t>(k * n + k)] = 1;
        steps[static_cast<size_t>(k * n + k)] = 1 + std::ldexp(1, -static_cast<int>(1 + k % (kBits - 1)));
      }
      const std::string text = fmt::format(
          "ENTRY e {{\n  x = f32[{0},{0}] parameter(0)\n  y = f32[{0},{0}] parameter(1)\n"
          "  a = f32[{0},{0}] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n"
          "  b = f32[{0},{0}] dot(y, x), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n"
          "  ROOT t = (f32[{0},{0}], f32[{0},{0}]) tuple(a, b)\n}}\n",
          n);
      ASSAY_RETURN_IF_ERROR(
          Probe(fmt::format("dot_input_bits f32, dots of {}", n), text,
                {Matrix(ElementType::kF32, n, n, steps), Matrix(ElementType::kF32, n, n, identity)},
                [&](const BothOutputs& outputs) {
                  for (const Literal& result : outputs.actual) count(result, steps);
                }));
    }
    ASSAY_RETURN_IF_ERROR(ConvolutionBits(count));
    if (least < kBits) found_.dot_input_bits[static_cast<size_t>(ElementType::kF32)] = least;
    return absl::OkStatus();
  }

  // The same of convolutions: the middle of a kernel of 3 by 3 is 1 from each feature to itself.
  absl::Status ConvolutionBits(const std::function<void(const Literal&, const std::vector<double>&)>& count) {
    constexpr int64_t kImage = 2 * 8 * 8, kFeatures = 32;
    std::vector<double> image, kernel(9 * kFeatures * kFeatures, 0);
    for (int64_t k = 0; k < kImage * kFeatures; ++k)
      image.push_back(1 + std::ldexp(1, -static_cast<int>(1 + k % 23)));
    for (int64_t k = 0; k < kFeatures; ++k)
      kernel[static_cast<size_t>((4 * kFeatures + k) * kFeatures + k)] = 1;
    const int64_t image_sizes[] = {2, 8, 8, kFeatures}, kernel_sizes[] = {3, 3, kFeatures, kFeatures};
    return Probe("dot_input_bits f32, convolutions",
                 "ENTRY e {\n  x = f32[2,8,8,32] parameter(0)\n  k = f32[3,3,32,32] parameter(1)\n"
                 "  ROOT c = f32[2,8,8,32] convolution(x, k), window={size=3x3 pad=1_1x1_1}, "
                 "dim_labels=b01f_01io->b01f\n}\n",
                 {Literal::FromDoubles(ElementType::kF32, image_sizes, image),
                  Literal::FromDoubles(ElementType::kF32, kernel_sizes, kernel)},
                 [&](const BothOutputs& outputs) { count(outputs.actual[0], image); });
  }

  // Rows of x times columns of 2^8, 2^8, 2^8 and 2^-8. Row 0 has 2^16 and three quarters of its last bit in
  // f32, which rounding makes one more and cutting nothing. Row j has 2^16 - 2^16 + 2^(16 - j): where sums
  // are cut at F bits, 0 for j > F. All of these are numbers of f8e4m3fn.
  absl::Status TensorCores(ElementType type) {
    constexpr int64_t kRows = 64, kTerms = 64, kColumns = 64;
    constexpr int kMost = 30;
    std::vector<double> x(kRows * kTerms, 0), y(kTerms * kColumns, 0);
    for (int64_t k = 0; k < 4 * kColumns; ++k) y[static_cast<size_t>(k)] = k < 3 * kColumns ? 0x1p8 : 0x1p-8;
    x[0] = 0x1p8;
    x[3] = 1.5;
    for (int j = 1; j <= kMost; ++j) {
      double* const row = x.data() + j * kTerms;
      row[0] = 0x1p8;
      row[1] = -0x1p8;
      (j <= 16 ? row[2] : row[3]) = std::ldexp(1, j <= 16 ? 8 - j : 24 - j);
    }
    const std::string text = fmt::format(
        "ENTRY e {{\n  x = {0}[{1},{2}] parameter(0)\n  y = {0}[{2},{3}] parameter(1)\n"
        "  ROOT d = f32[{1},{3}] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n}}\n",
        Name(type), kRows, kTerms, kColumns);
    return Probe(fmt::format("tensor_core_bits {}", Name(type)), text,
                 {Matrix(type, kRows, kTerms, x), Matrix(type, kTerms, kColumns, y)},
                 [&](const BothOutputs& outputs) {
                   const Literal& exact = outputs.exact[0];
                   const Literal& actual = outputs.actual[0];
                   if (actual.GetDouble(0) >= exact.GetDouble(0)) return;  // rounded
                   int bits = 0;
                   while (bits < kMost &&
                          actual.GetDouble((bits + 1) * kColumns) == exact.GetDouble((bits + 1) * kColumns))
                     ++bits;
                   found_.tensor_core_bits[static_cast<size_t>(type)] = bits;
                 });
  }

  Both& both_;
  Profile& found_;
  std::vector<std::string>& refused_;
};

}  // namespace

absl::Status RunProbes(Both& both, Profile& found, std::vector<std::string>& refused) {
  return Prober(both, found, refused).Run();
}

}  // namespace assay
