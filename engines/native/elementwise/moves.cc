#include "engines/native/elementwise/moves.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engines/native/elementwise/pad.h"
#include "engines/native/walk/move.h"
#include "evaluator/eval_context.h"
#include "evaluator/ops/indexing/bitcast.h"
#include "evaluator/registry.h"
#include "evaluator/shape_rules.h"
#include "evaluator/static_shape.h"
#include "fmt/format.h"
#include "shape/index.h"

namespace assay::native {
namespace {

constexpr int64_t kPiece = 1 << 23;  // elements that are moved between two charges

// Elements of one operand to their places in the result.
struct MovePart {
  StridedMove move;
  int64_t from = 0, to = 0;  // bytes
  int64_t elements = 0;
  size_t operand = 0;  // of the kernel
};

MovePart MakePart(ElementType type, std::span<const int64_t> sizes, const AffineMap& from,
                  const AffineMap& to) {
  MovePart part{StridedMove(Bytes(type), sizes, from.strides, to.strides), from.base * Bytes(type),
                to.base * Bytes(type), 1};
  for (int64_t size : sizes) part.elements *= size;
  return part;
}

// The same in parts of up to `most` elements, cut along the outermost dimensions.
void CutParts(ElementType type, int64_t most, DimVector sizes, AffineMap from, AffineMap to, size_t operand,
              std::vector<MovePart>& parts) {
  int64_t elements = 1;
  for (int64_t size : sizes) elements *= size;
  const auto outer = std::find_if(sizes.begin(), sizes.end(), [](int64_t size) { return size > 1; });
  if (elements <= most || outer == sizes.end()) {
    parts.push_back(MakePart(type, sizes, from, to));
    parts.back().operand = operand;
    return;
  }
  const auto d = static_cast<size_t>(outer - sizes.begin());
  const int64_t size = sizes[d], together = std::max<int64_t>(most / (elements / size), 1);
  for (int64_t done = 0; done < size; done += together) {
    sizes[d] = std::min(together, size - done);
    CutParts(type, most, sizes, from, to, operand, parts);
    from.base += sizes[d] * from.strides[d];
    to.base += sizes[d] * to.strides[d];
  }
}

// Parts between which the run is charged; no more than some thousands, however large the array is said to be.
void AddParts(ElementType type, std::span<const int64_t> sizes, const AffineMap& from, const AffineMap& to,
              size_t operand, std::vector<MovePart>& parts) {
  int64_t elements = 1;
  for (int64_t size : sizes) elements *= size;
  CutParts(type, std::max(kPiece, elements >> 10), DimVector(sizes.begin(), sizes.end()), from, to, operand,
           parts);
}

// Runs them between two arrays.
absl::Status RunParts(EvalContext& context, std::span<const MovePart> parts, const std::byte* from,
                      std::byte* to) {
  for (const MovePart& part : parts) {
    part.move.Run(from + part.from, to + part.to);
    ASSAY_RETURN_IF_ERROR(context.Charge(part.elements));
  }
  return absl::OkStatus();
}

// The operand's storage under the result's shape.
class SharedKernel final : public Kernel {
 public:
  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    return operands[0].WithShape(context.shared_result_shape());
  }
};

class MovesKernel final : public Kernel {
 public:
  explicit MovesKernel(std::vector<MovePart> parts) : parts_(std::move(parts)) {}

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult());
    std::byte* const out = result.MutableBytes().data();
    for (const MovePart& part : parts_) {
      part.move.Run(operands[part.operand].data() + part.from, out + part.to);
      ASSAY_RETURN_IF_ERROR(context.Charge(part.elements));
    }
    return result;
  }

 private:
  const std::vector<MovePart> parts_;
};

