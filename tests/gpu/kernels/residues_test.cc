// The kernels of residues.cu and residue_product.cu against exact sums of the reference.
#include "tests/gpu/kernels/residue_run.h"

namespace assay::gpu::residues {

TEST_CASE("f32 dots by residues of every layout and odd sizes are exact", "[kernels][residues]") {
  for (const bool lhs : {false, true}) {
    for (const bool rhs : {false, true}) {
      ResidueCase<float> x{.batch = 2, .m = 37, .n = 19, .k = 141, .lhs_turned = lhs, .rhs_turned = rhs};
      FillBoth(x, Normal);
      const ResidueOutcome outcome = CheckResidues(x, Float::kF32);
      // 10 or 11 hold the sums exactly where the elements are lucky.
      CHECK((outcome.moduli == 10 || (outcome.exact && outcome.moduli == 11)));
      CHECK_FALSE(outcome.again);
      CHECK(outcome.still_open <= outcome.open);
    }
  }
  for (const auto& [m, n, k] : {std::array{1, 1, 1}, {129, 257, 1}, {5, 3, 0}, {30, 20, 775}}) {
    ResidueCase<float> x{.m = m, .n = n, .k = k};
    FillBoth(x, Normal);
    CheckResidues(x, Float::kF32);
  }
}

TEST_CASE("f32 dots by residues of data that are hard to round are exact", "[kernels][residues]") {
  ResidueCase<float> x{.m = 33, .n = 21, .k = 150};
  for (const Float type : {Float::kF32, Float::kBf16, Float::kF16}) {
    // Wide ranges: little fits into the integers of the first level.
    FillBoth(x, [] { return std::exp(3 * Normal()) * (Normal() < 0 ? -1 : 1); });
    CHECK(CheckResidues(x, type).again != 0);
    FillBoth(x, [] { return std::ldexp(1 + std::abs(Normal()), static_cast<int>(Numbers()() % 80) - 40); });
    CheckResidues(x, type);
    FillBoth(x, [] { return AnyFinite<float>(); });
    CheckResidues(x, type);
    // Every sum is zero, and what doubles make of it isn't.
    FillBoth(x, Normal);
    Cancel(x);
    CHECK(CheckResidues(x, type).results == std::vector<uint64_t>(33 * 21, 0));
    // Results near the least numbers, and rows that are zeros of either sign.
    FillBoth(x, [] {
      return Normal() *
             (Numbers()() % 4 == 0 ? -0.0 : std::ldexp(1, -70 - static_cast<int>(Numbers()() % 10)));
    });
    std::fill_n(x.lhs.begin(), x.k, -0.0f);
    CheckResidues(x, type);
    // Subnormal elements.
    FillBoth(x, [] { return std::ldexp(Normal(), -140); });
    for (int64_t i = 0; i < x.n * x.k; ++i) x.rhs[i] = static_cast<float>(Normal() * 0x1p100);
    CheckResidues(x, type);
  }
}

TEST_CASE("dots by residues of a second level leave little open", "[kernels][residues]") {
  ResidueCase<float> x{.m = 40, .n = 40, .k = 200};
  FillBoth(x, [] { return std::exp(3 * Normal()) * (Normal() < 0 ? -1 : 1); });
  Cancel(x);
  for (int64_t i = 0; i < 40; ++i) x.lhs[i * 200] *= 1 + 0x1p-20f;
  const ResidueOutcome outcome = CheckResidues(x, Float::kF32);
  CHECK(outcome.again != 0);
  CHECK(outcome.still_open < 16);
}

TEST_CASE("dots by residues of few bits need fewer moduli and leave nothing open", "[kernels][residues]") {
  ResidueCase<float> x{.m = 20, .n = 30, .k = 130};
  for (const Float type : {Float::kF32, Float::kBf16}) {
    FillBoth(x, [] { return static_cast<double>(static_cast<int64_t>(Numbers()() % 201) - 100) / 8; });
    const ResidueOutcome outcome = CheckResidues(x, type);
    CHECK(outcome.exact);
    CHECK(outcome.moduli == 3);
    CHECK(outcome.open == 0);
  }
  // Of 21 bits, cancelling.
  FillBoth(x, [] { return static_cast<double>(static_cast<int64_t>(Numbers()() << 3) >> 43) * 0x1p-20; });
  Cancel(x);
  const ResidueOutcome outcome = CheckResidues(x, Float::kF32);
  CHECK(outcome.exact);
  CHECK(outcome.open == 0);
}

TEST_CASE("dots by residues with NaN and infinities, and at the end of the range", "[kernels][residues]") {
  ResidueCase<float> x{.m = 12, .n = 12, .k = 18};
  const float inf = HUGE_VALF;
  for (const Float type : {Float::kF32, Float::kBf16}) {
    FillBoth(x, Normal);
    x.lhs[0] = inf;
    x.lhs[18 + 1] = -inf;
    x.lhs[36 + 2] = std::nanf("");
    x.lhs[54] = inf;
    x.lhs[55] = -inf;
    x.rhs[18] = 0;
    x.rhs[54] = inf;
    std::fill_n(x.rhs.begin() + 90, 18, 0.0f);
    // Sums beyond the largest number, such that cancel, and the largest number with half a unit more and
    // less.
    for (int k = 0; k < 18; ++k) x.lhs[144 + k] = x.rhs[144 + k] = k % 2 == 0 ? 0x1.fffffep127f : 0x1p127f;
    for (int k = 0; k < 18; ++k) x.lhs[162 + k] = k % 2 == 0 ? 0x1.fffffep127f : -0x1.fffffep127f;
    const float ends[] = {0x1p103f, 0x1.fffffep102f, 0x1.000002p103f};
    for (int i = 0; i < 3; ++i) {
      std::fill_n(x.lhs.begin() + (5 + i) * 18, 18, 0.0f);
      x.lhs[(5 + i) * 18] = 0x1.fffffep127f;
      x.lhs[(5 + i) * 18 + 1] = ends[i];
    }
    std::fill_n(x.rhs.begin() + 11 * 18, 18, 1.0f);
    CHECK(CheckResidues(x, type).open > 0);
  }
}

// Rows that are alike and as long as the limit allows: sums next to P / 2, where a quotient that is off by a
// little gives a sum that is wrong by P.
template <typename T>
ResidueCase<T> Parallel(int64_t k, int moduli, int usual, double factor = 1 - 0x1p-22) {
  ResidueCase<T> x{.m = 4, .n = 5, .k = k, .usual = usual};
  const double limit = ResidueSystems()[moduli].limit - std::sqrt(static_cast<double>(k)) / 2 - 1.01;
  const double element = limit / std::sqrt(static_cast<double>(k - 1)) * factor;
  for (auto* const values : {&x.lhs, &x.rhs}) {
    // One element makes the unit so small that nothing is exact.
    for (int64_t i = 0; i < static_cast<int64_t>(values->size()); ++i)
      (*values)[i] = static_cast<T>(i % k == 0 ? 0x1p-60 : (i % k * 7 % 5 < 2 ? element : -element));
  }
  for (int64_t i = 0; i < k; ++i) x.lhs[k + i] = -x.lhs[k + i];
  return x;
}

TEST_CASE("dots by residues of rows that are parallel and fill the limit are exact", "[kernels][residues]") {
  for (const int64_t k : {64, 100}) {
    for (int moduli = 5; moduli <= 11; ++moduli) {
      const ResidueOutcome outcome = CheckResidues(Parallel<float>(k, moduli, moduli), Float::kBf16);
      CHECK(outcome.moduli == moduli);
      CHECK_FALSE(outcome.exact);
      // Rows that are a little longer are scaled down.
      CheckResidues(Parallel<float>(k, moduli, moduli, 1 + 0x1p-8), Float::kBf16);
    }
    // 16 moduli, as the four of the first level leave all open.
    CHECK(CheckResidues(Parallel<float>(k, 16, 4), Float::kF32).again == 16);
    for (int moduli = 17; moduli <= 20; ++moduli)
      CheckResidues(Parallel<double>(k, moduli, moduli), Float::kF64);
    for (int moduli = 21; moduli <= 23; ++moduli) {
      ResidueCase<double> x = Parallel<double>(k, moduli, 17);
      x.again_moduli = moduli;
      CHECK(CheckResidues(x, Float::kF64).again == moduli);
    }
  }
}

TEST_CASE("sums of exact units that fill the system are exact", "[kernels][residues]") {
  for (const auto& [moduli, factor] :
       std::vector<std::pair<int, double>>{{3, 1}, {4, 1}, {5, 1}, {3, 1.3}, {4, 1.3}}) {
    ResidueCase<float> x{.m = 3, .n = 3, .k = 4};
    const auto element = static_cast<float>(2 * std::floor(ResidueSystems()[moduli].limit / 4 * factor) - 1);
    FillBoth(x, [&] { return Numbers()() % 2 == 0 ? element : -element; });
    std::fill_n(x.lhs.begin(), 4, element);
    std::fill_n(x.rhs.begin(), 4, element);
    std::fill_n(x.rhs.begin() + 4, 4, -element);
    const ResidueOutcome outcome = CheckResidues(x, Float::kF32);
    CHECK(outcome.exact);
    CHECK(outcome.moduli <= moduli + 1);
  }
}

TEST_CASE("sums of residues in pieces of k are exact", "[kernels][residues]") {
  for (const int piece : {1, 2, 3}) {
    ResidueCase<float> x{.batch = 2, .m = 6, .n = 7, .k = 800, .piece_steps = piece};
    FillBoth(x, Normal);
    CheckResidues(x, Float::kF32);
  }
}

TEST_CASE("f64 dots by residues are exact", "[kernels][residues]") {
  for (const bool turned : {false, true}) {
    ResidueCase<double> x{.batch = 2, .m = 17, .n = 9, .k = 137, .lhs_turned = turned, .rhs_turned = !turned};
    FillBoth(x, Normal);
    const ResidueOutcome outcome = CheckResidues(x, Float::kF64);
    CHECK(outcome.moduli == 18);
    CHECK(outcome.open < 4);
    CheckResidues(x, Float::kF32);
  }
  ResidueCase<double> x{.m = 13, .n = 11, .k = 60};
  for (const Float type : {Float::kF64, Float::kF32}) {
    FillBoth(x, AnyFinite<double>);
    CheckResidues(x, type);
    FillBoth(x, [] { return std::ldexp(Normal(), static_cast<int>(Numbers()() % 200) - 100); });
    CheckResidues(x, type);
    FillBoth(x, Normal);
    Cancel(x);
    CHECK(CheckResidues(x, type).results == std::vector<uint64_t>(13 * 11, 0));
    // Rows of many sizes: products near the ends of the range.
    FillBoth(x, Normal);
    for (int64_t row = 0; row < x.m; ++row) {
      for (int64_t i = 0; i < x.k; ++i)
        x.lhs[row * x.k + i] *= std::ldexp(1, 100 * static_cast<int>(row) - 600);
    }
    for (int64_t i = 0; i < x.n * x.k; ++i)
      x.rhs[i] *= std::ldexp(1, static_cast<int>(100 * (i / x.k)) - 500);
    CheckResidues(x, type);
    FillBoth(x, [] { return static_cast<double>(static_cast<int64_t>(Numbers()() % 2001) - 1000); });
    const ResidueOutcome exact = CheckResidues(x, type);
    CHECK(exact.exact);
    CHECK(exact.open == 0);
  }
}

// Beside numbers that are integers in units of their row, one that vanishes when it is scaled decides a tie.
TEST_CASE("elements of f64 that vanish beside their row decide ties", "[kernels][residues]") {
  for (const double last : {0x1p-1000, -0x1p-1000, 0.0}) {
    ResidueCase<double> x{.m = 1, .n = 1, .k = 3};
    x.lhs = {0x1p400, 0x1p347, last};
    x.rhs = {1, 1, 1};
    CHECK(CheckResidues(x, Float::kF64).open == (last == 0 ? 0 : 1));
  }
}

// Few moduli leave much open, and without a second level all of it is mended, but for rows of many cuts.
TEST_CASE("open entries are mended by what was cut off", "[kernels][residues]") {
  for (const int moduli : {7, 8, 9}) {
    ResidueCase<float> x{
        .m = 80, .n = 80, .k = 160, .rhs_turned = true, .usual = moduli, .has_second_level = false};
    FillBoth(x, Normal);
    // One element makes the unit so small that nothing is exact.
    x.lhs[0] = 0x1p-60f;
    const ResidueOutcome outcome = CheckResidues(x, Float::kF32);
    CHECK(outcome.moduli == moduli);
    CHECK(outcome.open > 8);
    if (moduli == 9) CHECK(outcome.still_open == 0);
  }
}

TEST_CASE("what is wrong in the tables of residues shows in the sums", "[kernels][residues]") {
  ResidueCase<float> normal{.m = 20, .n = 20, .k = 200};
  FillBoth(normal, Normal);
  const auto differs = [](const ResidueCase<float>& x, Float type, int moduli, const auto& change) {
    return RunResidues(x, type, [&](std::vector<ResidueSystem>& all) { change(all[moduli]); }).results !=
           ExpectedOf(x, type);
  };
  normal.usual = 10;
  const auto each = [&](const auto& change) {
    // Both numbers that may be taken.
    return RunResidues(normal, Float::kF32, [&](std::vector<ResidueSystem>& all) {
             change(all[10]);
             change(all[11]);
           }).results != ExpectedOf(normal, Float::kF32);
  };
  CHECK_FALSE(each([](ResidueSystem&) {}));
  CHECK(each([](ResidueSystem& s) { s.weight[9][0] = s.weight[9][1] = 0; }));  // a modulus dropped
  CHECK(each([](ResidueSystem& s) { s.low[0][3] += 1; }));
  CHECK(each([](ResidueSystem& s) { s.fold[2] += 1; }));
  CHECK(each([](ResidueSystem& s) { s.product[0] += 1; }));
  CHECK(each([](ResidueSystem& s) { s.start[0] += 128; }));
  CHECK(each([](ResidueSystem& s) { std::swap(s.modulus[0], s.modulus[1]); }));
  // A bound that forgets what was cut off.
  ResidueCase<float> forgets = normal;
  forgets.usual = 7;
  forgets.lhs[0] = 0x1p-60f;
  CHECK_FALSE(differs(forgets, Float::kF32, 7, [](ResidueSystem&) {}));
  forgets.forgets_cuts = true;
  CHECK(differs(forgets, Float::kF32, 7, [](ResidueSystem&) {}));
  // A limit that is too high, where rows fill it.
  const ResidueCase<float> parallel = Parallel<float>(64, 8, 8);
  CHECK(differs(parallel, Float::kBf16, 8, [](ResidueSystem& s) { s.limit *= 2; }));
}

// Bytes of 127, and k beyond what 32 bits hold of their products. Slow: not part of the ordinary run.
//
// Four moduli, 256, 255, 253 and 251: of 255 the inverse of the product of the others, 256 * 253 * 251 = 8,
// is 32, so that elements of 4 have bytes of 32 * 4 - 255 = -127. Sums are 4 * 127 * 140,000 = 7.1e7,
// between half of the product of three moduli, 8.3e6, and of four, 2.1e9; those of the bytes of 255 are -127
// * 127 * 140,000 = -2.26e9, below -2^31.
TEST_CASE("sums of residues of very long rows are exact", "[.long][kernels][residues]") {
  ResidueCase<float> x{.m = 1, .n = 1, .k = 140000};
  constexpr int kModuli = 4;
  const ResidueSystem& system = ResidueSystems()[kModuli];
  REQUIRE(system.modulus[1] == 255);
  REQUIRE((4 * system.low[0][1] + 127) % 255 == 0);
  std::fill(x.lhs.begin(), x.lhs.end(), 4.0f);
  std::fill(x.rhs.begin(), x.rhs.end(), 127.0f);
  // Odd neighbours, so that units are 1.
  x.lhs[0] += 1;
  x.rhs[0] -= 2;
  const ResidueOutcome outcome = CheckResidues(x, Float::kF32);
  CHECK(outcome.exact);
  CHECK(outcome.moduli == kModuli);
  // In one piece the sums of bytes wrap.
  x.piece_steps = 2 * kResiduePieceSteps + 100;
  CHECK(RunResidues(x, Float::kF32).results != ExpectedOf(x, Float::kF32));
}

}  // namespace assay::gpu::residues
