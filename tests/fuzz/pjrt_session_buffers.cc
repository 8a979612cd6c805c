// Buffers, executions, events, extensions, threads, and the end of a session.
#include <limits>
#include <optional>
#include <thread>

#include "tests/fuzz/pjrt_session.h"

namespace assay::pjrt {
namespace {

constexpr int64_t kInt64Min = std::numeric_limits<int64_t>::min(),
                  kInt64Max = std::numeric_limits<int64_t>::max();
constexpr int64_t kSizes[] = {4, 0, 1, 2, 3, 5, 8, 1024, -1, kInt64Min, kInt64Max, int64_t{1} << 32};
constexpr int64_t kStrides[] = {4, 0, 1, 2, 8, 12, 16, -4, -8, 1024, kInt64Min, kInt64Max, int64_t{1} << 40};
constexpr int64_t kArena = 64 << 10;
alignas(64) uint8_t arena[kArena];

// The bytes before and behind the first element that an array by strides reaches; nothing: more than can be.
struct Extent {
  int64_t before = 0, behind = 0;
};
std::optional<Extent> ExtentOf(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides) {
  Extent extent;
  for (const int64_t size : sizes) {
    if (size <= 0) return size == 0 ? std::optional(extent) : std::nullopt;
  }
  extent.behind = 16;  // an element of any type
  for (size_t d = 0; d < sizes.size(); ++d) {
    const __int128 reach = static_cast<__int128>(sizes[d] - 1) * strides[d];
    if (reach > kArena || reach < -kArena) return std::nullopt;
    (reach < 0 ? extent.before : extent.behind) += static_cast<int64_t>(reach < 0 ? -reach : reach);
  }
  if (extent.before > kArena / 4 || extent.behind > kArena / 2) return std::nullopt;
  return extent;
}

// No array has such sizes.
bool IsRefused(const std::vector<int64_t>& sizes) {
  return std::any_of(sizes.begin(), sizes.end(), [](int64_t size) { return size < 0; });
}

// An array that the plugin could make, and that is larger than the target wants to have.
bool IsLarge(const std::vector<int64_t>& sizes) {
  __int128 count = 1;
  for (const int64_t size : sizes) {
    if (size <= 0) return false;
    if (count <= kInt64Max) count *= size;
  }
  return count > 4096 && count < kInt64Max / 16;
}

void CountView(void*, void* count) { ++*static_cast<std::atomic<int64_t>*>(count); }
void CountCallback(Error* error, void* count) {
  TakeCode(error);
  ++*static_cast<std::atomic<int64_t>*>(count);
}

constexpr uint8_t kTypes = 36;  // PJRT's numbers, and some that are none

}  // namespace

std::vector<int64_t> Session::Sizes() {
  const uint8_t choice = choices_.Byte();
  std::vector<int64_t> sizes(choice < 6 ? choice : choice == 6 ? 70 : choice % 6);
  for (int64_t& size : sizes) size = choices_.Of(kSizes);
  return sizes;
}

std::vector<int64_t> Session::Strides(size_t count) {
  std::vector<int64_t> strides(count);
  for (int64_t& stride : strides) stride = choices_.Of(kStrides);
  return strides;
}

// Null, an order of dimensions, or strides; of fewer or more dimensions than there are, where the input
// wants it.
BufferMemoryLayout* Session::Layout(size_t rank) {
  const uint8_t how = choices_.Byte();
  layout_ = {};
  layout_strides_.clear();
  if (how == 0) return nullptr;
  const size_t count = (how & 4) != 0 ? rank + 1 : rank;
  layout_.struct_size = kSizeOf<BufferMemoryLayout>;
  if ((how & 3) == 1) {
    order_.resize(count);
    for (int64_t& dimension : order_) dimension = static_cast<int8_t>(choices_.Byte());
    layout_.type = MemoryLayoutType::kTiled;
    layout_.tiled = {kSizeOf<BufferMemoryLayoutTiled>,
                     nullptr,
                     (how & 8) != 0 ? nullptr : order_.data(),
                     count,
                     nullptr,
                     nullptr,
                     static_cast<size_t>(how >> 7)};
  } else {
    layout_strides_ = Strides(count);
    layout_.type = (how & 3) == 2 ? MemoryLayoutType::kStrides : static_cast<MemoryLayoutType>(7);
    layout_.strides = {kSizeOf<BufferMemoryLayoutStrides>, nullptr,
                       (how & 8) != 0 ? nullptr : layout_strides_.data(), count};
  }
  return &layout_;
}

void Session::DefaultAssignment(uint8_t size) {
  auto* const client = static_cast<Client*>(In('C'));
  std::vector<int> devices(choices_.Byte() % 8);
  constexpr int kCounts[] = {
      1, 2, 3, 0, -1, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()};
  const int replicas = choices_.Of(kCounts), partitions = choices_.Of(kCounts);
  ClientDefaultDeviceAssignmentArgs args = {.client = client,
                                            .num_replicas = replicas,
                                            .num_partitions = partitions,
                                            .default_assignment_size = devices.size(),
                                            .default_assignment = devices.data()};
  CallTyped(FunctionId::kClient_DefaultDeviceAssignment, args, size);
}

void Session::BufferFromHost(uint8_t size) {
  auto* const client = static_cast<Client*>(In('C'));
  const auto type = static_cast<BufferType>(choices_.Byte() % kTypes);
  const std::vector<int64_t> sizes = Sizes();
  const uint8_t how = choices_.Byte();
  const std::vector<int64_t> strides =
      (how & 1) != 0 ? Strides(sizes.size() + (how >> 7)) : std::vector<int64_t>();
  const std::optional<Extent> extent = ExtentOf(sizes, strides.size() == sizes.size() && !sizes.empty()
                                                           ? strides
                                                           : std::vector<int64_t>(sizes.size(), 0));
  if (IsLarge(sizes) || (strides.size() == sizes.size() && !extent && !IsRefused(sizes))) return;
  ClientBufferFromHostBufferArgs args = {
      .client = client,
      .data = (how & 2) != 0 ? nullptr : arena + kArena / 4 + ((how & 4) != 0 ? 1 : 0),
      .type = type,
      .dims = sizes.data(),
      .num_dims = sizes.size(),
      .byte_strides = (how & 8) != 0 ? nullptr : strides.data(),
      .num_byte_strides = strides.size(),
      .host_buffer_semantics = static_cast<HostBufferSemantics>(how >> 4 & 7),
      .device = static_cast<Device*>(In('D')),
      .memory = static_cast<Memory*>(In('M')),
      .device_layout = Layout(sizes.size())};
  if (CallTyped(FunctionId::kClient_BufferFromHostBuffer, args, size) != ErrorCode::kOk) return;
  CheckMade(args.buffer, sizes);
  pools_.events.push_back(args.done_with_host_buffer);
}

// Only arrays whose sizes are sizes are made.
void Session::CheckMade(Buffer* buffer, const std::vector<int64_t>& sizes) {
  ASSAY_CHECK(buffer != nullptr && !IsRefused(sizes));
  pools_.buffers.push_back(buffer);
  BufferDimensionsArgs dims = {.buffer = buffer};
  ASSAY_CHECK(CallTyped(FunctionId::kBuffer_Dimensions, dims) == ErrorCode::kOk);
  ASSAY_CHECK(std::equal(sizes.begin(), sizes.end(), dims.dims, dims.dims + dims.num_dims));
}

void Session::View(uint8_t size) {
  auto* const client = static_cast<Client*>(In('C'));
  const auto type = static_cast<BufferType>(choices_.Byte() % kTypes);
  const std::vector<int64_t> sizes = Sizes();
  const uint8_t how = choices_.Byte();
  BufferMemoryLayout* const layout = Layout(sizes.size());
  if (IsLarge(sizes) || (!layout_strides_.empty() && !IsRefused(sizes) && !ExtentOf(sizes, layout_strides_)))
    return;
  ClientCreateViewOfDeviceBufferArgs args = {
      .client = client,
      .device_buffer_ptr = (how & 1) != 0 ? nullptr : arena + kArena / 4 + ((how & 2) != 0 ? 1 : 0),
      .dims = sizes.data(),
      .num_dims = sizes.size(),
      .element_type = type,
      .layout = layout,
      .device = static_cast<Device*>(In('D')),
      .on_delete_callback = (how & 4) != 0 ? nullptr : CountView,
      .on_delete_callback_arg = &views_,
      .memory = static_cast<Memory*>(In('M'))};
  if (CallTyped(FunctionId::kClient_CreateViewOfDeviceBuffer, args, size) != ErrorCode::kOk) return;
  views_wanted_ += (how & 4) != 0 ? 0 : 1;
  CheckMade(args.buffer, sizes);
}

void Session::Uninitialized(uint8_t size) {
  auto* const client = static_cast<Client*>(In('C'));
  const auto type = static_cast<BufferType>(choices_.Byte() % kTypes);
  const std::vector<int64_t> sizes = Sizes();
  if (IsLarge(sizes)) return;
  ClientCreateUninitializedBufferArgs args = {.client = client,
                                              .shape_dims = sizes.data(),
                                              .shape_num_dims = sizes.size(),
                                              .shape_element_type = type,
                                              .shape_layout = Layout(sizes.size()),
                                              .device = static_cast<Device*>(In('D')),
                                              .memory = static_cast<Memory*>(In('M'))};
  if (CallTyped(FunctionId::kClient_CreateUninitializedBuffer, args, size) == ErrorCode::kOk)
    CheckMade(args.buffer, sizes);
}

// The target has exactly as many bytes as is said, and is checked by the address sanitizer.
void Session::ToHost(uint8_t size) {
  auto* const buffer = static_cast<Buffer*>(In('B'));
  if (buffer == nullptr) return;
  BufferDimensionsArgs dims = {.buffer = buffer};
  ASSAY_CHECK(CallTyped(FunctionId::kBuffer_Dimensions, dims) == ErrorCode::kOk);
  const std::vector<int64_t> sizes(dims.dims, dims.dims + dims.num_dims);
  BufferOnDeviceSizeInBytesArgs bytes = {.buffer = buffer};
  ASSAY_CHECK(CallTyped(FunctionId::kBuffer_OnDeviceSizeInBytes, bytes) == ErrorCode::kOk);
  const uint8_t how = choices_.Byte();
  const size_t dst_sizes[] = {bytes.on_device_size_in_bytes, bytes.on_device_size_in_bytes - 1, 0,
                              bytes.on_device_size_in_bytes + 64};
  const size_t dst_size = std::min<size_t>(dst_sizes[how & 3], 1 << 20);
  const auto dst = std::make_unique<uint8_t[]>(dst_size);
  BufferMemoryLayout* const layout = Layout(sizes.size());
  // An array whose first elements lie behind its last ones begins within the target.
  const std::optional<Extent> extent =
      layout_strides_.size() == sizes.size() ? ExtentOf(sizes, layout_strides_) : std::nullopt;
  const size_t before = extent ? static_cast<size_t>(extent->before) : 0;
  BufferToHostBufferArgs args = {
      .src = buffer,
      .host_layout = layout,
      .dst = (how & 4) != 0 ? nullptr : dst.get() + (before < dst_size ? before : 0),
      .dst_size = dst_size};
  if (CallTyped(FunctionId::kBuffer_ToHostBuffer, args, size) != ErrorCode::kOk) return;
  if (args.dst == nullptr) {
    ASSAY_CHECK(args.event == nullptr && args.dst_size == bytes.on_device_size_in_bytes);
  } else {
    pools_.events.push_back(args.event);
  }
}

void Session::RawToHost(uint8_t size) {
  auto* const buffer = static_cast<Buffer*>(In('B'));
  constexpr int64_t kOffsets[] = {0, 1, 4, 16, 4096, -1, kInt64Min, kInt64Max};
  const int64_t offset = choices_.Of(kOffsets), wanted = choices_.Of(kOffsets);
  const auto dst = std::make_unique<uint8_t[]>(static_cast<size_t>(std::clamp<int64_t>(wanted, 0, 4096)));
  BufferCopyRawToHostArgs args = {.buffer = buffer,
                                  .dst = choices_.Byte() == 1 ? nullptr : dst.get(),
                                  .offset = offset,
                                  .transfer_size = wanted};
  if (CallTyped(FunctionId::kBuffer_CopyRawToHost, args, size) == ErrorCode::kOk)
    pools_.events.push_back(args.event);
}

void Session::OptimizedProgram(uint8_t size) {
  auto* const executable = static_cast<Executable*>(In('X'));
  const uint8_t how = choices_.Byte();
  ProgramCode program = {};
  std::unique_ptr<char[]> room;
  if ((how & 1) != 0) {
    program.code_size = choices_.Byte() * size_t{16};
    room = std::make_unique<char[]>(program.code_size);
    program.code = room.get();
  }
  Block block(&program, kSizeOf<ProgramCode>, sizeof(program), how >> 4);
  ExecutableOptimizedProgramArgs args = {
      .executable = executable, .program = (how & 2) != 0 ? nullptr : static_cast<ProgramCode*>(block.get())};
  const ErrorCode code = CallTyped(FunctionId::kExecutable_OptimizedProgram, args, size);
  if (args.program != nullptr && block.is_short()) ASSAY_CHECK(code != ErrorCode::kOk);
}

void Session::DestroyLoaded(uint8_t size) {
  const Loaded loaded = Chosen(pools_.loaded, choices_.Byte());
  LoadedExecutableDestroyArgs args = {.executable = loaded.handle};
  if (CallTyped(FunctionId::kLoadedExecutable_Destroy, args, size) == ErrorCode::kOk)
    std::erase_if(pools_.loaded, [&](const Loaded& one) { return one.handle == loaded.handle; });
}

std::vector<bool> Session::DeletedBuffers() const {
  std::vector<bool> deleted;
  for (Buffer* const buffer : pools_.buffers) {
    BufferIsDeletedArgs args = {.buffer = buffer};
    ASSAY_CHECK(CallTyped(FunctionId::kBuffer_IsDeleted, args) == ErrorCode::kOk);
    deleted.push_back(args.is_deleted);
  }
  return deleted;
}

// Lists have exactly as many elements as is said, and results as many as the program has.
void Session::Execute(uint8_t size) {
  const Loaded loaded = Chosen(pools_.loaded, choices_.Byte());
  const uint8_t how = choices_.Byte(), counts = choices_.Byte();
  const size_t num_devices = (how & 1) != 0 ? counts >> 4 : loaded.devices, num_args = counts & 7;
  std::vector<std::vector<Buffer*>> arguments(num_devices), results(num_devices);
  std::vector<Buffer* const*> argument_lists;
  std::vector<Buffer**> output_lists;
  for (size_t d = 0; d < num_devices; ++d) {
    for (size_t i = 0; i < num_args; ++i) arguments[d].push_back(static_cast<Buffer*>(In('B')));
    results[d].resize(loaded.outputs);
    argument_lists.push_back((how & 2) != 0 && d > 0 ? nullptr : arguments[d].data());
    output_lists.push_back((how & 4) != 0 && d > 0 ? nullptr : results[d].data());
  }
  std::vector<Event*> events(num_devices);
  std::vector<int64_t> kept(choices_.Byte() % 3);
  for (int64_t& index : kept) index = static_cast<int8_t>(choices_.Byte());
  const uint8_t more = choices_.Byte();
  ExecuteOptions options = {.num_send_ops = (more & 1) != 0 ? size_t{1} : 0,
                            .non_donatable_input_indices = (more & 2) != 0 ? nullptr : kept.data(),
                            .num_non_donatable_input_indices = kept.size()};
  Block block(&options, kSizeOf<ExecuteOptions>, sizeof(options), more >> 4);
  LoadedExecutableExecuteArgs args = {
      .executable = loaded.handle,
      .options = (more & 4) != 0 ? nullptr : static_cast<ExecuteOptions*>(block.get()),
      .argument_lists = (how & 8) != 0 ? nullptr : argument_lists.data(),
      .num_devices = num_devices,
      .num_args = num_args,
      .output_lists = (how & 16) != 0 ? nullptr : output_lists.data(),
      .device_complete_events = (how & 32) != 0 ? nullptr : events.data(),
      .execute_device = static_cast<Device*>(In('D'))};
  const std::vector<bool> deleted = DeletedBuffers();
  const ErrorCode code = CallTyped(FunctionId::kLoadedExecutable_Execute, args, size);
  if (block.is_short() && args.options != nullptr) ASSAY_CHECK(code != ErrorCode::kOk);
  // A call that is wrong takes nothing.
  if (code == ErrorCode::kInvalidArgument) ASSAY_CHECK(DeletedBuffers() == deleted);
  if (code != ErrorCode::kOk) return;
  for (size_t d = 0; d < num_devices; ++d) {
    for (Buffer* const buffer : results[d]) {
      BufferDeviceArgs of = {.buffer = buffer};
      ASSAY_CHECK(CallTyped(FunctionId::kBuffer_Device, of) == ErrorCode::kOk);
      ASSAY_CHECK(IsOf(loaded.client, of.device));
      pools_.buffers.push_back(buffer);
    }
    if (args.device_complete_events != nullptr) pools_.events.push_back(events[d]);
  }
}

bool Session::IsOf(Client* client, Device* device) {
  ClientDevicesArgs all = {.client = client};
  ASSAY_CHECK(CallTyped(FunctionId::kClient_Devices, all) == ErrorCode::kOk);
  return std::find(all.devices, all.devices + all.num_devices, device) != all.devices + all.num_devices;
}

// Events that may never be ready are not waited for.
void Session::Await(uint8_t size) {
  auto* const event = static_cast<Event*>(In('E'));
  EventIsReadyArgs ready = {.event = event};
  if (event != nullptr && CallTyped(FunctionId::kEvent_IsReady, ready) == ErrorCode::kOk && !ready.is_ready)
    return;
  EventAwaitArgs args = {.event = event};
  CallTyped(FunctionId::kEvent_Await, args, size);
}

void Session::OnReady(uint8_t size) {
  auto* const event = static_cast<Event*>(In('E'));
  EventOnReadyArgs args = {
      .event = event, .callback = choices_.Byte() == 1 ? nullptr : CountCallback, .user_arg = &callbacks_};
  if (CallTyped(FunctionId::kEvent_OnReady, args, size) == ErrorCode::kOk) ++callbacks_wanted_;
}

void Session::CallLayouts(uint8_t function, uint8_t size) {
  const auto* const extension = reinterpret_cast<const LayoutsExtension*>(LayoutsExtensionOfProcess());
  const auto call = [size](Function* called, auto& args) {
    using Args = std::remove_reference_t<decltype(args)>;
    return CallRaw(called, &args, kSizeOf<Args>, sizeof(Args), size) == ErrorCode::kOk;
  };
  const auto type = static_cast<BufferType>(choices_.Byte() % kTypes);
  MemoryLayout* const layout = Chosen(pools_.layouts, choices_.Byte());
  const size_t rank = choices_.Byte();
  if (function == 0) {
    LayoutsMemoryLayoutDestroyArgs args = {.layout = layout};
    if (call(extension->memory_layout_destroy, args)) std::erase(pools_.layouts, layout);
  } else if (function == 1) {
    LayoutsMemoryLayoutSerializeArgs args = {.layout = layout};
    if (call(extension->memory_layout_serialize, args))
      args.serialized_layout_deleter(args.serialized_layout);
  } else if (function == 2) {
    LayoutsPJRTClientGetDefaultLayoutArgs args = {
        .client = static_cast<Client*>(In('C')), .type = type, .num_dims = rank};
    if (call(extension->client_get_default_layout, args)) pools_.layouts.push_back(args.layout);
  } else if (function == 3) {
    LayoutsPJRTBufferMemoryLayoutArgs args = {.buffer = static_cast<Buffer*>(In('B'))};
    if (call(extension->buffer_memory_layout, args)) pools_.layouts.push_back(args.layout);
  } else if (function == 4) {
    LayoutsPJRTTopologyGetDefaultLayoutArgs args = {
        .topology_description = static_cast<TopologyDescription*>(In('T')), .type = type, .num_dims = rank};
    if (call(extension->topology_get_default_layout, args)) pools_.layouts.push_back(args.layout);
  } else {
    LayoutsPJRTExecutableGetOutputLayoutsArgs args = {.executable = static_cast<Executable*>(In('X'))};
    call(extension->executable_get_output_layouts, args);
  }
}

// What is registered stays with the process: only calls that are refused.
void Session::CallFfi(uint8_t function, uint8_t size) {
  const auto* const extension = reinterpret_cast<const FfiExtension*>(FfiExtensionOfProcess());
  if (function == 0) {
    FFITypeRegisterArgs args = {};
    ASSAY_CHECK(CallRaw(extension->type_register, &args, kSizeOf<FFITypeRegisterArgs>, sizeof(args), size) !=
                ErrorCode::kOk);
  } else if (function == 1) {
    FFIUserDataAddArgs args = {.context = static_cast<ExecuteContext*>(In('K'))};
    ASSAY_CHECK(CallRaw(extension->user_data_add, &args, kSizeOf<FFIUserDataAddArgs>, sizeof(args), size) !=
                ErrorCode::kOk);
  } else {
    FFIRegisterHandlerArgs args = {.target_name = "nobody", .target_name_size = 6};
    ASSAY_CHECK(CallRaw(extension->register_handler, &args, kSizeOf<FFIRegisterHandlerArgs>, sizeof(args),
                        size) != ErrorCode::kOk);
  }
}

namespace {

// One call of those that any thread may make at any time; what it gives ends with it.
void CallInThread(const Pools& pools, Choices& choices) {
  const uint8_t what = choices.Byte();
  Buffer* const buffer = Chosen(pools.buffers, choices.Byte());
  const Loaded loaded = Chosen(pools.loaded, choices.Byte());
  Executable* const executable = Chosen(pools.executables, choices.Byte());
  const auto destroy = [](Buffer* made) {
    BufferDestroyArgs args = {.buffer = made};
    CallTyped(FunctionId::kBuffer_Destroy, args);
  };
  switch (what % 9) {
    case 0: {
      BufferDeleteArgs args = {.buffer = buffer};
      CallTyped(FunctionId::kBuffer_Delete, args);
      break;
    }
    case 1: {
      BufferIsDeletedArgs args = {.buffer = buffer};
      CallTyped(FunctionId::kBuffer_IsDeleted, args);
      break;
    }
    case 2: {
      BufferIncreaseExternalReferenceCountArgs args = {.buffer = buffer};
      CallTyped(FunctionId::kBuffer_IncreaseExternalReferenceCount, args);
      break;
    }
    case 3: {
      BufferDecreaseExternalReferenceCountArgs args = {.buffer = buffer};
      CallTyped(FunctionId::kBuffer_DecreaseExternalReferenceCount, args);
      break;
    }
    case 4: {
      BufferCopyToDeviceArgs args = {.buffer = buffer, .dst_device = pools.devices[0]};
      if (CallTyped(FunctionId::kBuffer_CopyToDevice, args) == ErrorCode::kOk) destroy(args.dst_buffer);
      break;
    }
    case 5: {
      ExecutableGetCostAnalysisArgs args = {.executable = executable};
      CallTyped(FunctionId::kExecutable_GetCostAnalysis, args);
      break;
    }
    case 6: {
      ProgramCode program = {.struct_size = kSizeOf<ProgramCode>};
      ExecutableOptimizedProgramArgs args = {.executable = executable, .program = &program};
      CallTyped(FunctionId::kExecutable_OptimizedProgram, args);
      break;
    }
    case 7: {
      LoadedExecutableDeleteArgs args = {.executable = loaded.handle};
      CallTyped(FunctionId::kLoadedExecutable_Delete, args);
      break;
    }
    default: {
      std::vector<Buffer*> results(loaded.outputs);
      Buffer* const arguments[] = {buffer, buffer};
      Buffer* const* const argument_list = arguments;
      Buffer** const output_list = results.data();
      ExecuteOptions options = {.struct_size = kSizeOf<ExecuteOptions>};
      LoadedExecutableExecuteArgs args = {.executable = loaded.handle,
                                          .options = &options,
                                          .argument_lists = &argument_list,
                                          .num_devices = 1,
                                          .num_args = size_t{1} + choices.Byte() % 2,
                                          .output_lists = &output_list};
      if (CallTyped(FunctionId::kLoadedExecutable_Execute, args) == ErrorCode::kOk) {
        for (Buffer* const result : results) destroy(result);
      }
    }
  }
}

}  // namespace

void Session::Threads() {
  constexpr size_t kCalls = 4, kBytes = 5 * kCalls;
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([this, choices = Choices(choices_.Take(kBytes))]() mutable {
      for (size_t i = 0; i < kCalls; ++i) CallInThread(pools_, choices);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

bool Session::CallOfExecutable(FunctionId id, uint8_t size) {
  const auto bytes_of = [&](auto args, auto take) {
    if (CallTyped(id, args, size) == ErrorCode::kOk) take(args);
    return true;
  };
  if (id == FunctionId::kExecutable_Serialize) {
    return bytes_of(ExecutableSerializeArgs{.executable = static_cast<Executable*>(In('X'))},
                    [](auto& args) { args.serialized_executable_deleter(args.serialized_executable); });
  }
  if (id == FunctionId::kExecutable_GetCompileOptions) {
    return bytes_of(
        ExecutableGetCompileOptionsArgs{.executable = static_cast<Executable*>(In('X'))},
        [](auto& args) { args.serialized_compile_options_deleter(args.serialized_compile_options); });
  }
  if (id == FunctionId::kLoadedExecutable_GetDeviceAssignment) {
    return bytes_of(
        LoadedExecutableGetDeviceAssignmentArgs{.executable = static_cast<LoadedExecutable*>(In('L'))},
        [](auto& args) { args.serialized_device_assignment_deleter(args.serialized_device_assignment); });
  }
  return false;
}

bool Session::CallSpecial(FunctionId id, uint8_t size) {
  using Member = void (Session::*)(uint8_t);
  constexpr std::pair<FunctionId, Member> kSpecial[] = {
      {FunctionId::kClient_Compile, &Session::Compile},
      {FunctionId::kExecutable_DeserializeAndLoad, &Session::Deserialize},
      {FunctionId::kClient_DefaultDeviceAssignment, &Session::DefaultAssignment},
      {FunctionId::kClient_BufferFromHostBuffer, &Session::BufferFromHost},
      {FunctionId::kClient_CreateViewOfDeviceBuffer, &Session::View},
      {FunctionId::kClient_CreateUninitializedBuffer, &Session::Uninitialized},
      {FunctionId::kBuffer_ToHostBuffer, &Session::ToHost},
      {FunctionId::kBuffer_CopyRawToHost, &Session::RawToHost},
      {FunctionId::kExecutable_OptimizedProgram, &Session::OptimizedProgram},
      {FunctionId::kLoadedExecutable_Destroy, &Session::DestroyLoaded},
      {FunctionId::kLoadedExecutable_Execute, &Session::Execute},
      {FunctionId::kEvent_Await, &Session::Await},
      {FunctionId::kEvent_OnReady, &Session::OnReady},
  };
  for (const auto& [special, member] : kSpecial) {
    if (special != id) continue;
    (this->*member)(size);
    return true;
  }
  return false;
}

// Everything is destroyed; then what was lent is given back, and who waited for it was called, once each.
void Session::End() {
  const auto end = [](FunctionId id, auto args) { ASSAY_CHECK(CallTyped(id, args) == ErrorCode::kOk); };
  for (Buffer* const buffer : pools_.buffers)
    end(FunctionId::kBuffer_Destroy, BufferDestroyArgs{.buffer = buffer});
  for (Event* const event : pools_.events) {
    EventIsReadyArgs ready = {.event = event};
    ASSAY_CHECK(CallTyped(FunctionId::kEvent_IsReady, ready) == ErrorCode::kOk && ready.is_ready);
    end(FunctionId::kEvent_Destroy, EventDestroyArgs{.event = event});
  }
  for (const Loaded& loaded : pools_.loaded)
    end(FunctionId::kLoadedExecutable_Destroy, LoadedExecutableDestroyArgs{.executable = loaded.handle});
  for (Executable* const executable : pools_.executables)
    end(FunctionId::kExecutable_Destroy, ExecutableDestroyArgs{.executable = executable});
  for (ExecuteContext* const context : pools_.contexts)
    end(FunctionId::kExecuteContext_Destroy, ExecuteContextDestroyArgs{.context = context});
  for (MemoryLayout* const layout : pools_.layouts) {
    LayoutsMemoryLayoutDestroyArgs args = {.layout = layout};
    args.struct_size = kSizeOf<LayoutsMemoryLayoutDestroyArgs>;
    const auto* const extension = reinterpret_cast<const LayoutsExtension*>(LayoutsExtensionOfProcess());
    ASSAY_CHECK(extension->memory_layout_destroy(&args) == nullptr);
  }
  for (Client* const client : pools_.clients)
    end(FunctionId::kClient_Destroy, ClientDestroyArgs{.client = client});
  ASSAY_CHECK(callbacks_ == callbacks_wanted_ && views_ == views_wanted_);
}

}  // namespace assay::pjrt
