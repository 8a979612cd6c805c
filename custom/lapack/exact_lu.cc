// P a = L U, column by column. With the rows in the order that the pivots so far have put them into:
//   r_ij = RN(a_ij - sum over k < min(i, j) of l_ik u_kj);  u_ij = r_ij for i <= j
//   the pivot of column j is the first of the largest r_ij, i >= j; its row and row j are exchanged
//   l_ij = RN(r_ij / r_jj) for i > j; where r_jj = 0, r_ij itself, and info is the first such j,
//   counted from 1
#include "custom/lapack/exact_lu.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "custom/lapack/bounded_sum.h"
#include "custom/lapack/rounded_number.h"
#include "evaluator/eval_context.h"
#include "evaluator/meter.h"
#include "evaluator/runtime_sizes.h"

namespace assay::custom {
namespace {

struct LuMatrix {
  const NumberType& type;
  int64_t m, n;
  std::byte* elements;  // row-major: a, which becomes L and U
  int32_t* pivots;
  int32_t* info;
};

// The definition as it stands.
class PlainLu {
 public:
  PlainLu(const NumberType& type, int64_t m, int64_t n)
      : type_(type), m_(m), n_(n), lu_(m * n), rest_(type) {}
  static int64_t Bytes(const NumberType&, int64_t m, int64_t n) {
    return m * n * static_cast<int64_t>(sizeof(Complex));
  }

  absl::Status Factor(const LuMatrix& matrix, int64_t element_bytes, Meter& meter) {
    for (int64_t i = 0; i < m_ * n_; ++i) lu_[i] = type_.Load(matrix.elements + i * element_bytes);
    *matrix.info = 0;
    for (int64_t j = 0; j < n_; ++j) {
      for (int64_t i = 0; i < m_; ++i) {
        rest_.Start(at(i, j));
        const int64_t terms = std::min(i, j);
        for (int64_t k = 0; k < terms; ++k) rest_.Subtract(at(i, k), at(k, j));
        at(i, j) = rest_.Round();
        ASSAY_RETURN_IF_ERROR(meter.Add(terms + 1));
      }
      if (j < m_) Pivot(j, matrix);
    }
    for (int64_t i = 0; i < m_ * n_; ++i) type_.Store(lu_[i], matrix.elements + i * element_bytes);
    return absl::OkStatus();
  }

 private:
  Complex& at(int64_t i, int64_t j) { return lu_[i * n_ + j]; }

  void Pivot(int64_t j, const LuMatrix& matrix) {
    int64_t p = j;
    for (int64_t i = j + 1; i < m_; ++i) {
      if (type_.Size(at(i, j)) > type_.Size(at(p, j))) p = i;
    }
    matrix.pivots[j] = static_cast<int32_t>(p + 1);
    for (int64_t k = 0; k < n_; ++k) std::swap(at(j, k), at(p, k));
    if (at(j, j) == Complex(0)) {
      if (*matrix.info == 0) *matrix.info = static_cast<int32_t>(j + 1);
      return;
    }
    for (int64_t i = j + 1; i < m_; ++i) at(i, j) = type_.Divide(at(i, j), at(j, j));
  }

  const NumberType& type_;
  const int64_t m_, n_;
  std::vector<Complex> lu_;
  Remainder rest_;
};

// The same bits: rows of numbers beside each other, (re, im, …) of complex ones, times the column so far,
// twice for complex ones: (-re, im, …) for real parts and (-im, -re, …) for imaginary parts.
class BoundedLu {
 public:
  BoundedLu(const NumberType& type, int64_t m, int64_t n)
      : type_(type),
        m_(m),
        n_(n),
        parts_(type.is_complex() ? 2 : 1),
        rows_(m * n * parts_, type.part() == ElementType::kF64),
        columns_{SplitNumbers(std::min(m, n) * parts_, type.part() == ElementType::kF64),
                 SplitNumbers(std::min(m, n) * parts_, type.part() == ElementType::kF64)},
        column_(m),
        sum_(type.part()) {}
  static int64_t Bytes(const NumberType& type, int64_t m, int64_t n) {
    const int64_t parts = type.is_complex() ? 2 : 1;
    const int64_t doubles =
        (m * n + 2 * std::min(m, n)) * parts * SplitNumbers::DoublesEach(type.part() == ElementType::kF64);
    return (doubles + 2 * m) * static_cast<int64_t>(sizeof(double));
  }

  absl::Status Factor(const LuMatrix& matrix, int64_t element_bytes, Meter& meter) {
    for (int64_t i = 0; i < m_ * n_; ++i) Put(i, type_.Load(matrix.elements + i * element_bytes));
    *matrix.info = 0;
    for (int64_t j = 0; j < n_; ++j) {
      for (int64_t i = 0; i < m_; ++i) {
        const Complex rest = Rest(i, j);
        column_[i] = rest;
        if (i < j) TakeIntoColumn(i, rest);
        ASSAY_RETURN_IF_ERROR(meter.Add(std::min(i, j) / 64 + 1));
      }
      if (j < m_) Pivot(j, matrix);
      for (int64_t i = 0; i < m_; ++i) Put(i * n_ + j, column_[i]);
    }
    for (int64_t i = 0; i < m_ * n_; ++i) type_.Store(Get(i), matrix.elements + i * element_bytes);
    return absl::OkStatus();
  }

