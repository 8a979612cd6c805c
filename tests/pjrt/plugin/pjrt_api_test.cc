#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <set>
#include <thread>

#include "fmt/format.h"
#include "hlo/load/load.h"
#include "hlo/proto/export.h"
#include "pjrt/plugin/wire_writer.h"
#include "run/program.h"
#include "tests/pjrt/plugin/plugin.h"

namespace assay::pjrt {
namespace {

constexpr std::string_view kDouble = R"(module @double { func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
} })";
constexpr std::string_view kDonating = R"(module @donating {
  func.func @main(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %a, %b : tensor<4xf32>
    return %0 : tensor<4xf32>
} })";
constexpr std::string_view kIdentity =
    R"(module @same { func.func @main(%a: tensor<4096xf32>) -> tensor<4096xf32> {
  return %a : tensor<4096xf32>
} })";
const std::vector<float> kValues = {1, 2, 3, 4};

std::string Options(int64_t replicas, int64_t partitions, std::string_view assignment = "") {
  WireWriter build;
  build.Varint(4, static_cast<uint64_t>(replicas));
  build.Varint(5, static_cast<uint64_t>(partitions));
  if (!assignment.empty()) build.Bytes(9, assignment);
  WireWriter options;
  options.Bytes(3, build.bytes());
  return options.bytes();
}

}  // namespace

TEST_CASE("Every function of the table stands arguments that are missing, short or empty", "[pjrt]") {
  const Api& api = *GetPjrtApi();
  REQUIRE(api.struct_size == sizeof(Api));
  REQUIRE(api.pjrt_api_version.major_version == 0);
  REQUIRE(api.pjrt_api_version.minor_version == 76);
  // These make something of nothing, or need nothing.
  const auto is_fine = [](FunctionId id) {
    return id == FunctionId::kError_Destroy || id == FunctionId::kError_Message ||
           id == FunctionId::kError_ForEachPayload;
  };
  for (size_t i = 0; i < kNumFunctions; ++i) {
    const auto id = static_cast<FunctionId>(i);
    CAPTURE(i);
    REQUIRE(api.functions[i] != nullptr);
    if (is_fine(id)) continue;
    const Failure missing = TakeFailure(api.functions[i](nullptr));
    CHECK((missing.code == ErrorCode::kInvalidArgument || missing.code == ErrorCode::kUnimplemented));
    std::vector<size_t> words(128);
    words[0] = 8;
    const Failure small = TakeFailure(api.functions[i](words.data()));
    CHECK((small.code == ErrorCode::kInvalidArgument || small.code == ErrorCode::kUnimplemented));
    if (small.code == ErrorCode::kInvalidArgument)
      CHECK(small.message.find("struct_size is 8") != std::string::npos);
    if (id == FunctionId::kClient_Create || id == FunctionId::kExecuteContext_Create) continue;
    std::fill(words.begin(), words.end(), 0);
    words[0] = words.size() * sizeof(size_t);
    const Failure empty = TakeFailure(api.functions[i](words.data()));
    CHECK((!empty || empty.code == ErrorCode::kInvalidArgument || empty.code == ErrorCode::kUnimplemented));
  }
}

TEST_CASE("A client has the devices, engine and seed that its options say, and refuses others by name",
          "[pjrt]") {
  const TestClient plain;
  REQUIRE(!plain.failure);
  const TestClient client(
      {{"devices", "3"}, {"engine", "reference"}, {"seed", "7"}, {"crosscheck", "sample"}, {"lapack", "1"}});
  REQUIRE(!client.failure);
  ClientDevicesArgs devices = {.client = client.client};
  REQUIRE(!Call(FunctionId::kClient_Devices, devices));
  CHECK(devices.num_devices == 3);
  DeviceGetDescriptionArgs description = {.device = devices.devices[2]};
  REQUIRE(!Call(FunctionId::kDevice_GetDescription, description));
  DeviceDescriptionKindArgs kind = {.device_description = description.device_description};
  REQUIRE(!Call(FunctionId::kDeviceDescription_Kind, kind));
  CHECK(std::string(kind.device_kind, kind.device_kind_size) == "assay reference, crosscheck sample, lapack");
  ClientPlatformVersionArgs version = {.client = client.client};
  REQUIRE(!Call(FunctionId::kClient_PlatformVersion, version));
  CHECK(std::string(version.platform_version, version.platform_version_size).find("seed 7") !=
        std::string::npos);

  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{{"engine", "fastest"},
                                                                                    {"devices", "0"},
                                                                                    {"devices", "4097"},
                                                                                    {"seed", "-1"},
                                                                                    {"lapack", "yes"},
                                                                                    {"speed", "1"}}) {
    const TestClient refused(OptionMap{{name, value}});
    CHECK(refused.client == nullptr);
    CHECK(refused.failure.code == ErrorCode::kInvalidArgument);
    CHECK(refused.failure.message.find(name) != std::string::npos);
  }
  setenv("ASSAY_DEVICES", "many", 1);
  const TestClient misled;
  CHECK(misled.failure.message.find("ASSAY_DEVICES is 'many'") != std::string::npos);
  unsetenv("ASSAY_DEVICES");
}

