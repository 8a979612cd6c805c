// Runs the kernels of residues.cu and residue_product.cu in their order, on buffers of the test.
#ifndef ASSAY_TESTS_GPU_KERNELS_RESIDUE_RUN_H_
#define ASSAY_TESTS_GPU_KERNELS_RESIDUE_RUN_H_

#include <bit>
#include <cmath>
#include <functional>
#include <random>

#include "evaluator/scalar/exact_sum.h"
#include "gpu/residue_systems.h"
#include "tests/gpu/kernels/formats.h"
#include "tests/gpu/kernels/kernel_run.h"

namespace assay::gpu::residues {

// Operands [batch][rows][k] and [batch][columns][k], or with k before the rows.
template <typename T>
struct ResidueCase {
  int64_t batch = 1, m, n, k;
  bool lhs_turned = false, rhs_turned = false;
  int usual = 0;  // moduli; 0: by the rule
  int piece_steps = kResiduePieceSteps;
  bool has_second_level = true;
  bool forgets_cuts = false;     // planted: what was cut off counts for nothing
  bool lhs_has_padding = false;  // its elements -0 are none
  bool is_kept = false;  // rows and slices of both sides are kept, and the first level runs three times
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
        for (int64_t i = 0; i < x.k; ++i) {
          const T left = x.lhs[x.Left(b, row, i)];
          if (x.lhs_has_padding && left == 0 && std::signbit(left)) continue;
          sum.AddProduct(left, x.rhs[x.Right(b, column, i)]);
        }
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
  bool special = false;     // whether there are sums of signs
  int again = 0;            // moduli of the second level; 0: it had nothing to do
  uint32_t open = 0;        // after the first level
  uint32_t still_open = 0;  // after all, for the repair
  // Where slices are kept: how often they were made after the first run of the first level, after one more
  // of the same number of moduli, and after one of another number.
  std::vector<int> made;
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
    outcome.special = control->special != 0;
    if (x_.is_kept) RunKept(outcome);
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

  // The first level of other numbers of moduli, then, whose sums are looked at, of the first number.
  void RunKept(ResidueOutcome& outcome) {
    const auto run = [&](int usual) {
      ResidueArguments a = first_;
      a.usual = usual;
      Launch("residue_choose", 1, kResidueRowThreads, kChooseSharedBytes, a);
      Level(first_, kIsDouble ? "residue_slice_f64" : "residue_slice_f32",
            kIsDouble ? "residue_sum_4" : "residue_sum_2");
      *reinterpret_cast<uint32_t*>(first_.dot.open_count) = 0;
      outcome.made.push_back(reinterpret_cast<const KeptControl*>(first_.kept[0])->count);
    };
    const int usual = first_.usual;
    for (const int moduli : {usual, usual, usual - 1}) run(moduli);
    Launch("residue_choose", 1, kResidueRowThreads, kChooseSharedBytes, first_);
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
    dot.lhs_has_padding = x_.lhs_has_padding ? 1 : 0;
    first_.sign_sums = AddressOf(
        memory_.Allocate<int32_t>(2 * x_.batch * tiles_.row_tiles * tiles_.column_tiles * kResidueTileBytes));
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
    if (x_.is_kept) {
      for (int side = 0; side < 2; ++side) {
        first_.kept[side] = AddressOf(memory_.Copy<KeptControl>({{0, 0, 0, 0}}));
        kept_slices_[side] = AddressOf(
            memory_.Allocate<int8_t>(x_.batch * (kMostModuli + kMostSignPlanes) * PaddedRows(tiles_, side) *
                                     tiles_.depth_steps * kResidueDepth));
      }
    }
    second_ = first_;
    second_.kept[0] = second_.kept[1] = 0;
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
    const int64_t matrices = x_.batch * (std::max(1, moduli) + kMostSignPlanes);
    const bool signs = a.control == first_.control;
    uint64_t slices[2];
    for (int side = 0; side < 2; ++side) {
      slices[side] = a.kept[side] != 0
                         ? kept_slices_[side]
                         : AddressOf(memory_.Allocate<int8_t>(matrices * PaddedRows(tiles_, side) *
                                                              tiles_.depth_steps * kResidueDepth));
      const ResidueSliceArguments arguments{side == 0 ? a.dot.lhs : a.dot.rhs,
                                            slices[side],
                                            a.rows[side],
                                            a.cuts[side],
                                            systems_,
                                            a.control,
                                            a.kept[side],
                                            tiles_,
                                            std::sqrt(static_cast<double>(x_.k)) / 2 + 1.001,
                                            side,
                                            signs ? SignPlanesOf(a.dot.lhs_has_padding) : 0};
      Launch(slice, SliceBlocks(tiles_, side), kSliceThreads, SliceSharedBytes(sizeof(T), kSlicePitch),
             arguments);
    }
    const int64_t rows = x_.batch * (PaddedRows(tiles_, 0) + PaddedRows(tiles_, 1));
    Launch("residue_finish", (rows + kResidueRowThreads - 1) / kResidueRowThreads, kResidueRowThreads, 0, a);
    for (int side = 0; side < 2 && x_.forgets_cuts; ++side) {
      for (int64_t row = 0; row < x_.batch * PaddedRows(tiles_, side); ++row) {
        auto& of_row = reinterpret_cast<ResidueRow*>(a.rows[side])[row];
        of_row.lost = of_row.lost_sum = 0;
      }
    }
    a.residues = AddressOf(
        memory_.Allocate<uint8_t>(matrices * tiles_.row_tiles * tiles_.column_tiles * kResidueTileBytes));
    RunKernel("residue_product", "residue_product", 2, kResidueThreads, kResidueSharedBytes,
              ResidueProductArguments{slices[0], slices[1], a.residues, systems_, a.control, a.sign_sums,
                                      tiles_, x_.piece_steps, signs ? SignSumsOf(a.dot.lhs_has_padding) : 0},
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
  uint64_t kept_slices_[2] = {0, 0};
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

inline std::mt19937_64& Numbers() {
  static std::mt19937_64 generator(90);
  return generator;
}
inline double Normal() { return std::normal_distribution<double>()(Numbers()); }
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

}  // namespace assay::gpu::residues

#endif  // ASSAY_TESTS_GPU_KERNELS_RESIDUE_RUN_H_
