#include "engines/approximate/single_tiles.h"

#include <emmintrin.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

#include "base/checked.h"
#include "base/parallel.h"
#include "engines/approximate/pair_rows.h"
#include "engines/approximate/single_dot_kernels.h"
#include "engines/native/contraction/convolution.h"
#include "engines/native/contraction/digit_kernels.h"
#include "engines/native/contraction/dot_box.h"
#include "engines/native/sums/charge_part.h"
#include "evaluator/eval_context.h"
#include "evaluator/runtime_sizes.h"
#include "fmt/format.h"
#include "literal/element_io.h"
#include "literal/float_format.h"
#include "shape/index.h"

namespace assay::approximate {
namespace {

using native::DotBox;
using native::OffsetsOf;
using native::ResultLayout;
using native::RowSource;
using native::StridedRows;

constexpr int64_t kLongestTileSum = 1 << 16;  // terms of a sum
constexpr int64_t kMaxTileProducts = int64_t{1} << 40;
constexpr int64_t kDepth = 256;  // terms between two visits of a tile of sums
constexpr int64_t kTileRows = 96, kTileColumns = 256;
constexpr int64_t kRowFloats = 1 << 16;     // of the rows that a task packs: they stay in the second cache
constexpr int64_t kColumnFloats = 1 << 18;  // of a batch that one task multiplies, columns packed by itself
constexpr int64_t kPackedFloats = 1 << 23;  // of columns packed at once
constexpr int64_t kWorkOfTileTask = 1 << 19, kWorkBetweenCharges = int64_t{1} << 31;  // products
constexpr int64_t kElementsOfPart = 1 << 15;  // packed elements worth a task

// Each thread has one of these. What is not touched costs nothing.
struct SingleTileBuffers {
  alignas(64) float rows[std::max(kRowFloats, kMaxTileRows* kLongestTileSum)];
  alignas(64) float columns[kColumnFloats];
  alignas(64) float sums[(kTileRows + kMaxTileRows) * kTileColumns];
};
SingleTileBuffers& ThreadTileBuffers() {
  static thread_local std::unique_ptr<SingleTileBuffers> buffers(new SingleTileBuffers);
  return *buffers;
}

// Rounded to bf16, as integers of 32 bits with its sign; NaN is the canonical one.
__m128i RoundFour(const float* x) {
  const __m128 v = _mm_loadu_ps(x);
  const __m128i bits = _mm_castps_si128(v), is_nan = _mm_castps_si128(_mm_cmpunord_ps(v, v));
  const __m128i odd = _mm_and_si128(_mm_srli_epi32(bits, 16), _mm_set1_epi32(1));
  const __m128i rounded = _mm_srai_epi32(_mm_add_epi32(_mm_add_epi32(bits, _mm_set1_epi32(0x7fff)), odd), 16);
  return _mm_or_si128(_mm_andnot_si128(is_nan, rounded), _mm_and_si128(is_nan, _mm_set1_epi32(0x7fc0)));
}

class SingleProduct {
 public:
  // Rows of `length` elements of the kernels, for sums of `terms` products.
  SingleProduct(EvalContext& context, const SingleDotKernels& kernels, const RowSource<float>& lhs,
                const RowSource<float>& rhs, int64_t length, int64_t terms, ResultLayout result)
      : context_(context),
        kernels_(kernels),
        lhs_(lhs),
        rhs_(rhs),
        length_(length),
        terms_(terms),
        result_(std::move(result)),
        batches_(std::ssize(result_.batch_at)),
        rows_(std::ssize(result_.row_at)),
        columns_(std::ssize(result_.column_at)),
        row_block_(std::clamp(kRowFloats / length / kernels_.tile_rows * kernels_.tile_rows,
                              int64_t{kernels_.tile_rows}, kTileRows)) {
    for (int64_t j = 1; neighbours_ && j < columns_; ++j)
      neighbours_ = result_.column_at[j] - result_.column_at[j - 1] == 1;
  }

