// The bodies of FftKernels (jit/each_isa.inc). No include guard. The error bounds of these operations are
// stated in fft_plan.cc.
#include "engines/native/linalg/fft_kernels.h"
#include "engines/native/sums/lanes_body.h"

namespace assay::native::ASSAY_ISA {
namespace {

struct One {
  static constexpr int kPlanes = 1;
  F64 high;
};
// high + low, where low is far below the norm of all elements; normal where high = RN(high + low).
struct Two {
  static constexpr int kPlanes = 2;
  F64 high, low;
};
template <class N>
struct Complex {
  N re, im;
};

ASSAY_INLINE One Minus(One a) { return {-a.high}; }
ASSAY_INLINE Two Minus(Two a) { return {-a.high, -a.low}; }
ASSAY_INLINE One Plus(One a, One b) { return {a.high + b.high}; }
ASSAY_INLINE Two Plus(Two a, Two b) {
  F64 s = a.high;
  const F64 low = TwoSum(s, b.high) + (a.low + b.low);
  return {s, low};
}
ASSAY_INLINE Two Normal(Two a) {
  F64 s = a.high;
  const F64 low = TwoSum(s, a.low);
  return {s, low};
}
ASSAY_INLINE Two Times(Two a, Two b) {
  const F64 p = a.high * b.high;
  return {p, ProductError(a.high, b.high, p) + Fma(a.high, b.low, a.low * b.high)};
}
// a c + b d
ASSAY_INLINE Two TwoProducts(Two a, Two c, Two b, Two d) {
  const F64 p = a.high * c.high, q = b.high * d.high;
  F64 s = p;
  const F64 error = TwoSum(s, q);
  const F64 errors = (ProductError(a.high, c.high, p) + ProductError(b.high, d.high, q)) + error;
  return {s, errors + Fma(a.high, c.low, Fma(a.low, c.high, Fma(b.high, d.low, b.low * d.high)))};
}
ASSAY_INLINE Complex<One> Times(Complex<One> x, Complex<One> w) {
  return {{Fma(x.re.high, w.re.high, -(x.im.high * w.im.high))},
          {Fma(x.re.high, w.im.high, x.im.high * w.re.high)}};
}
ASSAY_INLINE Complex<Two> Times(Complex<Two> x, Complex<Two> w) {
  return {TwoProducts(x.re, w.re, x.im, Minus(w.im)), TwoProducts(x.re, w.im, x.im, w.re)};
}
// a + x w; of pairs, normal ones.
ASSAY_INLINE Complex<One> PlusTimes(Complex<One> a, Complex<One> x, Complex<One> w) {
  return {{Fma(-x.im.high, w.im.high, Fma(x.re.high, w.re.high, a.re.high))},
          {Fma(x.im.high, w.re.high, Fma(x.re.high, w.im.high, a.im.high))}};
}
ASSAY_INLINE Two NormalSum(Two a, Two b) { return Normal(Plus(a, b)); }
ASSAY_INLINE Two NormalProduct(Two a, Two b) { return Normal(Times(a, b)); }
ASSAY_INLINE Complex<Two> PlusTimes(Complex<Two> a, Complex<Two> x, Complex<Two> w) {
  return {NormalSum(NormalSum(a.re, NormalProduct(x.re, w.re)), Minus(NormalProduct(x.im, w.im))),
          NormalSum(NormalSum(a.im, NormalProduct(x.re, w.im)), NormalProduct(x.im, w.re))};
}
template <class N>
ASSAY_INLINE Complex<N> Plus(Complex<N> a, Complex<N> b) {
  return {Plus(a.re, b.re), Plus(a.im, b.im)};
}
template <class N>
ASSAY_INLINE Complex<N> Difference(Complex<N> a, Complex<N> b) {
  return {Plus(a.re, Minus(b.re)), Plus(a.im, Minus(b.im))};
}

template <class N>
ASSAY_INLINE Complex<N> Get(const FftPlanes& planes, int64_t at) {
  if constexpr (N::kPlanes == 1) {
    return {{Load(planes[0] + at)}, {Load(planes[1] + at)}};
  } else {
    return {{Load(planes[0] + at), Load(planes[2] + at)}, {Load(planes[1] + at), Load(planes[3] + at)}};
  }
}
// One entry of a table in every lane, or its neighbours side by side.
template <class N>
ASSAY_INLINE Complex<N> Fill(const ComplexTable& table, int64_t at) {
  if constexpr (N::kPlanes == 1) {
    return {{Fill(table[0][at])}, {Fill(table[1][at])}};
  } else {
    return {{Fill(table[0][at]), Fill(table[2][at])}, {Fill(table[1][at]), Fill(table[3][at])}};
  }
}
template <class N>
ASSAY_INLINE Complex<N> Get(const ComplexTable& table, int64_t at) {
  if constexpr (N::kPlanes == 1) {
    return {{Load(table[0].data() + at)}, {Load(table[1].data() + at)}};
  } else {
    return {{Load(table[0].data() + at), Load(table[2].data() + at)},
            {Load(table[1].data() + at), Load(table[3].data() + at)}};
  }
}

// Where a vector of inputs lies and where output 0 of its lanes goes.
struct Spot {
  const FftPass& pass;
  const FftPlanes& to;
  int64_t twiddle;        // of output 1
  int64_t valid;          // lanes
  int64_t at;             // wide: of lane 0
  const int64_t* places;  // narrow: of each lane
};

ASSAY_INLINE void StoreSome(F64 v, double* plane, const Spot& spot, int64_t k) {
  const int64_t shift = k * spot.pass.width;
  if (spot.places == nullptr && spot.valid == kLanes) return Store(plane + spot.at + shift, v);
  double lanes[kLanes];
  Store(lanes, v);
  for (int64_t l = 0; l < spot.valid; ++l)
    plane[(spot.places == nullptr ? spot.at + l : spot.places[l]) + shift] = lanes[l];
}
template <class N>
ASSAY_INLINE void Put(Complex<N> y, const Spot& spot, int64_t k) {
  if (k > 0 && spot.pass.count > 1) {  // else by 1
    const int64_t at = spot.twiddle + (k - 1) * spot.pass.stride;
    y = Times(y, spot.places == nullptr ? Fill<N>(spot.pass.twiddles, at) : Get<N>(spot.pass.twiddles, at));
  }
  if constexpr (N::kPlanes == 2) {
    if (spot.pass.normal) y = {Normal(y.re), Normal(y.im)};
  }
  StoreSome(y.re.high, spot.to[0], spot, k);
  StoreSome(y.im.high, spot.to[1], spot, k);
  if constexpr (N::kPlanes == 2) {
    StoreSome(y.re.low, spot.to[2], spot, k);
    StoreSome(y.im.low, spot.to[3], spot, k);
  }
}

// The outputs of the inputs c .. c + lanes - 1.
template <class N>
ASSAY_INLINE void Butterfly(const FftPlanes& from, int64_t c, const Spot& spot) {
  const int64_t step = spot.pass.width * spot.pass.count;
  if (spot.pass.radix == 2) {
    const Complex<N> a = Get<N>(from, c), b = Get<N>(from, c + step);
    Put(Plus(a, b), spot, 0);
    Put(Difference(a, b), spot, 1);
  } else if (spot.pass.radix == 4) {
    const Complex<N> x0 = Get<N>(from, c), x1 = Get<N>(from, c + step);
    const Complex<N> x2 = Get<N>(from, c + 2 * step), x3 = Get<N>(from, c + 3 * step);
    const Complex<N> s0 = Plus(x0, x2), d0 = Difference(x0, x2);
    const Complex<N> s1 = Plus(x1, x3), d1 = Difference(x1, x3);
    const Complex<N> turned = {d1.im, Minus(d1.re)};  // -i d1
    Put(Plus(s0, s1), spot, 0);
    Put(Plus(d0, turned), spot, 1);
    Put(Difference(s0, s1), spot, 2);
    Put(Difference(d0, turned), spot, 3);
  } else {
    const int64_t p = spot.pass.radix;
    for (int64_t k = 0; k < p; ++k) {
      Complex<N> y = Get<N>(from, c);
      for (int64_t r = 1, t = k; r < p; ++r) {
        y = PlusTimes(y, Get<N>(from, c + r * step), Fill<N>(spot.pass.roots, t));
        t = t + k >= p ? t + k - p : t + k;
      }
      Put(y, spot, k);
    }
  }
}

template <class N>
ASSAY_INLINE void PassBody(const FftPass& pass, const FftPlanes& from, const FftPlanes& to, int64_t begin,
                           int64_t end) {
  if (pass.narrow) {
    for (int64_t c = begin; c < end; c += kLanes) {
      const int64_t valid = end - c < kLanes ? end - c : kLanes;
      Butterfly<N>(from, c, {pass, to, c, valid, 0, pass.places.data() + c});
    }
    return;
  }
  for (int64_t c = begin; c < end;) {
    const int64_t j = c / pass.width, next = (j + 1) * pass.width;
    const int64_t stop = next < end ? next : end, shift = pass.width * (pass.radix - 1) * j;
    for (; c + kLanes <= stop; c += kLanes) Butterfly<N>(from, c, {pass, to, j, kLanes, c + shift, nullptr});
    if (c < stop) Butterfly<N>(from, c, {pass, to, j, stop - c, c + shift, nullptr});
    c = stop;
  }
}
ASSAY_TARGET void PassOfDoubles(const FftPass& pass, const FftPlanes& from, const FftPlanes& to,
                                int64_t begin, int64_t end) {
  PassBody<One>(pass, from, to, begin, end);
}
ASSAY_TARGET void PassOfPairs(const FftPass& pass, const FftPlanes& from, const FftPlanes& to, int64_t begin,
                              int64_t end) {
  PassBody<Two>(pass, from, to, begin, end);
}

ASSAY_INLINE U64 RoundBits(F64 x, const NarrowRounding& rounding) {
  const U64 u = (U64)x;
  return (u + rounding.half_less_one + ((u >> rounding.shift) & rounding.lsb)) & rounding.keep;
}
ASSAY_INLINE bool Mark(I64 good, int64_t* failed) {
  const I64 bad = ~good;
  std::memcpy(failed, &bad, sizeof(bad));
  bool any = false;
  for (int l = 0; l < kLanes; ++l) any |= bad[l] != 0;
  return any;
}

ASSAY_TARGET bool RoundDoubles(int64_t n, const double* x, const FftRounding& values,
                               const NarrowRounding& rounding, double* out, int64_t* failed) {
  bool any = false;
  const bool divide = values.divisor != 1;
  for (int64_t i = 0; i < n; i += kLanes) {
    F64 v = Load(x + i), bound = Fill(values.bound);
    if (divide) {
      v = v / values.divisor;
      bound = bound / values.divisor * (1 + 0x1p-40) + Magnitude(v) * 0x1p-52;
    }
    // v -+ bound are rounded themselves.
    bound += Magnitude(v) * 0x1p-51;
    const U64 low = RoundBits(v - bound, rounding), high = RoundBits(v + bound, rounding);
    const F64 magnitude = Magnitude((F64)low);
    Store(out + i, (F64)low);
    any |=
        Mark((low == high) & (magnitude >= rounding.smallest) & (magnitude <= rounding.largest), failed + i);
  }
  return any;
}

ASSAY_TARGET bool RoundPairs(int64_t n, const double* x, const double* low, const FftRounding& values,
                             double* out, int64_t* failed) {
  bool any = false;
  const bool divide = values.divisor != 1;
  for (int64_t i = 0; i < n; i += kLanes) {
    F64 s = Load(x + i), e = Load(low + i), bound = Fill(values.bound);
    if (divide) {
      // The quotient to u, and the rest divided: 8 u^2 in all.
      const F64 divisor = Fill(values.divisor), q = s / divisor, p = q * divisor;
      const F64 rest = ((s - p) - ProductError(q, divisor, p)) + e;
      bound = bound / divisor * (1 + 0x1p-40) + Magnitude(q) * 0x1p-103;
      s = q;
      e = TwoSum(s, rest / divisor);
    }
    bound += Magnitude(e) * 0x1p-51;
    const F64 least = s + (e - bound), most = s + (e + bound);
    const F64 result = least * values.power1 * values.power2, magnitude = Magnitude(result);
    Store(out + i, result);
    any |=
        Mark((least == most) & (magnitude >= 0x1p-1021) & (magnitude <= 0x1.fffffffffffffp1023), failed + i);
  }
  return any;
}

using Floats = float __attribute__((vector_size(8 * kLanes)));
using HalfFloats = float __attribute__((vector_size(4 * kLanes)));

// The elements with even numbers and those with odd ones; Exchange<1>, <2>, ... are the steps of a transpose.
#if ASSAY_BYTES == 64
ASSAY_INLINE HalfFloats Evens(Floats v) { return __builtin_shufflevector(v, v, 0, 2, 4, 6, 8, 10, 12, 14); }
ASSAY_INLINE HalfFloats Odds(Floats v) { return __builtin_shufflevector(v, v, 1, 3, 5, 7, 9, 11, 13, 15); }
template <int kBy>
ASSAY_INLINE void Exchange(F64& a, F64& b) {
  const F64 x = a, y = b;
  if constexpr (kBy == 1) {
    a = __builtin_shufflevector(x, y, 0, 8, 2, 10, 4, 12, 6, 14);
    b = __builtin_shufflevector(x, y, 1, 9, 3, 11, 5, 13, 7, 15);
  } else if constexpr (kBy == 2) {
    a = __builtin_shufflevector(x, y, 0, 1, 8, 9, 4, 5, 12, 13);
    b = __builtin_shufflevector(x, y, 2, 3, 10, 11, 6, 7, 14, 15);
  } else {
    a = __builtin_shufflevector(x, y, 0, 1, 2, 3, 8, 9, 10, 11);
    b = __builtin_shufflevector(x, y, 4, 5, 6, 7, 12, 13, 14, 15);
  }
}
#elif ASSAY_BYTES == 32
ASSAY_INLINE HalfFloats Evens(Floats v) { return __builtin_shufflevector(v, v, 0, 2, 4, 6); }
ASSAY_INLINE HalfFloats Odds(Floats v) { return __builtin_shufflevector(v, v, 1, 3, 5, 7); }
template <int kBy>
ASSAY_INLINE void Exchange(F64& a, F64& b) {
  const F64 x = a, y = b;
  if constexpr (kBy == 1) {
    a = __builtin_shufflevector(x, y, 0, 4, 2, 6);
    b = __builtin_shufflevector(x, y, 1, 5, 3, 7);
  } else {
    a = __builtin_shufflevector(x, y, 0, 1, 4, 5);
    b = __builtin_shufflevector(x, y, 2, 3, 6, 7);
  }
}
#else
ASSAY_INLINE HalfFloats Evens(Floats v) { return __builtin_shufflevector(v, v, 0, 2); }
ASSAY_INLINE HalfFloats Odds(Floats v) { return __builtin_shufflevector(v, v, 1, 3); }
template <int kBy>
ASSAY_INLINE void Exchange(F64& a, F64& b) {
  const F64 x = a, y = b;
  a = __builtin_shufflevector(x, y, 0, 2);
  b = __builtin_shufflevector(x, y, 1, 3);
}
#endif

template <int kBy>
ASSAY_INLINE void TransposeFrom(F64* rows) {
#pragma GCC unroll 8
  for (int i = 0; i < kLanes; ++i) {
    if ((i & kBy) == 0) Exchange<kBy>(rows[i], rows[i + kBy]);
  }
  if constexpr (2 * kBy < kLanes) TransposeFrom<2 * kBy>(rows);
}

// to[i * to_stride + l] = from[l * from_stride + i] for a square of lanes.
ASSAY_INLINE void Transpose(const double* from, int64_t from_stride, double* to, int64_t to_stride) {
  F64 rows[kLanes];
#pragma GCC unroll 8
  for (int l = 0; l < kLanes; ++l) rows[l] = Load(from + l * from_stride);
  TransposeFrom<1>(rows);
#pragma GCC unroll 8
  for (int i = 0; i < kLanes; ++i) Store(to + i * to_stride, rows[i]);
}

ASSAY_TARGET void SplitF32(int64_t n, const float* x, double* re, double* im) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    Floats v;
    std::memcpy(&v, x + 2 * i, sizeof(v));
    Store(re + i, __builtin_convertvector(Evens(v), F64));
    Store(im + i, __builtin_convertvector(Odds(v), F64));
  }
  for (; i < n; ++i) re[i] = x[2 * i], im[i] = x[2 * i + 1];
}

