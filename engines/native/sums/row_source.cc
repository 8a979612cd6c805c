#include "engines/native/sums/row_source.h"

#include <emmintrin.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "literal/element_io.h"

namespace assay::native {

namespace {

// Eight elements of bf16.
void WidenEight(const std::byte* src, float* dst) {
  const __m128i zero = _mm_setzero_si128(), x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(src));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(dst), _mm_unpacklo_epi16(zero, x));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(dst + 4), _mm_unpackhi_epi16(zero, x));
}

// panel[16 k + r] = element k of row r, at src + k * stride.
void WidenSixteenRows(const std::byte* src, int64_t stride, int64_t n, float* panel) {
  for (int64_t k = 0; k < n; ++k, src += stride, panel += 16) {
    FetchAhead(src, stride, 32);
    WidenEight(src, panel);
    WidenEight(src + 16, panel + 8);
  }
}

}  // namespace

std::vector<int64_t> OffsetsOf(const LoopDims& loops, int array) {
  std::vector<int64_t> offsets;
  for (LoopNest loop(loops); !loop.done(); loop.Next()) offsets.push_back(loop.offset(array));
  return offsets;
}

void WidenRun(const SumKernels& kernels, ElementType type, const std::byte* src, int64_t stride_bytes,
              int64_t n, double* dst) {
  constexpr int64_t kFew = 8;  // a call takes as long as these one by one
  if (type == ElementType::kF32 && stride_bytes == 4 && n >= kFew)
    return kernels.widen_f32(n, reinterpret_cast<const float*>(src), dst);
  if (type == ElementType::kBF16 && stride_bytes == 2)
    return kernels.widen_bf16(n, reinterpret_cast<const uint16_t*>(src), dst);
  if (type == ElementType::kF32) {  // runs may be short
    for (int64_t i = 0; i < n; ++i) {
      float x;
      std::memcpy(&x, src + i * stride_bytes, sizeof(x));
      dst[i] = x;
    }
    return;
  }
  LoadStrip(type, src, stride_bytes, n, dst);
}

void WidenRun(const SumKernels&, ElementType type, const std::byte* src, int64_t stride_bytes, int64_t n,
              float* dst) {
  if (type == ElementType::kF32) {
    if (stride_bytes == 4) {
      std::memcpy(dst, src, static_cast<size_t>(n) * sizeof(float));
      return;
    }
    for (int64_t i = 0; i < n; ++i) std::memcpy(dst + i, src + i * stride_bytes, sizeof(float));
    return;
  }
  if (type == ElementType::kBF16 && stride_bytes == 2) {
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) WidenEight(src + 2 * i, dst + i);
    for (; i < n; ++i) {
      uint16_t x;
      std::memcpy(&x, src + 2 * i, sizeof(x));
      dst[i] = std::bit_cast<float>(static_cast<uint32_t>(x) << 16);
    }
    return;
  }
  constexpr int64_t kPiece = 128;
  double wide[kPiece];
  for (int64_t from = 0; from < n; from += kPiece) {
    const int64_t piece = std::min(kPiece, n - from);
    LoadStrip(type, src + from * stride_bytes, stride_bytes, piece, wide);
    for (int64_t i = 0; i < piece; ++i) dst[from + i] = static_cast<float>(wide[i]);
  }
}

void WidenRun(const SumKernels& kernels, ElementType type, const std::byte* src, int64_t stride_bytes,
              int64_t n, int64_t* dst) {
  if (type == ElementType::kS8 && stride_bytes == 1)
    return kernels.widen_s8(n, reinterpret_cast<const int8_t*>(src), dst);
  LoadStrip(type == ElementType::kPred ? ElementType::kU8 : type, src, stride_bytes, n, dst);
}

void WidenRun(const SumKernels&, ElementType type, const std::byte* src, int64_t stride_bytes, int64_t n,
              uint8_t* dst) {
  if (stride_bytes == 1) {
    std::memcpy(dst, src, n);
  } else {
    for (int64_t i = 0; i < n; ++i) dst[i] = static_cast<uint8_t>(src[i * stride_bytes]);
  }
  // Of narrower types the low bits count.
  const int unused = type == ElementType::kPred ? 0 : 8 - Bits(type);
  if (unused == 0) return;
  const bool is_signed = IsSignedIntegral(type);
  for (int64_t i = 0; i < n; ++i) {
    const auto top = static_cast<uint8_t>(dst[i] << unused);
    dst[i] = static_cast<uint8_t>(is_signed ? static_cast<int8_t>(top) >> unused : top >> unused);
  }
}

