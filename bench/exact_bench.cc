// Times exact sums and sums of products in the native kernels: best wall and CPU time of several runs, in
// nanoseconds a product (or an element), and which share of the sums needed pairs and slices.
// Argument: threads (default 2).
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <random>
#include <string>

#include "engines/native/sums/tiers.h"
#include "fmt/format.h"
#include "literal/element_io.h"
#include "literal/float_format.h"
#include "run/program.h"

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;
using Fill = std::function<double(std::mt19937_64&, int64_t)>;

double Normal(std::mt19937_64& random, int64_t) { return std::normal_distribution<double>()(random); }
double Byte(std::mt19937_64& random, int64_t) { return static_cast<double>(random() % 255) - 127; }
// Rows (and, transposed, columns) of pairs x, -x with exponents spread widely: every dot product of a row
// with a constant column is exactly zero but for its last term.
double Pair(std::mt19937_64& random, int64_t i, int exponents) {
  static double last = 0;
  if (i % 2 != 0) return -last;
  const int exponent = static_cast<int>(random() % static_cast<uint64_t>(exponents)) - exponents / 2;
  return last = std::ldexp(std::normal_distribution<double>()(random), exponent);
}
double Cancelling(std::mt19937_64& random, int64_t i) { return Pair(random, i, 200); }
double Widest(std::mt19937_64& random, int64_t i) { return Pair(random, i, 250); }
// Columns of 512 whose neighbours are equal in pairs, with exponents over the whole range.
double WidestTwice(std::mt19937_64&, int64_t i) {
  std::mt19937_64 random(static_cast<uint64_t>(i / 1024 * 512 + i % 512));
  return Pair(random, 0, 250);
}
double One(std::mt19937_64&, int64_t) { return 1; }
double Index(std::mt19937_64& random, int64_t) { return static_cast<double>(random() % 100000); }

struct Case {
  std::string name, program;
  double units;
  Fill lhs = Normal, rhs = Normal;
};

std::string Dot(const std::string& operands, int64_t n, const std::string& result, int64_t rhs_dim = 0) {
  return fmt::format(
      R"(x = {0}[{1},{1}] parameter(0)
 y = {0}[{1},{1}] parameter(1)
 ROOT z = {2}[{1},{1}] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{{3}}})",
      operands, n, result, rhs_dim);
}
std::string Reducer(const std::string& type, const std::string& op) {
  return fmt::format(
      R"(to_apply={{ a = {0}[] parameter(0)
 b = {0}[] parameter(1)
 ROOT c = {0}[] {1}(a, b) }})",
      type, op);
}
// Updates of random rows.
std::string Scatter(const std::string& type, const std::string& op, int64_t rows, const std::string& width) {
  const bool points = width.empty();
  return fmt::format(
             R"(x = {0}[100000{2}] parameter(0)
 i = s32[{1},1] parameter(1)
 u = {0}[{1}{2}] parameter(2)
 ROOT z = {0}[100000{2}] scatter(x, i, u), update_window_dims={{{3}}}, inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, )",
             type, rows, points ? "" : "," + width, points ? "" : "1") +
         Reducer(type, op);
}

