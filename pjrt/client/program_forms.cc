#include "pjrt/client/program_forms.h"

#include <cstdint>

#include "base/file_io.h"
#include "hlo/load/load.h"
#include "hlo/mlir/export/export.h"
#include "hlo/proto/export.h"
#include "pjrt/plugin/compile_options.h"
#include "pjrt/plugin/wire_writer.h"

namespace assay::pjrt_client {

std::vector<ProgramBytes> FormsOf(const Backend::Request& request) {
  std::vector<ProgramBytes> forms;
  if (!request.path.empty() && request.path != "-") {
    absl::StatusOr<std::string> bytes = ReadFile(request.path);
    if (bytes.ok() && FormOfProgram(request.path, *bytes) == ProgramForm::kStableHloBytecode)
      forms.push_back({"mlir", "StableHLO bytecode", *std::move(bytes)});
  }
  forms.push_back({"hlo", "an HLO proto", ExportProto(request.module)});
  forms.push_back({"mlir", "StableHLO text", ExportStableHlo(request.module)});
  return forms;
}

std::string CompileOptionBytes(bool arguments_are_tupled, std::optional<int64_t> device_id) {
  // Numbers of fields: CompileOptionsProto and ExecutableBuildOptionsProto.
  constexpr int32_t kTupledArguments = 2, kBuildOptions = 3;
  constexpr int32_t kDeviceOrdinal = 1, kReplicas = 4, kPartitions = 5, kDeviceAssignment = 9;
  pjrt::WireWriter build;
  build.Varint(kDeviceOrdinal, static_cast<uint64_t>(int64_t{-1}));  // the assignment says where
  build.Varint(kReplicas, 1);
  build.Varint(kPartitions, 1);
  if (device_id) build.Bytes(kDeviceAssignment, pjrt::DeviceAssignmentBytes(1, 1, {*device_id}));
  pjrt::WireWriter options;
  if (arguments_are_tupled) options.Varint(kTupledArguments, 1);
  options.Bytes(kBuildOptions, build.bytes());
  return options.bytes();
}

}  // namespace assay::pjrt_client