// bitcast: the operand's elements to their places in memory, and from there to theirs in the result.
class BitcastKernel final : public Kernel {
 public:
  BitcastKernel(const Shape& operand, std::vector<MovePart> to_memory, std::vector<MovePart> from_memory)
      : memory_(std::make_shared<const Shape>(operand)),
        to_memory_(std::move(to_memory)),
        from_memory_(std::move(from_memory)) {}

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    ASSAY_ASSIGN_OR_RETURN(Literal memory, context.NewLiteral(memory_));
    std::byte* const bytes = memory.MutableBytes().data();
    ASSAY_RETURN_IF_ERROR(RunParts(context, to_memory_, operands[0].data(), bytes));
    ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult());
    ASSAY_RETURN_IF_ERROR(RunParts(context, from_memory_, bytes, result.MutableBytes().data()));
    return result;
  }

 private:
  const std::shared_ptr<const Shape> memory_;  // as many bytes as the operand
  const std::vector<MovePart> to_memory_, from_memory_;
};

// Where a slice has its elements from, an array with these strides.
AffineMap SliceMap(const Instruction& slice, DimVector strides) {
  AffineMap from{0, std::move(strides)};
  const auto& parts = std::get<SliceConfig>(*slice.attributes.Find(Attr::kSlice));
  for (size_t d = 0; d < parts.size(); ++d) {
    from.base += parts[d].start * from.strides[d];
    from.strides[d] *= slice.shape->size(static_cast<int64_t>(d)) > 1 ? parts[d].stride : 0;
  }
  return from;
}

// Where a window of an array begins: clamp(start[d], 0, size[d] - window[d]) in each dimension, in bytes.
class SliceWindow {
 public:
  SliceWindow(const Shape& array, const Shape& window)
      : SliceWindow(array, window, RowMajorStrides(array.sizes())) {}
  // `strides`: of the array's elements in memory.
  SliceWindow(const Shape& array, const Shape& window, DimVector strides) : strides_(std::move(strides)) {
    for (int64_t& stride : strides_) stride *= Bytes(array.element_type());
    for (int64_t d = 0; d < array.rank(); ++d) limits_.push_back(array.size(d) - window.size(d));
  }

  int64_t Offset(std::span<const Literal> starts) const {
    int64_t offset = 0;
    for (size_t d = 0; d < limits_.size(); ++d) {
      const bool is_vector = starts[0].shape().rank() == 1;
      const ElementType type = starts[0].shape().element_type();
      const std::byte* const data =
          is_vector ? starts[0].data() + static_cast<int64_t>(d) * Bytes(type) : starts[d].data();
      int64_t start;
      LoadIndices(type, data, 0, 1, &start);
      offset += std::clamp<int64_t>(start, 0, limits_[d]) * strides_[d];
    }
    return offset;
  }

 private:
  DimVector strides_, limits_;
};

class DynamicSliceKernel final : public Kernel {
 public:
  DynamicSliceKernel(SliceWindow window, std::vector<MovePart> parts)
      : window_(std::move(window)), parts_(std::move(parts)) {}

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult());
    const int64_t offset = window_.Offset(operands.subspan(1));
    ASSAY_RETURN_IF_ERROR(
        RunParts(context, parts_, operands[0].data() + offset, result.MutableBytes().data()));
    return result;
  }

 private:
  const SliceWindow window_;
  const std::vector<MovePart> parts_;
};

// A dynamic-slice of a broadcast, by what that reads.
class SliceOfBroadcastKernel final : public Kernel {
 public:
  SliceOfBroadcastKernel(SliceWindow window, std::vector<size_t> starts, std::vector<MovePart> parts)
      : window_(std::move(window)), starts_(std::move(starts)), parts_(std::move(parts)) {}

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult());
    std::vector<Literal> starts;
    for (size_t operand : starts_) starts.push_back(operands[operand]);
    const Literal& x = operands[parts_.front().operand];
    ASSAY_RETURN_IF_ERROR(
        RunParts(context, parts_, x.data() + window_.Offset(starts), result.MutableBytes().data()));
    return result;
  }

 private:
  const SliceWindow window_;
  const std::vector<size_t> starts_;
  const std::vector<MovePart> parts_;
};

