#include "engines/jit/kernel.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include "base/parallel.h"
#include "evaluator/eval_context.h"

namespace assay::jit {
namespace {

constexpr int64_t kTile = 1024;            // elements; kStrip where there are functions over loaded ones
constexpr int64_t kStackBytes = 1 << 13;   // of buffers that small steps need no heap for
constexpr int64_t kChargeEvery = 1 << 22;  // elements between two charges
constexpr int64_t kGrain = 1 << 14;        // elements that a thread takes at a time
// Of functions over loaded elements: the reference's, to which they leave the hardest,
// take tens of microseconds.
constexpr int64_t kGrainOfStrips = 1 << 12;
// Loops and functions over stored elements are done with so many before another thread is awake.
constexpr int64_t kAlone = 1 << 15;

struct alignas(64) Copies {
  std::byte bytes[jit::kMaxLanes * 8];
};

struct alignas(64) Line {
  std::byte bytes[64];
};
using CopiesBySlot = absl::InlinedVector<Copies, 8>;

template <class T>
void Repeat(const std::byte* element, std::byte* to) {
  for (int64_t i = 0; i < jit::kMaxLanes; ++i) std::memcpy(to + i * sizeof(T), element, sizeof(T));
}

void RepeatElement(ElementType type, const std::byte* element, std::byte* to) {
  switch (Bytes(type)) {
    case 1:
      return Repeat<uint8_t>(element, to);
    case 2:
      return Repeat<uint16_t>(element, to);
    case 4:
      return Repeat<uint32_t>(element, to);
    default:
      return Repeat<uint64_t>(element, to);
  }
}

class FusedKernel final : public Kernel {
 public:
  explicit FusedKernel(Stages stages) : stages_(std::move(stages)) {
    for (const Slot& slot : stages_.slots) {
      if (slot.kind == Slot::Kind::kResult) result_bytes_ = Bytes(slot.type);
    }
    for (const std::shared_ptr<const Literal>& constant : stages_.constants)
      RepeatElement(constant->shape().element_type(), constant->data(), constants_.emplace_back().bytes);
    bool loops = false;
    for (const auto& stage : stages_.stages) {
      const auto* const strip = std::get_if<StripStage>(&stage);
      if (strip != nullptr && strip->stored == nullptr) tile_ = kStrip;
      loops = loops || std::holds_alternative<LoopStage>(stage);
    }
    // A single loop, or a single function over stored elements, needs no tiles.
    one_stage_ = stages_.stages.size() == 1 && (loops || tile_ == kTile);
  }

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    int reused = -1;
    ASSAY_ASSIGN_OR_RETURN(Literal result, TakeResult(context, operands, reused));
    std::byte* const out = result.MutableBytes().data();
    absl::InlinedVector<const std::byte*, 12> in;
    for (size_t k = 0; k < operands.size(); ++k)
      in.push_back(static_cast<int>(k) == reused ? out : operands[k].data());
    const CopiesBySlot copies = CopyRepeated(in);

    const int64_t n = result.shape().num_elements();
    for (int64_t begin = 0; begin < n; begin += kChargeEvery) {
      const int64_t count = std::min(kChargeEvery, n - begin);
      ASSAY_RETURN_IF_ERROR(context.Charge(count * stages_.work));
      const int64_t grain = tile_ != kTile ? kGrainOfStrips : n <= kAlone ? kAlone : kGrain;
      context.parallel().For(count, grain, [&](int64_t from, int64_t to) {
        RunRange(in, copies, out, reused < 0, begin + from, begin + to);
      });
    }
    return result;
  }

  const Accuracy& accuracy() const override {
    return stages_.approximations.empty() ? BitExact() : ByMembers();
  }
  Approximation ApproximationOf(const Instruction& member) const override {
    const auto found = stages_.approximations.find(&member);
    return found == stages_.approximations.end() ? Approximation{} : found->second;
  }

 private:
  // The result in the storage of an operand that nobody else holds, that is as large and that is read at its
  // own positions alone; else fresh.
  absl::StatusOr<Literal> TakeResult(EvalContext& context, std::span<Literal> operands, int& reused) const {
    const Shape& shape = context.result_shape();
    for (size_t k = 0; k < operands.size(); ++k) {
      if (!stages_.reads_in_place[k] || !operands[k].IsUnique() ||
          Bytes(operands[k].shape().element_type()) != Bytes(shape.element_type())) {
        continue;
      }
      reused = static_cast<int>(k);
      return std::exchange(operands[k], Literal()).WithShape(context.shared_result_shape());
    }
    return context.NewResult();
  }

  // What operands of one element look like to loops, in the order of their slots.
  CopiesBySlot CopyRepeated(std::span<const std::byte* const> in) const {
    CopiesBySlot copies;
    for (const Slot& slot : stages_.slots) {
      if (slot.kind != Slot::Kind::kRepeated) continue;
      RepeatElement(slot.type, in[slot.index], copies.emplace_back().bytes);
    }
    return copies;
  }

