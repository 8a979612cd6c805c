// Arguments that a caller can state and that are wrong: each is an invalid argument, and takes nothing.
#include <catch2/catch.hpp>
#include <limits>

#include "pjrt/plugin/wire_writer.h"
#include "tests/pjrt/plugin/plugin.h"

namespace assay::pjrt {
namespace {

constexpr std::string_view kDonatingFirst = R"(module @donating {
  func.func @main(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %a, %b : tensor<4xf32>
    return %0 : tensor<4xf32>
} })";
const std::vector<float> kFourValues = {1, 2, 3, 4};

Executable* ExecutableOfLoaded(LoadedExecutable* loaded) {
  LoadedExecutableGetExecutableArgs get = {.loaded_executable = loaded};
  REQUIRE(!Call(FunctionId::kLoadedExecutable_GetExecutable, get));
  return get.executable;
}

}  // namespace

TEST_CASE("A struct that arguments point to is not read behind its size", "[pjrt]") {
  TestClient client;
  LoadedExecutable* const loaded = client.Compile(kDonatingFirst);
  REQUIRE(client.failure.message == "");
  NamedValue option = {.struct_size = kSizeOf<NamedValue> - 1, .name = "devices", .name_size = 7};
  option.type = NamedValueType::kInt64, option.int64_value = 1, option.value_size = 1;
  ClientCreateArgs create = {.create_options = &option, .num_options = 1};
  CHECK(Call(FunctionId::kClient_Create, create).code == ErrorCode::kInvalidArgument);

  ProgramCode program = {.struct_size = kSizeOf<ProgramCode> - 1};
  ExecutableDestroyArgs destroy = {.executable = ExecutableOfLoaded(loaded)};
  ExecutableOptimizedProgramArgs optimized = {.executable = destroy.executable, .program = &program};
  CHECK(Call(FunctionId::kExecutable_OptimizedProgram, optimized).code == ErrorCode::kInvalidArgument);
  Call(FunctionId::kExecutable_Destroy, destroy);

  // The last field that is read says how many arguments are not donated.
  Buffer* const a = client.Put(BufferType::kF32, {4}, kFourValues);
  Buffer* const b = client.Put(BufferType::kF32, {4}, kFourValues);
  ExecuteOptions options = {.struct_size = kSizeOf<ExecuteOptions> - 1};
  Buffer* const arguments[] = {a, b};
  Buffer* const* const given = arguments;
  Buffer* result = nullptr;
  Buffer** const taken = &result;
  LoadedExecutableExecuteArgs args = {.executable = loaded,
                                      .options = &options,
                                      .argument_lists = &given,
                                      .num_devices = 1,
                                      .num_args = 2,
                                      .output_lists = &taken};
  const Failure failure = Call(FunctionId::kLoadedExecutable_Execute, args);
  CHECK(failure.code == ErrorCode::kInvalidArgument);
  CHECK(failure.message.find("struct_size of the options is") != std::string::npos);
  CHECK(!IsDeleted(a));
  for (Buffer* buffer : {a, b}) Destroy(buffer);
  Destroy(loaded);
}

TEST_CASE("Nothing is donated by an execution whose arguments are wrong", "[pjrt]") {
  TestClient client(OptionMap{{"devices", "2"}});
  LoadedExecutable* const donating = client.Compile(kDonatingFirst);
  REQUIRE(client.failure.message == "");
  Buffer* const a = client.Put(BufferType::kF32, {4}, kFourValues);
  Buffer* const deleted = client.Put(BufferType::kF32, {4}, kFourValues);
  BufferDeleteArgs remove = {.buffer = deleted};
  REQUIRE(!Call(FunctionId::kBuffer_Delete, remove));
  std::vector<Buffer*> results(1);
  CHECK(Execute(donating, {a, deleted}, results).message.find("deleted or donated") != std::string::npos);
  CHECK(!IsDeleted(a));

  // Of two replicas, that have the same buffer.
  WireWriter build, options;
  build.Varint(4, 2);
  build.Varint(5, 1);
  options.Bytes(3, build.bytes());
  LoadedExecutable* const replicated = client.Compile(kDonatingFirst, "mlir", options.bytes());
  REQUIRE(client.failure.message == "");
  Buffer* const b = client.Put(BufferType::kF32, {4}, kFourValues);
  ExecuteOptions run = {.struct_size = kSizeOf<ExecuteOptions>};
  Buffer* const arguments[] = {a, b};
  Buffer* const* const lists[] = {arguments, arguments};
  Buffer* made[2] = {};
  Buffer** const outputs[] = {&made[0], &made[1]};
  LoadedExecutableExecuteArgs args = {.executable = replicated,
                                      .options = &run,
                                      .argument_lists = lists,
                                      .num_devices = 2,
                                      .num_args = 2,
                                      .output_lists = outputs};
  CHECK(Call(FunctionId::kLoadedExecutable_Execute, args).message ==
        "the buffer of argument 0 is donated, of devices 0 and 1");
  CHECK(!IsDeleted(a));
  for (Buffer* buffer : {a, b, deleted}) Destroy(buffer);
  for (LoadedExecutable* executable : {donating, replicated}) Destroy(executable);
}

