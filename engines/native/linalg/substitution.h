// Substitution in a triangular system, exact sums rounded once: what triangular-solve and cholesky share.
//
// Unknowns are solved in order: x_i = RN(b_i - sum over k < i of a_ik x_k), divided and rounded by the
// caller, for the columns of a panel side by side. Rows of -a are packed in blocks of block_rows(): element l
// of row r of a block at [l * block_rows() + r]. A complex system is a real one of twice the length: row i is
// (-re a_i0, im a_i0, ...), and a panel has two parts, (re x_0, im x_0, ...) and (im x_0, -re x_0, ...), for
// real and imaginary parts of the sums. Sums are in doubles (pairs for f64) with a bound; what that leaves
// open is settled one element at a time by pairs and then by ExactSum, as in the reference.
#ifndef ASSAY_ENGINES_NATIVE_LINALG_SUBSTITUTION_H_
#define ASSAY_ENGINES_NATIVE_LINALG_SUBSTITUTION_H_

#include <cstddef>
#include <string_view>

#include "engines/native/linalg/solve_kernels.h"
#include "engines/native/sums/product_bounds.h"
#include "engines/native/sums/sum_kernels.h"
#include "engines/native/sums/tiers.h"
#include "evaluator/scalar/complex.h"
#include "shape/shape.h"

namespace assay::native {

// Real numbers of a row of a panel: those of part p at [p * kMaxPanelWidth + j].
using PanelRow = double[2 * kMaxPanelWidth];

// A row of the system. `scale` and `smallest`, `bits` are those of its `length` elements.
struct SystemRow {
  const double* elements;
  int64_t length;
  const RowStatistics* statistics;
  int slot;  // of the row in the statistics
};

// Columns first .. last - 1 of the panel are wanted; element l of column j of part p at
// x[p * part + l * width + j].
struct SystemPanel {
  double* x;
  int64_t part;
  RowStatistics* columns;  // of both parts, which have the same
  int first, last;
};

// Why systems with these square matrices and right sides, of `products` products in all, are left to the
// reference: it is as quick, or rows are too long. Empty where they are not.
std::string_view WhyNotSubstitute(const Shape& matrices, const Shape& right_sides, int64_t products);

class Substitution {
 public:
  Substitution(ElementType type, Isa isa);

  int parts() const { return parts_; }
  int block_rows() const { return sums_.tile_rows; }
  int panel_columns() const { return sums_.tile_columns; }
  const SumKernels& sums() const { return sums_; }
  ElementType component() const { return component_; }
  // f64 has no sums in doubles: its rows are summed when their turn comes.
  bool sums_in_blocks() const { return !pairs_; }

  // c[p][r * width + j] = the sum of the first `length` products of row r of a block.
  void SumBlock(const double* block, int64_t length, const SystemPanel& panel, double* const c[2]) const;
  // s = RN(b + products of the row), where c (its parts at c[0], c[1]) has the first `done` products already.
  void RoundSums(const SystemRow& row, const SystemPanel& panel, int parts, int64_t done, double* const c[2],
                 const PanelRow& b, PanelRow& s, TierCounts& counts) const;
  // Each part of s divided by a real number, or s divided as complex numbers.
  void Divide(double divisor, const SystemPanel& panel, const PanelRow& s, PanelRow& x) const;
  void DivideComplex(Complex divisor, const SystemPanel& panel, const PanelRow& s, PanelRow& x) const;
  // The unknowns become elements parts() * i .. of the panel.
  void Put(int64_t i, const PanelRow& x, const SystemPanel& panel) const;

  // One row of an array <-> a row of a panel; element j of `count` at src + j * stride, in bytes.
  void Load(const std::byte* src, int64_t stride, int count, PanelRow& row) const;
  void Store(const PanelRow& row, int first, int count, std::byte* dst, int64_t stride) const;

 private:
  struct Open;  // an element that the first sum left open
  double Settle(const Open& open, double sum, double error) const;
  double SettleByDoubles(const Open& open, double sum, bool* settled) const;
  double ByAccumulator(const Open& open) const;
  double Zero(const Open& open) const;
  void Repair(const SystemRow& row, const SystemPanel& panel, const double* x, const double* b,
              const double* sums, const int64_t* failed, double* out, TierCounts& counts) const;

  const ElementType component_;
  const FloatFormat& format_;
  const SumKernels& sums_;
  const SolveKernels& solve_;
  const NarrowRounding rounding_;
  const int parts_;
  const bool pairs_, keeps_zeros_;
};

// Statistics of no element at all.
void ClearStatistics(RowStatistics& statistics);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_LINALG_SUBSTITUTION_H_
