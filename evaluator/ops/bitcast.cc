// bitcast (spec/operations-shape.md, Bitcast; layouts: spec/shapes.md section 4): the one op that sees how an
// array lies in memory.
//
// memory = the operand written slot by slot as its layout says; out = the result read from the same memory as
// its layout says: memory'[position'(I)] = out[I], memory[position(J)] = operand[J]
#include "evaluator/ops/bitcast.h"

#include <algorithm>
#include <cstring>

#include "evaluator/move.h"
#include "evaluator/ops/shape_rules.h"
#include "literal/literal_text.h"
#include "shape/checked.h"

namespace assay {
namespace {

constexpr int64_t kHostMemory = 5;

int64_t MemorySpace(const Shape& shape) {
  return shape.layout().tail ? shape.layout().tail->memory_space : 0;
}

absl::StatusOr<Shape> InferBitcast(const InferContext& context) {
  ASSAY_RETURN_IF_ERROR(RequireArray(context, 0, "Bitcast-C1"));
  ASSAY_ASSIGN_OR_RETURN(Shape declared, context.Declared());
  const Shape& operand = context.operand(0);
  if (!declared.IsArray()) return Violates("Bitcast-C1", "the result is not an array");
  if (declared.HasUnbounded()) return NotSupported({}, "DYN-2: unbounded dynamism in the result");
  ASSAY_ASSIGN_OR_RETURN(const int64_t from, LayoutByteSize(operand));
  ASSAY_ASSIGN_OR_RETURN(const int64_t to, LayoutByteSize(declared));
  if (to > from) return Violates("Bitcast-C2", "the result takes {} bytes, the operand {}", to, from);
  if ((MemorySpace(operand) == kHostMemory) != (MemorySpace(declared) == kHostMemory)) {
    return Violates("Bitcast-C3", "memory space {} of the operand and {} of the result", MemorySpace(operand),
                    MemorySpace(declared));
  }
  return declared;
}

// Where elements lie: an affine map of the index where there are neither tiles nor packed elements.
struct Placement {
  explicit Placement(const Shape& shape) {
    const Layout& layout = shape.layout();
    const LayoutTail* tail = layout.tail.get();
    packed_bits = tail ? tail->element_size_in_bits : 0;
    affine = packed_bits == 0 && !(tail && !tail->tiles.empty());
    strides.assign(shape.rank(), 0);
    int64_t scale = 1;
    for (int64_t d : layout.minor_to_major) {
      strides[d] = scale;
      scale = CheckedMul(scale, tail && !tail->padded_dimensions.empty() ? tail->padded_dimensions[d]
                                                                         : shape.size(d))
                  .value_or(0);
    }
  }
  bool affine;
  int64_t packed_bits;  // 0: whole bytes
  DimVector strides;
};

// Copies `bits` bits to or from a packed slot; bits of the slot beyond those of the element are zero or the
// sign, as the element's type has them in a literal.
void CopyBits(const std::byte* src, int64_t src_bit, std::byte* dst, int64_t dst_bit, int64_t bits) {
  for (int64_t i = 0; i < bits; ++i) {
    const int64_t s = src_bit + i, d = dst_bit + i;
    const std::byte bit = (src[s / 8] >> (s % 8)) & std::byte{1};
    dst[d / 8] = (dst[d / 8] & ~(std::byte{1} << (d % 8))) | (bit << (d % 8));
  }
}

// The element of a literal from its low `bits` bits.
void ExtendElement(ElementType type, int64_t bits, std::byte* element) {
  if (!IsSignedIntegral(type) || bits >= 8) return;
  const int shift = static_cast<int>(8 - bits);
  int8_t value;
  std::memcpy(&value, element, 1);
  value = static_cast<int8_t>(static_cast<int8_t>(static_cast<uint8_t>(value) << shift) >> shift);
  std::memcpy(element, &value, 1);
}

// Between a literal of `shape` and its memory image, element by element.
absl::Status WalkSlots(EvalContext& context, const Shape& shape, const Placement& placement,
                       std::byte* literal, std::byte* memory, bool write) {
  const int64_t bytes = Bytes(shape.element_type());
  const int64_t slot_bits = placement.packed_bits == 0 ? 8 * bytes : placement.packed_bits;
  const int64_t bits = std::min<int64_t>(slot_bits, 8 * bytes);
  const int64_t kept = std::min<int64_t>(bits, Bits(shape.element_type()));
  DimVector index(shape.rank(), 0);
  int64_t done = 0;
  do {
    const int64_t slot = LayoutPosition(shape, index);
    std::byte* element = literal + done * bytes;
    if (write) {
      CopyBits(element, 0, memory, slot * slot_bits, bits);
    } else {
      std::memset(element, 0, bytes);
      CopyBits(memory, slot * slot_bits, element, 0, placement.packed_bits == 0 ? bits : kept);
      if (placement.packed_bits != 0) ExtendElement(shape.element_type(), kept, element);
    }
    if (++done % 65536 == 0) ASSAY_RETURN_IF_ERROR(context.Charge(65536));
  } while (NextIndex(shape.sizes(), {index.data(), index.size()}));
  return absl::OkStatus();
}

// Slots without an element hold the layout's padding value (LAYOUT-3), else zero.
absl::Status FillPadding(const Shape& shape, std::span<std::byte> memory) {
  const LayoutTail* tail = shape.layout().tail.get();
  if (!tail || tail->padding_value.empty() || tail->element_size_in_bits != 0) return absl::OkStatus();
  ASSAY_ASSIGN_OR_RETURN(const Literal value,
                         ParseLiteral(Shape::Scalar(shape.element_type()), tail->padding_value));
  const int bytes = Bytes(shape.element_type());
  FillElements(bytes, value.data(), memory.data(), static_cast<int64_t>(memory.size()) / bytes);
  return absl::OkStatus();
}

absl::StatusOr<Literal> WriteMemory(EvalContext& context, const Literal& operand, const Shape& shape) {
  ASSAY_ASSIGN_OR_RETURN(const int64_t size, LayoutByteSize(shape));
  ASSAY_ASSIGN_OR_RETURN(Shape memory_shape, Shape::Array(ElementType::kU8, {&size, 1}));
  ASSAY_ASSIGN_OR_RETURN(Literal memory,
                         context.NewLiteral(std::make_shared<const Shape>(memory_shape), true));
  const auto bytes = memory.MutableBytes();
  ASSAY_RETURN_IF_ERROR(FillPadding(shape, bytes));
  if (shape.num_elements() == 0) return memory;
  const Placement placement(shape);
  if (placement.affine) {
    ASSAY_RETURN_IF_ERROR(ChargedMove(context, Bytes(shape.element_type()), shape.sizes(), operand.data(),
                                      {0, RowMajorStrides(shape.sizes())}, bytes.data(),
                                      {0, placement.strides}));
  } else {
    ASSAY_RETURN_IF_ERROR(WalkSlots(context, shape, placement, const_cast<std::byte*>(operand.data()),
                                    bytes.data(), /*write=*/true));
  }
  return memory;
}

// A byte of memory may be more than an element of fewer than 8 bits can hold: the low bits count, a pred is
// true unless it is zero.
// Decision: bitcast-narrow
void Narrow(ElementType type, std::span<std::byte> elements) {
  const int64_t bits = Bits(type);
  if (bits >= 8) return;
  const std::byte mask = std::byte((1 << bits) - 1);
  for (std::byte& element : elements) {
    if (type == ElementType::kPred) {
      element = std::byte(element != std::byte{0});
    } else {
      element &= mask;
      ExtendElement(type, bits, &element);
    }
  }
}

// Both sides lie row-major without gaps: the bytes of a literal are the memory.
bool IsPlain(const Shape& shape) {
  return shape.layout().IsRowMajor() && (!shape.layout().tail || *shape.layout().tail == LayoutTail{});
}

// Whatever an element of `from` holds, the result's type has it.
bool AnyBits(const Shape& from, const Shape& to) {
  return Bits(to.element_type()) >= 8 || to.element_type() == from.element_type();
}

absl::StatusOr<Literal> EvalBitcast(EvalContext& context, std::span<Literal> operands) {
  const Literal& operand = operands[0];
  // A value may come with another layout than the program says (an argument, a shared literal).
  const Instruction& instruction = context.instruction();
  const Shape& from = *context.computation().instructions[instruction.operands[0]].shape;
  const Shape& shape = context.result_shape();
  DimVector sizes(shape.sizes().begin(), shape.sizes().end());
  if (!operand.IsFullSize()) {
    // Decision: bitcast-dynamic
    if (!Shape::SameDimensions(shape, from)) {
      return NotSupported(instruction.position,
                          fmt::format("bitcast: run-time sizes of {} have no place in {}", from.ToString(),
                                      shape.ToString()));
    }
    sizes = operand.runtime_sizes();
  }
  if (BitcastKeepsBytes(from, shape)) return ShareStorage(context, operand, sizes);
  ASSAY_ASSIGN_OR_RETURN(Literal memory, WriteMemory(context, operand, from));
  ASSAY_ASSIGN_OR_RETURN(Literal result, NewSizedResult(context, sizes));
  if (shape.num_elements() == 0) return result;
  const Placement placement(shape);
  if (placement.affine) {
    ASSAY_RETURN_IF_ERROR(MoveInto(context, shape.sizes(), memory, {0, placement.strides}, result));
  } else {
    ASSAY_RETURN_IF_ERROR(WalkSlots(context, shape, placement, result.MutableBytes().data(),
                                    memory.MutableBytes().data(), /*write=*/false));
  }
  if (!AnyBits(from, shape) && placement.packed_bits == 0)
    Narrow(shape.element_type(), result.MutableBytes());
  if (!result.IsFullSize()) result.ClearDeadElements();
  return result;
}

}  // namespace

bool BitcastKeepsBytes(const Shape& from, const Shape& to) {
  return IsPlain(from) && IsPlain(to) && AnyBits(from, to) && to.num_bytes() == from.num_bytes();
}

constinit const OpDef ops::Bitcast = {
    .operands = Exactly(1),
    .types = kArrayTypes,
    .attributes = {},
    .infer = InferBitcast,
    .eval = EvalBitcast,
};

}  // namespace assay
