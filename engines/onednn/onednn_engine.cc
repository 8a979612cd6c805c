#include "engines/onednn/onednn_engine.h"

#include <array>
#include <atomic>

#include "base/parallel.h"
#include "engines/onednn/kernels.h"
#include "fmt/format.h"

namespace assay::onednn {
namespace {

constexpr int64_t kFewestProducts = int64_t{1} << 26;
// They take a seventh of a second on two cores: --timeout and Ctrl-C are seen between steps.
constexpr int64_t kMaxProducts = int64_t{1} << 34;

// True if no element has an exponent of ones alone.
template <typename T, T exponent>
bool AllFinite(const Literal& array, Parallel& parallel) {
  const auto* const bits = reinterpret_cast<const T*>(array.data());
  std::atomic<bool> special = false;
  parallel.For(array.shape().num_elements(), 1 << 16, [&](int64_t begin, int64_t end) {
    bool any = false;
    for (int64_t i = begin; i < end; ++i) any |= (bits[i] & exponent) == exponent;
    if (any) special = true;
  });
  return !special;
}

bool AllFinite(const Literal& array, Parallel& parallel) {
  const ElementType type = array.shape().element_type();
  if (type == ElementType::kF32) return AllFinite<uint32_t, 0x7f800000>(array, parallel);
  return type != ElementType::kBF16 || AllFinite<uint16_t, 0x7f80>(array, parallel);
}

class PrimitiveKernel final : public Kernel {
 public:
  PrimitiveKernel(std::unique_ptr<Primitive> primitive, const Accuracy& accuracy, int64_t products,
                  bool finite_alone)
      : primitive_(std::move(primitive)),
        accuracy_(accuracy),
        products_(products),
        finite_alone_(finite_alone) {}

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    for (size_t k = 0; finite_alone_ && k < 2; ++k) {
      if (!AllFinite(operands[k], context.parallel())) return Fallback("infinities or NaNs");
    }
    ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult());
    ASSAY_RETURN_IF_ERROR(primitive_->Run(context, operands[0].data(), operands[1].data(),
                                          result.MutableBytes().data(), context.options().jobs));
    ASSAY_RETURN_IF_ERROR(context.Charge(products_));
    return result;
  }
  const Accuracy& accuracy() const override { return accuracy_; }

 private:
  const std::unique_ptr<Primitive> primitive_;
  const Accuracy& accuracy_;
  const int64_t products_;
  const bool finite_alone_;
};

class Onednn final : public Engine {
 public:
  Onednn(Isa isa, int64_t fewest) : isa_(isa), fewest_(fewest) {}
  std::string_view name() const override { return "onednn"; }
  bool MayTake(Opcode opcode) const override {
    return opcode == Opcode::kDot || opcode == Opcode::kConvolution;
  }

  KernelOr Prepare(const FusionView& fusion) const override {
    ASSAY_ASSIGN_OR_RETURN(const StepView step, SingleInstruction(fusion));
    if (step.instruction.opcode == Opcode::kDot) return PrepareDot(step, isa_, fewest_);
    if (step.instruction.opcode == Opcode::kConvolution) return PrepareConvolution(step, isa_, fewest_);
    return NotSupported({}, "takes only dot and convolution");
  }

 private:
  const Isa isa_;
  const int64_t fewest_;
};

template <int64_t fewest>
const Engine& EngineFor(Isa isa) {
  static const std::array<Onednn, 3> engines = {Onednn(Isa::kBaseline, fewest), Onednn(Isa::kAvx2, fewest),
                                                Onednn(Isa::kAvx512, fewest)};
  return engines[static_cast<size_t>(isa)];
}

}  // namespace

absl::StatusOr<const Accuracy*> AccuracyOf(const StepView& step) {
  const ElementType lhs = step.operand_shape(0).element_type(), rhs = step.operand_shape(1).element_type(),
                    result = step.result_shape().element_type();
  if (lhs == ElementType::kF32 && rhs == lhs && result == lhs) return &SumInF32();
  if (lhs == ElementType::kBF16 && rhs == lhs && (result == lhs || result == ElementType::kF32))
    return &SumInF32WithoutSubnormals();
  // s8: results would pass through f32, and the exact kernels are as fast.
  return NotSupported({}, fmt::format("{} by {} to {}", Name(lhs), Name(rhs), Name(result)));
}

absl::Status CheckInstructions(const StepView& step, Isa isa, int64_t fewest) {
  const bool half = step.operand_shape(0).element_type() == ElementType::kBF16;
  if (!half || fewest <= 1) return absl::OkStatus();
  // Without them oneDNN took 1.8 times the time of f32 tiles for a dot of 1024, and more than the exact
  // kernels on some machines.
  __builtin_cpu_init();
  if (isa == Isa::kAvx512 && __builtin_cpu_supports("avx512bf16")) return absl::OkStatus();
  return NotSupported({}, "no bf16 instructions, without which oneDNN is not faster");
}

absl::Status CheckSize(const StepView& step, int64_t terms, int64_t fewest) {
  for (const Shape* shape : {&step.operand_shape(0), &step.operand_shape(1), &step.result_shape()}) {
    if (shape->HasDynamic() || shape->HasUnbounded()) return NotSupported({}, "dynamic shapes");
    if (shape->num_elements() == 0) return NotSupported({}, "no elements");
  }
  const int64_t results = step.result_shape().num_elements();
  if (terms < 1 || results > kMaxProducts / terms)
    return NotSupported({}, fmt::format("more than {} products", kMaxProducts));
  if (results * terms >= fewest) return absl::OkStatus();
  return NotSupported({}, fmt::format("too few products ({} < {})", results * terms, fewest));
}

std::shared_ptr<const Kernel> MakeKernel(std::unique_ptr<Primitive> primitive, const Accuracy& accuracy,
                                         int64_t products, bool finite_alone) {
  return std::make_shared<PrimitiveKernel>(std::move(primitive), accuracy, products, finite_alone);
}

const Engine& OnednnEngine(Isa isa) { return EngineFor<kFewestProducts>(isa); }
const Engine& EagerOnednnEngine(Isa isa) { return EngineFor<1>(isa); }

}  // namespace assay::onednn
