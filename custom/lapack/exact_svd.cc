// gesdd, gesvd: one and the same here.
#include "custom/lapack/exact_arrays.h"
#include "custom/lapack/exact_routines.h"
#include "custom/linalg/jacobi.h"
#include "custom/linalg/ladder.h"

namespace assay::custom {
namespace {

using linalg::Matrix;
using linalg::Work;

// Vectors of singular values that are 0, and those that there is none for, complete the others to a unitary
// matrix.
template <class S>
struct Svd {
  using I = linalg::IteratedOf<S>;
  static absl::StatusOr<bool> Run(const LapackArguments& args, Work& work) {
    constexpr int kLeast = -linalg::RealOf<I>::kKept;
    const bool vectors = args.letter(0) != 'N';
    const Matrix<S> a = LoadMatrix<S>(args.call, args.out[0], args.size('m'), args.size('n'));
    ASSAY_ASSIGN_OR_RETURN(const linalg::Singular<I> singular, linalg::SingularValues(a, vectors, work));
    StoreVector(args.call, singular.values, args.out[1]);
    if (!vectors) return true;
    ASSAY_ASSIGN_OR_RETURN(const Matrix<I> u, linalg::Completed(singular.u, args.size('p'), work));
    ASSAY_ASSIGN_OR_RETURN(const Matrix<I> v, linalg::Completed(singular.v, args.size('q'), work));
    StoreMatrix(args.call, u, args.out[2], kLeast);
    StoreMatrix(args.call, linalg::Adjoint(v), args.out[3], kLeast);
    return true;
  }
};

}  // namespace

absl::StatusOr<bool> ExactSvd(const LapackArguments& arguments, int limbs, Work& work) {
  return linalg::RunRung<Svd>(arguments, limbs, arguments.call.is_complex(), work);
}

}  // namespace assay::custom
