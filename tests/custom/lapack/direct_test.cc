// Factorizations, products of reflectors and systems of equations by LAPACK's routines: their equations,
// computed here by plain loops.
#include <catch2/catch.hpp>
#include <functional>

#include "tests/custom/lapack/matrices.h"

namespace assay::testing {
namespace {

using Sizes = std::vector<std::pair<int64_t, int64_t>>;
const Sizes kSizes = {{5, 5}, {7, 4}, {4, 7}, {1, 1}, {40, 33}};

std::string Target(const LapackType& type, const std::string& routine) {
  return fmt::format("lapack_{}{}_ffi", type.letter, routine);
}

// The product of reflectors 1 - tau v v*, v = (0, …, 0, 1, v below),
// of the columns of `packed` from row `first` + column on.
Matrix Reflectors(const Matrix& packed, const std::vector<Number>& taus, int64_t first = 0) {
  Matrix q = Identity(packed.rows);
  for (size_t k = 0; k < taus.size(); ++k) {
    Matrix v(packed.rows, 1);
    const int64_t pivot = static_cast<int64_t>(k) + first;
    v(pivot, 0) = 1;
    for (int64_t i = pivot + 1; i < packed.rows; ++i) v(i, 0) = packed(i, k);
    Matrix h = v * Adjoint(v);
    for (Number& value : h.values) value *= taus[k];
    q = q * (Identity(packed.rows) - h);
  }
  return q;
}

// Q of reflectors whose numbers have been rounded.
void CheckReflectors(const Matrix& q, const LapackType& type) {
  CHECK_ROUNDED(Adjoint(q) * q - Identity(q.columns), std::sqrt(static_cast<double>(q.columns)), q.rows,
                type);
}

// L U of one matrix, and the rows of a as the pivots exchange them.
void CheckLu(const LapackType& type, Matrix a, const Matrix& lu, const std::vector<Number>& pivots) {
  const int64_t k = std::min(a.rows, a.columns);
  Matrix l(a.rows, k);
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j < k; ++j) {
      l(i, j) = i == j ? Number(1) : i > j ? lu(i, j) : Number(0);
      CHECK(std::abs(l(i, j)) <= 1.5);  // complex pivots are compared by |re| + |im|
    }
  }
  for (int64_t i = 0; i < k; ++i) {
    const int64_t other = static_cast<int64_t>(pivots[i].real()) - 1;
    REQUIRE((other >= i && other < a.rows));
    for (int64_t j = 0; j < a.columns; ++j) std::swap(a(i, j), a(other, j));
  }
  CHECK_WITHIN(l * Corner(UpperPart(lu), k, a.columns) - a, Norm(a), std::max(a.rows, a.columns), type);
}

}  // namespace

TEST_CASE("lapack getrf: P A = L U, each matrix of a batch", "[custom][lapack]") {
  for (const LapackType& type : LapackTypes()) {
    for (const auto& [m, n] : kSizes) {
      const int64_t k = std::min(m, n);
      const Literal a = Draw(type, {2, 3, m, n});
      const std::vector<Literal> r =
          RunCall(Target(type, "getrf"), {a},
                  fmt::format("({}[2,3,{},{}], s32[2,3,{}], s32[2,3])", type.name, m, n, k));
      for (int64_t i = 0; i < 6; ++i) {
        CheckLu(type, MatrixAt(a, i), MatrixAt(r[0], i), VectorAt(r[1], i));
        CHECK(IntAt(r[2], i) == 0);
      }
    }
  }
}

TEST_CASE("lapack getrf: the kernel has the reference's bits, whatever the numbers", "[custom][lapack]") {
  const double kNan = std::numeric_limits<double>::quiet_NaN(),
               kInf = std::numeric_limits<double>::infinity();
  std::mt19937_64 generator(7);
  const auto small = [&] { return static_cast<double>(static_cast<int64_t>(generator() % 7) - 3); };
  for (const LapackType& type : LapackTypes()) {
    const int range = type.real == "f32" ? 140 : 1060;
    const auto wide = [&] {
      return std::ldexp(small() + 0.3, static_cast<int>(generator() % (2 * range)) - range);
    };
    const auto special = [&] {
      const uint64_t draw = generator() % 90;
      return draw == 0 ? kNan : draw == 1 ? kInf : draw == 2 ? -kInf : draw == 3 ? -0.0 : small() + 0.3;
    };
    for (const std::function<double()>& draw :
         {std::function<double()>(small), std::function<double()>(wide), std::function<double()>(special)}) {
      for (const auto& [m, n] : kSizes) {
        std::vector<Number> values(3 * m * n);
        for (Number& value : values) value = {draw(), type.is_complex() ? draw() : 0};
        // RunCall compares the two, bit for bit.
        RunCall(Target(type, "getrf"), {LiteralOf(type, {3, m, n}, values)},
                fmt::format("({}[3,{},{}], s32[3,{}], s32[3])", type.name, m, n, std::min(m, n)));
      }
    }
  }
}

