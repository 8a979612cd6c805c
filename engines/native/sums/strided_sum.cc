#include "engines/native/sums/strided_sum.h"

#include <algorithm>
#include <complex>

#include "literal/element_io.h"

namespace assay::native {

StridedSum::StridedSum(ElementType type) : type_(type), complex_(IsComplex(type)) {}

void StridedSum::Clear() {
  real_.Clear();
  if (complex_) imaginary_.Clear();
}

void StridedSum::Add(const std::byte* src, int64_t stride_bytes, int64_t n) {
  constexpr double kOne = 1;
  alignas(64) double strip[2 * kStrip];
  const int64_t width = complex_ ? 2 : 1;
  for (int64_t done = 0; done < n; done += kStrip) {
    const int64_t count = std::min(kStrip, n - done);
    LoadStrip(type_, src + done * stride_bytes, stride_bytes, count, strip);
    real_.AddProducts(strip, width, &kOne, 0, count);
    if (complex_) imaginary_.AddProducts(strip + 1, width, &kOne, 0, count);
  }
}

void StridedSum::Store(std::byte* dst) const {
  const FloatFormat& format = *Info(type_).format;
  const double rounded[2] = {real_.Round(format), complex_ ? imaginary_.Round(format) : 0};
  StoreStrip(type_, rounded, 1, dst, 0);
}

}  // namespace assay::native
