// Fourier transforms.
#include <algorithm>
#include <cmath>
#include <utility>

#include "evaluator/bounds/rules.h"

namespace assay::bound {

// Each result is a sum of n products with numbers of modulus 1 (divided by n in inverse transforms): sum r_i.
// Any FFT's error is at most c log2(n) u of its result's 2-norm (Higham, section 24.1), which is sqrt(n)
// |x|_2, and |x|_2^2 <= max |x_i| sum |x_i|, which does not underflow in two roots. c = 8 covers factors that
// are rounded as well. Half of the spectrum stands for all of it in IRFFT.
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
  const Node largest = c.Write(Opcode::kSqrt, {c.Reduced(Opcode::kMaximum, reach, transformed)});
  const Node sum = c.Write(Opcode::kSqrt, {c.Reduced(Opcode::kAdd, reach, transformed)});
  Node line = c.Times(c.Times(c.Times(largest, sum), gamma), scale);
  if (c.Radius(0))
    line = c.Plus(line, c.Times(c.Reduced(Opcode::kAdd, c.ConvertTo(c.Radius(0), type), transformed), scale));
  Instruction spread(Opcode::kBroadcast);
  spread.attributes.Set(Attr::kDimensions, Ints(others.begin(), others.end()));
  Shape shape = c.view().result();
  shape.set_element_type(type);
  spread.shape = std::make_shared<const Shape>(std::move(shape));
  spread.operands.push_back(line.id);
  SetRoundedRadius(c, c.Write(std::move(spread)), c.AllowedForSum(c.result_type()));
}

}  // namespace assay::bound
