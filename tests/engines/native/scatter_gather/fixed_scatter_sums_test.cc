// Large scatters of f32 against sums by MPFR, and products against a plain loop.
#include <catch2/catch.hpp>
#include <random>

#include "fmt/format.h"
#include "tests/engines/native/native_testing.h"
#include "tests/engines/native/sums/wide_sums.h"

namespace assay::testing {
namespace {

constexpr Draw kFinite[] = {Draw::kNormal, Draw::kWide,  Draw::kCancelling, Draw::kTies,
                            Draw::kSmall,  Draw::kLarge, Draw::kIntegers,   Draw::kZeros};

std::vector<float> Floats(int64_t n, Draw draw, uint64_t seed) {
  Drawer drawer(draw, *Info(ElementType::kF32).format, seed);
  std::vector<float> values(static_cast<size_t>(n));
  for (float& value : values) value = static_cast<float>(drawer.Next());
  return values;
}

// Exponents within 2^-spread .. 2^spread: with 30, wider than one integer and narrower than two.
std::vector<float> Spread(int64_t n, int spread, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<float> values(static_cast<size_t>(n));
  for (float& value : values) {
    const int exponent = static_cast<int>(random() % static_cast<uint64_t>(2 * spread + 1)) - spread;
    value = static_cast<float>(std::ldexp(normal(random), exponent));
  }
  return values;
}

template <class T>
Literal MadeLiteral(ElementType type, std::vector<int64_t> sizes, const std::vector<T>& values) {
  Literal literal = *Literal::Make(*Shape::Array(type, sizes));
  REQUIRE(literal.MutableBytes().size() == values.size() * sizeof(T));
  std::memcpy(literal.MutableBytes().data(), values.data(), values.size() * sizeof(T));
  return literal;
}

// Rows of x hit by windows of one row each; `columns` 0: single elements of a vector.
struct RowScatter {
  int64_t rows, columns, count;
  std::vector<float> x, u;
  std::vector<int32_t> index;

  RowScatter(int64_t r, int64_t c, int64_t n, uint64_t seed) : rows(r), columns(c), count(n) {
    std::mt19937_64 random(seed);
    // Some outside on both sides; the first rows are hit most.
    for (int64_t i = 0; i < n; ++i) {
      int64_t at = static_cast<int64_t>(random() % static_cast<uint64_t>(rows + 4)) - 2;
      if (random() % 4 == 0) at = static_cast<int64_t>(random() % static_cast<uint64_t>(rows)) / 8;
      index.push_back(static_cast<int32_t>(at));
    }
    index[0] = INT32_MIN;
    index[1] = INT32_MAX;
  }
  int64_t width() const { return std::max<int64_t>(columns, 1); }

  std::string Text(const std::string& op) const {
    const std::string row = columns > 0 ? fmt::format(",{}", columns) : "";
    return fmt::format(
        R"(x = f32[{0}{2}] parameter(0)
i = s32[{1},1] parameter(1)
u = f32[{1}{2}] parameter(2)
ROOT z = f32[{0}{2}] scatter(x, i, u), update_window_dims={{{3}}}, inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply={{ a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = f32[] {4}(a, b) }})",
        rows, count, row, columns > 0 ? "1" : "", op);
  }
  std::vector<Literal> Arguments() const {
    std::vector<int64_t> of_x{rows}, of_u{count};
    if (columns > 0) of_x.push_back(columns), of_u.push_back(columns);
    return {MadeLiteral(ElementType::kF32, of_x, x), MadeLiteral(ElementType::kS32, {count, 1}, index),
            MadeLiteral(ElementType::kF32, of_u, u)};
  }
  // f(target element, update element) for every update inside, in order.
  template <class Fn>
  void ForEachHit(const Fn& fn) const {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t at = index[static_cast<size_t>(i)];
      if (at < 0 || at >= rows) continue;
      for (int64_t j = 0; j < width(); ++j) fn(at * width() + j, i * width() + j);
    }
  }

