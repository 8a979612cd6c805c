// geqrf, geqp3, orgqr, ormqr.
#include <algorithm>
#include <numeric>

#include "custom/lapack/exact_arrays.h"
#include "custom/lapack/exact_routines.h"
#include "custom/linalg/ladder.h"
#include "custom/linalg/reflectors.h"

namespace assay::custom {
namespace {

using linalg::Matrix;
using linalg::Work;

template <class S>
struct Geqrf {
  static absl::StatusOr<bool> Run(const LapackArguments& args, Work& work) {
    Matrix<S> a = LoadMatrix<S>(args.call, args.out[0], args.size('m'), args.size('n'));
    std::vector<S> taus;
    ASSAY_RETURN_IF_ERROR(linalg::FactorQr(a, taus, work));
    StoreMatrix(args.call, a, args.out[0]);
    StoreVector(args.call, taus, args.out[1]);
    return true;
  }
};

template <class S>
struct Geqp3 {
  static absl::StatusOr<bool> Run(const LapackArguments& args, Work& work) {
    Matrix<S> a = LoadMatrix<S>(args.call, args.out[0], args.size('m'), args.size('n'));
    int32_t* const order = static_cast<int32_t*>(args.out[1]);
    const int64_t fixed = TakeFixedColumns(a, order);
    std::vector<S> taus;
    ASSAY_RETURN_IF_ERROR(linalg::FactorPivotedQr(a, fixed, order, taus, work));
    StoreMatrix(args.call, a, args.out[0]);
    StoreVector(args.call, taus, args.out[2]);
    return true;
  }

  // geqp3's own exchanges: columns of which `order` is not 0 come first; `order` becomes their numbers, from
  // 1 on.
  static int64_t TakeFixedColumns(Matrix<S>& a, int32_t* order) {
    int64_t fixed = 0;
    for (int64_t j = 0; j < a.columns; ++j) {
      const bool is_fixed = order[j] != 0;
      order[j] = static_cast<int32_t>(j + 1);
      if (!is_fixed) continue;
      if (j != fixed) {
        a.SwapColumns(j, fixed);
        std::swap(order[j], order[fixed]);
      }
      ++fixed;
    }
    return fixed;
  }
};

template <class S>
struct Orgqr {
  static absl::StatusOr<bool> Run(const LapackArguments& args, Work& work) {
    const int64_t m = args.size('m'), n = args.size('n');
    const Matrix<S> packed = LoadMatrix<S>(args.call, args.out[0], m, n);
    const std::vector<S> taus = LoadVector<S>(args.call, args.in[1], args.size('k'));
    Matrix<S> q(m, n);
    for (int64_t j = 0; j < n; ++j) q(j, j) = S(1.0);
    ASSAY_RETURN_IF_ERROR(linalg::MultiplyByQ(packed, taus, 0, /*adjoint=*/false, q, work));
    StoreMatrix(args.call, q, args.out[0]);
    return true;
  }
};

template <class S>
struct Ormqr {
  static absl::StatusOr<bool> Run(const LapackArguments& args, Work& work) {
    const Matrix<S> packed = LoadMatrix<S>(args.call, args.in[0], args.size('q'), args.size('p'));
    const std::vector<S> taus = LoadVector<S>(args.call, args.in[1], args.size('k'));
    Matrix<S> c = LoadMatrix<S>(args.call, args.out[0], args.size('m'), args.size('n'));
    const bool left = args.call.attributes[0] != 0, adjoint = args.call.attributes[1] != 0;
    ASSAY_RETURN_IF_ERROR(left ? linalg::MultiplyByQ(packed, taus, 0, adjoint, c, work)
                               : linalg::MultiplyByQRight(packed, taus, adjoint, c, work));
    StoreMatrix(args.call, c, args.out[0]);
    return true;
  }
};

}  // namespace

absl::StatusOr<bool> ExactGeqrf(const LapackArguments& arguments, int limbs, Work& work) {
  return linalg::RunRung<Geqrf>(arguments, limbs, arguments.call.is_complex(), work);
}
absl::StatusOr<bool> ExactGeqp3(const LapackArguments& arguments, int limbs, Work& work) {
  return linalg::RunRung<Geqp3>(arguments, limbs, arguments.call.is_complex(), work);
}
absl::StatusOr<bool> ExactOrgqr(const LapackArguments& arguments, int limbs, Work& work) {
  return linalg::RunRung<Orgqr>(arguments, limbs, arguments.call.is_complex(), work);
}
absl::StatusOr<bool> ExactOrmqr(const LapackArguments& arguments, int limbs, Work& work) {
  return linalg::RunRung<Ormqr>(arguments, limbs, arguments.call.is_complex(), work);
}

}  // namespace assay::custom
