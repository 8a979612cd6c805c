#include "engines/approximate/single_dot.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/parallel.h"
#include "engines/approximate/single_dot_kernels.h"
#include "engines/native/contraction/small_dot_loops.h"
#include "evaluator/eval_context.h"
#include "fmt/format.h"
#include "shape/index.h"

namespace assay::approximate {
namespace {

using native::DotArray;
using native::DotBox;
using native::RowsOf;
using native::SmallDotLoops;
using native::StaticArrayOf;
using native::WholeDot;

constexpr int64_t kMaxProducts = 1 << 24;
constexpr int64_t kWorkOfPart = 1 << 19;  // products worth a task
constexpr ElementType kInPlace[] = {ElementType::kF32};

// Each thread has one of these. What is not touched costs nothing.
struct Buffers {
  alignas(64) float rows[native::kRowElements];
  alignas(64) float packed[native::kSmallDotLongest * kMaxSingleColumns];
  alignas(64) float out[native::kMaxRowsAtOnce * kMaxSingleColumns];
};
Buffers& ThreadBuffers() {
  static thread_local std::unique_ptr<Buffers> buffers(new Buffers);
  return *buffers;
}

class SingleDot final : public Kernel {
 public:
  SingleDot(Isa isa, const DotBox& box, int64_t products)
      : kernels_(SingleDotKernelsOf(isa)),
        loops_(kernels_.lanes, kInPlace, ElementType::kF32, ElementType::kF32, box),
        products_(products) {}

  const Accuracy& accuracy() const override { return SumInF32(); }

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult());
    const auto* const lhs = reinterpret_cast<const float*>(operands[0].data());
    const auto* const rhs = reinterpret_cast<const float*>(operands[1].data());
    auto* const out = reinterpret_cast<float*>(result.MutableBytes().data());
    const auto panels = static_cast<int64_t>(loops_.panels.size());
    const int64_t tasks = panels * static_cast<int64_t>(loops_.batch_at.size());
    context.parallel().For(tasks, kWorkOfPart / (products_ / tasks + 1) + 1, [&](int64_t begin, int64_t end) {
      for (int64_t t = begin; t < end; ++t)
        RunPanel(static_cast<size_t>(t / panels), loops_.panels[static_cast<size_t>(t % panels)],
                 loops_.columns_are_rhs ? lhs : rhs, loops_.columns_are_rhs ? rhs : lhs, out);
    });
    ASSAY_RETURN_IF_ERROR(context.Charge(products_));
    return result;
  }

 private:
  using Side = SmallDotLoops::Side;
  using Panel = SmallDotLoops::Panel;

  void RunPanel(size_t batch, const Panel& panel, const float* row_data, const float* column_data,
                float* out) const {
    Buffers& buffers = ThreadBuffers();
    const Side& side = loops_.column_side;
    const int64_t width = static_cast<int64_t>(panel.vectors) * kernels_.lanes;
    const float* columns =
        column_data + side.layout.batch_at[batch] + side.layout.run_at[0] + side.layout.row_at[panel.first];
    int64_t step = side.layout.run_stride;
    if (!loops_.columns_in_place) {
      Pack(column_data + side.layout.batch_at[batch], panel, width, buffers.packed);
      columns = buffers.packed;
      step = width;
    }
    // Columns that the panel before, perhaps of another thread, stores.
    const Panel* const before = &panel == loops_.panels.data() ? nullptr : &panel - 1;
    const int64_t skip = before == nullptr ? 0 : before->first + before->count - panel.first;
    const int64_t rows = loops_.row_side.rows();
    for (int64_t first = 0; first < rows; first += loops_.rows_at_once) {
      const int64_t count = std::min(loops_.rows_at_once, rows - first);
      const RowsOf<float> taken =
          Rows(row_data + loops_.row_side.layout.batch_at[batch], first, count, buffers.rows);
      float* const result = out + loops_.batch_at[batch];
      if (side.out_step == 1 && loops_.row_side.out_step != 0 && panel.count == width && skip == 0) {
        kernels_.multiply(taken, columns, step, panel.vectors,
                          result + loops_.row_side.out_at[first] + side.out_at[panel.first],
                          loops_.row_side.out_step);
        continue;
      }
      kernels_.multiply(taken, columns, step, panel.vectors, buffers.out, width);
      for (int64_t r = 0; r < count; ++r) {
        float* const row = result + loops_.row_side.out_at[first + r];
        for (int64_t j = skip; j < panel.count; ++j)
          row[side.out_at[panel.first + j]] = buffers.out[r * width + j];
      }
    }
  }