class DynamicUpdateSliceKernel final : public Kernel {
 public:
  DynamicUpdateSliceKernel(SliceWindow window, std::vector<MovePart> parts)
      : window_(std::move(window)), parts_(std::move(parts)) {}

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    const int64_t offset = window_.Offset(operands.subspan(2));
    ASSAY_ASSIGN_OR_RETURN(Literal result, Writable(context, std::move(operands[0])));
    ASSAY_RETURN_IF_ERROR(
        RunParts(context, parts_, operands[1].data(), result.MutableBytes().data() + offset));
    return result;
  }

 private:
  const SliceWindow window_;
  const std::vector<MovePart> parts_;
};

// Builds the kernel of one instruction.
class Preparer {
 public:
  explicit Preparer(const StepView& step)
      : step_(step),
        type_(step.result_shape().element_type()),
        operand_strides_(RowMajorStrides(step.operand_shape(0).sizes())),
        result_strides_(RowMajorStrides(step.result_shape().sizes())) {}

  std::shared_ptr<const Kernel> Run() {
    switch (step_.instruction.opcode) {
      case Opcode::kBroadcast:
        return IsWhole() && KeepsOrder() ? Shared() : Gathered(Broadcast());
      case Opcode::kConcatenate:
        return step_.instruction.operands.size() == 1 ? Shared() : Concatenate();
      case Opcode::kDynamicSlice:
        return IsWhole() ? Shared() : DynamicSlice();
      case Opcode::kDynamicUpdateSlice:
        return DynamicUpdateSlice();
      case Opcode::kPad:
        return MakePad(step_);
      case Opcode::kReverse:
        return Reverse();
      case Opcode::kSlice:
        return IsWhole() ? Shared() : Gathered(SliceMap(step_.instruction, operand_strides_));
      case Opcode::kTranspose:
        return Transpose();
      default:  // copy, reshape
        return Shared();
    }
  }

 private:
  using Pointer = std::shared_ptr<const Kernel>;

  std::span<const int64_t> List(Attr attr) const { return step_.instruction.attributes.List(attr); }
  bool IsWhole() const {
    return step_.operand_shape(0).num_elements() == step_.result_shape().num_elements();
  }
  static Pointer Shared() { return std::make_shared<SharedKernel>(); }

  // Every element of the result, from one operand.
  Pointer Gathered(const AffineMap& from) const {
    return std::make_shared<MovesKernel>(Parts(step_.result_shape(), from, {0, result_strides_}));
  }

  std::vector<MovePart> Parts(const Shape& moved, const AffineMap& from, const AffineMap& to) const {
    std::vector<MovePart> parts;
    AddParts(type_, moved.sizes(), from, to, 0, parts);
    return parts;
  }

  // Whether the operand's dimensions but those of size 1 come in their order in the result of a broadcast.
  bool KeepsOrder() const {
    int64_t last = -1;
    const auto dimensions = List(Attr::kDimensions);
    for (size_t i = 0; i < dimensions.size(); ++i) {
      if (step_.operand_shape(0).size(static_cast<int64_t>(i)) == 1) continue;
      if (dimensions[i] < last) return false;
      last = dimensions[i];
    }
    return true;
  }

  AffineMap Broadcast() const {
    AffineMap from{0, DimVector(result_strides_.size(), 0)};
    const auto dimensions = List(Attr::kDimensions);
    for (size_t i = 0; i < dimensions.size(); ++i) from.strides[dimensions[i]] = operand_strides_[i];
    return from;
  }

  Pointer Concatenate() const {
    const int64_t along = List(Attr::kDimensions)[0];
    std::vector<MovePart> parts;
    AffineMap to{0, result_strides_};
    for (int64_t k = 0; k < std::ssize(step_.instruction.operands); ++k) {
      const Shape& operand = step_.operand_shape(k);
      AddParts(type_, operand.sizes(), {0, RowMajorStrides(operand.sizes())}, to, static_cast<size_t>(k),
               parts);
      to.base += operand.size(along) * to.strides[along];
    }
    return std::make_shared<MovesKernel>(std::move(parts));
  }

