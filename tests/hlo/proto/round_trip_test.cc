// Text to proto to text changes nothing: every golden that verifies, every real program,
// and what the goldens lack.
#include <catch2/catch.hpp>
#include <filesystem>
#include <limits>

#include "base/file_io.h"
#include "check/golden/golden.h"
#include "evaluator/verify.h"
#include "hlo/proto/export.h"
#include "hlo/proto/import.h"
#include "hlo/text/parser.h"
#include "hlo/text/printer.h"
#include "tests/hlo/proto/channel_zero.h"

namespace assay {
namespace {

// Nothing for programs that verification refuses, and for those without the value of a constant.
std::optional<VerifiedModule> Read(const std::string& text) {
  absl::StatusOr<Module> parsed = ParseHloText(text);
  if (!parsed.ok()) return std::nullopt;
  absl::StatusOr<VerifiedModule> verified = Verify(*std::move(parsed));
  if (!verified.ok()) return std::nullopt;
  return *std::move(verified);
}

void CheckRoundTrip(const Module& module) {
  const absl::StatusOr<std::string> bytes = ExportProto(module);
  INFO(bytes.status().ToString());
  REQUIRE(bytes.ok());
  absl::StatusOr<Module> imported = ImportProto(*bytes);
  INFO(imported.status().ToString());
  REQUIRE(imported.ok());
  const absl::StatusOr<VerifiedModule> verified = Verify(*std::move(imported));
  INFO(verified.status().ToString());
  REQUIRE(verified.ok());
  CHECK(ModuleToText(verified->module()) == testing::WithoutChannelZero(ModuleToText(module)));
  CHECK(*ExportProto(verified->module()) == *bytes);
}

int CheckFiles(const std::vector<std::string>& paths) {
  int count = 0;
  for (const std::string& path : paths) {
    INFO(path);
    const absl::StatusOr<std::string> text = ReadFile(path);
    REQUIRE(text.ok());
    const std::optional<VerifiedModule> module = Read(*text);
    if (!module) continue;
    ++count;
    CheckRoundTrip(module->module());
  }
  return count;
}

TEST_CASE("proto: goldens survive text to proto to text", "[proto]") {
  CHECK(CheckFiles(FindGoldens({ASSAY_SOURCE_DIR "/golden"}).files) > 300);
}

TEST_CASE("proto: real programs survive text to proto to text", "[proto]") {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(ASSAY_SOURCE_DIR "/golden/programs")) {
    if (!entry.is_directory()) continue;
    for (const char* form : {"program.hlo", "optimized.hlo"}) paths.push_back(entry.path() / form);
  }
  CHECK(CheckFiles(paths) == 30);
}

TEST_CASE("proto: modules that the parser's tests print survive as well", "[proto]") {
  std::vector<std::string> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator(ASSAY_SOURCE_DIR "/tests/hlo/text/canonical")) {
    if (entry.path().extension() == ".hlo") paths.push_back(entry.path());
  }
  CHECK(CheckFiles(paths) > 5);
}

std::string WithParameter(const std::string& header, const std::string& attributes) {
  return "HloModule m" + header +
         R"(

ENTRY %e (p: f32[8,4]) -> f32[8,4] {
  ROOT %p = f32[8,4]{1,0} parameter(0))" +
         attributes + "\n}\n";
}

