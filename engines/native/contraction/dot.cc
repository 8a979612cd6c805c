#include "engines/native/contraction/dot.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "engines/native/contraction/bf16_product.h"
#include "engines/native/contraction/digit_product.h"
#include "engines/native/contraction/exact_dot.h"
#include "engines/native/contraction/long_dot.h"
#include "engines/native/contraction/product_kernel.h"
#include "engines/native/contraction/small_dot.h"
#include "evaluator/eval_context.h"
#include "evaluator/ops/contraction/dot_dims.h"
#include "evaluator/runtime_sizes.h"
#include "evaluator/step_memory.h"
#include "shape/index.h"

namespace assay::native {
namespace {

// Dots of fewer products are summed one by one: packing them would take longer.
constexpr int64_t kFewProducts = 1 << 9;

enum class Algorithm : uint8_t {
  kSmall,         // columns side by side in registers, nothing packed
  kLong,          // one row by one column at a time, where they lie
  kOneByOne,      // one exact sum at a time
  kByteTiles,     // tiles of bytes, modulo 2^w
  kIntegerTiles,  // tiles of 64-bit integers, modulo 2^w
  kBf16Tiles,     // pairs of bf16 in f32, or tiles of doubles where too many sums are left open
  // Tiles of digits in matrix registers, or tiles of doubles where elements spread too far for that.
  kDigitTiles,
  kTiles,  // packed rows, tiles of doubles
};

std::string_view Name(Algorithm algorithm) {
  constexpr std::string_view kNames[] = {"small",         "long rows",  "one by one",  "byte tiles",
                                         "integer tiles", "bf16 tiles", "digit tiles", "tiles"};
  return kNames[static_cast<size_t>(algorithm)];
}

class DotKernel final : public Kernel {
 public:
  DotKernel(const ProductKind& kind, Isa isa, const StepView& step) : kind_(kind), isa_(isa) {
    const bool has_digits =
        HasDigits(step.operand_shape(0).element_type(), step.operand_shape(1).element_type(),
                  step.result_shape().element_type());
    if (has_digits) digits_ = DigitKernelsOf(isa);
    if (digits_ == nullptr)
      bf16_ = Bf16ProductKernels(step.operand_shape(0).element_type(), step.operand_shape(1).element_type(),
                                 step.result_shape().element_type(), isa);
    const Shape &lhs = step.operand_shape(0), &rhs = step.operand_shape(1);
    if (lhs.HasDynamic() || rhs.HasDynamic() || lhs.HasUnbounded() || rhs.HasUnbounded()) return;
    const DotArray left = StaticArrayOf(lhs), right = StaticArrayOf(rhs);
    const DotDims dims = DotDimsOf(step.instruction.attributes, lhs.rank(), rhs.rank());
    const DotBox box = WholeDot(dims, left, right, RowMajorStrides(step.result_shape().sizes()));
    algorithm_ = AlgorithmFor(box);
    constexpr int64_t kMaxOffsets = 1 << 12;  // kept with the plan; more are found again in each run
    if (algorithm_ != Algorithm::kSmall ||
        LoopCount(box.batch) + LoopCount(box.rows) + LoopCount(box.columns) > kMaxOffsets)
      return;
    products_ = ProductsOf(box);
    small_.emplace(isa, left.type, right.type, step.result_shape().element_type(), box);
  }

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    if (small_.has_value()) return RunSmall(context, operands);
    DotArray lhs = ArrayOf(operands[0]), rhs = ArrayOf(operands[1]);
    const DotDims dims =
        DotDimsOf(context.attributes(), operands[0].shape().rank(), operands[1].shape().rank());
    ASSAY_RETURN_IF_ERROR(JoinDotSizes(context, dims, operands, lhs.sizes, rhs.sizes));
    ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult(context.result_shape().HasDynamic()));
    const DotBox box = WholeDot(dims, lhs, rhs, StridesOf(result));
    std::byte* const out = result.MutableBytes().data();
    ASSAY_RETURN_IF_ERROR(Multiply(context, algorithm_.has_value() ? *algorithm_ : AlgorithmFor(box), lhs,
                                   rhs, box, result.shape().element_type(), out));
    SetRuntimeSizes(result, DotSizes(dims, lhs.sizes, rhs.sizes));
    return result;
  }
  std::string_view algorithm() const override {
    return algorithm_.has_value() ? Name(*algorithm_) : "by run-time sizes";
  }

