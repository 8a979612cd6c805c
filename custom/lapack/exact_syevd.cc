// syevd, heevd.
#include "custom/lapack/exact_arrays.h"
#include "custom/lapack/exact_routines.h"
#include "custom/linalg/ladder.h"
#include "custom/linalg/symmetric.h"

namespace assay::custom {
namespace {

using linalg::Matrix;
using linalg::Work;

template <class S>
struct Syevd {
  using I = linalg::IteratedOf<S>;
  static absl::StatusOr<bool> Run(const LapackArguments& args, Work& work) {
    const bool vectors = args.letter(0) == 'V', lower = args.letter(1) == 'L';
    Matrix<S> a = LoadMatrix<S>(args.call, args.out[0], args.size('n'), args.size('n'));
    if (!lower) a = linalg::Adjoint(a);
    ASSAY_ASSIGN_OR_RETURN(const linalg::Eigen<I> eigen,
                           linalg::HermitianEigenvalues(std::move(a), vectors, work));
    StoreVector(args.call, eigen.values, args.out[1]);
    if (vectors) StoreMatrix(args.call, eigen.vectors, args.out[0], -linalg::RealOf<I>::kKept);
    return true;
  }
};

}  // namespace

absl::StatusOr<bool> ExactSyevd(const LapackArguments& arguments, int limbs, Work& work) {
  return linalg::RunRung<Syevd>(arguments, limbs, arguments.call.is_complex(), work);
}

}  // namespace assay::custom
