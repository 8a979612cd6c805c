// Bound: |sum - s| <= (n + 16) 2^-53 |a| |b| for a chain of n multiply-adds of exact products
// (product_bounds.h). What it leaves open is s itself where no addition can have rounded: all products are
// multiples of the product u of the rows' units, and |a| |b| < 2^52 u. What is still open is summed by
// TwoSum, beside sum |a_k b_k|, and then exactly.
#include "engines/native/contraction/small_dot.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

#include "engines/native/contraction/round_products.h"
#include "engines/native/sums/product_bounds.h"
#include "engines/native/sums/tiers.h"
#include "evaluator/eval_context.h"
#include "evaluator/runtime_sizes.h"
#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay::native {
namespace {

constexpr ElementType kInPlace[] = {ElementType::kF32, ElementType::kBF16};

constexpr int64_t kPackedColumns = kMaxPackedVectors * kMaxLanes;

// Each thread has one of these. What is not touched costs nothing.
struct SmallDotBuffers {
  alignas(64) double rows[kRowElements];
  alignas(64) double packed[kSmallDotLongest * kPackedColumns];
  alignas(64) double sums[kMaxRowsAtOnce * kMaxColumns];
  alignas(64) double norms[kMaxColumns], bounds[kMaxRowsAtOnce];
  alignas(64) double column_units[kMaxColumns];
  double row_units[kMaxRowsAtOnce];
  alignas(64) float rounded[kMaxRowsAtOnce * kMaxColumns];
};
SmallDotBuffers& ThreadSmallDotBuffers() {
  static thread_local std::unique_ptr<SmallDotBuffers> buffers(new SmallDotBuffers);
  return *buffers;
}

// The element at `data`, of a type that kernels read in place, or of f64.
double ElementOf(ElementType type, const std::byte* data) {
  if (type == ElementType::kF32) return *reinterpret_cast<const float*>(data);
  if (type == ElementType::kF64) return *reinterpret_cast<const double*>(data);
  return std::bit_cast<float>(uint32_t{*reinterpret_cast<const uint16_t*>(data)} << 16);
}

// A power of two that all elements are multiples of; inf where they are zeros.
double UnitOf(const double* x, int64_t n, int64_t step) {
  uint64_t bits = uint64_t{1} << 52;
  double smallest = HUGE_VAL;
  for (int64_t k = 0; k < n; ++k) {
    const double magnitude = std::fabs(x[k * step]);
    bits |= std::bit_cast<uint64_t>(magnitude);
    if (magnitude > 0) smallest = std::min(smallest, magnitude);
  }
  return std::bit_cast<double>(std::bit_cast<uint64_t>(smallest) & 0x7ff0000000000000) * 0x1p-52 *
         static_cast<double>(uint64_t{1} << std::countr_zero(bits));
}

}  // namespace

SmallDot::SmallDot(Isa isa, ElementType lhs, ElementType rhs, ElementType result, const DotBox& box,
                   std::optional<int> packed)
    : kernels_(SmallDotKernelsOf(isa)),
      sums_(SumKernelsOf(isa)),
      type_(result),
      loops_(kernels_.lanes, kInPlace, lhs, rhs, box, packed) {
  for (const SmallDotLoops::Panel& panel : loops_.panels)
    panel_width_ = std::max<int64_t>(panel_width_, panel.vectors * kernels_.lanes);
  packed_of_panel_ = panel_width_ * (loops_.columns_in_place ? 1 : 1 + loops_.length);
}

// One run of a SmallDot.
class SmallDot::Multiplier {
  using Side = SmallDotLoops::Side;
  using Panel = SmallDotLoops::Panel;

 public:
  // `prepacked`: null, or what PackColumns made of the column data.
  Multiplier(const SmallDot& dot, const std::byte* row_data, const std::byte* column_data, std::byte* result,
             const double* prepacked)
      : dot_(dot),
        loops_(dot.loops_),
        row_data_(row_data),
        column_data_(column_data),
        result_(result),
        prepacked_(prepacked),
        format_(*Info(dot.type_).format),
        rounding_(format_),
        factor_(DoublesFactor(loops_.length)) {}

