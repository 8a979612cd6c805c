// bitcast (docs/spec/operations-shape.md, Bitcast; layouts: docs/spec/shapes.md section 4): the one op that
// sees how an array lies in memory.
//
// memory = the operand written slot by slot as its layout says; out = the result read from the same memory as
// its layout says: memory'[position'(I)] = out[I], memory[position(J)] = operand[J]
#include "evaluator/ops/indexing/bitcast.h"

#include <algorithm>
#include <cstring>

#include "base/checked.h"
#include "evaluator/audits/rules.h"
#include "evaluator/bounds/ends.h"
#include "evaluator/elements.h"
#include "evaluator/meter.h"
#include "evaluator/open_sizes.h"
#include "evaluator/shape_rules.h"
#include "literal/literal_text.h"

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

// How many bits of an element lie in a slot of memory, and how many bits a slot takes.
struct Slots {
  explicit Slots(const Shape& shape) {
    const LayoutTail* const tail = shape.layout().tail.get();
    const int64_t whole = 8 * Bytes(shape.element_type());
    packed = tail != nullptr && tail->element_size_in_bits != 0;
    size = packed ? tail->element_size_in_bits : whole;
    bits = std::min(size, whole);
  }
  bool packed;  // else whole bytes
  int64_t size, bits;
};

// Copies `bits` bits to or from a slot; bits of a packed slot beyond those of the element are zero or the
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

// Slots without an element hold the layout's padding value (LAYOUT-3), else zero.
absl::Status FillPadding(const Shape& shape, std::span<std::byte> memory) {
  const LayoutTail* tail = shape.layout().tail.get();
  if (!tail || tail->padding_value.empty() || tail->element_size_in_bits != 0) return absl::OkStatus();
  ASSAY_ASSIGN_OR_RETURN(const Literal value,
                         ParseLiteral(Shape::Scalar(shape.element_type()), tail->padding_value));
  const size_t bytes = Bytes(shape.element_type());
  for (size_t at = 0; at + bytes <= memory.size(); at += bytes) {
    std::memcpy(memory.data() + at, value.data(), bytes);
  }
  return absl::OkStatus();
}

absl::StatusOr<Literal> WriteMemory(EvalContext& context, const Literal& operand, const Shape& shape) {
  ASSAY_ASSIGN_OR_RETURN(const int64_t size, LayoutByteSize(shape));
  ASSAY_ASSIGN_OR_RETURN(Shape memory_shape, Shape::Array(ElementType::kU8, {&size, 1}));
  ASSAY_ASSIGN_OR_RETURN(Literal memory,
                         context.NewLiteral(std::make_shared<const Shape>(memory_shape), true));
  const auto bytes = memory.MutableBytes();
  ASSAY_RETURN_IF_ERROR(FillPadding(shape, bytes));
  const ArrayView elements(operand);
  const Slots slots(shape);
  Meter meter(context);
  for (IndexWalk i(shape.sizes()); !i.done(); i.Next()) {
    CopyBits(elements.At(i.index()), 0, bytes.data(), LayoutPosition(shape, i.index()) * slots.size,
             slots.bits);
    ASSAY_RETURN_IF_ERROR(meter.Add(1));
  }
  ASSAY_RETURN_IF_ERROR(meter.Flush());
  return memory;
}

absl::Status ReadMemory(EvalContext& context, const Literal& memory, Literal& result) {
  const Shape& shape = context.result_shape();
  const MutableArrayView elements(result);
  const Slots slots(shape);
  const int64_t value_bits =
      slots.packed ? std::min<int64_t>(slots.bits, Bits(shape.element_type())) : slots.bits;
  Meter meter(context);
  for (IndexWalk i(shape.sizes()); !i.done(); i.Next()) {
    std::byte* const element = elements.At(i.index());
    std::memset(element, 0, elements.element_bytes());
    CopyBits(memory.data(), LayoutPosition(shape, i.index()) * slots.size, element, 0, value_bits);
    if (slots.packed) ExtendElement(shape.element_type(), value_bits, element);
    ASSAY_RETURN_IF_ERROR(meter.Add(1));
  }
  return meter.Flush();
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

// The dimensions come in their order in memory; those of size 1 may stand anywhere.
bool IsRowMajor(const Shape& shape) {
  int64_t next = shape.rank();  // the dimension that varied last
  for (int64_t d : shape.layout().minor_to_major) {
    if (shape.size(d) == 1 && !shape.is_dynamic(d)) continue;
    if (d > next) return false;
    next = d;
  }
  return true;
}

// The bytes of a literal are the memory.
bool IsRowMajorWithoutGaps(const Shape& shape) {
  return IsRowMajor(shape) && (!shape.layout().tail || *shape.layout().tail == LayoutTail{});
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
  ASSAY_RETURN_IF_ERROR(ReadMemory(context, memory, result));
  if (!BitcastTakesAnyBits(from, shape) && !Slots(shape).packed)
    Narrow(shape.element_type(), result.MutableBytes());
  if (!result.IsFullSize()) result.ClearDeadElements();
  return result;
}

// Without layouts a bitcast of as many elements of the same type is a reshape.
std::optional<AffineMap> SourceOfBitcast(const InstructionView& view) {
  const Shape &operand = view.operand(0), &result = view.result();
  if (!operand.IsArray() || !result.IsArray() || operand.element_type() != result.element_type() ||
      !IsRowMajorWithoutGaps(operand) || !IsRowMajorWithoutGaps(result) ||
      operand.num_elements() != result.num_elements()) {
    return std::nullopt;
  }
  return AffineMap{0, RowMajorStrides(result.sizes())};
}

absl::Status OpenSizesOfBitcast(OpenSizes& sizes) {
  if (!Shape::SameDimensions(sizes.shape(0), sizes.context().result_shape())) return sizes.Needs(0);
  return open::Elementwise(sizes);
}

}  // namespace

bool BitcastTakesAnyBits(const Shape& from, const Shape& to) {
  return Bits(to.element_type()) >= 8 || to.element_type() == from.element_type();
}

bool BitcastKeepsBytes(const Shape& from, const Shape& to) {
  return IsRowMajorWithoutGaps(from) && IsRowMajorWithoutGaps(to) && BitcastTakesAnyBits(from, to) &&
         to.num_bytes() == from.num_bytes();
}

constinit const OpDef ops::Bitcast = {
    .operands = Exactly(1),
    .types = kArrayTypes,
    .attributes = {},
    .infer = InferBitcast,
    .eval = EvalBitcast,
    .work = work::None,
    .bound = bound::Bitcast,
    .audit = audit::Nothing,
    .moves = {.operands = 1},
    .source = SourceOfBitcast,
    .open_sizes = OpenSizesOfBitcast,
};

}  // namespace assay
