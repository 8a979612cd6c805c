// Functions that take and give single values, clients, and compiling.
#include "tests/fuzz/pjrt_session.h"

#include <limits>
#include <string>

namespace assay::pjrt {
namespace {

constexpr size_t kMaxCalls = 48;

// Arguments of functions that take and give single values, one letter for each eight bytes behind the
// struct's head. Handles that go in: C client, D device, M memory, N description, T topology, L loaded
// executable, X executable, B buffer, E event, K context; R an error, which is always null; n a number.
// Handles that come out: small letters. '.': something else that comes out. '!': the handle in front of it
// is gone.
#define ROW(name, Args, fields) \
  Row { FunctionId::k##name, kSizeOf<Args>, sizeof(Args), fields }
constexpr Row kRows[] = {
    ROW(Error_Destroy, ErrorDestroyArgs, "R"),
    ROW(Error_Message, ErrorMessageArgs, "R.."),
    ROW(Error_GetCode, ErrorGetCodeArgs, "R."),
    ROW(Plugin_Initialize, PluginInitializeArgs, ""),
    ROW(Plugin_Attributes, PluginAttributesArgs, ".."),
    ROW(Event_Destroy, EventDestroyArgs, "E!"),
    ROW(Event_IsReady, EventIsReadyArgs, "E."),
    ROW(Event_Error, EventErrorArgs, "E"),
    ROW(Client_PlatformName, ClientPlatformNameArgs, "C.."),
    ROW(Client_ProcessIndex, ClientProcessIndexArgs, "C."),
    ROW(Client_PlatformVersion, ClientPlatformVersionArgs, "C.."),
    ROW(Client_TopologyDescription, ClientTopologyDescriptionArgs, "C."),
    ROW(Client_Devices, ClientDevicesArgs, "C.."),
    ROW(Client_AddressableDevices, ClientAddressableDevicesArgs, "C.."),
    ROW(Client_LookupDevice, ClientLookupDeviceArgs, "Cn."),
    ROW(Client_LookupAddressableDevice, ClientLookupAddressableDeviceArgs, "Cn."),
    ROW(Client_AddressableMemories, ClientAddressableMemoriesArgs, "C.."),
    ROW(DeviceDescription_Id, DeviceDescriptionIdArgs, "N."),
    ROW(DeviceDescription_ProcessIndex, DeviceDescriptionProcessIndexArgs, "N."),
    ROW(DeviceDescription_Attributes, DeviceDescriptionAttributesArgs, "N.."),
    ROW(DeviceDescription_Kind, DeviceDescriptionKindArgs, "N.."),
    ROW(DeviceDescription_DebugString, DeviceDescriptionDebugStringArgs, "N.."),
    ROW(DeviceDescription_ToString, DeviceDescriptionToStringArgs, "N.."),
    ROW(Device_GetDescription, DeviceGetDescriptionArgs, "D."),
    ROW(Device_IsAddressable, DeviceIsAddressableArgs, "D."),
    ROW(Device_LocalHardwareId, DeviceLocalHardwareIdArgs, "D."),
    ROW(Device_AddressableMemories, DeviceAddressableMemoriesArgs, "D.."),
    ROW(Device_DefaultMemory, DeviceDefaultMemoryArgs, "D."),
    ROW(Device_GetAttributes, DeviceGetAttributesArgs, "D...."),
    ROW(Memory_Id, MemoryIdArgs, "M."),
    ROW(Memory_Kind, MemoryKindArgs, "M.."),
    ROW(Memory_Kind_Id, MemoryKindIdArgs, "M."),
    ROW(Memory_DebugString, MemoryDebugStringArgs, "M.."),
    ROW(Memory_ToString, MemoryToStringArgs, "M.."),
    ROW(Memory_AddressableByDevices, MemoryAddressableByDevicesArgs, "M.."),
    ROW(TopologyDescription_Destroy, TopologyDescriptionDestroyArgs, "T"),
    ROW(TopologyDescription_PlatformName, TopologyDescriptionPlatformNameArgs, "T.."),
    ROW(TopologyDescription_PlatformVersion, TopologyDescriptionPlatformVersionArgs, "T.."),
    ROW(TopologyDescription_GetDeviceDescriptions, TopologyDescriptionGetDeviceDescriptionsArgs, "T.."),
    ROW(TopologyDescription_Attributes, TopologyDescriptionAttributesArgs, "T.."),
    ROW(Executable_Destroy, ExecutableDestroyArgs, "X!"),
    ROW(Executable_Name, ExecutableNameArgs, "X.."),
    ROW(Executable_NumReplicas, ExecutableNumReplicasArgs, "X."),
    ROW(Executable_NumPartitions, ExecutableNumPartitionsArgs, "X."),
    ROW(Executable_NumOutputs, ExecutableNumOutputsArgs, "X."),
    ROW(Executable_SizeOfGeneratedCodeInBytes, ExecutableSizeOfGeneratedCodeInBytesArgs, "X."),
    ROW(Executable_Fingerprint, ExecutableFingerprintArgs, "X.."),
    ROW(Executable_GetCostAnalysis, ExecutableGetCostAnalysisArgs, "X.."),
    ROW(Executable_GetCompiledMemoryStats, ExecutableGetCompiledMemoryStatsArgs, "X............"),
    ROW(Executable_OutputElementTypes, ExecutableOutputElementTypesArgs, "X.."),
    ROW(Executable_OutputDimensions, ExecutableOutputDimensionsArgs, "X..."),
    ROW(Executable_OutputMemoryKinds, ExecutableOutputMemoryKindsArgs, "X..."),
    ROW(LoadedExecutable_GetExecutable, LoadedExecutableGetExecutableArgs, "Lx"),
    ROW(LoadedExecutable_AddressableDevices, LoadedExecutableAddressableDevicesArgs, "L.."),
    ROW(LoadedExecutable_AddressableDeviceLogicalIds, LoadedExecutableAddressableDeviceLogicalIdsArgs, "L.."),
    ROW(LoadedExecutable_Delete, LoadedExecutableDeleteArgs, "L"),
    ROW(LoadedExecutable_IsDeleted, LoadedExecutableIsDeletedArgs, "L."),
    ROW(LoadedExecutable_Fingerprint, LoadedExecutableFingerprintArgs, "L.."),
    ROW(ExecuteContext_Create, ExecuteContextCreateArgs, "k"),
    ROW(ExecuteContext_Destroy, ExecuteContextDestroyArgs, "K!"),
    ROW(Buffer_Destroy, BufferDestroyArgs, "B!"),
    ROW(Buffer_ElementType, BufferElementTypeArgs, "B."),
    ROW(Buffer_Dimensions, BufferDimensionsArgs, "B.."),
    ROW(Buffer_UnpaddedDimensions, BufferUnpaddedDimensionsArgs, "B.."),
    ROW(Buffer_DynamicDimensionIndices, BufferDynamicDimensionIndicesArgs, "B.."),
    ROW(Buffer_GetMemoryLayout, BufferGetMemoryLayoutArgs, "B..........."),
    ROW(Buffer_OnDeviceSizeInBytes, BufferOnDeviceSizeInBytesArgs, "B."),
    ROW(Buffer_Device, BufferDeviceArgs, "B."),
    ROW(Buffer_Memory, BufferMemoryArgs, "B."),
    ROW(Buffer_Delete, BufferDeleteArgs, "B"),
    ROW(Buffer_IsDeleted, BufferIsDeletedArgs, "B."),
    ROW(Buffer_CopyToDevice, BufferCopyToDeviceArgs, "BDb"),
    ROW(Buffer_CopyToMemory, BufferCopyToMemoryArgs, "BMb"),
    ROW(Buffer_IsOnCpu, BufferIsOnCpuArgs, "B."),
    ROW(Buffer_ReadyEvent, BufferReadyEventArgs, "Be"),
    ROW(Buffer_UnsafePointer, BufferUnsafePointerArgs, "B."),
    ROW(Buffer_IncreaseExternalReferenceCount, BufferIncreaseExternalReferenceCountArgs, "B"),
    ROW(Buffer_DecreaseExternalReferenceCount, BufferDecreaseExternalReferenceCountArgs, "B"),
    ROW(Buffer_OpaqueDeviceMemoryDataPointer, BufferOpaqueDeviceMemoryDataPointerArgs, "B."),
};
#undef ROW

constexpr std::string_view kPrograms[] = {
    "module @double { func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> { %0 = stablehlo.add %a, %a : "
    "tensor<4xf32>\n return %0 : tensor<4xf32> } }",
    "module { func.func @main(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<4xf32> "
    "{jax.buffer_donor = true}) -> tensor<4xf32> { %0 = stablehlo.add %a, %b : tensor<4xf32>\n return %0 : "
    "tensor<4xf32> } }",
    "module { func.func @main(%a: tensor<1024xf32>) -> (tensor<1024xf32>, tensor<1024xf32>) { return %a, %a "
    ": tensor<1024xf32>, tensor<1024xf32> } }",
    "module { func.func @main(%a: tensor<2x3xi32>) -> (tensor<2x3xi32> {mhlo.layout_mode = \"{0,1}\"}) { "
    "return %a : tensor<2x3xi32> } }",
    "module { func.func @main() -> (tensor<f32>, tensor<0x3xi4>) { %0 = stablehlo.constant dense<1.0> : "
    "tensor<f32>\n %1 = stablehlo.constant dense<1> : tensor<0x3xi4>\n return %0, %1 : tensor<f32>, "
    "tensor<0x3xi4> } }",
    "module { func.func @main(%t: !stablehlo.token) -> !stablehlo.token { return %t : !stablehlo.token } }",
    "module { func.func @main(%a: tensor<f32>) -> tensor<f32> { %0 = "
    "\"stablehlo.all_reduce\"(%a) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = stablehlo.add %x, %y : "
    "tensor<f32>\n stablehlo.return %s : tensor<f32> }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} "
    ": (tensor<f32>) -> tensor<f32>\n return %0 : tensor<f32> } }",
    "module { func.func @main() -> tensor<f32> { %0 = stablehlo.custom_call @nobody() : () -> tensor<f32>\n "
    "return %0 : tensor<f32> } }",
    "module { func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> { return %a : tensor<?xf32> } }",
    "HloModule m",
    "",
};
constexpr std::string_view kFormats[] = {"mlir", "hlo", "hlo_with_config", "spirv", ""};
using std::string_view_literals::operator""sv;
// CompileOptionsProto: nothing, two replicas, two partitions, those with a partitioner, an assignment of
// devices 2 and 0 to replicas, a device that is not there.
constexpr std::string_view kCompileOptions[] = {
    ""sv,
    "\x1a\x04\x20\x02\x28\x01"sv,
    "\x1a\x04\x20\x01\x28\x02"sv,
    "\x1a\x06\x20\x01\x28\x02\x30\x01"sv,
    "\x1a\x10\x20\x02\x28\x01\x4a\x0a\x08\x02\x10\x01\x1a\x04\x0a\x02\x02\x00"sv,
    "\x1a\x03\x08\xff\x01"sv,
};
}  // namespace

void* Session::In(char letter) {
  const uint8_t choice = choices_.Byte();
  switch (letter) {
    case 'C':
      return Taken(Chosen(pools_.clients, choice));
    case 'D':
      return Taken(Chosen(pools_.devices, choice));
    case 'M':
      return Taken(Chosen(pools_.memories, choice));
    case 'N':
      return Taken(Chosen(pools_.descriptions, choice));
    case 'T':
      return Taken(Chosen(pools_.topologies, choice));
    case 'L':
      return Taken(Chosen(pools_.loaded, choice).handle);
    case 'X':
      return Taken(Chosen(pools_.executables, choice));
    case 'B':
      return Taken(Chosen(pools_.buffers, choice));
    case 'E':
      return Taken(Chosen(pools_.events, choice));
    case 'K':
      return Taken(Chosen(pools_.contexts, choice));
    case 'n':
      return reinterpret_cast<void*>(static_cast<intptr_t>(static_cast<int8_t>(choice)));
    default:
      return nullptr;
  }
}

void Session::Out(char letter, void* handle) {
  if (letter == 'x') pools_.executables.push_back(static_cast<Executable*>(handle));
  if (letter == 'b') pools_.buffers.push_back(static_cast<Buffer*>(handle));
  if (letter == 'e') pools_.events.push_back(static_cast<Event*>(handle));
  if (letter == 'k') pools_.contexts.push_back(static_cast<ExecuteContext*>(handle));
}

void Session::CallRow(const Row& row, uint8_t size) {
  void* words[16] = {};
  const std::string_view fields(row.fields);
  bool has_null = false;
  for (size_t i = 0, word = 2; i < fields.size(); ++i) {
    if (fields[i] == '!') continue;
    if (fields[i] < 'a' && fields[i] != '.') {
      words[word] = In(fields[i]);
      has_null |= words[word] == nullptr;
    }
    if (fields[i] == 'n') words[word] = In('n');
    ++word;
  }
  Function* const function = GetPjrtApi()->functions[static_cast<size_t>(row.id)];
  const ErrorCode code = CallRaw(function, words, row.least, row.known, size);
  // Destroying nothing is fine, and an error that is null says so.
  const bool takes_null = fields.ends_with('!') || fields.starts_with('R') || fields == "T";
  if (has_null && !takes_null) ASSAY_CHECK(code == ErrorCode::kInvalidArgument);
  if (code != ErrorCode::kOk) return;
  if (fields.ends_with('!')) {
    const auto remove = [&](auto& pool) {
      std::erase_if(pool, [&](auto* handle) { return static_cast<void*>(handle) == words[2]; });
    };
    remove(pools_.executables);
    remove(pools_.buffers);
    remove(pools_.events);
    remove(pools_.contexts);
    return;
  }
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i] >= 'a' && fields[i] != 'n') {
      ASSAY_CHECK(words[2 + i] != nullptr);
      Out(fields[i], words[2 + i]);
    }
  }
}

