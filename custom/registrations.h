// What a library, or a caller, registers in one go: copies of all that it told a registrar (custom/c_api.h).
// Applied to a registry all of it counts, or nothing.
#ifndef ASSAY_CUSTOM_REGISTRATIONS_H_
#define ASSAY_CUSTOM_REGISTRATIONS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "custom/c_api.h"
#include "custom/op_interface.h"
#include "evaluator/custom_op.h"

namespace assay::custom {

// A kernel of an operation. Its functions are valid as long as the process is.
struct KernelDef {
  std::string op, label;
  int32_t priority = 0;
  bool on_cpu = true;  // else on a device of CUDA
  std::vector<std::pair<std::string, std::vector<ElementType>>>
      constraints;                       // attribute and the types it may be
  std::vector<std::string> host_memory;  // arguments whose data the kernel reads or writes on the host
  CustomTolerance tolerance;
  void* user = nullptr;
  void* (*create)(void* user, const AssayConstruction* construction) = nullptr;
  void (*compute)(void* kernel, const AssayCompute* call) = nullptr;
  void (*destroy)(void* kernel) = nullptr;

  // "cpu, T in {f32, f64}", for messages.
  std::string Text() const;
};

struct ShapeFunction {
  void* user = nullptr;
  void (*infer)(void* user, const AssayInference* call) = nullptr;  // null: the declared shape is trusted
};

struct GradientFunction {
  std::string op;
  void* user = nullptr;
  void (*build)(void* user, const AssayGradient* call) = nullptr;  // null: not differentiable
};

struct Registrations {
  struct Op {
    OpInterface interface;
    ShapeFunction shape;
  };
  std::vector<Op> ops;
  std::vector<KernelDef> kernels;
  std::vector<GradientFunction> gradients;
};

// Calls `tell` with a registrar that keeps what it is told. Error: InvalidProgram with the first thing that
// was wrong; BadInput where the teller said that it can't register, or threw.
absl::StatusOr<Registrations> Collect(const std::function<void(const AssayRegistrar* registrar)>& tell);

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_REGISTRATIONS_H_
