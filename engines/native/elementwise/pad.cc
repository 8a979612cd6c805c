// The result is rows of blocks: blocks are the trailing dimensions that are not padded, rows the dimension
// before them. A row has its blocks from one row of the operand, or is padding alone.
#include "engines/native/elementwise/pad.h"

#include <algorithm>
#include <cstring>

#include "absl/numeric/int128.h"
#include "base/parallel.h"
#include "engines/native/walk/move.h"
#include "evaluator/eval_context.h"
#include "shape/index.h"

namespace assay::native {
namespace {

constexpr int64_t kSegment = 1 << 15;  // elements of a row that a task moves, and worth a task
constexpr int64_t kPaddedAtOnce = 1 << 26;

// Element i < kept of those that stay goes to first + i step < size.
struct PadDimension {
  int64_t size, kept, first, step;
  int64_t stride;  // of the operand, in bytes
};

class PadKernel final : public Kernel {
 public:
  // `dimensions`: the last one is that of rows, of blocks of `block` elements.
  PadKernel(int bytes, int64_t block, int64_t base, std::vector<PadDimension> dimensions)
      : bytes_(bytes), block_(block), base_(base), row_(dimensions.back()), outer_(std::move(dimensions)) {
    outer_.pop_back();
    for (const PadDimension& d : outer_) rows_ *= d.size;
  }

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult());
    if (result.shape().num_elements() == 0) return result;
    std::byte* const out = result.MutableBytes().data();
    const std::byte *const from = operands[0].data() + base_, *const value = operands[1].data();
    const int64_t blocks = std::clamp<int64_t>(kSegment / block_, 1, row_.size);
    const int64_t segments = (row_.size + blocks - 1) / blocks, tasks = rows_ * segments;
    const int64_t elements = blocks * block_, at_once = std::max<int64_t>(kPaddedAtOnce / elements, 1);
    for (int64_t done = 0; done < tasks; done += at_once) {
      const int64_t part = std::min(at_once, tasks - done);
      context.parallel().For(part, kSegment / elements + 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = done + begin; i < done + end; ++i) {
          const int64_t row = i / segments, first = i % segments * blocks;
          PadRow(Source(from, row), value, first, std::min(first + blocks, row_.size),
                 out + (row * row_.size + first) * block_ * bytes_);
        }
      });
      ASSAY_RETURN_IF_ERROR(context.Charge(part * elements));
    }
    return result;
  }

 private:
  // Where the operand's row begins that a row of the result has; null: none.
  const std::byte* Source(const std::byte* from, int64_t row) const {
    for (size_t d = outer_.size(); d-- > 0;) {
      const int64_t at = row % outer_[d].size - outer_[d].first, i = at / outer_[d].step;
      if (at < 0 || i * outer_[d].step != at || i >= outer_[d].kept) return nullptr;
      from += i * outer_[d].stride;
      row /= outer_[d].size;
    }
    return from;
  }

  void Fill(const std::byte* value, int64_t blocks, std::byte*& dst) const {
    if (blocks <= 0) return;
    FillElements(bytes_, value, dst, blocks * block_);
    dst += blocks * block_ * bytes_;
  }

  // Blocks [begin, end) of a row, the first of them to dst.
  void PadRow(const std::byte* from, const std::byte* value, int64_t begin, int64_t end,
              std::byte* dst) const {
    if (from == nullptr || row_.kept == 0) return Fill(value, end - begin, dst);
    const int64_t first = std::clamp(row_.first, begin, end);
    const int64_t last = std::clamp(row_.first + (row_.kept - 1) * row_.step + 1, first, end);
    Fill(value, first - begin, dst);
    Spread(from, value, first - row_.first, last - row_.first, dst);
    dst += (last - first) * block_ * bytes_;
    Fill(value, end - last, dst);
  }

  // Places [begin, end) of those that the blocks of the operand have, and the padding between them.
  void Spread(const std::byte* from, const std::byte* value, int64_t begin, int64_t end,
              std::byte* dst) const {
    const int64_t bytes = block_ * bytes_;
    if (row_.step == 1) {
      std::memcpy(dst, from + begin * bytes, static_cast<size_t>((end - begin) * bytes));
      return;
    }
    int64_t i = (begin + row_.step - 1) / row_.step;
    if (row_.step == 2 && block_ == 1) {
      if (begin % 2 != 0 && begin < end) {
        std::memcpy(dst, value, static_cast<size_t>(bytes));
        ++begin, dst += bytes;
      }
      const int64_t pairs = (end - begin) / 2;
      InterleaveElements(bytes_, from + i * bytes, value, pairs, dst);
      if ((end - begin) % 2 != 0)
        std::memcpy(dst + 2 * pairs * bytes, from + (i + pairs) * bytes, static_cast<size_t>(bytes));
      return;
    }
    FillElements(bytes_, value, dst, (end - begin) * block_);
    for (; i * row_.step < end; ++i)
      std::memcpy(dst + (i * row_.step - begin) * bytes, from + i * bytes, static_cast<size_t>(bytes));
  }

  const int bytes_;
  const int64_t block_, base_;
  const PadDimension row_;
  std::vector<PadDimension> outer_;
  int64_t rows_ = 1;
};

// Padding may be any int64, of either sign, where there are few elements.
PadDimension MakeDimension(const PaddingConfig::value_type& padding, int64_t from, int64_t to, int64_t stride,
                           int64_t& base) {
  const absl::int128 step = absl::int128{padding.interior} + 1, low = padding.low, last = to - 1 - low;
  const absl::int128 first = low < 0 ? (-low + step - 1) / step : 0;
  const absl::int128 end = last < 0 ? 0 : std::min(absl::int128{from}, last / step + 1);
  if (end <= first) return {to, 0, 0, 1, stride};
  base += static_cast<int64_t>(first) * stride;
  const bool one = end - first == 1;
  return {to, static_cast<int64_t>(end - first), static_cast<int64_t>(low + first * step),
          one ? 1 : static_cast<int64_t>(step), stride};
}

}  // namespace

std::shared_ptr<const Kernel> MakePad(const StepView& step) {
  const Shape &from = step.operand_shape(0), &to = step.result_shape();
  const auto& padding = std::get<PaddingConfig>(*step.instruction.attributes.Find(Attr::kPadding));
  const int bytes = Bytes(to.element_type());
  const DimVector strides = RowMajorStrides(from.sizes());
  int64_t base = 0, block = 1;
  std::vector<PadDimension> dimensions;
  for (int64_t d = 0; d < to.rank(); ++d)
    dimensions.push_back(MakeDimension(padding[d], from.size(d), to.size(d), strides[d] * bytes, base));
  if (dimensions.empty()) dimensions.push_back({1, 1, 0, 1, bytes});
  const auto is_whole = [&](const PadDimension& row, size_t d) {
    return row.kept == row.size && row.size == from.size(static_cast<int64_t>(d));
  };
  while (dimensions.size() > 1 && is_whole(dimensions.back(), dimensions.size() - 1)) {
    block *= dimensions.back().size;
    dimensions.pop_back();
  }
  return std::make_shared<PadKernel>(bytes, block, base, std::move(dimensions));
}

}  // namespace assay::native
