// What a kernel behind the C interface is for one call, wherever it runs: the instance,
// and what each of its runs is told.
#ifndef ASSAY_CUSTOM_KERNEL_INSTANCE_H_
#define ASSAY_CUSTOM_KERNEL_INSTANCE_H_

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "custom/c_api.h"
#include "custom/c_values.h"
#include "custom/registrations.h"
#include "custom/resolved_call.h"
#include "hlo/module.h"

namespace assay::custom {

class KernelInstance {
 public:
  // Constructs the kernel for a call with these operands. Errors are the constructor's.
  static absl::StatusOr<std::unique_ptr<const KernelInstance>> Make(const OpInterface& op,
                                                                    const KernelDef& kernel,
                                                                    ResolvedCall bound,
                                                                    std::span<const Shape* const> operands,
                                                                    const Instruction& call);
  ~KernelInstance();
  KernelInstance(const KernelInstance&) = delete;
  KernelInstance& operator=(const KernelInstance&) = delete;

  const OpInterface& op() const { return op_; }
  const KernelDef& def() const { return def_; }
  const ResolvedCall& bound() const { return bound_; }
  // "Acme.ZeroOut: cpu, T in {f32}".
  const std::string& name() const { return name_; }
  void* instance() const { return instance_; }
  // By value, without data.
  std::span<const AssayArray> inputs() const { return inputs_; }
  std::span<const AssayArray> outputs() const { return outputs_; }
  // Of the arrays, also of those in a buffer.
  std::span<const std::shared_ptr<const Shape>> output_shapes() const { return output_shapes_; }
  bool has_dynamic() const { return has_dynamic_; }

  // What is the same in each run. Data of the inputs, memory and functions are the run's own.
  AssayCompute Call() const;
  // EvalError unless these are sizes that the program wants of the output, an array.
  absl::Status CheckSizes(size_t output, int64_t rank, const int64_t* sizes) const;

 private:
  KernelInstance(const OpInterface& op, const KernelDef& kernel, ResolvedCall bound,
                 std::span<const Shape* const> operands, const Instruction& call);
  absl::Status Construct();

  const OpInterface op_;
  const KernelDef def_;
  const ResolvedCall bound_;
  const CAttrs attrs_;
  const std::string name_;
  std::deque<Shape> shapes_;
  std::vector<AssayArray> inputs_, outputs_;
  std::vector<std::shared_ptr<const Shape>> output_shapes_;
  bool has_dynamic_ = false;
  std::vector<AssayType> input_types_, output_types_;
  std::vector<AssayArgument> input_arguments_, output_arguments_;
  void* instance_ = nullptr;
};

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_KERNEL_INSTANCE_H_
