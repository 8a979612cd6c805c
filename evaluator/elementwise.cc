// Walking whole arrays with strip functions, and the shape rules UNARY and BINARY
// (spec/operations-elementwise.md, shared constraints). The ops themselves are in ops/.
#include "evaluator/elementwise.h"

#include <algorithm>
#include <array>
#include <utility>

#include "evaluator/eval_context.h"
#include "evaluator/ops/strips.h"
#include "evaluator/registry.h"
#include "evaluator/stored_strips.h"
#include "fmt/format.h"

namespace assay {
namespace {

constexpr int kMaxOperands = 3;
constexpr int64_t kChargeEvery = 64 * kStrip;

// Elements that lie in memory as the strip functions want them.
bool IsStoredAsComputed(ElementType type) {
  switch (type) {
    case ElementType::kS64:
    case ElementType::kU64:
    case ElementType::kF64:
    case ElementType::kC128:
      return true;
    default:
      return false;
  }
}

// One operand or result during the walk: where its strips are.
struct Stream {
  ElementType type = ElementType::kPred;
  std::byte* data = nullptr;
  bool repeated = false;  // a scalar, loaded once
  bool direct = false;
  alignas(64) std::byte buffer[kStripBytes];

  void* Strip(int64_t begin) { return direct ? data + begin * Bytes(type) : buffer; }
  const void* Load(int64_t begin, int64_t n) {
    if (direct) return data + begin * Bytes(type);
    if (!repeated) LoadStrip(type, data + begin * Bytes(type), Bytes(type), n, buffer);
    return buffer;
  }
  void Store(int64_t begin, int64_t n) {
    if (!direct) StoreStrip(type, buffer, n, data + begin * Bytes(type), Bytes(type));
  }
};

bool IsRepeated(const Literal& operand, const Shape& result) {
  return operand.shape().rank() == 0 && result.rank() != 0;
}

// The result in the storage of an operand that nobody else holds and that has as many bytes, else fresh.
absl::StatusOr<Literal> TakeResult(EvalContext& context, std::span<Literal> operands, int& reused) {
  const Shape& shape = context.result_shape();
  for (size_t k = 0; k < operands.size(); ++k) {
    if (Bytes(operands[k].shape().element_type()) != Bytes(shape.element_type()) ||
        IsRepeated(operands[k], shape) || !operands[k].IsUnique()) {
      continue;
    }
    reused = static_cast<int>(k);
    return std::exchange(operands[k], Literal()).WithShape(context.shared_result_shape());
  }
  return context.NewResult();
}

absl::Status Walk(EvalContext& context, const StripKernel& kernel, int64_t n, std::span<Stream> in,
                  Stream& out) {
  std::array<const void*, kMaxOperands> strips{};
  for (int64_t begin = 0; begin < n; begin += kStrip) {
    if (begin % kChargeEvery == 0) {
      ASSAY_RETURN_IF_ERROR(context.Charge(std::min(kChargeEvery, n - begin)));
    }
    const int64_t count = std::min(kStrip, n - begin);
    for (size_t k = 0; k < in.size(); ++k) strips[k] = in[k].Load(begin, count);
    kernel.fn(kernel.params, count, strips.data(), out.Strip(begin));
    out.Store(begin, count);
  }
  return absl::OkStatus();
}

absl::Status WalkStored(EvalContext& context, StoredFn fn, int64_t n, std::span<Stream> in, Stream& out) {
  std::array<const std::byte*, kMaxOperands> chunks{};
  for (int64_t begin = 0; begin < n; begin += kChargeEvery) {
    const int64_t count = std::min(kChargeEvery, n - begin);
    ASSAY_RETURN_IF_ERROR(context.Charge(count));
    for (size_t k = 0; k < in.size(); ++k) chunks[k] = in[k].data + begin * Bytes(in[k].type);
    fn(count, chunks.data(), out.data + begin * Bytes(out.type));
  }
  return absl::OkStatus();
}

// The function over stored elements, where the op has one for a single type and the operands are whole.
StoredFn StoredFor(Opcode opcode, std::span<const Stream> in, const Stream& out) {
  for (const Stream& operand : in) {
    if (operand.type != out.type || operand.repeated) return nullptr;
  }
  return StoredStripFor(opcode, out.type);
}

absl::Status CheckArray(const InferContext& context, int64_t k, std::string_view label) {
  if (context.operand(k).IsArray()) return absl::OkStatus();
  return InvalidProgram(
      {}, fmt::format("{}: operand {} is {}, wanted an array", label, k, context.operand(k).ToString()));
}

absl::Status CheckType(ElementType type, TypeSet types, std::string_view label) {
  if (types.Has(type)) return absl::OkStatus();
  return InvalidProgram({},
                        fmt::format("{}: element type {} is not supported by this op", label, Name(type)));
}

}  // namespace

// Decision: elementwise-static-with-dynamic. A static dimension takes part with its whole size and does not
// contradict a smaller run-time size of another operand.
absl::StatusOr<DimVector> JoinRuntimeSizes(EvalContext& context, std::span<const Literal> operands) {
  const Shape& result = context.result_shape();
  DimVector sizes(result.sizes().begin(), result.sizes().end());
  for (int64_t d = 0; d < result.rank(); ++d) {
    int64_t first = -1;
    for (size_t k = 0; k < operands.size(); ++k) {
      if (IsRepeated(operands[k], result) || !operands[k].shape().is_dynamic(d)) continue;
      const int64_t size = operands[k].dynamic_size(d);
      if (first >= 0 && operands[first].dynamic_size(d) != size) {
        return EvalError(context.instruction().position,
                         fmt::format("DYN-4: {}: dimension {} has run-time size {} in operand {} and {} in "
                                     "operand {}",
                                     Name(context.instruction().opcode), d, operands[first].dynamic_size(d),
                                     first, size, k));
      }
      first = static_cast<int64_t>(k);
      sizes[d] = size;
    }
  }
  return sizes;
}

void SetRuntimeSizes(std::span<const int64_t> sizes, Literal& literal) {
  if (!literal.shape().HasDynamic()) return;
  for (int64_t d = 0; d < literal.shape().rank(); ++d) {
    if (literal.shape().is_dynamic(d)) literal.set_dynamic_size(d, sizes[d]);
  }
}

absl::StatusOr<Literal> EvalElementwise(EvalContext& context, std::span<Literal> operands) {
  ASSAY_CHECK(!operands.empty() && operands.size() <= kMaxOperands);
  const Instruction& instruction = context.instruction();
  const Shape& shape = context.result_shape();
  std::array<ElementType, kMaxOperands> types{};
  for (size_t k = 0; k < operands.size(); ++k) types[k] = operands[k].shape().element_type();
  const StripKernel kernel = DefinitionOf(instruction.opcode)
                                 .strip(instruction, {types.data(), operands.size()}, shape.element_type());
  if (kernel.fn == nullptr) {
    return NotSupported(instruction.position,
                        fmt::format("{}: element type {}", Name(instruction.opcode), Name(types[0])));
  }
  ASSAY_ASSIGN_OR_RETURN(const DimVector sizes, JoinRuntimeSizes(context, operands));

  std::array<Stream, kMaxOperands + 1> streams;
  const std::span<Stream> in(streams.data(), operands.size());
  Stream& out = streams[kMaxOperands];
  for (size_t k = 0; k < in.size(); ++k) {
    in[k].type = types[k];
    in[k].repeated = IsRepeated(operands[k], shape);
    in[k].direct = !in[k].repeated && IsStoredAsComputed(types[k]);
  }
  int reused = -1;
  ASSAY_ASSIGN_OR_RETURN(Literal result, TakeResult(context, operands, reused));
  if (const int64_t n = shape.num_elements(); n > 0) {
    out.type = shape.element_type();
    out.data = result.MutableBytes().data();
    // A strip function may write over its input only where both are of one kind.
    out.direct = IsStoredAsComputed(out.type) && (reused < 0 || KindOf(types[reused]) == KindOf(out.type));
    for (size_t k = 0; k < in.size(); ++k) {
      // Streams only read what they load from.
      in[k].data = static_cast<int>(k) == reused ? out.data : const_cast<std::byte*>(operands[k].data());
      if (in[k].repeated) LoadStrip(types[k], in[k].data, 0, std::min(n, kStrip), in[k].buffer);
    }
    const StoredFn stored = StoredFor(instruction.opcode, in, out);
    ASSAY_RETURN_IF_ERROR(stored != nullptr ? WalkStored(context, stored, n, in, out)
                                            : Walk(context, kernel, n, in, out));
  }
  SetRuntimeSizes(sizes, result);
  if (!result.IsFullSize()) result.ClearDeadElements();
  return result;
}

absl::StatusOr<Shape> InferUnary(const InferContext& context, TypeSet types) {
  ASSAY_RETURN_IF_ERROR(CheckArray(context, 0, "UNARY-C1"));
  const Shape& operand = context.operand(0);
  ASSAY_RETURN_IF_ERROR(CheckType(operand.element_type(), types, "UNARY-C2"));
  return WithElementType(operand, operand.element_type());
}

absl::StatusOr<Shape> InferBinary(const InferContext& context, TypeSet types) {
  ASSAY_RETURN_IF_ERROR(CheckArray(context, 0, "BINARY-C1"));
  ASSAY_RETURN_IF_ERROR(CheckArray(context, 1, "BINARY-C1"));
  const Shape& lhs = context.operand(0);
  const Shape& rhs = context.operand(1);
  if (lhs.element_type() != rhs.element_type()) {
    return InvalidProgram({}, fmt::format("BINARY-C2: element types are {} and {}, wanted the same",
                                          Name(lhs.element_type()), Name(rhs.element_type())));
  }
  if (!SameOrUnboundedDimensions(lhs, rhs)) {
    return InvalidProgram({}, fmt::format("BINARY-C3: operands are {} and {}, wanted the same dimensions",
                                          lhs.ToString(), rhs.ToString()));
  }
  ASSAY_RETURN_IF_ERROR(CheckType(lhs.element_type(), types, "BINARY-C4"));
  return JoinDimensions(lhs, rhs);
}

}  // namespace assay
