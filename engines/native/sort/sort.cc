// The operands are first moved together where the sorted dimension is not the last one or not all elements
// are live, so that every line is a run of neighbouring elements.
#include "engines/native/sort/sort.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>

#include "base/checked.h"
#include "base/parallel.h"
#include "engines/codegen/scalar_code.h"
#include "engines/native/sort/line_sorter.h"
#include "engines/native/sort/merge_lines.h"
#include "engines/native/walk/loops.h"
#include "engines/native/walk/move.h"
#include "evaluator/eval_context.h"
#include "evaluator/ops/indexing/sort_results.h"
#include "evaluator/registry.h"
#include "evaluator/scalar_function.h"
#include "fmt/format.h"

namespace assay::native {
namespace {

constexpr int64_t kLongLine = 1 << 16;         // sorted on its own, with memory that is counted
constexpr int64_t kElementsOfPart = 1 << 14;   // worth a task
constexpr int64_t kElementsOfRound = 1 << 22;  // between two charges
constexpr int64_t kElementsOfMovePart = 1 << 15;
constexpr int64_t kWorthCode = 128;  // elements that take the reference as long as making code

// The live elements of arrays of one shape, line by line.
struct Lines {
  Lines(const Literal& operand, int64_t along) : full(operand.IsFullSize()) {
    const DimVector live = operand.runtime_sizes(), array = StridesOf(operand);
    length = live[along];
    for (int64_t d = 0; d < operand.shape().rank(); ++d) {
      if (d == along) continue;
      sizes.push_back(live[d]);
      strides.push_back(array[d]);
    }
    sizes.push_back(length);
    strides.push_back(array[along]);
    total = CheckedProduct(sizes).value_or(0);
    together = full && along == operand.shape().rank() - 1;
    packed = total > 0 ? RowMajorStrides({sizes.data(), sizes.size()}) : DimVector(sizes.size(), 0);
  }
  bool full, together = false;
  int64_t length = 0, total = 0;
  DimVector sizes, strides, packed;  // the sorted dimension last; of the arrays; of lines together
};

absl::StatusOr<Literal> Scratch(EvalContext& context, ElementType type, int64_t n) {
  ASSAY_ASSIGN_OR_RETURN(Shape shape, Shape::Array(type, {&n, 1}));
  return context.NewLiteral(std::make_shared<const Shape>(std::move(shape)));
}

template <int kBytes>
void PermuteOf(const std::byte* from, std::span<const uint32_t> order, std::byte* to) {
  for (size_t j = 0; j < order.size(); ++j)
    std::memcpy(to + j * kBytes, from + order[j] * size_t{kBytes}, kBytes);
}
void Permute(int64_t bytes, const std::byte* from, std::span<const uint32_t> order, std::byte* to) {
  switch (bytes) {
    case 1:
      return PermuteOf<1>(from, order, to);
    case 2:
      return PermuteOf<2>(from, order, to);
    case 4:
      return PermuteOf<4>(from, order, to);
    case 8:
      return PermuteOf<8>(from, order, to);
    default:
      return PermuteOf<16>(from, order, to);
  }
}

// One run of a sort: lines lie together in `from` and `to`, one entry an operand.
class SortRun {
 public:
  // `comparator` is null where there is no code for it.
  SortRun(EvalContext& context, Isa isa, const Lines& lines, const SortOrder& order,
          std::span<const KeyEncoder> encoders, const codegen::ScalarCode* comparator)
      : context_(context),
        isa_(isa),
        lines_(lines),
        order_(order),
        encoders_(encoders),
        comparator_(comparator) {}

  // False where the comparator is no order on these elements, and there is no code for it;
  // the results are then nothing.
  absl::StatusOr<bool> Run(std::span<const Literal> operands, std::span<Literal> results) {
    for (size_t k = 0; k < operands.size(); ++k) ASSAY_RETURN_IF_ERROR(Gather(operands[k], results[k]));
    ASSAY_ASSIGN_OR_RETURN(const bool sorted, SortByKeys());
    if (!sorted) {
      if (comparator_ == nullptr) return false;
      ASSAY_RETURN_IF_ERROR(SortByMerging());
    }
    if (lines_.together) return true;
    for (size_t k = 0; k < results.size(); ++k) {
      const StridedMove move(static_cast<int>(bytes_[k]), lines_.sizes, lines_.packed, lines_.strides);
      move.Run(to_[k], results[k].MutableBytes().data());
    }
    return true;
  }

 private:
  absl::StatusOr<bool> SortByKeys() {
    if (encoders_.empty()) return false;
    ASSAY_ASSIGN_OR_RETURN(const bool made, MakeKeys());
    if (!made) return false;
    alone_ =
        from_.size() == 1 && keys_.size() == 1 && order_.keys[0].operand == 0 && encoders_[0].CanDecode();
    ASSAY_RETURN_IF_ERROR(lines_.length >= kLongLine ? SortLongLines() : SortShortLines());
    return ordered_.load();
  }

