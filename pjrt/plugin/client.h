// A client and what it has from its beginning to its end: devices, their memories, the topology. All of it is
// made in Client::Make and never changes, so that it may be read from any thread.
#ifndef ASSAY_PJRT_PLUGIN_CLIENT_H_
#define ASSAY_PJRT_PLUGIN_CLIENT_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "pjrt/plugin/client_options.h"
#include "pjrt/plugin/named_values.h"
#include "pjrt/plugin/pjrt_api.h"

namespace assay::pjrt {

inline constexpr std::string_view kPlatformName = "assay";

struct DeviceDescription {
  int id = 0;
  std::string kind, debug, text;
};

// All kinds lie in the host's memory: what they are for is that programs that name them run.
struct Memory {
  int id = 0;
  int kind_id = 0;
  std::string kind, debug;
  Device* device = nullptr;
};

struct Device {
  DeviceDescription* description = nullptr;
  Client* client = nullptr;
  std::vector<std::unique_ptr<Memory>> memories;  // the first is the default: "device"
  std::vector<Memory*> memory_handles;
};

struct TopologyDescription {
  std::string platform_version;
  std::vector<std::unique_ptr<DeviceDescription>> devices;
  std::vector<DeviceDescription*> device_handles;
  NamedValues attributes;
};

struct Client {
  static std::unique_ptr<Client> Make(ClientOptions given);

  ClientOptions options;
  TopologyDescription topology;
  std::vector<std::unique_ptr<Device>> devices;
  std::vector<Device*> device_handles;
  std::vector<Memory*> memory_handles;
};

// The device's memory of this kind; null: it has none.
Memory* MemoryOfKind(const Device& device, std::string_view kind);

// The memory that a caller names by itself, or as a device's default one. InvalidProgram: neither,
// or another client's.
absl::StatusOr<Memory*> MemoryFor(const Client& client, Device* device, Memory* memory);

}  // namespace assay::pjrt

#endif  // ASSAY_PJRT_PLUGIN_CLIENT_H_
