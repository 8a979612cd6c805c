#include "engines/native/elementwise/run_elementwise.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/parallel.h"
#include "engines/native/elementwise/stored_arithmetic.h"
#include "evaluator/runtime_sizes.h"

namespace assay::native {
namespace {

constexpr size_t kMaxOperands = 3;
constexpr int64_t kChargeEvery = 1 << 20;  // elements between two charges
constexpr int64_t kGrain = 1 << 14;        // elements that a thread takes at a time
// Of functions over loaded elements: the reference's, to which they leave the hardest,
// take tens of microseconds.
constexpr int64_t kGrainOfStrips = 1 << 12;
constexpr int64_t kGrainOfFunctionCalls = 1 << 8;  // an element of zeta takes 50 us

// One operand or result during the walk: where its strips are.
struct StripStream {
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
void WalkStrips(const StripKernel& kernel, std::span<const StripStream> in, const StripStream& out,
                int64_t begin, int64_t end) {
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

void WalkStored(ElementwiseFn fn, std::span<const StripStream> in, const StripStream& out, int64_t begin,
                int64_t end) {
  std::array<const std::byte*, kMaxOperands> chunks{};
  for (size_t k = 0; k < in.size(); ++k) chunks[k] = in[k].data + begin * Bytes(in[k].type);
  fn(end - begin, chunks.data(), out.data + begin * Bytes(out.type));
}

// The arithmetic over stored elements, where operands are whole arrays of the result's type.
ElementwiseFn ArithmeticFor(Opcode opcode, std::span<const StripStream> in, const StripStream& out) {
  for (const StripStream& operand : in) {
    if (operand.type != out.type || operand.repeated) return nullptr;
  }
  return StoredArithmeticFor(opcode, out.type);
}

}  // namespace

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

absl::StatusOr<Literal> RunElementwise(EvalContext& context, std::span<Literal> operands,
                                       const StripKernel& kernel, ElementwiseFn stored) {
  ASSAY_CHECK(!operands.empty() && operands.size() <= kMaxOperands);
  const Shape& shape = context.result_shape();
  ASSAY_ASSIGN_OR_RETURN(const DimVector sizes, JoinRuntimeSizes(context, operands));

  std::array<StripStream, kMaxOperands> streams;
  const std::span<StripStream> in(streams.data(), operands.size());
  for (size_t k = 0; k < in.size(); ++k) {
    in[k].type = operands[k].shape().element_type();
    in[k].repeated = IsRepeated(operands[k], shape);
    in[k].direct = !in[k].repeated && IsStoredAsComputed(in[k].type);
  }
  int reused = -1;
  ASSAY_ASSIGN_OR_RETURN(Literal result, TakeResult(context, operands, reused));
  if (const int64_t n = shape.num_elements(); n > 0) {
    StripStream out{.type = shape.element_type(), .data = result.MutableBytes().data()};
    // A strip function may write over its input only where both are of one kind.
    out.direct = IsStoredAsComputed(out.type) && (reused < 0 || KindOf(in[reused].type) == KindOf(out.type));
    for (size_t k = 0; k < in.size(); ++k) {
      // StripStreams only read what they load from.
      in[k].data = static_cast<int>(k) == reused ? out.data : const_cast<std::byte*>(operands[k].data());
    }
    if (stored == nullptr) stored = ArithmeticFor(context.instruction().opcode, in, out);
    for (int64_t begin = 0; begin < n; begin += kChargeEvery) {
      const int64_t count = std::min(kChargeEvery, n - begin);
      ASSAY_RETURN_IF_ERROR(context.Charge(count));
      const int64_t grain = stored != nullptr                                     ? kGrain
                            : context.instruction().opcode == Opcode::kCustomCall ? kGrainOfFunctionCalls
                                                                                  : kGrainOfStrips;
      context.parallel().For(count, grain, [&](int64_t from, int64_t to) {
        if (stored != nullptr) {
          WalkStored(stored, in, out, begin + from, begin + to);
        } else {
          WalkStrips(kernel, in, out, begin + from, begin + to);
        }
      });
    }
  }
  SetRuntimeSizes(result, sizes);
  if (!result.IsFullSize()) result.ClearDeadElements();
  return result;
}

}  // namespace assay::native