  absl::Status Run() {
    if (batches_ > 1 && RoundUp(columns_) * length_ <= kColumnFloats) return RunBatches();
    const int64_t width = kernels_.tile_columns;
    const int64_t most =
        std::min(RoundUp(columns_), std::max<int64_t>(kPackedFloats / length_ / width, 1) * width);
    ASSAY_ASSIGN_OR_RETURN(Literal scratch, ReserveScratch(context_, most * length_, sizeof(float)));
    auto* const packed = reinterpret_cast<float*>(scratch.MutableBytes().data());
    for (int64_t batch = 0; batch < batches_; ++batch) {
      for (int64_t first = 0; first < columns_; first += most) {
        const int64_t count = std::min(most, columns_ - first);
        context_.parallel().For(
            CeilDiv(count, width), kElementsOfPart / (length_ * width) + 1,
            [&](int64_t begin, int64_t end) { PackColumns(batch, first, count, begin, end, packed); });
        ASSAY_RETURN_IF_ERROR(RunRows(batch, first, count, packed));
      }
    }
    return absl::OkStatus();
  }

 private:
  int64_t RoundUp(int64_t columns) const {
    return CeilDiv(columns, int64_t{kernels_.tile_columns}) * kernels_.tile_columns;
  }

  // Panels [begin, end) of the columns [first, first + count).
  void PackColumns(int64_t batch, int64_t first, int64_t count, int64_t begin, int64_t end,
                   float* packed) const {
    const int width = kernels_.tile_columns;
    for (int64_t p = begin; p < end; ++p)
      rhs_.Pack(batch, first + p * width, std::min<int64_t>(width, count - p * width), width,
                packed + p * width * length_);
  }

  // Whole batches are tasks.
  absl::Status RunBatches() {
    const int64_t work = rows_ * columns_ * length_;
    const int64_t most = std::max<int64_t>(kWorkBetweenCharges / work, 1);
    for (int64_t done = 0; done < batches_; done += most) {
      const int64_t part = std::min(most, batches_ - done);
      context_.parallel().For(part, kWorkOfTileTask / work + 1, [&](int64_t begin, int64_t end) {
        float* const packed = ThreadTileBuffers().columns;
        for (int64_t b = done + begin; b < done + end; ++b) {
          PackColumns(b, 0, columns_, 0, CeilDiv(columns_, int64_t{kernels_.tile_columns}), packed);
          for (int64_t row = 0; row < rows_; row += row_block_) MultiplyRows(b, row, 0, columns_, packed);
        }
      });
      ASSAY_RETURN_IF_ERROR(
          native::ChargePart(context_, batches_ * rows_ * columns_, terms_, done, part, batches_));
    }
    return absl::OkStatus();
  }

  absl::Status RunRows(int64_t batch, int64_t first, int64_t count, const float* packed) {
    const int64_t work = row_block_ * count * length_, blocks = CeilDiv(rows_, row_block_);
    const int64_t most = std::max<int64_t>(kWorkBetweenCharges / work, 1);
    for (int64_t done = 0; done < blocks; done += most) {
      const int64_t part = std::min(most, blocks - done);
      context_.parallel().For(part, kWorkOfTileTask / work + 1, [&](int64_t begin, int64_t end) {
        for (int64_t block = done + begin; block < done + end; ++block)
          MultiplyRows(batch, block * row_block_, first, count, packed);
      });
      ASSAY_RETURN_IF_ERROR(native::ChargePart(context_, rows_ * count, terms_, done, part, blocks));
    }
    return absl::OkStatus();
  }

  // The block of rows at `row` by the packed columns [first, first + count).
  void MultiplyRows(int64_t batch, int64_t row, int64_t first, int64_t count, const float* packed) const {
    SingleTileBuffers& buffers = ThreadTileBuffers();
    const int height = kernels_.tile_rows;
    const int64_t rows = std::min(row_block_, rows_ - row);
    for (int64_t r = 0; r < rows; r += height)
      lhs_.Pack(batch, row + r, std::min<int64_t>(height, rows - r), height, buffers.rows + r * length_);
    for (int64_t column = 0; column < count; column += kTileColumns) {
      context_.parallel().Poll();
      const int64_t columns = std::min(kTileColumns, count - column), padded = RoundUp(columns);
      for (int64_t k = 0; k < length_; k += kDepth) {
        const int64_t depth = std::min(kDepth, length_ - k);
        for (int64_t j = 0; j < padded; j += kernels_.tile_columns) {
          const float* const b = packed + (column + j) * length_ + k * kernels_.tile_columns;
          for (int64_t r = 0; r < rows; r += height)
            kernels_.tile(depth, buffers.rows + r * length_ + k * height, b, k == 0,
                          buffers.sums + r * kTileColumns + j, kTileColumns);
        }
      }
      for (int64_t r = 0; r < rows; ++r)
        StoreRow(batch, row + r, first + column, columns, buffers.sums + r * kTileColumns);
    }
  }