TEST_CASE("A program does not run on another client's device", "[pjrt]") {
  TestClient client, other;
  LoadedExecutable* const executable = client.Compile(
      "module { func.func @main() -> tensor<f32> { %0 = stablehlo.constant dense<1.0> : tensor<f32>\n"
      "return %0 : tensor<f32> } }");
  REQUIRE(client.failure.message == "");
  ExecuteOptions options = {.struct_size = kSizeOf<ExecuteOptions>};
  Buffer* result = nullptr;
  Buffer** const taken = &result;
  LoadedExecutableExecuteArgs args = {.executable = executable,
                                      .options = &options,
                                      .num_devices = 1,
                                      .output_lists = &taken,
                                      .execute_device = other.device()};
  CHECK(Call(FunctionId::kLoadedExecutable_Execute, args).message ==
        "the execute_device is another client's");
  args.execute_device = client.device();
  REQUIRE(!Call(FunctionId::kLoadedExecutable_Execute, args));
  Destroy(result);
  Destroy(executable);
}

TEST_CASE("Arrays of the host have sizes that are known", "[pjrt]") {
  TestClient client;
  const float values[4] = {};
  for (const int64_t size : {int64_t{-1}, std::numeric_limits<int64_t>::min()}) {
    CAPTURE(size);
    ClientBufferFromHostBufferArgs put = {.client = client.client,
                                          .data = values,
                                          .type = BufferType::kF32,
                                          .dims = &size,
                                          .num_dims = 1,
                                          .device = client.device()};
    CHECK(Call(FunctionId::kClient_BufferFromHostBuffer, put).code == ErrorCode::kInvalidArgument);
    ClientCreateUninitializedBufferArgs make = {.client = client.client,
                                                .shape_dims = &size,
                                                .shape_num_dims = 1,
                                                .shape_element_type = BufferType::kF32,
                                                .device = client.device()};
    CHECK(Call(FunctionId::kClient_CreateUninitializedBuffer, make).code == ErrorCode::kInvalidArgument);
  }
}

TEST_CASE("A view of an array without elements may lie nowhere", "[pjrt]") {
  TestClient client;
  const int64_t sizes[] = {0, 3};
  int deleted = 0;
  ClientCreateViewOfDeviceBufferArgs view = {
      .client = client.client,
      .dims = sizes,
      .num_dims = 2,
      .element_type = BufferType::kF32,
      .device = client.device(),
      .on_delete_callback = [](void*, void* count) { ++*static_cast<int*>(count); },
      .on_delete_callback_arg = &deleted};
  REQUIRE(!Call(FunctionId::kClient_CreateViewOfDeviceBuffer, view));
  float target = 0;
  BufferToHostBufferArgs fetch = {.src = view.buffer, .dst = &target, .dst_size = 0};
  REQUIRE(!Call(FunctionId::kBuffer_ToHostBuffer, fetch));
  TestClient::DestroyEvent(fetch.event);
  Destroy(view.buffer);
  CHECK(deleted == 1);
}

TEST_CASE("An array without elements may have sizes whose product is none", "[pjrt]") {
  TestClient client;
  // Only a build with the sanitizer of undefined behaviour sees a product that overflows.
  const int64_t sizes[] = {std::numeric_limits<int64_t>::max(), 0, std::numeric_limits<int64_t>::max()};
  ClientBufferFromHostBufferArgs put = {.client = client.client,
                                        .type = BufferType::kF32,
                                        .dims = sizes,
                                        .num_dims = 3,
                                        .device = client.device()};
  REQUIRE(!TestClient::Put(put));
  CHECK(Fetch<float>(put.buffer, 0).empty());
  Destroy(put.buffer);
}

TEST_CASE("Strides do not reach out of the target's bytes", "[pjrt]") {
  TestClient client;
  Buffer* const buffer = client.Put<int32_t>(BufferType::kS32, {2, 3}, {1, 2, 3, 4, 5, 6});
  const auto fetch = [&](std::vector<int64_t> strides, size_t size) {
    BufferMemoryLayout layout = {.type = MemoryLayoutType::kStrides};
    layout.strides = {kSizeOf<BufferMemoryLayoutStrides>, nullptr, strides.data(), strides.size()};
    std::vector<uint8_t> target(size);
    BufferToHostBufferArgs args = {
        .src = buffer, .host_layout = &layout, .dst = target.data(), .dst_size = target.size()};
    const Failure failure = Call(FunctionId::kBuffer_ToHostBuffer, args);
    if (!failure) TestClient::DestroyEvent(args.event);
    return failure.message;
  };
  // One row of 12 bytes behind another: 28 bytes where rows are 16 apart.
  CHECK(fetch({16, 4}, 28) == "");
  CHECK(fetch({16, 4}, 27) == "dst has 27 bytes, want 28");
  CHECK(fetch({1024, 4}, 24) == "dst has 24 bytes, want 1036");
  CHECK(fetch({0, 4}, 12) == "");
  CHECK(fetch({std::numeric_limits<int64_t>::min(), 4}, 24) == "dst has 24 bytes, want 9223372036854775820");
  Destroy(buffer);
}

}  // namespace assay::pjrt