TEST_CASE("Programs that can't be compiled fail with the code of what is wrong", "[pjrt]") {
  TestClient client;
  const auto code_of = [&](std::string_view code, std::string_view format = "mlir",
                           std::string_view options = "") {
    CHECK(client.Compile(code, format, options) == nullptr);
    CHECK(!client.failure.message.empty());
    return client.failure.code;
  };
  CHECK(code_of("module { func.func @main( }") == ErrorCode::kInvalidArgument);
  CHECK(client.failure.message.starts_with("1:"));
  CHECK(code_of("HloModule m") == ErrorCode::kInvalidArgument);
  CHECK(code_of("\x12\x34", "hlo") == ErrorCode::kInvalidArgument);
  CHECK(code_of(kDouble, "spirv") == ErrorCode::kUnimplemented);
  CHECK(code_of(kDouble, "mlir", "\xff\xff") == ErrorCode::kInvalidArgument);
  CHECK(code_of(kDouble, "mlir", Options(-1, 1)) == ErrorCode::kInvalidArgument);
  const auto with_override = [](std::string_view name, std::optional<std::string_view> text) {
    WireWriter value, entry, options;
    if (text) value.Bytes(1, *text);
    entry.Bytes(1, name);
    entry.Bytes(2, value.bytes());
    options.Bytes(7, entry.bytes());
    return options.bytes();
  };
  CHECK(code_of(kDouble, "mlir", with_override("speed", "1")) == ErrorCode::kInvalidArgument);
  CHECK(client.failure.message == "compile options: No such compile option: 'speed'");
  constexpr std::string_view kFastMath = "xla_cpu_enable_fast_math";
  CHECK(code_of(kDouble, "mlir", with_override(kFastMath, "yes")) == ErrorCode::kInvalidArgument);
  CHECK(client.failure.message.find("'yes' is not a valid bool value") != std::string::npos);
  CHECK(code_of(kDouble, "mlir", with_override(kFastMath, std::nullopt)) == ErrorCode::kInvalidArgument);
  LoadedExecutable* const fine = client.Compile(kDouble, "mlir", with_override(kFastMath, "True"));
  CHECK(fine != nullptr);
  Destroy(fine);
  CHECK(code_of(kDouble, "mlir", Options(1, 2)) == ErrorCode::kInvalidArgument);  // one device
  CHECK(client.failure.message.find("ASSAY_DEVICES") != std::string::npos);
}

