#include "pjrt/client/pjrt_backend.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/counted.h"
#include "evaluator/grid/device_grid.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "literal/leaves.h"
#include "pjrt/client/arrays.h"
#include "pjrt/client/program_forms.h"

namespace assay::pjrt_client {
namespace {

absl::Status CheckShape(const Shape& whole, std::string_view what) {
  absl::Status status;
  ForEachLeaf(whole, [&](const ShapeIndex&, const Shape& shape) {
    if (!shape.IsArray() && !shape.IsToken()) {
      status =
          NotSupported({}, fmt::format("{} has {}: plugins take arrays and tokens", what, shape.ToString()));
    } else if (shape.IsArray() && shape.HasDynamic()) {
      status = NotSupported(
          {}, fmt::format("{} has {}: plugins take arrays of known sizes", what, shape.ToString()));
    }
  });
  return status;
}

// What a run of one device without a host beside it can do. Plugins would wait for the host forever.
absl::Status CheckModule(const Module& module) {
  const int64_t devices = module.replica_count * module.num_partitions;
  if (devices != 1)
    return NotSupported({}, fmt::format("a plugin runs a program of one device, this one is of {}", devices));
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      if (!MeetsHost(instruction)) continue;
      return NotSupported(instruction.position,
                          fmt::format("{}: a plugin runs a program of one device without a host beside it",
                                      Name(instruction.opcode)));
    }
  }
  const Computation& entry = module.entry_computation();
  for (const int32_t parameter : entry.parameters)
    ASSAY_RETURN_IF_ERROR(CheckShape(*entry.instructions[parameter].shape, "a parameter"));
  return CheckShape(*entry.root_instruction().shape, "the result");
}

// The arrays and tokens of the result, in order: keys by the rule for out0, out1.0, …, none for tokens.
std::vector<std::pair<std::string, Shape>> LeavesOfResult(const Module& module) {
  std::vector<std::pair<std::string, Shape>> leaves;
  ForEachLeaf(*module.entry_computation().root_instruction().shape,
              [&](const ShapeIndex& path, const Shape& shape) {
                std::string key = path.empty() ? "out0" : fmt::format("out{}", fmt::join(path, "."));
                leaves.emplace_back(shape.IsArray() ? std::move(key) : "", shape);
              });
  return leaves;
}

bool HasOneTupleParameter(const Module& module) {
  const Computation& entry = module.entry_computation();
  return entry.parameters.size() == 1 && entry.instructions[entry.parameters[0]].shape->IsTuple();
}

}  // namespace

absl::StatusOr<std::unique_ptr<PjrtBackend>> PjrtBackend::Open(const std::string& path,
                                                               const std::vector<PluginOption>& options) {
  ASSAY_ASSIGN_OR_RETURN(std::shared_ptr<const Plugin> plugin, Plugin::Open(path));
  std::unique_ptr<PjrtBackend> backend(new PjrtBackend(std::move(plugin)));
  ASSAY_RETURN_IF_ERROR(backend->MakeClient(options));
  ASSAY_RETURN_IF_ERROR(backend->ChooseDevice());
  backend->SetName();
  return backend;
}

absl::Status PjrtBackend::MakeClient(const std::vector<PluginOption>& options) {
  const std::vector<pjrt::NamedValue> values = NamedValuesOf(options);
  Struct<pjrt::ClientCreateArgs> call;
  call->create_options = values.data();
  call->num_options = values.size();
  ASSAY_RETURN_IF_ERROR(plugin_->Invoke(FunctionId::kClient_Create, call));
  if (call->client == nullptr) return plugin_->Wrong(FunctionId::kClient_Create, "gave no client");
  client_ = Handle<pjrt::Client>(*plugin_, call->client);
  return absl::OkStatus();
}

