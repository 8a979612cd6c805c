#include "python/ffi_bindings.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "custom/ffi/library.h"

namespace py = pybind11;

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

// What is in a capsule of any name: jax.ffi.pycapsule's have none, extension modules' have some.
void* PointerIn(const py::handle& capsule) {
  if (!PyCapsule_CheckExact(capsule.ptr()))
    throw py::type_error("want a PyCapsule, as jax.ffi.pycapsule makes them");
  void* const pointer = PyCapsule_GetPointer(capsule.ptr(), PyCapsule_GetName(capsule.ptr()));
  if (pointer == nullptr) throw py::error_already_set();
  return pointer;
}

abi::HandlerBundle BundleOf(const std::map<std::string, py::object>& capsules) {
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
      throw py::value_error("there is no stage '" + name +
                            "': want instantiate, prepare, initialize or execute");
    }
    *stage->second = reinterpret_cast<abi::Handler*>(PointerIn(named.second));
  }
  return bundle;
}

}  // namespace

std::shared_ptr<const CustomOps> FfiOpsOfProcess() {
  const std::shared_ptr<const FfiOps> ops = RegisteredOps::OfProcess().Get();
  return ops->empty() ? nullptr : ops;
}

void DefineFfi(py::module_& module, void (*fail)(const absl::Status& status)) {
  module.def("register_ffi",
             [fail](const std::string& name, const std::map<std::string, py::object>& capsules) {
               const abi::HandlerBundle bundle = BundleOf(capsules);
               const absl::Status status =
                   RegisteredOps::OfProcess().Add([&](FfiOps& ops) { return ops.Register(name, bundle); });
               if (!status.ok()) fail(status);
             });
  module.def("register_ffi_type",
             [fail](const std::string& name, const py::object& type_id, const py::object& type_info) {
               auto* const type = static_cast<abi::TypeId*>(PointerIn(type_id));
               const auto* const info =
                   type_info.is_none() ? nullptr : static_cast<const abi::TypeInfo*>(PointerIn(type_info));
               const absl::Status status = custom::ffi::TypeRegistry::OfProcess().Register(
                   name, *type, info == nullptr ? nullptr : info->deleter);
               if (!status.ok()) fail(BadInput(std::string(status.message())));
             });
  module.def("load_ffi", [fail](const std::string& path) {
    std::vector<std::string> targets;
    const absl::Status status = RegisteredOps::OfProcess().Add([&](FfiOps& ops) -> absl::Status {
      ASSAY_ASSIGN_OR_RETURN(targets, custom::ffi::LoadFfiLibrary(path, ops));
      return absl::OkStatus();
    });
    if (!status.ok()) fail(status);
    return targets;
  });
}

}  // namespace assay
