#include "engines/approximate/functions_engine.h"

#include <algorithm>
#include <array>

#include "engines/approximate/functions.h"
#include "engines/jit/jit_engine.h"

namespace assay::approximate {
namespace {

class Functions final : public Engine {
 public:
  Functions(Isa isa, int64_t fewest) : isa_(isa), fewest_(fewest) {}
  std::string_view name() const override { return "functions"; }
  bool MayTake(Opcode opcode) const override {
    const std::span<const ApproximateFunction> functions = ApproximateFunctions(isa_);
    return std::any_of(functions.begin(), functions.end(),
                       [&](const ApproximateFunction& row) { return row.opcode == opcode; });
  }

  absl::StatusOr<std::shared_ptr<const Kernel>> Prepare(const FusionView& fusion) const override {
    ASSAY_ASSIGN_OR_RETURN(const StepView step, SingleInstruction(fusion));
    if (!step.result_shape().IsArray()) return NotSupported({}, "takes only elementwise functions");
    return PrepareFunction(step, isa_, fewest_);
  }

 private:
  const Isa isa_;
  const int64_t fewest_;  // elements
};

template <int64_t fewest>
const Engine& FunctionsEngineFor(Isa isa) {
  static const std::array<Functions, 3> engines = {
      Functions(Isa::kBaseline, fewest), Functions(Isa::kAvx2, fewest), Functions(Isa::kAvx512, fewest)};
  return engines[static_cast<size_t>(isa)];
}

jit::StoredApproximation Find(const Computation& computation, const Instruction& instruction, Isa isa) {
  const ApproximateFunction* const row = ApproximateFunctionFor(computation, instruction, isa);
  if (row == nullptr) return {};
  return {row->stored, row->streamed, &WithinUlps(row->ulps)};
}

template <bool eager>
const Engine& JitFor(Isa isa) {
  constexpr jit::JitEngine::Options kOptions = {.eager = eager, .approximate = Find};
  static const std::array<jit::JitEngine, 3> engines = {jit::JitEngine(Isa::kBaseline, kOptions),
                                                        jit::JitEngine(Isa::kAvx2, kOptions),
                                                        jit::JitEngine(Isa::kAvx512, kOptions)};
  return engines[static_cast<size_t>(isa)];
}

}  // namespace

const Engine& FunctionsEngine(Isa isa) { return FunctionsEngineFor<1 << 10>(isa); }
const Engine& EagerFunctionsEngine(Isa isa) { return FunctionsEngineFor<1>(isa); }
const Engine& ApproximateJitEngine(Isa isa) { return JitFor<false>(isa); }
const Engine& EagerApproximateJitEngine(Isa isa) { return JitFor<true>(isa); }

}  // namespace assay::approximate