TEST_CASE("lapack getrf: info is the first pivot that is 0", "[custom][lapack]") {
  for (const LapackType& type : LapackTypes()) {
    const Literal a = LiteralOf(type, {2, 3, 3}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1, 0, 0, 3, 0, 0, 5});
    const std::vector<Literal> r =
        RunCall(Target(type, "getrf"), {a}, fmt::format("({}[2,3,3], s32[2,3], s32[2])", type.name));
    CHECK(IntAt(r[2], 0) == 1);
    CHECK(IntAt(r[2], 1) == 2);
    CheckLu(type, MatrixAt(a, 1), MatrixAt(r[0], 1), VectorAt(r[1], 1));
  }
}

TEST_CASE("lapack geqrf, orgqr, ormqr: Q R = A, Q from its reflectors", "[custom][lapack]") {
  for (const LapackType& type : LapackTypes()) {
    const std::string prefix = type.is_complex() ? "un" : "or";
    for (const auto& [m, n] : kSizes) {
      const int64_t k = std::min(m, n);
      const Literal a = Draw(type, {2, m, n});
      const std::vector<Literal> qr = RunCall(
          Target(type, "geqrf"), {a}, fmt::format("({0}[2,{1},{2}], {0}[2,{3}])", type.name, m, n, k));
      for (int64_t i = 0; i < 2; ++i) {
        const Matrix packed = MatrixAt(qr[0], i), q = Reflectors(packed, VectorAt(qr[1], i));
        CheckReflectors(q, type);
        CHECK_ROUNDED(q * UpperPart(packed) - MatrixAt(a, i), Norm(MatrixAt(a, i)), std::max(m, n), type);
      }
      if (m >= n) {
        const Literal q = RunCall(Target(type, prefix + "gqr"), {qr[0], qr[1]},
                                  fmt::format("{}[2,{},{}]", type.name, m, n))[0];
        for (int64_t i = 0; i < 2; ++i) {
          const Matrix whole = Reflectors(MatrixAt(qr[0], i), VectorAt(qr[1], i));
          CHECK_ROUNDED(MatrixAt(q, i) - Corner(whole, m, n), std::sqrt(static_cast<double>(n)), m, type);
        }
      }
      for (const bool left : {true, false}) {
        for (const bool transpose : {true, false}) {
          const Literal c = left ? Draw(type, {2, m, 3}, 5) : Draw(type, {2, 3, m}, 5);
          const Literal product =
              RunCall(Target(type, prefix + "mqr"), {qr[0], qr[1], c}, c.shape().ToString(),
                      fmt::format("left = {}, transpose = {}", left, transpose))[0];
          for (int64_t i = 0; i < 2; ++i) {
            Matrix q = Reflectors(MatrixAt(qr[0], i), VectorAt(qr[1], i));
            if (transpose) q = Adjoint(q);
            const Matrix factor = MatrixAt(c, i), wanted = left ? q * factor : factor * q;
            CHECK_ROUNDED(MatrixAt(product, i) - wanted, Norm(factor), m, type);
          }
        }
      }
    }
  }
}

TEST_CASE("lapack: Qr and ProductOfElementaryHouseholderReflectors are geqrf and orgqr", "[custom][lapack]") {
  for (const LapackType& type : LapackTypes()) {
    const Literal a = Draw(type, {2, 7, 4});
    const std::string packed = fmt::format("{}[2,7,4]", type.name), taus = fmt::format("{}[2,4]", type.name);
    const std::string results = fmt::format("({}, {})", packed, taus);
    const std::vector<Literal> qr = RunCall("Qr", {a}, results),
                               same = RunCall(Target(type, "geqrf"), {a}, results);
    CHECK((Literal::BitwiseEqual(qr[0], same[0]) && Literal::BitwiseEqual(qr[1], same[1])));
    const Literal q = RunCall("ProductOfElementaryHouseholderReflectors", {qr[0], qr[1]}, packed)[0];
    for (int64_t i = 0; i < 2; ++i) {
      CheckUnitary(MatrixAt(q, i), type);
      CHECK_ROUNDED(MatrixAt(q, i) * Corner(UpperPart(MatrixAt(qr[0], i)), 4, 4) - MatrixAt(a, i),
                    Norm(MatrixAt(a, i)), 7, type);
    }
  }
  CHECK_THAT(CallRefusal("Qr", {"f16[3,3]"}, "(f16[3,3], f16[3])"), Catch::Contains("wanted f64[m,n]"));
  CHECK_THAT(CallRefusal("Qr", {}, "(f16[3,3], f16[3])"), Catch::Contains("0 operands, wanted 1"));
}