RowLayout::RowLayout(const LoopDims& batch, const LoopDims& rows, const LoopDims& loops, int array)
    : batch_at(OffsetsOf(MergeLoops(batch), array)), row_at(OffsetsOf(MergeLoops(rows), array)) {
  LoopDims merged = MergeLoops(loops);
  const LoopDim run = TakeInnermostLoop(merged);
  run_size = run.size;
  run_stride = run.size == 1 ? 1 : run.strides[array];
  run_at = OffsetsOf(merged, array);
}

template <class T>
StridedRows<T>::StridedRows(const SumKernels& kernels, ElementType type, const std::byte* data,
                            RowLayout layout, RowForm form)
    : kernels_(kernels),
      type_(type),
      data_(data),
      layout_(std::move(layout)),
      form_(form),
      bytes_(Bytes(type)) {}

template <class T>
void StridedRows<T>::Pack(int64_t batch, int64_t first, int64_t count, int width, T* panel) const {
  const int64_t base = layout_.batch_at[batch];
  const std::vector<int64_t>& rows = layout_.row_at;
  const bool by_elements = form_ == RowForm::kReal && (layout_.run_stride != 1 || layout_.run_size == 1) &&
                           count > 1 && rows[first + count - 1] - rows[first] == count - 1 &&
                           rows[first + 1] - rows[first] == 1;
  by_elements ? PackByElements(base, first, count, width, panel)
              : PackByRows(base, first, count, width, panel);
}

// Neighbouring rows are neighbours in memory.
template <class T>
void StridedRows<T>::PackByElements(int64_t base, int64_t first, int64_t count, int width, T* panel) const {
  const int64_t start = base + layout_.row_at[first];
  for (int64_t at : layout_.run_at) {
    const std::byte* src = data_ + (start + at) * bytes_;
    if constexpr (std::is_same_v<T, float>) {
      if (type_ == ElementType::kBF16 && count == 16 && width == 16) {
        WidenSixteenRows(src, layout_.run_stride * bytes_, layout_.run_size, panel);
        panel += layout_.run_size * width;
        continue;
      }
    }
    for (int64_t k = 0; k < layout_.run_size; ++k, src += layout_.run_stride * bytes_, panel += width) {
      FetchAhead(src, layout_.run_stride * bytes_, count * bytes_);
      WidenRun(kernels_, type_, src, bytes_, count, panel);
      std::fill(panel + count, panel + width, T(0));
    }
  }
}

template <class T>
void StridedRows<T>::PackByRows(int64_t base, int64_t first, int64_t count, int width, T* panel) const {
  constexpr int64_t kPiece = 128;  // with the piece of the panel, in the L1 cache
  T rows[kMaxPanelWidth][kPiece];
  const int64_t n = length();
  for (int64_t from = 0; from < n; from += kPiece) {
    const int64_t piece = std::min(kPiece, n - from);
    for (int64_t r = 0; r < count; ++r) {
      const int64_t row = first + r;
      if (form_ == RowForm::kReal) {
        Gather(base + layout_.row_at[row], from, piece, rows[r]);
        continue;
      }
      const bool left = form_ == RowForm::kComplexLeft;
      Gather(base + layout_.row_at[left ? row / 2 : row], from / 2, piece / 2, rows[r]);
      for (int64_t k = 0; left && k < piece; k += 2) {
        if (row % 2 == 0) {
          rows[r][k + 1] = -rows[r][k + 1];
        } else {
          std::swap(rows[r][k], rows[r][k + 1]);
        }
      }
    }
    Interleave(rows[0], kPiece, piece, count, width, panel);
    panel += piece * width;
  }
}

template <class T>
void StridedRows<T>::Rows(int64_t batch, int64_t first, int64_t count, T* rows, int64_t stride) const {
  for (int64_t r = 0; r < count; ++r)
    Gather(layout_.batch_at[batch] + layout_.row_at[first + r], 0, length(), rows + r * stride);
}

template <class T>
typename RowSource<T>::InPlace StridedRows<T>::Elements(int64_t batch, int64_t first, int64_t count) const {
  if constexpr (std::is_same_v<T, uint8_t>) {
    const std::vector<int64_t>& rows = layout_.row_at;
    const bool whole_bytes = type_ == ElementType::kPred || Bits(type_) == 8;
    if (whole_bytes && layout_.run_at.size() == 1 && rows[first + count - 1] - rows[first] == count - 1 &&
        (count == 1 || rows[first + 1] - rows[first] == 1)) {
      const int64_t start = layout_.batch_at[batch] + rows[first] + layout_.run_at[0];
      return {reinterpret_cast<const uint8_t*>(data_) + start, layout_.run_stride};
    }
  }
  return {};
}

