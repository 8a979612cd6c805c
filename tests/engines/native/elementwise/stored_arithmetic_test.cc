#include "engines/native/elementwise/stored_arithmetic.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "literal/literal.h"

namespace assay::native {
namespace {

TEST_CASE("stored arithmetic: the machine's own operation, rounded once", "[native][elementwise]") {
  // All pairs of these f32 and f64 values, and NaN with a payload.
  const double values[] = {0.0,        -0.0,     1.0,       -1.5, 0x1p-149, 0x1.fffffep127,
                           0x1.8p-140, HUGE_VAL, -HUGE_VAL, NAN};
  const ElementType types[] = {ElementType::kF32, ElementType::kF64};
  for (ElementType type : types) {
    for (Opcode opcode : {Opcode::kAdd, Opcode::kSubtract, Opcode::kMultiply, Opcode::kDivide}) {
      std::vector<double> x, y;
      for (double a : values) {
        for (double b : values) {
          x.push_back(a);
          y.push_back(b);
        }
      }
      const int64_t n = static_cast<int64_t>(x.size());
      const Literal lhs = Literal::FromDoubles(type, {&n, 1}, x);
      const Literal rhs = Literal::FromDoubles(type, {&n, 1}, y);
      Literal stored = Literal::FromDoubles(type, {&n, 1}, x);
      const std::byte* in[] = {lhs.data(), rhs.data()};
      StoredArithmeticFor(opcode, type)(n, in, stored.MutableBytes().data());
      std::vector<double> wanted;
      for (int64_t i = 0; i < n; ++i) {
        const long double a = x[i], b = y[i];
        wanted.push_back(type == ElementType::kF64
                             ? (opcode == Opcode::kAdd        ? x[i] + y[i]
                                : opcode == Opcode::kSubtract ? x[i] - y[i]
                                : opcode == Opcode::kMultiply ? x[i] * y[i]
                                                              : x[i] / y[i])
                             : static_cast<double>(opcode == Opcode::kAdd        ? a + b
                                                   : opcode == Opcode::kSubtract ? a - b
                                                   : opcode == Opcode::kMultiply ? a * b
                                                                                 : a / b));
      }
      INFO(Name(opcode) << " " << Name(type));
      CHECK(Literal::BitwiseEqual(stored, Literal::FromDoubles(type, {&n, 1}, wanted)));
    }
  }
}

TEST_CASE("stored arithmetic: signs and extremes", "[native][elementwise]") {
  // 17 elements: a whole block, and one more.
  const std::vector<double> x = {0.0,  -0.0, 1.5,  -1.5, NAN, 2,   -HUGE_VAL, 0x1p-149, -0x1p-149,
                                 -0.0, 0.0,  -0.0, 0.0,  3,   NAN, HUGE_VAL,  -7};
  const std::vector<double> y = {-0.0, -0.0, 2, -2, 1, NAN, HUGE_VAL,  -0x1p-149, 0x1p-149,
                                 0.0,  0.0,  1, -1, 3, NAN, -HUGE_VAL, -8};
  struct Case {
    Opcode opcode;
    std::vector<double> wanted;
  };
  const Case cases[] = {
      {Opcode::kAbs, {0, 0, 1.5, 1.5, NAN, 2, HUGE_VAL, 0x1p-149, 0x1p-149, 0, 0, 0, 0, 3, NAN, HUGE_VAL, 7}},
      {Opcode::kNegate,
       {-0.0, 0.0, -1.5, 1.5, NAN, -2, HUGE_VAL, -0x1p-149, 0x1p-149, 0.0, -0.0, 0.0, -0.0, -3, NAN,
        -HUGE_VAL, 7}},
      {Opcode::kMaximum,
       {0.0, -0.0, 2, -1.5, NAN, NAN, HUGE_VAL, 0x1p-149, 0x1p-149, 0.0, 0.0, 1, 0.0, 3, NAN, HUGE_VAL, -7}},
      {Opcode::kMinimum,
       {-0.0, -0.0, 1.5, -2, NAN, NAN, -HUGE_VAL, -0x1p-149, -0x1p-149, -0.0, 0.0, -0.0, -1, 3, NAN,
        -HUGE_VAL, -8}},
  };
  for (const ElementType type : {ElementType::kF32, ElementType::kF64}) {
    for (const Case& one : cases) {
      const int64_t n = static_cast<int64_t>(x.size());
      const Literal lhs = Literal::FromDoubles(type, {&n, 1}, x);
      const Literal rhs = Literal::FromDoubles(type, {&n, 1}, y);
      Literal stored = Literal::FromDoubles(type, {&n, 1}, x);
      const std::byte* in[] = {lhs.data(), rhs.data()};
      StoredArithmeticFor(one.opcode, type)(n, in, stored.MutableBytes().data());
      INFO(Name(one.opcode) << " " << Name(type));
      CHECK(Literal::BitwiseEqual(stored, Literal::FromDoubles(type, {&n, 1}, one.wanted)));
    }
  }
}

}  // namespace
}  // namespace assay::native