TEST_CASE("A program runs from its text and from HLO protos, and says what it gives", "[pjrt]") {
  TestClient client;
  const absl::StatusOr<assay::Program> read = assay::Program::Load("double.mlir", kDouble);
  REQUIRE(read.ok());
  const std::string proto = ExportProto(read->module()).value();
  WireWriter with_config;
  with_config.Bytes(1, proto);
  for (const auto& [format, code] : std::map<std::string, std::string>{
           {"mlir", std::string(kDouble)}, {"hlo", proto}, {"hlo_with_config", with_config.bytes()}}) {
    CAPTURE(format);
    LoadedExecutable* const executable = client.Compile(code, format);
    REQUIRE(!client.failure);
    Buffer* const argument = client.Put(BufferType::kF32, {4}, kValues);
    std::vector<Buffer*> results(1);
    REQUIRE(!Execute(executable, {argument}, results));
    CHECK(Fetch<float>(results[0], 4) == std::vector<float>{2, 4, 6, 8});
    CHECK(!IsDeleted(argument));

    LoadedExecutableGetExecutableArgs get = {.loaded_executable = executable};
    REQUIRE(!Call(FunctionId::kLoadedExecutable_GetExecutable, get));
    ExecutableOutputDimensionsArgs dims = {.executable = get.executable};
    REQUIRE(!Call(FunctionId::kExecutable_OutputDimensions, dims));
    CHECK((dims.num_outputs == 1 && dims.dim_sizes[0] == 1 && dims.dims[0] == 4));
    ExecutableOutputElementTypesArgs types = {.executable = get.executable};
    REQUIRE(!Call(FunctionId::kExecutable_OutputElementTypes, types));
    CHECK(types.output_types[0] == BufferType::kF32);

    ProgramCode optimized = {.struct_size = kSizeOf<ProgramCode>};
    ExecutableOptimizedProgramArgs program = {.executable = get.executable, .program = &optimized};
    REQUIRE(!Call(FunctionId::kExecutable_OptimizedProgram, program));
    std::string bytes(optimized.code_size, '\0');
    optimized.code = bytes.data();
    optimized.code_size -= 1;
    CHECK(Call(FunctionId::kExecutable_OptimizedProgram, program).code == ErrorCode::kInvalidArgument);
    optimized.code_size = bytes.size();
    REQUIRE(!Call(FunctionId::kExecutable_OptimizedProgram, program));
    LoadedExecutable* const again = client.Compile(bytes, {optimized.format, optimized.format_size});
    CHECK(!client.failure);
    Destroy(again);
    ExecutableDestroyArgs destroy = {.executable = get.executable};
    Call(FunctionId::kExecutable_Destroy, destroy);
    Destroy(argument);
    Destroy(results[0]);
    Destroy(executable);
  }
}

TEST_CASE("A serialized executable is the same program; other bytes are refused", "[pjrt]") {
  TestClient client;
  LoadedExecutable* const executable = client.Compile(kDouble);
  REQUIRE(!client.failure);
  LoadedExecutableGetExecutableArgs get = {.loaded_executable = executable};
  REQUIRE(!Call(FunctionId::kLoadedExecutable_GetExecutable, get));
  ExecutableSerializeArgs serialize = {.executable = get.executable};
  REQUIRE(!Call(FunctionId::kExecutable_Serialize, serialize));
  const std::string bytes(serialize.serialized_bytes, serialize.serialized_bytes_size);
  serialize.serialized_executable_deleter(serialize.serialized_executable);
  ExecutableDestroyArgs destroy = {.executable = get.executable};
  Call(FunctionId::kExecutable_Destroy, destroy);
  Destroy(executable);
  for (size_t length = 0; length < bytes.size(); ++length) {
    ExecutableDeserializeAndLoadArgs load = {
        .client = client.client, .serialized_executable = bytes.data(), .serialized_executable_size = length};
    CHECK(Call(FunctionId::kExecutable_DeserializeAndLoad, load).code == ErrorCode::kInvalidArgument);
  }
  ExecutableDeserializeAndLoadArgs load = {.client = client.client,
                                           .serialized_executable = bytes.data(),
                                           .serialized_executable_size = bytes.size()};
  REQUIRE(!Call(FunctionId::kExecutable_DeserializeAndLoad, load));
  Buffer* const argument = client.Put(BufferType::kF32, {4}, kValues);
  std::vector<Buffer*> results(1);
  REQUIRE(!Execute(load.loaded_executable, {argument}, results));
  CHECK(Fetch<float>(results[0], 4) == std::vector<float>{2, 4, 6, 8});
  Destroy(argument);
  Destroy(results[0]);
  Destroy(load.loaded_executable);
}

