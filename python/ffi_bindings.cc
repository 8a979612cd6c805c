#include "python/ffi_bindings.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "custom/ffi/library.h"
#include "python/classes.h"
#include "python/ops_bindings.h"

namespace assay {
namespace {

using custom::ffi::FfiOps;
namespace abi = custom::ffi::abi;

// A set that modules have is left as it is: registering makes another one.
class RegisteredOps {
 public:
  static RegisteredOps& OfProcess() {
    static RegisteredOps& ops = *new RegisteredOps;
    return ops;
  }
  std::shared_ptr<const FfiOps> Get() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return ops_;
  }
  template <typename Change>
  absl::Status Add(Change change) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto changed = std::make_shared<FfiOps>(*ops_);
    ASSAY_RETURN_IF_ERROR(change(*changed));
    ops_ = std::move(changed);
    return absl::OkStatus();
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const FfiOps> ops_ = std::make_shared<const FfiOps>();
};

abi::HandlerBundle BundleOf(const std::map<std::string, py::Object>& capsules) {
  abi::HandlerBundle bundle = {};
  const std::pair<std::string_view, abi::Handler**> stages[] = {{"instantiate", &bundle.instantiate},
                                                                {"prepare", &bundle.prepare},
                                                                {"initialize", &bundle.initialize},
                                                                {"execute", &bundle.execute}};
  for (const auto& named : capsules) {
    const std::string& name = named.first;
    const auto* const stage = std::find_if(std::begin(stages), std::end(stages), [&](const auto& known) {
      return known.first == std::string_view(name);
    });
    if (stage == std::end(stages)) {
      throw py::ValueError("there is no stage '" + name +
                           "': want instantiate, prepare, initialize or execute");
    }
    *stage->second = reinterpret_cast<abi::Handler*>(py::PointerIn(named.second));
  }
  return bundle;
}

void Check(const absl::Status& status) {
  if (!status.ok()) Throw(status, "assay", "");
}

void RegisterHandlers(const std::string& name, const std::map<std::string, py::Object>& capsules) {
  const abi::HandlerBundle bundle = BundleOf(capsules);
  Check(RegisteredOps::OfProcess().Add([&](FfiOps& ops) { return ops.Register(name, bundle); }));
}

void RegisterType(const std::string& name, const py::Object& type_id, const py::Object& type_info) {
  auto* const type = static_cast<abi::TypeId*>(py::PointerIn(type_id));
  const auto* const info =
      type_info.is_none() ? nullptr : static_cast<const abi::TypeInfo*>(py::PointerIn(type_info));
  const absl::Status status =
      custom::ffi::TypeRegistry::OfProcess().Register(name, *type, info == nullptr ? nullptr : info->deleter);
  if (!status.ok()) Check(BadInput(std::string(status.message())));
}

std::vector<std::string> LoadHandlers(const std::string& path) {
  std::vector<std::string> targets;
  Check(RegisteredOps::OfProcess().Add([&](FfiOps& ops) -> absl::Status {
    ASSAY_ASSIGN_OR_RETURN(targets, custom::ffi::LoadFfiLibrary(path, ops));
    return absl::OkStatus();
  }));
  return targets;
}

}  // namespace

std::shared_ptr<const CustomOps> FfiOpsOfProcess() {
  const std::shared_ptr<const FfiOps> ops = RegisteredOps::OfProcess().Get();
  return ops->empty() ? nullptr : ops;
}

void DefineFfi(PyObject* module) {
  static PyMethodDef functions[] = {py::Function<&RegisterHandlers>("register_ffi"),
                                    py::Function<&RegisterType>("register_ffi_type"),
                                    py::Function<&LoadHandlers>("load_ffi"),
                                    {}};
  if (PyModule_AddFunctions(module, functions) != 0) throw py::PythonError();
}

}  // namespace assay