void Session::CallOne() {
  const uint8_t function = choices_.Byte();
  const uint8_t size = choices_.Byte();
  if (function >= kLayouts && function < kLayouts + 6) return CallLayouts(function - kLayouts, size);
  if (function >= kFfi && function < kFfi + 3) return CallFfi(function - kFfi, size);
  if (function == kNewClient) return NewClient(size);
  if (function == kThreads) return Threads();
  if (function >= kNumFunctions) return;
  const auto id = static_cast<FunctionId>(function);
  if (CallSpecial(id, size) || CallOfExecutable(id, size)) return;
  for (const Row& row : kRows) {
    if (row.id == id) return CallRow(row, size);
  }
  // Not implemented, or not called by the input (a client that is destroyed takes its handles with it).
  if (id == FunctionId::kClient_Create || id == FunctionId::kClient_Destroy) return;
  uint64_t words[32] = {};
  const ErrorCode code = CallRaw(GetPjrtApi()->functions[function], words, 16, sizeof(words), size);
  ASSAY_CHECK(code != ErrorCode::kOk || id == FunctionId::kError_ForEachPayload);
}

void Session::AddClient(int64_t devices) {
  NamedValue option = {.struct_size = kSizeOf<NamedValue>, .name = "devices", .name_size = 7};
  option.type = NamedValueType::kInt64;
  option.int64_value = devices;
  option.value_size = 1;
  ClientCreateArgs create = {.create_options = &option, .num_options = 1};
  ASSAY_CHECK(CallTyped(FunctionId::kClient_Create, create) == ErrorCode::kOk);
  pools_.clients.push_back(create.client);
  ClientDevicesArgs all = {.client = create.client};
  ASSAY_CHECK(CallTyped(FunctionId::kClient_Devices, all) == ErrorCode::kOk);
  ClientAddressableMemoriesArgs memories = {.client = create.client};
  ASSAY_CHECK(CallTyped(FunctionId::kClient_AddressableMemories, memories) == ErrorCode::kOk);
  ClientTopologyDescriptionArgs topology = {.client = create.client};
  ASSAY_CHECK(CallTyped(FunctionId::kClient_TopologyDescription, topology) == ErrorCode::kOk);
  TopologyDescriptionGetDeviceDescriptionsArgs descriptions = {.topology = topology.topology};
  ASSAY_CHECK(CallTyped(FunctionId::kTopologyDescription_GetDeviceDescriptions, descriptions) ==
              ErrorCode::kOk);
  const auto add = [](auto& pool, auto* first, size_t count) {
    pool.insert(pool.end(), first, first + count);
  };
  add(pools_.devices, all.devices, all.num_devices);
  add(pools_.memories, memories.addressable_memories, memories.num_addressable_memories);
  add(pools_.topologies, &topology.topology, 1);
  add(pools_.descriptions, descriptions.descriptions, descriptions.num_descriptions);
}

