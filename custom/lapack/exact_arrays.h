// Arrays of a routine's arguments as matrices of wide numbers, and results rounded to their types.
#ifndef ASSAY_CUSTOM_LAPACK_EXACT_ARRAYS_H_
#define ASSAY_CUSTOM_LAPACK_EXACT_ARRAYS_H_

#include <vector>

#include "custom/lapack/routine.h"
#include "custom/linalg/matrix.h"

namespace assay::custom {

// Finite floats of one type behind each other.
class FloatArray {
 public:
  FloatArray(void* data, const LapackCall& call)
      : data_(data), is_f64_(call.type == ElementType::kF64 || call.type == ElementType::kC128) {}

  double get(int64_t i) const {
    return is_f64_ ? static_cast<const double*>(data_)[i] : static_cast<const float*>(data_)[i];
  }
  template <class R>
  void set(int64_t i, const R& value) const {
    if (is_f64_) {
      static_cast<double*>(data_)[i] = value.RoundToDouble();
    } else {
      static_cast<float*>(data_)[i] = value.RoundToFloat();
    }
  }

 private:
  void* const data_;
  const bool is_f64_;
};

// Numbers that are known to within 2^-SureBits of the largest, and then rounded.
inline int SureBits(const LapackCall& call) {
  return call.type == ElementType::kF64 || call.type == ElementType::kC128 ? 64 : 34;
}

template <class S>
void LoadElements(const LapackCall& call, void* source, S* target, int64_t count) {
  const FloatArray array(source, call);
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (linalg::Of<S>::kIsComplex) {
      target[i] = S(linalg::RealOf<S>(array.get(2 * i)), linalg::RealOf<S>(array.get(2 * i + 1)));
    } else {
      target[i] = S(array.get(i));
    }
  }
}
template <class S>
linalg::Matrix<S> LoadMatrix(const LapackCall& call, void* source, int64_t rows, int64_t columns) {
  linalg::Matrix<S> result(rows, columns);
  LoadElements(call, source, result.elements.data(), rows * columns);
  return result;
}
template <class S>
std::vector<S> LoadVector(const LapackCall& call, void* source, int64_t count) {
  std::vector<S> result(count);
  LoadElements(call, source, result.data(), count);
  return result;
}

// Numbers smaller than 2^least become 0.
template <class S>
void StoreElements(const LapackCall& call, const S* source, int64_t count, void* target,
                   int least = std::numeric_limits<int>::min()) {
  const FloatArray array(target, call);
  const auto kept = [least](const auto& x) {
    return x.exponent() <= least ? std::decay_t<decltype(x)>() : x;
  };
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (linalg::Of<S>::kIsComplex) {
      array.set(2 * i, kept(source[i].re));
      array.set(2 * i + 1, kept(source[i].im));
    } else {
      array.set(i, kept(source[i]));
    }
  }
}
template <class S>
void StoreMatrix(const LapackCall& call, const linalg::Matrix<S>& source, void* target,
                 int least = std::numeric_limits<int>::min()) {
  StoreElements(call, source.elements.data(), static_cast<int64_t>(source.elements.size()), target, least);
}
// Eigenvalues: as two real arrays, or one of complex numbers.
template <class C>
void StoreEigenvalues(const LapackCall& call, const std::vector<C>& values, void* first, void* second) {
  const int64_t count = static_cast<int64_t>(values.size());
  if (call.is_complex()) return StoreElements(call, values.data(), count, first);
  const FloatArray real(first, call), imaginary(second, call);
  for (int64_t i = 0; i < count; ++i) {
    real.set(i, values[i].re);
    imaginary.set(i, values[i].im);
  }
}
template <class S>
void StoreVector(const LapackCall& call, const std::vector<S>& source, void* target) {
  StoreElements(call, source.data(), static_cast<int64_t>(source.size()), target);
}

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_LAPACK_EXACT_ARRAYS_H_