 private:
  Algorithm AlgorithmFor(const DotBox& box) const {
    const bool is_long = LoopCount(box.contracted[0].loops) > kLongestRow / 2;
    if (IsSmall(box)) return Algorithm::kSmall;
    if ((is_long || IsThin(box)) && HasExactProducts()) return Algorithm::kLong;
    if (ProductsOf(box) < kFewProducts || is_long) return Algorithm::kOneByOne;
    if (kind_.bytes()) return Algorithm::kByteTiles;
    if (kind_.integers != nullptr) return Algorithm::kIntegerTiles;
    if (bf16_ != nullptr && HasNeighbours(box) &&
        IsWorthBf16Product(LoopCount(box.batch), LoopCount(box.rows), LoopCount(box.columns),
                           LoopCount(box.contracted[0].loops)))
      return Algorithm::kBf16Tiles;
    return IsWorthDigits(box) ? Algorithm::kDigitTiles : Algorithm::kTiles;
  }

  absl::Status Multiply(EvalContext& context, Algorithm algorithm, const DotArray& lhs, const DotArray& rhs,
                        const DotBox& box, ElementType type, std::byte* out) const {
    switch (algorithm) {
      case Algorithm::kSmall:
        SmallDot(isa_, lhs.type, rhs.type, type, box).Run(context.parallel(), lhs.data, rhs.data, out);
        return context.Charge(ProductsOf(box));
      case Algorithm::kLong:
        return RunLongDot(context, *kind_.sums, lhs, rhs, box, type, out);
      case Algorithm::kOneByOne: {
        Meter meter(context);
        ASSAY_RETURN_IF_ERROR(RunExactDot(lhs, rhs, box, type, out, meter));
        return meter.Flush();
      }
      case Algorithm::kByteTiles:
        return MultiplyRows<uint8_t>(context, lhs, rhs, box, type, out);
      case Algorithm::kIntegerTiles:
        return MultiplyRows<int64_t>(context, lhs, rhs, box, type, out);
      case Algorithm::kBf16Tiles: {
        ASSAY_ASSIGN_OR_RETURN(const bool done, MultiplyBf16(context, lhs, rhs, box, type, out));
        if (done) return absl::OkStatus();
        return MultiplyRows<double>(context, lhs, rhs, box, type, out);
      }
      case Algorithm::kDigitTiles: {
        ASSAY_ASSIGN_OR_RETURN(const bool done, MultiplyDigits(context, lhs, rhs, box, type, out));
        if (done) return absl::OkStatus();
        [[fallthrough]];
      }
      case Algorithm::kTiles:
        return MultiplyRows<double>(context, lhs, rhs, box, type, out);
    }
    return absl::OkStatus();
  }

  static int64_t ProductsOf(const DotBox& box) {
    return LoopCount(box.batch) * LoopCount(box.rows) * LoopCount(box.columns) *
           LoopCount(box.contracted[0].loops);
  }
  bool HasExactProducts() const { return kind_.integers == nullptr && !kind_.complex && !kind_.two_products; }

  bool IsSmall(const DotBox& box) const {
    return HasExactProducts() && SmallDot::IsWorth(box) && !IsThin(box);
  }