  void StoreRow(int64_t batch, int64_t row, int64_t column, int64_t count, const float* sums) const {
    const int64_t bytes = Bytes(result_.type);
    std::byte* const dst = result_.data + (result_.batch_at[batch] + result_.row_at[row]) * bytes;
    if (neighbours_) return Round(count, sums, dst + result_.column_at[column] * bytes);
    alignas(64) std::byte rounded[kTileColumns * sizeof(float)];
    Round(count, sums, rounded);
    for (int64_t j = 0; j < count; ++j)
      std::memcpy(dst + result_.column_at[column + j] * bytes, rounded + j * bytes,
                  static_cast<size_t>(bytes));
  }

  // To elements of the result's type.
  void Round(int64_t n, const float* sums, std::byte* to) const {
    if (result_.type == ElementType::kF32) {
      std::memcpy(to, sums, static_cast<size_t>(n) * sizeof(float));
    } else if (result_.type == ElementType::kBF16) {
      int64_t j = 0;
      for (; j + 8 <= n; j += 8)
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 2 * j),
                         _mm_packs_epi32(RoundFour(sums + j), RoundFour(sums + j + 4)));
      for (; j < n; ++j) {
        const auto bits = std::bit_cast<uint32_t>(sums[j]);
        const auto half = static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
        const uint16_t element = std::isnan(sums[j]) ? uint16_t{0x7fc0} : half;
        std::memcpy(to + j * 2, &element, sizeof(element));
      }
    } else {
      const FloatFormat& format = *Info(result_.type).format;
      double wide[kTileColumns];
      for (int64_t j = 0; j < n; ++j) wide[j] = RoundToFormat(sums[j], format);
      StoreStrip(result_.type, wide, n, to, Bytes(result_.type));
    }
  }

  EvalContext& context_;
  const SingleDotKernels& kernels_;
  const RowSource<float>&lhs_, &rhs_;
  const int64_t length_, terms_;
  const ResultLayout result_;
  const int64_t batches_, rows_, columns_, row_block_;
  bool neighbours_ = true;  // the columns of a row of the result
};

// Which kernels multiply rows of elements of a type.
class TileKernels {
 public:
  TileKernels(Isa isa, ElementType type)
      : kernels_(SingleDotKernelsOf(isa)),
        pairs_(type == ElementType::kBF16 ? PairDotKernelsOf(isa) : nullptr) {}

  const Accuracy& accuracy() const { return pairs_ != nullptr ? SumInF32WithoutSubnormals() : SumInF32(); }
  std::string_view algorithm() const { return pairs_ != nullptr ? "tiles of bf16 pairs" : "f32 tiles"; }

  absl::Status Multiply(EvalContext& context, const RowSource<float>& lhs, const RowSource<float>& rhs,
                        int64_t length, ResultLayout result) const {
    if (pairs_ == nullptr)
      return SingleProduct(context, kernels_, lhs, rhs, length, length, std::move(result)).Run();
    const PairRows left(lhs, length), right(rhs, length);
    return SingleProduct(context, *pairs_, left, right, CeilDiv(length, int64_t{2}), length,
                         std::move(result))
        .Run();
  }

 private:
  const SingleDotKernels& kernels_;
  const SingleDotKernels* const pairs_;
};

class DotTiles final : public Kernel {
 public:
  DotTiles(Isa isa, ElementType type, DotBox box)
      : tiles_(isa, type), sums_(native::SumKernelsOf(isa)), box_(std::move(box)) {}

  const Accuracy& accuracy() const override { return tiles_.accuracy(); }
  std::string_view algorithm() const override { return tiles_.algorithm(); }

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult());
    const native::LoopDims& contracted = box_.contracted[0].loops;
    const StridedRows<float> lhs(sums_, operands[0].shape().element_type(), operands[0].data(),
                                 {box_.batch, box_.rows, contracted, 0});
    const StridedRows<float> rhs(sums_, operands[1].shape().element_type(), operands[1].data(),
                                 {box_.batch, box_.columns, contracted, 1});
    ASSAY_RETURN_IF_ERROR(
        tiles_.Multiply(context, lhs, rhs, LoopCount(contracted),
                        {result.MutableBytes().data(), result.shape().element_type(),
                         OffsetsOf(box_.batch, 2), OffsetsOf(box_.rows, 2), OffsetsOf(box_.columns, 2)}));
    return result;
  }

 private:
  const TileKernels tiles_;
  const native::SumKernels& sums_;
  const DotBox box_;
};