ASSAY_TARGET void Statistics(int64_t n, const double* x, FftStatistics* statistics) {
  F64 largest[2] = {}, squares[2] = {}, zero[2] = {};
  int64_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
#pragma GCC unroll 2
    for (int c = 0; c < 2; ++c) {
      const F64 v = Load(x + i + c * kLanes), size = Magnitude(v);
      largest[c] = size > largest[c] ? size : largest[c];
      squares[c] += v * v;
      zero[c] += v * 0.0;
    }
  }
  FftStatistics all = *statistics;
  for (int l = 0; l < 2 * kLanes; ++l) {
    const double size = largest[l / kLanes][l % kLanes];
    if (size > all.largest) all.largest = size;
    all.squares += squares[l / kLanes][l % kLanes];
    all.zero += zero[l / kLanes][l % kLanes];
  }
  for (; i < n; ++i) {
    const double size = x[i] < 0 ? -x[i] : x[i];
    if (size > all.largest) all.largest = size;
    all.squares += x[i] * x[i];
    all.zero += x[i] * 0.0;
  }
  *statistics = all;
}

ASSAY_TARGET void GatherLines(int64_t n, int64_t count, const double* x, int64_t step, int64_t apart,
                              double* side) {
  int64_t j = 0;
  if (count == kLanes && apart == 1) {
    for (; j < n; ++j) Store(side + j * kLanes, Load(x + j * step));
  } else if (count == kLanes && step == 1) {
    for (; j + kLanes <= n; j += kLanes) Transpose(x + j, apart, side + j * kLanes, kLanes);
  }
  for (; j < n; ++j) {
    for (int64_t l = 0; l < kLanes; ++l) side[j * kLanes + l] = l < count ? x[j * step + l * apart] : 0;
  }
}
ASSAY_TARGET void ScatterLines(int64_t n, int64_t count, const double* side, int64_t step, int64_t apart,
                               double* x) {
  int64_t j = 0;
  if (count == kLanes && apart == 1) {
    for (; j < n; ++j) Store(x + j * step, Load(side + j * kLanes));
  } else if (count == kLanes && step == 1) {
    for (; j + kLanes <= n; j += kLanes) Transpose(side + j * kLanes, kLanes, x + j, apart);
  }
  for (; j < n; ++j) {
    for (int64_t l = 0; l < count; ++l) x[j * step + l * apart] = side[j * kLanes + l];
  }
}

constexpr FftKernels kKernels = {.lanes = kLanes,
                                 .split_f32 = SplitF32,
                                 .statistics = Statistics,
                                 .gather_lines = GatherLines,
                                 .scatter_lines = ScatterLines,
                                 .pass_of_doubles = PassOfDoubles,
                                 .pass_of_pairs = PassOfPairs,
                                 .round_doubles = RoundDoubles,
                                 .round_pairs = RoundPairs};

}  // namespace
}  // namespace assay::native::ASSAY_ISA
