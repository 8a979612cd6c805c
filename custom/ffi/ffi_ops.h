// Handlers of XLA's FFI by target: what custom calls with api_version=API_VERSION_TYPED_FFI reach
// (docs/xla_ffi.md).
#ifndef ASSAY_CUSTOM_FFI_FFI_OPS_H_
#define ASSAY_CUSTOM_FFI_FFI_OPS_H_

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "custom/ffi/api.h"
#include "custom/ffi/ffi_op.h"
#include "evaluator/custom_op.h"

namespace assay::custom::ffi {

// A copy shares the handlers, so a set that modules have can be left as it is and its copy get more.
class FfiOps final : public CustomOps {
 public:
  const CustomOp* Find(std::string_view target) const override;
  bool empty() const { return ops_.empty(); }

  // All of them or, on an error, none. The same handlers again are no error. BadInput: a target that has
  // other handlers or that Assay itself defines, a platform other than the CPU's, a bundle that is none;
  // NotSupported: another version.
  absl::Status Register(std::span<const Registration> registrations);
  absl::Status Register(std::string_view target, const abi::HandlerBundle& bundle, uint32_t traits = 0);

  // What ExecutionContext_Get gives for a type, to all calls of this set and its copies; before a module has
  // one of them. The object outlives them.
  void SetUserData(abi::TypeId type, void* object);

 private:
  std::map<std::string, std::shared_ptr<const FfiOp>, std::less<>> ops_;
  std::shared_ptr<UserData> user_data_ = std::make_shared<UserData>();
};

}  // namespace assay::custom::ffi

#endif  // ASSAY_CUSTOM_FFI_FFI_OPS_H_