absl::Status PjrtBackend::ChooseDevice() {
  constexpr FunctionId kAsked = FunctionId::kClient_AddressableDevices;
  Struct<pjrt::ClientAddressableDevicesArgs> call;
  call->client = client_.get();
  ASSAY_RETURN_IF_ERROR(plugin_->Invoke(kAsked, call));
  if (call->num_addressable_devices == 0) return plugin_->Wrong(kAsked, "there are no devices");
  if (call->addressable_devices == nullptr || call->addressable_devices[0] == nullptr)
    return plugin_->Wrong(kAsked, "the first device is null");
  device_ = call->addressable_devices[0];
  if (!plugin_->Has(FunctionId::kDevice_GetDescription) || !plugin_->Has(FunctionId::kDeviceDescription_Id))
    return absl::OkStatus();
  Struct<pjrt::DeviceGetDescriptionArgs> description;
  description->device = device_;
  ASSAY_RETURN_IF_ERROR(plugin_->Invoke(FunctionId::kDevice_GetDescription, description));
  if (description->device_description == nullptr)
    return plugin_->Wrong(FunctionId::kDevice_GetDescription, "gave no description of the device");
  Struct<pjrt::DeviceDescriptionIdArgs> id;
  id->device_description = description->device_description;
  ASSAY_RETURN_IF_ERROR(plugin_->Invoke(FunctionId::kDeviceDescription_Id, id));
  device_id_ = id->id;
  Struct<pjrt::DeviceDescriptionKindArgs> kind;
  kind->device_description = description->device_description;
  if (plugin_->Has(FunctionId::kDeviceDescription_Kind) &&
      plugin_->Invoke(FunctionId::kDeviceDescription_Kind, kind).ok())
    device_kind_ = Plugin::TextOf(kind->device_kind, kind->device_kind_size);
  return absl::OkStatus();
}

void PjrtBackend::SetName() {
  Struct<pjrt::ClientPlatformNameArgs> platform;
  platform->client = client_.get();
  std::string words = "unknown platform";
  if (plugin_->Invoke(FunctionId::kClient_PlatformName, platform).ok())
    words = Plugin::TextOf(platform->platform_name, platform->platform_name_size);
  Struct<pjrt::ClientPlatformVersionArgs> version;
  version->client = client_.get();
  if (plugin_->Has(FunctionId::kClient_PlatformVersion) &&
      plugin_->Invoke(FunctionId::kClient_PlatformVersion, version).ok())
    words += ", " + Plugin::TextOf(version->platform_version, version->platform_version_size);
  name_ = fmt::format("{} ({})", plugin_->path(), words);
}

absl::StatusOr<Handle<pjrt::LoadedExecutable>> PjrtBackend::Compile(const Request& request) const {
  constexpr FunctionId kAsked = FunctionId::kClient_Compile;
  const std::string options = CompileOptionBytes(HasOneTupleParameter(request.module), device_id_);
  std::string refusals;
  bool is_supported = false;  // a form was refused for another reason than not being supported
  for (ProgramBytes& form : FormsOf(request)) {
    absl::Status status = form.code.status();
    if (status.ok()) {
      Struct<pjrt::ProgramCode> program;
      program->code = form.code->data();
      program->code_size = form.code->size();
      program->format = form.format.data();
      program->format_size = form.format.size();
      Struct<pjrt::ClientCompileArgs> call;
      call->client = client_.get();
      call->program = program.get();
      call->compile_options = options.data();
      call->compile_options_size = options.size();
      status = plugin_->Invoke(kAsked, call);
      if (status.ok() && call->executable == nullptr) return plugin_->Wrong(kAsked, "gave no executable");
      if (status.ok()) return Handle<pjrt::LoadedExecutable>(*plugin_, call->executable);
    }
    is_supported = is_supported || status.code() != absl::StatusCode::kUnimplemented;
    refusals +=
        fmt::format("{}as {}: {}", refusals.empty() ? "" : "; ", form.what, std::string(status.message()));
  }
  return is_supported ? EvalError({}, refusals) : NotSupported({}, refusals);
}

absl::Status PjrtBackend::CheckNumOutputs(pjrt::LoadedExecutable* executable, size_t wanted) const {
  Struct<pjrt::LoadedExecutableGetExecutableArgs> get;
  get->loaded_executable = executable;
  ASSAY_RETURN_IF_ERROR(plugin_->Invoke(FunctionId::kLoadedExecutable_GetExecutable, get));
  if (get->executable == nullptr)
    return plugin_->Wrong(FunctionId::kLoadedExecutable_GetExecutable, "gave no executable");
  const Handle<pjrt::Executable> owned(*plugin_, get->executable);
  Struct<pjrt::ExecutableNumOutputsArgs> outputs;
  outputs->executable = get->executable;
  ASSAY_RETURN_IF_ERROR(plugin_->Invoke(FunctionId::kExecutable_NumOutputs, outputs));
  if (outputs->num_outputs == wanted) return absl::OkStatus();
  return plugin_->Wrong(
      FunctionId::kExecutable_NumOutputs,
      fmt::format("{}, the program gives {}", Counted(outputs->num_outputs, "output"), wanted));
}

