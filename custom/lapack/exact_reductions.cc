// gehrd, sytrd, hetrd.
#include "custom/lapack/exact_arrays.h"
#include "custom/lapack/exact_routines.h"
#include "custom/linalg/ladder.h"
#include "custom/linalg/reflectors.h"

namespace assay::custom {
namespace {

using linalg::Matrix;
using linalg::Work;

template <class S>
struct Gehrd {
  static absl::StatusOr<bool> Run(const LapackArguments& args, Work& work) {
    const int64_t n = args.size('n');
    Matrix<S> a = LoadMatrix<S>(args.call, args.out[0], n, n);
    std::vector<S> taus;
    ASSAY_RETURN_IF_ERROR(
        linalg::ReduceToHessenberg(a, args.call.attributes[0] - 1, args.call.attributes[1], taus, work));
    StoreMatrix(args.call, a, args.out[0]);
    StoreVector(args.call, taus, args.out[1]);
    return true;
  }
};

// The upper triangle is reduced from its last column on: as the lower one with rows and columns in the other
// order. The other triangle keeps its elements.
template <class S>
struct Sytrd {
  static absl::StatusOr<bool> Run(const LapackArguments& args, Work& work) {
    const int64_t n = args.size('n');
    const bool lower = args.letter(0) == 'L';
    Matrix<S> a = LoadMatrix<S>(args.call, args.out[0], n, n);
    if (!lower) std::ranges::reverse(a.elements);
    std::vector<linalg::RealOf<S>> d, e;
    std::vector<S> taus;
    ASSAY_RETURN_IF_ERROR(linalg::ReduceToTridiagonal(a, d, e, taus, work));
    for (int64_t k = 0; k < n; ++k) a(k, k) = S(d[k]);
    if (!lower) {
      std::ranges::reverse(a.elements);
      std::ranges::reverse(d);
      std::ranges::reverse(e);
      std::ranges::reverse(taus);
    }
    StoreMatrix(args.call, a, args.out[0]);
    StoreVector(args.call, d, args.out[1]);
    StoreVector(args.call, e, args.out[2]);
    StoreVector(args.call, taus, args.out[3]);
    return true;
  }
};

}  // namespace

absl::StatusOr<bool> ExactGehrd(const LapackArguments& arguments, int limbs, Work& work) {
  return linalg::RunRung<Gehrd>(arguments, limbs, arguments.call.is_complex(), work);
}
absl::StatusOr<bool> ExactSytrd(const LapackArguments& arguments, int limbs, Work& work) {
  return linalg::RunRung<Sytrd>(arguments, limbs, arguments.call.is_complex(), work);
}

}  // namespace assay::custom
