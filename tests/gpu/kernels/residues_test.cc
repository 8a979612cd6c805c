// The kernels of residues.cu and residue_product.cu against exact sums of the reference.
#include <bit>
#include <cmath>
#include <functional>
#include <random>

#include "evaluator/scalar/exact_sum.h"
#include "gpu/residue_systems.h"
#include "tests/gpu/kernels/formats.h"
#include "tests/gpu/kernels/kernel_run.h"

namespace assay::gpu {
namespace {

// Operands [batch][rows][k] and [batch][columns][k], or with k before the rows.
template <typename T>
struct ResidueCase {
  int64_t batch = 1, m, n, k;
  bool lhs_turned = false, rhs_turned = false;
  int usual = 0;  // moduli; 0: by the rule
  int piece_steps = kResiduePieceSteps;
  bool has_second_level = true;
  int again_moduli = 0;  // of a second level that runs whatever the first one left; 0: by the rule
  std::vector<T> lhs = std::vector<T>(batch * m * k), rhs = std::vector<T>(batch * n * k);

  int64_t Left(int64_t b, int64_t row, int64_t i) const {
    return b * m * k + (lhs_turned ? i * m + row : row * k + i);
  }
  int64_t Right(int64_t b, int64_t column, int64_t i) const {
    return b * n * k + (rhs_turned ? i * n + column : column * k + i);
  }
};

template <typename T>
std::vector<uint64_t> ExpectedOf(const ResidueCase<T>& x, Float type) {
  std::vector<uint64_t> results;
  for (int64_t b = 0; b < x.batch; ++b) {
    for (int64_t row = 0; row < x.m; ++row) {
      for (int64_t column = 0; column < x.n; ++column) {
        ExactSum sum;
        sum.Add(0.0);
        for (int64_t i = 0; i < x.k; ++i)
          sum.AddProduct(x.lhs[x.Left(b, row, i)], x.rhs[x.Right(b, column, i)]);
        results.push_back(RoundedBits(sum, type));
      }
    }
  }
  return results;
}

struct ResidueOutcome {
  std::vector<uint64_t> results;
  int moduli = 0;           // of the first level
  bool exact = false;       // in units
  int again = 0;            // moduli of the second level; 0: it had nothing to do
  uint32_t open = 0;        // after the first level
  uint32_t still_open = 0;  // after all, for the repair
};

// What tests plant: a change of the tables.
using Plant = std::function<void(std::vector<ResidueSystem>&)>;

template <typename T>
class ResidueRun {
 public:
  ResidueRun(const ResidueCase<T>& x, Float type, const Plant& plant) : x_(x), type_(type) {
    std::vector<ResidueSystem> systems = ResidueSystems();
    if (plant) plant(systems);
    systems_ = AddressOf(memory_.Copy(systems));
    tiles_ = {static_cast<int32_t>(x.batch), Up(x.m, kPaddedRows) / kResidueRows,
              Up(x.n, kPaddedColumns) / kResidueColumns, Up(x.k, kResidueDepth) / kResidueDepth};
    const int precision = ShapeOf(type).precision;
    const int guard = GuardBits(kIsDouble, kIsDouble ? 53 : 24, precision);
    usual_ = std::max(kIsDouble ? 17 : kLeastModuli, UsualModuli(precision, x.k, guard, kIsDouble ? 20 : 11));
    if (x.usual != 0) usual_ = x.usual;
    MakeArguments();
  }