TEST_CASE("lapack orgqr: no reflectors give the first columns of the identity", "[custom][lapack]") {
  for (const LapackType& type : LapackTypes()) {
    const std::string name = type.is_complex() ? "ungqr" : "orgqr";
    const Literal q = RunCall(Target(type, name), {Draw(type, {4, 3}), Draw(type, {0})},
                              fmt::format("{}[4,3]", type.name))[0];
    CHECK(Norm(MatrixAt(q) - Corner(Identity(4), 4, 3)) == 0);
    const std::vector<Literal> one = RunCall(Target(type, name), {Draw(type, {4, 3}), Draw(type, {0})},
                                             fmt::format("({}[4,3])", type.name));
    CHECK(Literal::BitwiseEqual(one[0], q));
  }
}

TEST_CASE("lapack geqp3: Q R = A P, fixed columns first, |R| falling", "[custom][lapack]") {
  for (const LapackType& type : LapackTypes()) {
    for (const auto& [m, n] : kSizes) {
      for (const bool fixed : {false, true}) {
        const int64_t k = std::min(m, n);
        const Literal a = Draw(type, {m, n});
        std::vector<int64_t> jpvt(n, 0);
        if (fixed) jpvt[n - 1] = 1;
        const int64_t sizes[] = {n};
        const std::vector<Literal> r =
            RunCall(Target(type, "geqp3"), {a, Literal::FromInts(ElementType::kS32, sizes, jpvt)},
                    fmt::format("({0}[{1},{2}], s32[{2}], {0}[{3}])", type.name, m, n, k));
        const Matrix packed = MatrixAt(r[0]), q = Reflectors(packed, VectorAt(r[2])), original = MatrixAt(a);
        CheckReflectors(q, type);
        Matrix permuted(m, n);
        for (int64_t j = 0; j < n; ++j) {
          for (int64_t i = 0; i < m; ++i) permuted(i, j) = original(i, IntAt(r[1], j) - 1);
        }
        CHECK_ROUNDED(q * UpperPart(packed) - permuted, Norm(original), std::max(m, n), type);
        if (fixed) CHECK(IntAt(r[1], 0) == n);
        for (int64_t i = fixed ? 2 : 1; i < k; ++i)
          CHECK(std::abs(packed(i, i)) <= std::abs(packed(i - 1, i - 1)) * (1 + 64 * type.epsilon()));
      }
    }
  }
}

TEST_CASE("lapack gehrd: A = Q H Q* in rows and columns low to high", "[custom][lapack]") {
  for (const LapackType& type : LapackTypes()) {
    for (const int64_t n : {1, 2, 6, 40}) {
      const Literal a = Draw(type, {2, n, n});
      const std::vector<Literal> r =
          RunCall(Target(type, "gehrd"), {a},
                  fmt::format("({0}[2,{1},{1}], {0}[2,{2}], s32[2])", type.name, n, n - 1),
                  fmt::format("high = {} : i32, low = 1 : i32", n));
      for (int64_t i = 0; i < 2; ++i) {
        const Matrix packed = MatrixAt(r[0], i), q = Reflectors(packed, VectorAt(r[1], i), 1);
        CheckReflectors(q, type);
        CHECK_ROUNDED(q * UpperPart(packed, -1) * Adjoint(q) - MatrixAt(a, i), Norm(MatrixAt(a, i)), n, type);
        CHECK(IntAt(r[2], i) == 0);
      }
    }
  }
}

TEST_CASE("lapack sytrd: A = Q T Q*, of either triangle", "[custom][lapack]") {
  for (const LapackType& type : LapackTypes()) {
    for (const int64_t n : {1, 2, 6, 40}) {
      for (const bool lower : {true, false}) {
        const Literal a = Draw(type, {n, n});
        Matrix symmetric = MatrixAt(a);
        for (int64_t i = 0; i < n; ++i) {
          symmetric(i, i) = symmetric(i, i).real();
          for (int64_t j = 0; j < i; ++j) {
            Number& below = symmetric(i, j);
            Number& above = symmetric(j, i);
            lower ? above = std::conj(below) : below = std::conj(above);
          }
        }
        const std::vector<Literal> r =
            RunCall(Target(type, type.is_complex() ? "hetrd" : "sytrd"), {a},
                    fmt::format("({0}[{1},{1}], {2}[{1}], {2}[{3}], {0}[{3}], s32[])", type.name, n,
                                type.real, n - 1),
                    fmt::format("uplo = {} : ui8", lower ? 76 : 85));
        Matrix t = Diagonal(VectorAt(r[1]));
        for (int64_t i = 0; i + 1 < n; ++i) t(i, i + 1) = t(i + 1, i) = NumberAt(r[2], i);
        const Matrix packed = MatrixAt(r[0]);
        Matrix q = Identity(n);
        if (lower) {
          q = Reflectors(packed, VectorAt(r[3]), 1);
        } else {
          // Q = H(n-1) … H(1); v of H(i) is 1 at i, stored above it in column i + 1, counted from 1.
          for (int64_t k = n - 2; k >= 0; --k) {
            Matrix v(n, 1);
            v(k, 0) = 1;
            for (int64_t i = 0; i < k; ++i) v(i, 0) = packed(i, k + 1);
            Matrix h = v * Adjoint(v);
            for (Number& value : h.values) value *= NumberAt(r[3], k);
            q = q * (Identity(n) - h);
          }
        }
        CheckReflectors(q, type);
        CHECK_ROUNDED(q * t * Adjoint(q) - symmetric, Norm(symmetric), n, type);
      }
    }
  }
}

