#include "engines/native/native_engine.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engines/native/contraction/convolution.h"
#include "engines/native/contraction/dot.h"
#include "engines/native/elementwise/elementwise.h"
#include "engines/native/elementwise/iota.h"
#include "engines/native/elementwise/moves.h"
#include "engines/native/linalg/batch_norm.h"
#include "engines/native/linalg/cholesky.h"
#include "engines/native/linalg/fft.h"
#include "engines/native/linalg/lapack_call.h"
#include "engines/native/linalg/triangular_solve.h"
#include "engines/native/reduce/all_reduce.h"
#include "engines/native/reduce/reduce.h"
#include "engines/native/scatter_gather/gather.h"
#include "engines/native/scatter_gather/scatter.h"
#include "engines/native/scatter_gather/select_and_scatter.h"
#include "engines/native/sort/sort.h"
#include "engines/native/sort/top_k.h"
#include "engines/native/window/window.h"
#include "evaluator/eval_context.h"
#include "evaluator/ops/control/custom_call.h"
#include "evaluator/ops/control/function_call.h"
#include "evaluator/registry.h"
#include "fmt/format.h"

namespace assay::native {
namespace {

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareCustomCall(const StepView& step, Isa isa) {
  const std::string_view target = step.instruction.attributes.Text(Attr::kCustomCallTarget);
  if (IsLapackCall(step.instruction)) return MakeLapackCall(isa);
  if (IsFunctionCall(target)) return MakeFunctionCall(step, isa);
  return NotSupported({}, fmt::format("no kernel for custom calls of {}", target));
}

// A bitcast-convert is left to the reference, which hands storage on.
bool IsElementwise(Opcode opcode) {
  return DefinitionOf(opcode).strip != nullptr && opcode != Opcode::kBitcastConvert;
}

struct KernelRow {
  Opcode opcode;
  PrepareFn prepare;
};

// Elementwise ops are found by their strip functions; every other op with a kernel has a row here.
constexpr KernelRow kKernels[] = {
    {Opcode::kAllReduce, PrepareAllReduce},
    {Opcode::kAllReduceStart, PrepareAllReduce},
    {Opcode::kBatchNormGrad, PrepareBatchNorm},
    {Opcode::kBatchNormInference, PrepareBatchNorm},
    {Opcode::kBatchNormTraining, PrepareBatchNorm},
    {Opcode::kBitcast, PrepareBitcast},
    {Opcode::kBroadcast, PrepareMoves},
    {Opcode::kCholesky, PrepareCholesky},
    {Opcode::kConcatenate, PrepareMoves},
    {Opcode::kConvolution, PrepareConvolution},
    {Opcode::kCopy, PrepareMoves},
    {Opcode::kCustomCall, PrepareCustomCall},
    {Opcode::kDot, PrepareDot},
    {Opcode::kDynamicSlice, PrepareMoves},
    {Opcode::kDynamicUpdateSlice, PrepareMoves},
    {Opcode::kFft, PrepareFft},
    {Opcode::kGather, PrepareGather},
    {Opcode::kIota, PrepareIota},
    {Opcode::kPad, PrepareMoves},
    {Opcode::kReduce, PrepareReduce},
    {Opcode::kReduceWindow, PrepareReduceWindow},
    {Opcode::kReshape, PrepareMoves},
    {Opcode::kReverse, PrepareMoves},
    {Opcode::kScatter, PrepareScatter},
    {Opcode::kSelectAndScatter, PrepareSelectAndScatter},
    {Opcode::kSlice, PrepareMoves},
    {Opcode::kSort, PrepareSort},
    {Opcode::kTopK, PrepareTopK},
    {Opcode::kTranspose, PrepareMoves},
    {Opcode::kTriangularSolve, PrepareTriangularSolve},
};

class Native final : public Engine {
 public:
  explicit Native(Isa isa) : isa_(isa) {}

  std::string_view name() const override { return "native"; }
  bool MayTake(Opcode opcode) const override {
    return IsElementwise(opcode) || std::any_of(std::begin(kKernels), std::end(kKernels),
                                                [&](const KernelRow& row) { return row.opcode == opcode; });
  }

  absl::StatusOr<std::shared_ptr<const Kernel>> Prepare(const FusionView& view) const override {
    const Opcode opcode = view.root().opcode;
    if (!view.is_single()) {
      if (opcode == Opcode::kConcatenate) return PrepareConcatenate(view);
      if (opcode == Opcode::kReduce) return PrepareReduceOfBroadcast(view, isa_);
      if (opcode == Opcode::kSlice || opcode == Opcode::kDynamicSlice) return PrepareSliceOfBroadcast(view);
      return NotSupported({}, fmt::format("no fusion of {}", Name(opcode)));
    }
    const StepView step = view.single();
    if (IsElementwise(opcode)) return PrepareElementwise(step, isa_);
    for (const KernelRow& row : kKernels) {
      if (row.opcode == opcode) return row.prepare(step, isa_);
    }
    return NotSupported({}, fmt::format("no kernel for {}", Name(opcode)));
  }

  StripKernel Strip(const Instruction& instruction, std::span<const ElementType> operands,
                    ElementType result) const override {
    return NativeStrip(instruction, operands, result, isa_);
  }

 private:
  const Isa isa_;
};

}  // namespace

const Engine& NativeEngine() { return NativeEngine(MachineIsa()); }

const Engine& NativeEngine(Isa isa) {
  static const std::array<Native, 3> engines = {Native(Isa::kBaseline), Native(Isa::kAvx2),
                                                Native(Isa::kAvx512)};
  return engines[static_cast<size_t>(isa)];
}

}  // namespace assay::native