std::vector<Case> Cases() {
  const auto cube = [](double n) { return n * n * n; };
  return {
      {"dot f32 512", Dot("f32", 512, "f32"), cube(512)},
      {"dot f32 1024", Dot("f32", 1024, "f32"), cube(1024)},
      {"dot f32 1024, rhs transposed", Dot("f32", 1024, "f32", 1), cube(1024)},
      {"dot bf16 1024", Dot("bf16", 1024, "bf16"), cube(1024)},
      {"dot f64 512", Dot("f64", 512, "f64"), cube(512)},
      {"dot c64 512", Dot("c64", 512, "c64"), 4 * cube(512)},
      {"dot s8 to s32 1024", Dot("s8", 1024, "s32"), cube(1024), Byte, Byte},
      {"dot f32 512, all sums cancel", Dot("f32", 512, "f32"), cube(512), Cancelling, One},
      {"dot f32 512, widest exponents cancel", Dot("f32", 512, "f32"), cube(512), Widest, WidestTwice},
      {"dot f32 of two vectors of 2^20",
       R"(x = f32[1048576] parameter(0)
 y = f32[1048576] parameter(1)
 ROOT z = f32[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0})",
       0x1p20},
      {"dot f32 matrix and vector 4096",
       R"(x = f32[4096,4096] parameter(0)
 y = f32[4096] parameter(1)
 ROOT z = f32[4096] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0})",
       0x1p24},
      {"dot f32 32x64x32",
       R"(x = f32[32,64] parameter(0)
 y = f32[64,32] parameter(1)
 ROOT z = f32[32,32] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0})",
       32 * 64 * 32},
      {"dot f32 4x4x4",
       R"(x = f32[4,4] parameter(0)
 y = f32[4,4] parameter(1)
 ROOT z = f32[4,4] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0})",
       64},
      {"convolution f32 8x56x56x64, 3x3x64x64",
       R"(x = f32[8,56,56,64] parameter(0)
 k = f32[3,3,64,64] parameter(1)
 ROOT z = f32[8,56,56,64] convolution(x, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f)",
       8.0 * 56 * 56 * 64 * 576},
      {"reduce-add f32 2^24",
       R"(x = f32[16777216] parameter(0)
 i = f32[] constant(0)
 ROOT z = f32[] reduce(x, i), dimensions={0}, )" +
           Reducer("f32", "add"),
       0x1p24},
      {"reduce-add f32 2^24, all cancels",
       R"(x = f32[16777216] parameter(0)
 i = f32[] constant(0)
 ROOT z = f32[] reduce(x, i), dimensions={0}, )" +
           Reducer("f32", "add"),
       0x1p24, Cancelling},
      {"reduce-add f32 4096x4096 rows",
       R"(x = f32[4096,4096] parameter(0)
 i = f32[] constant(0)
 ROOT z = f32[4096] reduce(x, i), dimensions={1}, )" +
           Reducer("f32", "add"),
       0x1p24},
      {"reduce-add f32 4096x4096 columns",
       R"(x = f32[4096,4096] parameter(0)
 i = f32[] constant(0)
 ROOT z = f32[4096] reduce(x, i), dimensions={0}, )" +
           Reducer("f32", "add"),
       0x1p24},
      {"reduce-add f64 2^22",
       R"(x = f64[4194304] parameter(0)
 i = f64[] constant(0)
 ROOT z = f64[] reduce(x, i), dimensions={0}, )" +
           Reducer("f64", "add"),
       0x1p22},
      {"reduce-max f32 2^24",
       R"(x = f32[16777216] parameter(0)
 i = f32[] constant(-inf)
 ROOT z = f32[] reduce(x, i), dimensions={0}, )" +
           Reducer("f32", "maximum"),
       0x1p24},
      {"cumulative sum f32 2^20",
       R"(x = f32[1048576] parameter(0)
 i = f32[] constant(0)
 ROOT z = f32[1048576] reduce-window(x, i), window={size=1048576 pad=1048575_0}, )" +
           Reducer("f32", "add"),
       0x1p20},
      {"scatter-add f32 1e5", Scatter("f32", "add", 100000, ""), 1e5},
      {"scatter-add f32 1e5, some 100 a target", Scatter("f32", "add", 10000000, ""), 1e7},
      {"scatter-add f64 1e5", Scatter("f64", "add", 100000, ""), 1e5},
      {"scatter-add f32 rows of 64", Scatter("f32", "add", 100000, "64"), 64e5},
      {"select-and-scatter f32 8x112x112x64, 2x2",
       R"(x = f32[8,112,112,64] parameter(0)
 s = f32[8,56,56,64] parameter(1)
 i = f32[] constant(0)
 ROOT z = f32[8,112,112,64] select-and-scatter(x, s, i), window={size=1x2x2x1 stride=1x2x2x1}, select={ a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = pred[] compare(a, b), direction=GE }, scatter={ a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = f32[] add(a, b) })",
       8.0 * 112 * 112 * 64},
      {"batch-norm-training f32 8x56x56x64",
       R"(x = f32[8,56,56,64] parameter(0)
 s = f32[64] parameter(1)
 o = f32[64] parameter(2)
 ROOT z = (f32[8,56,56,64], f32[64], f32[64]) batch-norm-training(x, s, o), epsilon=0.001, feature_index=3)",
       8.0 * 56 * 56 * 64},
      {"batch-norm-grad f32 8x64x56x56",
       R"(x = f32[8,64,56,56] parameter(0)
 s = f32[64] parameter(1)
 m = f32[64] parameter(2)
 v = f32[64] parameter(3)
 g = f32[8,64,56,56] parameter(4)
 ROOT z = (f32[8,64,56,56], f32[64], f32[64]) batch-norm-grad(x, s, m, v, g), epsilon=0.001, feature_index=1)",
       8.0 * 56 * 56 * 64, Normal, One},
      {"scatter-max f32 1e5", Scatter("f32", "maximum", 100000, ""), 1e5},
      {"scatter-add s32 1e5", Scatter("s32", "add", 100000, ""), 1e5},
  };
}