  absl::Status SortByMerging() {
    ASSAY_ASSIGN_OR_RETURN(Literal memory, Scratch(context_, ElementType::kU32, 2 * lines_.total));
    const std::span<uint32_t> all(reinterpret_cast<uint32_t*>(memory.MutableBytes().data()),
                                  static_cast<size_t>(2 * lines_.total));
    const std::span<uint32_t> order = all.first(static_cast<size_t>(lines_.total));
    ASSAY_RETURN_IF_ERROR(MergeLines(context_, *comparator_, {from_, bytes_}, lines_.length, order,
                                     all.last(static_cast<size_t>(lines_.total))));
    context_.parallel().For(
        lines_.total / lines_.length, kElementsOfMovePart / lines_.length + 1,
        [&](int64_t begin, int64_t end) {
          for (int64_t at = begin * lines_.length; at < end * lines_.length; at += lines_.length)
            PermuteLine(at, order.subspan(static_cast<size_t>(at), static_cast<size_t>(lines_.length)), 0,
                        lines_.length);
        });
    return context_.Charge(lines_.total);
  }

  // Elements [begin, end) of the sorted line at `at`.
  void PermuteLine(int64_t at, std::span<const uint32_t> order, int64_t begin, int64_t end) const {
    const auto part = order.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
    for (size_t k = 0; k < from_.size(); ++k)
      Permute(bytes_[k], from_[k] + at * bytes_[k], part, to_[k] + (at + begin) * bytes_[k]);
  }

  absl::Status Gather(const Literal& operand, Literal& result) {
    const int64_t bytes = Bytes(operand.shape().element_type());
    bytes_.push_back(bytes);
    if (lines_.together) {
      from_.push_back(operand.data());
      to_.push_back(result.MutableBytes().data());
      return absl::OkStatus();
    }
    for (int i = 0; i < 2; ++i) {
      ASSAY_ASSIGN_OR_RETURN(Literal scratch,
                             Scratch(context_, operand.shape().element_type(), lines_.total));
      scratch_.push_back(std::move(scratch));
    }
    std::byte* const together = scratch_[scratch_.size() - 2].MutableBytes().data();
    StridedMove(static_cast<int>(bytes), lines_.sizes, lines_.strides, lines_.packed)
        .Run(operand.data(), together);
    from_.push_back(together);
    to_.push_back(scratch_.back().MutableBytes().data());
    return context_.Charge(lines_.total);
  }

  // The keys that are values of the comparator's instructions are computed for all elements.
  absl::StatusOr<bool> MakeKeys() {
    std::vector<int32_t> values;
    for (const OrderKey& key : order_.keys) {
      if (key.operand < 0) values.push_back(key.value);
    }
    std::vector<std::byte*> computed;
    if (!values.empty()) {
      ASSAY_ASSIGN_OR_RETURN(const bool done, Compute(values, computed));
      if (!done) return false;
    }
    size_t next = 0;
    for (size_t i = 0; i < order_.keys.size(); ++i) {
      const OrderKey& key = order_.keys[i];
      keys_.push_back(
          {.encoder = &encoders_[i],
           .elements = key.operand < 0 ? computed[next++] : from_[static_cast<size_t>(key.operand)],
           .bytes = Bytes(key.type)});
    }
    return true;
  }

  // False where the values can't be compiled.
  absl::StatusOr<bool> Compute(std::span<const int32_t> values, std::vector<std::byte*>& computed) {
    const ComputationId comparator = *context_.attributes().Computation(Attr::kToApply);
    const std::unique_ptr<ScalarFunction> function =
        ScalarFunction::MakePart(context_.run(), context_.module(), comparator, values);
    if (function == nullptr) return false;
    std::vector<const std::byte*> in;
    std::vector<int64_t> in_strides, out_strides;
    for (size_t k = 0; k < from_.size(); ++k) {
      in.insert(in.end(), 2, from_[k]);
      in_strides.insert(in_strides.end(), 2, bytes_[k]);
    }
    for (size_t i = 0; i < values.size(); ++i) {
      const ElementType type = function->output_type(static_cast<int64_t>(i));
      ASSAY_ASSIGN_OR_RETURN(Literal key, Scratch(context_, type, lines_.total));
      scratch_.push_back(std::move(key));
      computed.push_back(scratch_.back().MutableBytes().data());
      out_strides.push_back(Bytes(type));
    }
    ASSAY_RETURN_IF_ERROR(function->Run(lines_.total, in, in_strides, computed, out_strides));
    return true;
  }

  void SortLine(LineSorter& sorter, int64_t at) {
    if (alone_) {
      if (!sorter.Sort(at, to_[0] + at * bytes_[0])) ordered_ = false;
      return;
    }
    const std::span<const uint32_t> order = sorter.Order(at);
    if (order.empty()) {
      ordered_ = false;
      return;
    }
    if (lines_.length < kLongLine) return PermuteLine(at, order, 0, lines_.length);
    context_.parallel().For(lines_.length, kElementsOfMovePart,
                            [&](int64_t begin, int64_t end) { PermuteLine(at, order, begin, end); });
  }

