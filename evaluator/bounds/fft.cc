// Fourier transforms.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "evaluator/bounds/rules.h"

namespace assay::bound {
namespace {

// What passes of butterflies are off by, in units of roundoff of sum |x_i|: what goes into a result of a pass
// is a partial sum of the x_i with factors of modulus 1, each x_i in one of them, so that the errors of all
// of a pass's butterflies that reach one result add up to a multiple of sum |x_i|. Radix 2: an addition and a
// product with a rounded root of unity, 1 + sqrt(5) + 2 < 6. An odd radix p: sums of at most p + 3 roundings
// of terms whose real and imaginary parts are multiplied apart, sqrt(2) (p + 3), and that product, 4.5.
// Larger primes may be transformed as a convolution: none.
std::optional<double> RoundingsOfPasses(std::span<const int64_t> lengths) {
  double roundings = 0;
  for (int64_t n : lengths) {
    for (const int64_t p : {2, 3, 5, 7, 11, 13}) {
      for (; n % p == 0; n /= p) roundings += p == 2 ? 6 : std::sqrt(2) * static_cast<double>(p + 3) + 4.5;
    }
    if (n != 1) return std::nullopt;
  }
  return roundings;
}

// The root of the sum of squares along dimensions, of magnitudes in f32: squares in f64 neither overflow nor
// underflow.
Node NormAlong(BoundContext& c, Node a, std::span<const int64_t> dimensions) {
  const Node wide = c.ConvertTo(a, ElementType::kF64);
  const Node norm = c.Write(Opcode::kSqrt, {c.Reduced(Opcode::kAdd, c.Times(wide, wide), dimensions)});
  return Larger(c, c.ConvertTo(norm, ElementType::kF32));
}

// What a product is rounded by, Assay's and the backend's.
Node RoundingOfProduct(BoundContext& c, int32_t i) {
  const ElementType type = c.view().computation.instructions[static_cast<size_t>(i)].shape->element_type();
  const Allowance allowed = c.AllowedFor(Opcode::kMultiply, type);
  const double share = (0.5 + allowed.ulps) * UlpOf(type) + allowed.relative;
  return c.Plus(c.Times(c.Plus(c.Magnitude(c.ValueAt(i)), c.RadiusAt(i)), share),
                allowed.absolute + (allowed.ulps + 8) * 0x1p-149);
}

// What the 2-norm of the distances of instruction i's array, along its last dimensions (those transformed),
// is at most; none: zero. Radii know less: each number of a spectrum may be off by as much as all together.
//   Of a transform of n numbers x: 8 log2(n) u sqrt(n) |x|_2, with the rounding of results, and sqrt(n) times
//   the norm of x's distances; inverse ones divide by n, and of half a spectrum there may be sqrt(2) as much.
//   Of a b, with radii ra and rb: max |a| |db| + max (|b| + rb) |da|, and its rounding.
Node NormOfDistances(BoundContext& c, int32_t i, int64_t transformed, int depth) {
  constexpr int kDeepest = 3;
  const Node radius = c.RadiusAt(i);
  if (!radius) return radius;
  const auto at = [&](int32_t k) -> const Instruction& {
    return c.view().computation.instructions[static_cast<size_t>(k)];
  };
  const Instruction& instruction = at(i);
  const int64_t rank = instruction.shape->rank();
  DimVector dimensions;
  for (int64_t d = rank - transformed; d < rank; ++d) dimensions.push_back(d);
  const Node by_radii = NormAlong(c, radius, dimensions);
  const ElementType type = instruction.shape->element_type();
  const double rounding = UlpOf(type);
  Node norm;
  if (depth >= kDeepest) return by_radii;
  if (instruction.opcode == Opcode::kFft) {
    const auto lengths = instruction.attributes.List(Attr::kFftLength);
    if (std::ssize(lengths) != transformed) return by_radii;
    double n = 1;
    for (const int64_t length : lengths) n *= static_cast<double>(length);
    const int32_t x = instruction.operands[0];
    const std::string_view kind = instruction.attributes.Text(Attr::kFftType);
    const double half = kind == "IRFFT" ? std::sqrt(2) : 1,
                 scale = kind == "IRFFT" || kind == "IFFT" ? half / std::sqrt(n) : std::sqrt(n);
    const Node reach = c.Plus(c.Magnitude(c.ValueAt(x)), c.RadiusAt(x));
    const Allowance allowed = c.AllowedFor(Opcode::kFft, type);
    const double share = 8 * std::max(1.0, std::log2(n)) * c.SumUnit(type) + (0.5 + allowed.ulps) * rounding +
                         allowed.relative;
    norm = c.Times(c.Plus(c.Times(NormAlong(c, reach, dimensions), share),
                          NormOfDistances(c, x, transformed, depth + 1)),
                   scale);
    norm = c.Plus(norm, (allowed.absolute + (allowed.ulps + 8) * 0x1p-149) * std::sqrt(2 * n));
  } else if (instruction.opcode == Opcode::kMultiply) {
    const int32_t a = instruction.operands[0], b = instruction.operands[1];
    const auto largest = [&](Node of) { return c.Reduced(Opcode::kMaximum, of, dimensions); };
    norm = c.Times(largest(c.Magnitude(c.ValueAt(a))), NormOfDistances(c, b, transformed, depth + 1));
    norm = c.Plus(norm, c.Times(largest(c.Plus(c.Magnitude(c.ValueAt(b)), c.RadiusAt(b))),
                                NormOfDistances(c, a, transformed, depth + 1)));
    norm = c.Plus(norm, NormAlong(c, RoundingOfProduct(c, i), dimensions));
  } else {
    return by_radii;
  }
  norm = Larger(c, Larger(c, norm));
  return c.Write(Opcode::kMinimum, {norm, by_radii});
}

// What |a b| is off by, summed along the transformed dimensions: |a|_2 |db|_2 + (|b| + rb)_2 |da|_2, and its
// rounding. None where instruction i is no product.
Node SumOfDistances(BoundContext& c, int32_t i, std::span<const int64_t> transformed) {
  const Instruction& product = c.view().computation.instructions[static_cast<size_t>(i)];
  if (product.opcode != Opcode::kMultiply) return Node();
  const int32_t a = product.operands[0], b = product.operands[1];
  const auto distances = [&](int32_t of) { return NormOfDistances(c, of, std::ssize(transformed), 1); };
  Node sum = c.Times(NormAlong(c, c.Magnitude(c.ValueAt(a)), transformed), distances(b));
  const Node of_b = NormAlong(c, c.Plus(c.Magnitude(c.ValueAt(b)), c.RadiusAt(b)), transformed);
  sum = c.Plus(sum, c.Times(of_b, distances(a)));
  return Larger(c, c.Plus(sum, c.Reduced(Opcode::kAdd, RoundingOfProduct(c, i), transformed)));
}

// What a result is moved by: by sum r_i, or by less of a product, or sqrt(n) times the norm of the distances.
Node MovedBy(BoundContext& c, std::span<const int64_t> transformed, double n, double scale) {
  const ElementType type = RadiusType(c.result_type());
  const Node radius = c.ConvertTo(c.Radius(0), type);
  if (!radius) return radius;
  const Node moved = c.Times(c.Reduced(Opcode::kAdd, radius, transformed), scale);
  if (type != ElementType::kF32 || c.IsEstimate()) return moved;
  const Node norm =
      NormOfDistances(c, c.view().instruction.operands[0], static_cast<int64_t>(transformed.size()), 0);
  if (!norm) return moved;
  const bool is_half = c.attributes().Text(Attr::kFftType) == "IRFFT";  // its scale has a 2
  Node least = c.Times(norm, std::sqrt(n) * (is_half ? scale / std::sqrt(2) : scale) * Slack(type));
  if (const Node sum = SumOfDistances(c, c.view().instruction.operands[0], transformed))
    least = c.Write(Opcode::kMinimum, {least, c.Times(sum, scale)});
  return c.Write(Opcode::kMinimum, {moved, least});
}

}  // namespace

// Each result is a sum of n products with numbers of modulus 1 (divided by n in inverse transforms): sum r_i,
// or less, by norms.
// Any FFT's error is at most c log2(n) u of its result's 2-norm (Higham, section 24.1), which is sqrt(n)
// |x|_2; in f64 |x|_2^2 <= max |x_i| sum |x_i|, which does not underflow in two roots. c = 8 covers factors
// that are rounded as well. Where all passes are butterflies of small radices the error is also at most
// RoundingsOfPasses u sum |x_i|, which is less where no x_i is much larger than the others; of real
// transforms, made as complex ones of half the length, sqrt(2) times that, and 10 roundings to take them
// apart. Half of the spectrum stands for all of it in IRFFT, whose sums are twice as large then, and whose
// norm is sqrt(2) times as large.
void Fft(BoundContext& c) {
  const auto lengths = c.attributes().List(Attr::kFftLength);
  const int64_t kept = c.view().operand(0).rank() - static_cast<int64_t>(lengths.size());
  const std::string_view kind = c.attributes().Text(Attr::kFftType);
  const ElementType type = RadiusType(c.result_type());
  double n = 1;
  for (const int64_t length : lengths) n *= static_cast<double>(length);
  if (n == 0) return;  // no elements
  DimVector transformed, others;
  for (int64_t d = 0; d < c.view().operand(0).rank(); ++d) (d < kept ? others : transformed).push_back(d);
  const double levels = std::max(1.0, std::log2(n));
  const double gamma =
      (c.IsEstimate() ? std::sqrt(levels) : 8 * levels * std::sqrt(n)) * c.SumUnit(c.result_type());
  const double scale = (kind == "IRFFT" ? 2 / n : kind == "IFFT" ? 1 / n : 1);
  const Node reach = c.ConvertTo(c.Plus(c.Magnitude(c.Value(0)), c.Radius(0)), type);
  const Node total = c.Reduced(Opcode::kAdd, reach, transformed);
  Node line;
  if (type == ElementType::kF32 && !c.IsEstimate()) {
    line = c.Times(NormAlong(c, reach, transformed), kind == "IRFFT" ? gamma / std::sqrt(2) : gamma);
  } else {
    const Node largest = c.Write(Opcode::kSqrt, {c.Reduced(Opcode::kMaximum, reach, transformed)});
    line = c.Times(c.Times(largest, c.Write(Opcode::kSqrt, {total})), gamma);
  }
  const std::optional<double> passes = RoundingsOfPasses(lengths);
  if (passes && !c.IsEstimate()) {
    const bool is_real = kind == "RFFT" || kind == "IRFFT";
    const double unit = c.SumUnit(c.result_type());
    const double roundings = std::expm1((is_real ? 1.5 * *passes + 10 : *passes + 1) * unit);
    line = c.Write(Opcode::kMinimum, {line, c.Times(total, roundings)});
  }
  line = c.Times(line, scale);
  line = c.Plus(line, MovedBy(c, transformed, n, scale));
  Instruction spread(Opcode::kBroadcast);
  spread.attributes.Set(Attr::kDimensions, Ints(others.begin(), others.end()));
  Shape shape = c.view().result();
  shape.set_element_type(type);
  spread.shape = std::make_shared<const Shape>(std::move(shape));
  spread.operands.push_back(line.id);
  SetRoundedRadius(c, c.Write(std::move(spread)), c.AllowedForSum(c.result_type()));
}

}  // namespace assay::bound