  Pointer Reverse() const {
    AffineMap from{0, operand_strides_};
    bool moves = false;
    for (int64_t d : List(Attr::kDimensions)) {
      const int64_t size = step_.result_shape().size(d);
      if (size <= 1) continue;
      moves = true;
      from.base += (size - 1) * from.strides[d];
      from.strides[d] = -from.strides[d];
    }
    return moves ? Gathered(from) : Shared();
  }

  Pointer Transpose() const {
    AffineMap from;
    int64_t last = -1;
    bool keeps = true;  // only dimensions of size 1 change their place
    for (int64_t d : List(Attr::kDimensions)) {
      from.strides.push_back(operand_strides_[d]);
      if (step_.operand_shape(0).size(d) == 1) continue;
      keeps = keeps && d > last;
      last = d;
    }
    return keeps ? Shared() : Gathered(from);
  }

  Pointer DynamicSlice() const {
    const Shape& result = step_.result_shape();
    return std::make_shared<DynamicSliceKernel>(SliceWindow(step_.operand_shape(0), result),
                                                Parts(result, {0, operand_strides_}, {0, result_strides_}));
  }

  Pointer DynamicUpdateSlice() const {
    const Shape& update = step_.operand_shape(1);
    return std::make_shared<DynamicUpdateSliceKernel>(
        SliceWindow(step_.operand_shape(0), update),
        Parts(update, {0, RowMajorStrides(update.sizes())}, {0, result_strides_}));
  }

  const StepView& step_;
  const ElementType type_;
  const DimVector operand_strides_, result_strides_;
};

// Whether elements lie one behind the other in memory, each in the bytes that it takes in a literal.
bool HasPlainMemory(const Shape& shape) {
  if (!shape.layout().tail) return true;
  LayoutTail tail = *shape.layout().tail;
  tail.memory_space = 0;
  return tail == LayoutTail{};
}

// How many elements lie between neighbours of each dimension in plain memory.
DimVector MemoryStrides(const Shape& shape) {
  DimVector strides(static_cast<size_t>(shape.rank()), 0);
  int64_t stride = 1;
  for (int64_t d : shape.layout().minor_to_major) {
    strides[d] = stride;
    stride *= shape.size(d);
  }
  return strides;
}