  // `fresh`: no operand lies where the result does, so that its lines need not be in a cache.
  void RunRange(std::span<const std::byte* const> in, std::span<const Copies> copies, std::byte* out,
                bool fresh, int64_t begin, int64_t end) const {
    const int64_t step = one_stage_ ? end - begin : tile_;
    const int64_t lines =
        (std::min(step, end - begin) * 8 + 63) / 64 + 1;  // of a buffer, kMaxLanes elements at least
    std::array<Line, kStackBytes / 64> few;
    std::unique_ptr<Line[]> many;
    Line* buffers = few.data();
    if (lines * stages_.num_buffers > std::ssize(few)) {
      many.reset(new Line[static_cast<size_t>(lines * stages_.num_buffers)]);  // not cleared
      buffers = many.get();
    }
    absl::InlinedVector<void*, 24> at(stages_.slots.size());
    int64_t n;
    for (; begin < end; begin += n) {
      n = TileLength(begin, end);
      size_t repeated = 0;
      for (size_t s = 0; s < at.size(); ++s) {
        const Slot& slot = stages_.slots[s];
        const int64_t offset = begin * Bytes(slot.type);
        switch (slot.kind) {
          case Slot::Kind::kOperand:
            at[s] = const_cast<std::byte*>(in[slot.index]) + offset;  // only read
            break;
          case Slot::Kind::kRepeated:
            at[s] = const_cast<std::byte*>(copies[repeated++].bytes);
            break;
          case Slot::Kind::kConstant:
            at[s] = const_cast<std::byte*>(constants_[static_cast<size_t>(slot.index)].bytes);
            break;
          case Slot::Kind::kBuffer:
          case Slot::Kind::kRun:
            at[s] = buffers[slot.index * lines].bytes;
            break;
          case Slot::Kind::kResult:
            at[s] = out + offset;
            break;
        }
      }
      const auto address = reinterpret_cast<uintptr_t>(out + begin * result_bytes_);
      RunTile(in, {at.data(), at.size()}, stages_.streams && fresh && address % 64 == 0, begin, n);
    }
    if (stages_.streams) jit::StreamFence();
  }

  int64_t TileLength(int64_t begin, int64_t end) const {
    if (one_stage_) return end - begin;
    int64_t n = std::min(tile_, end - begin);
    for (const int64_t run : stages_.runs) n = std::min(n, run - begin % run);
    return n;
  }

  // `at` are the slots' addresses in this tile.
  void RunTile(std::span<const std::byte* const> in, std::span<void*> at, bool streams, int64_t begin,
               int64_t n) const {
    absl::InlinedVector<void*, 16> table;
    for (const auto& stage : stages_.stages) {
      if (const auto* loop = std::get_if<LoopStage>(&stage)) {
        table.clear();
        for (int slot : loop->slots) table.push_back(at[slot]);
        (streams && loop->streaming ? *loop->streaming : loop->loop).Run(table, n);
      } else if (const auto* strip = std::get_if<StripStage>(&stage)) {
        RunStrip(*strip, at, streams, n);
      } else {
        const auto& source = std::get<SourceStage>(stage);
        const std::byte* const operand = source.operand < 0 ? nullptr : in[source.operand];
        if (stages_.slots[source.result].kind == Slot::Kind::kRun) {
          source.source.FillRun(operand, begin, jit::kMaxLanes, static_cast<std::byte*>(at[source.result]));
        } else if (const std::byte* const found = source.source.Find(operand, begin, n)) {
          at[source.result] = const_cast<std::byte*>(found);  // only read
        } else {
          source.source.Fill(operand, begin, n, static_cast<std::byte*>(at[source.result]));
        }
      }
    }
  }

  static void RunStrip(const StripStage& strip, std::span<void* const> at, bool streams, int64_t n) {
    if (strip.stored != nullptr) {
      const std::byte* const operand = static_cast<const std::byte*>(at[strip.operands[0]]);
      const ElementwiseFn fn = streams && strip.streaming != nullptr ? strip.streaming : strip.stored;
      return fn(n, &operand, static_cast<std::byte*>(at[strip.result]));
    }
    const void* operands[3] = {};
    for (size_t k = 0; k < strip.operands.size(); ++k) operands[k] = at[strip.operands[k]];
    strip.kernel.fn(strip.kernel.params, n, operands, at[strip.result]);
  }

  const Stages stages_;
  std::vector<Copies> constants_;  // of the stages
  bool one_stage_ = false;
  int result_bytes_ = 0;  // of an element
  int64_t tile_ = kTile;
};

}  // namespace

std::shared_ptr<const Kernel> MakeKernel(Stages stages) {
  return std::make_shared<FusedKernel>(std::move(stages));
}

}  // namespace assay::jit
