// Bound: |sum - s| <= (n + 16) 2^-53 |a| |b| for a chain of n multiply-adds of exact products (product_bounds.h). What it
// leaves open is summed by TwoSum, beside sum |a_k b_k|, and then exactly.
#include "evaluator/native/small_dot.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

#include "evaluator/native/enclosed_sum.h"
#include "evaluator/native/product_bounds.h"
#include "evaluator/native/tiers.h"
#include "evaluator/scalar/exact_sum.h"
#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay::native {
namespace {

constexpr int64_t kRowDoubles = 1 << 14;  // of rows at once
constexpr int64_t kRowsAtOnce = 96;
constexpr int64_t kPackedColumns = 16;  // at once; more would not fit in registers with some rows

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Of one thread. What is not touched costs nothing.
struct Buffers {
  alignas(64) double rows[kRowDoubles];
  alignas(64) double packed[SmallDot::kLongest * kPackedColumns];
  alignas(64) double sums[kRowsAtOnce * kMaxColumns];
  alignas(64) double norms[kMaxColumns], bounds[kRowsAtOnce];
  alignas(64) float rounded[kRowsAtOnce * kMaxColumns];
};
Buffers& ThreadBuffers() {
  static thread_local std::unique_ptr<Buffers> buffers(new Buffers);
  return *buffers;
}

// Twice the same step, and so on; 0 where they differ.
int64_t StepOf(const std::vector<int64_t>& at) {
  if (at.size() < 2) return 1;
  const int64_t step = at[1] - at[0];
  for (size_t r = 2; r < at.size(); ++r) {
    if (at[r] - at[r - 1] != step) return 0;
  }
  return step;
}

double ElementOf(ElementType type, const std::byte* data) {
  double x;
  LoadStrip(type, data, Bytes(type), 1, &x);
  return x;
}

}  // namespace

SmallDot::Side::Side(ElementType type, const LoopDims& batch, const LoopDims& rows,
                     const LoopDims& contracted, int array)
    : type(type),
      layout(batch, rows, contracted, array),
      out_at(OffsetsOf(rows, 2)),
      adjacent(StepOf(layout.row_at) == 1),
      out_step(StepOf(out_at)) {}

SmallDot::SmallDot(Isa isa, ElementType lhs, ElementType rhs, ElementType result, const DotBox& box)
    : kernels_(SmallDotKernelsOf(isa)),
      sums_(SumKernelsOf(isa)),
      type_(result),
      length_(LoopCount(box.contracted[0].loops)),
      few_(lhs, box.batch, box.rows, box.contracted[0].loops, 0),
      many_(rhs, box.batch, box.columns, box.contracted[0].loops, 1),
      batch_at_(OffsetsOf(box.batch, 2)) {
  if (CostOf(many_, few_) < CostOf(few_, many_)) {
    std::swap(few_, many_);
    many_is_rhs_ = false;
  }
  in_place_ = IsInPlace(many_);
  // Rows a multiple of 512 bytes apart would share few sets of the cache.
  row_step_ = length_ >= 256 && length_ % 64 == 0 ? length_ + 8 : length_;
  rows_at_once_ = std::clamp<int64_t>(kRowDoubles / row_step_, 1, kRowsAtOnce);
  CutPanels();
}

bool SmallDot::IsInPlace(const Side& many) const {
  return (many.type == ElementType::kF32 || many.type == ElementType::kBF16) && many.adjacent &&
         many.has_one_run() && many.rows() >= kernels_.lanes;
}

// In vectors of work, roughly. Decides about time alone.
double SmallDot::CostOf(const Side& few, const Side& many) const {
  const auto rows = static_cast<double>(few.rows()), columns = static_cast<double>(many.rows()),
             length = static_cast<double>(length_);
  const auto vectors = static_cast<double>(CeilDiv(many.rows(), kernels_.lanes));
  const double blocks = std::ceil(rows / 12);
  const double multiply = vectors * length * (rows + 2 * blocks);
  const double pack = IsInPlace(many) ? 0 : columns * length * 2 * std::ceil(rows / kRowsAtOnce);
  const double widen = rows * length * (few.adjacent || few.layout.run_stride == 1 ? 0.5 : 2);
  const double store = rows * columns * (many.out_step == 1 ? 0.5 : 4);
  return multiply + pack + widen + store;
}

