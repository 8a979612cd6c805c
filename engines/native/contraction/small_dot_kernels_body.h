// The bodies of SmallDotKernels (jit/each_isa.inc). No include guard.
#include "engines/native/contraction/small_dot_kernels.h"
#include "engines/native/sums/rounding_body.h"

namespace assay::native::ASSAY_ISA {
namespace {

constexpr int kRegisters = ASSAY_BYTES == 64 ? 32 : 16;

// Rows [row, row + kRows) by kVectors vectors of columns, every sum a chain of its own.
template <int kRows, int kVectors, bool kNorms, class T>
ASSAY_TARGET void Block(const FewRows& a, int64_t row, const T* b, int64_t step, double* sums,
                        double* norms) {
  constexpr int kColumns = kVectors * kLanes;
  F64 s[kRows][kVectors], squares[kVectors];
#pragma GCC unroll 16
  for (int v = 0; v < kVectors; ++v) {
    squares[v] = F64{};
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) s[r][v] = F64{};
  }
  const double* x = a.a + row * a.row_step;
  for (int64_t k = 0; k < a.length; ++k, b += step, x += a.step) {
    F64 y[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      y[v] = Widen(b + v * kLanes);
      if (kNorms) squares[v] = Fma(y[v], y[v], squares[v]);
    }
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const F64 xr = Fill(x[r * a.row_step]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) s[r][v] = Fma(xr, y[v], s[r][v]);
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    if (kNorms) Store(norms + v * kLanes, Root(squares[v]));
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) Store(sums + (row + r) * kColumns + v * kLanes, s[r][v]);
  }
}

// As many blocks of kRows rows as there are, the first of all with the norms. Sums,
// elements and squares stay in registers.
template <int kRows, int kVectors, class T>
ASSAY_INLINE void Blocks(const FewRows& a, int64_t& row, const T* b, int64_t step, double* sums,
                         double*& norms) {
  if constexpr (kRows * kVectors + 2 * kVectors + 1 <= kRegisters || kRows == 1) {
    for (; row + kRows <= a.rows; row += kRows) {
      if (norms != nullptr) {
        Block<kRows, kVectors, true>(a, row, b, step, sums, norms);
        norms = nullptr;
      } else {
        Block<kRows, kVectors, false>(a, row, b, step, sums, norms);
      }
    }
  }
}

template <int kVectors, class T>
ASSAY_TARGET void Columns(const FewRows& a, const T* b, int64_t step, double* sums, double* norms) {
  int64_t row = 0;
  Blocks<12, kVectors>(a, row, b, step, sums, norms);
  Blocks<8, kVectors>(a, row, b, step, sums, norms);
  Blocks<6, kVectors>(a, row, b, step, sums, norms);
  Blocks<4, kVectors>(a, row, b, step, sums, norms);
  Blocks<2, kVectors>(a, row, b, step, sums, norms);
  Blocks<1, kVectors>(a, row, b, step, sums, norms);
}

template <class T>
ASSAY_TARGET void Products(const FewRows& a, const T* b, int64_t step, int vectors, double* sums,
                           double* norms) {
  switch (vectors) {
    case 1:
      return Columns<1>(a, b, step, sums, norms);
    case 2:
      return Columns<2>(a, b, step, sums, norms);
    default:
      return Columns<4>(a, b, step, sums, norms);
  }
}

// The sum of squares of elements that lie `step` apart.
ASSAY_INLINE double SquaresOf(const double* x, int64_t n, int64_t step) {
  F64 squares[2] = {};
  int64_t k = 0;
  for (; step == 1 && k + 2 * kLanes <= n; k += 2 * kLanes) {
    const F64 x0 = Load(x + k), x1 = Load(x + k + kLanes);
    squares[0] = Fma(x0, x0, squares[0]);
    squares[1] = Fma(x1, x1, squares[1]);
  }
  for (; step == 1 && k + kLanes <= n; k += kLanes) {
    const F64 x0 = Load(x + k);
    squares[0] = Fma(x0, x0, squares[0]);
  }
  const F64 both = squares[0] + squares[1];
  double some[4] = {};
  for (int l = 0; l < kLanes; ++l) some[l % 4] += both[l];
  for (; k + 4 <= n; k += 4) {
    for (int l = 0; l < 4; ++l) some[l] += x[(k + l) * step] * x[(k + l) * step];
  }
  for (; k < n; ++k) some[0] += x[k * step] * x[k * step];
  return (some[0] + some[1]) + (some[2] + some[3]);
}