  // The product of the panels [first_panel, last_panel) of the columns of batch `batch`.
  void Run(size_t batch, size_t first_panel, size_t last_panel) {
    // A panel that covers columns of the one before belongs to whoever has that one.
    if (CoversAgain(first_panel)) ++first_panel;
    if (CoversAgain(last_panel)) ++last_panel;
    if (first_panel >= last_panel) return;
    const int64_t rows = loops_.row_side.rows();
    const std::span panels = std::span(loops_.panels).subspan(first_panel, last_panel - first_panel);
    for (int64_t first = 0; first < rows; first += loops_.rows_at_once) {
      WidenRows(batch, first, std::min(loops_.rows_at_once, rows - first));
      dot_.kernels_.row_norms(rows_, buffers_.bounds);
      for (int64_t r = 0; r < rows_.rows; ++r) buffers_.bounds[r] *= factor_;
      has_row_units_ = false;
      for (const Panel& panel : panels) {
        Multiply(batch, panel);
        Store(panel, loops_.batch_at[batch], first);
      }
    }
    // The last panel may lie over columns of the one before.
    counts_.sums += rows * (panels.back().first + panels.back().count - panels.front().first);
  }
  const TierCounts& counts() const { return counts_; }

  // Fills `prepacked`: the norms come with the product by a row of zeros.
  void PackColumns(double* prepacked) {
    std::fill_n(buffers_.rows, loops_.length, 0.0);
    rows_ = {1, loops_.length, buffers_.rows, 0, 1};
    for (size_t batch = 0; batch < loops_.batch_at.size(); ++batch) {
      for (const Panel& panel : loops_.panels) {
        Multiply(batch, panel);
        std::copy_n(norms_, width_, prepacked);
        if (!loops_.columns_in_place)
          std::copy_n(buffers_.packed, loops_.length * width_, prepacked + dot_.panel_width_);
        prepacked += dot_.packed_of_panel_;
      }
    }
  }

 private:
  bool CoversAgain(size_t panel) const {
    if (panel == 0 || panel >= loops_.panels.size()) return false;
    const Panel& before = loops_.panels[panel - 1];
    return loops_.panels[panel].first < before.first + before.count;
  }

  void WidenRows(size_t batch, int64_t first, int64_t count) {
    const Side& side = loops_.row_side;
    const int64_t base = side.layout.batch_at[batch];
    double* const dst = buffers_.rows;
    if (side.row_step == 1 && count > 1 && side.layout.run_stride != 1) {
      rows_ = {count, loops_.length, dst, 1, count};
      WidenByElements(side, row_data_, base + side.layout.row_at[first], count, count, dst);
      return;
    }
    rows_ = {count, loops_.length, dst, loops_.row_step, 1};
    for (int64_t r = 0; r < count; ++r)
      WidenRow(side, row_data_, base + side.layout.row_at[first + r], 0, loops_.length,
               dst + r * loops_.row_step);
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
    const Side& side = loops_.column_side;
    const int64_t base = side.layout.batch_at[batch];
    double* packed = buffers_.packed;
    if (side.row_step == 1 && side.layout.run_stride != 1) {
      WidenByElements(side, column_data_, base + side.layout.row_at[panel.first], panel.count, width, packed);
      if (panel.count == width) return;
      for (int64_t k = 0; k < loops_.length; ++k)
        std::fill(packed + k * width + panel.count, packed + (k + 1) * width, 0.0);
      return;
    }
    constexpr int64_t kPiece = 128;  // with the piece of the panel, in the first cache
    double columns[kPackedColumns][kPiece];
    for (int64_t from = 0; from < loops_.length; from += kPiece) {
      const int64_t piece = std::min(kPiece, loops_.length - from);
      for (int64_t j = 0; j < panel.count; ++j)
        WidenRow(side, column_data_, base + side.layout.row_at[panel.first + j], from, piece, columns[j]);
      Interleave(columns[0], kPiece, piece, panel.count, static_cast<int>(width), packed);
      packed += piece * width;
    }
  }

  void Multiply(size_t batch, const Panel& panel) {
    const SmallDotKernels& kernels = dot_.kernels_;
    const Side& side = loops_.column_side;
    double* const sums = buffers_.sums;
    width_ = static_cast<int64_t>(panel.vectors) * kernels.lanes;
    has_column_units_ = false;
    const auto index = static_cast<int64_t>(batch * loops_.panels.size()) + (&panel - loops_.panels.data());
    const double* const prepacked =
        prepacked_ == nullptr ? nullptr : prepacked_ + index * dot_.packed_of_panel_;
    double* const new_norms = prepacked == nullptr ? buffers_.norms : nullptr;
    norms_ = prepacked == nullptr ? buffers_.norms : prepacked;
    if (!loops_.columns_in_place) {
      const double* const packed = prepacked == nullptr ? buffers_.packed : prepacked + dot_.panel_width_;
      if (prepacked == nullptr) Pack(batch, panel, width_);
      columns_ = {reinterpret_cast<const std::byte*>(packed), ElementType::kF64, width_};
      return kernels.f64(rows_, packed, width_, panel.vectors, sums, new_norms);
    }
    const int64_t at = side.layout.batch_at[batch] + side.layout.row_at[panel.first] + side.layout.run_at[0];
    columns_ = {column_data_ + at * Bytes(side.type), side.type, side.layout.run_stride};
    if (side.type == ElementType::kF32) {
      kernels.f32(rows_, reinterpret_cast<const float*>(columns_.data), columns_.step, panel.vectors, sums,
                  new_norms);
    } else {
      kernels.bf16(rows_, reinterpret_cast<const uint16_t*>(columns_.data), columns_.step, panel.vectors,
                   sums, new_norms);
    }
  }