TEST_CASE("Executions with wrong arguments fail and take nothing", "[pjrt]") {
  TestClient client;
  LoadedExecutable* const executable = client.Compile(kDonating);
  REQUIRE(!client.failure);
  Buffer* const a = client.Put(BufferType::kF32, {4}, kValues);
  Buffer* const b = client.Put(BufferType::kF32, {4}, kValues);
  Buffer* const other = client.Put<float>(BufferType::kF32, {2}, {1, 2});
  std::vector<Buffer*> results(1);
  CHECK(Execute(executable, {a}, results).code == ErrorCode::kInvalidArgument);
  CHECK(Execute(executable, {a, other}, results).code == ErrorCode::kInvalidArgument);
  CHECK(Execute(executable, {a, nullptr}, results).code == ErrorCode::kInvalidArgument);
  CHECK(Execute(executable, {a, a}, results).message.find("donated") != std::string::npos);
  CHECK(!IsDeleted(a));
  REQUIRE(!Execute(executable, {a, b}, results, /*kept=*/{0}));
  CHECK(!IsDeleted(a));
  Destroy(results[0]);
  REQUIRE(!Execute(executable, {a, b}, results));
  CHECK(IsDeleted(a));
  CHECK(!IsDeleted(b));
  CHECK(Fetch<float>(results[0], 4) == std::vector<float>{2, 4, 6, 8});
  Destroy(results[0]);
  CHECK(Execute(executable, {a, b}, results).message.find("deleted or donated") != std::string::npos);
  LoadedExecutableDeleteArgs remove = {.executable = executable};
  REQUIRE(!Call(FunctionId::kLoadedExecutable_Delete, remove));
  CHECK(Execute(executable, {b, b}, results).message.find("executable was deleted") != std::string::npos);
  for (Buffer* buffer : {a, b, other}) Destroy(buffer);
  Destroy(executable);
}

TEST_CASE("What no operation is known for is not supported, when it runs", "[pjrt]") {
  TestClient client;
  LoadedExecutable* const executable = client.Compile(R"(module { func.func @main() -> tensor<f32> {
    %0 = stablehlo.custom_call @nobody() : () -> tensor<f32>
    return %0 : tensor<f32> } })");
  REQUIRE(client.failure.message == "");
  std::vector<Buffer*> results(1);
  const Failure failure = Execute(executable, {}, results);
  CHECK(failure.code == ErrorCode::kUnimplemented);
  CHECK(failure.message.find("nobody") != std::string::npos);
  Destroy(executable);
}

TEST_CASE("A limit that a run passes is a resource that is exhausted", "[pjrt]") {
  TestClient client(OptionMap{{"max_steps", "10"}});
  LoadedExecutable* const executable =
      client.Compile(R"(module { func.func @main(%a: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.while(%i = %a) : tensor<i32> cond { %t = stablehlo.constant dense<true> : tensor<i1>
      stablehlo.return %t : tensor<i1> } do { %n = stablehlo.add %i, %i : tensor<i32>
      stablehlo.return %n : tensor<i32> }
    return %0 : tensor<i32> } })");
  REQUIRE(client.failure.message == "");
  Buffer* const argument = client.Put<int32_t>(BufferType::kS32, {}, {1});
  std::vector<Buffer*> results(1);
  CHECK(Execute(executable, {argument}, results).code == ErrorCode::kResourceExhausted);
  Destroy(argument);
  Destroy(executable);
}

