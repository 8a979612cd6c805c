#include "pjrt/client/pjrt_backend.h"

#include <dlfcn.h>

#include <catch2/catch.hpp>
#include <cstdlib>

#include "base/run_guard.h"
#include "hlo/load/load.h"
#include "run/program.h"
#include "tests/custom/library_file.h"

namespace assay::pjrt_client {
namespace {

using Catch::Contains;

constexpr std::string_view kAdd =
    "HloModule m\nENTRY e {\n  x = f32[3] parameter(0)\n  y = f32[3] parameter(1)\n"
    "  ROOT z = f32[3] add(x, y)\n}\n";

std::string FaultyPlugin() { return custom::LibraryFileOf("pjrt_plugins/faulty_plugin"); }
std::string OwnPlugin() { return custom::LibraryFileOf("../pjrt/libpjrt_assay"); }

int64_t LiveObjects() {
  void* const library = dlopen(FaultyPlugin().c_str(), RTLD_NOW);
  REQUIRE(library != nullptr);
  return reinterpret_cast<int64_t (*)()>(dlsym(library, "LiveObjects"))();
}

class FaultScope {
 public:
  explicit FaultScope(const std::string& fault) { setenv("ASSAY_FAULT", fault.c_str(), 1); }
  ~FaultScope() { unsetenv("ASSAY_FAULT"); }
};

Program ProgramOf(std::string_view text) {
  absl::StatusOr<Program> program = Program::Load("m.hlo", text);
  INFO(program.status());
  REQUIRE(program.ok());
  return *std::move(program);
}

std::vector<Literal> Arguments() {
  return {Literal::FromDoubles(ElementType::kF32, std::vector<int64_t>{3}, std::vector<double>{1, 2, 3}),
          Literal::FromDoubles(ElementType::kF32, std::vector<int64_t>{3}, std::vector<double>{4, 5, 6})};
}

absl::StatusOr<Backend::Outputs> RunOn(const std::string& library, std::string_view text,
                                       const std::vector<Literal>& arguments,
                                       const std::vector<PluginOption>& options = {}) {
  const Program program = ProgramOf(text);
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<PjrtBackend> backend, PjrtBackend::Open(library, options));
  return backend->Run({program.module(), "", arguments});
}

std::string Refusal(const absl::Status& status) {
  return status.ok() ? "fine" : std::to_string(ExitCodeOf(status)) + ": " + std::string(status.message());
}

std::string RefusalWith(const std::string& fault) {
  const FaultScope scope(fault);
  return Refusal(RunOn(FaultyPlugin(), kAdd, Arguments()).status());
}

PluginOption Option(std::string_view text) {
  const absl::StatusOr<PluginOption> option = ParsePluginOption(text);
  INFO(option.status());
  REQUIRE(option.ok());
  return *option;
}

}  // namespace

TEST_CASE("A program runs on a plugin, and all that the plugin gave is destroyed", "[pjrt_client]") {
  for (const std::string& library : {OwnPlugin(), FaultyPlugin()}) {
    const absl::StatusOr<Backend::Outputs> outputs = RunOn(library, kAdd, Arguments());
    INFO(outputs.status());
    REQUIRE(outputs.ok());
    REQUIRE(outputs->size() == 1);
    for (int i = 0; i < 3; ++i) CHECK(outputs->at("out0").GetDouble(i) == 5 + 2 * i);
  }
  CHECK(LiveObjects() == 0);
  for (const char* const fine : {"oldest", "newer", "null:Plugin_Initialize", "null:Buffer_ReadyEvent",
                                 "null:Device_GetDescription", "cut:Buffer_Bitcast", "huge_name", "null_name",
                                 "error:Client_PlatformName", "error:Buffer_DynamicDimensionIndices"}) {
    CAPTURE(fine);
    CHECK(RefusalWith(fine) == "fine");
  }
  CHECK(LiveObjects() == 0);
}