  // The operands have static sizes.
  absl::StatusOr<Literal> RunSmall(EvalContext& context, std::span<Literal> operands) const {
    ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult());
    const std::byte *const lhs = operands[0].data(), *const rhs = operands[1].data();
    std::byte* const out = result.MutableBytes().data();
    if (StepMemory* const memory = context.memory()) {
      if (memory->state == nullptr) memory->state = PackColumns(context, *memory, operands);
      const auto& packed = static_cast<const PackedDot&>(*memory->state);
      packed.dot.Run(context.parallel(), lhs, rhs, out, packed.columns);
    } else {
      small_->Run(context.parallel(), lhs, rhs, out);
    }
    ASSAY_RETURN_IF_ERROR(context.Charge(products_));
    return result;
  }

  struct PackedDot final : StepMemory::State {
    PackedDot(Isa isa, const Literal& lhs, const Literal& rhs, ElementType type, const DotBox& box,
              int operand)
        : dot(isa, lhs.shape().element_type(), rhs.shape().element_type(), type, box, operand) {}
    SmallDot dot;
    Literal columns;  // nothing where the other operand has them, or where memory is scarce
  };

  // Of operands that no turn of a loop changes, the larger one's columns are packed once.
  std::unique_ptr<StepMemory::State> PackColumns(EvalContext& context, const StepMemory& memory,
                                                 std::span<const Literal> operands) const {
    const DotArray lhs = ArrayOf(operands[0]), rhs = ArrayOf(operands[1]);
    const DotDims dims =
        DotDimsOf(context.attributes(), operands[0].shape().rank(), operands[1].shape().rank());
    const Shape& result = context.result_shape();
    const bool right = memory.unchanged[1] &&
                       !(memory.unchanged[0] && operands[0].bytes().size() > operands[1].bytes().size());
    const int operand = right ? 1 : 0;
    auto packed =
        std::make_unique<PackedDot>(isa_, operands[0], operands[1], result.element_type(),
                                    WholeDot(dims, lhs, rhs, RowMajorStrides(result.sizes())), operand);
    if (packed->dot.column_operand() != operand) return packed;
    absl::StatusOr<Literal> columns = packed->dot.PackColumns(context, operands[operand].data());
    if (columns.ok()) packed->columns = *std::move(columns);
    return packed;
  }

  // A vector times rows that lie in memory as they are multiplied: packing them would be most of the work.
  static bool IsThin(const DotBox& box) {
    constexpr int64_t kFewest = 256;
    if (std::min(LoopCount(box.rows), LoopCount(box.columns)) > 1) return false;
    LoopDims contracted = MergeLoops(box.contracted[0].loops);
    const LoopDim run = TakeInnermostLoop(contracted);
    return run.size >= kFewest && run.strides[0] == 1 && run.strides[1] == 1;
  }

  template <class T>
  absl::Status MultiplyRows(EvalContext& context, const DotArray& lhs, const DotArray& rhs, const DotBox& box,
                            ElementType type, std::byte* out) const {
    const LoopDims& contracted = box.contracted[0].loops;
    const StridedRows<T> left(*kind_.sums, lhs.type, lhs.data, {box.batch, box.rows, contracted, 0},
                              kind_.complex ? RowForm::kComplexLeft : RowForm::kReal);
    const StridedRows<T> right(*kind_.sums, rhs.type, rhs.data, {box.batch, box.columns, contracted, 1},
                               kind_.complex ? RowForm::kComplexRight : RowForm::kReal);
    return native::Multiply(
        context, kind_, left, right, LoopCount(contracted),
        {out, type, OffsetsOf(box.batch, 2), OffsetsOf(box.rows, 2), OffsetsOf(box.columns, 2)});
  }

  // Whether the elements of a row of the result are neighbours in memory.
  static bool HasNeighbours(const DotBox& box) {
    const LoopDims columns = MergeLoops(box.columns);
    return columns.empty() || (columns.size() == 1 && columns[0].strides[2] == 1);
  }

  absl::StatusOr<bool> MultiplyBf16(EvalContext& context, const DotArray& lhs, const DotArray& rhs,
                                    const DotBox& box, ElementType type, std::byte* out) const {
    const LoopDims& contracted = box.contracted[0].loops;
    const StridedRows<float> left(*kind_.sums, lhs.type, lhs.data, {box.batch, box.rows, contracted, 0}),
        right(*kind_.sums, rhs.type, rhs.data, {box.batch, box.columns, contracted, 1});
    return RunBf16Product(
        context, *bf16_, left, right, LoopCount(contracted),
        {out, type, OffsetsOf(box.batch, 2), OffsetsOf(box.rows, 2), OffsetsOf(box.columns, 2)});
  }

  bool IsWorthDigits(const DotBox& box) const {
    if (digits_ == nullptr || !HasNeighbours(box)) return false;
    return native::IsWorthDigits(LoopCount(box.batch), LoopCount(box.rows), LoopCount(box.columns),
                                 LoopCount(box.contracted[0].loops));
  }

  // False where elements spread too far.
  absl::StatusOr<bool> MultiplyDigits(EvalContext& context, const DotArray& lhs, const DotArray& rhs,
                                      const DotBox& box, ElementType type, std::byte* out) const {
    DigitProduct product;
    product.batch_at = OffsetsOf(box.batch, 2);
    product.row_at = OffsetsOf(box.rows, 2);
    product.batches = static_cast<int64_t>(product.batch_at.size());
    product.rows = static_cast<int64_t>(product.row_at.size());
    product.columns = LoopCount(box.columns);
    product.length = LoopCount(box.contracted[0].loops);
    const LoopDims& contracted = box.contracted[0].loops;
    const StridedRows<float> left(*kind_.sums, lhs.type, lhs.data, {box.batch, box.rows, contracted, 0}),
        right(*kind_.sums, rhs.type, rhs.data, {box.batch, box.columns, contracted, 1});
    product.digits = digits_;
    product.sums = kind_.sums;
    product.lhs = &left;
    product.rhs = &right;
    product.type = type;
    product.result = out;
    const ExactDotElements exact(*kind_.sums, lhs, rhs, box, type);
    return RunDigitProduct(context, product, [&](int64_t b, int64_t i, int64_t j, TierCounts& counts) {
      return exact.Rounded(context.parallel(), b, i, j, counts);
    });
  }

  const ProductKind kind_;
  const Isa isa_;
  std::optional<Algorithm> algorithm_;  // of static sizes
  std::optional<SmallDot> small_;
  int64_t products_ = 0;
  const DigitKernels* digits_ = nullptr;
  const Bf16Kernels* bf16_ = nullptr;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareDot(const StepView& step, Isa isa) {
  ASSAY_ASSIGN_OR_RETURN(const ProductKind kind, ProductKindOf(step.operand_shape(0).element_type(),
                                                               step.operand_shape(1).element_type(),
                                                               step.result_shape().element_type(), isa));
  return std::make_shared<DotKernel>(kind, isa, step);
}

}  // namespace assay::native
