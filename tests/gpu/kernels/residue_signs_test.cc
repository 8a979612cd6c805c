// Infinities and NaN in dots by residues: sums of signs decide the entries beside them, and cost as much as
// two moduli, or three where lhs has padding.
#include "tests/gpu/kernels/residue_run.h"

namespace assay::gpu::residues {

// An element of few kinds, so that products of all kinds meet.
template <typename T>
T AnyKind(int of_special) {
  const T infinity = std::numeric_limits<T>::infinity();
  const uint64_t kind = Numbers()() % static_cast<uint64_t>(of_special);
  switch (kind) {
    case 0:
      return infinity;
    case 1:
      return -infinity;
    case 2:
      return std::numeric_limits<T>::quiet_NaN();
    case 3:
      return T{0};
    case 4:
      return -T{0};
    case 5:
      return std::numeric_limits<T>::denorm_min();
    case 6:
      return -std::numeric_limits<T>::max();
    default:
      return static_cast<T>(Normal());
  }
}

// How many results are infinite, of either sign, NaN, and finite.
std::array<int, 4> KindsOf(const std::vector<uint64_t>& results, Float type) {
  const FloatShape shape = ShapeOf(type);
  const uint64_t sign = uint64_t{1} << (shape.bits - 1),
                 infinity = ((uint64_t{1} << (shape.bits - shape.precision)) - 1) << (shape.precision - 1);
  std::array<int, 4> kinds{};
  for (const uint64_t bits : results) {
    const uint64_t magnitude = bits & ~sign;
    ++kinds[magnitude < infinity ? 3 : magnitude > infinity ? 2 : bits == infinity ? 0 : 1];
  }
  return kinds;
}

template <typename T>
void CheckKinds(Float type) {
  for (const bool has_padding : {false, true}) {
    for (const auto& [k, of_special] : {std::array{1, 8}, {2, 12}, {5, 24}, {40, 200}, {300, 2000}}) {
      ResidueCase<T> x{.batch = 2,
                       .m = 33,
                       .n = 37,
                       .k = k,
                       .lhs_turned = k == 40,
                       .rhs_turned = k == 5,
                       .lhs_has_padding = has_padding};
      const auto fill = [&](std::vector<T>& values) {
        for (T& value : values) value = AnyKind<T>(of_special);
      };
      fill(x.lhs);
      fill(x.rhs);
      const ResidueOutcome outcome = CheckResidues(x, type);
      INFO(k << " terms" << (has_padding ? ", padding" : ""));
      CHECK(outcome.special);
      for (const int count : KindsOf(outcome.results, type)) CHECK(count > 0);
    }
  }
}

TEST_CASE("dots by residues of infinities, NaN and zeros are those of their terms", "[kernels][residues]") {
  CheckKinds<float>(Float::kF32);
  CheckKinds<float>(Float::kBf16);
  CheckKinds<float>(Float::kF16);
  CheckKinds<double>(Float::kF64);
  CheckKinds<double>(Float::kF32);
}

// Nothing that is not finite may take three times what normal data take; a modulus more costs as much as a
// sum of signs.
template <typename T>
void CheckSpecialCosts(Float type, bool has_padding) {
  ResidueCase<T> x{.m = 40, .n = 40, .k = 200, .lhs_has_padding = has_padding};
  const T infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  FillBoth(x, Normal);
  const ResidueOutcome normal = CheckResidues(x, type);
  CHECK_FALSE(normal.special);
  const auto check = [&](const char* what, const auto& change) {
    INFO(what << (has_padding ? ", padding" : ""));
    FillBoth(x, Normal);
    change();
    const ResidueOutcome outcome = CheckResidues(x, type);
    CHECK(outcome.special);
    CHECK(outcome.again == 0);
    CHECK(outcome.moduli + (has_padding ? 3 : 2) < 3 * normal.moduli);
    // Those of the rows that are finite.
    CHECK(outcome.open <= normal.open + kFewRepaired);
    CHECK(outcome.still_open <= kFewRepaired);
  };
  const auto each = [&](std::vector<T>& values, T value) {
    for (size_t i = 0; i < values.size(); i += static_cast<size_t>(x.k)) values[i + i / x.k % x.k] = value;
  };
  check("an infinity", [&] { x.lhs[7 * x.k + 5] = infinity; });
  check("an infinity of rhs", [&] { x.rhs[7 * x.k + 5] = -infinity; });
  check("a NaN", [&] { x.lhs[7 * x.k + 5] = nan; });
  check("a NaN of rhs", [&] { x.rhs[7 * x.k + 5] = nan; });
  check("a NaN in each row", [&] { each(x.lhs, nan); });
  check("a NaN in each column", [&] { each(x.rhs, nan); });
  check("an infinity in each row", [&] { each(x.lhs, infinity); });
  check("an infinity in each row and column", [&] {
    each(x.lhs, infinity);
    each(x.rhs, infinity);
  });
  check("rows of infinities", [&] { std::fill_n(x.lhs.begin(), 8 * x.k, infinity); });
  check("infinities alone", [&] {
    std::fill(x.lhs.begin(), x.lhs.end(), infinity);
    std::fill(x.rhs.begin(), x.rhs.end(), -infinity);
  });
  check("NaN alone", [&] {
    std::fill(x.lhs.begin(), x.lhs.end(), nan);
    std::fill(x.rhs.begin(), x.rhs.end(), nan);
  });
}

TEST_CASE("what is not finite costs dots by residues little", "[kernels][residues]") {
  for (const bool has_padding : {false, true}) {
    CheckSpecialCosts<float>(Float::kF32, has_padding);
    CheckSpecialCosts<float>(Float::kBf16, has_padding);
    CheckSpecialCosts<double>(Float::kF64, has_padding);
  }
}

// Elements of a column that are not finite, all of which stand beside padding: the sum of the others is left
// to the repair.
TEST_CASE("dots by residues beside padding alone are finite sums", "[kernels][residues]") {
  ResidueCase<float> x{.m = 9, .n = 9, .k = 20, .lhs_has_padding = true};
  FillBoth(x, Normal);
  for (int64_t row = 0; row < 3; ++row) x.lhs[row * 20] = x.lhs[row * 20 + 1] = -0.0f;
  for (int64_t column = 0; column < x.n; ++column) x.rhs[column * 20] = HUGE_VALF;
  for (int64_t column = 0; column < 4; ++column) x.rhs[column * 20 + 1] = std::nanf("");
  const ResidueOutcome outcome = CheckResidues(x, Float::kF32);
  CHECK(KindsOf(outcome.results, Float::kF32)[3] == 3 * 9);
  CHECK(outcome.still_open == 3 * 9);
}

// Rows that stay do not stay as they are where the other side has infinities.
TEST_CASE("kept slices get planes of signs when the other side needs them", "[kernels][residues]") {
  ResidueCase<float> x{.m = 20, .n = 30, .k = 140, .is_kept = true};
  FillBoth(x, Normal);
  x.lhs[0] = 0x1p-60f;  // nothing is exact
  x.rhs[3 * 140 + 9] = HUGE_VALF;
  const ResidueOutcome outcome = CheckResidues(x, Float::kF32);
  CHECK(outcome.special);
  CHECK(outcome.made == std::vector{1, 1, 2});
}

}  // namespace assay::gpu::residues
