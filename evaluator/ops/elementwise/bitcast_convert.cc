// bitcast-convert (docs/spec/operations-elementwise.md, "BitcastConvertType").
//
// B and B' are the storage widths of operand and result elements in bits; pred counts as 8.
#include <algorithm>
#include <cstring>
#include <utility>

#include "evaluator/audits/rules.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/eval_context.h"
#include "evaluator/open_sizes.h"
#include "evaluator/strips.h"
#include "fmt/format.h"

namespace assay {
namespace {

int StorageBits(ElementType type) { return type == ElementType::kPred ? 8 : Bits(type); }

absl::Status Mismatch(std::string_view label, const Shape& operand, const Shape& declared,
                      std::string_view wanted) {
  return InvalidProgram({}, fmt::format("{}: operand is {} and result is {}, wanted {}", label,
                                        operand.ToString(), declared.ToString(), wanted));
}

bool Fits(int64_t size, int64_t wanted) { return size == wanted || size == kUnboundedSize; }

// C4: B > B', a new last dimension of size B / B'.
absl::StatusOr<Shape> SplitElements(const Shape& operand, const Shape& declared, int64_t ratio) {
  DimVector sizes(operand.sizes().begin(), operand.sizes().end());
  sizes.push_back(ratio);
  ASSAY_ASSIGN_OR_RETURN(Shape shape, Shape::Array(declared.element_type(), sizes));
  for (int64_t d = 0; d < operand.rank(); ++d) shape.set_dynamic(d, operand.is_dynamic(d));
  if (!SameOrUnboundedDimensions(shape, declared) || declared.is_dynamic(operand.rank())) {
    return Mismatch("BitcastConvertType-C4", operand, declared, shape.ToString());
  }
  return shape;
}

// C5: B < B', the last dimension of size B' / B goes.
absl::StatusOr<Shape> JoinElements(const Shape& operand, const Shape& declared, int64_t ratio) {
  const int64_t last = operand.rank() - 1;
  if (last < 0 || !Fits(operand.size(last), ratio) || operand.is_dynamic(last)) {
    return Mismatch("BitcastConvertType-C5", operand, declared,
                    fmt::format("a static last dimension of size {} in the operand", ratio));
  }
  ASSAY_ASSIGN_OR_RETURN(Shape shape, Shape::Array(declared.element_type(), operand.sizes().first(last)));
  for (int64_t d = 0; d < last; ++d) shape.set_dynamic(d, operand.is_dynamic(d));
  if (!SameOrUnboundedDimensions(shape, declared)) {
    return Mismatch("BitcastConvertType-C5", operand, declared, shape.ToString());
  }
  return shape;
}

absl::StatusOr<Shape> InferBitcastConvert(const InferContext& context) {
  ASSAY_ASSIGN_OR_RETURN(const Shape declared, context.Declared());
  const Shape& operand = context.operand(0);
  if (!operand.IsArray() || !declared.IsArray()) {
    return Mismatch("BitcastConvertType-C1", operand, declared, "arrays");
  }
  if (IsComplex(operand.element_type()) != IsComplex(declared.element_type())) {
    return Mismatch("BitcastConvertType-C2", operand, declared, "both complex or neither");
  }
  const int from = StorageBits(operand.element_type());
  const int to = StorageBits(declared.element_type());
  if (std::max(from, to) % std::min(from, to) != 0) {
    return Mismatch("BitcastConvertType-C3", operand, declared,
                    fmt::format("one width a multiple of the other, not {} and {}", from, to));
  }
  if (from > to) return SplitElements(operand, declared, from / to);
  if (from < to) return JoinElements(operand, declared, to / from);
  if (!SameOrUnboundedDimensions(operand, declared)) {
    return Mismatch("BitcastConvertType-C6", operand, declared, "the same dimensions");
  }
  return WithElementType(operand, declared.element_type());
}

// The pattern of an element narrower than 64 bits, and back; narrow elements are stored extended to a byte.
uint64_t LoadPattern(ElementType type, const std::byte* element) {
  uint64_t pattern = 0;
  std::memcpy(&pattern, element, Bytes(type));
  return WrapUnsigned(pattern, StorageBits(type));
}
void StorePattern(ElementType type, uint64_t pattern, std::byte* element) {
  if (IsSignedIntegral(type)) {
    pattern = static_cast<uint64_t>(WrapSigned(static_cast<int64_t>(pattern), Bits(type)));
  }
  std::memcpy(element, &pattern, Bytes(type));
}

// Elements of less than a byte on either side: `ratio` narrow elements make a wide one, the first of them in
// its least significant bits.
void SplitBits(ElementType from, const std::byte* src, ElementType to, std::byte* dst, int64_t n, int ratio) {
  const int width = StorageBits(to);
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t pattern = LoadPattern(from, src + i * Bytes(from));
    for (int k = 0; k < ratio; ++k) {
      StorePattern(to, WrapUnsigned(pattern >> (k * width), width), dst + (i * ratio + k) * Bytes(to));
    }
  }
}
void Join(ElementType from, const std::byte* src, ElementType to, std::byte* dst, int64_t n, int ratio) {
  const int width = StorageBits(from);
  for (int64_t i = 0; i < n; ++i) {
    uint64_t pattern = 0;
    for (int k = 0; k < ratio; ++k) {
      pattern |= LoadPattern(from, src + (i * ratio + k) * Bytes(from)) << (k * width);
    }
    StorePattern(to, pattern, dst + i * Bytes(to));
  }
}

// Decision: bitcast-to-pred. A byte that is neither 0 nor 1 is refused where it would become a pred, so that
// no pred value is anything else (NUM-8).
absl::Status CheckPreds(EvalContext& context, std::span<const std::byte> bytes) {
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (std::to_integer<int>(bytes[i]) <= 1) continue;
    return EvalError(
        context.instruction().position,
        fmt::format("BitcastConvertType: element {} of the result has the byte {}, wanted 0 or 1 "
                    "for pred",
                    i, std::to_integer<int>(bytes[i])));
  }
  return absl::OkStatus();
}

