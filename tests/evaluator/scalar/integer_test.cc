// Integer operations: the specification's examples, and all pairs of the narrow widths against GMP integers
// (floor and truncating divisions, exact powers) reduced to the width by the test.
#include "evaluator/scalar/integer.h"

#include <gmp.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "catch2/catch.hpp"

namespace assay {
namespace {

constexpr int64_t kMin32 = std::numeric_limits<int32_t>::min();
constexpr int64_t kMin64 = std::numeric_limits<int64_t>::min();
constexpr uint64_t kMax64 = std::numeric_limits<uint64_t>::max();

struct Big {
  Big() { mpz_init(z); }
  explicit Big(int64_t x) { mpz_init_set_si(z, x); }
  ~Big() { mpz_clear(z); }
  Big(const Big&) = delete;
  Big& operator=(const Big&) = delete;
  // The value mod 2^bits, in [0, 2^bits) or, for signed types, [-2^(bits-1), 2^(bits-1)).
  int64_t Reduced(int bits, bool is_signed) {
    mpz_fdiv_r_2exp(z, z, bits);
    const int64_t value = mpz_get_si(z);
    return is_signed && value >= int64_t{1} << (bits - 1) ? value - (int64_t{1} << bits) : value;
  }
  mpz_t z;
};

}  // namespace

TEST_CASE("integers: division and remainder by zero and of the minimum", "[integer]") {
  const int64_t division[][3] = {{5, 0, -1}, {kMin32, -1, kMin32}, {7, 2, 3}, {-7, 2, -3}, {kMin32, 0, -1}};
  for (const auto& row : division) CHECK(SignedDivide(row[0], row[1], 32) == row[2]);
  CHECK(SignedDivide(kMin64, -1, 64) == kMin64);
  CHECK(SignedDivide(-8, -1, 4) == -8);
  CHECK(SignedDivide(-1, -1, 1) == -1);
  CHECK(UnsignedDivide(5, 0, 8) == 255);
  CHECK(UnsignedDivide(5, 0, 64) == kMax64);
  CHECK(UnsignedDivide(1, 0, 1) == 1);
  const int64_t remainder[][3] = {{5, 0, 5}, {kMin32, -1, 0}, {7, 2, 1}, {-7, 2, -1}};
  for (const auto& row : remainder) CHECK(SignedRemainder(row[0], row[1], 32) == row[2]);
  CHECK(SignedRemainder(kMin64, -1, 64) == 0);
  CHECK(UnsignedRemainder(200, 0, 8) == 200);
}

TEST_CASE("integers: powers of the specification's example", "[integer]") {
  const int64_t rows[][3] = {{2, -1, 0}, {0, 0, 1},  {-1, -1, -1},        {-1, -2, 1}, {2, 31, kMin32},
                             {1, -5, 1}, {0, -1, 0}, {3, 21, 1870418611}, {-2, 3, -8}};
  for (const auto& row : rows) {
    CAPTURE(row[0], row[1]);
    CHECK(SignedPower(row[0], row[1], 32) == row[2]);
  }
  CHECK(UnsignedPower(3, 41, 64) == 18026252303461234787ULL);  // 3^41 mod 2^64
  CHECK(UnsignedPower(2, 64, 64) == 0);
  CHECK(SignedPower(-1, kMin64, 64) == 1);
  CHECK(SignedPower(-1, kMin64 + 1, 64) == -1);
}

TEST_CASE("integers: high halves of products", "[integer]") {
  CHECK(SignedMultiplyHigh(int64_t{1} << 30, 8, 32) == 2);
  CHECK(SignedMultiplyHigh(-1, 3, 32) == -1);
  CHECK(UnsignedMultiplyHigh(200, 200, 8) == 156);
  CHECK(SignedMultiplyHigh(kMin64, kMin64, 64) == int64_t{1} << 62);
  CHECK(SignedMultiplyHigh(kMin64, 1, 64) == -1);
  CHECK(UnsignedMultiplyHigh(kMax64, kMax64, 64) == kMax64 - 1);
}

TEST_CASE("integers: shift amounts are unsigned and may pass the width", "[integer]") {
  const int64_t left[][3] = {{1, 31, kMin32}, {1, 32, 0}, {1, -1, 0}, {-1, 1, -2}};
  for (const auto& row : left) CHECK(SignedShiftLeft(row[0], row[1], 32) == row[2]);
  const int64_t amounts[][4] = {{-8, 1, -4, 2147483644}, {-8, 32, -1, 0}, {8, 40, 0, 0}, {-8, -1, -1, 0}};
  for (const auto& row : amounts) {
    CHECK(SignedShiftRightArithmetic(row[0], row[1], 32) == row[2]);
    CHECK(SignedShiftRightLogical(row[0], row[1], 32) == row[3]);
  }
  CHECK(UnsignedShiftRightArithmetic(0x80, 1, 8) == 0xc0);
  CHECK(UnsignedShiftRightArithmetic(0x80, 200, 8) == 0xff);
  CHECK(UnsignedShiftRightArithmetic(0x7f, 200, 8) == 0);
  CHECK(UnsignedShiftLeft(0xff, 4, 8) == 0xf0);
  CHECK(UnsignedShiftLeft(1, 64, 64) == 0);
  CHECK(UnsignedShiftRightLogical(kMax64, 63, 64) == 1);
  CHECK(SignedShiftRightLogical(-1, 1, 64) == std::numeric_limits<int64_t>::max());
  CHECK(SignedShiftRightArithmetic(-1, 0, 1) == -1);
  CHECK(SignedShiftLeft(-1, -1, 1) == 0);
}

TEST_CASE("integers: bit counts wrap to the type", "[integer]") {
  const int64_t rows[][3] = {{0, 0, 8}, {1, 1, 7}, {-1, 8, 0}, {64, 1, 1}};
  for (const auto& row : rows) {
    CHECK(SignedPopulationCount(row[0], 8) == row[1]);
    CHECK(SignedCountLeadingZeros(row[0], 8) == row[2]);
  }
  CHECK(SignedPopulationCount(-1, 2) == -2);
  CHECK(SignedPopulationCount(-1, 1) == -1);
  CHECK(SignedPopulationCount(-1, 64) == 64);
  CHECK(SignedCountLeadingZeros(0, 4) == 4);
  CHECK(SignedCountLeadingZeros(0, 2) == -2);
  CHECK(UnsignedCountLeadingZeros(0, 2) == 2);
  CHECK(UnsignedCountLeadingZeros(0, 1) == 1);
  CHECK(UnsignedCountLeadingZeros(1, 64) == 63);
  CHECK(UnsignedPopulationCount(kMax64, 64) == 64);
}

TEST_CASE("integers: all pairs of 1 to 6 bits against GMP", "[integer]") {
  for (const int bits : {1, 2, 4, 6}) {
    const int64_t half = int64_t{1} << (bits - 1), full = int64_t{1} << bits;
    for (const bool is_signed : {false, true}) {
      const int64_t low = is_signed ? -half : 0, high = is_signed ? half : full;
      for (int64_t a = low; a < high; ++a) {
        for (int64_t b = low; b < high; ++b) {
          Big x(a), y(b), product, quotient, remainder, power;
          mpz_mul(product.z, x.z, y.z);
          mpz_fdiv_q_2exp(product.z, product.z, bits);
          CAPTURE(bits, is_signed, a, b);
          const int64_t high_half = product.Reduced(bits, is_signed);
          REQUIRE((is_signed ? SignedMultiplyHigh(a, b, bits)
                             : static_cast<int64_t>(UnsignedMultiplyHigh(a, b, bits))) == high_half);
          if (b != 0) {
            mpz_tdiv_qr(quotient.z, remainder.z, x.z, y.z);
            const int64_t q = quotient.Reduced(bits, is_signed), r = remainder.Reduced(bits, is_signed);
            REQUIRE((is_signed ? SignedDivide(a, b, bits)
                               : static_cast<int64_t>(UnsignedDivide(a, b, bits))) == q);
            REQUIRE((is_signed ? SignedRemainder(a, b, bits)
                               : static_cast<int64_t>(UnsignedRemainder(a, b, bits))) == r);
          }
          if (b >= 0) {
            mpz_pow_ui(power.z, x.z, b);
            const int64_t p = power.Reduced(bits, is_signed);
            REQUIRE((is_signed ? SignedPower(a, b, bits) : static_cast<int64_t>(UnsignedPower(a, b, bits))) ==
                    p);
          }
        }
      }
    }
  }
}

}  // namespace assay