ASSAY_TARGET void RowNorms(const FewRows& a, double* norms) {
  int64_t r = 0;
  for (; a.row_step == 1 && r + kLanes <= a.rows; r += kLanes) {  // side by side
    F64 squares[2] = {};
    int64_t k = 0;
    for (; k + 2 <= a.length; k += 2) {
#pragma GCC unroll 2
      for (int c = 0; c < 2; ++c) {
        const F64 x = Load(a.a + r + (k + c) * a.step);
        squares[c] = Fma(x, x, squares[c]);
      }
    }
    if (k < a.length) {
      const F64 x = Load(a.a + r + k * a.step);
      squares[0] = Fma(x, x, squares[0]);
    }
    Store(norms + r, Root(squares[0] + squares[1]));
  }
  for (; r < a.rows; ++r) norms[r] = __builtin_sqrt(SquaresOf(a.a + r * a.row_step, a.length, a.step));
}

// The lowest bit of any element is worth at least 2^(exponent of the smallest - 52 + common zero bits);
// products of 2^-1022 and such units stay normal for the formats whose products are exact.
template <class T>
ASSAY_TARGET void Units(int64_t n, const T* b, int64_t step, int vectors, double* units) {
  for (int v = 0; v < vectors; ++v) {
    F64 smallest = Fill(__builtin_inf());
    U64 bits = {};
    for (int64_t k = 0; k < n; ++k) {
      const F64 x = Widen(b + k * step + v * kLanes), magnitude = Magnitude(x);
      bits |= (U64)x;
      smallest = ((magnitude > 0) & (magnitude < smallest)) ? magnitude : smallest;
    }
    for (int l = 0; l < kLanes; ++l) {
      const int zeros = __builtin_ctzll(bits[l] | uint64_t{1} << 52);
      const double power = ((F64)((U64)smallest & 0x7ff0000000000000))[l];
      units[v * kLanes + l] = power * (0x1p-52 * static_cast<double>(uint64_t{1} << zeros));
    }
  }
}

// Both ends of the interval as the processor rounds them, subnormal and infinite results too.
template <int kVectors>
ASSAY_INLINE bool RoundRows(int64_t rows, const double* sums, const double* norms, const double* bounds,
                            float* out, int64_t out_step, uint32_t* open) {
  uint32_t any = 0;
  for (int64_t r = 0; r < rows; ++r, sums += kVectors * kLanes, out += out_step) {
    const F64 bound = Fill(bounds[r]);
    uint32_t bits = 0;
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const F64 s = Load(sums + v * kLanes), e = Load(norms + v * kLanes) * bound;
      bits |= NarrowEnds(s, e, out + v * kLanes) << (v * kLanes);
    }
    open[r] = bits;
    any |= bits;
  }
  return any != 0;
}
ASSAY_TARGET bool RoundF32(int64_t rows, int64_t columns, const double* sums, const double* norms,
                           const double* bounds, float* out, int64_t out_step, uint32_t* open) {
  switch (columns / kLanes) {
    case 1:
      return RoundRows<1>(rows, sums, norms, bounds, out, out_step, open);
    case 2:
      return RoundRows<2>(rows, sums, norms, bounds, out, out_step, open);
    default:
      return RoundRows<4>(rows, sums, norms, bounds, out, out_step, open);
  }
}

ASSAY_TARGET uint32_t Round(int64_t columns, const double* sums, const double* norms, double bound,
                            const NarrowRounding& rounding, double* out) {
  uint32_t open = 0;
  for (int64_t j = 0; j < columns; j += kLanes) {
    const I64 bad = RoundEnds(Load(sums + j), Load(norms + j) * bound, rounding, out + j);
    open |= Signs(bad) << j;
  }
  return open;
}

constexpr SmallDotKernels kKernels = {.lanes = kLanes,
                                      .f32 = Products<float>,
                                      .bf16 = Products<uint16_t>,
                                      .f64 = Products<double>,
                                      .row_norms = RowNorms,
                                      .units_f32 = Units<float>,
                                      .units_bf16 = Units<uint16_t>,
                                      .units_f64 = Units<double>,
                                      .round_f32 = RoundF32,
                                      .round = Round};

}  // namespace
}  // namespace assay::native::ASSAY_ISA