  // The sums, rounded, to their places; the rows begin with row `first`.
  void Store(const Panel& panel, int64_t batch_at, int64_t first) {
    const std::vector<int64_t>& rows = loops_.row_side.out_at;
    if (dot_.type_ == ElementType::kF32) return StoreF32(panel, batch_at, first);
    for (int64_t r = 0; r < rows_.rows; ++r) {
      const double* const sums = buffers_.sums + r * width_;
      double rounded[kMaxColumns];
      const uint32_t open = dot_.kernels_.round(width_, sums, norms_, buffers_.bounds[r], rounding_, rounded);
      RepairRow(panel, r, open, rounded);
      StoreRow(panel, batch_at + rows[first + r], rounded);
    }
  }

  void StoreF32(const Panel& panel, int64_t batch_at, int64_t first) {
    const Side &row_side = loops_.row_side, &column_side = loops_.column_side;
    const bool in_place = column_side.out_step == 1 && row_side.out_step != 0 && panel.count == width_;
    float* out = buffers_.rounded;
    int64_t out_step = width_;
    if (in_place) {
      out = reinterpret_cast<float*>(result_) + batch_at + row_side.out_at[first] +
            column_side.out_at[panel.first];
      out_step = row_side.out_step;
    }
    uint32_t open[kMaxRowsAtOnce];
    if (dot_.kernels_.round_f32(rows_.rows, width_, buffers_.sums, norms_, buffers_.bounds, out, out_step,
                                open)) {
      for (int64_t r = 0; r < rows_.rows; ++r) RepairRow(panel, r, open[r], out + r * out_step);
    }
    for (int64_t r = 0; !in_place && r < rows_.rows; ++r)
      StoreRow(panel, batch_at + row_side.out_at[first + r], buffers_.rounded + r * width_);
  }

  // The columns of row r whose bits are set.
  template <class T>
  void RepairRow(const Panel& panel, int64_t r, uint32_t open, T* rounded) {
    if (panel.count < kMaxColumns) open &= (uint32_t{1} << panel.count) - 1;
    if (open == 0) return;
    FindUnits(panel);
    for (; open != 0; open &= open - 1) {
      const int j = std::countr_zero(open);
      const double sum = buffers_.sums[r * width_ + j];
      // This holds of zeros too, which are +0; where there is an infinity or a NaN the left side is one.
      const bool exact = buffers_.bounds[r] * norms_[j] <
                         factor_ * 0x1p52 * buffers_.row_units[r] * buffers_.column_units[j];
      rounded[j] = static_cast<T>(exact ? RoundToFormat(sum, format_) : Repair(r, j, sum));
    }
  }

  // Finds the units of the rows once for all panels, and those of the panel's columns.
  void FindUnits(const Panel& panel) {
    for (int64_t r = 0; !has_row_units_ && r < rows_.rows; ++r)
      buffers_.row_units[r] = UnitOf(rows_.a + r * rows_.row_step, loops_.length, rows_.step);
    has_row_units_ = true;
    if (std::exchange(has_column_units_, true)) return;
    const SmallDotKernels& kernels = dot_.kernels_;
    double* const units = buffers_.column_units;
    if (columns_.type == ElementType::kF32) {
      kernels.units_f32(loops_.length, reinterpret_cast<const float*>(columns_.data), columns_.step,
                        panel.vectors, units);
    } else if (columns_.type == ElementType::kF64) {
      kernels.units_f64(loops_.length, reinterpret_cast<const double*>(columns_.data), columns_.step,
                        panel.vectors, units);
    } else {
      kernels.units_bf16(loops_.length, reinterpret_cast<const uint16_t*>(columns_.data), columns_.step,
                         panel.vectors, units);
    }
  }