absl::StatusOr<Literal> MoveBits(EvalContext& context, const Literal& operand) {
  const Shape& shape = context.result_shape();
  const ElementType from = operand.shape().element_type();
  const ElementType to = shape.element_type();
  ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult());
  std::byte* dst = result.MutableBytes().data();
  const int from_bits = StorageBits(from);
  const int to_bits = StorageBits(to);
  const bool splits = from_bits >= to_bits;
  const int ratio = splits ? from_bits / to_bits : to_bits / from_bits;
  const int64_t read = splits ? 1 : ratio, written = splits ? ratio : 1;  // narrow elements a wide one
  const int64_t wide = (splits ? operand.shape() : shape).num_elements();
  constexpr int64_t kBetweenCharges = 1 << 16;
  for (int64_t first = 0; first < wide; first += kBetweenCharges) {
    const int64_t n = std::min(kBetweenCharges, wide - first);
    const std::byte* const src = operand.data() + first * read * Bytes(from);
    (splits ? SplitBits : Join)(from, src, to, dst + first * written * Bytes(to), n, ratio);
    ASSAY_RETURN_IF_ERROR(context.Charge(n * ratio));
  }
  return result;
}

absl::StatusOr<Literal> EvalBitcastConvert(EvalContext& context, std::span<Literal> operands) {
  const ElementType from = operands[0].shape().element_type();
  const ElementType to = context.result_shape().element_type();
  const DimVector sizes = operands[0].runtime_sizes();
  ASSAY_RETURN_IF_ERROR(context.Charge(context.result_shape().num_elements()));
  Literal result;
  if (from == to || (StorageBits(from) % 8 == 0 && StorageBits(to) % 8 == 0)) {
    result = std::exchange(operands[0], Literal()).WithShape(context.shared_result_shape());
  } else {
    ASSAY_ASSIGN_OR_RETURN(result, MoveBits(context, operands[0]));
  }
  if (to == ElementType::kPred && from != ElementType::kPred) {
    ASSAY_RETURN_IF_ERROR(CheckPreds(context, result.bytes()));
  }
  const Shape& shape = result.shape();
  for (int64_t d = 0; d < shape.rank() && d < static_cast<int64_t>(sizes.size()); ++d) {
    if (shape.is_dynamic(d)) result.set_dynamic_size(d, sizes[d]);
  }
  return result;
}

// Elements of one width, in their compute kinds; for compiled scalar functions.
void BitcastStrip(const StripParams& params, int64_t n, const void* const* in, void* out) {
  std::byte from[kStripBytes];
  std::byte to[kStripBytes];
  StoreStrip(params.operand, in[0], n, from, Bytes(params.operand));
  SplitBits(params.operand, from, params.result, to, n, 1);
  LoadStrip(params.result, to, Bytes(params.result), n, out);
}

// There is none to pred, which may fail, nor for the 128 bits of c128.
StripKernel StripForBitcastConvert(const Instruction&, std::span<const ElementType> operands,
                                   ElementType result) {
  const bool fits = StorageBits(operands[0]) == StorageBits(result) && result != ElementType::kPred &&
                    StorageBits(result) <= 64;
  return {fits ? BitcastStrip : nullptr, ParamsFor(operands, result)};
}

// A dimension that the split or joined elements add or take is static.
absl::Status OpenSizesOfBitcastConvert(OpenSizes& sizes) {
  for (int64_t d = 0; d < sizes.shape(0).rank(); ++d) {
    if (sizes.IsOpen(0, d)) sizes.Open(d);
  }
  return absl::OkStatus();
}

}  // namespace

// bitcast-convert: the bits of operand[i]; where B > B', result[i, k] has bits [k B', (k + 1) B') of it;
// where B < B', bits [k B, (k + 1) B) of result[i] are operand[i, k].
constinit const OpDef ops::BitcastConvert = {
    .operands = Exactly(1),
    .types = kArrayTypes,
    .infer = InferBitcastConvert,
    .eval = EvalBitcastConvert,
    .work = work::Elementwise,
    .bound = bound::BitcastConvert,
    .audit = audit::Nothing,
    .strip = StripForBitcastConvert,
    .open_sizes = OpenSizesOfBitcastConvert,
};

}  // namespace assay