TEST_CASE("Tuples, tokens and results of no elements have their keys", "[pjrt_client]") {
  constexpr std::string_view kTuples = R"(HloModule m
ENTRY e {
  p = (f32[2], (s4[3], pred[])) parameter(0)
  a = f32[2] get-tuple-element(p), index=0
  q = (s4[3], pred[]) get-tuple-element(p), index=1
  b = s4[3] get-tuple-element(q), index=0
  c = pred[] get-tuple-element(q), index=1
  n = f32[0,2] broadcast(a), dimensions={1}
  t = token[] after-all()
  ROOT r = (s4[3], f32[2], token[], f32[0,2], pred[]) tuple(b, a, t, n, c)
})";
  const Literal narrow =
      Literal::FromInts(ElementType::kS4, std::vector<int64_t>{3}, std::vector<int64_t>{-8, 7, -1});
  const Literal argument = Literal::Tuple(
      {Literal::FromDoubles(ElementType::kF32, std::vector<int64_t>{2}, std::vector<double>{1, 2}),
       Literal::Tuple({narrow, Literal::ScalarInt(ElementType::kPred, 1)})});
  const absl::StatusOr<Backend::Outputs> outputs = RunOn(FaultyPlugin(), kTuples, {argument});
  INFO(outputs.status());
  REQUIRE(outputs.ok());
  CHECK(outputs->size() == 4);
  CHECK(Literal::BitwiseEqual(outputs->at("out0"), narrow));
  CHECK(outputs->at("out1").GetDouble(1) == 2);
  CHECK(outputs->at("out3").shape().num_elements() == 0);
  CHECK(outputs->at("out4").GetInt(0) == 1);
  CHECK(LiveObjects() == 0);
}

TEST_CASE("Every element type goes to a plugin and back with its bits", "[pjrt_client]") {
  for (int t = 0; t < static_cast<int>(kNumElementTypes); ++t) {
    const auto type = static_cast<ElementType>(t);
    const std::string name(Name(type));
    CAPTURE(name);
    const std::string text = "HloModule m\nENTRY e {\n  x = " + name +
                             "[7] parameter(0)\n  ROOT r = " + name + "[7] reverse(x), dimensions={0}\n}\n";
    absl::StatusOr<Literal> value = Literal::Make(*Shape::Array(type, std::vector<int64_t>{7}));
    REQUIRE(value.ok());
    const std::span<std::byte> bytes = value->MutableBytes();
    // Small integers, whatever the type: they are bits of one element or another.
    const auto size = static_cast<size_t>(Bytes(type));
    for (size_t i = 0; i < 7; ++i)
      bytes[i * size] = std::byte(Bits(type) == 8 || Bits(type) > 8 ? i * 9 : i & 1);
    if (Bits(type) == 1 && IsSignedIntegral(type)) {
      for (std::byte& byte : bytes) byte = byte == std::byte{1} ? std::byte{0xff} : byte;
    }
    if (type == ElementType::kPred) {
      for (std::byte& byte : bytes) byte &= std::byte{1};
    }
    const absl::StatusOr<Backend::Outputs> outputs = RunOn(OwnPlugin(), text, {*value});
    INFO(outputs.status());
    REQUIRE(outputs.ok());
    const Literal& output = outputs->at("out0");
    for (size_t i = 0; i < 7; ++i) {
      CHECK(std::equal(output.bytes().begin() + i * size, output.bytes().begin() + (i + 1) * size,
                       value->bytes().begin() + (6 - i) * size));
    }
  }
}

TEST_CASE("What is no plugin, or an older one, is refused by name", "[pjrt_client]") {
  CHECK_THAT(Refusal(Plugin::Open("/nowhere/plugin.so").status()), Contains("5: ") && Contains("plugin.so"));
  CHECK_THAT(Refusal(Plugin::Open(custom::LibraryFileOf("ffi_libraries/no_handlers")).status()),
             Contains("5: ") && Contains("no function GetPjrtApi"));
  CHECK_THAT(RefusalWith("api_null"), Contains("5: ") && Contains("GetPjrtApi returned null"));
  CHECK_THAT(RefusalWith("api_throw"), Contains("5: ") && Contains("GetPjrtApi threw"));
  CHECK_THAT(RefusalWith("api_small"), Contains("4: ") && Contains("has 16 bytes"));
  CHECK_THAT(RefusalWith("version_small"), Contains("4: ") && Contains("has 8 bytes"));
  CHECK_THAT(RefusalWith("major"), Contains("4: ") && Contains("version 1.76"));
  CHECK_THAT(RefusalWith("old"), Contains("4: ") && Contains("version 0.28"));
  CHECK(LiveObjects() == 0);
}