TEST_CASE("Arrays go in and out by strides of either sign and by layouts", "[pjrt]") {
  TestClient client;
  const std::vector<int32_t> host = {1, 2, 3, 4, 5, 6};          // [2,3]
  const std::vector<int64_t> dims = {3, 2}, strides = {-4, 12};  // the transpose, its rows reversed
  ClientBufferFromHostBufferArgs put = {.client = client.client,
                                        .data = host.data() + 2,
                                        .type = BufferType::kS32,
                                        .dims = dims.data(),
                                        .num_dims = 2,
                                        .byte_strides = strides.data(),
                                        .num_byte_strides = 2,
                                        .host_buffer_semantics = HostBufferSemantics::kImmutableZeroCopy,
                                        .device = client.device()};
  REQUIRE(!TestClient::Put(put));
  CHECK(Fetch<int32_t>(put.buffer, 6) == std::vector<int32_t>{3, 6, 2, 5, 1, 4});
  BufferMemoryLayout layout = {.struct_size = kSizeOf<BufferMemoryLayout>};
  const int64_t column_major[] = {0, 1}, no_permutation[] = {1, 1}, backwards[] = {-8, -4};
  layout.type = MemoryLayoutType::kTiled;
  layout.tiled = {kSizeOf<BufferMemoryLayoutTiled>, nullptr, column_major, 2, nullptr, nullptr, 0};
  CHECK(Fetch<int32_t>(put.buffer, 6, &layout) == std::vector<int32_t>{3, 2, 1, 6, 5, 4});
  Failure failure;
  layout.tiled.minor_to_major = no_permutation;
  Fetch<int32_t>(put.buffer, 6, &layout, &failure);
  CHECK(failure.message.find("permutation") != std::string::npos);
  layout.tiled = {kSizeOf<BufferMemoryLayoutTiled>, nullptr, column_major, 1, nullptr, nullptr, 0};
  Fetch<int32_t>(put.buffer, 6, &layout, &failure);
  CHECK(failure.code == ErrorCode::kInvalidArgument);
  Fetch<int32_t>(put.buffer, 5, nullptr, &failure);
  CHECK(failure.message == "dst has 20 bytes, want 24");
  layout.type = MemoryLayoutType::kStrides;
  layout.strides = {kSizeOf<BufferMemoryLayoutStrides>, nullptr, backwards, 2};
  std::vector<int32_t> reversed(6);
  BufferToHostBufferArgs get = {
      .src = put.buffer, .host_layout = &layout, .dst = reversed.data() + 5, .dst_size = 24};
  REQUIRE(!Call(FunctionId::kBuffer_ToHostBuffer, get));
  TestClient::DestroyEvent(get.event);
  CHECK(reversed == std::vector<int32_t>{4, 1, 5, 2, 6, 3});
  BufferCopyRawToHostArgs raw = {
      .buffer = put.buffer, .dst = reversed.data(), .offset = 20, .transfer_size = 8};
  CHECK(Call(FunctionId::kBuffer_CopyRawToHost, raw).code == ErrorCode::kInvalidArgument);
  raw.transfer_size = 4;
  REQUIRE(!Call(FunctionId::kBuffer_CopyRawToHost, raw));
  TestClient::DestroyEvent(raw.event);
  CHECK(reversed[0] == 4);
  Destroy(put.buffer);

  const int64_t negative[] = {-1};
  put.dims = negative, put.num_dims = 1, put.num_byte_strides = 0;
  CHECK(TestClient::Put(put).code == ErrorCode::kInvalidArgument);
  put.type = static_cast<BufferType>(99);
  CHECK(TestClient::Put(put).message == "there is no buffer type 99");
}

TEST_CASE("Layouts of arguments and results are what the program says, and change no value", "[pjrt]") {
  TestClient client;
  const auto program = [](std::string_view mode) {
    return fmt::format(R"(module {{ func.func @main(%a: tensor<2x3xi32>)
        -> (tensor<2x3xi32> {{mhlo.layout_mode = "{}"}}) {{ return %a : tensor<2x3xi32> }} }})",
                       mode);
  };
  for (const std::string_view wrong : {"{0,0}", "{0}", "{0,1", "{0;1}", "rows", "{0,1,2}"}) {
    CAPTURE(wrong);
    CHECK(client.Compile(program(wrong)) == nullptr);
    CHECK(client.failure.code == ErrorCode::kInvalidArgument);
  }
  CHECK(client.Compile(program("{0,1:T(8,128)}")) == nullptr);
  CHECK(client.failure.code == ErrorCode::kUnimplemented);
  LoadedExecutable* const executable = client.Compile(program("{0,1}"));
  REQUIRE(client.failure.message == "");
  Buffer* const argument = client.Put<int32_t>(BufferType::kS32, {2, 3}, {1, 2, 3, 4, 5, 6});
  std::vector<Buffer*> results(1);
  REQUIRE(!Execute(executable, {argument}, results));
  BufferGetMemoryLayoutArgs layout = {.buffer = results[0]};
  REQUIRE(!Call(FunctionId::kBuffer_GetMemoryLayout, layout));
  REQUIRE(layout.layout.tiled.minor_to_major_size == 2);
  CHECK(layout.layout.tiled.minor_to_major[0] == 0);
  CHECK(Fetch<int32_t>(results[0], 6) == std::vector<int32_t>{1, 2, 3, 4, 5, 6});
  BufferIsOnCpuArgs on_cpu = {.buffer = results[0]};
  REQUIRE(!Call(FunctionId::kBuffer_IsOnCpu, on_cpu));
  CHECK(!on_cpu.is_on_cpu);  // its bytes are not where the layout says
  BufferUnsafePointerArgs pointer = {.buffer = results[0]};
  CHECK(Call(FunctionId::kBuffer_UnsafePointer, pointer).code == ErrorCode::kUnimplemented);
  for (Buffer* buffer : {argument, results[0]}) Destroy(buffer);
  Destroy(executable);
}

