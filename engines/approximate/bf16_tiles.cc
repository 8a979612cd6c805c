#include "engines/approximate/bf16_tiles.h"

#include <array>

#include "engines/approximate/pair_panels.h"
#include "engines/native/contraction/dot_box.h"
#include "engines/native/contraction/integer_product.h"
#include "fmt/format.h"
#include "shape/index.h"

namespace assay::approximate {
namespace {

using native::ArrayOf;
using native::DotArray;
using native::DotBox;
using native::LoopDims;
using native::PanelSide;
using native::StaticArrayOf;
using native::WholeDot;

constexpr int64_t kFewest = 1 << 20;  // products
// Longer rows are summed exactly, one after the other.
constexpr int64_t kLongest = 1 << 16;

class Bf16Dot final : public Kernel {
 public:
  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    const DotArray lhs = ArrayOf(operands[0]), rhs = ArrayOf(operands[1]);
    const DotDims dims =
        DotDimsOf(context.attributes(), operands[0].shape().rank(), operands[1].shape().rank());
    ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult());
    const DotBox box = WholeDot(dims, lhs, rhs, RowMajorStrides(result.shape().sizes()));
    const LoopDims& contracted = box.contracted[0].loops;
    const native::IntegerKernel& kernel = native::PairTiles();
    const PairPanels left(kernel, PanelSide::kLeft, lhs.data, {box.batch, box.rows, contracted, 0});
    const PairPanels right(kernel, PanelSide::kRight, rhs.data, {box.batch, box.columns, contracted, 1});
    native::IntegerProduct product;
    product.batch_at = native::OffsetsOf(box.batch, 2);
    product.row_at = native::OffsetsOf(box.rows, 2);
    product.column_at = native::OffsetsOf(box.columns, 2);
    product.batches = static_cast<int64_t>(product.batch_at.size());
    product.rows = static_cast<int64_t>(product.row_at.size());
    product.columns = static_cast<int64_t>(product.column_at.size());
    product.length = LoopCount(contracted);
    product.lhs = &left;
    product.rhs = &right;
    product.type = ElementType::kU32;  // the bits of f32, moved as they are
    product.result = result.MutableBytes().data();
    ASSAY_RETURN_IF_ERROR(native::RunIntegerProduct(context, kernel, product));
    return result;
  }
  const Accuracy& accuracy() const override { return SumInF32WithoutSubnormals(); }
};

int64_t RoundUp(int64_t a, int64_t unit) { return (a + unit - 1) / unit * unit; }

class Bf16 final : public Engine {
 public:
  Bf16(Isa isa, int64_t fewest) : isa_(isa), fewest_(fewest) {}
  std::string_view name() const override { return "bf16-tiles"; }
  bool MayTake(Opcode opcode) const override {
    return opcode == Opcode::kDot && isa_ == Isa::kAvx512 && native::HasPairTiles();
  }

  absl::StatusOr<std::shared_ptr<const Kernel>> Prepare(const FusionView& fusion) const override {
    ASSAY_ASSIGN_OR_RETURN(const StepView step, SingleInstruction(fusion));
    if (step.instruction.opcode != Opcode::kDot) return NotSupported({}, "takes only dot");
    if (isa_ != Isa::kAvx512 || !native::HasPairTiles())
      return NotSupported({}, "no matrix registers for bf16");
    const Shape *const operands[] = {&step.operand_shape(0), &step.operand_shape(1)},
                       &result = step.result_shape();
    for (const Shape* shape : {operands[0], operands[1], &result}) {
      if (shape->HasDynamic() || shape->HasUnbounded()) return NotSupported({}, "dynamic shapes");
    }
    const ElementType lhs = operands[0]->element_type(), rhs = operands[1]->element_type();
    if (lhs != ElementType::kBF16 || rhs != lhs || result.element_type() != ElementType::kF32)
      return NotSupported({},
                          fmt::format("{} by {} to {}", Name(lhs), Name(rhs), Name(result.element_type())));
    const DotBox box =
        WholeDot(DotDimsOf(step.instruction.attributes, operands[0]->rank(), operands[1]->rank()),
                 StaticArrayOf(*operands[0]), StaticArrayOf(*operands[1]), RowMajorStrides(result.sizes()));
    ASSAY_RETURN_IF_ERROR(CheckSize(LoopCount(box.batch), LoopCount(box.rows), LoopCount(box.columns),
                                    LoopCount(box.contracted[0].loops)));
    return std::make_shared<Bf16Dot>();
  }

 private:
  absl::Status CheckSize(int64_t batches, int64_t rows, int64_t columns, int64_t length) const {
    if (length > kLongest) return NotSupported({}, fmt::format("sums of more than {} terms", kLongest));
    const auto of_sizes = [&](int64_t m, int64_t n, int64_t k) {
      return static_cast<double>(batches) * static_cast<double>(m) * static_cast<double>(n) *
             static_cast<double>(k);
    };
    const double products = of_sizes(rows, columns, length);
    if (products < static_cast<double>(fewest_))
      return NotSupported({}, fmt::format("too few products ({} < {})", products, fewest_));
    const native::IntegerKernel& kernel = native::PairTiles();
    const double padded = of_sizes(RoundUp(rows, kernel.tile_rows), RoundUp(columns, kernel.tile_columns),
                                   RoundUp(length, kernel.depth));
    if (fewest_ > 1 && padded > 2 * products) return NotSupported({}, "panels less than half full");
    return absl::OkStatus();
  }

  const Isa isa_;
  const int64_t fewest_;
};

using Engines = std::array<Bf16, 3>;

Engines MakeEngines(int64_t fewest) {
  return {Bf16(Isa::kBaseline, fewest), Bf16(Isa::kAvx2, fewest), Bf16(Isa::kAvx512, fewest)};
}

}  // namespace

const Engine& Bf16TilesEngine(Isa isa) {
  static const Engines engines = MakeEngines(kFewest);
  return engines[static_cast<size_t>(isa)];
}

const Engine& EagerBf16TilesEngine(Isa isa) {
  static const Engines engines = MakeEngines(1);
  return engines[static_cast<size_t>(isa)];
}

}  // namespace assay::approximate
