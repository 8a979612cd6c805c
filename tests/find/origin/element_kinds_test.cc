// Which elements a trace looks for, at the ends of types.
#include "find/origin/element_kinds.h"

#include <cmath>
#include <limits>

#include "catch2/catch.hpp"

namespace assay::testing {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Literal Floats(ElementType type, const std::vector<double>& values) {
  const int64_t size = std::ssize(values);
  return Literal::FromDoubles(type, {&size, 1}, values);
}

Literal Ints(ElementType type, const std::vector<int64_t>& values) {
  const int64_t size = std::ssize(values);
  return Literal::FromInts(type, {&size, 1}, values);
}

}  // namespace

TEST_CASE("kinds: NaN, infinite and subnormal numbers of each width", "[find][origin]") {
  for (const ElementType type :
       {ElementType::kF16, ElementType::kBF16, ElementType::kF32, ElementType::kF64}) {
    const double smallest = std::ldexp(1, Info(type).format->min_exponent);
    const Literal x = Floats(type, {0, smallest, -smallest / 2, kInf, kNan, 1});
    CHECK(FirstOfKind(TraceKind::kNan, x) == 4);
    CHECK(FirstOfKind(TraceKind::kInfinity, x) == 3);
    CHECK(FirstOfKind(TraceKind::kSubnormal, x) == 2);
    CHECK(FirstOfKind(TraceKind::kSubnormal, x, 3) == -1);
    CHECK(CountOfKind(TraceKind::kOverflow, x) == 2);
  }
  CHECK(FirstOfKind(TraceKind::kNan, Ints(ElementType::kS32, {1, -1})) == -1);
}

TEST_CASE("kinds: a complex number is of a kind if a part is", "[find][origin]") {
  const int64_t size = 2;
  absl::StatusOr<Literal> x = Literal::Make(Shape::ArrayOrDie(ElementType::kC64, {&size, 1}));
  REQUIRE(x.ok());
  auto* const parts = reinterpret_cast<float*>(x->MutableBytes().data());
  parts[0] = parts[1] = parts[2] = 1;
  parts[3] = std::numeric_limits<float>::quiet_NaN();
  CHECK(FirstOfKind(TraceKind::kNan, *x) == 1);
  CHECK(CountOfKind(TraceKind::kNan, *x) == 1);
  CHECK_FALSE(IsOfKind(TraceKind::kNan, *x, 0));
}

TEST_CASE("kinds: elements beyond run-time sizes are none", "[find][origin]") {
  const int64_t size = 3;
  Shape shape = Shape::ArrayOrDie(ElementType::kF32, {&size, 1});
  shape.set_dynamic(0, true);
  absl::StatusOr<Literal> x = Literal::Make(shape);
  REQUIRE(x.ok());
  auto* const elements = reinterpret_cast<float*>(x->MutableBytes().data());
  elements[0] = 1;
  elements[1] = elements[2] = std::numeric_limits<float>::quiet_NaN();
  x->set_dynamic_size(0, 1);
  CHECK(FirstOfKind(TraceKind::kNan, *x) == -1);
  CHECK_FALSE(IsOfKind(TraceKind::kNan, *x, 2));
  x->set_dynamic_size(0, 2);
  CHECK(CountOfKind(TraceKind::kNan, *x) == 1);
}

TEST_CASE("kinds: conversions overflow where the number is out of range", "[find][origin]") {
  const auto overflows = [](const Literal& from, const Literal& to) {
    std::vector<bool> result;
    for (int64_t k = 0; k < from.shape().num_elements(); ++k) result.push_back(Overflowed(from, to, k));
    return result;
  };
  // The results are those of the specification: saturated, and NaN gives 0.
  const int64_t s64_max = std::numeric_limits<int64_t>::max();
  CHECK(overflows(Floats(ElementType::kF64, {1.5, -1.5, 0x1p63, -0x1p63, kNan}),
                  Ints(ElementType::kS64, {1, -1, s64_max, -s64_max - 1, 0})) ==
        std::vector<bool>{false, false, true, false, false});
  CHECK(overflows(Floats(ElementType::kF32, {-1, 256, 255.5}), Ints(ElementType::kU8, {0, 255, 255})) ==
        std::vector<bool>{true, true, false});
  // Integers wrap.
  CHECK(overflows(Ints(ElementType::kS32, {-1, 127, 128}), Ints(ElementType::kS8, {-1, 127, -128})) ==
        std::vector<bool>{false, false, true});
  CHECK(overflows(Ints(ElementType::kS64, {-1, 1}), Ints(ElementType::kU64, {-1, 1})) ==
        std::vector<bool>{true, false});
  // 65520 is half way from the largest f16 to 2^16.
  CHECK(overflows(Floats(ElementType::kF32, {65504, 65520, kInf}),
                  Floats(ElementType::kF16, {65504, kInf, kInf})) == std::vector<bool>{false, true, false});
}

}  // namespace assay::testing