TEST_CASE("proto: shardings, metadata and module attributes survive", "[proto]") {
  for (const char* sharding : {"{mesh['a'=2,'b'=4], [{'a'}, {'b':(1)2}]}",
                               "{mesh['a'=2,'b'=2], [{'a', ?}, {}], replicated={'b'}}",
                               "{mesh['a'=2,'b'=2], [{}, {?}], unreduced=max {'a'}, manual={'b'}}",
                               "{mesh['a'=2,'b'=2], replicated}",
                               "{mesh['a'=2,'b'=2], manual}",
                               "{mesh['a'=2,'b'=2], unreduced}",
                               "{maximal_mesh[device_id=3]}",
                               "{mesh['a'=2,'b'=2], device_ids=([2,2]T(1,0)), [{'a'}, {}]}",
                               "{mesh['a'=2,'b'=2], device_ids=(3,2,1,0), [{'a'}, {}]}",
                               "{devices=[2,1,2]<=[4] last_tile_dim_replicate}",
                               "{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dims={manual}}",
                               "{devices=[2,1,2]0,1,3,2 last_tile_dims={manual}}",
                               "{maximal device=2}",
                               "{manual}",
                               "{unreduced}",
                               "{unknown}",
                               "{replicated shard_as 4}",
                               "{manual shard_like 3}",
                               "{replicated metadata={op_name=\"x\"}}",
                               "{manual metadata={{op_name=\"x\"}, {op_name=\"y\"}}}"}) {
    INFO(sharding);
    const auto module = Read(WithParameter(", num_partitions=4", std::string(", sharding=") + sharding));
    REQUIRE(module.has_value());
    CHECK(ModuleToText(module->module()).find(sharding) != std::string::npos);
    CheckRoundTrip(module->module());
  }
  for (const char* attributes :
       {", statistics={visualizing_index=1,a=2.5}", ", parameter_replication={true}",
        ", origin={{\"x\" {0}}}", ", backend_config={\"a\": [1, 2]}", ", backend_config=\"\\001\\377\"",
        ", frontend_attributes={a=\"1\",b={\"c\": 2}}",
        ", metadata={op_type=\"t\" op_name=\"n\" source_file=\"f\" source_line=3 source_end_line=4 "
        "source_column=5 "
        "source_end_column=6 profile_type={1,2} deduplicated_name=\"d\" scheduling_name=\"s\" "
        "metadata_payload=\"p\"}"}) {
    INFO(attributes);
    const auto module = Read(WithParameter("", attributes));
    REQUIRE(module.has_value());
    CHECK(ModuleToText(module->module()).find(attributes) != std::string::npos);
    CheckRoundTrip(module->module());
  }
  for (const char* header :
       {", is_scheduled=true", ", replica_count=2", ", num_partitions=4", ", alias_passthrough_params=true",
        ", frontend_attributes={k=\"v\"}", ", allow_spmd_sharding_propagation_to_output={true}",
        ", input_output_alias={ {}: (0, {}, must-alias) }", ", buffer_donor={ (0, {}) }",
        ", allow_spmd_sharding_propagation_to_parameters={true}"}) {
    INFO(header);
    const auto module = Read(WithParameter(header, ""));
    REQUIRE(module.has_value());
    CHECK(ModuleToText(module->module()).find(header) != std::string::npos);
    CheckRoundTrip(module->module());
  }
}

