// The eigenvalues on the diagonal of a Schur form: which of them are equal, and their order.
//
// With right and left eigenvectors x_i and y_i an eigenvalue is known to within e_i = n 2^(8 - bits) |T|
// |x_i| |y_i| / |y_i* x_i|. Where k of them are the same number with fewer vectors, they are computed some
// 2^(-bits / k) apart, and so large are their e_i then; if they happen to be nearer, the vectors are those of
// values 2^(-bits / k) apart. So those that are apart by less than 2^16 e_i are one group; its mean is known
// to the last bits.
#ifndef ASSAY_CUSTOM_LINALG_EIGENVALUES_H_
#define ASSAY_CUSTOM_LINALG_EIGENVALUES_H_

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <numeric>
#include <tuple>
#include <vector>

#include "custom/linalg/schur.h"

namespace assay::linalg {

template <class C>
struct EigenGroup {
  C value;
  int tolerance = 0;  // two such values are apart by more than 2^tolerance
  int64_t first = 0, count = 0;
};

template <class C>
struct EigenGroups {
  std::vector<EigenGroup<C>> groups;  // in their order
  // Every value is known to within 2^reach.
  int reach = std::numeric_limits<int>::min();
  int size = 0;  // |T| is about 2^size
  // The eigenvalue of row i of T.
  std::vector<C> values;
};

// x with T x = x t_ii, x_i = 1 and 0 behind, or with T* x = x conj(t_ii) and 0 before; its size as an
// exponent. A divisor that is smaller than 2^least is that.
template <class C>
absl::StatusOr<int> SizeOfVector(const Matrix<C>& t, int64_t i, bool left, int least, Work& work) {
  using R = RealOf<C>;
  const int64_t n = t.rows;
  std::vector<C> x(n);
  x[i] = C(1.0);
  int size = 1;
  const int64_t step = left ? 1 : -1;
  for (int64_t k = i + step; k >= 0 && k < n; k += step) {
    C sum;
    if (left) {
      for (int64_t j = i; j < k; ++j) sum += Conj(t(j, k)) * x[j];
    } else {
      for (int64_t j = k + 1; j <= i; ++j) sum += t(k, j) * x[j];
    }
    C divisor = t(k, k) - t(i, i);
    if (ExponentOf(divisor) < least) divisor = C(R::PowerOf2(least));
    x[k] = -sum / (left ? Conj(divisor) : divisor);
    size = std::max(size, ExponentOf(x[k]));
    ASSAY_RETURN_IF_ERROR(work.Add<C>(std::abs(k - i) + 6));
  }
  return size;
}

// No eigenvalue is taken for another that is further away than this, as an exponent, of the largest.
inline constexpr int kLargestTolerance = -30;

// Exponents of 2^16 e_i, `order` being k.
template <class C>
absl::StatusOr<std::vector<int>> EigenvalueTolerances(const Schur<C>& schur, int size, int64_t order,
                                                      Work& work) {
  using R = RealOf<C>;
  const int64_t n = schur.t.rows;
  const int least = size - R::kBits / static_cast<int>(order);
  const int log_n = std::bit_width(static_cast<uint64_t>(n));
  std::vector<int> result(n);
  for (int64_t i = 0; i < n; ++i) {
    if (schur.alone[i]) {
      result[i] = ExponentOf(schur.t(i, i)) - R::kKept;
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(const int right, SizeOfVector(schur.t, i, /*left=*/false, least, work));
    ASSAY_ASSIGN_OR_RETURN(const int left, SizeOfVector(schur.t, i, /*left=*/true, least, work));
    result[i] = std::min(size + kLargestTolerance, size - R::kBits + 8 + 16 + 2 * log_n + right + left);
  }
  return result;
}

// Numbers 0, 1, ... for values in rising order, the same one for neighbours that are apart by 2^tolerance at
// most.
template <class R>
std::vector<int> Ranks(const std::vector<R>& values, const std::vector<int>& tolerances,
                       const std::vector<int>& within) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {
    return within[a] != within[b] ? within[a] < within[b] : values[a] < values[b];
  });
  std::vector<int> ranks(values.size());
  for (size_t k = 1; k < order.size(); ++k) {
    const size_t a = order[k - 1], b = order[k];
    const R apart = values[b] - values[a];
    const bool same = within[a] == within[b] &&
                      (apart.is_zero() || apart.exponent() <= std::max(tolerances[a], tolerances[b]));
    ranks[b] = ranks[a] + (same ? 0 : 1);
  }
  return ranks;
}

// By real parts, then by the sizes of imaginary parts, positive ones first.
template <class C>
std::vector<size_t> OrderOfGroups(const std::vector<EigenGroup<C>>& groups) {
  std::vector<RealOf<C>> real, imaginary;
  std::vector<int> tolerances;
  for (const EigenGroup<C>& group : groups) {
    real.push_back(group.value.re);
    imaginary.push_back(Abs(group.value.im));
    tolerances.push_back(group.tolerance);
  }
  const std::vector<int> by_real = Ranks(real, tolerances, std::vector<int>(groups.size()));
  const std::vector<int> by_both = Ranks(imaginary, tolerances, by_real);
  std::vector<size_t> order(groups.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {
    return by_both[a] != by_both[b] ? by_both[a] < by_both[b]
                                    : !groups[a].value.im.is_negative() && groups[b].value.im.is_negative();
  });
  return order;
}

