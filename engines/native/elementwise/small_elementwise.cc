#include "engines/native/elementwise/small_elementwise.h"

#include <array>
#include <utility>

#include "engines/native/elementwise/run_elementwise.h"
#include "engines/native/elementwise/stored_arithmetic.h"
#include "evaluator/eval_context.h"
#include "evaluator/static_shape.h"

namespace assay::native {
namespace {

constexpr int64_t kFew = 64;         // elements
constexpr int64_t kWidestKind = 16;  // bytes of an element as strip functions have it

// How an operand or the result lies in memory.
struct SmallStream {
  ElementType type = ElementType::kPred;
  int64_t bytes = 1;     // of an element
  bool direct = false;   // strip functions work on it where it lies
  bool reusable = true;  // an operand whose storage the result fits
  bool in_place = true;  // an operand that a strip function may write over
};

class SmallElementwise final : public Kernel {
 public:
  SmallElementwise(const StepView& step, const StripKernel& strip, ElementwiseFn stored)
      : strip_(strip),
        stored_(stored),
        n_(step.result_shape().num_elements()),
        count_(step.instruction.operands.size()),
        out_(SmallStreamOf(step.result_shape().element_type())) {
    bool one_type = true;
    for (size_t k = 0; k < count_; ++k) {
      SmallStream& in = in_[k] = SmallStreamOf(step.operand_shape(static_cast<int64_t>(k)).element_type());
      in.reusable = in.bytes == out_.bytes;
      in.in_place = KindOf(in.type) == KindOf(out_.type);
      one_type = one_type && in.type == out_.type;
    }
    if (stored_ == nullptr && one_type) stored_ = StoredArithmeticFor(step.instruction.opcode, out_.type);
  }

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    size_t reused = 0;
    while (reused < count_ && !(in_[reused].reusable && operands[reused].IsUnique())) ++reused;
    Literal result;
    if (reused < count_) {
      result = std::exchange(operands[reused], Literal()).WithShape(context.shared_result_shape());
    } else {
      ASSAY_ASSIGN_OR_RETURN(result, context.NewResult());
    }
    ASSAY_RETURN_IF_ERROR(context.Charge(n_));
    std::byte* const out = result.MutableBytes().data();
    std::array<const std::byte*, 3> in{};
    for (size_t k = 0; k < count_; ++k) in[k] = k == reused ? out : operands[k].data();
    if (stored_ != nullptr) {
      stored_(n_, in.data(), out);
    } else {
      RunStrip(in, out, reused == count_ || in_[reused].in_place);
    }
    return result;
  }

 private:
  static SmallStream SmallStreamOf(ElementType type) {
    return {.type = type, .bytes = Bytes(type), .direct = IsStoredAsComputed(type)};
  }

  void RunStrip(const std::array<const std::byte*, 3>& in, std::byte* out, bool in_place) const {
    struct alignas(64) Buffer {
      std::byte bytes[kFew * kWidestKind];
    };
    std::array<Buffer, 4> buffers;  // not cleared
    std::array<const void*, 3> strips{};
    for (size_t k = 0; k < count_; ++k) {
      strips[k] = in_[k].direct ? in[k] : buffers[k].bytes;
      if (!in_[k].direct) LoadStrip(in_[k].type, in[k], in_[k].bytes, n_, buffers[k].bytes);
    }
    const bool direct = out_.direct && in_place;
    strip_.fn(strip_.params, n_, strips.data(), direct ? out : buffers[3].bytes);
    if (!direct) StoreStrip(out_.type, buffers[3].bytes, n_, out, out_.bytes);
  }

  const StripKernel strip_;
  ElementwiseFn stored_;
  const int64_t n_;
  const size_t count_;
  const SmallStream out_;
  std::array<SmallStream, 3> in_;
};

}  // namespace

std::shared_ptr<const Kernel> MakeSmallElementwise(const StepView& step, const StripKernel& strip,
                                                   ElementwiseFn stored) {
  const Shape& result = step.result_shape();
  if (!IsStaticArray(result) || result.num_elements() == 0 || result.num_elements() > kFew) return nullptr;
  const int64_t count = std::ssize(step.instruction.operands);
  if (count == 0 || count > 3) return nullptr;
  for (int64_t k = 0; k < count; ++k) {
    const Shape& operand = step.operand_shape(k);
    if (!IsStaticArray(operand) || operand.rank() != result.rank()) return nullptr;
  }
  return std::make_shared<SmallElementwise>(step, strip, stored);
}

}  // namespace assay::native