// In place a last panel that would not be full covers some columns again; packed ones are filled up with zeros.
void SmallDot::CutPanels() {
  const int lanes = kernels_.lanes;
  const int64_t columns = many_.rows();
  const int most = !in_place_ || few_.rows() > 3 ? 2 : 4;
  for (int64_t at = 0; at < columns;) {
    int vectors = most;
    while (vectors > 1 && (vectors / 2 * lanes >= columns - at || (in_place_ && vectors * lanes > columns)))
      vectors /= 2;
    const int64_t width = static_cast<int64_t>(vectors) * lanes;
    const int64_t first = in_place_ ? std::min(at, columns - width) : at;
    panels_.push_back({first, std::min(width, columns - first), vectors});
    at = first + width;
  }
}

// One run of a SmallDot.
class SmallDot::Runner {
 public:
  Runner(const SmallDot& dot, const std::byte* few, const std::byte* many, std::byte* result)
      : dot_(dot),
        few_(few),
        many_(many),
        result_(result),
        format_(*Info(dot.type_).format),
        rounding_(format_),
        factor_(DoublesFactor(dot.length_)) {}

  void Run() {
    const int64_t rows = dot_.few_.rows();
    for (size_t batch = 0; batch < dot_.batch_at_.size(); ++batch) {
      for (int64_t first = 0; first < rows; first += dot_.rows_at_once_) {
        WidenRows(batch, first, std::min(dot_.rows_at_once_, rows - first));
        dot_.kernels_.row_norms(rows_, buffers_.bounds);
        for (int64_t r = 0; r < rows_.rows; ++r) buffers_.bounds[r] *= factor_;
        for (const Panel& panel : dot_.panels_) {
          Multiply(batch, panel);
          Store(panel, dot_.batch_at_[batch], first);
        }
      }
    }
    counts_.sums += static_cast<int64_t>(dot_.batch_at_.size()) * rows * dot_.many_.rows();
    CountTiers(counts_);
  }

 private:
  void WidenRows(size_t batch, int64_t first, int64_t count) {
    const Side& side = dot_.few_;
    const int64_t base = side.layout.batch_at[batch];
    double* const dst = buffers_.rows;
    if (side.adjacent && count > 1 && side.layout.run_stride != 1) {
      rows_ = {count, dot_.length_, dst, 1, count};
      WidenByElements(side, few_, base + side.layout.row_at[first], count, count, dst);
      return;
    }
    rows_ = {count, dot_.length_, dst, dot_.row_step_, 1};
    for (int64_t r = 0; r < count; ++r)
      WidenRow(side, few_, base + side.layout.row_at[first + r], 0, dot_.length_, dst + r * dot_.row_step_);
  }

  // dst[k * width + r], r < count: rows that are neighbours.
  void WidenByElements(const Side& side, const std::byte* data, int64_t at, int64_t count, int64_t width,
                       double* dst) const {
    const int64_t bytes = Bytes(side.type);
    for (int64_t run : side.layout.run_at) {
      for (int64_t k = 0; k < side.layout.run_size; ++k, dst += width)
        WidenRun(dot_.sums_, side.type, data + (at + run + k * side.layout.run_stride) * bytes, bytes, count,
                 dst);
    }
  }

  // Elements [from, from + n) of the row at `at`.
  void WidenRow(const Side& side, const std::byte* data, int64_t at, int64_t from, int64_t n,
                double* dst) const {
    const int64_t bytes = Bytes(side.type), size = side.layout.run_size, step = side.layout.run_stride;
    for (int64_t run = from / size, skip = from % size; n > 0; ++run, skip = 0) {
      const int64_t count = std::min(n, size - skip);
      WidenRun(dot_.sums_, side.type, data + (at + side.layout.run_at[run] + skip * step) * bytes,
               step * bytes, count, dst);
      dst += count;
      n -= count;
    }
  }

