// Gaussian elimination of a tridiagonal matrix with partial pivoting, rows k and k + 1 exchanged where |dl_k|
// > |d_k|. Without an exchange
//   f = RN(dl_k / d_k), d_k+1 = RN(d_k+1 - f du_k), b_k+1 = RN(b_k+1 - f b_k), and dl_k becomes 0;
//   info = k, from 1, if d_k = 0
// with one
//   f = RN(d_k / dl_k), d_k = dl_k, d_k+1 = RN(du_k - f d_k+1), du_k = d_k+1 as it was,
//   dl_k = du_k+1, du_k+1 = RN(-f du_k+1), b_k = b_k+1 as it was, b_k+1 = RN(b_k - f b_k+1), of b as it was
// then, unless a pivot is 0, from the last row up
//   x_k = RN(RN(b_k - du_k x_k+1 - dl_k x_k+2) / d_k)
// Element k of LAPACK's dl is element k + 1 of the call's, whose element 0 belongs to no row.
#include <algorithm>
#include <utility>
#include <vector>

#include "custom/lapack/exact_lu.h"
#include "custom/lapack/rounded_number.h"
#include "evaluator/eval_context.h"
#include "evaluator/meter.h"
#include "evaluator/runtime_sizes.h"

namespace assay::custom {
namespace {

class TridiagonalSystem {
 public:
  TridiagonalSystem(const NumberType& type, int64_t n, int64_t right_sides)
      : type_(type),
        n_(n),
        right_sides_(right_sides),
        dl_(n),
        d_(n),
        du_(n),
        b_(n * right_sides),
        rest_(type) {}

  // dl, d, du, b, in the order of the call's operands and results.
  std::vector<Complex>& array(int i) { return i == 0 ? dl_ : i == 1 ? d_ : i == 2 ? du_ : b_; }

  // info
  absl::StatusOr<int32_t> Solve(Meter& meter) {
    for (int64_t k = 0; k + 1 < n_; ++k) {
      if (type_.Size(d_[k]) < type_.Size(dl_[k + 1])) {
        Exchange(k);
      } else if (d_[k] != Complex(0)) {
        const Complex f = type_.Divide(dl_[k + 1], d_[k]);
        d_[k + 1] = Minus(d_[k + 1], f, du_[k]);
        for (int64_t r = 0; r < right_sides_; ++r) b(k + 1, r) = Minus(b(k + 1, r), f, b(k, r));
        if (k + 2 < n_) dl_[k + 1] = 0;
      } else {
        return static_cast<int32_t>(k + 1);
      }
      ASSAY_RETURN_IF_ERROR(meter.Add(right_sides_ + 1));
    }
    if (n_ > 0 && d_[n_ - 1] == Complex(0)) return static_cast<int32_t>(n_);
    for (int64_t k = n_ - 1; k >= 0; --k) {
      for (int64_t r = 0; r < right_sides_; ++r) {
        rest_.Start(b(k, r));
        if (k + 1 < n_) rest_.Subtract(du_[k], b(k + 1, r));
        if (k + 2 < n_) rest_.Subtract(dl_[k + 1], b(k + 2, r));
        b(k, r) = type_.Divide(rest_.Round(), d_[k]);
      }
      ASSAY_RETURN_IF_ERROR(meter.Add(right_sides_));
    }
    return 0;
  }

 private:
  Complex& b(int64_t i, int64_t r) { return b_[i * right_sides_ + r]; }

  Complex Minus(Complex a, Complex f, Complex x) {
    rest_.Start(a);
    rest_.Subtract(f, x);
    return rest_.Round();
  }

  void Exchange(int64_t k) {
    const Complex f = type_.Divide(d_[k], dl_[k + 1]), next = d_[k + 1];
    d_[k] = dl_[k + 1];
    d_[k + 1] = Minus(du_[k], f, next);
    if (k + 2 < n_) {
      dl_[k + 1] = du_[k + 1];
      du_[k + 1] = Minus(0, f, dl_[k + 1]);
    }
    du_[k] = next;
    for (int64_t r = 0; r < right_sides_; ++r) {
      const Complex upper = b(k, r);
      b(k, r) = b(k + 1, r);
      b(k + 1, r) = Minus(upper, f, b(k + 1, r));
    }
  }

  const NumberType& type_;
  const int64_t n_, right_sides_;
  std::vector<Complex> dl_, d_, du_, b_;
  Remainder rest_;
};

class ExactGtsv final : public CustomKernel {
 public:
  explicit ExactGtsv(LapackCall call) : call_(call) {}

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    const NumberType type(call_.type);
    const int64_t n = call_.size('n'), right_sides = call_.size('r'), bytes = Bytes(call_.type);
    // What may find no memory comes before the operands are changed.
    for (Literal& operand : operands) ASSAY_RETURN_IF_ERROR(operand.Unshare());
    ASSAY_ASSIGN_OR_RETURN(Literal info, context.NewResultElement(4, /*zero=*/true));
    ASSAY_ASSIGN_OR_RETURN(const Literal scratch,
                           ReserveScratch(context, n * (right_sides + 3), sizeof(Complex)));
    std::vector<Literal> results;
    for (Literal& operand : operands) results.push_back(std::move(operand));
    if (results[1].shape().num_elements() > 0) {
      TridiagonalSystem system(type, n, right_sides);
      Meter meter(context);
      for (int64_t i = 0; i < call_.matrices; ++i) {
        for (int k = 0; k < 4; ++k) {
          std::vector<Complex>& array = system.array(k);
          const std::byte* const source = results[k].data() + i * static_cast<int64_t>(array.size()) * bytes;
          for (size_t e = 0; e < array.size(); ++e)
            array[e] = type.Load(source + static_cast<int64_t>(e) * bytes);
        }
        ASSAY_ASSIGN_OR_RETURN(const int32_t found, system.Solve(meter));
        reinterpret_cast<int32_t*>(info.MutableBytes().data())[i] = found;
        for (int k = 0; k < 4; ++k) {
          const std::vector<Complex>& array = system.array(k);
          std::byte* const target =
              results[k].MutableBytes().data() + i * static_cast<int64_t>(array.size()) * bytes;
          for (size_t e = 0; e < array.size(); ++e)
            type.Store(array[e], target + static_cast<int64_t>(e) * bytes);
        }
      }
      ASSAY_RETURN_IF_ERROR(meter.Flush());
    }
    results.push_back(std::move(info));
    return Literal::Tuple(context.shared_result_shape(), std::move(results));
  }
  std::string_view name() const override { return "exact gtsv"; }

 private:
  const LapackCall call_;
};

}  // namespace

std::shared_ptr<const CustomKernel> MakeExactGtsv(const LapackCall& call, KernelRole) {
  return std::make_shared<ExactGtsv>(call);
}

}  // namespace assay::custom