  ResidueOutcome operator()() {
    ResidueOutcome outcome;
    Launch("residue_choose", 1, kResidueRowThreads, kChooseSharedBytes, first_);
    const auto* const control = reinterpret_cast<const ResidueControl*>(first_.control);
    outcome.moduli = control->moduli;
    outcome.exact = control->exact != 0;
    Level(first_, kIsDouble ? "residue_slice_f64" : "residue_slice_f32",
          kIsDouble ? "residue_sum_4" : "residue_sum_2");
    outcome.open = *reinterpret_cast<const uint32_t*>(first_.dot.open_count);
    if constexpr (!kIsDouble) Launch("residue_mend", 2, kMendThreads, 0, first_);
    auto* const still_open = reinterpret_cast<uint32_t*>(first_.still_open_count);
    auto* const other = reinterpret_cast<ResidueControl*>(second_.control);
    if (x_.again_moduli != 0) {
      *still_open = 0;
      *other = {x_.again_moduli, 0, {0, 0}};
    } else if (x_.has_second_level) {
      ResidueArguments again = first_;
      again.least = kIsDouble ? 21 : 12;
      again.most = kIsDouble ? 23 : 16;
      Launch("residue_again", 1, 32, 0, again);
    }
    outcome.again = other->moduli;
    Level(second_, kIsDouble ? "residue_slice_f64" : "residue_slice_f32_wide",
          kIsDouble ? "residue_sum_5" : "residue_sum_3");
    outcome.still_open = *still_open;
    first_.dot.open = first_.still_open;
    first_.dot.open_count = first_.still_open_count;
    RunKernel(kIsDouble ? "dot_f64" : "dot", kIsDouble ? "dot_repair_f64" : "dot_repair_f32", 1,
              kRepairThreads, 0, first_.dot, memory_);
    const int64_t bytes = BytesOf(type_);
    for (int64_t i = 0; i < x_.batch * x_.m * x_.n; ++i)
      outcome.results.push_back(
          LoadBits(reinterpret_cast<const unsigned char*>(first_.dot.result) + i * bytes, bytes));
    return outcome;
  }

 private:
  static constexpr bool kIsDouble = sizeof(T) == 8;
  static int32_t Up(int64_t x, int64_t to) {
    return static_cast<int32_t>(std::max<int64_t>(1, (x + to - 1) / to) * to);
  }

  template <typename Arguments>
  void Launch(const char* name, int64_t blocks, int threads, uint32_t shared, const Arguments& a) {
    RunKernel("residues", name, blocks, threads, shared, a, memory_);
  }

  void MakeArguments() {
    DotArguments& dot = first_.dot;
    const auto operand = [&](const std::vector<T>& values, int64_t rows, bool turned) {
      DotOperand result{AddressOf(memory_.Copy(values)),
                        AddressOf(memory_.Allocate<RowScale>(x_.batch * rows)),
                        {1, {x_.batch}, {rows * x_.k}},
                        {1, {rows}, {turned ? 1 : x_.k}},
                        {1, {x_.k}, {turned ? rows : 1}}};
      RunKernel(kIsDouble ? "dot_f64" : "dot", kIsDouble ? "dot_scales_f64" : "dot_scales_f32",
                ScaleBlocks(result), kScaleThreads, kScaleSharedBytes, DotScaleArguments{result}, memory_);
      return result;
    };
    dot.lhs = operand(x_.lhs, x_.m, x_.lhs_turned);
    dot.rhs = operand(x_.rhs, x_.n, x_.rhs_turned);
    const int64_t count = x_.batch * x_.m * x_.n;
    dot.result = AddressOf(memory_.Allocate<unsigned char>(count * BytesOf(type_)));
    dot.batch_strides[0] = x_.m * x_.n;
    dot.row_strides[0] = x_.n;
    dot.column_strides[0] = 1;
    dot.open = AddressOf(memory_.Allocate<uint32_t>(count));
    dot.open_count = AddressOf(memory_.Copy<uint32_t>({0, 0}));
    dot.result_type = type_;
    first_.still_open = kIsDouble ? dot.open : AddressOf(memory_.Allocate<uint32_t>(count));
    first_.still_open_count = kIsDouble ? dot.open_count : AddressOf(memory_.Copy<uint32_t>({0, 0}));
    const int64_t mended = kIsDouble || !x_.has_second_level ? count : count / kMendedPart;
    first_.most_mended = static_cast<uint32_t>(mended);
    first_.most_repaired = static_cast<uint32_t>(kFewRepaired + count / kRepairedPart);
    first_.systems = systems_;
    first_.tiles = tiles_;
    first_.control = AddressOf(memory_.Copy<ResidueControl>({{0, 0}}));
    first_.least = kIsDouble ? 17 : kLeastModuli;
    first_.usual = usual_;
    first_.most = std::min(kIsDouble ? 20 : 11, usual_ + 1);
    for (int side = 0; side < 2; ++side) {
      const int64_t rows = x_.batch * PaddedRows(tiles_, side);
      first_.rows[side] = AddressOf(memory_.Copy(std::vector<ResidueRow>(rows)));
      first_.cuts[side] = kIsDouble ? 0 : AddressOf(memory_.Allocate<ResidueCut>(rows * kMostCuts));
    }
    second_ = first_;
    second_.dot.open = first_.still_open;
    second_.dot.open_count = first_.still_open_count;
    second_.control = AddressOf(memory_.Copy<ResidueControl>({{0, 0}}));
    first_.other_control = second_.control;
    for (int side = 0; side < 2; ++side) {
      second_.rows[side] =
          AddressOf(memory_.Copy(std::vector<ResidueRow>(x_.batch * PaddedRows(tiles_, side))));
      second_.cuts[side] = 0;
    }
  }