  // packed_[k * width + j], zeros behind the panel's columns.
  void Pack(size_t batch, const Panel& panel, int64_t width) {
    const Side& side = dot_.many_;
    const int64_t base = side.layout.batch_at[batch];
    double* packed = buffers_.packed;
    if (side.adjacent && side.layout.run_stride != 1) {
      WidenByElements(side, many_, base + side.layout.row_at[panel.first], panel.count, width, packed);
      if (panel.count == width) return;
      for (int64_t k = 0; k < dot_.length_; ++k)
        std::fill(packed + k * width + panel.count, packed + (k + 1) * width, 0.0);
      return;
    }
    constexpr int64_t kPiece = 128;  // with the piece of the panel, in the first cache
    double columns[kPackedColumns][kPiece];
    for (int64_t from = 0; from < dot_.length_; from += kPiece) {
      const int64_t piece = std::min(kPiece, dot_.length_ - from);
      for (int64_t j = 0; j < panel.count; ++j)
        WidenRow(side, many_, base + side.layout.row_at[panel.first + j], from, piece, columns[j]);
      Interleave(columns[0], kPiece, piece, panel.count, static_cast<int>(width), packed);
      packed += piece * width;
    }
  }

  void Multiply(size_t batch, const Panel& panel) {
    const SmallDotKernels& kernels = dot_.kernels_;
    const Side& side = dot_.many_;
    double *const sums = buffers_.sums, *const norms = buffers_.norms;
    width_ = static_cast<int64_t>(panel.vectors) * kernels.lanes;
    if (!dot_.in_place_) {
      Pack(batch, panel, width_);
      columns_ = {reinterpret_cast<const std::byte*>(buffers_.packed), ElementType::kF64, width_};
      return kernels.f64(rows_, buffers_.packed, width_, panel.vectors, sums, norms);
    }
    const int64_t at = side.layout.batch_at[batch] + side.layout.row_at[panel.first] + side.layout.run_at[0];
    columns_ = {many_ + at * Bytes(side.type), side.type, side.layout.run_stride};
    if (side.type == ElementType::kF32) {
      kernels.f32(rows_, reinterpret_cast<const float*>(columns_.data), columns_.step, panel.vectors, sums,
                  norms);
    } else {
      kernels.bf16(rows_, reinterpret_cast<const uint16_t*>(columns_.data), columns_.step, panel.vectors,
                   sums, norms);
    }
  }

  // The sums, rounded, to their places; the rows begin with row `first`.
  void Store(const Panel& panel, int64_t batch_at, int64_t first) {
    const std::vector<int64_t>& rows = dot_.few_.out_at;
    if (dot_.type_ == ElementType::kF32) return StoreF32(panel, batch_at, first);
    for (int64_t r = 0; r < rows_.rows; ++r) {
      const double* const sums = buffers_.sums + r * width_;
      double rounded[kMaxColumns];
      const uint32_t open =
          dot_.kernels_.round(width_, sums, buffers_.norms, buffers_.bounds[r], rounding_, rounded);
      RepairRow(panel, r, open, rounded);
      StoreRow(panel, batch_at + rows[first + r], rounded);
    }
  }

  void StoreF32(const Panel& panel, int64_t batch_at, int64_t first) {
    const Side &few = dot_.few_, &many = dot_.many_;
    const bool in_place = many.out_step == 1 && few.out_step != 0 && panel.count == width_;
    float* out = buffers_.rounded;
    int64_t out_step = width_;
    if (in_place) {
      out = reinterpret_cast<float*>(result_) + batch_at + few.out_at[first] + many.out_at[panel.first];
      out_step = few.out_step;
    }
    uint32_t open[kRowsAtOnce];
    if (dot_.kernels_.round_f32(rows_.rows, width_, buffers_.sums, buffers_.norms, buffers_.bounds, out,
                                out_step, open)) {
      for (int64_t r = 0; r < rows_.rows; ++r) RepairRow(panel, r, open[r], out + r * out_step);
    }
    for (int64_t r = 0; !in_place && r < rows_.rows; ++r)
      StoreRow(panel, batch_at + few.out_at[first + r], buffers_.rounded + r * width_);
  }

