#include "evaluator/fused/kernel.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "evaluator/eval_context.h"
#include "evaluator/parallel.h"

namespace assay::fused {
namespace {

constexpr int64_t kTile = 1024;            // elements; kStrip where there are strip functions
constexpr int64_t kTileBytes = kTile * 8;  // of a buffer
constexpr int64_t kChargeEvery = 1 << 20;  // elements between two charges
constexpr int64_t kGrain = 1 << 14;        // elements that a thread takes at a time

struct alignas(64) Copies {
  std::byte bytes[jit::kMaxLanes * 8];
};

struct alignas(64) Buffer {
  std::byte bytes[kTileBytes];
};

class FusedKernel final : public Kernel {
 public:
  explicit FusedKernel(Program program) : program_(std::move(program)) {
    // A single loop needs no tiles.
    one_loop_ = program_.stages.size() == 1 && std::holds_alternative<LoopStage>(program_.stages[0]);
    for (const auto& stage : program_.stages) {
      if (std::holds_alternative<StripStage>(stage)) tile_ = kStrip;
    }
  }

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    int reused = -1;
    ASSAY_ASSIGN_OR_RETURN(Literal result, TakeResult(context, operands, reused));
    std::byte* const out = result.MutableBytes().data();
    std::vector<const std::byte*> in;
    for (size_t k = 0; k < operands.size(); ++k)
      in.push_back(static_cast<int>(k) == reused ? out : operands[k].data());
    const std::vector<Copies> copies = CopyRepeated(in);

    const int64_t n = result.shape().num_elements();
    for (int64_t begin = 0; begin < n; begin += kChargeEvery) {
      const int64_t count = std::min(kChargeEvery, n - begin);
      for (int64_t i = 0; i < program_.work; ++i) ASSAY_RETURN_IF_ERROR(context.Charge(count));
      context.parallel().For(count, kGrain, [&](int64_t from, int64_t to) {
        RunRange(in, copies, out, begin + from, begin + to);
      });
    }
    return result;
  }

 private:
  // The result in the storage of an operand that nobody else holds, that is as large and that is read at its own
  // positions alone; else fresh.
  absl::StatusOr<Literal> TakeResult(EvalContext& context, std::span<Literal> operands, int& reused) const {
    const Shape& shape = context.result_shape();
    for (size_t k = 0; k < operands.size(); ++k) {
      if (!program_.reads_in_place[k] || !operands[k].IsUnique() ||
          Bytes(operands[k].shape().element_type()) != Bytes(shape.element_type())) {
        continue;
      }
      reused = static_cast<int>(k);
      return std::exchange(operands[k], Literal()).WithShape(context.shared_result_shape());
    }
    return context.NewResult();
  }

  // By slot: what operands of one element look like to loops.
  std::vector<Copies> CopyRepeated(std::span<const std::byte* const> in) const {
    std::vector<Copies> copies(program_.slots.size());
    for (size_t s = 0; s < program_.slots.size(); ++s) {
      const Slot& slot = program_.slots[s];
      if (slot.kind != Slot::Kind::kRepeated) continue;
      const int bytes = Bytes(slot.type);
      for (int64_t i = 0; i < jit::kMaxLanes; ++i)
        std::memcpy(copies[s].bytes + i * bytes, in[slot.index], bytes);
    }
    return copies;
  }

  void RunRange(std::span<const std::byte* const> in, std::span<const Copies> copies, std::byte* out,
                int64_t begin, int64_t end) const {
    std::vector<Buffer> buffers(static_cast<size_t>(program_.num_buffers));
    std::vector<void*> at(program_.slots.size());
    const int64_t step = one_loop_ ? end - begin : tile_;
    for (; begin < end; begin += step) {
      for (size_t s = 0; s < at.size(); ++s) {
        const Slot& slot = program_.slots[s];
        const int64_t offset = begin * Bytes(slot.type);
        switch (slot.kind) {
          case Slot::Kind::kOperand:
            at[s] = const_cast<std::byte*>(in[slot.index]) + offset;  // only read
            break;
          case Slot::Kind::kRepeated:
            at[s] = const_cast<std::byte*>(copies[s].bytes);
            break;
          case Slot::Kind::kBuffer:
            at[s] = buffers[slot.index].bytes;
            break;
          case Slot::Kind::kResult:
            at[s] = out + offset;
            break;
        }
      }
      RunTile(in, at, begin, std::min(step, end - begin));
    }
  }

  // `at` are the slots' addresses in this tile.
  void RunTile(std::span<const std::byte* const> in, std::span<void*> at, int64_t begin, int64_t n) const {
    absl::InlinedVector<void*, 16> table;
    for (const auto& stage : program_.stages) {
      if (const auto* loop = std::get_if<LoopStage>(&stage)) {
        table.clear();
        for (int slot : loop->slots) table.push_back(at[slot]);
        loop->loop.Run(table, n);
      } else if (const auto* strip = std::get_if<StripStage>(&stage)) {
        const void* operands[3] = {};
        for (size_t k = 0; k < strip->operands.size(); ++k) operands[k] = at[strip->operands[k]];
        strip->kernel.fn(strip->kernel.params, n, operands, at[strip->result]);
      } else {
        const auto& source = std::get<SourceStage>(stage);
        const std::byte* const operand = source.operand < 0 ? nullptr : in[source.operand];
        if (const std::byte* const found = source.source.Find(operand, begin, n)) {
          at[source.result] = const_cast<std::byte*>(found);  // only read
        } else {
          source.source.Fill(operand, begin, n, static_cast<std::byte*>(at[source.result]));
        }
      }
    }
  }

  const Program program_;
  bool one_loop_ = false;
  int64_t tile_ = kTile;
};

}  // namespace

std::shared_ptr<const Kernel> MakeKernel(Program program) {
  return std::make_shared<FusedKernel>(std::move(program));
}

}  // namespace assay::fused
