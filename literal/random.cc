#include "literal/random.h"

#include <algorithm>
#include <complex>
#include <limits>
#include <numeric>

#include "base/checked.h"
#include "base/hash_map.h"
#include "base/run_guard.h"
#include "fmt/format.h"
#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay {

uint64_t RandomSource::Next() {
  uint64_t z = state_ += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

int64_t RandomSource::Between(int64_t low, int64_t high) {
  const uint64_t count = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1;
  if (count == 0) return static_cast<int64_t>(Next());
  const uint64_t offset = static_cast<uint64_t>((static_cast<unsigned __int128>(Next()) * count) >> 64);
  return static_cast<int64_t>(static_cast<uint64_t>(low) + offset);
}

double RandomSource::Unit() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

uint64_t DerivedSeed(uint64_t seed, uint64_t part) {
  RandomSource source(seed);
  return RandomSource(source.Next() ^ part).Next();
}

std::pair<int64_t, int64_t> ExactIntegerRange(ElementType type) {
  if (const FloatFormat* format = Info(type).format) {
    const double largest =
        std::min(format->max_finite, static_cast<double>(int64_t{2} << format->mantissa_bits));
    const int64_t high = static_cast<int64_t>(largest);
    if (format->specials == FloatSpecials::kE8M0) return {1, 2};
    return {-high, high};
  }
  const int bits = Bits(type);
  if (IsSignedIntegral(type)) {
    const int64_t most = static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1);
    return {-1 - most, most};
  }
  return {0, bits >= 63 ? std::numeric_limits<int64_t>::max() : (int64_t{1} << bits) - 1};
}

namespace {

std::vector<int64_t> DistinctIntegers(RandomSource& source, int64_t count, int64_t low, uint64_t available) {
  std::vector<int64_t> values;
  values.reserve(count);
  if (available / 4 > static_cast<uint64_t>(count)) {
    HashSet<int64_t> seen;
    while (static_cast<int64_t>(values.size()) < count) {
      const int64_t value = source.Between(low, low + static_cast<int64_t>(available - 1));
      if (seen.insert(value).second) values.push_back(value);
    }
    return values;
  }
  std::vector<int64_t> all(available);
  std::iota(all.begin(), all.end(), low);
  for (int64_t i = 0; i < static_cast<int64_t>(available); ++i) {
    std::swap(all[i], all[source.Between(i, static_cast<int64_t>(available) - 1)]);
  }
  for (int64_t i = 0; i < count; ++i) values.push_back(all[i % available]);
  return values;
}

}  // namespace

std::vector<int64_t> RandomIntegers(RandomSource& source, int64_t count, int64_t low, int64_t high,
                                    bool sorted, bool unique) {
  const uint64_t span = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  const bool enough = span >= static_cast<uint64_t>(count);  // then span + 1 values are enough as well
  const bool distinct = unique && span < uint64_t{1} << 62;
  std::vector<int64_t> values;
  if (distinct) {
    values = DistinctIntegers(source, count, low, span + 1);
  } else {
    values.resize(count);
    for (int64_t& value : values) value = source.Between(low, high);
  }
  if (sorted && (!distinct || enough || span + 1 == static_cast<uint64_t>(count))) {
    std::sort(values.begin(), values.end());
  }
  return values;
}