TEST_CASE("A function that is missing, fails or throws is an error with its name, at each call",
          "[pjrt_client]") {
  const std::vector<std::string> called = {"Client_Create",
                                           "Client_AddressableDevices",
                                           "Client_Compile",
                                           "Client_BufferFromHostBuffer",
                                           "LoadedExecutable_GetExecutable",
                                           "LoadedExecutable_Execute",
                                           "Executable_NumOutputs",
                                           "Buffer_ElementType",
                                           "Buffer_Dimensions",
                                           "Buffer_ToHostBuffer",
                                           "Event_IsReady",
                                           "Event_Error"};
  for (const std::string& name : called) {
    CAPTURE(name);
    CHECK_THAT(RefusalWith("null:" + name), Contains("4: ") && Contains("PJRT_" + name));
    CHECK_THAT(RefusalWith("cut:" + name), Contains("4: "));
    CHECK_THAT(RefusalWith("error:" + name),
               Contains("5: ") && Contains("PJRT_" + name + ": DATA_LOSS: as the test wants it"));
    CHECK_THAT(RefusalWith("unimplemented:" + name), Contains("4: ") && Contains("UNIMPLEMENTED"));
    CHECK_THAT(RefusalWith("odd_code:" + name), Contains("5: ") && Contains("code -99"));
    CHECK_THAT(RefusalWith("throw:" + name), Contains("5: ") && Contains("threw an exception: as the test"));
    CHECK_THAT(RefusalWith("throw_number:" + name), Contains("5: ") && Contains("threw an exception"));
    CHECK_THAT(RefusalWith("null_message:" + name), Contains("5: ") && Contains("no message"));
    CHECK_THAT(RefusalWith("huge_message:" + name), Contains("5: ") && Contains("as the test wants it"));
    CHECK_THAT(RefusalWith("bad_code:" + name), Contains("5: ") && Contains("UNKNOWN"));
    // A function that throws where something is destroyed leaves it alone; all else is destroyed.
  }
  for (const char* const name : {"Plugin_Initialize", "Device_GetDescription", "DeviceDescription_Id"}) {
    CHECK_THAT(RefusalWith(std::string("error:") + name), Contains("5: ") && Contains(name));
  }
  CHECK(LiveObjects() == 0);
  for (const char* const name :
       {"Error_Destroy", "Error_Message", "Error_GetCode", "Event_Destroy", "Client_Destroy",
        "LoadedExecutable_Destroy", "Executable_Destroy", "Buffer_Destroy"}) {
    CHECK_THAT(RefusalWith(std::string("null:") + name), Contains("4: ") && Contains(name));
  }
  for (const char* const name :
       {"Event_Destroy", "Client_Destroy", "LoadedExecutable_Destroy", "Buffer_Destroy"}) {
    CHECK(RefusalWith(std::string("error:") + name) == "fine");
    CHECK(RefusalWith(std::string("throw:") + name) == "fine");
  }
}

TEST_CASE("What a plugin gives is checked before it is used", "[pjrt_client]") {
  const std::vector<std::pair<std::string, std::string>> faults = {
      {"no_client", "gave no client"},
      {"no_devices", "no devices"},
      {"null_devices", "first device is null"},
      {"null_device", "first device is null"},
      {"no_description", "no description"},
      {"no_executable", "gave no executable"},
      {"null_executable", "gave no executable"},
      {"fewer_outputs", "0 outputs, the program gives 1"},
      {"more_outputs", "2 outputs, the program gives 1"},
      {"huge_outputs", "4611686018427387904 outputs"},
      {"no_buffer", "gave no buffer for argument 0"},
      {"no_event_in", "gave no event for argument 0"},
      {"no_event_run", "gave no event for the end of the execution"},
      {"no_event_ready", "gave no event for output 0"},
      {"no_event_out", "gave no event for output 0"},
      {"null_output", "gave no buffer for output 0"},
      {"extra_output", "more than the 1 output"},
      {"type", "output 0 is of type s32, the program gives f32[3]"},
      {"unknown_type", "buffer type -7"},
      {"rank", "2 dimensions"},
      {"huge_rank", "4611686018427387904 dimensions"},
      {"no_dims", "gave no dimensions"},
      {"huge_size", "sizes [4611686018427387904]"},
      {"dynamic", "dynamic sizes"},
      {"small_bytes", "takes 11 bytes, want 12"},
      {"huge_bytes", "takes 4611686018427387904 bytes"},
      {"behind", "wrote more than the 12 bytes"},
  };
  for (const auto& [fault, wanted] : faults) {
    CAPTURE(fault);
    CHECK_THAT(RefusalWith(fault), Contains("5: ") && Contains(wanted));
  }
}