Literal Argument(const Shape& shape, const Fill& fill) {
  std::mt19937_64 random(1);
  const bool complex = IsComplex(shape.element_type());
  Literal literal = *Literal::Make(shape);
  const int64_t bytes = Bytes(shape.element_type());
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    ScalarValue value;
    value.kind = KindOf(shape.element_type());
    value.r = fill(random, i);
    value.i = static_cast<int64_t>(value.r);
    if (complex) value.c = {value.r, fill(random, i)};
    if (IsFloat(shape.element_type())) value.r = RoundToFormat(value.r, *Info(shape.element_type()).format);
    if (complex) value.c = std::complex<double>(std::complex<float>(value.c));
    StoreElement(shape.element_type(), value, literal.MutableBytes().data() + i * bytes);
  }
  return literal;
}

bool Measure(const Case& c, int jobs) {
  const absl::StatusOr<Program> program = Program::Load("bench.hlo", R"(HloModule bench
ENTRY main {
 )" + c.program + "\n}\n");
  if (!program.ok()) return std::printf("%s\n", program.status().ToString().c_str()), false;
  const absl::StatusOr<std::shared_ptr<const Plan>> plan = program->PlanFor();
  if (!plan.ok()) return false;
  const Computation& entry = program->module().entry_computation();
  std::vector<Literal> arguments;
  for (size_t i = 0; i < entry.parameters.size(); ++i) {
    const Shape& shape = *entry.instructions[entry.parameters[i]].shape;
    arguments.push_back(Argument(shape, i == 0                                      ? c.lhs
                                        : shape.element_type() == ElementType::kS32 ? Index
                                                                                    : c.rhs));
  }
  RunOptions options;
  options.jobs = jobs;
  Executor executor(**plan, options);
  const native::TierCounts before = native::Tiers();
  double best = 1e30, best_cpu = 1e30;
  int runs = 0;
  const Clock::time_point start = Clock::now();
  do {
    const Clock::time_point run = Clock::now();
    const std::clock_t cpu = std::clock();
    const absl::StatusOr<Literal> result = executor.Run(arguments);
    if (!result.ok()) return std::printf("%s\n", result.status().ToString().c_str()), false;
    best = std::min(best, std::chrono::duration<double>(Clock::now() - run).count());
    best_cpu = std::min(best_cpu, static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC);
    ++runs;
  } while (std::chrono::duration<double>(Clock::now() - start).count() < 0.5 && runs < 1000);
  const native::TierCounts after = native::Tiers();
  std::printf("%-42s %9.3f ms %9.4f ns a unit, cpu %9.4f", c.name.c_str(), best * 1e3, best * 1e9 / c.units,
              best_cpu * 1e9 / c.units);
  if (after.sums > before.sums) {
    const auto sums = static_cast<double>(after.sums - before.sums);
    std::printf("   pairs %.2g slices %.2g", static_cast<double>(after.pairs - before.pairs) / sums,
                static_cast<double>(after.slices - before.slices) / sums);
  }
  std::printf("\n");
  return true;
}

}  // namespace
}  // namespace assay

// exact_bench [THREADS [PART-OF-NAME]]
int main(int argc, char** argv) {
  const int jobs = argc > 1 ? std::atoi(argv[1]) : 2;
  const std::string part = argc > 2 ? argv[2] : "";
  bool good = true;
  for (const assay::Case& c : assay::Cases()) {
    if (c.name.find(part) != std::string::npos) good &= assay::Measure(c, jobs);
  }
  return good ? 0 : 1;
}
