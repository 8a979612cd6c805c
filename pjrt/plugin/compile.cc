// Compiling, and what is asked of a program on its devices.
#include <optional>

#include "fmt/format.h"
#include "pjrt/plugin/error.h"
#include "pjrt/plugin/executable.h"
#include "pjrt/plugin/function_table.h"
#include "pjrt/plugin/owned_bytes.h"

namespace assay::pjrt {
namespace {

absl::StatusOr<LoadedExecutable*> Load(Client& client, std::shared_ptr<const CompiledProgram> program) {
  auto loaded = std::make_unique<LoadedExecutable>();
  loaded->client = &client;
  ASSAY_ASSIGN_OR_RETURN(loaded->devices, DevicesOf(client, program->options));
  const auto partitions = static_cast<int>(program->options.partitions);
  for (int i = 0; i < std::ssize(loaded->devices); ++i)
    loaded->logical_ids.push_back({i / partitions, i % partitions});
  loaded->program = std::move(program);
  return loaded.release();
}

absl::Status CompileProgram(ClientCompileArgs& args) {
  ASSAY_PJRT_WANT(client);
  ASSAY_PJRT_WANT(program);
  ASSAY_RETURN_IF_ERROR(WantSize(args.program->struct_size, kSizeOf<ProgramCode>, "the program"));
  ASSAY_PJRT_WANT(program->code);
  ASSAY_PJRT_WANT(program->format);
  if (args.compile_options_size > 0) ASSAY_PJRT_WANT(compile_options);
  ASSAY_ASSIGN_OR_RETURN(
      std::shared_ptr<const CompiledProgram> compiled,
      CompiledProgram::Compile(*args.client, {args.program->format, args.program->format_size},
                               {args.program->code, args.program->code_size},
                               {args.compile_options, args.compile_options_size}));
  ASSAY_ASSIGN_OR_RETURN(args.executable, Load(*args.client, std::move(compiled)));
  return absl::OkStatus();
}

absl::Status DeserializeAndLoad(ExecutableDeserializeAndLoadArgs& args) {
  ASSAY_PJRT_WANT(client);
  ASSAY_PJRT_WANT(serialized_executable);
  // Of writers since 0.70: options in place of those that the program was compiled with.
  constexpr size_t kWithOptions =
      offsetof(ExecutableDeserializeAndLoadArgs, overridden_serialized_compile_options_size) + sizeof(size_t);
  std::optional<std::string_view> options;
  if (args.struct_size >= kWithOptions && args.overridden_serialized_compile_options_size > 0) {
    ASSAY_PJRT_WANT(overridden_serialized_compile_options);
    options.emplace(args.overridden_serialized_compile_options,
                    args.overridden_serialized_compile_options_size);
  }
  ASSAY_ASSIGN_OR_RETURN(
      std::shared_ptr<const CompiledProgram> compiled,
      CompiledProgram::OfSerialized(*args.client,
                                    {args.serialized_executable, args.serialized_executable_size}, options));
  ASSAY_ASSIGN_OR_RETURN(args.loaded_executable, Load(*args.client, std::move(compiled)));
  return absl::OkStatus();
}

absl::Status DestroyLoaded(LoadedExecutableDestroyArgs& args) {
  delete args.executable;
  return absl::OkStatus();
}

absl::Status GetExecutable(LoadedExecutableGetExecutableArgs& args) {
  ASSAY_PJRT_WANT(loaded_executable);
  args.executable = new Executable(args.loaded_executable->program);
  return absl::OkStatus();
}

absl::Status DevicesOfLoaded(LoadedExecutableAddressableDevicesArgs& args) {
  ASSAY_PJRT_WANT(executable);
  args.addressable_devices = args.executable->devices.data();
  args.num_addressable_devices = args.executable->devices.size();
  return absl::OkStatus();
}

absl::Status DeviceAssignment(LoadedExecutableGetDeviceAssignmentArgs& args) {
  ASSAY_PJRT_WANT(executable);
  std::vector<int64_t> ids;
  for (const Device* device : args.executable->devices) ids.push_back(device->description->id);
  const CompileOptions& options = args.executable->program->options;
  args.serialized_device_assignment =
      GiveBytes(DeviceAssignmentBytes(options.replicas, options.partitions, ids), &args.serialized_bytes,
                &args.serialized_bytes_size);
  args.serialized_device_assignment_deleter = DeleteBytes;
  return absl::OkStatus();
}

absl::Status LogicalIds(LoadedExecutableAddressableDeviceLogicalIdsArgs& args) {
  ASSAY_PJRT_WANT(executable);
  args.addressable_device_logical_ids = args.executable->logical_ids.data();
  args.num_addressable_device_logical_ids = args.executable->logical_ids.size();
  return absl::OkStatus();
}

absl::Status DeleteLoaded(LoadedExecutableDeleteArgs& args) {
  ASSAY_PJRT_WANT(executable);
  args.executable->is_deleted = true;
  return absl::OkStatus();
}

absl::Status IsDeletedLoaded(LoadedExecutableIsDeletedArgs& args) {
  ASSAY_PJRT_WANT(executable);
  args.is_deleted = args.executable->is_deleted;
  return absl::OkStatus();
}

absl::Status FingerprintOfLoaded(LoadedExecutableFingerprintArgs& args) {
  ASSAY_PJRT_WANT(executable);
  args.executable_fingerprint = args.executable->program->fingerprint.data();
  args.executable_fingerprint_size = args.executable->program->fingerprint.size();
  return absl::OkStatus();
}

}  // namespace

void AddCompileFunctions(FunctionTable& table) {
  table.Set<CompileProgram>(FunctionId::kClient_Compile);
  table.Set<DeserializeAndLoad>(FunctionId::kExecutable_DeserializeAndLoad);
  table.Set<DestroyLoaded>(FunctionId::kLoadedExecutable_Destroy);
  table.Set<GetExecutable>(FunctionId::kLoadedExecutable_GetExecutable);
  table.Set<DevicesOfLoaded>(FunctionId::kLoadedExecutable_AddressableDevices);
  table.Set<DeviceAssignment>(FunctionId::kLoadedExecutable_GetDeviceAssignment);
  table.Set<LogicalIds>(FunctionId::kLoadedExecutable_AddressableDeviceLogicalIds);
  table.Set<DeleteLoaded>(FunctionId::kLoadedExecutable_Delete);
  table.Set<IsDeletedLoaded>(FunctionId::kLoadedExecutable_IsDeleted);
  table.Set<FingerprintOfLoaded>(FunctionId::kLoadedExecutable_Fingerprint);
}

}  // namespace assay::pjrt
