// A prepared call of a handler: what of its frames is the same in every run is made once.
#ifndef ASSAY_CUSTOM_FFI_FFI_KERNEL_H_
#define ASSAY_CUSTOM_FFI_FFI_KERNEL_H_

#include <memory>
#include <string>
#include <vector>

#include "custom/block_pool.h"
#include "custom/ffi/attributes.h"
#include "custom/ffi/call_context.h"
#include "custom/ffi/data_types.h"
#include "custom/ffi/handler.h"
#include "evaluator/custom_op.h"

namespace assay::custom::ffi {

// What is wrong with the call's form, whatever the handler. Errors: NotSupported, InvalidProgram.
absl::Status CheckCall(const Instruction& call, std::span<const Shape* const> operands, const Shape& result);

// An array or a token among the operands or the results, which tuples hold one behind the other.
struct Leaf {
  std::shared_ptr<const Shape> shape;
  MemoryForm form;           // of an array
  abi::Buffer buffer = {};   // without data
  DimVector sizes;           // what buffer.sizes points to
  int aliased_operand = -1;  // of a result: the operand leaf whose memory it has
  bool is_array() const { return shape->IsArray(); }
};

class FfiKernel final : public CustomKernel, public std::enable_shared_from_this<FfiKernel> {
 public:
  // Runs `instantiate`.
  static absl::StatusOr<std::shared_ptr<const FfiKernel>> Make(std::shared_ptr<const FfiHandlers> handlers,
                                                               std::shared_ptr<const UserData> user_data,
                                                               const Computation& computation,
                                                               const Instruction& call);

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override;
  std::string_view name() const override { return name_; }

 private:
  class Call;  // one run

  FfiKernel(std::shared_ptr<const FfiHandlers> handlers, std::shared_ptr<const UserData> user_data)
      : handlers_(std::move(handlers)),
        user_data_(std::move(user_data)),
        name_("ffi " + handlers_->target()) {}
  absl::Status AddLeaves(const std::shared_ptr<const Shape>& shape, const Shape* layouts,
                         std::vector<Leaf>& leaves);
  absl::Status SetAliases(const Computation& computation, const Instruction& call);
  absl::Status Instantiate();

  const std::shared_ptr<const FfiHandlers> handlers_;
  const std::shared_ptr<const UserData> user_data_;
  const std::string name_;
  std::unique_ptr<const CallAttributes> attributes_;
  std::vector<Leaf> operands_, results_;
  std::vector<abi::ArgumentKind> argument_kinds_;
  std::vector<abi::ResultKind> result_kinds_;
  mutable BlockPool blocks_;            // one for each leaf
  std::unique_ptr<const State> state_;  // what `instantiate` set; null: nothing
};

}  // namespace assay::custom::ffi

#endif  // ASSAY_CUSTOM_FFI_FFI_KERNEL_H_
