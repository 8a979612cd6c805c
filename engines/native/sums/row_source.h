// The rows of one operand of a matrix product, as the products want them: packed panel by panel.
#ifndef ASSAY_ENGINES_NATIVE_SUMS_ROW_SOURCE_H_
#define ASSAY_ENGINES_NATIVE_SUMS_ROW_SOURCE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "engines/native/sums/sum_kernels.h"
#include "engines/native/walk/loops.h"

namespace assay::native {

// Rows of `length` elements; those of row r of a batch multiply those of the other operand's rows of that
// batch. T is double for floats and complex numbers, float for floats that are one without rounding, int64_t
// (modulo 2^64) for integers and pred, or uint8_t (modulo 2^8) for those of one byte.
template <class T>
class RowSource {
 public:
  virtual ~RowSource() = default;
  // panel[k * width + r] = element k of row first + r, zero for count <= r < width.
  virtual void Pack(int64_t batch, int64_t first, int64_t count, int width, T* panel) const = 0;
  // rows[(r - first) * stride + k] = element k of row r; for bytes.
  virtual void Rows(int64_t batch, int64_t first, int64_t count, T* rows, int64_t stride) const = 0;
  // Whether the elements of a row lie nearer to one another than the rows, so that Rows is quicker than Pack.
  virtual bool ByRows() const = 0;
  // Element k of row first + r, r < count, at data[k * stride + r]; null where the rows do not lie like that.
  struct InPlace {
    const T* data = nullptr;
    int64_t stride = 0;
  };
  virtual InPlace Elements(int64_t /*batch*/, int64_t /*first*/, int64_t /*count*/) const { return {}; }
  // Whether some element is no term of its row's sums (padding of a convolution), and which;
  // it packs as zero.
  virtual bool has_gaps() const { return false; }
  virtual bool IsTerm(int64_t /*batch*/, int64_t /*row*/, int64_t /*k*/) const { return true; }
};

// Rows longer than this are not packed.
inline constexpr int64_t kLongestRow = 1 << 17;

// How the elements of a complex operand become rows of real numbers (re, im, re, im, …): a left row is two,
// (re, -im, …) whose products with a right one sum to the real part, and (im, re, …) for the imaginary part.
enum class RowForm : uint8_t { kReal, kComplexLeft, kComplexRight };

// Where the rows lie in an array: batch, row and element each add an offset, in elements.
struct RowLayout {
  std::vector<int64_t> batch_at, row_at, run_at;  // run_at: where the runs of a row start
  int64_t run_size = 1, run_stride = 1;

  // `loops`: the elements of a row; all move array `array`.
  RowLayout(const LoopDims& batch, const LoopDims& rows, const LoopDims& loops, int array);
  int64_t length() const { return static_cast<int64_t>(run_at.size()) * run_size; }
};

template <class T>
class StridedRows final : public RowSource<T> {
 public:
  StridedRows(const SumKernels& kernels, ElementType type, const std::byte* data, RowLayout layout,
              RowForm form = RowForm::kReal);
  int64_t rows() const {
    return static_cast<int64_t>(layout_.row_at.size()) * (form_ == RowForm::kComplexLeft ? 2 : 1);
  }
  int64_t length() const { return layout_.length() * (form_ == RowForm::kReal ? 1 : 2); }

  void Pack(int64_t batch, int64_t first, int64_t count, int width, T* panel) const override;
  void Rows(int64_t batch, int64_t first, int64_t count, T* rows, int64_t stride) const override;
  bool ByRows() const override { return layout_.run_stride == 1 && layout_.run_size > 1; }
  typename RowSource<T>::InPlace Elements(int64_t batch, int64_t first, int64_t count) const override;

 private:
  void PackByRows(int64_t base, int64_t first, int64_t count, int width, T* panel) const;
  void PackByElements(int64_t base, int64_t first, int64_t count, int width, T* panel) const;
  void Gather(int64_t base, int64_t from, int64_t n, T* dst) const;

  const SumKernels& kernels_;
  const ElementType type_;
  const std::byte* const data_;
  const RowLayout layout_;
  const RowForm form_;
  const int64_t bytes_;
};

// dst[i] = element at src + i * stride_bytes; NaNs may lose their payload. pred is an integer here.
void WidenRun(const SumKernels& kernels, ElementType type, const std::byte* src, int64_t stride_bytes,
              int64_t n, double* dst);
void WidenRun(const SumKernels& kernels, ElementType type, const std::byte* src, int64_t stride_bytes,
              int64_t n, float* dst);
void WidenRun(const SumKernels& kernels, ElementType type, const std::byte* src, int64_t stride_bytes,
              int64_t n, int64_t* dst);
void WidenRun(const SumKernels& kernels, ElementType type, const std::byte* src, int64_t stride_bytes,
              int64_t n, uint8_t* dst);

// panel[k * width + r] = rows[r * stride + k] for k < n, zero for count <= r < width.
template <class T>
void Interleave(const T* rows, int64_t stride, int64_t n, int64_t count, int width, T* panel);

// For rows of neighbouring elements, far apart from k to k + 1: what is read kRowsAhead turns of k later is
// fetched now, since the processor foresees only what lies close together.
inline constexpr int64_t kRowsAhead = 12;
inline void FetchAhead(const void* row, int64_t stride_bytes, int64_t bytes) {
  const auto at = reinterpret_cast<uintptr_t>(row) + static_cast<uintptr_t>(kRowsAhead * stride_bytes);
  __builtin_prefetch(reinterpret_cast<const void*>(at));
  __builtin_prefetch(reinterpret_cast<const void*>(at + static_cast<uintptr_t>(bytes) - 1));
}

// offset(array) of every turn of the loops.
std::vector<int64_t> OffsetsOf(const LoopDims& loops, int array);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_SUMS_ROW_SOURCE_H_
