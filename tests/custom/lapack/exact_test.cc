// What makes decompositions unique, and what they are beside those of the machine's LAPACK.
#include <catch2/catch.hpp>

#include "custom/lapack/lapack_ops.h"
#include "tests/custom/lapack/matrices.h"
#include "tests/run/program_testing.h"

namespace assay::testing {
namespace {

const std::string kVectors = "mode = 86 : ui8, uplo = 76 : ui8";

std::string TargetOf(const LapackType& type, const std::string& routine) {
  return fmt::format("lapack_{}{}_ffi", type.letter, routine);
}
std::string EighOf(const LapackType& type) { return TargetOf(type, type.is_complex() ? "heevd" : "syevd"); }

std::vector<Literal> Eigh(const LapackType& type, const Literal& a,
                          std::shared_ptr<const CustomOps> ops = nullptr) {
  const std::string sizes = a.shape().rank() == 2 ? "" : fmt::format("{},", a.shape().size(0));
  const int64_t n = a.shape().sizes().back();
  return RunCall(EighOf(type), {a},
                 fmt::format("({0}[{3}{1},{1}], {2}[{3}{1}], s32[{4}])", type.name, n, type.real, sizes,
                             sizes.empty() ? "" : sizes.substr(0, sizes.size() - 1)),
                 kVectors, std::move(ops));
}

}  // namespace

TEST_CASE("lapack exact: vectors of one value are canonical", "[custom][lapack]") {
  for (const LapackType& type : LapackTypes()) {
    // Ones: 0 twice, with the plane that is orthogonal to (1, 1, 1), and 3. The projection of the first axis
    // onto the plane is (2, -1, -1) / 3, that of the second one without it (0, 1, -1) / 2.
    const std::vector<Literal> r = Eigh(type, LiteralOf(type, {3, 3}, std::vector<Number>(9, 1)));
    CHECK(
        (NumberAt(r[1], 0) == Number(0) && NumberAt(r[1], 1) == Number(0) && NumberAt(r[1], 2) == Number(3)));
    const bool is_single = type.real == "f32";
    const auto rounded = [is_single](double x) { return is_single ? static_cast<float>(x) : x; };
    const double kRoot6 = std::sqrt(6.0), kRoot2 = std::sqrt(2.0), kRoot3 = std::sqrt(3.0);
    const double wanted[3][3] = {{2 / kRoot6, 0, 1 / kRoot3},
                                 {-1 / kRoot6, 1 / kRoot2, 1 / kRoot3},
                                 {-1 / kRoot6, -1 / kRoot2, 1 / kRoot3}};
    const Matrix v = MatrixAt(r[0]);
    for (int64_t i = 0; i < 3; ++i) {
      for (int64_t j = 0; j < 3; ++j) CHECK(std::abs(v(i, j) - rounded(wanted[i][j])) <= type.epsilon() / 2);
    }
    CHECK(v(0, 1) == Number(0));
    // The identity, whose vectors are the axes.
    const Literal eye = LiteralOf(type, {3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1});
    CHECK(Norm(MatrixAt(Eigh(type, eye)[0]) - Identity(3)) == 0);
    const std::vector<Literal> svd =
        RunCall(TargetOf(type, "gesdd"), {eye},
                fmt::format("({0}[3,3], {1}[3], {0}[3,3], {0}[3,3], s32[])", type.name, type.real),
                "mode = 65 : ui8");
    CHECK((Norm(MatrixAt(svd[2]) - Identity(3)) == 0 && Norm(MatrixAt(svd[3]) - Identity(3)) == 0));
  }
}

TEST_CASE("lapack exact: a defective matrix has its eigenvalue exactly, and its vector again and again",
          "[custom][lapack]") {
  for (const LapackType& type : LapackTypes()) {
    // S J S^-1 for a block of Jordan with the eigenvalue 2 and S = (1 0 0; 1 1 0; 0 1 1): the vector is S's
    // first column.
    const Literal a = LiteralOf(type, {3, 3}, {1, 1, 0, 0, 2, 1, 1, -1, 3});
    const bool is_complex = type.is_complex();
    const std::string w = fmt::format("{}[3]", type.name), v = fmt::format("{}[3,3]", type.complex);
    const std::vector<Literal> r =
        RunCall(TargetOf(type, "geev"), {a},
                fmt::format("({}{}, {}, {}, s32[])", is_complex ? "" : w + ", ", w, v, v),
                "compute_left = 86 : ui8, compute_right = 86 : ui8");
    for (int64_t i = 0; i < 3; ++i) CHECK(NumberAt(r[0], i) == Number(2));
    if (!is_complex) CHECK(AllZero(r[1]));
    const Matrix right = MatrixAt(r[is_complex ? 2 : 3]);
    for (int64_t j = 0; j < 3; ++j) {
      // (A - 2) x = 0
      const Matrix x = Corner(right, 3, j + 1);
      const Matrix image = MatrixAt(a) * x;
      for (int64_t i = 0; i < 3; ++i) CHECK(std::abs(image(i, j) - 2.0 * x(i, j)) <= 2 * type.epsilon());
      for (int64_t i = 0; i < 3; ++i) CHECK(right(i, j) == right(i, 0));
    }
  }
}

TEST_CASE("lapack exact: a NaN or an infinity makes NaN of all floats of its matrix", "[custom][lapack]") {
  const double kNan = std::numeric_limits<double>::quiet_NaN(),
               kInf = std::numeric_limits<double>::infinity();
  for (const LapackType& type : LapackTypes()) {
    for (const double bad : {kNan, -kInf}) {
      const Literal a = LiteralOf(type, {2, 2, 2}, {1, 2, bad, 4, 3, 1, 1, 3});
      const std::string square = fmt::format("{}[2,2,2]", type.name),
                        taus = fmt::format("{}[2,2]", type.name);
      const int64_t sizes[] = {2, 2}, free_columns[] = {0, 0, 0, 0};
      const std::vector<Literal> qr =
          RunCall(TargetOf(type, "geqrf"), {a}, fmt::format("({}, {})", square, taus));
      const std::vector<Literal> pivoted =
          RunCall(TargetOf(type, "geqp3"), {a, Literal::FromInts(ElementType::kS32, sizes, free_columns)},
                  fmt::format("({}, s32[2,2], {})", square, taus));
      const std::vector<Literal> hessenberg =
          RunCall(TargetOf(type, "gehrd"), {a}, fmt::format("({}, {}[2,1], s32[2])", square, type.name),
                  "high = 2 : i32, low = 1 : i32");
      for (const Literal* const result : {&qr[0], &qr[1], &pivoted[0], &pivoted[2], &hessenberg[0]}) {
        const int64_t count = result->shape().num_elements();
        CHECK(
            (std::isnan(NumberAt(*result, 0).real()) && std::isnan(NumberAt(*result, count / 2 - 1).real())));
        CHECK((std::isfinite(NumberAt(*result, count / 2).real()) &&
               std::isfinite(NumberAt(*result, count - 1).real())));
      }
      CHECK((IntAt(pivoted[1], 0) == 1 && IntAt(pivoted[1], 1) == 2));
      CHECK(IntAt(hessenberg[2], 0) == 0);
      // A NaN among the factors of reflectors, or in the matrix that they are applied to.
      const Literal one_bad = LiteralOf(type, {2}, {1, bad}), packed = Draw(type, {2, 2});
      const Literal q = RunCall(TargetOf(type, type.is_complex() ? "ungqr" : "orgqr"), {packed, one_bad},
                                fmt::format("{}[2,2]", type.name))[0];
      CHECK(AllNan(q));
    }
  }
}

TEST_CASE("lapack exact: the machine's LAPACK gives the same to within its errors", "[custom][lapack]") {
  for (const LapackType& type : LapackTypes()) {
    const std::shared_ptr<const CustomOps> ops = custom::LibraryLapackOps();
    for (const auto& [m, n] : std::vector<std::pair<int64_t, int64_t>>{{6, 6}, {9, 4}, {4, 9}}) {
      const int64_t k = std::min(m, n);
      const Literal a = Draw(type, {m, n});
      const double size = Norm(MatrixAt(a));
      const std::string qr = fmt::format("({0}[{1},{2}], {0}[{3}])", type.name, m, n, k);
      const std::string svd = fmt::format("({0}[{1},{2}], {4}[{3}], {0}[{1},{3}], {0}[{3},{2}], s32[])",
                                          type.name, m, n, k, type.real);
      const std::vector<Literal> exact_qr = RunCall(TargetOf(type, "geqrf"), {a}, qr),
                                 library_qr = RunCall(TargetOf(type, "geqrf"), {a}, qr, "", ops);
      CHECK_WITHIN(MatrixAt(exact_qr[0]) - MatrixAt(library_qr[0]), size, m, type);
      CHECK_WITHIN(ColumnAt(exact_qr[1]) - ColumnAt(library_qr[1]), 2.0, m, type);
      const std::vector<Literal> exact_svd = RunCall(TargetOf(type, "gesdd"), {a}, svd, "mode = 83 : ui8"),
                                 library_svd =
                                     RunCall(TargetOf(type, "gesdd"), {a}, svd, "mode = 83 : ui8", ops);
      CHECK_WITHIN(ColumnAt(exact_svd[1]) - ColumnAt(library_svd[1]), size, m, type);
    }
    const Literal a = Draw(type, {7, 7});
    CHECK_WITHIN(ColumnAt(Eigh(type, a)[1]) - ColumnAt(Eigh(type, a, ops)[1]), Norm(MatrixAt(a)), 7, type);
  }
}

}  // namespace assay::testing
