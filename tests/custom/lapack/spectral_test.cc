// Singular values, eigenvalues and Schur forms by LAPACK's routines: their equations,
// computed here by plain loops.
#include <catch2/catch.hpp>

#include "tests/custom/lapack/matrices.h"

namespace assay::testing {
namespace {

constexpr int kV = 'V', kN = 'N';

std::string SpectralTarget(const LapackType& type, const std::string& routine) {
  return fmt::format("lapack_{}{}_ffi", type.letter, routine);
}

std::string SvdResult(const LapackType& type, const std::string& batch, int64_t m, int64_t n, int64_t p,
                      int64_t q) {
  const std::string comma = batch.empty() ? "" : ",";
  return fmt::format("({0}[{7}{2},{3}], {1}[{7}{4}], {0}[{7}{2},{5}], {0}[{7}{6},{3}], s32[{8}])", type.name,
                     type.real, m, n, std::min(m, n), p, q, batch + comma, batch);
}

void CheckSvd(const LapackType& type, const Matrix& a, const std::vector<Number>& s, const Matrix& u,
              const Matrix& vt) {
  CheckUnitary(u, type);
  CheckUnitary(Adjoint(vt), type);
  const int64_t k = static_cast<int64_t>(s.size());
  CHECK_ROUNDED(Corner(u, a.rows, k) * Diagonal(s) * Corner(vt, k, a.columns) - a, Norm(a),
                std::max(a.rows, a.columns), type);
  for (int64_t i = 0; i < k; ++i) {
    CHECK(s[i].real() >= 0);
    if (i > 0) CHECK(s[i].real() <= s[i - 1].real());
  }
}

}  // namespace

TEST_CASE("lapack gesdd, gesvd: A = U S V*", "[custom][lapack]") {
  for (const LapackType& type : LapackTypes()) {
    for (const std::string routine : {"gesdd", "gesvd"}) {
      for (const auto& [m, n] :
           std::vector<std::pair<int64_t, int64_t>>{{5, 5}, {7, 4}, {4, 7}, {1, 1}, {40, 9}}) {
        const Literal a = Draw(type, {2, m, n});
        const int64_t k = std::min(m, n);
        std::vector<Literal> values;
        for (const char mode : {'A', 'S', 'N'}) {
          for (const bool all : {true, false}) {
            if (mode != 'N' && all != (mode == 'A')) continue;
            const std::vector<Literal> r = RunCall(SpectralTarget(type, routine), {a},
                                                   SvdResult(type, "2", m, n, all ? m : k, all ? n : k),
                                                   fmt::format("mode = {} : ui8", static_cast<int>(mode)));
            for (int64_t i = 0; i < 2; ++i) {
              CHECK(IntAt(r[4], i) == 0);
              if (mode != 'N')
                CheckSvd(type, MatrixAt(a, i), VectorAt(r[1], i), MatrixAt(r[2], i), MatrixAt(r[3], i));
            }
            if (mode == 'N') CHECK((AllZero(r[2]) && AllZero(r[3])));
            values.push_back(r[1]);
          }
        }
        // The values without vectors are those with them.
        for (const Literal& other : values) {
          for (int64_t i = 0; i < 2; ++i)
            CHECK_ROUNDED(ColumnAt(other, i) - ColumnAt(values[0], i), Norm(ColumnAt(values[0], i)),
                          std::max(m, n), type);
        }
      }
    }
  }
}

TEST_CASE("lapack gesdd: matrices without rows have the axes for vectors", "[custom][lapack]") {
  for (const LapackType& type : LapackTypes()) {
    for (const std::string routine : {"gesdd", "gesvd"}) {
      for (const int64_t n : {3, 70}) {
        const std::vector<Literal> r = RunCall(SpectralTarget(type, routine), {Draw(type, {2, 0, n})},
                                               SvdResult(type, "2", 0, n, 0, n), "mode = 65 : ui8");
        CHECK(Norm(MatrixAt(r[3], 1) - Identity(n)) == 0);
        CHECK(IntAt(r[4], 1) == 0);
      }
    }
    CHECK(RunCall(SpectralTarget(type, "gesdd"), {Draw(type, {0, 3, 3})}, SvdResult(type, "0", 3, 3, 3, 3),
                  "mode = 65 : ui8")[4]
              .shape()
              .num_elements() == 0);
  }
}

TEST_CASE("lapack syevd: A V = V W of the triangle that uplo names", "[custom][lapack]") {
  for (const LapackType& type : LapackTypes()) {
    for (const int64_t n : {1, 2, 6, 40}) {
      for (const bool lower : {true, false}) {
        const Literal a = Draw(type, {2, n, n});
        std::vector<Literal> values;
        for (const int mode : {kV, kN}) {
          const std::vector<Literal> r =
              RunCall(SpectralTarget(type, type.is_complex() ? "heevd" : "syevd"), {a},
                      fmt::format("({0}[2,{1},{1}], {2}[2,{1}], s32[2])", type.name, n, type.real),
                      fmt::format("mode = {} : ui8, uplo = {} : ui8", mode, lower ? 76 : 85));
          values.push_back(r[1]);
          for (int64_t i = 0; mode == kV && i < 2; ++i) {
            Matrix symmetric = MatrixAt(a, i);
            for (int64_t row = 0; row < n; ++row) {
              symmetric(row, row) = symmetric(row, row).real();
              for (int64_t j = 0; j < row; ++j) {
                if (lower) {
                  symmetric(j, row) = std::conj(symmetric(row, j));
                } else {
                  symmetric(row, j) = std::conj(symmetric(j, row));
                }
              }
            }
            const Matrix v = MatrixAt(r[0], i);
            CheckUnitary(v, type);
            CHECK_ROUNDED(symmetric * v - v * Diagonal(VectorAt(r[1], i)), Norm(symmetric), n, type);
            CHECK(IntAt(r[2], i) == 0);
            for (int64_t j = 1; j < n; ++j)
              CHECK(VectorAt(r[1], i)[j - 1].real() <= VectorAt(r[1], i)[j].real());
          }
        }
        CHECK_ROUNDED(ColumnAt(values[0]) - ColumnAt(values[1]), Norm(MatrixAt(a)), n, type);
      }
    }
  }
}

TEST_CASE("lapack geev: A VR = VR W, VL* A = W VL*, vectors of length 1", "[custom][lapack]") {
  for (const LapackType& type : LapackTypes()) {
    for (const int64_t n : {1, 2, 3, 6, 30}) {
      const Literal a = Draw(type, {3, n, n});
      const std::string vectors = fmt::format("{0}[3,{1},{1}]", type.complex, n);
      const std::string w = fmt::format("{}[3,{}]", type.name, n);
      for (const auto& [left, right] : {std::pair{kV, kV}, {kN, kV}, {kV, kN}, {kN, kN}}) {
        const std::vector<Literal> r = RunCall(
            SpectralTarget(type, "geev"), {a},
            fmt::format("({}{}, {}, {}, s32[3])", type.is_complex() ? "" : w + ", ", w, vectors, vectors),
            fmt::format("compute_left = {} : ui8, compute_right = {} : ui8", left, right));
        const size_t first = type.is_complex() ? 1 : 2;
        if (left == kN) CHECK(AllZero(r[first]));
        if (right == kN) CHECK(AllZero(r[first + 1]));
        for (int64_t i = 0; i < 3; ++i) {
          std::vector<Number> values = VectorAt(r[0], i);
          for (int64_t j = 0; !type.is_complex() && j < n; ++j)
            values[j] = Number(values[j].real(), VectorAt(r[1], i)[j].real());
          const Matrix matrix = MatrixAt(a, i), w_matrix = Diagonal(values);
          const Matrix vl = MatrixAt(r[first], i), vr = MatrixAt(r[first + 1], i);
          if (right == kV) {
            CHECK_ROUNDED(matrix * vr - vr * w_matrix, Norm(matrix), n, type);
            for (int64_t j = 0; j < n; ++j) {
              double length = 0;
              for (int64_t row = 0; row < n; ++row) length += std::norm(vr(row, j));
              CHECK(std::abs(length - 1) <= 2 * type.epsilon());
            }
          }
          if (left == kV) CHECK_ROUNDED(Adjoint(vl) * matrix - w_matrix * Adjoint(vl), Norm(matrix), n, type);
          CHECK(IntAt(r.back(), i) == 0);
        }
      }
    }
  }
}

TEST_CASE("lapack gees: A Z = Z T, T triangular but for blocks of complex pairs", "[custom][lapack]") {
  for (const LapackType& type : LapackTypes()) {
    for (const int64_t n : {1, 2, 6, 40}) {
      const Literal a = Draw(type, {2, n, n});
      const std::string square = fmt::format("{0}[2,{1},{1}]", type.name, n),
                        w = fmt::format("{}[2,{}]", type.name, n);
      const std::string shape =
          fmt::format("({0}, {0}, {1}{2}, s32[2], s32[2])", square, w, type.is_complex() ? "" : ", " + w);
      const std::vector<Literal> r =
          RunCall(SpectralTarget(type, "gees"), {a}, shape, "mode = 86 : ui8, sort = 78 : ui8");
      for (int64_t i = 0; i < 2; ++i) {
        const Matrix matrix = MatrixAt(a, i), t = MatrixAt(r[0], i), z = MatrixAt(r[1], i);
        CheckUnitary(z, type);
        CHECK_ROUNDED(matrix * z - z * t, Norm(matrix), n, type);
        CHECK(Norm(t - UpperPart(t, type.is_complex() ? 0 : -1)) == 0);
        for (int64_t j = 0; j < n; ++j) {
          CHECK(VectorAt(r[2], i)[j].real() == t(j, j).real());
          if (!type.is_complex() && j + 1 < n && t(j + 1, j) != Number(0)) {
            CHECK(VectorAt(r[3], i)[j].real() > 0);
            CHECK(t(j, j) == t(j + 1, j + 1));
          }
        }
        CHECK(IntAt(r.back(), i) == 0);
      }
      const std::vector<Literal> without =
          RunCall(SpectralTarget(type, "gees"), {a}, shape, "mode = 78 : ui8, sort = 78 : ui8");
      CHECK(AllZero(without[1]));
    }
  }
}

TEST_CASE("lapack: a matrix with NaN or infinity gives NaN, and info says where it was", "[custom][lapack]") {
  const double kNan = std::numeric_limits<double>::quiet_NaN(),
               kInf = std::numeric_limits<double>::infinity();
  for (const LapackType& type : LapackTypes()) {
    for (const double bad : {kNan, kInf}) {
      const Literal a = LiteralOf(type, {2, 2, 2}, {1, 2, 2, bad, 3, 1, 1, 3});
      const std::string square = fmt::format("{}[2,2,2]", type.name);
      const std::string w = fmt::format("{}[2,2]", type.name),
                        vectors = fmt::format("{}[2,2,2]", type.complex);
      const bool is_complex = type.is_complex();
      struct Call {
        std::string routine, result, config;
        int64_t info;
      };
      const std::vector<Call> calls = {
          {"gesdd", SvdResult(type, "2", 2, 2, 2, 2), "mode = 65 : ui8", -4},
          {"gesvd", SvdResult(type, "2", 2, 2, 2, 2), "mode = 65 : ui8", -5},
          {is_complex ? "heevd" : "syevd", fmt::format("({}, {}[2,2], s32[2])", square, type.real),
           "mode = 86 : ui8, uplo = 76 : ui8", -4},
          {"geev", fmt::format("({}{}, {}, {}, s32[2])", is_complex ? "" : w + ", ", w, vectors, vectors),
           "compute_left = 86 : ui8, compute_right = 86 : ui8", -4},
          {"gees", fmt::format("({0}, {0}, {1}{2}, s32[2], s32[2])", square, w, is_complex ? "" : ", " + w),
           "mode = 86 : ui8, sort = 78 : ui8", -5}};
      for (const Call& call : calls) {
        const std::vector<Literal> r =
            RunCall(SpectralTarget(type, call.routine), {a}, call.result, call.config);
        INFO(call.routine);
        CHECK(IntAt(r.back(), 0) == call.info);
        CHECK(IntAt(r.back(), 1) == 0);
        for (size_t k = 0; k + 1 < r.size(); ++k) {
          if (r[k].shape().element_type() == ElementType::kS32) continue;
          CHECK(std::isnan(NumberAt(r[k], 0).real()));
          CHECK(std::isfinite(NumberAt(r[k], r[k].shape().num_elements() - 1).real()));
        }
      }
    }
  }
}

}  // namespace assay::testing