class ConvolutionTiles final : public Kernel {
 public:
  ConvolutionTiles(Isa isa, ElementType type) : tiles_(isa, type), sums_(native::SumKernelsOf(isa)) {}

  const Accuracy& accuracy() const override { return tiles_.accuracy(); }
  std::string_view algorithm() const override { return tiles_.algorithm(); }

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult());
    const absl::Status status =
        native::AsProduct<float>(context.attributes(), sums_, operands[0], operands[1], result,
                                 [&](const RowSource<float>& patches, const RowSource<float>& kernel,
                                     int64_t length, ResultLayout at) {
                                   // What lies beside the image is no term, but packs as zero.
                                   if (patches.has_gaps() && !AllFinite(operands[1]))
                                     return Fallback("infinities or NaNs in the kernel");
                                   return tiles_.Multiply(context, patches, kernel, length, std::move(at));
                                 });
    ASSAY_RETURN_IF_ERROR(status);
    return result;
  }

 private:
  static bool AllFinite(const Literal& array) {
    const ElementType type = array.shape().element_type();
    const int64_t n = array.shape().num_elements();
    double strip[kStrip];
    for (int64_t i = 0; i < n; i += kStrip) {
      const int64_t count = std::min(kStrip, n - i);
      LoadStrip(type, array.data() + i * Bytes(type), Bytes(type), count, strip);
      if (!std::all_of(strip, strip + count, [](double x) { return std::isfinite(x); })) return false;
    }
    return true;
  }

  const TileKernels tiles_;
  const native::SumKernels& sums_;
};

absl::Status CheckTileTypes(const StepView& step, Isa isa) {
  const ElementType lhs = step.operand_shape(0).element_type(), rhs = step.operand_shape(1).element_type(),
                    result = step.result_shape().element_type();
  const bool half = lhs == ElementType::kBF16 || lhs == ElementType::kF16;
  if (lhs != rhs || !(half || lhs == ElementType::kF32) || !(result == lhs || result == ElementType::kF32))
    return NotSupported({}, fmt::format("{} by {} to {}", Name(lhs), Name(rhs), Name(result)));
  if (half && step.instruction.opcode == Opcode::kDot && native::DigitKernelsOf(isa) != nullptr)
    return NotSupported({}, "the exact kernel with matrix registers is faster");
  return absl::OkStatus();
}

absl::Status CheckTileSize(const StepView& step, int64_t fewest) {
  for (const Shape* shape : {&step.operand_shape(0), &step.operand_shape(1), &step.result_shape()}) {
    if (shape->HasDynamic() || shape->HasUnbounded()) return NotSupported({}, "dynamic shapes");
    if (shape->num_elements() == 0) return NotSupported({}, "no products");
  }
  const int64_t terms = TermsOfProduct(step.computation, step.instruction),
                results = step.result_shape().num_elements();
  if (terms < 1) return NotSupported({}, "no products");
  if (terms > kLongestTileSum)
    return NotSupported({}, fmt::format("sums of more than {} terms", kLongestTileSum));
  if (results > kMaxTileProducts / terms)
    return NotSupported({}, fmt::format("more than {} products", kMaxTileProducts));
  if (results * terms < fewest)
    return NotSupported({}, fmt::format("too few products ({} < {})", results * terms, fewest));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareSingleTiles(const StepView& step, Isa isa,
                                                                 int64_t fewest) {
  ASSAY_RETURN_IF_ERROR(CheckTileTypes(step, isa));
  ASSAY_RETURN_IF_ERROR(CheckTileSize(step, fewest));
  const Shape &lhs = step.operand_shape(0), &rhs = step.operand_shape(1), &result = step.result_shape();
  if (step.instruction.opcode == Opcode::kConvolution) {
    if (const std::string_view why = native::WhyNotConvolution(step); !why.empty())
      return NotSupported({}, why);
    return std::make_shared<ConvolutionTiles>(isa, lhs.element_type());
  }
  const DotDims dims = DotDimsOf(step.instruction.attributes, lhs.rank(), rhs.rank());
  DotBox box = native::WholeDot(dims, native::StaticArrayOf(lhs), native::StaticArrayOf(rhs),
                                RowMajorStrides(result.sizes()));
  return std::make_shared<DotTiles>(isa, lhs.element_type(), std::move(box));
}

}  // namespace assay::approximate