  void Level(ResidueArguments& a, const char* slice, const char* sum) {
    const int moduli = reinterpret_cast<const ResidueControl*>(a.control)->moduli;
    const int64_t matrices = x_.batch * std::max(1, moduli);
    uint64_t slices[2];
    for (int side = 0; side < 2; ++side) {
      slices[side] = AddressOf(
          memory_.Allocate<int8_t>(matrices * PaddedRows(tiles_, side) * tiles_.depth_steps * kResidueDepth));
      const ResidueSliceArguments arguments{side == 0 ? a.dot.lhs : a.dot.rhs,
                                            slices[side],
                                            a.rows[side],
                                            a.cuts[side],
                                            systems_,
                                            a.control,
                                            tiles_,
                                            std::sqrt(static_cast<double>(x_.k)) / 2 + 1.001,
                                            side};
      Launch(slice, SliceBlocks(tiles_, side), kSliceThreads, SliceSharedBytes(sizeof(T), kSlicePitch),
             arguments);
    }
    const int64_t rows = x_.batch * (PaddedRows(tiles_, 0) + PaddedRows(tiles_, 1));
    Launch("residue_finish", (rows + kResidueRowThreads - 1) / kResidueRowThreads, kResidueRowThreads, 0, a);
    a.residues = AddressOf(
        memory_.Allocate<uint8_t>(matrices * tiles_.row_tiles * tiles_.column_tiles * kResidueTileBytes));
    RunKernel("residue_product", "residue_product", 2, kResidueThreads, kResidueSharedBytes,
              ResidueProductArguments{slices[0], slices[1], a.residues, systems_, a.control, tiles_,
                                      x_.piece_steps},
              memory_);
    Launch(sum, ResidueSumBlocks(tiles_), kResidueSumThreads, kResidueSumSharedBytes, a);
  }

  const ResidueCase<T>& x_;
  const Float type_;
  TestMemory memory_;
  uint64_t systems_ = 0;
  ResidueTiles tiles_{};
  int usual_ = 0;
  ResidueArguments first_{}, second_{};
};

template <typename T>
ResidueOutcome RunResidues(const ResidueCase<T>& x, Float type, const Plant& plant = nullptr) {
  return ResidueRun<T>(x, type, plant)();
}
template <typename T>
ResidueOutcome CheckResidues(const ResidueCase<T>& x, Float type) {
  ResidueOutcome outcome = RunResidues(x, type);
  CHECK(outcome.results == ExpectedOf(x, type));
  return outcome;
}

std::mt19937_64& Numbers() {
  static std::mt19937_64 generator(90);
  return generator;
}
double Normal() { return std::normal_distribution<double>()(Numbers()); }
template <typename T, typename Value>
void FillBoth(ResidueCase<T>& x, Value value) {
  for (T& element : x.lhs) element = static_cast<T>(value());
  for (T& element : x.rhs) element = static_cast<T>(value());
}
// The second half of k cancels the first.
template <typename T>
void Cancel(ResidueCase<T>& x) {
  for (int64_t i = 0; i < x.k / 2; ++i) {
    for (int64_t b = 0; b < x.batch; ++b) {
      for (int64_t row = 0; row < x.m; ++row) x.lhs[x.Left(b, row, i + x.k / 2)] = x.lhs[x.Left(b, row, i)];
      for (int64_t column = 0; column < x.n; ++column)
        x.rhs[x.Right(b, column, i + x.k / 2)] = -x.rhs[x.Right(b, column, i)];
    }
  }
}
// Any finite bits.
template <typename T>
T AnyFinite() {
  using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  for (;;) {
    const auto x = std::bit_cast<T>(static_cast<Bits>(Numbers()()));
    if (x - x == 0) return x;
  }
}

}  // namespace

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
  // A limit that is too high, where rows fill it.
  const ResidueCase<float> parallel = Parallel<float>(64, 8, 8);
  CHECK(differs(parallel, Float::kBf16, 8, [](ResidueSystem& s) { s.limit *= 2; }));
}

