// Folds by generated code against loops written out here, and against the reference engine.
#include <catch2/catch.hpp>
#include <cstring>

#include "fmt/format.h"
#include "tests/engines/engine_testing.h"
#include "tests/engines/native/code_testing.h"

namespace assay::testing {
namespace {

std::string Argmax(const std::string& type, const std::string& sizes, const std::string& result,
                   int dimension) {
  return fmt::format(
      R"(x = {0}[{1}] parameter(0)
i = s32[{1}] iota(), iota_dimension={3}
m = {0}[] parameter(1)
n = s32[] constant(0)
ROOT z = ({0}[{2}], s32[{2}]) reduce(x, i, m, n), dimensions={{{3}}}, to_apply={{
 a = {0}[] parameter(0)
 b = {0}[] parameter(2)
 g = pred[] compare(a, b), direction=GT
 u = pred[] compare(a, a), direction=NE
 o = pred[] or(g, u)
 s = {0}[] select(o, a, b)
 e = pred[] compare(a, b), direction=EQ
 i = s32[] parameter(1)
 j = s32[] parameter(3)
 l = pred[] compare(i, j), direction=LT
 t = pred[] and(e, l)
 p = pred[] or(o, t)
 q = s32[] select(p, i, j)
 ROOT r = ({0}[], s32[]) tuple(s, q) }})",
      type, sizes, result, dimension);
}

std::string Scatter(const std::string& type, const std::string& operand, const std::string& indices,
                    const std::string& updates, const std::string& attributes, int range,
                    const std::string& root) {
  return fmt::format(
      R"(x = {0}[{1}] parameter(0)
d = u16[{2}] parameter(1)
u = {0}[{3}] parameter(2)
r = u16[] constant({5})
b = u16[{2}] broadcast(r), dimensions={{}}
j = u16[{2}] remainder(d, b)
ROOT z = {0}[{1}] scatter(x, j, u), {4}, {6})",
      type, operand, indices, updates, attributes, range, ApplyOf(type, root));
}

const char* const kPoints =
    "update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1";
const char* const kRows =
    "update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1";

}  // namespace

TEST_CASE("code folds: reduce by every type and dimension", "[native][reduce]") {
  for (const std::string type : kCodeTypes) {
    const std::string root = OrderedRootOf(type);
    const auto draws = {Draw::kNormal, Draw::kSpecials, Draw::kIntegers};
    CheckByCode(ReduceOf(type, "70,131", "1", "70", root), draws);
    CheckByCode(ReduceOf(type, "131,70", "0", "70", root), draws);
    CheckByCode(ReduceOf(type, "5000", "0", "", root), draws);
    CheckByCode(ReduceOf(type, "3,67,41", "0,2", "67", root), draws);
    CheckByCode(ReduceOf(type, "3,67,41", "1", "3,41", root), draws);
  }
  // NaNs as they came, of every payload that the operands have.
  for (const std::string type : {"f16", "bf16", "f32", "f64"}) {
    const std::string root = fmt::format("{}[] select(p, a, b)", type);
    CheckByCode(
        fmt::format(R"(h = s16[40,200] parameter(0)
x = {1}[40,200] {2}
i = {1}[] constant(1)
ROOT z = {1}[40] reduce(x, i), dimensions={{1}}, to_apply={{ a = {1}[] parameter(0)
 b = {1}[] parameter(1)
 p = pred[] compare(a, b), direction=LT
 ROOT c = {0} }})",
                    root, type, type == "f16" || type == "bf16" ? "bitcast-convert(h)" : "convert(h)"),
        {Draw::kNormal});
  }
}

TEST_CASE("code folds: the sign of narrow integers", "[native][reduce]") {
  // a > b ? a - b : b: differences alone are the same for either extension of a narrow element.
  for (const std::string type : {"s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"}) {
    for (const char* sizes : {"70,131|70|1", "131,70|70|0"}) {
      const std::string text = sizes;
      const size_t first = text.find('|'), second = text.rfind('|');
      CheckByCode(fmt::format(R"(x = {0}[{1}] parameter(0)
i = {0}[] parameter(1)
ROOT z = {0}[{2}] reduce(x, i), dimensions={{{3}}}, to_apply={{ a = {0}[] parameter(0)
 b = {0}[] parameter(1)
 p = pred[] compare(a, b), direction=GT
 d = {0}[] subtract(a, b)
 ROOT c = {0}[] select(p, d, b) }})",
                              type, text.substr(0, first), text.substr(first + 1, second - first - 1),
                              text.substr(second + 1)),
                  {Draw::kNormal, Draw::kSpecials, Draw::kIntegers});
    }
  }
}

TEST_CASE("code folds: reduce of several operands", "[native][reduce]") {
  for (const char* type : {"f32", "f64", "s32", "bf16", "u8"}) {
    const auto draws = {Draw::kNormal, Draw::kSpecials, Draw::kIntegers, Draw::kZeros};
    CheckByCode(Argmax(type, "50,100", "50", 1), draws);
    CheckByCode(Argmax(type, "100,50", "50", 0), draws);
    CheckByCode(Argmax(type, "6000", "", 0), draws);
  }
}

