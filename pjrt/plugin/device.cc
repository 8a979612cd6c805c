// What devices, their memories and the topology say of themselves.
#include "pjrt/plugin/client.h"
#include "pjrt/plugin/error.h"
#include "pjrt/plugin/function_table.h"

namespace assay::pjrt {
namespace {

void GiveText(const std::string& text, const char** data, size_t* size) {
  *data = text.data();
  *size = text.size();
}

absl::Status DescriptionId(DeviceDescriptionIdArgs& args) {
  ASSAY_PJRT_WANT(device_description);
  args.id = args.device_description->id;
  return absl::OkStatus();
}

absl::Status DescriptionProcessIndex(DeviceDescriptionProcessIndexArgs& args) {
  ASSAY_PJRT_WANT(device_description);
  args.process_index = 0;
  return absl::OkStatus();
}

absl::Status DescriptionAttributes(DeviceDescriptionAttributesArgs& args) {
  ASSAY_PJRT_WANT(device_description);
  args.num_attributes = 0;
  args.attributes = nullptr;
  return absl::OkStatus();
}

absl::Status DescriptionKind(DeviceDescriptionKindArgs& args) {
  ASSAY_PJRT_WANT(device_description);
  GiveText(args.device_description->kind, &args.device_kind, &args.device_kind_size);
  return absl::OkStatus();
}

absl::Status DescriptionDebugString(DeviceDescriptionDebugStringArgs& args) {
  ASSAY_PJRT_WANT(device_description);
  GiveText(args.device_description->debug, &args.debug_string, &args.debug_string_size);
  return absl::OkStatus();
}

absl::Status DescriptionToString(DeviceDescriptionToStringArgs& args) {
  ASSAY_PJRT_WANT(device_description);
  GiveText(args.device_description->text, &args.to_string, &args.to_string_size);
  return absl::OkStatus();
}

absl::Status GetDescription(DeviceGetDescriptionArgs& args) {
  ASSAY_PJRT_WANT(device);
  args.device_description = args.device->description;
  return absl::OkStatus();
}

absl::Status IsAddressable(DeviceIsAddressableArgs& args) {
  ASSAY_PJRT_WANT(device);
  args.is_addressable = true;
  return absl::OkStatus();
}

absl::Status LocalHardwareId(DeviceLocalHardwareIdArgs& args) {
  ASSAY_PJRT_WANT(device);
  args.local_hardware_id = args.device->description->id;
  return absl::OkStatus();
}

absl::Status MemoriesOf(DeviceAddressableMemoriesArgs& args) {
  ASSAY_PJRT_WANT(device);
  args.memories = args.device->memory_handles.data();
  args.num_memories = args.device->memory_handles.size();
  return absl::OkStatus();
}

absl::Status DefaultMemory(DeviceDefaultMemoryArgs& args) {
  ASSAY_PJRT_WANT(device);
  args.memory = args.device->memory_handles[0];
  return absl::OkStatus();
}

absl::Status GetAttributes(DeviceGetAttributesArgs& args) {
  ASSAY_PJRT_WANT(device);
  args.attributes = nullptr;
  args.num_attributes = 0;
  args.device_attributes = nullptr;
  args.attributes_deleter = [](OwnedBytes*) {};
  return absl::OkStatus();
}

absl::Status MemoryId(MemoryIdArgs& args) {
  ASSAY_PJRT_WANT(memory);
  args.id = args.memory->id;
  return absl::OkStatus();
}

absl::Status MemoryKind(MemoryKindArgs& args) {
  ASSAY_PJRT_WANT(memory);
  GiveText(args.memory->kind, &args.kind, &args.kind_size);
  return absl::OkStatus();
}

absl::Status MemoryKindId(MemoryKindIdArgs& args) {
  ASSAY_PJRT_WANT(memory);
  args.kind_id = args.memory->kind_id;
  return absl::OkStatus();
}

absl::Status MemoryDebugString(MemoryDebugStringArgs& args) {
  ASSAY_PJRT_WANT(memory);
  GiveText(args.memory->debug, &args.debug_string, &args.debug_string_size);
  return absl::OkStatus();
}

absl::Status MemoryToString(MemoryToStringArgs& args) {
  ASSAY_PJRT_WANT(memory);
  GiveText(args.memory->debug, &args.to_string, &args.to_string_size);
  return absl::OkStatus();
}

absl::Status AddressableByDevices(MemoryAddressableByDevicesArgs& args) {
  ASSAY_PJRT_WANT(memory);
  args.devices = &args.memory->device;
  args.num_devices = 1;
  return absl::OkStatus();
}

// A client's topology is the client's; others are not made.
absl::Status DestroyTopology(TopologyDescriptionDestroyArgs&) { return absl::OkStatus(); }

absl::Status TopologyPlatformName(TopologyDescriptionPlatformNameArgs& args) {
  ASSAY_PJRT_WANT(topology);
  args.platform_name = kPlatformName.data();
  args.platform_name_size = kPlatformName.size();
  return absl::OkStatus();
}

absl::Status TopologyPlatformVersion(TopologyDescriptionPlatformVersionArgs& args) {
  ASSAY_PJRT_WANT(topology);
  GiveText(args.topology->platform_version, &args.platform_version, &args.platform_version_size);
  return absl::OkStatus();
}

absl::Status DeviceDescriptions(TopologyDescriptionGetDeviceDescriptionsArgs& args) {
  ASSAY_PJRT_WANT(topology);
  args.descriptions = args.topology->device_handles.data();
  args.num_descriptions = args.topology->device_handles.size();
  return absl::OkStatus();
}

absl::Status TopologyAttributes(TopologyDescriptionAttributesArgs& args) {
  ASSAY_PJRT_WANT(topology);
  args.attributes = args.topology->attributes.data();
  args.num_attributes = args.topology->attributes.size();
  return absl::OkStatus();
}

}  // namespace

void AddDeviceFunctions(FunctionTable& table) {
  table.Set<DescriptionId>(FunctionId::kDeviceDescription_Id);
  table.Set<DescriptionProcessIndex>(FunctionId::kDeviceDescription_ProcessIndex);
  table.Set<DescriptionAttributes>(FunctionId::kDeviceDescription_Attributes);
  table.Set<DescriptionKind>(FunctionId::kDeviceDescription_Kind);
  table.Set<DescriptionDebugString>(FunctionId::kDeviceDescription_DebugString);
  table.Set<DescriptionToString>(FunctionId::kDeviceDescription_ToString);
  table.Set<GetDescription>(FunctionId::kDevice_GetDescription);
  table.Set<IsAddressable>(FunctionId::kDevice_IsAddressable);
  table.Set<LocalHardwareId>(FunctionId::kDevice_LocalHardwareId);
  table.Set<MemoriesOf>(FunctionId::kDevice_AddressableMemories);
  table.Set<DefaultMemory>(FunctionId::kDevice_DefaultMemory);
  table.Set<GetAttributes>(FunctionId::kDevice_GetAttributes);
  table.Set<MemoryId>(FunctionId::kMemory_Id);
  table.Set<MemoryKind>(FunctionId::kMemory_Kind);
  table.Set<MemoryKindId>(FunctionId::kMemory_Kind_Id);
  table.Set<MemoryDebugString>(FunctionId::kMemory_DebugString);
  table.Set<MemoryToString>(FunctionId::kMemory_ToString);
  table.Set<AddressableByDevices>(FunctionId::kMemory_AddressableByDevices);
}

void AddTopologyFunctions(FunctionTable& table) {
  table.Set<DestroyTopology>(FunctionId::kTopologyDescription_Destroy);
  table.Set<TopologyPlatformName>(FunctionId::kTopologyDescription_PlatformName);
  table.Set<TopologyPlatformVersion>(FunctionId::kTopologyDescription_PlatformVersion);
  table.Set<DeviceDescriptions>(FunctionId::kTopologyDescription_GetDeviceDescriptions);
  table.Set<TopologyAttributes>(FunctionId::kTopologyDescription_Attributes);
}

}  // namespace assay::pjrt