TEST_CASE("proto: layouts survive, but for padding by a value that no PaddingValue names", "[proto]") {
  for (const char* shape :
       {"f32[8,4]{0,1}", "f32[8,4]{1,0:T(2,4)(2,1)}", "bf16[8,4]{1,0:T(8,128)L(2)E(16)S(1)}",
        "f32[8,4]{1,0:SC(0:4)}", "f32[8,<=4]{1,0:M(16)}", "f32[8,4]{1,0:PAD(8,8)}",
        "f32[8,4]{0,1:PAD(9,4)V(0)}", "s8[4]{0:PAD(5)V(1)}", "s8[4]{0:PAD(5)V(-128)}",
        "u16[4]{0:PAD(5)V(65535)}", "s64[4]{0:PAD(5)V(9223372036854775807)}", "f16[4]{0:PAD(5)V(-inf)}",
        "pred[4]{0:PAD(5)V(true)}", "c64[4]{0:PAD(5)V((1, 0))}"}) {
    INFO(shape);
    const auto module = Read(std::string(R"(HloModule m
ENTRY e {
 ROOT p = )") + shape + R"( parameter(0)
}
)");
    REQUIRE(module.has_value());
    CheckRoundTrip(module->module());
  }
  const auto padded = Read(R"(HloModule m
ENTRY e {
 ROOT p = f32[8,4]{1,0:PAD(8,8)V(7)} parameter(0)
}
)");
  REQUIRE(padded.has_value());
  CHECK(ExitCodeOf(ExportProto(padded->module()).status()) == 4);
}

// Decision: proto-epsilon
TEST_CASE("proto: numbers that a field would not give back are refused", "[proto]") {
  const auto written = [](const std::string& body) {
    const auto module = Read("HloModule m\nENTRY e {\n" + body + "}\n");
    REQUIRE(module.has_value());
    return ExportProto(module->module()).status();
  };
  const auto batch_norm = [&](const std::string& epsilon) {
    return written(
        " x = f64[2,3] parameter(0)\n p = f64[3] parameter(1)\n ROOT r = f64[2,3] "
        "batch-norm-inference(x, p, p, p, p), feature_index=1, epsilon=" +
        epsilon + "\n");
  };
  CHECK(batch_norm("0.001").ok());
  CHECK(batch_norm("0.10000001").ok());
  for (const char* epsilon : {"2147483647", "0.1234567890123", "1e39"}) {
    INFO(epsilon);
    CHECK(ExitCodeOf(batch_norm(epsilon)) == 4);
  }
  const auto sent = [&](const std::string& channel) {
    return written(
        " x = f32[] parameter(0)\n t = token[] after-all()\n s = (f32[], u32[], token[]) send(x, t), "
        "channel_id=" +
        channel + "\n d = token[] send-done(s), channel_id=" + channel + "\n ROOT r = () tuple()\n");
  };
  CHECK(sent("1").ok());
  CHECK(ExitCodeOf(sent("0")) == 4);
  CHECK(ExitCodeOf(sent("-3")) == 4);
}

// The text of a module in which '@' stands where a program may write an integer.
constexpr std::string_view kIntegers[] = {
    "x = f32[] parameter(0), metadata={source_line=@}",
    "x = f32[] parameter(0), metadata={source_end_line=@}",
    "x = f32[] parameter(0), metadata={source_column=@}",
    "x = f32[] parameter(0), metadata={source_end_column=@}",
    "x = f32[] parameter(0), metadata={stack_frame_id=@}",
    "x = f32[] parameter(0), metadata={profile_type={@}}",
    "x = f32[] parameter(0), sharding={maximal device=@}",
    "x = f32[] parameter(0), sharding={devices=[@]0,1}",
    "x = f32[] parameter(0), sharding={devices=[2]@,1}",
    "x = f32[] parameter(0), sharding={devices=[2]<=[@]}",
    "x = f32[] parameter(0), sharding={devices=[2,2]<=[2,2]T(@,0)}",
    "x = f32[] parameter(0), sharding={replicated shard_as @}",
    "x = f32[] parameter(0), statistics={visualizing_index=@,a=1}",
    "x = f32[] parameter(@)",
    "x = f32[@] parameter(0)",
    "x = f32[<=@] parameter(0)",
    "x = f32[2,3]{@,0} parameter(0)",
    "x = f32[2,3]{1,0:T(@,128)} parameter(0)",
    "x = f32[2,3]{1,0:S(@)} parameter(0)",
    "x = f32[2,3]{1,0:E(@)} parameter(0)",
    "x = f32[2,3]{1,0:L(@)} parameter(0)",
    "x = f32[2,3]{1,0:SC(0:@)} parameter(0)",
    "x = f32[2,3]{1,0:SC(@:1)} parameter(0)",
    "x = f32[] parameter(0)\n  y = f32[] reduce-precision(x), exponent_bits=@, mantissa_bits=7",
    "x = f32[] parameter(0)\n  y = f32[] reduce-precision(x), exponent_bits=7, mantissa_bits=@",
    "x = (f32[]) parameter(0)\n  y = f32[] get-tuple-element(x), index=@",
    "y = f32[4] iota(), iota_dimension=@",
    "x = f32[4] parameter(0)\n  y = f32[2] slice(x), slice={[@:4]}",
    "x = f32[4] parameter(0)\n  y = f32[2] slice(x), slice={[0:@]}",
    "x = f32[4] parameter(0)\n  y = f32[2] slice(x), slice={[0:4:@]}",
    "x = f32[4] parameter(0)\n  c = f32[] constant(0)\n  y = f32[2] pad(x, c), padding=@_0_0",
    "x = f32[4] parameter(0)\n  c = f32[] constant(0)\n  y = f32[2] pad(x, c), padding=0_@_0",
    "x = f32[4] parameter(0)\n  c = f32[] constant(0)\n  y = f32[2] pad(x, c), padding=0_0_@",
    "x = f32[4] parameter(0)\n  i = s32[] constant(0)\n  y = f32[2] dynamic-slice(x, i), "
    "dynamic_slice_sizes={@}",
    "x = f32[4] parameter(0)\n  y = f32[4] transpose(x), dimensions={@}",
    "x = f32[4] parameter(0)\n  y = f32[4] broadcast(x), dimensions={@}",
    "x = f32[4] parameter(0)\n  y = c64[3] fft(x), fft_type=RFFT, fft_length={@}",
    "x = f32[4] parameter(0)\n  y = f32[4] collective-permute(x), channel_id=@, source_target_pairs={{0,1}}",
    "x = f32[4] parameter(0)\n  y = f32[4] collective-permute(x), channel_id=1, source_target_pairs={{@,1}}",
    "x = f32[4] parameter(0)\n  y = f32[4] all-gather(x), replica_groups={{@}}, dimensions={0}",
    "x = f32[4] parameter(0)\n  y = f32[4] all-gather(x), replica_groups=[1,@]<=[2], dimensions={0}",
    "x = f32[4] parameter(0)\n  y = u32[] get-dimension-size(x), dimensions={@}",
    "x = f32[4,4] parameter(0)\n  y = f32[4,4] dot(x, x), lhs_contracting_dims={@}, rhs_contracting_dims={0}",
    "x = f32[4] parameter(0)\n  y = (f32[2], s32[2]) topk(x), k=@, largest=true",
    "x = f32[4] parameter(0)\n  y = f32[4] copy-start(x), cross_program_prefetch_index=@",
    "x = f32[1,4,4,1] parameter(0)\n  y = f32[1,4,4,1] convolution(x, x), window={size=@x1}, "
    "dim_labels=b01f_01io->b01f",
    "x = f32[1,4,4,1] parameter(0)\n  y = f32[1,4,4,1] convolution(x, x), window={size=1x1 stride=@x1 "
    "pad=0_@x0_0 "
    "lhs_dilate=@x1 rhs_dilate=1x@}, dim_labels=b01f_01io->b01f",
    "x = f32[1,4,4,1] parameter(0)\n  y = f32[1,4,4,1] convolution(x, x), window={size=1x1}, "
    "dim_labels=b01f_01io->b01f, feature_group_count=@",
    "x = f32[1,4,4,1] parameter(0)\n  y = f32[1,4,4,1] convolution(x, x), window={size=1x1}, "
    "dim_labels=b01f_01io->b01f, batch_group_count=@",
    "x = f32[4] parameter(0)\n  y = f32[4] exponential(x), "
    "result_accuracy={tolerance={atol=0,rtol=0,ulps=@}}",
    "x = f32[4] parameter(0)\n  i = s32[1] parameter(1)\n  y = f32[1] gather(x, i), offset_dims={@}, "
    "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=@, slice_sizes={@}",
};
constexpr std::string_view kModuleIntegers[] = {
    "replica_count=@",
    "num_partitions=@",
    "input_output_alias={ {}: (@, {}) }",
    "input_output_alias={ {}: (0, {@}) }",
    "buffer_donor={ (@, {}) }",
    "buffer_donor={ (0, {@}) }",
};
constexpr std::string_view kFrameIntegers[] = {"file_name_id",     "function_name_id", "line",
                                               "end_line",         "column",           "end_column",
                                               "file_location_id", "parent_frame_id"};

std::string Replaced(std::string_view text, std::string_view what, const std::string& by) {
  std::string result(text);
  for (size_t at = 0; (at = result.find(what, at)) != std::string::npos; at += by.size())
    result.replace(at, what.size(), by);
  return result;
}

bool SameFrames(const FrameTables& a, const FrameTables& b) {
  const auto rows = [](const FrameTables& tables) {
    std::vector<int64_t> all;
    for (const FrameTables::Location& l : tables.locations)
      all.insert(all.end(), {l.file_name_id, l.function_name_id, l.line, l.end_line, l.column, l.end_column});
    for (const FrameTables::Frame& f : tables.frames)
      all.insert(all.end(), {f.file_location_id, f.parent_frame_id});
    return all;
  };
  return rows(a) == rows(b);
}

// Whether the text was read and came back; else it or its proto was refused.
bool ComesBack(const std::string& text) {
  INFO(text);
  const absl::StatusOr<Module> module = ParseHloText(text);
  const absl::StatusOr<std::string> bytes = module.ok() ? ExportProto(*module) : module.status();
  const absl::StatusOr<Module> back = bytes.ok() ? ImportProto(*bytes) : bytes.status();
  if (!back.ok()) {
    const int code = ExitCodeOf(back.status());
    CHECK((code == 3 || code == 4));
    return false;
  }
  CHECK(ModuleToText(*back) == testing::WithoutChannelZero(ModuleToText(*module)));
  CHECK(SameFrames(back->frame_tables, module->frame_tables));
  return true;
}

TEST_CASE("proto: integers of the text come back, or are refused", "[proto]") {
  constexpr int64_t kValues[] = {0,
                                 1,
                                 -1,
                                 2,
                                 std::numeric_limits<int32_t>::max(),
                                 int64_t{std::numeric_limits<int32_t>::max()} + 1,
                                 std::numeric_limits<int32_t>::min(),
                                 int64_t{std::numeric_limits<int32_t>::min()} - 1,
                                 std::numeric_limits<uint32_t>::max(),
                                 int64_t{std::numeric_limits<uint32_t>::max()} + 2,
                                 std::numeric_limits<int64_t>::max(),
                                 std::numeric_limits<int64_t>::min()};
  for (const std::string_view line : kIntegers) {
    int back = 0;
    for (const int64_t value : kValues) {
      back += ComesBack("HloModule m\n\nENTRY e {\n  " + Replaced(line, "@", std::to_string(value)) +
                        "\n  ROOT r = f32[] constant(1)\n}\n");
    }
    INFO(line);
    CHECK(back > 0);  // the line is one that reads
  }
  for (const std::string_view part : kModuleIntegers) {
    int back = 0;
    for (const int64_t value : kValues) {
      back += ComesBack("HloModule m, " + Replaced(part, "@", std::to_string(value)) +
                        "\n\nENTRY e {\n  ROOT r = f32[] constant(1)\n}\n");
    }
    INFO(part);
    CHECK(back > 0);
  }
  for (const std::string_view field : kFrameIntegers) {
    for (const int64_t value : kValues) {
      std::string tables =
          "FileNames\n1 \"a.py\"\n\nFunctionNames\n1 \"f\"\n\nFileLocations\n1 {file_name_id=1 "
          "function_name_id=1 "
          "line=1 end_line=1 column=1 end_column=1}\n\nStackFrames\n1 {file_location_id=1 "
          "parent_frame_id=1}\n\n";
      for (const char before : {' ', '{'}) {
        const std::string name = before + std::string(field) + "=";
        tables = Replaced(tables, name + "1", name + std::to_string(value));
      }
      ComesBack("HloModule m\n\n" + tables +
                "ENTRY e {\n  ROOT r = f32[] constant(1), metadata={stack_frame_id=1}\n}\n");
    }
  }
}

}  // namespace
}  // namespace assay
