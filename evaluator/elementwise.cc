// Walking whole arrays with strip functions, and the shape rules UNARY and BINARY
// (spec/operations-elementwise.md, shared constraints). The ops themselves are in ops/.
#include "evaluator/elementwise.h"

#include <algorithm>
#include <array>
#include <utility>

#include "evaluator/eval_context.h"
#include "evaluator/parallel.h"
#include "evaluator/registry.h"
#include "evaluator/stored_strips.h"
#include "evaluator/strips.h"
#include "fmt/format.h"

namespace assay {
namespace {

constexpr int kMaxOperands = 3;
constexpr int64_t kChargeEvery = 1 << 20;  // elements between two charges
constexpr int64_t kGrain = 1 << 14;        // elements that a thread takes at a time

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

  void* Strip(int64_t begin, std::byte* buffer) const { return direct ? data + begin * Bytes(type) : buffer; }
  const void* Load(int64_t begin, int64_t n, std::byte* buffer) const {
    if (direct) return data + begin * Bytes(type);
    if (!repeated) LoadStrip(type, data + begin * Bytes(type), Bytes(type), n, buffer);
    return buffer;
  }
  void Store(int64_t begin, int64_t n, const std::byte* buffer) const {
    if (!direct) StoreStrip(type, buffer, n, data + begin * Bytes(type), Bytes(type));
  }
};

struct alignas(64) StripBuffer {
  std::byte bytes[kStripBytes];
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

// Elements [begin, end) by the strip function.
void WalkStrips(const StripKernel& kernel, std::span<const Stream> in, const Stream& out, int64_t begin,
                int64_t end) {
  std::array<StripBuffer, kMaxOperands + 1> buffers;
  std::array<const void*, kMaxOperands> strips{};
  for (size_t k = 0; k < in.size(); ++k) {
    if (in[k].repeated) {
      LoadStrip(in[k].type, in[k].data, 0, std::min(end - begin, kStrip), buffers[k].bytes);
    }
  }
  std::byte* const result = buffers[kMaxOperands].bytes;
  for (; begin < end; begin += kStrip) {
    const int64_t count = std::min(kStrip, end - begin);
    for (size_t k = 0; k < in.size(); ++k) strips[k] = in[k].Load(begin, count, buffers[k].bytes);
    kernel.fn(kernel.params, count, strips.data(), out.Strip(begin, result));
    out.Store(begin, count, result);
  }
}

void WalkStored(StoredFn fn, std::span<const Stream> in, const Stream& out, int64_t begin, int64_t end) {
  std::array<const std::byte*, kMaxOperands> chunks{};
  for (size_t k = 0; k < in.size(); ++k) chunks[k] = in[k].data + begin * Bytes(in[k].type);
  fn(end - begin, chunks.data(), out.data + begin * Bytes(out.type));
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
  std::array<ElementType, kMaxOperands> types{};
  for (size_t k = 0; k < operands.size(); ++k) types[k] = operands[k].shape().element_type();
  const ElementType result = context.result_shape().element_type();
  const StripKernel kernel =
      DefinitionOf(instruction.opcode).strip(instruction, {types.data(), operands.size()}, result);
  if (kernel.fn == nullptr) {
    return NotSupported(instruction.position,
                        fmt::format("{}: element type {}", Name(instruction.opcode), Name(types[0])));
  }
  return RunElementwise(context, operands, kernel);
}

absl::StatusOr<Literal> RunElementwise(EvalContext& context, std::span<Literal> operands,
                                       const StripKernel& kernel, StoredFn stored) {
  const Shape& shape = context.result_shape();
  ASSAY_ASSIGN_OR_RETURN(const DimVector sizes, JoinRuntimeSizes(context, operands));

  std::array<Stream, kMaxOperands> streams;
  const std::span<Stream> in(streams.data(), operands.size());
  for (size_t k = 0; k < in.size(); ++k) {
    in[k].type = operands[k].shape().element_type();
    in[k].repeated = IsRepeated(operands[k], shape);
    in[k].direct = !in[k].repeated && IsStoredAsComputed(in[k].type);
  }
  int reused = -1;
  ASSAY_ASSIGN_OR_RETURN(Literal result, TakeResult(context, operands, reused));
  if (const int64_t n = shape.num_elements(); n > 0) {
    Stream out{.type = shape.element_type(), .data = result.MutableBytes().data()};
    // A strip function may write over its input only where both are of one kind.
    out.direct = IsStoredAsComputed(out.type) && (reused < 0 || KindOf(in[reused].type) == KindOf(out.type));
    for (size_t k = 0; k < in.size(); ++k) {
      // Streams only read what they load from.
      in[k].data = static_cast<int>(k) == reused ? out.data : const_cast<std::byte*>(operands[k].data());
    }
    if (stored == nullptr) stored = StoredFor(context.instruction().opcode, in, out);
    for (int64_t begin = 0; begin < n; begin += kChargeEvery) {
      const int64_t count = std::min(kChargeEvery, n - begin);
      ASSAY_RETURN_IF_ERROR(context.Charge(count));
      context.parallel().For(count, kGrain, [&](int64_t from, int64_t to) {
        if (stored != nullptr) {
          WalkStored(stored, in, out, begin + from, begin + to);
        } else {
          WalkStrips(kernel, in, out, begin + from, begin + to);
        }
      });
    }
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