TEST_CASE("Results lie in the memories that the program says, and a memory that there is not is refused",
          "[pjrt]") {
  TestClient client;
  const auto program = [](std::string_view kind) {
    return fmt::format(R"(module {{ func.func @main(%a: tensor<3xi32>) -> (tensor<3xi32>, tensor<3xi32>) {{
        %b = stablehlo.add %a, %a : tensor<3xi32>
        %c = stablehlo.custom_call @annotate_device_placement(%b) {{has_side_effect = true,
          mhlo.frontend_attributes = {{_xla_buffer_placement = "{}"}}}} : (tensor<3xi32>) -> tensor<3xi32>
        return %b, %c : tensor<3xi32>, tensor<3xi32> }} }})",
                       kind);
  };
  CHECK(client.Compile(program("attic")) == nullptr);
  CHECK(client.failure.code == ErrorCode::kInvalidArgument);
  const auto kind_of = [](Buffer* buffer) {
    BufferMemoryArgs of = {.buffer = buffer};
    REQUIRE(!Call(FunctionId::kBuffer_Memory, of));
    MemoryKindArgs kind = {.memory = of.memory};
    REQUIRE(!Call(FunctionId::kMemory_Kind, kind));
    return std::string(kind.kind, kind.kind_size);
  };
  for (const std::string_view kind : {"device", "pinned_host", "unpinned_host"}) {
    LoadedExecutable* const executable = client.Compile(program(kind));
    REQUIRE(client.failure.message == "");
    Buffer* const argument = client.Put<int32_t>(BufferType::kS32, {3}, {1, 2, 3});
    std::vector<Buffer*> results(2);
    REQUIRE(!Execute(executable, {argument}, results));
    CHECK(kind_of(results[0]) == "device");
    CHECK(kind_of(results[1]) == kind);
    CHECK(Fetch<int32_t>(results[1], 3) == std::vector<int32_t>{2, 4, 6});
    for (Buffer* buffer : {argument, results[0], results[1]}) Destroy(buffer);
    Destroy(executable);
  }
}

TEST_CASE("A result shares its memory with no argument and no other result", "[pjrt]") {
  TestClient client;
  LoadedExecutable* const executable = client.Compile(R"(module { func.func @main(%a: tensor<3xi32>)
      -> (tensor<3xi32>, tensor<3xi32>) { return %a, %a : tensor<3xi32>, tensor<3xi32> } })");
  REQUIRE(client.failure.message == "");
  Buffer* const argument = client.Put<int32_t>(BufferType::kS32, {3}, {1, 2, 3});
  std::vector<Buffer*> results(2);
  REQUIRE(!Execute(executable, {argument}, results));
  std::set<uintptr_t> addresses;
  for (Buffer* buffer : {argument, results[0], results[1]}) {
    BufferUnsafePointerArgs pointer = {.buffer = buffer};
    REQUIRE(!Call(FunctionId::kBuffer_UnsafePointer, pointer));
    addresses.insert(pointer.buffer_pointer);
    CHECK(Fetch<int32_t>(buffer, 3) == std::vector<int32_t>{1, 2, 3});
  }
  CHECK(addresses.size() == 3);
  for (Buffer* buffer : {argument, results[0], results[1]}) Destroy(buffer);
  Destroy(executable);
}

TEST_CASE("Narrow integers and pred come in loosely and go out as hosts have them", "[pjrt]") {
  TestClient client;
  // -1 with its sign and without; 7 with loose bits above.
  Buffer* const narrow = client.Put<uint8_t>(BufferType::kS4, {4}, {0xff, 0x0f, 0x77, 0x08});
  CHECK(Fetch<uint8_t>(narrow, 4) == std::vector<uint8_t>{0x0f, 0x0f, 0x07, 0x08});
  LoadedExecutable* const widen =
      client.Compile(R"(module { func.func @main(%a: tensor<4xi4>) -> tensor<4xi32> {
    %0 = stablehlo.convert %a : (tensor<4xi4>) -> tensor<4xi32>
    return %0 : tensor<4xi32> } })");
  REQUIRE(client.failure.message == "");
  std::vector<Buffer*> results(1);
  REQUIRE(!Execute(widen, {narrow}, results));
  CHECK(Fetch<int32_t>(results[0], 4) == std::vector<int32_t>{-1, -1, 7, -8});
  Buffer* const truth = client.Put<uint8_t>(BufferType::kPred, {3}, {0, 1, 200});
  CHECK(Fetch<uint8_t>(truth, 3) == std::vector<uint8_t>{0, 1, 1});
  for (Buffer* buffer : {narrow, truth, results[0]}) Destroy(buffer);
  Destroy(widen);
}