  // The columns of row r whose bits are set.
  template <class T>
  void RepairRow(const Panel& panel, int64_t r, uint32_t open, T* rounded) {
    for (; open != 0; open &= open - 1) {
      const int j = std::countr_zero(open);
      if (j >= panel.count) break;
      rounded[j] = static_cast<T>(Repair(r, j, buffers_.sums[r * width_ + j]));
    }
  }

  // Where the row's first element would be if column offsets were 0: out_at.
  void StoreRow(const Panel& panel, int64_t out_at, const float* rounded) const {
    const int64_t* const at = &dot_.many_.out_at[panel.first];
    for (int64_t j = 0; j < panel.count; ++j)
      std::memcpy(result_ + (out_at + at[j]) * static_cast<int64_t>(sizeof(float)), rounded + j,
                  sizeof(float));
  }
  void StoreRow(const Panel& panel, int64_t out_at, const double* rounded) const {
    const int64_t* const at = &dot_.many_.out_at[panel.first];
    const int64_t bytes = Bytes(dot_.type_), step = dot_.many_.out_step;
    if (step != 0)
      return StoreStrip(dot_.type_, rounded, panel.count, result_ + (out_at + at[0]) * bytes, step * bytes);
    for (int64_t j = 0; j < panel.count; ++j)
      StoreStrip(dot_.type_, rounded + j, 1, result_ + (out_at + at[j]) * bytes, bytes);
  }

  // Row r by column j of the panel, whose sum in doubles is `sum`.
  double Repair(int64_t r, int64_t j, double sum) {
    // Of finite exact products no sum in doubles is infinite.
    if (!std::isfinite(sum)) return RoundToFormat(sum, format_);
    ++counts_.pairs;
    const int64_t n = dot_.length_;
    const int bytes = Bytes(columns_.type);
    const double* const a = rows_.a + r * rows_.row_step;
    const auto element = [&](int64_t k) {
      return ElementOf(columns_.type, columns_.data + (k * columns_.step + j) * bytes);
    };
    double s = -0.0, errors = 0, magnitude = 0;
    bool exact = true;
    for (int64_t k = 0; k < n; ++k) {
      const double p = a[k * rows_.step] * element(k);
      const double t = s + p, z = t - s;
      const double error = (s - (t - z)) + (p - z);
      exact = exact && error == 0;
      errors += error;
      magnitude += std::fabs(p);
      s = t;
    }
    if (exact) return RoundToFormat(s, format_);  // of zeros too: it has the right sign
    const auto count = static_cast<double>(n + 16);
    const double bound = 4 * count * count * 0x1p-106 * magnitude;
    if (const std::optional<double> rounded = RoundEnclosed(s, errors, bound, format_)) return *rounded;
    ++counts_.slices;
    ExactSum exact_sum;
    for (int64_t k = 0; k < n; ++k) exact_sum.AddProduct(a[k * rows_.step], element(k));
    return exact_sum.Round(format_);
  }

  struct Columns {
    const std::byte* data;
    ElementType type;
    int64_t step;
  };

  const SmallDot& dot_;
  const std::byte *const few_, *const many_;
  std::byte* const result_;
  const FloatFormat& format_;
  const NarrowRounding rounding_;
  const double factor_;
  Buffers& buffers_ = ThreadBuffers();
  TierCounts counts_;
  FewRows rows_{};
  Columns columns_{};  // of the panel
  int64_t width_ = 0;
};

void SmallDot::Run(const std::byte* lhs, const std::byte* rhs, std::byte* result) const {
  Runner(*this, many_is_rhs_ ? lhs : rhs, many_is_rhs_ ? rhs : lhs, result).Run();
}

}  // namespace assay::native
