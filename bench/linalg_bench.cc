// Times cholesky, triangular-solve and fft in the exact engine and in the reference: best CPU time of several
// runs, and their ratio. Argument: part of a case's name.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <random>
#include <string>

#include "engines/native/sums/tiers.h"
#include "fmt/format.h"
#include "literal/element_io.h"
#include "literal/float_format.h"
#include "run/program.h"

namespace assay {
namespace {

struct Case {
  std::string name, program;
};

std::string Solve(const std::string& type, int64_t n, int64_t sides) {
  return fmt::format(
      R"(a = {0}[{1},{1}] parameter(0)
 b = {0}[{1},{2}] parameter(1)
 ROOT x = {0}[{1},{2}] triangular-solve(a, b), left_side=true, lower=true, transpose_a=NO_TRANSPOSE)",
      type, n, sides);
}
std::string Cholesky(const std::string& type, int64_t n) {
  return fmt::format(R"(a = {0}[{1},{1}] parameter(0)
 ROOT l = {0}[{1},{1}] cholesky(a), lower=true)",
                     type, n);
}
std::string Fft(const std::string& type, const std::string& from, const std::string& to,
                const std::string& lengths) {
  return fmt::format(R"(x = {1} parameter(0)
 ROOT y = {2} fft(x), fft_type={0}, fft_length={{{3}}})",
                     type, from, to, lengths);
}

std::vector<Case> Cases() {
  return {
      {"cholesky f32 256", Cholesky("f32", 256)},
      {"cholesky f64 256", Cholesky("f64", 256)},
      {"cholesky c64 256", Cholesky("c64", 256)},
      {"cholesky f32 1000 x 16x16",
       R"(a = f32[1000,16,16] parameter(0)
 ROOT l = f32[1000,16,16] cholesky(a), lower=true)"},
      {"cholesky f32 8", Cholesky("f32", 8)},
      {"cholesky f32 16", Cholesky("f32", 16)},
      {"triangular-solve f32 256x256", Solve("f32", 256, 256)},
      {"triangular-solve f64 256x256", Solve("f64", 256, 256)},
      {"triangular-solve c64 256x256", Solve("c64", 256, 256)},
      {"triangular-solve c128 128x128", Solve("c128", 128, 128)},
      {"triangular-solve f32 256x1", Solve("f32", 256, 1)},
      {"triangular-solve f64 256x1", Solve("f64", 256, 1)},
      {"triangular-solve f32 32x1", Solve("f32", 32, 1)},
      {"triangular-solve f32 32x4", Solve("f32", 32, 4)},
      {"triangular-solve f32 8x8", Solve("f32", 8, 8)},
      {"triangular-solve f32 12x12", Solve("f32", 12, 12)},
      {"fft c64 2^16", Fft("FFT", "c64[65536]", "c64[65536]", "65536")},
      {"fft c128 2^14", Fft("FFT", "c128[16384]", "c128[16384]", "16384")},
      {"fft c64 1000", Fft("FFT", "c64[1000]", "c64[1000]", "1000")},
      {"fft c64 64 x 1000", Fft("FFT", "c64[64,1000]", "c64[64,1000]", "1000")},
      {"rfft f32 4096", Fft("RFFT", "f32[4096]", "c64[2049]", "4096")},
      {"irfft f32 4096", Fft("IRFFT", "c64[2049]", "f32[4096]", "4096")},
      {"fft c64 128x128", Fft("FFT", "c64[128,128]", "c64[128,128]", "128,128")},
      {"fft c64 97", Fft("FFT", "c64[97]", "c64[97]", "97")},
      {"fft c64 251", Fft("FFT", "c64[251]", "c64[251]", "251")},
      {"fft c64 1009", Fft("FFT", "c64[1009]", "c64[1009]", "1009")},
      {"fft c64 8", Fft("FFT", "c64[8]", "c64[8]", "8")},
      {"fft c64 32", Fft("FFT", "c64[32]", "c64[32]", "32")},
  };
}

// Normal values; square matrices are symmetric with a dominant diagonal.
Literal Argument(const Shape& shape) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  Literal literal = *Literal::Make(shape);
  const ElementType type = shape.element_type();
  const int64_t bytes = Bytes(type);
  const int64_t rows = shape.rank() < 2 ? 1 : shape.size(shape.rank() - 2), columns = shape.sizes().back();
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    const bool diagonal = rows == columns && i / columns % rows == i % columns;
    const double x = diagonal ? 4 * static_cast<double>(rows) : normal(random);
    ScalarValue value;
    value.kind = KindOf(type);
    value.r = IsFloat(type) ? RoundToFormat(x, *Info(type).format) : x;
    value.c = {RoundToFormat(x, *Info(ElementType::kF32).format), 0};
    if (!diagonal) value.c.imag(RoundToFormat(normal(random), *Info(ElementType::kF32).format));
    StoreElement(type, value, literal.MutableBytes().data() + i * bytes);
  }
  return literal;
}

double BestCpuTime(const Plan& plan, const std::vector<Literal>& arguments) {
  RunOptions options;
  options.jobs = 1;
  Executor executor(plan, options);
  double best = 1e30, total = 0;
  for (int runs = 0; runs < 2 || (total < 0.3 && runs < 1000); ++runs) {
    const std::clock_t start = std::clock();
    if (!executor.Run(arguments).ok()) return -1;
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    best = std::min(best, seconds);
    total += seconds;
  }
  return best;
}

bool Measure(const Case& c) {
  const absl::StatusOr<Program> program = Program::Load("bench.hlo", R"(HloModule bench
ENTRY main {
 )" + c.program + "\n}\n");
  if (!program.ok()) return std::printf("%s\n", program.status().ToString().c_str()), false;
  const auto exact = program->PlanFor(), reference = program->PlanFor(EnginesOf(EngineChoice::kReference));
  if (!exact.ok() || !reference.ok()) return false;
  const Computation& entry = program->module().entry_computation();
  std::vector<Literal> arguments;
  for (int32_t parameter : entry.parameters)
    arguments.push_back(Argument(*entry.instructions[parameter].shape));
  const native::TierCounts before = native::Tiers();
  const double fast = BestCpuTime(**exact, arguments);
  const native::TierCounts after = native::Tiers();
  const double slow = BestCpuTime(**reference, arguments);
  std::printf("%-34s exact %10.1f us   reference %10.1f us   ratio %6.1f", c.name.c_str(), fast * 1e6,
              slow * 1e6, slow / fast);
  if (after.sums > before.sums) {
    const auto sums = static_cast<double>(after.sums - before.sums);
    std::printf("   second tier %.2g, exactly %.2g", static_cast<double>(after.pairs - before.pairs) / sums,
                static_cast<double>(after.slices - before.slices) / sums);
  }
  std::printf("\n");
  return fast >= 0 && slow >= 0;
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  const std::string part = argc > 1 ? argv[1] : "";
  bool good = true;
  for (const assay::Case& c : assay::Cases()) {
    if (c.name.find(part) != std::string::npos) good &= assay::Measure(c);
  }
  return good ? 0 : 1;
}