  void Check(const std::string& op, const std::vector<uint32_t>& wanted) const {
    const Plan reference = ReferencePlan(Text(op));
    for (Isa isa : MachineIsas()) {
      int kernels = 0;
      const Plan plan = NativePlan(reference, isa, &kernels);
      REQUIRE(RootHasKernel(plan));
      for (int jobs : {1, 2, 7}) {
        const absl::StatusOr<Literal> result = RunPlan(plan, Arguments(), jobs);
        REQUIRE(result.ok());
        int64_t wrong = 0;
        for (size_t i = 0; i < wanted.size(); ++i)
          wrong += std::memcmp(result->data() + 4 * i, &wanted[i], 4) != 0 ? 1 : 0;
        INFO("instruction set " << static_cast<int>(isa) << " jobs " << jobs);
        CHECK(wrong == 0);
      }
    }
  }
  void CheckSums() const {
    WideSums sums(rows * width());
    std::vector<bool> hit(static_cast<size_t>(rows * width()));
    for (int64_t i = 0; i < rows * width(); ++i) sums.Add(i, x[static_cast<size_t>(i)]);
    ForEachHit([&](int64_t to, int64_t from) {
      sums.Add(to, u[static_cast<size_t>(from)]);
      hit[static_cast<size_t>(to)] = true;
    });
    std::vector<uint32_t> wanted;
    for (int64_t i = 0; i < rows * width(); ++i) {
      const auto k = static_cast<size_t>(i);
      wanted.push_back(hit[k] ? sums.Bits(i) : std::bit_cast<uint32_t>(x[k]));
    }
    Check("add", wanted);
  }
};

}  // namespace

TEST_CASE("native scatter: sums of elements by integers", "[native][scatter]") {
  for (const auto& [rows, count] :
       {std::pair<int64_t, int64_t>{1, 600}, {37, 1001}, {1000, 70001}, {301, 777}}) {
    RowScatter scatter(rows, 0, count, 5);
    uint64_t seed = 1;
    for (Draw draw : kFinite) {
      INFO("rows " << rows << " draw " << static_cast<int>(draw));
      scatter.x = Floats(rows, draw, ++seed);
      scatter.u = Floats(count, draw, ++seed);
      scatter.CheckSums();
      // No -0 in the operand, so that zeros among the updates reach the integers.
      for (float& x : scatter.x) x = x == 0 ? 0.0f : x;
      scatter.CheckSums();
    }
    for (int spread : {5, 12, 20, 30, 40}) {
      INFO("rows " << rows << " spread " << spread);
      scatter.x = Spread(rows, spread, ++seed);
      scatter.u = Spread(count, spread, ++seed);
      scatter.CheckSums();
      // Pairs that cancel but for what is far below them.
      for (size_t i = 0; i + 1 < scatter.u.size(); i += 3)
        scatter.u[i + 1] = -scatter.u[i], scatter.index[i + 1] = scatter.index[i];
      scatter.CheckSums();
    }
  }
}

TEST_CASE("native scatter: many hits of one sign on one element", "[native][scatter]") {
  RowScatter scatter(1, 0, 70001, 5);
  scatter.x = {1.0f};
  for (float smallest : {0x1p-10f, 0x1p-22f, 0x1p-30f, 0x1p-45f, 0x1p-60f, 0x1p-100f}) {
    scatter.u.assign(70001, 0x1.fffffep+0f);
    for (size_t i = 0; i < scatter.index.size(); ++i) {
      if (i % 100 == 3) scatter.u[i] = smallest, scatter.index[i] = 0;
    }
    INFO("smallest " << smallest);
    scatter.CheckSums();
  }
}

TEST_CASE("native scatter: elements with infinities and NaNs", "[native][scatter]") {
  RowScatter scatter(100, 0, 3000, 6);
  scatter.x = Floats(100, Draw::kNormal, 1);
  scatter.u = Floats(3000, Draw::kNormal, 2);
  scatter.index[7] = scatter.index[8] = 50;
  scatter.u[7] = HUGE_VALF;
  scatter.CheckSums();
  scatter.u[8] = -HUGE_VALF;
  scatter.CheckSums();
  scatter.u[8] = std::bit_cast<float>(0xffc12345);
  scatter.CheckSums();
  // One that nothing hits keeps its payload.
  scatter.u[7] = scatter.u[8] = 1;
  scatter.x[99] = std::bit_cast<float>(0x7fc54321);
  for (int32_t& at : scatter.index) at = at == 99 ? 3 : at;
  scatter.CheckSums();
}