// A client that ends at once, by options of the input.
void Session::NewClient(uint8_t size) {
  constexpr std::string_view kNames[] = {"devices", "engine", "seed",         "crosscheck", "lapack",
                                         "timeout", "jobs",   "memory_limit", "max_steps",  "speed"};
  constexpr std::string_view kValues[] = {"1", "exact", "0",    "-1", "99999999999999999999",
                                          "",  "full",  "1e300"};
  std::vector<NamedValue> options(choices_.Byte() % 4);
  for (NamedValue& option : options) {
    const std::string_view name = choices_.Of(kNames), value = choices_.Of(kValues);
    option.struct_size = choices_.Byte() == 1 ? 8 : kSizeOf<NamedValue>;
    option.name = name.data();
    option.name_size = name.size();
    option.type = static_cast<NamedValueType>(choices_.Byte() % 6);
    option.value_size = 1;
    option.int64_value = static_cast<int8_t>(choices_.Byte());
    if (option.type == NamedValueType::kString) {
      option.string_value = choices_.Byte() == 1 ? nullptr : value.data();
      option.value_size = value.size();
    }
    if (option.type == NamedValueType::kFloat) option.float_value = std::numeric_limits<float>::quiet_NaN();
  }
  ClientCreateArgs create = {.create_options = options.data(), .num_options = options.size()};
  const bool has_short = std::any_of(options.begin(), options.end(),
                                     [](const NamedValue& option) { return option.struct_size == 8; });
  const ErrorCode code = CallTyped(FunctionId::kClient_Create, create, size);
  if (has_short) ASSAY_CHECK(code == ErrorCode::kInvalidArgument);
  if (code != ErrorCode::kOk) return;
  ClientDestroyArgs destroy = {.client = create.client};
  ASSAY_CHECK(CallTyped(FunctionId::kClient_Destroy, destroy) == ErrorCode::kOk);
}