TEST_CASE("Memory of the host is given back when the last value in it is gone", "[pjrt]") {
  TestClient client;
  LoadedExecutable* const same = client.Compile(kIdentity);
  REQUIRE(!client.failure);
  alignas(64) static float host[4096];
  std::iota(std::begin(host), std::end(host), 0.0f);
  const int64_t dims[] = {4096};
  ClientBufferFromHostBufferArgs put = {.client = client.client,
                                        .data = host,
                                        .type = BufferType::kF32,
                                        .dims = dims,
                                        .num_dims = 1,
                                        .host_buffer_semantics = HostBufferSemantics::kImmutableZeroCopy,
                                        .device = client.device()};
  REQUIRE(!Call(FunctionId::kClient_BufferFromHostBuffer, put));
  int calls = 0;
  EventOnReadyArgs on_ready = {.event = put.done_with_host_buffer,
                               .callback =
                                   [](Error* error, void* counter) {
                                     CHECK(error == nullptr);
                                     ++*static_cast<int*>(counter);
                                   },
                               .user_arg = &calls};
  REQUIRE(!Call(FunctionId::kEvent_OnReady, on_ready));
  EventIsReadyArgs ready = {.event = put.done_with_host_buffer};
  REQUIRE(!Call(FunctionId::kEvent_IsReady, ready));
  CHECK(!ready.is_ready);
  EventErrorArgs early = {.event = put.done_with_host_buffer};
  CHECK(Call(FunctionId::kEvent_Error, early).code == ErrorCode::kFailedPrecondition);
  TestClient::DestroyEvent(put.done_with_host_buffer);
  BufferUnsafePointerArgs pointer = {.buffer = put.buffer};
  REQUIRE(!Call(FunctionId::kBuffer_UnsafePointer, pointer));
  CHECK(pointer.buffer_pointer == reinterpret_cast<uintptr_t>(host));  // nothing was copied
  // A copy to a device shares the memory; a result of an argument that is not donated has its own.
  BufferCopyToDeviceArgs copy = {.buffer = put.buffer, .dst_device = client.device()};
  REQUIRE(!Call(FunctionId::kBuffer_CopyToDevice, copy));
  std::vector<Buffer*> results(1);
  REQUIRE(!Execute(same, {put.buffer}, results));
  BufferUnsafePointerArgs own = {.buffer = results[0]};
  REQUIRE(!Call(FunctionId::kBuffer_UnsafePointer, own));
  CHECK(own.buffer_pointer != reinterpret_cast<uintptr_t>(host));
  Destroy(put.buffer);
  CHECK(calls == 0);  // the copy lies there
  CHECK(Fetch<float>(copy.dst_buffer, 4096)[4095] == 4095);
  Destroy(copy.dst_buffer);
  CHECK(calls == 1);
  std::fill(std::begin(host), std::end(host), -1.0f);  // the host's again
  CHECK(Fetch<float>(results[0], 4096)[0] == 0);
  CHECK(Fetch<float>(results[0], 4096)[4095] == 4095);
  Destroy(results[0]);
  CHECK(calls == 1);
  Destroy(same);
}

