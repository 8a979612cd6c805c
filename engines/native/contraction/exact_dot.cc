// Rows of lhs and columns of rhs are gathered into panels, block by block, and every pair of them is one
// exact sum of products.
#include "engines/native/contraction/exact_dot.h"

#include <algorithm>

#include "engines/native/contraction/product_panels.h"

namespace assay::native {
namespace {

constexpr int64_t kPanelSlots = 1 << 20;  // of a block of rows: 8 MiB of doubles
constexpr int64_t kMaxBlock = 4096;       // rows in a block
constexpr int64_t kStreamed = 1 << 12;    // slots at a time where even one row is too long to gather

class DotRunner {
 public:
  DotRunner(const Contraction& contraction, const DotArray& lhs, const DotArray& rhs, const DotBox& box,
            std::byte* result, Meter& meter)
      : lhs_(lhs),
        rhs_(rhs),
        box_(box),
        result_(result),
        result_bytes_(Bytes(contraction.result_type())),
        meter_(meter),
        rows_(MergeLoops(box.rows)),
        columns_(MergeLoops(box.columns)),
        row_panel_(contraction, Side::kLhs),
        column_panel_(contraction, Side::kRhs),
        sum_(contraction) {
    for (const DotBox::Contracted& part : box.contracted) {
      Part merged{part.lhs_base, part.rhs_base, MergeLoops(part.loops), {}};
      length_ += LoopCount(merged.outer);
      merged.inner = TakeInnermostLoop(merged.outer);
      parts_.push_back(std::move(merged));
    }
  }

  absl::Status Run() {
    if (LoopCount(rows_) == 0 || LoopCount(columns_) == 0) return absl::OkStatus();
    for (LoopNest b(box_.batch); !b.done(); b.Next()) {
      lhs_base_ = box_.lhs_base + b.offset(0);
      rhs_base_ = box_.rhs_base + b.offset(1);
      result_base_ = box_.result_base + b.offset(2);
      ASSAY_RETURN_IF_ERROR(length_ > kPanelSlots ? Stream() : Blocks());
    }
    return absl::OkStatus();
  }

 private:
  struct Part {
    int64_t lhs_base, rhs_base;
    LoopDims outer;
    LoopDim inner;
  };
  // Rows (or columns) of one block: where each starts in its operand and in the result.
  struct Block {
    std::vector<int64_t> operand, result;
    int64_t size() const { return static_cast<int64_t>(operand.size()); }
  };

  void TakeBlock(LoopNest& loop, int operand, Block& block) const {
    const int64_t most = std::clamp<int64_t>(kPanelSlots / std::max<int64_t>(length_, 1), 1, kMaxBlock);
    block.operand.clear();
    block.result.clear();
    for (; !loop.done() && block.size() < most; loop.Next()) {
      block.operand.push_back(loop.offset(operand));
      block.result.push_back(loop.offset(2));
    }
  }

  // Slots [at, at + length_) = the contracted elements of the row (operand 0) or column (1) at `base`.
  void Gather(Panel& panel, int64_t at, int operand, int64_t base) const {
    const DotArray& array = operand == 0 ? lhs_ : rhs_;
    const int64_t bytes = Bytes(array.type);
    for (const Part& part : parts_) {
      const int64_t start = base + (operand == 0 ? part.lhs_base : part.rhs_base);
      for (LoopNest k(part.outer); !k.done(); k.Next()) {
        panel.Load(at, array.data + (start + k.offset(operand)) * bytes, part.inner.strides[operand] * bytes,
                   part.inner.size);
        at += part.inner.size;
      }
    }
  }

  void GatherBlock(Panel& panel, int operand, int64_t base, const Block& block) const {
    panel.Resize(block.size() * length_);
    for (int64_t i = 0; i < block.size(); ++i) Gather(panel, i * length_, operand, base + block.operand[i]);
  }

