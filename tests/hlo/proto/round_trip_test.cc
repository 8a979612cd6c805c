// Text to proto to text changes nothing: every golden that verifies, every real program, and what the goldens lack.
#include <catch2/catch.hpp>
#include <filesystem>

#include "evaluator/verify.h"
#include "golden/golden.h"
#include "hlo/proto/export.h"
#include "hlo/proto/import.h"
#include "hlo/text/parser.h"
#include "hlo/text/printer.h"
#include "literal/npz.h"

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
  CHECK(ModuleToText(verified->module()) == ModuleToText(module));
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

}  // namespace
}  // namespace assay
