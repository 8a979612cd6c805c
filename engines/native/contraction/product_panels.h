// Exact sums of products of elements of any two types (DOT-1 of docs/spec/operations-linalg.md), for what no
// faster kernel takes: operands are gathered into panels, contiguous rows in a form that multiplies fast.
//
// Floating and complex results are +0 plus the exact sum of the exact products, rounded once a component;
// integer results are the sum modulo 2^w; pred is OR of ANDs.
#ifndef ASSAY_ENGINES_NATIVE_CONTRACTION_PRODUCT_PANELS_H_
#define ASSAY_ENGINES_NATIVE_CONTRACTION_PRODUCT_PANELS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "evaluator/scalar/exact_sum.h"

namespace assay::native {

enum class Side : uint8_t { kLhs, kRhs };

// How one element of an operand is kept in a panel, and which products of what is kept make the result.
//
// A real operand is one plane of doubles, a complex one the planes re, im (and -im on the left). 64-bit
// integers in a floating contraction are two doubles that sum to the value and are zero only if it is.
class Contraction {
 public:
  Contraction(ElementType lhs, ElementType rhs, ElementType result);

  ElementType operand_type(Side side) const { return side == Side::kLhs ? lhs_ : rhs_; }
  ElementType result_type() const { return result_; }
  int planes(Side side) const { return side == Side::kLhs ? lhs_planes_ : rhs_planes_; }
  bool exact() const { return exact_; }  // else integer arithmetic modulo 2^64

  struct Term {
    int lhs_plane, rhs_plane;
    bool imaginary;
  };
  std::span<const Term> terms() const { return terms_; }

 private:
  ElementType lhs_, rhs_, result_;
  bool exact_;
  int lhs_planes_ = 1, rhs_planes_ = 1;
  std::vector<Term> terms_;
};

// Elements of one operand, gathered: `slots` of them in each plane.
class Panel {
 public:
  Panel(const Contraction& contraction, Side side) : contraction_(contraction), side_(side) {}
  // Makes room; contents are then unspecified.
  void Resize(int64_t slots);
  int64_t slots() const { return slots_; }
  // Slots [at, at + n) = the elements at src, stride_bytes apart.
  void Load(int64_t at, const std::byte* src, int64_t stride_bytes, int64_t n);

  const double* reals(int plane) const { return reals_.data() + plane * slots_; }
  const uint64_t* integers() const { return integers_.data(); }

 private:
  void LoadExact(int64_t at, const std::byte* src, int64_t stride_bytes, int64_t n);

  const Contraction& contraction_;
  const Side side_;
  int64_t slots_ = 0;
  std::vector<double> reals_;
  std::vector<uint64_t> integers_;
};

// One element of the result in the making.
class PanelSum {
 public:
  explicit PanelSum(const Contraction& contraction) : contraction_(contraction) { Clear(); }
  void Clear();
  // Adds lhs[a + i] * rhs[b + i] for i in [0, n).
  void Add(const Panel& lhs, int64_t a, const Panel& rhs, int64_t b, int64_t n);
  void Store(std::byte* dst) const;

 private:
  const Contraction& contraction_;
  ExactSum real_, imaginary_;
  uint64_t integer_ = 0;
};

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_CONTRACTION_PRODUCT_PANELS_H_
