#include "pjrt/plugin/compile_options.h"

#include <cstring>
#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "base/counted.h"
#include "evaluator/device.h"
#include "fmt/format.h"
#include "hlo/proto/wire.h"
#include "pjrt/plugin/wire_writer.h"
#include "pjrt/plugin/xla_options.h"

namespace assay::pjrt {
namespace {

using proto::WireField;
using proto::WireReader;

absl::Status ForEachField(std::string_view message, absl::FunctionRef<absl::Status(const WireField&)> take) {
  WireReader reader(message);
  WireField field;
  while (!reader.AtEnd()) {
    ASSAY_RETURN_IF_ERROR(reader.Next(&field));
    ASSAY_RETURN_IF_ERROR(take(field));
  }
  return absl::OkStatus();
}

// A repeated integer: one number, or a packed list of them.
absl::Status AddNumbers(const WireField& field, std::vector<int64_t>& numbers) {
  if (field.is_varint) {
    numbers.push_back(static_cast<int64_t>(field.value));
    return absl::OkStatus();
  }
  WireReader list(field.payload);
  while (!list.AtEnd()) {
    uint64_t value;
    if (!list.ReadVarint(&value)) return InvalidProgram({}, "a list of device ids that ends within a number");
    numbers.push_back(static_cast<int64_t>(value));
  }
  return absl::OkStatus();
}

// computation_devices[partition].replica_device_ids[replica]
absl::Status ReadAssignment(std::string_view bytes, CompileOptions& options) {
  std::vector<std::vector<int64_t>> partitions;
  int64_t replicas = 0;
  ASSAY_RETURN_IF_ERROR(ForEachField(bytes, [&](const WireField& field) {
    if (field.number == 1 && field.is_varint) replicas = static_cast<int64_t>(field.value);
    if (field.number != 3 || !field.is_bytes) return absl::OkStatus();
    std::vector<int64_t>& ids = partitions.emplace_back();
    return ForEachField(field.payload, [&](const WireField& inner) {
      return inner.number == 1 ? AddNumbers(inner, ids) : absl::OkStatus();
    });
  }));
  if (partitions.empty()) return absl::OkStatus();
  for (const std::vector<int64_t>& ids : partitions) {
    if (std::ssize(ids) != replicas || replicas > kMaxDevices) {
      return InvalidProgram({}, fmt::format("device_assignment: {} for {}", Counted(ids.size(), "device"),
                                            Counted(replicas, "replica")));
    }
  }
  for (int64_t r = 0; r < replicas; ++r) {
    for (const std::vector<int64_t>& ids : partitions)
      options.device_ids.push_back(ids[static_cast<size_t>(r)]);
  }
  return absl::OkStatus();
}

absl::Status ReadBuildOptions(const WireField& field, CompileOptions& options) {
  const auto value = static_cast<int64_t>(field.value);
  switch (field.is_varint ? field.number : 0) {
    case 1:
      options.device_ordinal = value;
      break;
    case 4:
      options.replicas = value;
      break;
    case 5:
      options.partitions = value;
      break;
    case 6:
      options.spmd_partitioning = value != 0;
      break;
    default:
      break;
  }
  return field.number == 9 && field.is_bytes ? ReadAssignment(field.payload, options) : absl::OkStatus();
}

// An OptionOverrideProto: one of its fields is there, and nothing where none is.
absl::StatusOr<std::optional<XlaOptionValue>> ReadOverride(std::string_view bytes) {
  std::optional<XlaOptionValue> value;
  ASSAY_RETURN_IF_ERROR(ForEachField(bytes, [&](const WireField& field) {
    if (field.number == 1 && field.is_bytes) value = std::string(field.payload);
    if (field.number == 2 && field.is_varint) value = field.value != 0;
    if (field.number == 3 && field.is_varint) value = static_cast<int64_t>(field.value);
    double number;
    if (field.number == 4 && field.whole.size() > sizeof(number)) {
      std::memcpy(&number, field.whole.data() + field.whole.size() - sizeof(number), sizeof(number));
      value = number;
    }
    return absl::OkStatus();
  }));
  return value;
}

// An entry of env_option_overrides: an option of XLA's by its name.
absl::Status CheckOverride(const WireField& entry) {
  if (!entry.is_bytes) return absl::OkStatus();
  std::string_view name, value_bytes;
  ASSAY_RETURN_IF_ERROR(ForEachField(entry.payload, [&](const WireField& field) {
    if (field.number == 1 && field.is_bytes) name = field.payload;
    if (field.number == 2 && field.is_bytes) value_bytes = field.payload;
    return absl::OkStatus();
  }));
  ASSAY_ASSIGN_OR_RETURN(const std::optional<XlaOptionValue> value, ReadOverride(value_bytes));
  if (value.has_value()) return CheckXlaOption(name, *value);
  return InvalidProgram({}, fmt::format("option '{}' has no value", name.substr(0, 100)));
}

}  // namespace

absl::StatusOr<CompileOptions> CompileOptions::Parse(std::string_view bytes) {
  CompileOptions options;
  const absl::Status status = ForEachField(bytes, [&](const WireField& field) {
    if (field.number == 4 && field.is_varint) options.portable = field.value != 0;
    if (field.number == 7) return CheckOverride(field);
    if (field.number != 3 || !field.is_bytes) return absl::OkStatus();
    return ForEachField(field.payload,
                        [&](const WireField& inner) { return ReadBuildOptions(inner, options); });
  });
  ASSAY_RETURN_IF_ERROR(WithPrefix(status, "compile options"));
  if (options.replicas == 0) options.replicas = 1;
  if (options.partitions == 0) options.partitions = 1;
  if (options.replicas < 0 || options.partitions < 0 || options.replicas > kMaxDevices ||
      options.partitions > kMaxDevices || options.replicas * options.partitions > kMaxDevices) {
    return InvalidProgram(
        {}, fmt::format("compile options: {} of {}, want at most {}", Counted(options.replicas, "replica"),
                        Counted(options.partitions, "partition"), Counted(kMaxDevices, "device")));
  }
  if (!options.device_ids.empty() &&
      std::ssize(options.device_ids) != options.replicas * options.partitions) {
    return InvalidProgram(
        {}, fmt::format("compile options: {} devices are assigned to {} of {}", options.device_ids.size(),
                        Counted(options.replicas, "replica"), Counted(options.partitions, "partition")));
  }
  return options;
}

std::string DeviceAssignmentBytes(int64_t replicas, int64_t partitions,
                                  const std::vector<int64_t>& device_ids) {
  WireWriter assignment;
  assignment.Varint(1, static_cast<uint64_t>(replicas));
  assignment.Varint(2, static_cast<uint64_t>(partitions));
  for (int64_t p = 0; p < partitions; ++p) {
    std::vector<int64_t> ids;
    for (int64_t r = 0; r < replicas; ++r) ids.push_back(device_ids[static_cast<size_t>(r * partitions + p)]);
    WireWriter devices;
    devices.Packed(1, ids);
    assignment.Bytes(3, devices.bytes());
  }
  return assignment.bytes();
}

}  // namespace assay::pjrt