// Elements [from, from + n) of the row at `base`.
template <class T>
void StridedRows<T>::Gather(int64_t base, int64_t from, int64_t n, T* dst) const {
  const int64_t parts = form_ == RowForm::kReal ? 1 : 2, size = layout_.run_size, stride = layout_.run_stride;
  for (int64_t run = from / size, skip = from % size; n > 0; ++run, skip = 0) {
    const int64_t count = std::min(n, size - skip);
    WidenRun(kernels_, type_, data_ + (base + layout_.run_at[run] + skip * stride) * bytes_, stride * bytes_,
             count, dst);
    dst += count * parts;
    n -= count;
  }
}

namespace {

// A constant width, so that the inner loop is unrolled.
template <int kWidth, class T>
void InterleaveAll(const T* rows, int64_t stride, int64_t n, T* panel) {
  for (int64_t k = 0; k < n; ++k, panel += kWidth) {
#pragma GCC unroll 16
    for (int r = 0; r < kWidth; ++r) panel[r] = rows[r * stride + k];
  }
}

// Two rows at two k at a time.
template <int kWidth>
void InterleaveAll(const double* rows, int64_t stride, int64_t n, double* panel) {
  int64_t k = 0;
  for (; k + 2 <= n; k += 2, panel += 2 * kWidth) {
#pragma GCC unroll 8
    for (int r = 0; r < kWidth; r += 2) {
      const __m128d a = _mm_loadu_pd(rows + r * stride + k), b = _mm_loadu_pd(rows + (r + 1) * stride + k);
      _mm_storeu_pd(panel + r, _mm_unpacklo_pd(a, b));
      _mm_storeu_pd(panel + kWidth + r, _mm_unpackhi_pd(a, b));
    }
  }
  for (; k < n; ++k, panel += kWidth) {
    for (int r = 0; r < kWidth; ++r) panel[r] = rows[r * stride + k];
  }
}

// Four rows at four k at a time.
template <int kWidth>
void InterleaveAll(const float* rows, int64_t stride, int64_t n, float* panel) {
  int64_t k = 0;
  for (; k + 4 <= n; k += 4, panel += 4 * kWidth) {
#pragma GCC unroll 4
    for (int r = kWidth / 4 * 4; r < kWidth; ++r) {
      for (int i = 0; i < 4; ++i) panel[i * kWidth + r] = rows[r * stride + k + i];
    }
#pragma GCC unroll 4
    for (int r = 0; r + 4 <= kWidth; r += 4) {
      __m128 x[4];
      for (int i = 0; i < 4; ++i) x[i] = _mm_loadu_ps(rows + (r + i) * stride + k);
      _MM_TRANSPOSE4_PS(x[0], x[1], x[2], x[3]);
      for (int i = 0; i < 4; ++i) _mm_storeu_ps(panel + i * kWidth + r, x[i]);
    }
  }
  for (; k < n; ++k, panel += kWidth) {
    for (int r = 0; r < kWidth; ++r) panel[r] = rows[r * stride + k];
  }
}

}  // namespace

template <class T>
void Interleave(const T* rows, int64_t stride, int64_t n, int64_t count, int width, T* panel) {
  if (count == width && width == 12) return InterleaveAll<12>(rows, stride, n, panel);
  if (count == width && width == 6) return InterleaveAll<6>(rows, stride, n, panel);
  if (count == width && width == 32) return InterleaveAll<32>(rows, stride, n, panel);
  if (count == width && width == 16) return InterleaveAll<16>(rows, stride, n, panel);
  if (count == width && width == 8) return InterleaveAll<8>(rows, stride, n, panel);
  for (int64_t k = 0; k < n; ++k, panel += width) {
    for (int64_t r = 0; r < count; ++r) panel[r] = rows[r * stride + k];
    for (int64_t r = count; r < width; ++r) panel[r] = 0;
  }
}

template void Interleave(const double*, int64_t, int64_t, int64_t, int, double*);
template void Interleave(const float*, int64_t, int64_t, int64_t, int, float*);
template void Interleave(const int64_t*, int64_t, int64_t, int64_t, int, int64_t*);
template void Interleave(const uint8_t*, int64_t, int64_t, int64_t, int, uint8_t*);
template class StridedRows<double>;
template class StridedRows<float>;
template class StridedRows<int64_t>;
template class StridedRows<uint8_t>;

}  // namespace assay::native