  absl::Status Blocks() {
    for (LoopNest m(rows_); !m.done();) {
      TakeBlock(m, 0, row_block_);
      GatherBlock(row_panel_, 0, lhs_base_, row_block_);
      ASSAY_RETURN_IF_ERROR(meter_.Add(row_block_.size() * length_));
      for (LoopNest n(columns_); !n.done();) {
        TakeBlock(n, 1, column_block_);
        GatherBlock(column_panel_, 1, rhs_base_, column_block_);
        ASSAY_RETURN_IF_ERROR(meter_.Add(column_block_.size() * length_));
        ASSAY_RETURN_IF_ERROR(MultiplyBlocks());
      }
    }
    return absl::OkStatus();
  }

  absl::Status MultiplyBlocks() {
    for (int64_t i = 0; i < row_block_.size(); ++i) {
      for (int64_t j = 0; j < column_block_.size(); ++j) {
        sum_.Clear();
        sum_.Add(row_panel_, i * length_, column_panel_, j * length_, length_);
        sum_.Store(result_ + (result_base_ + row_block_.result[i] + column_block_.result[j]) * result_bytes_);
        ASSAY_RETURN_IF_ERROR(meter_.Add(length_ + 1));
      }
    }
    return absl::OkStatus();
  }

  // Very long contractions: each result element gathers its operands piece by piece.
  absl::Status Stream() {
    row_panel_.Resize(kStreamed);
    column_panel_.Resize(kStreamed);
    for (LoopNest m(rows_); !m.done(); m.Next()) {
      for (LoopNest n(columns_); !n.done(); n.Next()) {
        sum_.Clear();
        for (const Part& part : parts_) {
          ASSAY_RETURN_IF_ERROR(StreamPart(part, lhs_base_ + m.offset(0) + part.lhs_base,
                                           rhs_base_ + n.offset(1) + part.rhs_base));
        }
        sum_.Store(result_ + (result_base_ + m.offset(2) + n.offset(2)) * result_bytes_);
      }
    }
    return absl::OkStatus();
  }

  absl::Status StreamPart(const Part& part, int64_t lhs_base, int64_t rhs_base) {
    const int64_t lhs_bytes = Bytes(lhs_.type), rhs_bytes = Bytes(rhs_.type);
    const auto [lhs_stride, rhs_stride, unused] = part.inner.strides;
    for (LoopNest k(part.outer); !k.done(); k.Next()) {
      const std::byte* const a = lhs_.data + (lhs_base + k.offset(0)) * lhs_bytes;
      const std::byte* const b = rhs_.data + (rhs_base + k.offset(1)) * rhs_bytes;
      for (int64_t done = 0; done < part.inner.size; done += kStreamed) {
        const int64_t count = std::min(kStreamed, part.inner.size - done);
        row_panel_.Load(0, a + done * lhs_stride * lhs_bytes, lhs_stride * lhs_bytes, count);
        column_panel_.Load(0, b + done * rhs_stride * rhs_bytes, rhs_stride * rhs_bytes, count);
        sum_.Add(row_panel_, 0, column_panel_, 0, count);
        ASSAY_RETURN_IF_ERROR(meter_.Add(count));
      }
    }
    return absl::OkStatus();
  }

  const DotArray& lhs_;
  const DotArray& rhs_;
  const DotBox& box_;
  std::byte* const result_;
  const int64_t result_bytes_;
  Meter& meter_;
  const LoopDims rows_, columns_;
  std::vector<Part> parts_;
  int64_t length_ = 0;  // of the contraction
  int64_t lhs_base_ = 0, rhs_base_ = 0, result_base_ = 0;
  Panel row_panel_, column_panel_;
  Block row_block_, column_block_;
  PanelSum sum_;
};

}  // namespace

absl::Status RunExactDot(const DotArray& lhs, const DotArray& rhs, const DotBox& box, ElementType type,
                         std::byte* result, Meter& meter) {
  const Contraction contraction(lhs.type, rhs.type, type);
  return DotRunner(contraction, lhs, rhs, box, result, meter).Run();
}

}  // namespace assay::native