absl::StatusOr<std::vector<Handle<pjrt::Buffer>>> PjrtBackend::PutArguments(const Request& request) const {
  std::vector<Literal> leaves;
  for (const Literal& argument : request.arguments) AppendLeaves(argument, leaves);
  std::vector<Handle<pjrt::Buffer>> buffers;
  for (size_t i = 0; i < leaves.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(Handle<pjrt::Buffer> buffer, PutArray(*plugin_, client_.get(), device_, leaves[i],
                                                                 fmt::format("argument {}", i)));
    buffers.push_back(std::move(buffer));
  }
  return buffers;
}

absl::StatusOr<std::vector<Handle<pjrt::Buffer>>> PjrtBackend::Execute(
    pjrt::LoadedExecutable* executable, const std::vector<Handle<pjrt::Buffer>>& arguments,
    size_t num_outputs) const {
  constexpr FunctionId kAsked = FunctionId::kLoadedExecutable_Execute;
  constexpr size_t kBehind = 64;  // of a plugin that gives more than it said
  std::vector<pjrt::Buffer*> given;
  given.reserve(arguments.size());
  for (const Handle<pjrt::Buffer>& argument : arguments) given.push_back(argument.get());
  std::vector<pjrt::Buffer*> taken(num_outputs + kBehind, nullptr);
  pjrt::Buffer* const* const given_list = given.data();
  pjrt::Buffer** const taken_list = taken.data();
  pjrt::Event* done = nullptr;
  Struct<pjrt::ExecuteOptions> options;
  Struct<pjrt::LoadedExecutableExecuteArgs> call;
  call->executable = executable;
  call->options = options.get();
  call->argument_lists = &given_list;
  call->num_devices = 1;
  call->num_args = given.size();
  call->output_lists = &taken_list;
  call->device_complete_events = &done;
  ASSAY_RETURN_IF_ERROR(plugin_->Invoke(kAsked, call));
  // A buffer that is given twice is destroyed once.
  std::vector<Handle<pjrt::Buffer>> outputs;
  outputs.reserve(taken.size());
  std::set<pjrt::Buffer*> distinct;
  for (pjrt::Buffer* const buffer : taken)
    outputs.emplace_back(*plugin_, distinct.insert(buffer).second ? buffer : nullptr);
  ASSAY_RETURN_IF_ERROR(plugin_->Await(done, "the end of the execution"));
  if (std::any_of(taken.begin() + num_outputs, taken.end(),
                  [](const auto* buffer) { return buffer != nullptr; }))
    return plugin_->Wrong(kAsked,
                          fmt::format("gave more than the {} that it has", Counted(num_outputs, "output")));
  for (size_t i = 0; i < num_outputs; ++i) {
    if (taken[i] == nullptr) return plugin_->Wrong(kAsked, fmt::format("gave no buffer for output {}", i));
    if (outputs[i].get() == nullptr)
      return plugin_->Wrong(kAsked, fmt::format("gave the buffer of output {} twice", i));
  }
  outputs.resize(num_outputs);
  return outputs;
}

absl::StatusOr<Backend::Outputs> PjrtBackend::Run(const Request& request) {
  if (plugin_->is_abandoned())
    return plugin_->Wrong(FunctionId::kClient_Compile, "an earlier run did not end");
  ASSAY_RETURN_IF_ERROR(CheckModule(request.module));
  const std::vector<std::pair<std::string, Shape>> leaves = LeavesOfResult(request.module);
  ASSAY_ASSIGN_OR_RETURN(const Handle<pjrt::LoadedExecutable> executable, Compile(request));
  ASSAY_RETURN_IF_ERROR(CheckNumOutputs(executable.get(), leaves.size()));
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Handle<pjrt::Buffer>> arguments, PutArguments(request));
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Handle<pjrt::Buffer>> buffers,
                         Execute(executable.get(), arguments, leaves.size()));
  Outputs outputs;
  for (size_t i = 0; i < leaves.size(); ++i) {
    const auto& [key, shape] = leaves[i];
    if (key.empty()) continue;
    ASSAY_ASSIGN_OR_RETURN(Literal value,
                           FetchArray(*plugin_, buffers[i].get(), shape, fmt::format("output {}", i)));
    outputs.emplace(key, std::move(value));
  }
  return outputs;
}

}  // namespace assay::pjrt_client
