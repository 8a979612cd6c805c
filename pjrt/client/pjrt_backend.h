// A library with PJRT's C API as a backend: any vendor's plugin for JAX runs a program, on its first device.
#ifndef ASSAY_PJRT_CLIENT_PJRT_BACKEND_H_
#define ASSAY_PJRT_CLIENT_PJRT_BACKEND_H_

#include <memory>
#include <string>
#include <vector>

#include "check/backend.h"
#include "pjrt/client/plugin.h"
#include "pjrt/client/plugin_options.h"

namespace assay::pjrt_client {

class PjrtBackend final : public Backend {
 public:
  // Opens the library and makes a client. Errors: Plugin::Open's and the plugin's own; EvalError:
  // it has no device.
  static absl::StatusOr<std::unique_ptr<PjrtBackend>> Open(const std::string& path,
                                                           const std::vector<PluginOption>& options);

  // "LIB.so (cpu, 1.2)".
  std::string Name() const override { return name_; }
  std::string Device() const override { return device_kind_; }
  // The program is compiled anew each time, from the first of FormsOf that the plugin takes. NotSupported:
  // several devices, dynamic sizes, values from the host. While the plugin works the guard of
  // the work is asked (PollWork).
  absl::StatusOr<Outputs> Run(const Request& request) override;

 private:
  explicit PjrtBackend(std::shared_ptr<const Plugin> plugin) : plugin_(std::move(plugin)) {}
  absl::Status MakeClient(const std::vector<PluginOption>& options);
  absl::Status ChooseDevice();
  void SetName();
  absl::StatusOr<Handle<pjrt::LoadedExecutable>> Compile(const Request& request) const;
  absl::Status CheckNumOutputs(pjrt::LoadedExecutable* executable, size_t wanted) const;
  absl::StatusOr<std::vector<Handle<pjrt::Buffer>>> PutArguments(const Request& request) const;
  absl::StatusOr<std::vector<Handle<pjrt::Buffer>>> Execute(
      pjrt::LoadedExecutable* executable, const std::vector<Handle<pjrt::Buffer>>& arguments,
      size_t num_outputs) const;

  const std::shared_ptr<const Plugin> plugin_;
  Handle<pjrt::Client> client_;
  pjrt::Device* device_ = nullptr;
  std::optional<int64_t> device_id_;
  std::string name_, device_kind_;
};

}  // namespace assay::pjrt_client

#endif  // ASSAY_PJRT_CLIENT_PJRT_BACKEND_H_
