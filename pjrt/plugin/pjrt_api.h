// PJRT's C API as it lies in memory, version 0.76: what frameworks call a plugin with. Field names, order,
// sizes and numbers are the interface's, which python/tests/test_pjrt_abi.py holds against the header that a
// wheel ships; structures are only there for the functions that Assay has (pjrt_functions.def lists all).
//
// Each struct of arguments begins with its size in bytes as its writer knows it, and a list of extensions; a
// plugin reads nothing behind that size. Outputs are written into the same struct.
#ifndef ASSAY_PJRT_PLUGIN_PJRT_API_H_
#define ASSAY_PJRT_PLUGIN_PJRT_API_H_

#include <cstddef>
#include <cstdint>

namespace assay::pjrt {

inline constexpr int kMajorVersion = 0, kMinorVersion = 76;

// Handles: what they point to is Assay's own.
struct Error;
struct Event;
struct Client;
struct TopologyDescription;
struct DeviceDescription;
struct Device;
struct Memory;
struct Executable;
struct LoadedExecutable;
struct Buffer;
struct ExecuteContext;
struct OwnedBytes;  // serialized things, which their deleter ends

enum class ExtensionType : int32_t { kLayouts = 4, kFfi = 5 };
struct Extension {
  size_t struct_size;
  ExtensionType type;
  Extension* next;
};

enum class ErrorCode : int32_t {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

// PJRT's own numbers of element types; tokens among them.
enum class BufferType : int32_t {
  kInvalid = 0,
  kPred = 1,
  kS8 = 2,
  kS16 = 3,
  kS32 = 4,
  kS64 = 5,
  kU8 = 6,
  kU16 = 7,
  kU32 = 8,
  kU64 = 9,
  kF16 = 10,
  kF32 = 11,
  kF64 = 12,
  kBF16 = 13,
  kC64 = 14,
  kC128 = 15,
  kF8E5M2 = 16,
  kF8E4M3FN = 17,
  kF8E4M3B11FNUZ = 18,
  kF8E5M2FNUZ = 19,
  kF8E4M3FNUZ = 20,
  kS4 = 21,
  kU4 = 22,
  kToken = 23,
  kS2 = 24,
  kU2 = 25,
  kF8E4M3 = 26,
  kF8E3M4 = 27,
  kF8E8M0FNU = 28,
  kF4E2M1FN = 29,
  kS1 = 30,
  kU1 = 31,
  kF6E2M3FN = 32,
  kF6E3M2FN = 33,
};

// How long the host's memory stays as it is.
enum class HostBufferSemantics : int32_t {
  kImmutableOnlyDuringCall = 0,
  kImmutableUntilTransferCompletes = 1,
  kImmutableZeroCopy = 2,
  kMutableZeroCopy = 3,
};

enum class NamedValueType : int32_t { kString = 0, kInt64 = 1, kInt64List = 2, kFloat = 3, kBool = 4 };
enum class MemoryLayoutType : int32_t { kTiled = 0, kStrides = 1 };

// The bytes of a struct up to the end of its last field: what writers say that its size is.
template <class Struct>
inline constexpr size_t kSizeOf = 0;

#define ASSAY_PJRT_STRUCT(Name, last, ...) \
  struct Name {                            \
    size_t struct_size;                    \
    Extension* extension_start;            \
    __VA_ARGS__                            \
  };                                       \
  template <>                              \
  inline constexpr size_t kSizeOf<Name> = offsetof(Name, last) + sizeof(Name::last);

// clang-format off: it takes fields in macros for products.

// --- Values ---

ASSAY_PJRT_STRUCT(
    NamedValue, value_size, const char* name; size_t name_size; NamedValueType type; union {
      const char* string_value;
      int64_t int64_value;
      const int64_t* int64_array_value;
      float float_value;
      bool bool_value;
    };
    size_t value_size;)
ASSAY_PJRT_STRUCT(BufferMemoryLayoutTiled, num_tiles, const int64_t* minor_to_major;
                  size_t minor_to_major_size; const int64_t* tile_dims; const size_t* tile_dim_sizes;
                  size_t num_tiles;)
ASSAY_PJRT_STRUCT(BufferMemoryLayoutStrides, num_byte_strides, const int64_t* byte_strides;
                  size_t num_byte_strides;)
ASSAY_PJRT_STRUCT(
    BufferMemoryLayout, type,
    union {
      BufferMemoryLayoutTiled tiled;
      BufferMemoryLayoutStrides strides;
    };
    MemoryLayoutType type;)
ASSAY_PJRT_STRUCT(ProgramCode, format_size, char* code; size_t code_size; const char* format;
                  size_t format_size;)
ASSAY_PJRT_STRUCT(ApiVersion, minor_version, int major_version; int minor_version;)

// --- Errors, plugin, events ---

ASSAY_PJRT_STRUCT(ErrorDestroyArgs, error, Error* error;)
ASSAY_PJRT_STRUCT(ErrorMessageArgs, message_size, const Error* error; const char* message;
                  size_t message_size;)
ASSAY_PJRT_STRUCT(ErrorGetCodeArgs, code, const Error* error; ErrorCode code;)
ASSAY_PJRT_STRUCT(PluginInitializeArgs, extension_start, )
ASSAY_PJRT_STRUCT(PluginAttributesArgs, num_attributes, const NamedValue* attributes; size_t num_attributes;)
ASSAY_PJRT_STRUCT(EventDestroyArgs, event, Event* event;)
ASSAY_PJRT_STRUCT(EventIsReadyArgs, is_ready, Event* event; bool is_ready;)
ASSAY_PJRT_STRUCT(EventErrorArgs, event, Event* event;)
ASSAY_PJRT_STRUCT(EventAwaitArgs, event, Event* event;)
using OnReadyCallback = void (*)(Error* error, void* user_arg);
ASSAY_PJRT_STRUCT(EventOnReadyArgs, user_arg, Event* event; OnReadyCallback callback; void* user_arg;)

// --- Client ---

using KeyValueCallback = void (*)();  // Assay has one process and asks nobody
ASSAY_PJRT_STRUCT(ClientCreateArgs, client, const NamedValue* create_options; size_t num_options;
                  KeyValueCallback kv_get_callback; void* kv_get_user_arg; KeyValueCallback kv_put_callback;
                  void* kv_put_user_arg; Client * client;)
ASSAY_PJRT_STRUCT(ClientDestroyArgs, client, Client* client;)
ASSAY_PJRT_STRUCT(ClientPlatformNameArgs, platform_name_size, Client* client; const char* platform_name;
                  size_t platform_name_size;)
ASSAY_PJRT_STRUCT(ClientProcessIndexArgs, process_index, Client* client; int process_index;)
ASSAY_PJRT_STRUCT(ClientPlatformVersionArgs, platform_version_size, Client* client;
                  const char* platform_version; size_t platform_version_size;)
ASSAY_PJRT_STRUCT(ClientTopologyDescriptionArgs, topology, Client* client; TopologyDescription * topology;)
ASSAY_PJRT_STRUCT(ClientDevicesArgs, num_devices, Client* client; Device* const* devices; size_t num_devices;)
ASSAY_PJRT_STRUCT(ClientAddressableDevicesArgs, num_addressable_devices, Client* client;
                  Device* const* addressable_devices; size_t num_addressable_devices;)
ASSAY_PJRT_STRUCT(ClientLookupDeviceArgs, device, Client* client; int id; Device * device;)
ASSAY_PJRT_STRUCT(ClientLookupAddressableDeviceArgs, addressable_device, Client* client;
                  int local_hardware_id; Device * addressable_device;)
ASSAY_PJRT_STRUCT(ClientAddressableMemoriesArgs, num_addressable_memories, Client* client;
                  Memory* const* addressable_memories; size_t num_addressable_memories;)
ASSAY_PJRT_STRUCT(ClientCompileArgs, executable, Client* client; const ProgramCode* program;
                  const char* compile_options; size_t compile_options_size; LoadedExecutable * executable;)
ASSAY_PJRT_STRUCT(ClientDefaultDeviceAssignmentArgs, default_assignment, Client* client; int num_replicas;
                  int num_partitions; size_t default_assignment_size; int* default_assignment;)
ASSAY_PJRT_STRUCT(ClientBufferFromHostBufferArgs, buffer, Client* client; const void* data; BufferType type;
                  const int64_t* dims; size_t num_dims; const int64_t* byte_strides; size_t num_byte_strides;
                  HostBufferSemantics host_buffer_semantics; Device * device; Memory * memory;
                  BufferMemoryLayout * device_layout; Event * done_with_host_buffer; Buffer * buffer;)
ASSAY_PJRT_STRUCT(ClientCreateViewOfDeviceBufferArgs, buffer, Client* client; void* device_buffer_ptr;
                  const int64_t* dims; size_t num_dims; BufferType element_type; BufferMemoryLayout * layout;
                  Device * device; void (*on_delete_callback)(void* device_buffer_ptr, void* user_arg);
                  void* on_delete_callback_arg; intptr_t stream; Buffer * buffer; Memory * memory;)
ASSAY_PJRT_STRUCT(ClientCreateUninitializedBufferArgs, buffer, Client* client; const int64_t* shape_dims;
                  size_t shape_num_dims; BufferType shape_element_type; BufferMemoryLayout * shape_layout;
                  Device * device; Memory * memory; Buffer * buffer;)

// --- Devices, memories, topologies ---

ASSAY_PJRT_STRUCT(DeviceDescriptionIdArgs, id, DeviceDescription* device_description; int id;)
ASSAY_PJRT_STRUCT(DeviceDescriptionProcessIndexArgs, process_index, DeviceDescription* device_description;
                  int process_index;)
ASSAY_PJRT_STRUCT(DeviceDescriptionAttributesArgs, attributes, DeviceDescription* device_description;
                  size_t num_attributes; const NamedValue* attributes;)
ASSAY_PJRT_STRUCT(DeviceDescriptionKindArgs, device_kind_size, DeviceDescription* device_description;
                  const char* device_kind; size_t device_kind_size;)
ASSAY_PJRT_STRUCT(DeviceDescriptionDebugStringArgs, debug_string_size, DeviceDescription* device_description;
                  const char* debug_string; size_t debug_string_size;)
ASSAY_PJRT_STRUCT(DeviceDescriptionToStringArgs, to_string_size, DeviceDescription* device_description;
                  const char* to_string; size_t to_string_size;)
ASSAY_PJRT_STRUCT(DeviceGetDescriptionArgs, device_description, Device* device;
                  DeviceDescription * device_description;)
ASSAY_PJRT_STRUCT(DeviceIsAddressableArgs, is_addressable, Device* device; bool is_addressable;)
ASSAY_PJRT_STRUCT(DeviceLocalHardwareIdArgs, local_hardware_id, Device* device; int local_hardware_id;)
ASSAY_PJRT_STRUCT(DeviceAddressableMemoriesArgs, num_memories, Device* device; Memory* const* memories;
                  size_t num_memories;)
ASSAY_PJRT_STRUCT(DeviceDefaultMemoryArgs, memory, Device* device; Memory * memory;)
// Since 0.92, with a holder that its deleter ends.
ASSAY_PJRT_STRUCT(DeviceGetAttributesArgs, attributes_deleter, Device* device; const NamedValue* attributes;
                  size_t num_attributes; OwnedBytes * device_attributes;
                  void (*attributes_deleter)(OwnedBytes* attributes);)
ASSAY_PJRT_STRUCT(MemoryIdArgs, id, Memory* memory; int id;)
ASSAY_PJRT_STRUCT(MemoryKindArgs, kind_size, Memory* memory; const char* kind; size_t kind_size;)
ASSAY_PJRT_STRUCT(MemoryKindIdArgs, kind_id, Memory* memory; int kind_id;)
ASSAY_PJRT_STRUCT(MemoryDebugStringArgs, debug_string_size, Memory* memory; const char* debug_string;
                  size_t debug_string_size;)
ASSAY_PJRT_STRUCT(MemoryToStringArgs, to_string_size, Memory* memory; const char* to_string;
                  size_t to_string_size;)
ASSAY_PJRT_STRUCT(MemoryAddressableByDevicesArgs, num_devices, Memory* memory; Device* const* devices;
                  size_t num_devices;)
ASSAY_PJRT_STRUCT(TopologyDescriptionDestroyArgs, topology, TopologyDescription* topology;)
ASSAY_PJRT_STRUCT(TopologyDescriptionPlatformNameArgs, platform_name_size,
                  const TopologyDescription* topology;
                  const char* platform_name; size_t platform_name_size;)
ASSAY_PJRT_STRUCT(TopologyDescriptionPlatformVersionArgs, platform_version_size,
                  TopologyDescription* topology;
                  const char* platform_version; size_t platform_version_size;)
ASSAY_PJRT_STRUCT(TopologyDescriptionGetDeviceDescriptionsArgs, num_descriptions,
                  const TopologyDescription* topology;
                  DeviceDescription* const* descriptions; size_t num_descriptions;)
ASSAY_PJRT_STRUCT(TopologyDescriptionAttributesArgs, num_attributes, TopologyDescription* topology;
                  const NamedValue* attributes; size_t num_attributes;)

// --- Executables ---

ASSAY_PJRT_STRUCT(ExecutableDestroyArgs, executable, Executable* executable;)
ASSAY_PJRT_STRUCT(ExecutableNameArgs, executable_name_size, Executable* executable;
                  const char* executable_name; size_t executable_name_size;)
ASSAY_PJRT_STRUCT(ExecutableNumReplicasArgs, num_replicas, Executable* executable; size_t num_replicas;)
ASSAY_PJRT_STRUCT(ExecutableNumPartitionsArgs, num_partitions, Executable* executable; size_t num_partitions;)
ASSAY_PJRT_STRUCT(ExecutableNumOutputsArgs, num_outputs, Executable* executable; size_t num_outputs;)
ASSAY_PJRT_STRUCT(ExecutableSizeOfGeneratedCodeInBytesArgs, size_in_bytes, Executable* executable;
                  int64_t size_in_bytes;)
ASSAY_PJRT_STRUCT(ExecutableFingerprintArgs, executable_fingerprint_size, Executable* executable;
                  const char* executable_fingerprint; size_t executable_fingerprint_size;)
ASSAY_PJRT_STRUCT(ExecutableGetCostAnalysisArgs, properties, Executable* executable; size_t num_properties;
                  const NamedValue* properties;)
ASSAY_PJRT_STRUCT(ExecutableGetCompiledMemoryStatsArgs, host_temp_size_in_bytes, Executable* executable;
                  int64_t generated_code_size_in_bytes; int64_t argument_size_in_bytes;
                  int64_t output_size_in_bytes; int64_t alias_size_in_bytes; int64_t temp_size_in_bytes;
                  int64_t host_generated_code_size_in_bytes; int64_t host_argument_size_in_bytes;
                  int64_t host_output_size_in_bytes; int64_t host_alias_size_in_bytes;
                  int64_t host_temp_size_in_bytes; int64_t peak_memory_in_bytes; int64_t total_size_in_bytes;)
ASSAY_PJRT_STRUCT(ExecutableOutputElementTypesArgs, num_output_types, Executable* executable;
                  BufferType * output_types; size_t num_output_types;)
ASSAY_PJRT_STRUCT(ExecutableOutputDimensionsArgs, dim_sizes, Executable* executable; size_t num_outputs;
                  const int64_t* dims; const size_t* dim_sizes;)
ASSAY_PJRT_STRUCT(ExecutableOutputMemoryKindsArgs, memory_kind_sizes, Executable* executable;
                  size_t num_outputs; const char* const* memory_kinds; const size_t* memory_kind_sizes;)
ASSAY_PJRT_STRUCT(ExecutableOptimizedProgramArgs, program, Executable* executable; ProgramCode * program;)
ASSAY_PJRT_STRUCT(ExecutableSerializeArgs, serialized_executable_deleter, const Executable* executable;
                  const char* serialized_bytes; size_t serialized_bytes_size;
                  OwnedBytes * serialized_executable;
                  void (*serialized_executable_deleter)(OwnedBytes* executable);)
ASSAY_PJRT_STRUCT(ExecutableGetCompileOptionsArgs, serialized_compile_options_deleter, Executable* executable;
                  const char* serialized_bytes; size_t serialized_bytes_size;
                  OwnedBytes * serialized_compile_options;
                  void (*serialized_compile_options_deleter)(OwnedBytes* options);)
ASSAY_PJRT_STRUCT(ExecutableDeserializeAndLoadArgs, loaded_executable, Client* client;
                  const char* serialized_executable; size_t serialized_executable_size;
                  LoadedExecutable * loaded_executable; const char* overridden_serialized_compile_options;
                  size_t overridden_serialized_compile_options_size;)
ASSAY_PJRT_STRUCT(LoadedExecutableDestroyArgs, executable, LoadedExecutable* executable;)
ASSAY_PJRT_STRUCT(LoadedExecutableGetExecutableArgs, executable, LoadedExecutable* loaded_executable;
                  Executable * executable;)
ASSAY_PJRT_STRUCT(LoadedExecutableAddressableDevicesArgs, num_addressable_devices,
                  LoadedExecutable* executable;
                  Device* const* addressable_devices; size_t num_addressable_devices;)
ASSAY_PJRT_STRUCT(LoadedExecutableGetDeviceAssignmentArgs, serialized_device_assignment_deleter,
                  LoadedExecutable* executable;
                  const char* serialized_bytes; size_t serialized_bytes_size;
                  OwnedBytes * serialized_device_assignment;
                  void (*serialized_device_assignment_deleter)(OwnedBytes* assignment);)
ASSAY_PJRT_STRUCT(LoadedExecutableDeleteArgs, executable, LoadedExecutable* executable;)
ASSAY_PJRT_STRUCT(LoadedExecutableIsDeletedArgs, is_deleted, LoadedExecutable* executable; bool is_deleted;)
ASSAY_PJRT_STRUCT(LoadedExecutableFingerprintArgs, executable_fingerprint_size, LoadedExecutable* executable;
                  const char* executable_fingerprint; size_t executable_fingerprint_size;)
struct LogicalId {
  int replica, partition;
};
ASSAY_PJRT_STRUCT(LoadedExecutableAddressableDeviceLogicalIdsArgs, num_addressable_device_logical_ids,
                  LoadedExecutable* executable;
                  LogicalId * addressable_device_logical_ids; size_t num_addressable_device_logical_ids;)
struct TransferCallback;
ASSAY_PJRT_STRUCT(ExecuteOptions, num_non_donatable_input_indices, TransferCallback** send_callbacks;
                  TransferCallback * *recv_callbacks; size_t num_send_ops; size_t num_recv_ops; int launch_id;
                  const int64_t* non_donatable_input_indices; size_t num_non_donatable_input_indices;
                  ExecuteContext * context;)
ASSAY_PJRT_STRUCT(LoadedExecutableExecuteArgs, execute_device, LoadedExecutable* executable;
                  ExecuteOptions * options; Buffer* const* const* argument_lists; size_t num_devices;
                  size_t num_args; Buffer * * const* output_lists; Event * *device_complete_events;
                  Device * execute_device;)
ASSAY_PJRT_STRUCT(ExecuteContextCreateArgs, context, ExecuteContext* context;)
ASSAY_PJRT_STRUCT(ExecuteContextDestroyArgs, context, ExecuteContext* context;)

// --- Buffers ---

ASSAY_PJRT_STRUCT(BufferDestroyArgs, buffer, Buffer* buffer;)
ASSAY_PJRT_STRUCT(BufferElementTypeArgs, type, Buffer* buffer; BufferType type;)
ASSAY_PJRT_STRUCT(BufferDimensionsArgs, num_dims, Buffer* buffer; const int64_t* dims; size_t num_dims;)
ASSAY_PJRT_STRUCT(BufferUnpaddedDimensionsArgs, num_dims, Buffer* buffer; const int64_t* unpadded_dims;
                  size_t num_dims;)
ASSAY_PJRT_STRUCT(BufferDynamicDimensionIndicesArgs, num_dynamic_dims, Buffer* buffer;
                  const size_t* dynamic_dim_indices; size_t num_dynamic_dims;)
ASSAY_PJRT_STRUCT(BufferGetMemoryLayoutArgs, layout, Buffer* buffer; BufferMemoryLayout layout;)
ASSAY_PJRT_STRUCT(BufferToHostBufferArgs, event, Buffer* src; BufferMemoryLayout * host_layout; void* dst;
                  size_t dst_size; Event * event;)
ASSAY_PJRT_STRUCT(BufferOnDeviceSizeInBytesArgs, on_device_size_in_bytes, Buffer* buffer;
                  size_t on_device_size_in_bytes;)
ASSAY_PJRT_STRUCT(BufferDeleteArgs, buffer, Buffer* buffer;)
ASSAY_PJRT_STRUCT(BufferIsDeletedArgs, is_deleted, Buffer* buffer; bool is_deleted;)
ASSAY_PJRT_STRUCT(BufferCopyRawToHostArgs, event, Buffer* buffer; void* dst; int64_t offset;
                  int64_t transfer_size; Event * event;)
ASSAY_PJRT_STRUCT(BufferCopyToDeviceArgs, dst_buffer, Buffer* buffer; Device * dst_device;
                  Buffer * dst_buffer;)
ASSAY_PJRT_STRUCT(BufferCopyToMemoryArgs, dst_buffer, Buffer* buffer; Memory * dst_memory;
                  Buffer * dst_buffer;)
ASSAY_PJRT_STRUCT(BufferIsOnCpuArgs, is_on_cpu, Buffer* buffer; bool is_on_cpu;)
ASSAY_PJRT_STRUCT(BufferDeviceArgs, device, Buffer* buffer; Device * device;)
ASSAY_PJRT_STRUCT(BufferMemoryArgs, memory, Buffer* buffer; Memory * memory;)
ASSAY_PJRT_STRUCT(BufferReadyEventArgs, event, Buffer* buffer; Event * event;)
ASSAY_PJRT_STRUCT(BufferUnsafePointerArgs, buffer_pointer, Buffer* buffer; uintptr_t buffer_pointer;)
ASSAY_PJRT_STRUCT(BufferIncreaseExternalReferenceCountArgs, buffer, Buffer* buffer;)
ASSAY_PJRT_STRUCT(BufferDecreaseExternalReferenceCountArgs, buffer, Buffer* buffer;)
ASSAY_PJRT_STRUCT(BufferOpaqueDeviceMemoryDataPointerArgs, device_memory_ptr, Buffer* buffer;
                  void* device_memory_ptr;)

#undef ASSAY_PJRT_STRUCT
// clang-format on

// --- The table ---

enum class FunctionId : int32_t {
#define FUNCTION(name) k##name,
#include "pjrt/plugin/pjrt_functions.def"
#undef FUNCTION
};
inline constexpr size_t kNumFunctions = 0
#define FUNCTION(name) +1
#include "pjrt/plugin/pjrt_functions.def"
#undef FUNCTION
    ;

// All take a pointer to their arguments and return null where they did what was asked; Error_Destroy and
// Error_Message, which return nothing, give null as well.
using Function = Error*(void* args);

struct Api {
  size_t struct_size;
  Extension* extension_start;
  ApiVersion pjrt_api_version;
  Function* functions[kNumFunctions];
};

}  // namespace assay::pjrt

#endif  // ASSAY_PJRT_PLUGIN_PJRT_API_H_
