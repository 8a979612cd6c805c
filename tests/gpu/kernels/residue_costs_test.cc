// What dots by residues cost: moduli, repairs, slices that are made again.
#include "tests/gpu/kernels/residue_run.h"

namespace assay::gpu::residues {

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

TEST_CASE("kept slices are made again for another number of moduli alone", "[kernels][residues]") {
  ResidueCase<float> x{.m = 20, .n = 30, .k = 140, .is_kept = true};
  FillBoth(x, Normal);
  x.lhs[0] = 0x1p-60f;  // nothing is exact
  CHECK(CheckResidues(x, Float::kF32).made == std::vector{1, 1, 2});
  ResidueCase<double> y{.m = 20, .n = 30, .k = 140, .is_kept = true};
  FillBoth(y, Normal);
  y.lhs[0] = 0x1p-200;
  CHECK(CheckResidues(y, Float::kF64).made == std::vector{1, 1, 2});
}

}  // namespace assay::gpu::residues
