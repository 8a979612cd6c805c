#include "find/fuzz/generator.h"

#include <algorithm>
#include <cmath>

#include "find/fuzz/maker.h"
#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay::fuzz {

int64_t Choices::Below(int64_t n) {
  if (!from_bytes_) return static_cast<int64_t>(random_.Next() % static_cast<uint64_t>(n));
  if (bytes_.empty()) return 0;
  uint64_t value = bytes_[0];
  bytes_ = bytes_.subspan(1);
  if (n > 256 && !bytes_.empty()) {
    value = value << 8 | bytes_[0];
    bytes_ = bytes_.subspan(1);
  }
  return static_cast<int64_t>(value % static_cast<uint64_t>(n));
}

uint64_t Choices::Bits() {
  if (!from_bytes_) return random_.Next();
  uint64_t bits = 0;
  for (int i = 0; i < 8; ++i) bits = bits << 8 | static_cast<uint64_t>(Below(256));
  return bits;
}

namespace {

double HostileReal(Choices& choices, const FloatFormat& format, RandomSource& random) {
  const double sign = choices.OneIn(2) ? -1 : 1;
  const auto range = format.max_exponent - format.min_exponent + format.mantissa_bits;
  switch (choices.Below(16)) {
    case 0:
      return sign * 0.0;
    case 1:
      return sign * static_cast<double>(random.Between(0, 4));
    case 2:
      return sign * (static_cast<double>(random.Between(0, 300)) + 0.5);
    case 3:
      return sign * format.min_subnormal * static_cast<double>(random.Between(1, 9));
    case 4:
      return sign * format.max_finite;
    case 5:
      return choices.OneIn(3) ? std::nan("") : sign * HUGE_VAL;
    case 6:
      return sign * std::ldexp(1 + random.Unit(), static_cast<int>(random.Between(0, range)) +
                                                      format.min_exponent - format.mantissa_bits);
    case 7:  // half way between two values, or nearly
      return sign * (1 + std::ldexp(static_cast<double>(random.Between(0, 9)), -format.mantissa_bits));
    default:
      return 4 * random.Unit() - 2;
  }
}

}  // namespace

Literal HostileLiteral(Choices& choices, const Shape& shape) {
  const ElementType type = shape.element_type();
  Literal literal = *Literal::Make(shape);
  std::byte* const dst = literal.MutableBytes().data();
  const FloatFormat* const format = Info(type).format;
  // Beyond the first elements from one seed, so that a fuzzer's bytes last.
  Choices rest(choices.Bits());
  RandomSource random(choices.Bits());
  const bool tame = choices.OneIn(2);  // nothing that turns all results into NaN
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    Choices& from = i < 4 ? choices : rest;
    const auto real = [&] {
      const double value = tame ? 4 * random.Unit() - 2 : HostileReal(from, *format, random);
      return RoundToFormat(value, *format);
    };
    ScalarValue value{.kind = KindOf(type)};
    if (IsComplex(type)) {
      value.c = {real(), real()};
    } else if (format != nullptr) {
      value.r = real();
    } else {
      value.u = from.OneIn(3) ? random.Next() : static_cast<uint64_t>(random.Between(-3, 9));
      value.i = static_cast<int64_t>(value.u), value.b = value.u & 1;
    }
    StoreElement(type, value, dst + i * Bytes(type));
  }
  return literal;
}

GeneratedProgram GenerateProgram(Choices& choices, const GeneratorOptions& options) {
  return Maker(choices, options).Make();
}

}  // namespace assay::fuzz