std::string_view Session::OptionsOfCompiling() {
  const uint8_t choice = choices_.Byte();
  if (choice < std::size(kCompileOptions)) return kCompileOptions[choice];
  const std::span<const uint8_t> bytes = choices_.Take(choice % 32);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void Session::AddLoaded(Client* client, LoadedExecutable* handle) {
  ASSAY_CHECK(handle != nullptr);
  LoadedExecutableAddressableDevicesArgs devices = {.executable = handle};
  ASSAY_CHECK(CallTyped(FunctionId::kLoadedExecutable_AddressableDevices, devices) == ErrorCode::kOk);
  LoadedExecutableGetExecutableArgs get = {.loaded_executable = handle};
  ASSAY_CHECK(CallTyped(FunctionId::kLoadedExecutable_GetExecutable, get) == ErrorCode::kOk);
  pools_.executables.push_back(get.executable);
  ExecutableNumOutputsArgs outputs = {.executable = get.executable};
  ASSAY_CHECK(CallTyped(FunctionId::kExecutable_NumOutputs, outputs) == ErrorCode::kOk);
  pools_.loaded.push_back({handle, client, outputs.num_outputs, devices.num_addressable_devices});
}

void Session::Compile(uint8_t size) {
  auto* const client = static_cast<Client*>(In('C'));
  const std::string_view text = choices_.Of(kPrograms), format = choices_.Of(kFormats);
  const std::string_view options = OptionsOfCompiling();
  const uint8_t how = choices_.Byte();
  ProgramCode program = {.code = const_cast<char*>(text.data()), .code_size = text.size()};
  program.format = (how & 1) != 0 ? nullptr : format.data();
  program.format_size = format.size();
  Block block(&program, kSizeOf<ProgramCode>, sizeof(program), how >> 4);
  ClientCompileArgs args = {.client = client,
                            .program = (how & 2) != 0 ? nullptr : static_cast<ProgramCode*>(block.get()),
                            .compile_options = (how & 4) != 0 ? nullptr : options.data(),
                            .compile_options_size = options.size()};
  const ErrorCode code = CallTyped(FunctionId::kClient_Compile, args, size);
  if (code == ErrorCode::kOk) AddLoaded(client, args.executable);
}

void Session::Deserialize(uint8_t size) {
  auto* const client = static_cast<Client*>(In('C'));
  auto* const executable = static_cast<Executable*>(In('X'));
  if (executable == nullptr) return;
  ExecutableSerializeArgs serialize = {.executable = executable};
  ASSAY_CHECK(CallTyped(FunctionId::kExecutable_Serialize, serialize) == ErrorCode::kOk);
  std::string bytes(serialize.serialized_bytes, serialize.serialized_bytes_size);
  serialize.serialized_executable_deleter(serialize.serialized_executable);
  const uint8_t cut = choices_.Byte(), changed = choices_.Byte();
  if (changed != 0) bytes[changed % std::min<size_t>(bytes.size(), 64)] ^= 1;
  if (cut != 0) bytes.resize(bytes.size() * cut / 256);
  const std::string_view options = OptionsOfCompiling();
  ExecutableDeserializeAndLoadArgs args = {.client = client,
                                           .serialized_executable = bytes.data(),
                                           .serialized_executable_size = bytes.size(),
                                           .overridden_serialized_compile_options = options.data(),
                                           .overridden_serialized_compile_options_size = options.size()};
  if (CallTyped(FunctionId::kExecutable_DeserializeAndLoad, args, size) == ErrorCode::kOk)
    AddLoaded(client, args.loaded_executable);
}

void Session::Run() {
  for (size_t i = 0; i < kMaxCalls && !choices_.AtEnd(); ++i) CallOne();
}

}  // namespace assay::pjrt