namespace {

// The mean of four uniform variables, scaled: near normal, deviation 0.58, within [-2, 2). One in sixteen is
// scaled by a power of two in [2^-12, 2^3].
double NormalLike(RandomSource& source) {
  const uint64_t draw = source.Next();
  int64_t sum = -2 * 32767;
  for (int field = 0; field < 4; ++field) sum += static_cast<int64_t>((draw >> (15 * field)) & 0x7fff);
  const double value = (static_cast<double>(sum) + source.Unit()) * 0x1p-15;
  if (draw >> 60 != 0) return value;
  const int64_t kind = source.Between(0, 19);
  if (kind >= 16) return static_cast<double>(kind - 17);  // -1, 0, 1, 2
  return value * static_cast<double>(int64_t{1} << kind) * 0x1p-12;
}

double RandomReal(RandomSource& source, const FloatFormat& format, const RandomRange& range, int64_t low,
                  int64_t high) {
  if (range.low || range.high) return static_cast<double>(source.Between(low, high));
  if (format.specials == FloatSpecials::kE8M0) {
    return static_cast<double>(int64_t{1} << source.Between(0, 7)) * 0.0625;
  }
  return NormalLike(source);
}

struct Ends {
  int64_t low, high;
};
Ends EndsFor(ElementType type, const RandomRange& range) {
  const auto [least, most] = ExactIntegerRange(type);
  const int64_t low = range.low.value_or(IsSignedIntegral(type) && !range.high ? -10 : 0);
  const int64_t high = range.high.value_or(IsUnsignedIntegral(type) ? 15 : 10);
  Ends ends = {std::clamp(low, least, most), std::clamp(high, least, most)};
  if (ends.low > ends.high) ends.high = ends.low;
  return ends;
}

// Values in storage order; one strip at a time, so that an array of any size needs no second copy.
absl::Status FillStrips(RandomSource& source, Literal& array, const RandomRange& range) {
  const ElementType type = array.shape().element_type();
  const Ends ends = EndsFor(type, range);
  const FloatFormat* format = Info(type).format;
  alignas(64) std::byte strip[kStripBytes];
  const int64_t total = array.shape().num_elements();
  std::byte* out = array.MutableBytes().data();
  for (int64_t first = 0; first < total; first += kStrip) {
    ASSAY_RETURN_IF_ERROR(PollWork());
    const int64_t n = std::min(kStrip, total - first);
    if (format != nullptr) {
      double* reals = reinterpret_cast<double*>(strip);
      const int64_t count = IsComplex(type) ? 2 * n : n;
      for (int64_t i = 0; i < count; ++i) {
        reals[i] = RandomReal(source, *format, range, ends.low, ends.high);
      }
      RoundStripToFormat(reals, count, *format);
    } else if (KindOf(type) == ComputeKind::kBool) {
      uint8_t* bits = reinterpret_cast<uint8_t*>(strip);
      for (int64_t i = 0; i < n; ++i) bits[i] = static_cast<uint8_t>(source.Between(ends.low, ends.high));
    } else {  // int64 and uint64 hold the same bits for what an int64 range has
      int64_t* integers = reinterpret_cast<int64_t*>(strip);
      for (int64_t i = 0; i < n; ++i) integers[i] = source.Between(ends.low, ends.high);
    }
    StoreStrip(type, strip, n, out + first * Bytes(type), Bytes(type));
  }
  return absl::OkStatus();
}

absl::StatusOr<Literal> RandomArray(const Shape& shape, uint64_t seed, const RandomRange& range) {
  RandomSource source(seed);
  if (range.sorted || range.unique) {
    const Ends ends = EndsFor(shape.element_type(), range);
    ASSAY_RETURN_IF_ERROR(CheckRoomForIntegers(shape));
    const std::vector<int64_t> values =
        RandomIntegers(source, shape.num_elements(), ends.low, ends.high, range.sorted, range.unique);
    return ArrayOfIntegers(shape, values);
  }
  ASSAY_ASSIGN_OR_RETURN(Literal array, Literal::Make(shape));
  ASSAY_RETURN_IF_ERROR(FillStrips(source, array, range));
  return array;
}

}  // namespace

absl::Status CheckRoomForIntegers(const Shape& array) {
  // Of distinct ones a table of up to 4 times as many, or a set; and the values themselves.
  constexpr int64_t kBytesEach = 48;
  const std::shared_ptr<MemoryBudget>& budget = BudgetScope::Current();
  if (budget == nullptr) return absl::OkStatus();
  const int64_t bytes = CheckedMul(array.num_elements(), kBytesEach).value_or(INT64_MAX);
  if (!budget->Reserve(bytes)) return budget->Refusal(fmt::format("random {}", array.ToString()), bytes);
  budget->Release(bytes);
  return absl::OkStatus();
}

absl::StatusOr<Literal> ArrayOfIntegers(const Shape& array, std::span<const int64_t> values) {
  ASSAY_CHECK(static_cast<int64_t>(values.size()) == array.num_elements());
  ASSAY_ASSIGN_OR_RETURN(Literal literal, Literal::Make(array));
  const ElementType type = array.element_type();
  std::byte* out = literal.MutableBytes().data();
  for (size_t i = 0; i < values.size(); ++i) {
    ScalarValue value;
    value.kind = KindOf(type);
    value.b = values[i] != 0;
    value.i = values[i];
    value.u = static_cast<uint64_t>(values[i]);
    if (const FloatFormat* format = Info(type).format) {
      value.r = RoundToFormat(static_cast<double>(values[i]), *format);
    }
    value.c = value.r;
    StoreElement(type, value, out + i * Bytes(type));
  }
  return literal;
}

absl::StatusOr<Literal> RandomLiteral(const Shape& shape, uint64_t seed, const RandomRange& range) {
  if (shape.IsArray()) return RandomArray(shape, seed, range);
  if (!shape.IsTuple()) return Literal::Make(shape);
  std::vector<Literal> elements;
  for (size_t i = 0; i < shape.elements().size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(Literal element, RandomLiteral(shape.elements()[i], DerivedSeed(seed, i), range));
    elements.push_back(std::move(element));
  }
  return Literal::Tuple(std::make_shared<const Shape>(shape), std::move(elements));
}

}  // namespace assay