 private:
  void Put(int64_t i, Complex value) {
    rows_.Set(i * parts_, value.real());
    if (parts_ == 2) rows_.Set(i * parts_ + 1, value.imag());
  }
  Complex Get(int64_t i) const { return {rows_[i * parts_], parts_ == 2 ? rows_[i * parts_ + 1] : 0.0}; }

  Complex Rest(int64_t i, int64_t j) {
    const Complex a = Get(i * n_ + j);
    const int64_t row = i * n_ * parts_, terms = std::min(i, j) * parts_;
    const double real = sum_.Round(a.real(), rows_, row, columns_[0], 0, terms);
    return {real, parts_ == 2 ? sum_.Round(a.imag(), rows_, row, columns_[1], 0, terms) : 0.0};
  }

  void TakeIntoColumn(int64_t i, Complex u) {
    columns_[0].Set(i * parts_, -u.real());
    if (parts_ == 1) return;
    columns_[0].Set(i * 2 + 1, u.imag());
    columns_[1].Set(i * 2, -u.imag());
    columns_[1].Set(i * 2 + 1, -u.real());
  }

  void Pivot(int64_t j, const LuMatrix& matrix) {
    int64_t p = j;
    double largest = type_.Size(column_[j]);
    for (int64_t i = j + 1; i < m_; ++i) {
      const double size = type_.Size(column_[i]);
      if (!(size > largest)) continue;
      largest = size;
      p = i;
    }
    matrix.pivots[j] = static_cast<int32_t>(p + 1);
    if (p != j) {
      rows_.Swap(j * n_ * parts_, p * n_ * parts_, n_ * parts_);
      std::swap(column_[j], column_[p]);
    }
    if (column_[j] == Complex(0)) {
      if (*matrix.info == 0) *matrix.info = static_cast<int32_t>(j + 1);
      return;
    }
    for (int64_t i = j + 1; i < m_; ++i) column_[i] = type_.Divide(column_[i], column_[j]);
  }

  const NumberType& type_;
  const int64_t m_, n_, parts_;
  SplitNumbers rows_, columns_[2];
  std::vector<Complex> column_;
  BoundedSum sum_;
};

template <class Lu>
absl::StatusOr<Literal> RunGetrf(const LapackCall& call, EvalContext& context, std::span<Literal> operands) {
  const NumberType type(call.type);
  const int64_t m = call.size('m'), n = call.size('n'), k = std::min(m, n), bytes = Bytes(call.type);
  // What may find no memory comes before the operand is changed.
  ASSAY_RETURN_IF_ERROR(operands[0].Unshare());
  ASSAY_ASSIGN_OR_RETURN(Literal pivots, context.NewResultElement(1, /*zero=*/true));
  ASSAY_ASSIGN_OR_RETURN(Literal info, context.NewResultElement(2, /*zero=*/true));
  const bool is_empty = operands[0].shape().num_elements() == 0;
  ASSAY_ASSIGN_OR_RETURN(const Literal scratch,
                         ReserveScratch(context, is_empty ? 0 : 1, Lu::Bytes(type, m, n)));
  Literal lu = std::move(operands[0]);
  if (!is_empty) {
    Lu factors(type, m, n);
    std::byte* const elements = lu.MutableBytes().data();
    int32_t* const first_pivot = reinterpret_cast<int32_t*>(pivots.MutableBytes().data());
    int32_t* const first_info = reinterpret_cast<int32_t*>(info.MutableBytes().data());
    Meter meter(context);
    for (int64_t i = 0; i < call.matrices; ++i) {
      const LuMatrix matrix{type, m, n, elements + i * m * n * bytes, first_pivot + i * k, first_info + i};
      ASSAY_RETURN_IF_ERROR(factors.Factor(matrix, bytes, meter));
    }
    ASSAY_RETURN_IF_ERROR(meter.Flush());
  }
  return Literal::Tuple(context.shared_result_shape(), {std::move(lu), std::move(pivots), std::move(info)});
}

class ExactGetrf final : public CustomKernel {
 public:
  ExactGetrf(LapackCall call, KernelRole role) : call_(call), role_(role) {}
  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    return role_ == KernelRole::kReference ? RunGetrf<PlainLu>(call_, context, operands)
                                           : RunGetrf<BoundedLu>(call_, context, operands);
  }
  std::string_view name() const override { return "exact getrf"; }

 private:
  const LapackCall call_;
  const KernelRole role_;
};

}  // namespace

std::shared_ptr<const CustomKernel> MakeExactGetrf(const LapackCall& call, KernelRole role) {
  return std::make_shared<ExactGetrf>(call, role);
}

}  // namespace assay::custom