  // The rows, where they lie or copied to `copy`.
  RowsOf<float> Rows(const float* data, int64_t first, int64_t count, float* copy) const {
    const Side& side = loops_.row_side;
    if (side.row_step != 0 && side.has_one_run()) {
      return {count, loops_.length, data + side.layout.run_at[0] + side.layout.row_at[first], side.row_step,
              side.layout.run_stride};
    }
    for (int64_t r = 0; r < count; ++r)
      CopyRow(side, data + side.layout.row_at[first + r], copy + r * loops_.row_step, 1);
    return {count, loops_.length, copy, loops_.row_step, 1};
  }

  // packed[k * width + j], zeros behind the panel's columns.
  void Pack(const float* data, const Panel& panel, int64_t width, float* packed) const {
    if (panel.count < width) std::fill(packed, packed + loops_.length * width, 0.0f);
    for (int64_t j = 0; j < panel.count; ++j)
      CopyRow(loops_.column_side, data + loops_.column_side.layout.row_at[panel.first + j], packed + j,
              width);
  }

  static void CopyRow(const Side& side, const float* row, float* dst, int64_t step) {
    const int64_t size = side.layout.run_size, stride = side.layout.run_stride;
    for (int64_t run : side.layout.run_at) {
      for (int64_t k = 0; k < size; ++k, dst += step) *dst = row[run + k * stride];
    }
  }

  const SingleDotKernels& kernels_;
  const SmallDotLoops loops_;
  const int64_t products_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareSingleDot(const StepView& step, Isa isa,
                                                               int64_t fewest) {
  const Shape &lhs = step.operand_shape(0), &rhs = step.operand_shape(1), &result = step.result_shape();
  for (const Shape* shape : {&lhs, &rhs, &result}) {
    if (shape->element_type() != ElementType::kF32)
      return NotSupported({}, fmt::format("{} by {} to {}", Name(lhs.element_type()),
                                          Name(rhs.element_type()), Name(result.element_type())));
    if (shape->HasDynamic() || shape->HasUnbounded()) return NotSupported({}, "dynamic shapes");
  }
  const DotArray left = StaticArrayOf(lhs), right = StaticArrayOf(rhs);
  const DotDims dims = DotDimsOf(step.instruction.attributes, lhs.rank(), rhs.rank());
  const DotBox box = WholeDot(dims, left, right, RowMajorStrides(result.sizes()));
  constexpr int64_t kMaxOffsets = 1 << 12;  // kept with the plan
  const int64_t terms = LoopCount(box.contracted[0].loops);
  if (!native::IsSmallDot(box, kMaxProducts)) {
    if (terms == 0 || result.num_elements() == 0) return NotSupported({}, "no products");
    if (terms > native::kSmallDotLongest)
      return NotSupported({}, fmt::format("sums of more than {} terms", native::kSmallDotLongest));
    return NotSupported({}, fmt::format("more than {} products", kMaxProducts));
  }
  if (LoopCount(box.batch) + LoopCount(box.rows) + LoopCount(box.columns) > kMaxOffsets)
    return NotSupported({}, fmt::format("more than {} rows, columns and batches", kMaxOffsets));
  const int64_t products = result.num_elements() * terms;
  if (products < fewest) return NotSupported({}, fmt::format("too few products ({} < {})", products, fewest));
  return std::make_shared<SingleDot>(isa, box, products);
}

}  // namespace assay::approximate