TEST_CASE("A value that the host refers to stays where it is, whatever becomes of the buffer", "[pjrt]") {
  TestClient client;
  LoadedExecutable* const donating = client.Compile(kDonating);
  Buffer* const a = client.Put(BufferType::kF32, {4}, kValues);
  Buffer* const b = client.Put(BufferType::kF32, {4}, kValues);
  BufferIncreaseExternalReferenceCountArgs hold = {.buffer = a};
  REQUIRE(!Call(FunctionId::kBuffer_IncreaseExternalReferenceCount, hold));
  BufferOpaqueDeviceMemoryDataPointerArgs pointer = {.buffer = a};
  REQUIRE(!Call(FunctionId::kBuffer_OpaqueDeviceMemoryDataPointer, pointer));
  std::vector<Buffer*> results(1);
  REQUIRE(!Execute(donating, {a, b}, results));
  CHECK(IsDeleted(a));
  CHECK(std::memcmp(pointer.device_memory_ptr, kValues.data(), 16) == 0);
  BufferDecreaseExternalReferenceCountArgs drop = {.buffer = a};
  REQUIRE(!Call(FunctionId::kBuffer_DecreaseExternalReferenceCount, drop));
  CHECK(Call(FunctionId::kBuffer_DecreaseExternalReferenceCount, drop).code == ErrorCode::kInvalidArgument);
  for (Buffer* buffer : {a, b, results[0]}) Destroy(buffer);
  Destroy(donating);
}

TEST_CASE("Replicas and assigned devices: each device has its own values", "[pjrt]") {
  TestClient client(OptionMap{{"devices", "3"}});
  WireWriter devices, assignment;
  const int64_t ids[] = {2, 0};
  devices.Packed(1, ids);
  assignment.Varint(1, 2);
  assignment.Varint(2, 1);
  assignment.Bytes(3, devices.bytes());
  LoadedExecutable* const executable =
      client.Compile(R"(module { func.func @main(%a: tensor<f32>) -> tensor<f32> {
    %0 = "stablehlo.all_reduce"(%a) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32> }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<f32>) -> tensor<f32>
    %1 = stablehlo.multiply %0, %a : tensor<f32>
    return %1 : tensor<f32> } })",
                     "mlir", Options(2, 1, assignment.bytes()));
  REQUIRE(client.failure.message == "");
  LoadedExecutableAddressableDevicesArgs used = {.executable = executable};
  REQUIRE(!Call(FunctionId::kLoadedExecutable_AddressableDevices, used));
  REQUIRE(used.num_addressable_devices == 2);
  CHECK(used.addressable_devices[0] == client.device(2));
  Buffer* const a = client.Put<float>(BufferType::kF32, {}, {2}, 2);
  Buffer* const b = client.Put<float>(BufferType::kF32, {}, {3}, 0);
  ExecuteOptions options = {.struct_size = kSizeOf<ExecuteOptions>};
  Buffer* const* const arguments[] = {&a, &b};
  Buffer* results[2] = {};
  Buffer** const outputs[] = {&results[0], &results[1]};
  Event* events[2] = {};
  LoadedExecutableExecuteArgs args = {.executable = executable,
                                      .options = &options,
                                      .argument_lists = arguments,
                                      .num_devices = 2,
                                      .num_args = 1,
                                      .output_lists = outputs,
                                      .device_complete_events = events};
  REQUIRE(!Call(FunctionId::kLoadedExecutable_Execute, args));
  CHECK(Fetch<float>(results[0], 1) == std::vector<float>{10});
  CHECK(Fetch<float>(results[1], 1) == std::vector<float>{15});
  BufferDeviceArgs device = {.buffer = results[1]};
  REQUIRE(!Call(FunctionId::kBuffer_Device, device));
  CHECK(device.device == client.device(0));
  for (Event* event : events) TestClient::DestroyEvent(event);
  for (Buffer* buffer : {a, b, results[0], results[1]}) Destroy(buffer);
  Destroy(executable);
}

TEST_CASE("Eight threads compile, run and fetch at once", "[pjrt]") {
  TestClient client(OptionMap{{"devices", "2"}});
  LoadedExecutable* const shared = client.Compile(kDouble);
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        TestClient own;
        LoadedExecutable* const executable = own.Compile(kDouble);
        Buffer* const argument = own.Put(BufferType::kF32, {4}, std::vector<float>(4, static_cast<float>(t)));
        std::vector<Buffer*> results(1), others(1);
        const bool ran = !Execute(executable, {argument}, results) && !Execute(shared, {argument}, others);
        if (ran && Fetch<float>(results[0], 4) == std::vector<float>(4, 2.0f * static_cast<float>(t)) &&
            Fetch<float>(others[0], 4) == Fetch<float>(results[0], 4))
          ++good;
        for (Buffer* buffer : {argument, results[0], others[0]}) Destroy(buffer);
        Destroy(executable);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(good == 160);
  Destroy(shared);
}

}  // namespace assay::pjrt