TEST_CASE("lapack gtsv: A x = b; info is the pivot that is 0", "[custom][lapack]") {
  for (const LapackType& type : LapackTypes()) {
    for (const std::string routine : {"gtsv", "perturbed"}) {
      for (const int64_t n : {1, 2, 3, 30}) {
        const std::vector<Literal> args = {Draw(type, {2, n}, 1), Draw(type, {2, n}, 2),
                                           Draw(type, {2, n}, 3), Draw(type, {2, n, 3}, 4)};
        const bool perturbed = routine == "perturbed";
        const std::string x_shape = fmt::format("{}[2,{},3]", type.name, n);
        const std::vector<Literal> r =
            perturbed ? RunCall("tridiagonal_solve_perturbed_ffi", args, x_shape)
                      : RunCall(Target(type, "gtsv"), args,
                                fmt::format("({0}[2,{1}], {0}[2,{1}], {0}[2,{1}], {2}, s32[2])", type.name, n,
                                            x_shape));
        const Literal& x = r[perturbed ? 0 : 3];
        for (int64_t i = 0; i < 2; ++i) {
          Matrix a = Diagonal(VectorAt(args[1], i));
          for (int64_t j = 0; j + 1 < n; ++j) {
            a(j + 1, j) = VectorAt(args[0], i)[j + 1];
            a(j, j + 1) = VectorAt(args[2], i)[j];
          }
          CHECK_WITHIN(a * MatrixAt(x, i) - MatrixAt(args[3], i), Norm(a) * Norm(MatrixAt(x, i)), n, type);
          if (!perturbed) CHECK(IntAt(r[4], i) == 0);
        }
      }
    }
    const std::string three = fmt::format("{}[3]", type.name);
    const std::vector<Literal> r = RunCall(Target(type, "gtsv"),
                                           {LiteralOf(type, {3}, {0, 0, 0}), LiteralOf(type, {3}, {1, 0, 1}),
                                            LiteralOf(type, {3}, {0, 0, 0}), Draw(type, {3, 1})},
                                           fmt::format("({0}, {0}, {0}, {1}[3,1], s32[])", three, type.name));
    CHECK(IntAt(r[4]) == 2);
  }
}

TEST_CASE("lapack perturbed tridiagonal solve: singular systems have large, finite solutions",
          "[custom][lapack]") {
  for (const LapackType& type : LapackTypes()) {
    // (1 1; 1 1) x = (1, 2): the last pivot is 0 and becomes eps times the largest of U, 1.
    const Literal x = RunCall("tridiagonal_solve_perturbed_ffi",
                              {LiteralOf(type, {2}, {0, 1}), LiteralOf(type, {2}, {1, 1}),
                               LiteralOf(type, {2}, {1, 0}), LiteralOf(type, {2, 1}, {1, 2})},
                              fmt::format("{}[2,1]", type.name))[0];
    CHECK(NumberAt(x, 1) == Number(1 / type.epsilon()));
    CHECK(NumberAt(x, 0) == Number(1 - 1 / type.epsilon()));
    // Nothing but zeros: the pivot is the smallest normal number p, then 3 p, 7 p,
    // until 5 / pivot is in range.
    const Literal y = RunCall("tridiagonal_solve_perturbed_ffi",
                              {LiteralOf(type, {1}, {0}), LiteralOf(type, {1}, {0}),
                               LiteralOf(type, {1}, {0}), LiteralOf(type, {1, 1}, {5})},
                              fmt::format("{}[1,1]", type.name))[0];
    CHECK(std::isfinite(NumberAt(y, 0).real()));
    CHECK(std::abs(NumberAt(y, 0)) > 1e37);
  }
}

}  // namespace assay::testing
