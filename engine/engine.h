// Engines: who runs a step of a plan, and the choice that `--engine` makes.
//
// An engine takes a step (one instruction, or a fusion: several that fusion.h found to belong together) by
// preparing a kernel for it, or declines with the reason. Engines
// are asked in order; the reference (OpDef::eval) comes last and takes everything. An engine knows nothing of
// other engines, of control flow or of the cross-check: the executor does these.
#ifndef ASSAY_ENGINE_ENGINE_H_
#define ASSAY_ENGINE_ENGINE_H_

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "evaluator/elementwise.h"
#include "evaluator/op.h"
#include "jit/isa.h"

namespace assay {

class EvalContext;

// What is known of an instruction before it runs: everything but values.
struct StepView {
  const Module& module;
  const Computation& computation;
  const Instruction& instruction;

  const Instruction& operand(int64_t i) const {
    return computation.instructions[instruction.operands[static_cast<size_t>(i)]];
  }
  const Shape& operand_shape(int64_t i) const { return *operand(i).shape; }
  const Shape& result_shape() const { return *instruction.shape; }
};

// Instructions that run as one step (fusion.h).
struct FusionView {
  const Module& module;
  const Computation& computation;
  std::span<const int32_t> members;   // in order; the last is the root, whose value alone is needed outside
  std::span<const int32_t> operands;  // what members read of other instructions, each once
  bool in_loop = false;               // the computation may run many times

  const Instruction& root() const { return computation.instructions[static_cast<size_t>(members.back())]; }
};

// How near a kernel's result is to OpDef::eval's. Where its bits are not equal, every element is a sum of n terms t
// (products, in dot and convolution) in f32, u = 2^-24 and w = 2^-126, or in f64, u = 2^-53 and w = 2^-1074, in some order:
//   RN_T(s - e) <= element <= RN_T(s + e),  s = sum t,  T the result's type,
//   e = gamma sum |t| + n w (+ the terms with a subnormal factor, where such factors may count as zero),
//   gamma = (n + 2) u / (1 - (n + 2) u)
// Where s is NaN it is NaN, where s is infinite s or NaN (in f64 anything); where sum |t| (1 + gamma) leaves that format's range, anything.
enum class Accuracy : uint8_t {
  kBitExact,
  kF32Sum,
  kF32SumNoSubnormals,
  kF64Sum,
};

// One prepared step. Its contract is OpDef::eval's, bits included unless accuracy() says otherwise. It is shared by all
// runs of a plan. The kernel of a fusion gets the values of the fusion's operands; the context is that of the root.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const = 0;
  virtual Accuracy accuracy() const { return Accuracy::kBitExact; }
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::string_view name() const = 0;
  // An engine takes either single instructions or fusions, of one member too.
  virtual bool fuses() const { return false; }
  // NotSupported with the reason as the message where the engine declines; any other error is an error.
  virtual absl::StatusOr<std::shared_ptr<const Kernel>> Prepare(const StepView& step) const;
  virtual absl::StatusOr<std::shared_ptr<const Kernel>> PrepareFusion(const FusionView& fusion) const;
  // Whether the instruction may be a member of a fusion; if not, the reason is written to `reason` where that is
  // not null.
  virtual bool CanFuse(const StepView& step, std::string* reason) const;
  // The engine's function for an elementwise op inside a compiled scalar computation (scalar_function.h); fn
  // is null where it has none better than the op table's. Same contract, bits included.
  virtual StripKernel Strip(const Instruction& instruction, std::span<const ElementType> operands,
                            ElementType result) const = 0;
};

enum class EngineChoice : uint8_t {
  kReference,  // the op table alone
  kExact,      // kernels that give the reference's bits, the reference elsewhere
  kFast,       // before these, kernels that are within a bound of it (Kernel::accuracy)
};
std::string_view Name(EngineChoice choice);

// The engines of a choice in the order in which they are asked, without the reference. Their code is for
// instruction sets up to `isa`, which the machine must have.
std::span<const Engine* const> EnginesOf(EngineChoice choice, native::Isa isa = native::MachineIsa());

}  // namespace assay

#endif  // ASSAY_ENGINE_ENGINE_H_
