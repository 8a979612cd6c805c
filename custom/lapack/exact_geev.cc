// geev.
#include "custom/lapack/exact_arrays.h"
#include "custom/lapack/exact_routines.h"
#include "custom/linalg/eigenvectors.h"
#include "custom/linalg/ladder.h"

namespace assay::custom {
namespace {

using linalg::Matrix;
using linalg::Work;

template <class S>
struct Geev {
  using C = typename linalg::ComplexOf<S>::Type;
  static absl::StatusOr<bool> Run(const LapackArguments& args, Work& work) {
    const bool is_real = !args.call.is_complex();
    const bool sides[] = {args.letter(0) == 'V', args.letter(1) == 'V'};
    Matrix<S> a = LoadMatrix<S>(args.call, args.in[0], args.size('n'), args.size('n'));
    ASSAY_ASSIGN_OR_RETURN(linalg::Schur<C> schur,
                           linalg::SchurForm(std::move(a), sides[0] || sides[1], work));
    ASSAY_ASSIGN_OR_RETURN(const linalg::EigenGroups<C> groups,
                           linalg::OrderEigenvalues(schur, is_real, work));
    StoreEigenvalues(args.call, groups.values, args.out[0], args.out[1]);
    for (const int side : {0, 1}) {
      if (!sides[side]) continue;
      ASSAY_ASSIGN_OR_RETURN(const Matrix<C> vectors,
                             linalg::Eigenvectors(schur, groups, /*left=*/side == 0, is_real, work));
      StoreMatrix(args.call, vectors, args.out[(is_real ? 2 : 1) + side], -linalg::RealOf<C>::kKept);
    }
    return groups.reach <= groups.size - SureBits(args.call);
  }
};

}  // namespace

absl::StatusOr<bool> ExactGeev(const LapackArguments& arguments, int limbs, Work& work) {
  return linalg::RunRung<Geev>(arguments, limbs, arguments.call.is_complex(), work);
}

}  // namespace assay::custom
