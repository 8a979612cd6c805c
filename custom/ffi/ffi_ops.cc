#include "custom/ffi/ffi_ops.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "evaluator/ops/control/custom_call.h"
#include "fmt/format.h"

namespace assay::custom::ffi {
namespace {

bool IsCpu(std::string_view platform) {
  std::string lower(platform);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  return lower == "cpu" || lower == "host";
}

}  // namespace

const CustomOp* FfiOps::Find(std::string_view target) const {
  const auto found = ops_.find(target);
  return found == ops_.end() ? nullptr : found->second.get();
}

absl::Status FfiOps::Register(std::span<const Registration> registrations) {
  auto all = ops_;
  for (const Registration& registration : registrations) {
    const std::string& target = registration.target;
    if (!IsCpu(registration.platform)) {
      return BadInput(fmt::format("ffi: target '{}' is registered for platform '{}', want 'cpu' or 'Host'",
                                  target, registration.platform));
    }
    if (IsTargetOfAssay(target))
      return BadInput(fmt::format("ffi: target '{}' is one that Assay itself defines", target));
    if (const auto known = all.find(target); known != all.end()) {
      if (known->second->handlers().bundle() == registration.bundle) continue;
      return BadInput(fmt::format("ffi: target '{}' is registered already, with other handlers", target));
    }
    ASSAY_ASSIGN_OR_RETURN(FfiHandlers handlers, FfiHandlers::Make(target, registration.bundle));
    all.emplace(target, std::make_shared<const FfiOp>(std::move(handlers), user_data_));
  }
  ops_ = std::move(all);
  return absl::OkStatus();
}

absl::Status FfiOps::Register(std::string_view target, const abi::HandlerBundle& bundle, uint32_t traits) {
  const Registration one = {std::string(target), "cpu", bundle, traits};
  return Register({&one, 1});
}

void FfiOps::SetUserData(abi::TypeId type, void* object) { (*user_data_)[type.value] = object; }

}  // namespace assay::custom::ffi