// What an outcome costs, in products of bytes for each entry: the moduli of both levels, and the repair of an
// entry, which takes as long as 30,000 of them (residue_arguments.h).
template <typename T>
double CostOf(const ResidueCase<T>& x, const ResidueOutcome& outcome) {
  constexpr double kRepair = 30000;
  const double few = kFewRepaired, open = std::max(0.0, outcome.still_open - few);
  return outcome.moduli + outcome.again + kRepair * open / static_cast<double>(x.batch * x.m * x.n);
}

// Not one of these may cost many times what normal data cost.
template <typename T>
void CheckCosts(Float type) {
  ResidueCase<T> x{.m = 40, .n = 40, .k = 200};
  const auto cost = [&](const char* what) {
    INFO(what);
    const ResidueOutcome outcome = CheckResidues(x, type);
    INFO(outcome.moduli << " moduli, again " << outcome.again << ", open " << outcome.open << ", still open "
                        << outcome.still_open);
    const double of_data = CostOf(x, outcome);
    CHECK(of_data < 30 + 8 * static_cast<double>(sizeof(T) / 4));
    return of_data;
  };
  const auto wide = [] { return std::exp(3 * Normal()) * (Normal() < 0 ? -1 : 1); };
  FillBoth(x, Normal);
  const double normal = cost("normal");
  CHECK(normal <= (sizeof(T) == 8 ? 19 : type == Float::kBf16 ? 7 : 11));
  // One row of wide range, one of NaN, one with a NaN among others.
  for (int64_t i = 0; i < x.k; ++i) {
    x.lhs[i] = static_cast<T>(std::exp(8 * Normal()));
    x.lhs[x.k + i] = static_cast<T>(std::nan(""));
  }
  x.rhs[7 * x.k + 3] = static_cast<T>(std::nan(""));
  cost("a row of wide range, and NaN");
  FillBoth(x, wide);
  cost("wide");
  Cancel(x);
  cost("wide, and every sum cancels");
  FillBoth(x, Normal);
  Cancel(x);
  cost("every sum cancels");
  for (int64_t i = 0; i < x.m; ++i) x.lhs[i * x.k] *= static_cast<T>(1 + 0x1p-20);
  cost("all but one term of each sum cancel");
  FillBoth(x, [] { return std::ldexp(1 + std::abs(Normal()), static_cast<int>(Numbers()() % 80) - 40); });
  cost("80 powers of two");
}

TEST_CASE("dots by residues cost no data many times what normal data cost", "[kernels][residues]") {
  CheckCosts<float>(Float::kF32);
  CheckCosts<float>(Float::kBf16);
  CheckCosts<double>(Float::kF64);
}

// A NaN decides its row and its column, without the repair; beside padding it decides nothing.
TEST_CASE("dots by residues decide NaN in the first level", "[kernels][residues]") {
  ResidueCase<float> x{.m = 30, .n = 30, .k = 40};
  FillBoth(x, [] { return Numbers()() % 16 == 0 ? std::nan("") : Normal(); });
  const ResidueOutcome outcome = CheckResidues(x, Float::kF32);
  CHECK(outcome.again == 0);
  CHECK(outcome.open < 16);
}

// Bytes of 127, and k beyond what 32 bits hold of their products. Slow: not part of the ordinary run.
TEST_CASE("sums of residues of very long rows are exact", "[.long][kernels][residues]") {
  ResidueCase<float> x{.m = 1, .n = 1, .k = 140000};
  constexpr int kModuli = 4;
  const ResidueSystem& system = ResidueSystems()[kModuli];
  int left = 1;
  while ((left * system.low[0][1] % 255 + 255) % 255 != 127) ++left;
  std::fill(x.lhs.begin(), x.lhs.end(), static_cast<float>(left));
  std::fill(x.rhs.begin(), x.rhs.end(), 127.0f);
  // Odd neighbours, so that units are 1.
  x.lhs[0] += 1;
  x.rhs[0] -= 2;
  const ResidueOutcome outcome = CheckResidues(x, Float::kF32);
  CHECK(outcome.exact);
  CHECK(outcome.moduli == kModuli);
}

}  // namespace assay::gpu
