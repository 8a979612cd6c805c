#include "literal/random.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "catch2/catch.hpp"
#include "shape/shape_text.h"

namespace assay {
namespace {

Literal Random(std::string_view shape, uint64_t seed, const RandomRange& range = {}) {
  absl::StatusOr<Literal> literal = RandomLiteral(ParseShape(shape).value(), seed, range);
  INFO(shape << ": " << literal.status());
  REQUIRE(literal.ok());
  return *literal;
}

std::vector<int64_t> IntsOf(const Literal& literal) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < literal.shape().num_elements(); ++i) values.push_back(literal.GetInt(i));
  return values;
}

TEST_CASE("random: the source gives the published numbers of SplitMix64", "[random]") {
  // First outputs for seed 1234567, from the reference implementation's published test vector.
  RandomSource source(1234567);
  for (uint64_t want : {6457827717110365317u, 3203168211198807973u, 9817491932198370423u}) {
    CHECK(source.Next() == want);
  }
}

TEST_CASE("random: equal seeds give equal values, other seeds others", "[random]") {
  for (std::string_view shape : {"f32[100]", "(s32[9], c64[3,3])", "u4[50]", "bf16[7]"}) {
    CHECK(Literal::BitwiseEqual(Random(shape, 7), Random(shape, 7)));
    CHECK_FALSE(Literal::BitwiseEqual(Random(shape, 7), Random(shape, 8)));
  }
  const Literal twins = Random("(s32[9], s32[9])", 7);
  CHECK_FALSE(Literal::BitwiseEqual(twins.element(0), twins.element(1)));
}

TEST_CASE("random: floats are spread around zero, finite, and sometimes small, large or zero", "[random]") {
  const Literal literal = Random("f64[100000]", 3);
  double sum = 0, squares = 0;
  int zeros = 0, tiny = 0, above_two = 0;
  for (int64_t i = 0; i < 100000; ++i) {
    const double x = literal.GetDouble(i);
    REQUIRE(std::isfinite(x));
    sum += x;
    squares += x * x;
    zeros += x == 0;
    tiny += x != 0 && std::abs(x) < 0x1p-13;
    above_two += std::abs(x) > 2;
  }
  CHECK(std::abs(sum / 100000) < 0.02);
  CHECK(squares / 100000 > 0.25);
  CHECK(squares / 100000 < 0.6);
  CHECK(zeros > 100);
  CHECK(tiny > 100);
  CHECK(above_two > 100);
}

TEST_CASE("random: every element type has more than one value and no NaN", "[random]") {
  for (int t = 0; t < kNumElementTypes; ++t) {
    const ElementType type = static_cast<ElementType>(t);
    CAPTURE(Name(type));
    const Literal literal = Random(std::string(Name(type)) + "[300]", 11);
    std::set<std::vector<std::byte>> seen;
    for (int64_t i = 0; i < 300; ++i) {
      const std::byte* element = literal.data() + i * Bytes(type);
      seen.emplace(element, element + Bytes(type));
      if (IsFloat(type)) CHECK_FALSE(std::isnan(literal.GetDouble(i)));
    }
    CHECK(seen.size() > 1);
  }
}

TEST_CASE("random: integers stay in the range asked for and reach both ends", "[random]") {
  RandomRange range;
  range.low = 3;
  range.high = 5;
  for (std::string_view shape : {"s32[200]", "u8[200]", "s64[200]", "s4[200]"}) {
    const std::vector<int64_t> values = IntsOf(Random(shape, 1, range));
    CHECK(*std::min_element(values.begin(), values.end()) == 3);
    CHECK(*std::max_element(values.begin(), values.end()) == 5);
  }
  const Literal reals = Random("f16[50]", 1, range);
  for (int64_t i = 0; i < 50; ++i)
    CHECK(reals.GetDouble(i) == std::clamp(std::floor(reals.GetDouble(i)), 3.0, 5.0));
  range.high = 1000;
  for (int64_t value : IntsOf(Random("s4[50]", 1, range))) CHECK((value >= 3 && value <= 7));
}

TEST_CASE("random: default integers are small", "[random]") {
  const std::vector<int64_t> values = IntsOf(Random("s64[2000]", 1));
  CHECK(*std::min_element(values.begin(), values.end()) == -10);
  CHECK(*std::max_element(values.begin(), values.end()) == 10);
  for (int64_t value : IntsOf(Random("s2[50]", 1))) CHECK((value >= -2 && value <= 1));
  for (int64_t value : IntsOf(Random("u64[50]", 1))) CHECK((value >= 0 && value <= 15));
}

TEST_CASE("random: sorted and unique are kept", "[random]") {
  RandomRange range;
  range.low = 0;
  range.sorted = range.unique = true;
  for (int64_t high : {99, 120, 1000000}) {
    range.high = high;
    const std::vector<int64_t> values = IntsOf(Random("s32[100]", 5, range));
    CHECK(std::is_sorted(values.begin(), values.end()));
    CHECK(std::set<int64_t>(values.begin(), values.end()).size() == 100);
    CHECK(values.back() <= high);
  }
  range.unique = false;
  range.high = 3;
  const std::vector<int64_t> values = IntsOf(Random("s32[100]", 5, range));
  CHECK(std::is_sorted(values.begin(), values.end()));
}

TEST_CASE("random: with too few values, none comes again before all have come", "[random]") {
  RandomSource source(9);
  const std::vector<int64_t> values = RandomIntegers(source, 12, 10, 14, false, true);
  for (int start : {0, 1, 7}) {
    CHECK(std::set<int64_t>(values.begin() + start, values.begin() + start + 5).size() == 5);
  }
}

TEST_CASE("random: the ends of int64 can be asked for", "[random]") {
  RandomSource source(9);
  const int64_t least = std::numeric_limits<int64_t>::min(), most = std::numeric_limits<int64_t>::max();
  CHECK(RandomIntegers(source, 4, least, most, true, true).size() == 4);
  CHECK(source.Between(most, most) == most);
  CHECK(ExactIntegerRange(ElementType::kS64) == std::pair(least, most));
  CHECK(ExactIntegerRange(ElementType::kS1) == std::pair<int64_t, int64_t>(-1, 0));
  CHECK(ExactIntegerRange(ElementType::kU64) == std::pair<int64_t, int64_t>(0, most));
  CHECK(ExactIntegerRange(ElementType::kF32) == std::pair<int64_t, int64_t>(-16777216, 16777216));
  CHECK(ExactIntegerRange(ElementType::kF4E2M1FN) == std::pair<int64_t, int64_t>(-4, 4));
}

}  // namespace
}  // namespace assay