// Of a real matrix: groups are real or each other's conjugates.
template <class C>
void PairConjugates(std::vector<EigenGroup<C>>& groups) {
  for (EigenGroup<C>& group : groups) {
    if (group.value.im.is_zero() || group.value.im.is_negative()) continue;
    EigenGroup<C>* nearest = nullptr;
    for (EigenGroup<C>& other : groups) {
      if (!other.value.im.is_negative()) continue;
      if (nearest == nullptr ||
          Square(other.value - Conj(group.value)) < Square(nearest->value - Conj(group.value)))
        nearest = &other;
    }
    if (nearest != nullptr) nearest->value = Conj(group.value);
  }
}

template <class C>
std::vector<int64_t> GroupsOfRows(const Schur<C>& schur, const std::vector<int>& tolerances) {
  const int64_t n = schur.t.rows;
  std::vector<int64_t> root(n);
  std::iota(root.begin(), root.end(), 0);
  const std::function<int64_t(int64_t)> find = [&](int64_t i) {
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
  };
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = i + 1; j < n; ++j) {
      const C apart = schur.t(i, i) - schur.t(j, j);
      if (!apart.is_zero() && ExponentOf(apart) > std::max(tolerances[i], tolerances[j])) continue;
      const int64_t a = find(i), b = find(j);
      root[std::max(a, b)] = std::min(a, b);
    }
  }
  for (int64_t i = 0; i < n; ++i) root[i] = find(i);
  return root;
}

// Whether no k values of a group are known less exactly than k equal ones can be.
inline bool FitGroups(const std::vector<int64_t>& roots, const std::vector<int>& tolerances, int size,
                      int bits) {
  constexpr int kSlack = 48;
  std::vector<int> counts(roots.size());
  for (const int64_t root : roots) ++counts[root];
  for (size_t i = 0; i < roots.size(); ++i) {
    if (tolerances[i] > size - bits / counts[roots[i]] + kSlack) return false;
  }
  return true;
}

// The groups of the eigenvalues, by which the rows of the Schur form are put in order: those of a group stand
// together.
template <class C>
absl::StatusOr<EigenGroups<C>> OrderEigenvalues(Schur<C>& schur, bool is_real, Work& work) {
  using R = RealOf<C>;
  const int64_t n = schur.t.rows;
  EigenGroups<C> result;
  result.size = std::numeric_limits<int>::min() / 2;
  for (const C& value : schur.t.elements) result.size = std::max(result.size, ExponentOf(value));
  std::vector<int> tolerances;
  std::vector<int64_t> roots;
  for (int64_t order = 1; order <= n; order += (order + 1) / 2) {
    ASSAY_ASSIGN_OR_RETURN(tolerances, EigenvalueTolerances(schur, result.size, order, work));
    roots = GroupsOfRows(schur, tolerances);
    if (FitGroups(roots, tolerances, result.size, R::kBits)) break;
  }
  std::vector<EigenGroup<C>> groups;
  std::vector<int64_t> group_of(n);
  for (int64_t i = 0; i < n; ++i) {
    if (roots[i] == i) {
      group_of[i] = static_cast<int64_t>(groups.size());
      groups.push_back({.tolerance = tolerances[i]});
    }
    group_of[i] = group_of[roots[i]];
    EigenGroup<C>& group = groups[group_of[i]];
    group.value += schur.t(i, i);
    group.tolerance = std::max(group.tolerance, tolerances[i]);
    ++group.count;
  }
  for (EigenGroup<C>& group : groups) {
    if (group.count > 1) group.value = group.value * Reciprocal(R(static_cast<double>(group.count)));
    for (R* const part : {&group.value.re, &group.value.im}) {
      if (part->exponent() <= group.tolerance) *part = R();
    }
    result.reach = std::max(result.reach, group.tolerance);
  }
  if (is_real) PairConjugates(groups);
  const std::vector<size_t> order = OrderOfGroups(groups);
  std::vector<int64_t> rank(groups.size());
  for (size_t k = 0; k < order.size(); ++k) {
    rank[order[k]] = static_cast<int64_t>(k);
    result.groups.push_back(groups[order[k]]);
    result.groups.back().first = static_cast<int64_t>(result.values.size());
    result.values.insert(result.values.end(), result.groups.back().count, result.groups.back().value);
  }
  std::vector<int64_t> ranks(n);
  for (int64_t i = 0; i < n; ++i) ranks[i] = rank[group_of[i]];
  for (int64_t end = n - 1; end > 0; --end) {
    for (int64_t k = 0; k < end; ++k) {
      if (ranks[k] <= ranks[k + 1]) continue;
      std::swap(ranks[k], ranks[k + 1]);
      ASSAY_RETURN_IF_ERROR(Exchange(schur, k, work));
    }
  }
  return result;
}

}  // namespace assay::linalg

#endif  // ASSAY_CUSTOM_LINALG_EIGENVALUES_H_
