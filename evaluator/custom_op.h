// Operations outside of the op table, which custom calls reach by their target: what the verifier, the
// reference and the engines see of them. custom/ has the operations of users,
// those of XLA FFI libraries and those of LAPACK.
#ifndef ASSAY_EVALUATOR_CUSTOM_OP_H_
#define ASSAY_EVALUATOR_CUSTOM_OP_H_

#include <memory>
#include <span>
#include <string_view>

#include "base/error.h"
#include "hlo/custom_ops.h"
#include "hlo/module.h"
#include "literal/literal.h"
#include "shape/shape.h"

namespace assay {

class BoundContext;      // bound.h
class EvalContext;       // eval_context.h
struct InferContext;     // op.h
struct InstructionView;  // instruction_view.h

// How far a kernel's floats may lie from those of the operation's reference kernel, |x - r| <= absolute +
// relative * |r|; both 0: the same bits.
struct CustomTolerance {
  double absolute = 0, relative = 0;
  bool is_exact() const { return absolute == 0 && relative == 0; }
};

// One prepared call. Runs share it, threads and devices too.
class CustomKernel {
 public:
  virtual ~CustomKernel() = default;
  // OpDef::eval's contract: the result has the shape of the call.
  virtual absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const = 0;
  // What `assay plan` shows.
  virtual std::string_view name() const = 0;
  virtual CustomTolerance tolerance() const { return {}; }
};

// A device that kernels run on (gpu/), while a call is told to it. What is told happens in one order.
class CustomDevice {
 public:
  virtual ~CustomDevice() = default;
  // The driver's handle of that order: CUDA's CUstream. Its context is the calling thread's.
  virtual void* stream() const = 0;
  // Memory of the device until what is told now has happened.
  virtual absl::StatusOr<void*> Allocate(int64_t bytes) = 0;
};

// One prepared call that runs on a device. Runs share it.
class CustomDeviceKernel {
 public:
  virtual ~CustomDeviceKernel() = default;
  // Tells the device to compute all results. Operands and results are dense row-major arrays of the program's
  // sizes by their addresses, in the device's memory or, where the two functions below say so, in the host's;
  // results on the host are written when the call returns.
  virtual absl::Status Run(CustomDevice& device, std::span<void* const> operands,
                           std::span<void* const> results) const = 0;
  virtual bool operand_on_host(int64_t operand) const = 0;
  virtual bool result_on_host(int64_t result) const = 0;
  // What `assay plan` shows.
  virtual std::string_view name() const = 0;
  virtual CustomTolerance tolerance() const = 0;
};

// Which kernel of an operation is wanted, where it has several.
enum class KernelRole : uint8_t {
  kReference,  // what the others are compared with
  kFastest,    // by the operation's own order of them
};

class CustomOp : public CustomCallTarget {
 public:
  // The shape that the call gives, from operands and attributes alone, or InvalidProgram. What the operation
  // leaves to the program is context.declared.
  virtual absl::StatusOr<Shape> Infer(const InferContext& context) const = 0;
  // A kernel for a call that passed Infer. NotSupported where there is none for its types; InvalidProgram
  // where the kernel refuses its attributes. What two roles give may be the same kernel.
  virtual absl::StatusOr<std::shared_ptr<const CustomKernel>> Prepare(const Module& module,
                                                                      const Computation& computation,
                                                                      const Instruction& call,
                                                                      KernelRole role) const = 0;
  // A kernel that runs on a device of CUDA, of the call of static arrays alone; else NotSupported.
  virtual absl::StatusOr<std::shared_ptr<const CustomDeviceKernel>> PrepareOnDevice(
      const Module& module, const Computation& computation, const Instruction& call) const;
  // What --max-steps counts of a call that passed Infer (Work::elements), by its shapes and attributes; the
  // larger of the result and the largest operand, where the operation says nothing else.
  virtual double Elements(const InstructionView& call) const;
  // The rule of a call's bounds (docs/bounds.md), as OpDef::bound; nothing is known of the result, where the
  // operation says nothing else.
  virtual void Bound(BoundContext& context) const;
};

// The operation that a custom call of the module means; null where it is none of module.custom_ops.
const CustomOp* CustomOpOf(const Module& module, const Instruction& call);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_CUSTOM_OP_H_