  // out_at is where the row's first element would be if column offsets were 0.
  void StoreRow(const Panel& panel, int64_t out_at, const float* rounded) const {
    const int64_t* const at = &loops_.column_side.out_at[panel.first];
    for (int64_t j = 0; j < panel.count; ++j)
      std::memcpy(result_ + (out_at + at[j]) * static_cast<int64_t>(sizeof(float)), rounded + j,
                  sizeof(float));
  }
  void StoreRow(const Panel& panel, int64_t out_at, const double* rounded) const {
    const int64_t* const at = &loops_.column_side.out_at[panel.first];
    const int64_t bytes = Bytes(dot_.type_), step = loops_.column_side.out_step;
    if (step != 0)
      return StoreStrip(dot_.type_, rounded, panel.count, result_ + (out_at + at[0]) * bytes, step * bytes);
    for (int64_t j = 0; j < panel.count; ++j)
      StoreStrip(dot_.type_, rounded + j, 1, result_ + (out_at + at[j]) * bytes, bytes);
  }

  // Row r by column j of the panel, whose sum in doubles is `sum`.
  double Repair(int64_t r, int64_t j, double sum) {
    const int bytes = Bytes(columns_.type);
    const double* const row = rows_.a + r * rows_.row_step;
    const auto a = [&](int64_t k) { return row[k * rows_.step]; };
    const auto b = [&](int64_t k) {
      return ElementOf(columns_.type, columns_.data + (k * columns_.step + j) * bytes);
    };
    return RoundProducts(loops_.length, a, b, sum, format_, counts_);
  }

  struct Columns {
    const std::byte* data;
    ElementType type;
    int64_t step;
  };

  const SmallDot& dot_;
  const SmallDotLoops& loops_;
  const std::byte *const row_data_, *const column_data_;
  std::byte* const result_;
  const double* const prepacked_;
  const FloatFormat& format_;
  const NarrowRounding rounding_;
  const double factor_;
  SmallDotBuffers& buffers_ = ThreadSmallDotBuffers();
  TierCounts counts_;
  FewRows rows_{};
  Columns columns_{};  // of the panel
  const double* norms_ = nullptr;
  int64_t width_ = 0;
  bool has_row_units_ = false, has_column_units_ = false;  // of these rows, of this panel
};

bool SmallDot::IsWorth(const DotBox& box) {
  constexpr int64_t kMaxOfBatch = 1 << 18, kMaxOfAll = 1 << 28, kFewRows = 3;
  if (!IsSmallDot(box, kMaxOfAll)) return false;
  const int64_t rows = LoopCount(box.rows), columns = LoopCount(box.columns);
  return rows * columns * LoopCount(box.contracted[0].loops) <= kMaxOfBatch ||
         std::min(rows, columns) <= kFewRows;
}

void SmallDot::Run(Parallel& parallel, const std::byte* lhs, const std::byte* rhs, std::byte* result,
                   const Literal& columns) const {
  constexpr int64_t kWorkOfPart = 1 << 18;  // products worth a task
  const bool is_prepacked = columns.shape().IsArray();
  // Tasks are panels of a batch, several of which share the rows in their widened form.
  const size_t panels = loops_.panels.size();
  const auto tasks = static_cast<int64_t>(loops_.batch_at.size() * panels);
  const int64_t work = loops_.row_side.rows() * loops_.length * panel_width_;
  parallel.For(tasks, kWorkOfPart / (work + 1) + 1, [&](int64_t begin, int64_t end) {
    Multiplier multiplier(*this, loops_.columns_are_rhs ? lhs : rhs, loops_.columns_are_rhs ? rhs : lhs,
                          result, is_prepacked ? reinterpret_cast<const double*>(columns.data()) : nullptr);
    for (auto task = static_cast<size_t>(begin); task < static_cast<size_t>(end);) {
      const size_t batch = task / panels, first = task % panels,
                   last = std::min(panels, first + static_cast<size_t>(end) - task);
      multiplier.Run(batch, first, last);
      task += last - first;
    }
    CountTiers(multiplier.counts());
  });
}

absl::StatusOr<Literal> SmallDot::PackColumns(EvalContext& context, const std::byte* operand) const {
  const auto panels = static_cast<int64_t>(loops_.batch_at.size() * loops_.panels.size());
  const int64_t doubles = panels * packed_of_panel_;
  const MemoryBudget& budget = *context.run().budget();
  if (budget.live() + doubles * static_cast<int64_t>(sizeof(double)) > budget.limit() / 2) return Literal();
  ASSAY_ASSIGN_OR_RETURN(Literal columns, ReserveScratch(context, doubles, sizeof(double)));
  Multiplier(*this, nullptr, operand, nullptr, nullptr)
      .PackColumns(reinterpret_cast<double*>(columns.MutableBytes().data()));
  return columns;
}

}  // namespace assay::native
