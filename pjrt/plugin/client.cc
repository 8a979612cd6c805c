#include "pjrt/plugin/client.h"

#include <algorithm>

#include "base/counted.h"
#include "fmt/format.h"
#include "pjrt/plugin/error.h"
#include "pjrt/plugin/function_table.h"

namespace assay::pjrt {
namespace {

constexpr std::string_view kMemoryKinds[] = {"device", "pinned_host", "unpinned_host"};

std::unique_ptr<Device> MakeDevice(Client& client, DeviceDescription& description) {
  auto device = std::make_unique<Device>();
  device->description = &description;
  device->client = &client;
  for (int kind = 0; kind < static_cast<int>(std::size(kMemoryKinds)); ++kind) {
    auto memory = std::make_unique<Memory>();
    memory->id = description.id * static_cast<int>(std::size(kMemoryKinds)) + kind;
    memory->kind_id = kind;
    memory->kind = kMemoryKinds[kind];
    memory->debug = fmt::format("{} of {}", memory->kind, description.text);
    memory->device = device.get();
    device->memory_handles.push_back(memory.get());
    device->memories.push_back(std::move(memory));
  }
  return device;
}

absl::Status PluginInitialize(PluginInitializeArgs&) { return absl::OkStatus(); }

// The newest version of StableHLO's portable form that the reader knows, and the oldest.
absl::Status PluginAttributes(PluginAttributesArgs& args) {
  static const NamedValues& attributes = *[] {
    auto* const values = new NamedValues;
    values->AddInts("xla_version", {2});
    values->AddInts("stablehlo_current_version", {1, 17, 0});
    values->AddInts("stablehlo_minimum_version", {0, 9, 0});
    return values;
  }();
  args.attributes = attributes.data();
  args.num_attributes = attributes.size();
  return absl::OkStatus();
}

absl::Status CreateClient(ClientCreateArgs& args) {
  if (args.num_options > 0) ASSAY_PJRT_WANT(create_options);
  ASSAY_ASSIGN_OR_RETURN(ClientOptions options, ClientOptions::Of({args.create_options, args.num_options}));
  args.client = Client::Make(std::move(options)).release();
  return absl::OkStatus();
}

absl::Status DestroyClient(ClientDestroyArgs& args) {
  delete args.client;
  return absl::OkStatus();
}

absl::Status PlatformName(ClientPlatformNameArgs& args) {
  ASSAY_PJRT_WANT(client);
  args.platform_name = kPlatformName.data();
  args.platform_name_size = kPlatformName.size();
  return absl::OkStatus();
}

absl::Status PlatformVersion(ClientPlatformVersionArgs& args) {
  ASSAY_PJRT_WANT(client);
  args.platform_version = args.client->topology.platform_version.data();
  args.platform_version_size = args.client->topology.platform_version.size();
  return absl::OkStatus();
}

absl::Status ProcessIndex(ClientProcessIndexArgs& args) {
  ASSAY_PJRT_WANT(client);
  args.process_index = 0;
  return absl::OkStatus();
}

absl::Status TopologyOf(ClientTopologyDescriptionArgs& args) {
  ASSAY_PJRT_WANT(client);
  args.topology = &args.client->topology;
  return absl::OkStatus();
}

absl::Status DevicesOf(ClientDevicesArgs& args) {
  ASSAY_PJRT_WANT(client);
  args.devices = args.client->device_handles.data();
  args.num_devices = args.client->device_handles.size();
  return absl::OkStatus();
}

absl::Status AddressableDevices(ClientAddressableDevicesArgs& args) {
  ASSAY_PJRT_WANT(client);
  args.addressable_devices = args.client->device_handles.data();
  args.num_addressable_devices = args.client->device_handles.size();
  return absl::OkStatus();
}

absl::Status AddressableMemories(ClientAddressableMemoriesArgs& args) {
  ASSAY_PJRT_WANT(client);
  args.addressable_memories = args.client->memory_handles.data();
  args.num_addressable_memories = args.client->memory_handles.size();
  return absl::OkStatus();
}

absl::StatusOr<Device*> DeviceNumber(const Client& client, int id) {
  if (id >= 0 && id < std::ssize(client.device_handles))
    return client.device_handles[static_cast<size_t>(id)];
  return InvalidProgram({},
                        fmt::format("there is no device {}: there are {}", id, client.device_handles.size()));
}

absl::Status LookupDevice(ClientLookupDeviceArgs& args) {
  ASSAY_PJRT_WANT(client);
  ASSAY_ASSIGN_OR_RETURN(args.device, DeviceNumber(*args.client, args.id));
  return absl::OkStatus();
}

absl::Status LookupAddressableDevice(ClientLookupAddressableDeviceArgs& args) {
  ASSAY_PJRT_WANT(client);
  ASSAY_ASSIGN_OR_RETURN(args.addressable_device, DeviceNumber(*args.client, args.local_hardware_id));
  return absl::OkStatus();
}

// Devices in their order, replica by replica.
absl::Status DefaultDeviceAssignment(ClientDefaultDeviceAssignmentArgs& args) {
  ASSAY_PJRT_WANT(client);
  ASSAY_PJRT_WANT(default_assignment);
  const int64_t wanted = int64_t{args.num_replicas} * args.num_partitions;
  if (args.num_replicas < 1 || args.num_partitions < 1 || wanted > std::ssize(args.client->devices)) {
    return InvalidProgram({}, fmt::format("{} of {} on {}", Counted(args.num_replicas, "replica"),
                                          Counted(args.num_partitions, "partition"),
                                          Counted(args.client->devices.size(), "device")));
  }
  if (args.default_assignment_size < static_cast<size_t>(wanted)) {
    return InvalidProgram(
        {}, fmt::format("room for {}, want {}", Counted(args.default_assignment_size, "device"), wanted));
  }
  for (int i = 0; i < wanted; ++i) args.default_assignment[i] = i;
  return absl::OkStatus();
}

}  // namespace

std::unique_ptr<Client> Client::Make(ClientOptions given) {
  auto client = std::make_unique<Client>();
  client->options = std::move(given);
  client->topology.platform_version = fmt::format("assay {}, {}", ASSAY_VERSION, client->options.Text());
  for (int id = 0; id < client->options.devices; ++id) {
    auto description = std::make_unique<DeviceDescription>();
    description->id = id;
    description->kind = fmt::format("assay {}", client->options.EngineText());
    description->text = fmt::format("AssayDevice(id={})", id);
    description->debug = fmt::format("{}, {}", description->text, client->options.Text());
    std::unique_ptr<Device> device = MakeDevice(*client, *description);
    client->topology.device_handles.push_back(description.get());
    client->topology.devices.push_back(std::move(description));
    client->device_handles.push_back(device.get());
    client->memory_handles.insert(client->memory_handles.end(), device->memory_handles.begin(),
                                  device->memory_handles.end());
    client->devices.push_back(std::move(device));
  }
  return client;
}

Memory* MemoryOfKind(const Device& device, std::string_view kind) {
  for (Memory* const memory : device.memory_handles) {
    if (memory->kind == kind) return memory;
  }
  return nullptr;
}

absl::StatusOr<Memory*> MemoryFor(const Client& client, Device* device, Memory* memory) {
  if (memory == nullptr && device == nullptr) return InvalidProgram({}, "neither a device nor a memory");
  if (memory == nullptr) memory = device->memory_handles[0];
  if (memory->device->client != &client) return InvalidProgram({}, "the memory is another client's");
  return memory;
}

void AddPluginFunctions(FunctionTable& table) {
  table.Set<PluginInitialize>(FunctionId::kPlugin_Initialize);
  table.Set<PluginAttributes>(FunctionId::kPlugin_Attributes);
}

void AddClientFunctions(FunctionTable& table) {
  table.Set<CreateClient>(FunctionId::kClient_Create);
  table.Set<DestroyClient>(FunctionId::kClient_Destroy);
  table.Set<PlatformName>(FunctionId::kClient_PlatformName);
  table.Set<PlatformVersion>(FunctionId::kClient_PlatformVersion);
  table.Set<ProcessIndex>(FunctionId::kClient_ProcessIndex);
  table.Set<TopologyOf>(FunctionId::kClient_TopologyDescription);
  table.Set<DevicesOf>(FunctionId::kClient_Devices);
  table.Set<AddressableDevices>(FunctionId::kClient_AddressableDevices);
  table.Set<AddressableMemories>(FunctionId::kClient_AddressableMemories);
  table.Set<LookupDevice>(FunctionId::kClient_LookupDevice);
  table.Set<LookupAddressableDevice>(FunctionId::kClient_LookupAddressableDevice);
  table.Set<DefaultDeviceAssignment>(FunctionId::kClient_DefaultDeviceAssignment);
}

}  // namespace assay::pjrt