// Whether plain memory is the literal's bytes: a dimension of size 1 may stand anywhere.
bool LiesInOrder(const Shape& shape) {
  const DimVector memory = MemoryStrides(shape), literal = RowMajorStrides(shape.sizes());
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (shape.size(d) != 1 && memory[d] != literal[d]) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareMoves(const StepView& step, Isa) {
  const Opcode opcode = step.instruction.opcode;
  if (const std::string_view why = WhyNotStatic(step.result_shape()); !why.empty())
    return NotSupported({}, why);
  for (int64_t k = 0; k < std::ssize(step.instruction.operands); ++k) {
    if (const std::string_view why = WhyNotStatic(step.operand_shape(k)); !why.empty())
      return NotSupported({}, why);
    if (step.operand_shape(k).num_elements() == 0) return NotSupported({}, "no elements");
  }
  const bool updates = opcode == Opcode::kDynamicUpdateSlice;
  if (updates && step.result_shape().rank() == 0) return NotSupported({}, "no start index");
  const int64_t moved = (updates ? step.operand_shape(1) : step.result_shape()).num_elements();
  if (moved == 0) return NotSupported({}, "no elements");
  return Preparer(step).Run();
}

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareConcatenate(const FusionView& fusion) {
  const Instruction& root = fusion.root();
  const auto& instructions = fusion.computation.instructions;
  const ElementType type = root.shape->element_type();
  const int64_t along = root.attributes.List(Attr::kDimensions)[0];
  std::vector<MovePart> parts;
  AffineMap to{0, RowMajorStrides(root.shape->sizes())};
  for (int32_t operand : root.operands) {
    const Instruction& piece = instructions[static_cast<size_t>(operand)];
    const bool joins = std::count(fusion.members.begin(), fusion.members.end(), operand) != 0;
    const int32_t read = joins ? piece.operands[0] : operand;
    AffineMap from{0, RowMajorStrides(piece.shape->sizes())};
    if (joins && piece.opcode == Opcode::kSlice)
      from = SliceMap(piece, RowMajorStrides(instructions[static_cast<size_t>(read)].shape->sizes()));
    parts.push_back(MakePart(type, piece.shape->sizes(), from, to));
    const auto at = std::find(fusion.operands.begin(), fusion.operands.end(), read);
    parts.back().operand = static_cast<size_t>(at - fusion.operands.begin());
    to.base += piece.shape->size(along) * to.strides[along];
  }
  return std::make_shared<MovesKernel>(std::move(parts));
}

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareSliceOfBroadcast(const FusionView& fusion) {
  const StepView slice{fusion.module, fusion.computation, fusion.root()};
  const Instruction& broadcast = slice.operand(0);
  if (fusion.members.size() != 2 || slice.result_shape().num_elements() == 0)
    return NotSupported({}, "no elements");
  const std::optional<AffineMap> source =
      DefinitionOf(broadcast.opcode).source({fusion.computation, broadcast});
  if (!source) return NotSupported({}, "elements are not an affine map of the operand");
  const auto place = [&](int32_t operand) {
    return static_cast<size_t>(std::find(fusion.operands.begin(), fusion.operands.end(), operand) -
                               fusion.operands.begin());
  };
  const Shape& result = slice.result_shape();
  const bool is_dynamic = slice.instruction.opcode == Opcode::kDynamicSlice;
  const AffineMap from =
      is_dynamic ? AffineMap{0, source->strides} : SliceMap(slice.instruction, source->strides);
  std::vector<MovePart> parts;
  AddParts(result.element_type(), result.sizes(), from, {0, RowMajorStrides(result.sizes())},
           place(broadcast.operands[0]), parts);
  if (!is_dynamic) return std::make_shared<MovesKernel>(std::move(parts));
  std::vector<size_t> starts;
  for (int32_t operand : std::span(slice.instruction.operands).subspan(1)) starts.push_back(place(operand));
  return std::make_shared<SliceOfBroadcastKernel>(SliceWindow(*broadcast.shape, result, source->strides),
                                                  std::move(starts), std::move(parts));
}

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareBitcast(const StepView& step, Isa) {
  const Shape &operand = step.operand_shape(0), &result = step.result_shape();
  for (const Shape* shape : {&result, &operand}) {
    if (const std::string_view why = WhyNotStatic(*shape); !why.empty()) return NotSupported({}, why);
  }
  if (BitcastKeepsBytes(operand, result)) return std::make_shared<SharedKernel>();
  if (!HasPlainMemory(operand) || !HasPlainMemory(result))
    return NotSupported({}, "tiled, padded or packed memory");
  if (!BitcastTakesAnyBits(operand, result))
    return NotSupported({}, "the result type does not hold all bit patterns of the operand");
  if (result.num_elements() == 0) return NotSupported({}, "no elements");

  // An array whose places in memory are those of the literal needs no move of its own.
  const auto moves = [](const Shape& shape, bool to_memory) {
    const AffineMap memory{0, MemoryStrides(shape)}, literal{0, RowMajorStrides(shape.sizes())};
    std::vector<MovePart> parts;
    AddParts(shape.element_type(), shape.sizes(), to_memory ? literal : memory, to_memory ? memory : literal,
             0, parts);
    return parts;
  };
  const bool same_size = operand.num_bytes() == result.num_bytes();
  if (LiesInOrder(operand)) return std::make_shared<MovesKernel>(moves(result, false));
  if (LiesInOrder(result) && same_size) return std::make_shared<MovesKernel>(moves(operand, true));
  return std::make_shared<BitcastKernel>(operand, moves(operand, true), moves(result, false));
}

}  // namespace assay::native
