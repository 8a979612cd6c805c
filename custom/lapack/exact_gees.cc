// gees.
#include <algorithm>

#include "custom/lapack/exact_arrays.h"
#include "custom/lapack/exact_routines.h"
#include "custom/linalg/ladder.h"
#include "custom/linalg/real_schur.h"

namespace assay::custom {
namespace {

using linalg::EigenGroup;
using linalg::EigenGroups;
using linalg::Matrix;
using linalg::Schur;
using linalg::Work;

template <int N, bool kZeros>
void CutSmall(linalg::Wide<N, kZeros>& x, int least) {
  if (x.exponent() <= least) x = {};
}
template <class R>
void CutSmall(linalg::Complex<R>& x, int least) {
  CutSmall(x.re, least);
  CutSmall(x.im, least);
}

// What is below the diagonal, or its blocks, is 0; so is what rounding errors reach.
template <class S>
void CutTriangle(Matrix<S>& t, int least) {
  for (int64_t j = 0; j < t.columns; ++j) {
    std::fill(t.column(j) + j + 1, t.column(j) + t.rows, S());
    for (int64_t i = 0; i < j; ++i) CutSmall(t(i, j), least);
  }
}

template <class S>
struct Gees {
  using C = typename linalg::ComplexOf<S>::Type;
  using R = linalg::RealOf<C>;

  static absl::StatusOr<bool> Run(const LapackArguments& args, Work& work) {
    const int64_t n = args.size('n');
    const bool is_real = !args.call.is_complex();
    const Matrix<S> a = LoadMatrix<S>(args.call, args.out[0], n, n);
    ASSAY_ASSIGN_OR_RETURN(Schur<C> schur, linalg::SchurForm(a, /*vectors=*/true, work));
    ASSAY_ASSIGN_OR_RETURN(const EigenGroups<C> groups, linalg::OrderEigenvalues(schur, is_real, work));
    for (const EigenGroup<C>& group : groups.groups)
      ASSAY_RETURN_IF_ERROR(linalg::CanonicalizeGroup(schur, group, groups.size - R::kKept, work));
    StoreEigenvalues(args.call, groups.values, args.out[2], args.out[3]);
    if constexpr (linalg::Of<S>::kIsComplex) {
      ASSAY_RETURN_IF_ERROR(StoreComplex(args, a, schur, groups, work));
    } else {
      ASSAY_RETURN_IF_ERROR(StoreReal(args, a, schur, groups, work));
    }
    return groups.reach <= groups.size - SureBits(args.call);
  }

  static absl::Status StoreComplex(const LapackArguments& args, const Matrix<S>& a, const Schur<C>& schur,
                                   const EigenGroups<C>& groups, Work& work) {
    ASSAY_ASSIGN_OR_RETURN(const Matrix<C> image, linalg::Product(linalg::ToIterated(a), schur.z, work));
    ASSAY_ASSIGN_OR_RETURN(Matrix<C> t, linalg::AdjointProduct(schur.z, image, work));
    CutTriangle(t, groups.size - R::kKept);
    for (int64_t i = 0; i < t.rows; ++i) t(i, i) = groups.values[i];
    Store(args, t, schur.z);
    return absl::OkStatus();
  }

  static absl::Status StoreReal(const LapackArguments& args, const Matrix<S>& real, const Schur<C>& schur,
                                const EigenGroups<C>& groups, Work& work) {
    const Matrix<R> a = linalg::ToIterated(real);
    linalg::RealSchurVectors<R> vectors(a, work);
    std::vector<linalg::PairBlock<R>> blocks;
    std::vector<C> values;
    for (const EigenGroup<C>& group : groups.groups) {
      if (group.value.im.is_negative()) continue;
      for (int64_t j = group.first; j < group.first + group.count; ++j) {
        values.push_back(group.value);
        if (group.value.im.is_zero()) {
          ASSAY_RETURN_IF_ERROR(vectors.AddReal(schur.z.column(j)));
          continue;
        }
        values.push_back(linalg::Conj(group.value));
        ASSAY_ASSIGN_OR_RETURN(blocks.emplace_back(), vectors.AddPair(schur.z.column(j)));
      }
    }
    ASSAY_ASSIGN_OR_RETURN(const Matrix<R> image, linalg::Product(a, vectors.z, work));
    ASSAY_ASSIGN_OR_RETURN(Matrix<R> t, linalg::AdjointProduct(vectors.z, image, work));
    CutTriangle(t, groups.size - R::kKept);
    auto block = blocks.begin();
    for (int64_t i = 0; i < t.rows; ++i) {
      t(i, i) = values[i].re;
      if (values[i].im.is_zero() || values[i].im.is_negative()) continue;
      t(i, i + 1) = block->above;
      t(i + 1, i) = block->below;
      ++block;
    }
    StoreEigenvalues(args.call, values, args.out[2], args.out[3]);
    Store(args, t, vectors.z);
    return absl::OkStatus();
  }

  template <class E>
  static void Store(const LapackArguments& args, const Matrix<E>& t, const Matrix<E>& z) {
    StoreMatrix(args.call, t, args.out[0]);
    if (args.letter(0) == 'V') StoreMatrix(args.call, z, args.out[1], -R::kKept);
  }
};

}  // namespace

absl::StatusOr<bool> ExactGees(const LapackArguments& arguments, int limbs, Work& work) {
  return linalg::RunRung<Gees>(arguments, limbs, arguments.call.is_complex(), work);
}

}  // namespace assay::custom