TEST_CASE("code folds: f32 products are rounded from left to right", "[native][reduce]") {
  constexpr int64_t kRowsOf = 90, kColumns = 77;
  const std::string rows = ReduceOf("f32", "90,77", "1", "90", "f32[] multiply(a, b)");
  const std::string scan =
      R"(x = f32[6930] parameter(0)
i = f32[] parameter(1)
ROOT z = f32[6930] reduce-window(x, i), window={size=6930 pad=6929_0}, to_apply={ a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = f32[] multiply(a, b) })";
  CHECK(RootRunsByKernel(scan) == HasCode());
  std::vector<float> x;
  std::mt19937 random(7);
  for (int64_t i = 0; i < kRowsOf * kColumns; ++i)
    x.push_back(std::exp2(std::normal_distribution<float>(0, 0.1f)(random)));
  const int64_t sizes[] = {kRowsOf, kColumns}, flat[] = {kRowsOf * kColumns};
  const std::vector<double> values(x.begin(), x.end());
  const Literal init = Literal::ScalarDouble(ElementType::kF32, 1.25);
  const auto run = [&](const std::string& body, std::span<const int64_t> shape) {
    int kernels = 0;
    return *RunPlan(NativePlan(ReferencePlan(body), MachineIsa(), &kernels),
                    {Literal::FromDoubles(ElementType::kF32, shape, values), init});
  };
  const Literal products = run(rows, sizes), prefixes = run(scan, flat);
  float running = 1.25f;
  int64_t wrong = 0;
  for (int64_t r = 0; r < kRowsOf; ++r) {
    float product = 1.25f;
    for (int64_t c = 0; c < kColumns; ++c) {
      product *= x[r * kColumns + c];
      running *= x[r * kColumns + c];
      wrong += prefixes.GetDouble(r * kColumns + c) != running ? 1 : 0;
    }
    wrong += products.GetDouble(r) != product ? 1 : 0;
  }
  CHECK(wrong == 0);
}

TEST_CASE("code folds: cumulative windows", "[native][reduce]") {
  const auto window = [](const char* type, const char* sizes, const char* result, const char* w,
                         std::string root) {
    return fmt::format(
        R"(x = {0}[{1}] parameter(0)
i = {0}[] parameter(1)
ROOT z = {0}[{2}] reduce-window(x, i), window={{{3}}}, to_apply={{ a = {0}[] parameter(0)
 b = {0}[] parameter(1)
 ROOT c = {4} }})",
        type, sizes, result, w, root);
  };
  for (const char* type : kCodeTypes) {
    const auto draws = {Draw::kNormal, Draw::kSpecials};
    const std::string root = OrderedRootOf(type);
    CheckByCode(window(type, "300", "300", "size=300 pad=299_0", root), draws);
    CheckByCode(window(type, "90,4", "90,4", "size=90x1 pad=89_0x0_0", root), draws);
    CheckByCode(window(type, "100", "231", "size=120 pad=129_121", root), draws);
    CheckByCode(window(type, "300", "100", "size=300 stride=3 pad=297_0", root), draws);
    CheckByCode(window(type, "300", "101", "size=300 pad=100_0", root), draws);
    // Not cumulative: the reference's.
    CheckByCode(window(type, "300", "300", "size=300 pad=0_299", root), draws);
  }
}

TEST_CASE("code folds: scatter in the order of the updates", "[native][reduce]") {
  for (const std::string type : kCodeTypes) {
    const auto draws = {Draw::kNormal, Draw::kSpecials, Draw::kIntegers};
    CheckByCode(Scatter(type, "40", "5000,1", "5000", kPoints, 45, OrderedRootOf(type)), draws);
    CheckByCode(Scatter(type, "20,37", "150,1", "150,37", kRows, 22, OrderedRootOf(type)), draws);
    CheckByCode(Scatter(type, "7,20", "300,1", "20,300",
                        "update_window_dims={0}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
                        "index_vector_dim=1",
                        9, OrderedRootOf(type)),
                draws);
    // Windows that overlap in the order of the updates, and in another, which is the reference's.
    CheckByCode(Scatter(type, "40", "1000,1", "1000,5",
                        "update_window_dims={1}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, "
                        "index_vector_dim=1",
                        39, OrderedRootOf(type)),
                draws);
    const std::string crossed =
        Scatter(type, "40", "1000,1", "5,1000",
                "update_window_dims={0}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, "
                "index_vector_dim=1",
                39, OrderedRootOf(type));
    CHECK_FALSE(RootRunsByKernel(crossed));
  }
}

TEST_CASE("code folds: scatter of two operands", "[native][reduce]") {
  CheckByCode(
      R"(x = f32[30] parameter(0)
y = s32[30] parameter(1)
d = u16[5000,1] parameter(2)
u = f32[5000] parameter(3)
v = s32[5000] parameter(4)
r = u16[] constant(33)
b = u16[5000,1] broadcast(r), dimensions={}
j = u16[5000,1] remainder(d, b)
ROOT z = (f32[30], s32[30]) scatter(x, y, j, u, v), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply={
 a = f32[] parameter(0)
 i = s32[] parameter(1)
 b = f32[] parameter(2)
 k = s32[] parameter(3)
 g = pred[] compare(a, b), direction=LT
 s = f32[] select(g, b, a)
 t = s32[] select(g, k, i)
 ROOT r = (f32[], s32[]) tuple(s, t) })",
      {Draw::kNormal, Draw::kSpecials, Draw::kIntegers});
}

}  // namespace assay::testing