  absl::Status SortLongLines() {
    ASSAY_ASSIGN_OR_RETURN(Literal scratch,
                           Scratch(context_, ElementType::kU8, LineSorter::ScratchBytes(lines_.length)));
    LineSorter sorter(context_.parallel(), isa_, keys_, order_.ties_reversed, lines_.length,
                      scratch.MutableBytes().data());
    for (int64_t at = 0; at < lines_.total && ordered_; at += lines_.length) {
      SortLine(sorter, at);
      ASSAY_RETURN_IF_ERROR(context_.Charge(lines_.length));
    }
    return absl::OkStatus();
  }

  absl::Status SortShortLines() {
    const int64_t lines = lines_.total / lines_.length;
    const int64_t most = kElementsOfRound / lines_.length + 1;
    for (int64_t done = 0; done < lines && ordered_; done += most) {
      const int64_t some = std::min(most, lines - done);
      context_.parallel().For(some, kElementsOfPart / lines_.length + 1, [&](int64_t begin, int64_t end) {
        const auto scratch = std::make_unique_for_overwrite<std::byte[]>(
            static_cast<size_t>(LineSorter::ScratchBytes(lines_.length)));
        LineSorter sorter(context_.parallel(), isa_, keys_, order_.ties_reversed, lines_.length,
                          scratch.get());
        for (int64_t l = done + begin; l < done + end && ordered_; ++l) SortLine(sorter, l * lines_.length);
      });
      ASSAY_RETURN_IF_ERROR(context_.Charge(some * lines_.length));
    }
    return absl::OkStatus();
  }

  EvalContext& context_;
  const Isa isa_;
  const Lines& lines_;
  const SortOrder& order_;
  const std::span<const KeyEncoder> encoders_;
  const codegen::ScalarCode* const comparator_;
  std::vector<const std::byte*> from_;
  std::vector<std::byte*> to_;
  std::vector<int64_t> bytes_;
  std::vector<Literal> scratch_;
  std::vector<KeySource> keys_;
  bool alone_ = false;  // the elements are their keys
  std::atomic<bool> ordered_ = true;
};

class SortKernel final : public Kernel {
 public:
  // One of both at least: an order by keys, or code for the comparator.
  SortKernel(std::optional<SortOrder> order, std::shared_ptr<const codegen::ScalarCode> comparator, Isa isa)
      : order_(std::move(order).value_or(SortOrder{})), comparator_(std::move(comparator)), isa_(isa) {
    for (const OrderKey& key : order_.keys) encoders_.emplace_back(key, isa);
  }

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    for (const Literal& operand : operands) {
      if (operand.runtime_sizes() != operands[0].runtime_sizes()) return Fallback("different run-time sizes");
    }
    const Lines lines(operands[0], context.attributes().List(Attr::kDimensions)[0]);
    ASSAY_ASSIGN_OR_RETURN(std::vector<Literal> results, NewSortResults(context, operands));
    if (lines.total > 0) {
      if (lines.length > std::numeric_limits<int32_t>::max())
        return Fallback("lines of more than 2^31 - 1 elements");
      ASSAY_ASSIGN_OR_RETURN(
          const bool ordered,
          SortRun(context, isa_, lines, order_, encoders_, comparator_.get()).Run(operands, results));
      if (!ordered) return Fallback("NaNs among keys that are compared as numbers");
    }
    if (results.size() == 1) return std::move(results[0]);
    return Literal::Tuple(context.shared_result_shape(), std::move(results));
  }

 private:
  const SortOrder order_;
  const std::shared_ptr<const codegen::ScalarCode> comparator_;
  const Isa isa_;
  std::vector<KeyEncoder> encoders_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareSort(const StepView& step, Isa isa) {
  const ComputationId comparator = *step.instruction.attributes.Computation(Attr::kToApply);
  std::optional<SortOrder> order = RecogniseOrder(step.module, comparator);
  // Code is for comparators that are no order by keys, on some elements at least: floats as numbers.
  const bool always = order && std::all_of(order->keys.begin(), order->keys.end(), [](const OrderKey& key) {
                        return !IsFloat(key.type) || key.total_order;
                      });
  std::shared_ptr<const codegen::ScalarCode> code;
  if (!always && step.operand_shape(0).num_elements() >= kWorthCode) {
    auto made = codegen::ScalarCode::Make(step.module, comparator, isa, /*vectors=*/false);
    if (!order && !made.ok()) {
      return NotSupported({}, fmt::format("the comparator is not an order by keys and can't be compiled: {}",
                                          std::string(made.status().message())));
    }
    if (made.ok()) code = *std::move(made);
  }
  if (!order && code == nullptr)
    return NotSupported({}, "too few elements for a comparator that is not an order by keys");
  return std::make_shared<SortKernel>(std::move(order), std::move(code), isa);
}

}  // namespace assay::native
