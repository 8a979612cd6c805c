#include "engines/native/contraction/product_panels.h"

#include <algorithm>
#include <cstring>

#include "literal/element_io.h"

namespace assay::native {
namespace {

// Real planes of an operand in an exact contraction.
int RealPlanes(ElementType type) { return Bits(type) == 64 && IsIntegral(type) ? 2 : 1; }

// Two doubles of the value's sign that sum to it and are zero only if it is, so that times infinity is
// infinity.
void SplitInteger(bool negative, uint64_t magnitude, double* high, double* low) {
  uint64_t rest = magnitude & 0xffffffff;
  const double sign = negative ? -1 : 1;
  if (magnitude < (uint64_t{1} << 53) || rest == 0) {
    *high = *low = sign * (static_cast<double>(magnitude) / 2);
    return;
  }
  *high = sign * static_cast<double>(magnitude - rest);
  *low = sign * static_cast<double>(rest);
}

}  // namespace

Contraction::Contraction(ElementType lhs, ElementType rhs, ElementType result)
    : lhs_(lhs), rhs_(rhs), result_(result), exact_(IsFloat(result) || IsComplex(result)) {
  if (!exact_) {
    terms_ = {{0, 0, false}};
    return;
  }
  constexpr int kReal = 0, kImaginary = 1, kMinusImaginary = 2;
  lhs_planes_ = IsComplex(lhs) ? 3 : RealPlanes(lhs);
  rhs_planes_ = IsComplex(rhs) ? 2 : RealPlanes(rhs);
  if (IsComplex(lhs) && IsComplex(rhs)) {
    terms_ = {{kReal, kReal, false},
              {kMinusImaginary, kImaginary, false},
              {kReal, kImaginary, true},
              {kImaginary, kReal, true}};
    return;
  }
  for (int a = 0; a < (IsComplex(lhs) ? 2 : lhs_planes_); ++a) {
    for (int b = 0; b < rhs_planes_; ++b) {
      const bool imaginary = (IsComplex(lhs) && a == kImaginary) || (IsComplex(rhs) && b == kImaginary);
      terms_.push_back({a, b, imaginary});
    }
  }
}

void Panel::Resize(int64_t slots) {
  slots_ = slots;
  if (contraction_.exact()) {
    reals_.resize(slots * contraction_.planes(side_));
  } else {
    integers_.resize(slots);
  }
}

void Panel::Load(int64_t at, const std::byte* src, int64_t stride_bytes, int64_t n) {
  const ElementType type = contraction_.operand_type(side_);
  if (contraction_.exact()) {
    if (IsFloat(type)) {
      LoadStrip(type, src, stride_bytes, n, reals_.data() + at);
      return;
    }
    LoadExact(at, src, stride_bytes, n);
    return;
  }
  if (type != ElementType::kPred) {
    LoadStrip(type, src, stride_bytes, n, integers_.data() + at);
    return;
  }
  for (int64_t i = 0; i < n; ++i) integers_[at + i] = static_cast<uint64_t>(src[i * stride_bytes]);
}

// Complex and integral elements of an exact contraction.
void Panel::LoadExact(int64_t at, const std::byte* src, int64_t stride_bytes, int64_t n) {
  const ElementType type = contraction_.operand_type(side_);
  double* const planes[] = {reals_.data() + at, reals_.data() + slots_ + at, reals_.data() + 2 * slots_ + at};
  alignas(64) std::byte strip[kStripBytes];
  for (int64_t done = 0; done < n; done += kStrip) {
    const int64_t count = std::min(kStrip, n - done);
    LoadStrip(type, src + done * stride_bytes, stride_bytes, count, strip);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t slot = done + i;
      if (IsComplex(type)) {
        const double* const parts = reinterpret_cast<const double*>(strip) + 2 * i;
        planes[0][slot] = parts[0];
        planes[1][slot] = parts[1];
        if (contraction_.planes(side_) > 2) planes[2][slot] = -parts[1];
      } else if (type == ElementType::kPred) {
        planes[0][slot] = strip[i] == std::byte{0} ? 0 : 1;
      } else {
        const uint64_t bits = reinterpret_cast<const uint64_t*>(strip)[i];
        const bool negative = IsSignedIntegral(type) && static_cast<int64_t>(bits) < 0;
        const uint64_t magnitude = negative ? 0 - bits : bits;
        if (contraction_.planes(side_) == 1) {
          planes[0][slot] = negative ? -static_cast<double>(magnitude) : static_cast<double>(magnitude);
        } else {
          SplitInteger(negative, magnitude, &planes[0][slot], &planes[1][slot]);
        }
      }
    }
  }
}

void PanelSum::Clear() {
  for (ExactSum* sum : {&real_, &imaginary_}) {
    sum->Clear();
    sum->Add(0.0);
  }
  integer_ = 0;
}

void PanelSum::Add(const Panel& lhs, int64_t a, const Panel& rhs, int64_t b, int64_t n) {
  if (!contraction_.exact()) {
    const uint64_t* const x = lhs.integers() + a;
    const uint64_t* const y = rhs.integers() + b;
    uint64_t sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += x[i] * y[i];
    integer_ += sum;
    return;
  }
  for (const Contraction::Term& term : contraction_.terms()) {
    ExactSum& sum = term.imaginary ? imaginary_ : real_;
    sum.AddProducts(lhs.reals(term.lhs_plane) + a, 1, rhs.reals(term.rhs_plane) + b, 1, n);
  }
}

void PanelSum::Store(std::byte* dst) const {
  const ElementType type = contraction_.result_type();
  if (contraction_.exact()) {
    const FloatFormat& format = *Info(type).format;
    const double parts[2] = {real_.Round(format), IsComplex(type) ? imaginary_.Round(format) : 0};
    StoreStrip(type, parts, 1, dst, 0);
  } else if (type == ElementType::kPred) {
    *dst = static_cast<std::byte>(integer_ != 0);
  } else {
    StoreStrip(type, &integer_, 1, dst, 0);
  }
}

}  // namespace assay::native