TEST_CASE("An event that never becomes ready ends with the time limit, and its plugin is left alone",
          "[pjrt_client]") {
  const FaultScope scope("never");
  const Program program = ProgramOf(kAdd);
  absl::StatusOr<std::unique_ptr<PjrtBackend>> backend = PjrtBackend::Open(FaultyPlugin(), {});
  REQUIRE(backend.ok());
  RunLimits limits;
  limits.timeout_seconds = 0.1;
  const WorkScope work(std::make_shared<RunGuard>(limits));
  const std::vector<Literal> arguments = Arguments();
  const std::string ended = Refusal((*backend)->Run({program.module(), "", arguments}).status());
  CHECK_THAT(ended, Contains("5: ") && Contains("waiting for argument 0") && Contains("timeout"));
  CHECK_THAT(Refusal((*backend)->Run({program.module(), "", arguments}).status()),
             Contains("an earlier run did not end"));
}

TEST_CASE("Programs of several devices, with dynamic sizes or values of the host are not given to a plugin",
          "[pjrt_client]") {
  CHECK_THAT(
      Refusal(RunOn(OwnPlugin(), "HloModule m, replica_count=2\nENTRY e { ROOT c = f32[] constant(1) }", {})
                  .status()),
      Contains("4: ") && Contains("this one is of 2"));
  CHECK_THAT(
      Refusal(RunOn(OwnPlugin(),
                    "HloModule m\nENTRY e { t = token[] after-all()\n ROOT c = (f32[], token[]) infeed(t) }",
                    {})
                  .status()),
      Contains("4: ") && Contains("infeed"));
  CHECK_THAT(Refusal(RunOn(OwnPlugin(), "HloModule m\nENTRY e { ROOT x = f32[<=4] parameter(0) }",
                           {*Literal::Make(*Shape::Array(ElementType::kF32, std::vector<int64_t>{4}))})
                         .status()),
             Contains("4: ") && Contains("known sizes"));
}

TEST_CASE("A refusal names each form that the plugin was given", "[pjrt_client]") {
  const std::string refusal = RefusalWith("error:Client_Compile");
  CHECK_THAT(refusal, Contains("as an HLO proto: ") && Contains("as StableHLO text: "));
  CHECK(LiveObjects() >= 0);
}

TEST_CASE("Options of a plugin have the type of their form", "[pjrt_client]") {
  CHECK(std::get<int64_t>(Option("a=12").value) == 12);
  CHECK(std::get<int64_t>(Option("a=-9223372036854775808").value) == INT64_MIN);
  CHECK(std::get<bool>(Option("a=true").value));
  CHECK_FALSE(std::get<bool>(Option("a=false").value));
  CHECK(std::get<float>(Option("a=0.5").value) == 0.5F);
  CHECK(std::get<float>(Option("a=1e3").value) == 1000);
  CHECK(std::get<std::vector<int64_t>>(Option("a=[1,-2]").value) == std::vector<int64_t>{1, -2});
  CHECK(std::get<std::vector<int64_t>>(Option("a=[]").value).empty());
  for (const auto& [text, value] : std::vector<std::pair<std::string, std::string>>{{"a=", ""},
                                                                                    {"a=b=c", "b=c"},
                                                                                    {"a=\"12\"", "12"},
                                                                                    {"a=1.2.3", "1.2.3"},
                                                                                    {"a=nan", "nan"},
                                                                                    {"a=[1,x]", "[1,x]"},
                                                                                    {"a=True", "True"},
                                                                                    {"a=-", "-"}}) {
    CAPTURE(text);
    CHECK(std::get<std::string>(Option(text).value) == value);
    CHECK(Option(text).name == "a");
  }
  CHECK_THAT(Refusal(ParsePluginOption("a").status()), Contains("want NAME=VALUE"));
  CHECK_THAT(Refusal(ParsePluginOption("=1").status()), Contains("want NAME=VALUE"));
  CHECK_THAT(Refusal(ParsePluginOption("a=9223372036854775808").status()), Contains("no room in int64"));
  CHECK_THAT(Refusal(ParsePluginOption("a=1e99").status()), Contains("no room in float"));
  CHECK_THAT(Refusal(RunOn(OwnPlugin(), kAdd, Arguments(), {Option("engine=fastest")}).status()),
             Contains("PJRT_Client_Create: INVALID_ARGUMENT: option engine is 'fastest'"));
  CHECK(RunOn(OwnPlugin(), kAdd, Arguments(), {Option("engine=reference"), Option("seed=7")}).ok());
  const absl::StatusOr<std::unique_ptr<PjrtBackend>> named =
      PjrtBackend::Open(OwnPlugin(), {Option("engine=reference"), Option("devices=2")});
  REQUIRE(named.ok());
  CHECK_THAT((*named)->Name(), Contains("libpjrt_assay.so (assay, ") && Contains("engine reference"));
}

}  // namespace assay::pjrt_client