TEST_CASE("native scatter: sums of rows in registers", "[native][scatter]") {
  for (int64_t columns : {2, 3, 8, 15, 32, 33, 70}) {
    RowScatter scatter(29, columns, 520, 7);
    uint64_t seed = 1;
    for (Draw draw : {Draw::kNormal, Draw::kWide, Draw::kCancelling, Draw::kTies, Draw::kSmall, Draw::kLarge,
                      Draw::kIntegers, Draw::kZeros, Draw::kSpecials}) {
      INFO("columns " << columns << " draw " << static_cast<int>(draw));
      scatter.x = Floats(29 * columns, draw, ++seed);
      scatter.u = Floats(520 * columns, draw, ++seed);
      scatter.CheckSums();
    }
    for (int spread : {3, 10, 20}) {
      INFO("columns " << columns << " spread " << spread);
      scatter.x = Spread(29 * columns, spread, ++seed);
      scatter.u = Spread(520 * columns, spread, ++seed);
      scatter.CheckSums();
    }
  }
  RowScatter wide(3, 5001, 513, 8), many(2000, 4, 9000, 9);
  for (RowScatter* scatter : {&wide, &many}) {
    scatter->x = Floats(scatter->rows * scatter->columns, Draw::kNormal, 1);
    scatter->u = Floats(scatter->count * scatter->columns, Draw::kNormal, 2);
    scatter->CheckSums();
  }
}

TEST_CASE("native scatter: rows whose sums doubles do not hold", "[native][scatter]") {
  RowScatter scatter(5, 9, 600, 11);
  for (size_t i = 0; i < scatter.index.size(); ++i) scatter.index[i] = static_cast<int32_t>(i % 5);
  // Large terms that cancel, so that the start value alone is left: one pair, then many.
  scatter.x = Floats(5 * 9, Draw::kNormal, 1);
  for (float& x : scatter.x) x = std::copysign(std::fabs(x) + 1, x);
  for (const auto& [exponent, pairs] :
       {std::pair<int, int64_t>{55, 1}, {30, 1}, {29, 60}, {28, 60}, {27, 60}}) {
    INFO("exponent " << exponent << " pairs " << pairs);
    const std::vector<float> large = Spread(5 * 9 * 60, 0, 2);
    scatter.u.assign(600 * 9, 0.0f);
    for (int64_t i = 0; i < pairs * 5 * 9; ++i) {
      const float size = std::fabs(large[static_cast<size_t>(i)]);
      const float x = std::ldexp(1 + size / 8, exponent);
      scatter.u[static_cast<size_t>(i)] = x;
      scatter.u[static_cast<size_t>(i + 300 * 9)] = -x;
    }
    scatter.CheckSums();
  }
}

TEST_CASE("native scatter: products in the order of the updates", "[native][scatter]") {
  for (int64_t columns : {0, 5, 40}) {
    RowScatter scatter(17, columns, 900, 10);
    for (Draw draw : {Draw::kNormal, Draw::kWide, Draw::kTies, Draw::kSmall, Draw::kZeros, Draw::kSpecials}) {
      INFO("columns " << columns << " draw " << static_cast<int>(draw));
      scatter.x = Floats(17 * scatter.width(), draw, 1);
      scatter.u = Floats(900 * scatter.width(), draw == Draw::kWide ? Draw::kNormal : draw, 2);
      scatter.x[3] = std::bit_cast<float>(0xff812345);  // a NaN with a payload
      std::vector<uint32_t> wanted;
      for (float x : scatter.x) wanted.push_back(std::bit_cast<uint32_t>(x));
      scatter.ForEachHit([&](int64_t to, int64_t from) {
        uint32_t& bits = wanted[static_cast<size_t>(to)];
        const double exact = double{std::bit_cast<float>(bits)} * scatter.u[static_cast<size_t>(from)];
        bits = std::isnan(exact) ? 0x7fc00000 : std::bit_cast<uint32_t>(static_cast<float>(exact));
      });
      scatter.Check("multiply", wanted);
    }
  }
}

}  // namespace assay::testing
