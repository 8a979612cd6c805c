// HLO printed as StableHLO: the text itself, worked by hand from the specification,
// and that it means the same.
#include "hlo/mlir/export/export.h"

#include <string>

#include "fmt/format.h"
#include "hlo/mlir/export/exporter.h"
#include "hlo/mlir/import/importer.h"
#include "hlo/proto/export.h"
#include "hlo/proto/import.h"
#include "tests/hlo/mlir/same_program.h"
#include "tests/run/program_testing.h"

namespace assay {
namespace {

std::string Printed(const std::string& hlo) {
  const absl::StatusOr<std::string> text = ExportStableHlo(ProgramOf(hlo).module());
  INFO(text.status());
  REQUIRE(text.ok());
  return *text;
}

// The lines of @main and of whatever follows it.
std::string Body(const std::string& hlo) {
  const std::string text = Printed(hlo);
  const size_t begin = text.find("{\n", text.find("@main")) + 2;
  return text.substr(begin, text.rfind("  }\n}\n") - begin);
}

// The text means what the HLO does, and reading and printing it changes nothing.
void CheckPrinted(const std::string& hlo) {
  const std::string text = Printed(hlo);
  CheckSame(text, hlo);
  const absl::StatusOr<Program> again = Verified(ParseStableHloText(text));
  REQUIRE(again.ok());
  const absl::StatusOr<std::string> twice = ExportStableHlo(again->module());
  REQUIRE(twice.ok());
  CHECK(*twice == text);
}

std::string Refusal(const std::string& hlo) {
  const absl::Status status = ExportStableHlo(ProgramOf(hlo).module()).status();
  if (status.ok()) return "printed";
  CHECK(ExitCodeOf(status) == 4);
  return std::string(status.message());
}

TEST_CASE("export: a module, its entry and its constants", "[mlir][export]") {
  CHECK(Printed(R"(HloModule jit_f.1, replica_count=2
ENTRY e { a = f32[2,3] parameter(0)
 c = f32[] constant(1.5)
 d = f32[2,3] broadcast(c), dimensions={}
 ROOT r = f32[2,3] add(a, d) })") ==
        R"(module @jit_f.1 attributes {mhlo.num_replicas = 2 : i32} {
  func.func public @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<1.500000e+00> : tensor<2x3xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
}
)");
}

std::string ConstantText(const std::string& shape, const std::string& value) {
  const std::string body = Body("ENTRY e { ROOT c = " + shape + " constant(" + value + ") }");
  const size_t begin = body.find("dense<");
  return body.substr(begin, body.find('\n') - begin);
}

TEST_CASE("export: constants keep every bit", "[mlir][export]") {
  CHECK(ConstantText("f32[2]", "{-0.0, 0.1}") == "dense<[-0.000000e+00, 1.000000e-01]> : tensor<2xf32>");
  CHECK(ConstantText("f32[]", "0.797884583") == "dense<7.978846e-01> : tensor<f32>");
  CHECK(ConstantText("f32[2]", "{inf, -inf}") == "dense<[0x7F800000, 0xFF800000]> : tensor<2xf32>");
  CHECK(ConstantText("f32[]", "nan(0x12345)") == "dense<0x7F812345> : tensor<f32>");
  CHECK(ConstantText("f64[]", "0.1") == "dense<1.000000e-01> : tensor<f64>");
  CHECK(ConstantText("f64[]", "0.30000000000000004") == "dense<3.0000000000000004e-01> : tensor<f64>");
  CHECK(ConstantText("bf16[]", "-nan") == "dense<0xFFC0> : tensor<bf16>");
  CHECK(ConstantText("f8e4m3fn[2]", "{448, nan}") == "dense<[4.480000e+02, 0x7F]> : tensor<2xf8E4M3FN>");
  CHECK(ConstantText("s4[3]", "{-8, 7, 0}") == "dense<[-8, 7, 0]> : tensor<3xi4>");
  CHECK(ConstantText("u8[2]", "{255, 0}") == "dense<[255, 0]> : tensor<2xui8>");
  CHECK(ConstantText("u64[]", "18446744073709551615") == "dense<18446744073709551615> : tensor<ui64>");
  CHECK(ConstantText("pred[2,2]", "{{1, 0}, {0, 1}}") ==
        "dense<[[true, false], [false, true]]> : tensor<2x2xi1>");
  CHECK(ConstantText("c64[]", "(1, -0.0)") == "dense<(1.000000e+00,-0.000000e+00)> : tensor<complex<f32>>");
  CHECK(ConstantText("s32[2,0]", "{{}, {}}") == "dense<> : tensor<2x0xi32>");
  CHECK(ConstantText("s32[3]", "{7, 7, 7}") == "dense<7> : tensor<3xi32>");
}

TEST_CASE("export: long constants are bytes, little-endian", "[mlir][export]") {
  std::string values;
  std::string bytes;
  for (int i = 0; i < 40; ++i) {
    values += (i == 0 ? "" : ", ") + std::to_string(256 + i);
    bytes += fmt::format("{:02X}01", i);
  }
  CHECK(ConstantText("s16[40]", "{" + values + "}") == "dense<\"0x" + bytes + "\"> : tensor<40xi16>");
}

TEST_CASE("export: loops and branches take tuples apart", "[mlir][export]") {
  const std::string loop =
      R"(c { s = (s32[], f32[2]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
n = s32[] constant(3)
 ROOT r = pred[] compare(i, n), direction=LT }
b { s = (s32[], f32[2]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
x = f32[2] get-tuple-element(s), index=1
 o = s32[] constant(1)
 j = s32[] add(i, o)
y = f32[2] multiply(x, x)
 ROOT t = (s32[], f32[2]) tuple(j, y) }
ENTRY e { x = f32[2] parameter(0)
 z = s32[] constant(0)
 t = (s32[], f32[2]) tuple(z, x)
w = (s32[], f32[2]) while(t), condition=c, body=b
 ROOT r = f32[2] get-tuple-element(w), index=1 })";
  CHECK(Body(loop) ==
        R"(    %0 = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = "stablehlo.while"(%0, %arg0) ({
    ^bb0(%arg1: tensor<i32>, %arg2: tensor<2xf32>):
      %2 = stablehlo.constant dense<3> : tensor<i32>
      %3 = stablehlo.compare LT, %arg1, %2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    }, {
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<2xf32>):
      %4 = stablehlo.constant dense<1> : tensor<i32>
      %5 = stablehlo.add %arg3, %4 : tensor<i32>
      %6 = stablehlo.multiply %arg4, %arg4 : tensor<2xf32>
      stablehlo.return %5, %6 : tensor<i32>, tensor<2xf32>
    }) : (tensor<i32>, tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>)
    return %1#1 : tensor<2xf32>
)");
  CheckPrinted(loop);
  // A branch takes what it needs from outside, but for constants.
  const std::string branch =
      R"(y { t = (f32[], f32[]) parameter(0)
 a = f32[] get-tuple-element(t), index=0
b = f32[] get-tuple-element(t), index=1
 ROOT r = f32[] add(a, b) }
n { a = f32[] parameter(0)
 ROOT r = f32[] negate(a) }
ENTRY e { p = pred[] parameter(0)
 a = f32[] parameter(1)
 k = f32[] constant(2)
t = (f32[], f32[]) tuple(a, k)
ROOT r = f32[] conditional(p, t, a), true_computation=y, false_computation=n })";
  CHECK(Body(branch) ==
        R"(    %0 = "stablehlo.if"(%arg0) ({
      %1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %2 = stablehlo.add %arg1, %1 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }, {
      %3 = stablehlo.negate %arg1 : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }) : (tensor<i1>) -> tensor<f32>
    return %0 : tensor<f32>
)");
  CheckPrinted(branch);
}

TEST_CASE("export: tuples at the edges of a program stay tuples", "[mlir][export]") {
  const std::string hlo =
      R"(ENTRY e { t = (f32[2], (s32[])) parameter(0)
 a = f32[2] get-tuple-element(t), index=0
u = (s32[]) get-tuple-element(t), index=1
 ROOT r = ((s32[]), f32[2]) tuple(u, a) })";
  CHECK(Printed(hlo) ==
        R"(module @module_e {
  func.func public @main(%arg0: tuple<tensor<2xf32>, tuple<tensor<i32>>>) -> (tuple<tensor<i32>>, tensor<2xf32>) {
    %0 = stablehlo.get_tuple_element %arg0[0] : (tuple<tensor<2xf32>, tuple<tensor<i32>>>) -> tensor<2xf32>
    %1 = stablehlo.get_tuple_element %arg0[1] : (tuple<tensor<2xf32>, tuple<tensor<i32>>>) -> tuple<tensor<i32>>
    %2 = stablehlo.get_tuple_element %1[0] : (tuple<tensor<i32>>) -> tensor<i32>
    %3 = stablehlo.tuple %2 : tuple<tensor<i32>>
    return %3, %0 : tuple<tensor<i32>>, tensor<2xf32>
  }
}
)");
  CheckPrinted(hlo);
  CheckPrinted(R"(ENTRY e { a = f32[] parameter(0)
 ROOT r = (f32[]) tuple(a) })");
  CheckPrinted("ENTRY e { ROOT r = () tuple() }");
}

TEST_CASE("export: fusions, copies and asynchronous pairs are what they compute", "[mlir][export]") {
  const std::string fusion =
      R"(add.clone.3 { p = f32[2] parameter(0)
 ROOT r = f32[2] add(p, p) }
ENTRY e { a = f32[2] parameter(0)
 b = f32[2] copy(a)
 f = f32[2] fusion(b), kind=kLoop, calls=add.clone.3
ROOT r = f32[2] negate(f) })";
  CHECK(Body(fusion) ==
        R"(    %0 = func.call @add_clone(%arg0) : (tensor<2xf32>) -> tensor<2xf32>
    %1 = stablehlo.negate %0 : tensor<2xf32>
    return %1 : tensor<2xf32>
  }
  func.func private @add_clone(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<2xf32>
    return %0 : tensor<2xf32>
)");
  CheckPrinted(fusion);
  CheckPrinted(
      R"(f { p = f32[2] parameter(0)
 ROOT r = f32[2] add(p, p) }
ENTRY e { a = f32[2] parameter(0)
 s = ((f32[2]), f32[2], u32[]) async-start(a), calls=f
u = ((f32[2]), f32[2], u32[]) async-update(s)
 d = f32[2] async-done(u)
c = (f32[2], f32[2], u32[]) copy-start(d)
 ROOT r = f32[2] copy-done(c) })");
}

// memory of f32[2,3]{0,1}: columns; the element types of one width are recast
TEST_CASE("export: a bitcast sees layouts", "[mlir][export]") {
  const std::string hlo = R"(ENTRY e { a = f32[2,3]{0,1} parameter(0)
 ROOT r = s32[6]{0} bitcast(a) })";
  CHECK(Body(hlo) ==
        R"(    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
    %1 = stablehlo.reshape %0 : (tensor<3x2xf32>) -> tensor<6xf32>
    %2 = "stablehlo.bitcast_convert"(%1) : (tensor<6xf32>) -> tensor<6xi32>
    return %2 : tensor<6xi32>
)");
  CheckPrinted(hlo);
  CheckPrinted(R"(ENTRY e { a = f32[2,3,4]{1,2,0} parameter(0)
 ROOT r = f32[4,6]{0,1} bitcast(a) })");
  CHECK(Body(R"(ENTRY e { a = f32[2,3]{1,0} parameter(0)
 ROOT r = f32[6]{0} bitcast(a) })") ==
        R"(    %0 = stablehlo.reshape %arg0 : (tensor<2x3xf32>) -> tensor<6xf32>
    return %0 : tensor<6xf32>
)");
}

TEST_CASE("export: places, names and frontend attributes", "[mlir][export]") {
  CHECK(Body(R"(ENTRY e { a = f32[] parameter(0)
 ROOT r = f32[] negate(a), metadata={op_name="jit(f)/neg" source_file="a \"b\".py" source_line=7}, frontend_attributes={k="v"} })") ==
        "    %0 = stablehlo.negate %arg0 {mhlo.frontend_attributes = {k = \"v\"}} : tensor<f32> "
        "loc(\"jit(f)/neg\"(\"a \\\"b\\\".py\":7:0))\n"
        "    return %0 : tensor<f32>\n");
  CHECK(Printed(
            R"(HloModule m, input_output_alias={ {1}: (0, {}, may-alias) }, buffer_donor={ (1, {}) }
ENTRY e { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT r = (f32[], f32[]) tuple(b, a) })")
            .find("@main(%arg0: tensor<f32> {tf.aliasing_output = 1 : i32}, %arg1: tensor<f32> "
                  "{jax.buffer_donor = true})") != std::string::npos);
}

TEST_CASE("export: a composite keeps its name where the importer calls its decomposition", "[mlir][export]") {
  const auto composite = [](const std::string& name, const std::string& attributes) {
    return R"(f { p = f32[] parameter(0)
 ROOT r = f32[] add(p, p) }
ENTRY e { a = f32[] parameter(0)
 ROOT r = f32[] call(a), to_apply=f, is_composite=true, frontend_attributes={composite.attributes=)" +
           attributes + ",composite.name=\"" + name + "\",composite.version=\"1\"} }";
  };
  const std::string twice = composite("acme.twice", "{n = 1 : i64, d = dense<[1, 2]> : tensor<2xi32>}");
  CHECK(Body(twice).find(
            "\"stablehlo.composite\"(%arg0) <{composite_attributes = {n = 1 : i64, d = dense<[1, "
            "2]> : tensor<2xi32>}, decomposition = @f, name = \"acme.twice\", version = 1 : i32}>") !=
        std::string::npos);
  CheckPrinted(twice);
  // chlo.erf would become the function, whatever f says; {x} is no dictionary that could be read.
  for (const std::string& hlo : {composite("chlo.erf", "{}"), composite("acme.twice", "{:}")}) {
    CHECK(Body(hlo).find("func.call @f(%arg0)") != std::string::npos);
    CheckPrinted(hlo);
  }
}

// Every attribute that a custom call takes, by text, proto and StableHLO.
TEST_CASE("export: custom calls keep all their attributes", "[mlir][export]") {
  for (const std::string attribute :
       {"window={size=3x3 pad=1_1x1_1 rhs_dilate=2x1}, dim_labels=bf01_01io->bf01", "window={}",
        "dim_labels=b0f_0io->b0f, feature_group_count=2", "batch_group_count=3", "padding_type=PADDING_SAME",
        "operand_precision={highest,default}", "schedule=SCHEDULE_LATEST", "literal=s32[3]{0} {1, -2, 3}",
        "literal=(f32[] 1.5, pred[2]{0} {1, 0})", "custom_call_has_side_effect=true",
        "api_version=API_VERSION_STATUS_RETURNING", "to_apply=f", "called_computations={f}",
        "operand_layout_constraints={f32[2,2]{0,1}, f32[2,2]{1,0}}",
        "output_to_operand_aliasing={{}: (0, {})}", "backend_config=\"a=\\\"b\\\"\"",
        "window={size=2}, dim_labels=b0f_0io->b0f, feature_group_count=4, batch_group_count=2, "
        "padding_type=PADDING_VALID, operand_precision={high,high}, schedule=SCHEDULE_EARLIEST, "
        "literal=f32[] nan"}) {
    const std::string hlo = R"(f { a = f32[] parameter(0)
 ROOT b = f32[] negate(a) }
ENTRY e { x = f32[2,2] parameter(0)
 y = f32[2,2] parameter(1)
 ROOT c = f32[2,2] custom-call(x, y), custom_call_target="acme", )" +
                            attribute + " }";
    INFO(attribute);
    const auto call_of = [](const Module& module) {
      std::string text = ModuleToText(module);
      const size_t begin = text.find("custom_call_target");
      return text.substr(begin, text.find('\n', begin) - begin);
    };
    const std::string wanted = call_of(ProgramOf(hlo).module());
    const absl::StatusOr<Module> stablehlo = ParseStableHloText(Printed(hlo));
    INFO(stablehlo.status());
    REQUIRE(stablehlo.ok());
    // The import numbers what it makes: f is f.1.
    std::string imported = call_of(*stablehlo);
    if (const size_t at = imported.find("{%f.1}"); at != std::string::npos) imported.replace(at, 6, "{%f}");
    CHECK(imported == wanted);
    const absl::StatusOr<std::string> bytes = ExportProto(ProgramOf(hlo).module());
    REQUIRE(bytes.ok());
    const absl::StatusOr<Module> proto = ImportProto(*bytes);
    REQUIRE(proto.ok());
    CHECK(call_of(*proto) == wanted);
  }
}

// StableHLO's types have no layouts: where a result's is another than the default, the call says all of them.
TEST_CASE("export: custom calls keep layouts", "[mlir][export]") {
  const auto call = [](const std::string& result, const std::string& attributes) {
    const std::string hlo = R"(ENTRY e { x = f32[2,3]{0,1} parameter(0)
 y = f32[2,3] parameter(1)
 c = )" + result + R"( custom-call(x, y), custom_call_target="acme")" +
                            attributes + "\n ROOT d = f32[] constant(1) }";
    INFO(hlo);
    const absl::StatusOr<Module> module = ParseStableHloText(Printed(hlo));
    INFO(module.status());
    REQUIRE(module.ok());
    const std::string text = ModuleToText(*module);
    const size_t at = text.find(" custom-call(");
    REQUIRE(at != std::string::npos);
    const size_t begin = text.rfind(" = ", at) + 3;
    const size_t target = text.find("custom_call_target", at);
    return text.substr(begin, at - begin) + " " + text.substr(target, text.find('\n', target) - target);
  };
  const std::string target = " custom_call_target=\"acme\"";
  const std::string plain = ", operand_layout_constraints={f32[2,3]{1,0}, f32[2,3]{1,0}}";
  const std::string turned = ", operand_layout_constraints={f32[2,3]{0,1}, f32[2,3]{1,0}}";
  // Those of the operands' instructions.
  CHECK(call("f32[3,2]{0,1}", "") == "f32[3,2]{0,1}" + target + turned);
  CHECK(call("(f32[3,2], f32[4,2]{0,1})", "") == "(f32[3,2]{1,0}, f32[4,2]{0,1})" + target + turned);
  // Those that the call has.
  CHECK(call("f32[3,2]{0,1}", plain) == "f32[3,2]{0,1}" + target + plain);
  CHECK(call("f32[3,2]", turned) == "f32[3,2]{1,0}" + target + turned);
  // A call without either says nothing.
  CHECK(call("f32[3,2]", "") == "f32[3,2]{1,0}" + target);
}

TEST_CASE("export: attributes of HLO in a custom call that do not read are refused", "[mlir]") {
  for (const char* const text :
       {"nonsense", "window={size=}", "channel_id=1", "window={size=2}, window={size=2}",
        "window={size=2} dim_labels=b_i->b", "to_apply=f"}) {
    INFO(text);
    CHECK(ExitCodeOf(ParseStableHloText(
                         Main("%x: tensor<2xf32>", "tensor<2xf32>",
                              std::string("%r = \"stablehlo.custom_call\"(%x) <{call_target_name = "
                                          "\"acme\"}> {assay.hlo_attributes = \"") +
                                  text + "\"} : (tensor<2xf32>) -> tensor<2xf32>\nreturn %r : tensor<2xf32>"))
                         .status()) == 3);
  }
}

TEST_CASE("export: groups of replicas with all their partitions are written out", "[mlir][export]") {
  const auto gather = [](const std::string& header, const std::string& result) {
    return "HloModule m" + header + "\nENTRY e { x = s32[1] parameter(0)\n ROOT r = " + result +
           " all-gather(x), dimensions={0}, replica_groups={{0,1}}, channel_id=1 }";
  };
  // HLO's order: for each replica, its partitions.
  const std::string text = Printed(gather(", replica_count=2, num_partitions=2", "s32[4]"));
  CHECK(text.find("dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>") != std::string::npos);
  CHECK(text.find("use_global_device_ids") != std::string::npos);
  // One partition by the shapes: as it is.
  CHECK(Printed(gather(", replica_count=2", "s32[2]")).find("use_global_device_ids") == std::string::npos);
  CHECK(Refusal(gather("", "s32[4]")) ==
        "all-gather '%r' as StableHLO: replica groups with all their partitions, in a module that does not "
        "say their "
        "number");
}

TEST_CASE("export: what StableHLO does not have is refused by name", "[mlir][export]") {
  CHECK(Refusal("ENTRY e { ROOT s = u64[2] rng-get-and-update-state(), delta=1 }") ==
        "rng-get-and-update-state '%s' as StableHLO: StableHLO has no such operation");
  CHECK(Refusal(R"(ENTRY e { p = s1[2] parameter(0)
 ROOT r = s1[2] add(p, p) })") == "StableHLO has no type for an array of s1 (in 'parameter %p')");
  CHECK(Refusal(
            R"(ENTRY e { p = f32[3] parameter(0)
 ROOT r = (f32[2], s32[2]) topk(p), k=2, largest=false })") ==
        "topk '%r' as StableHLO: CHLO takes the largest elements only");
  CHECK(Refusal(R"(ENTRY e { t = token[] after-all()
 ROOT i = (f32[], token[]) infeed(t) })") ==
        "infeed '%i' as StableHLO: an item that is not a tuple of arrays");
  // It runs on two devices, which only the pairs say; groups that list one would be those of another program.
  CHECK(Refusal(R"(ENTRY e { x = f32[4] parameter(0)
 y = f32[4] all-to-all(x), dimensions={0}, channel_id=1
 ROOT r = collective-permute(y), source_target_pairs={{0,1}}, channel_id=1 })") ==
        "all-to-all '%y' as StableHLO: replica groups that are left out, in a module that does not say its "
        "number of devices");
}

TEST_CASE("export: values that are declared dynamic, or only in part, keep their types", "[mlir][export]") {
  // A choice between a static and a dynamic array has no short form.
  CheckPrinted(R"(ENTRY e { p = pred[2] parameter(0)
 x = f32[<=2] parameter(1)
 y = f32[2] parameter(2)
 ROOT r = f32[2] select(p, x, y) })");
  CheckPrinted(R"(ENTRY e { p = pred[<=2] parameter(0)
 x = f32[2] parameter(1)
 y = f32[2] parameter(2)
 ROOT r = f32[2] select(p, x, y) })");
  // What gives its operand as it is writes no operation that could change the type.
  for (const char* body :
       {"ROOT r = f32[<=2] domain(x), domain={kind=\"sharding\", entry={replicated}, exit={replicated}}",
        "ROOT r = f32[<=2] copy(x)",
        "t = (f32[2], f32[2]) tuple(x, x)\n ROOT r = f32[<=2] get-tuple-element(t), index=0"}) {
    INFO(body);
    CHECK(Refusal(std::string("ENTRY e { x = f32[2] parameter(0)\n ") + body + " }")
              .find("'%r' as StableHLO: a static size that is declared dynamic") != std::string::npos);
  }
}

TEST_CASE("export: an epsilon that is no float is refused", "[mlir][export]") {
  CHECK(Refusal(R"(ENTRY e { x = f64[2,3] parameter(0)
 p = f64[3] parameter(1)
 ROOT r = f64[2,3] batch-norm-inference(x, p, p, p, p), feature_index=1, epsilon=0.1234567890123 })") ==
        "batch-norm-inference '%r' as StableHLO: epsilon=0.1234567890123, which is not a float");
}

TEST_CASE("export: names of functions are words, each once", "[mlir][export]") {
  const std::string hlo =
      R"(main.2 { p = f32[] parameter(0)
 ROOT r = f32[] negate(p) }
f.1 { p = f32[] parameter(0)
 ROOT r = f32[] call(p), to_apply=main.2 }
f-x { p = f32[] parameter(0)
 ROOT r = f32[] call(p), to_apply=f.1 }
f.3 { p = f32[] parameter(0)
 ROOT r = f32[] call(p), to_apply=f-x }
ENTRY main { p = f32[] parameter(0)
 ROOT r = f32[] call(p), to_apply=f.3 })";
  const std::string text = Printed(hlo);
  for (const char* name :
       {"public @main(", "private @f(", "private @f_x(", "private @f_0(", "private @main_0("}) {
    INFO(name);
    CHECK(text.find(std::string("func.func ") + name) != std::string::npos);
  }
  CheckPrinted(hlo);
}

// Loops in loops, each of whose bodies is used twice: written out there would be 2^n of them.
TEST_CASE("export: what regions share is written once", "[mlir][export]") {
  std::string hlo =
      R"(c { p = s32[] parameter(0)
 z = s32[] constant(2)
 ROOT r = pred[] compare(p, z), direction=LT }
b0 { p = s32[] parameter(0)
 o = s32[] constant(1)
 ROOT r = s32[] add(p, o) }
)";
  for (int i = 1; i < 60; ++i) {
    hlo += fmt::format(
        R"(b{0} {{ p = s32[] parameter(0)
 a = s32[] while(p), condition=c, body=b{1}
ROOT d = s32[] while(a), condition=c, body=b{1} }}
)",
        i, i - 1);
  }
  hlo += R"(ENTRY e { p = s32[] parameter(0)
 ROOT r = s32[] while(p), condition=c, body=b59 })";
  CHECK(Printed(hlo).size() < 100'000);
  CheckPrinted(hlo);
}

TEST_CASE("export: regions deep in regions become functions", "[mlir][export]") {
  std::string hlo =
      R"(c { p = s32[] parameter(0)
 z = s32[] constant(2)
 ROOT r = pred[] compare(p, z), direction=LT }
b0 { p = s32[] parameter(0)
 o = s32[] constant(1)
 ROOT r = s32[] add(p, o) }
)";
  for (int i = 1; i < 400; ++i) {
    hlo += fmt::format(R"(b{} {{ p = s32[] parameter(0)
 ROOT a = s32[] while(p), condition=c, body=b{} }}
)",
                       i, i - 1);
  }
  hlo += R"(ENTRY e { p = s32[] parameter(0)
 ROOT r = s32[] while(p), condition=c, body=b399 })";
  CHECK(Printed(hlo).size() < 1'000'000);
  CheckPrinted(hlo);
}

// Taken apart, each element names the type of the whole: it must not be written out each time.
TEST_CASE("export: a tuple of many has its type written once", "[mlir][export]") {
  constexpr int kElements = 2000;
  std::string type, elements;
  std::string hlo = "ENTRY e { t = (";
  for (int i = 0; i < kElements; ++i) type += i == 0 ? "f32[]" : ", f32[]";
  hlo += type + ") parameter(0)\n";
  for (int i = 0; i < kElements; ++i) {
    hlo += fmt::format("g{0}x = f32[] get-tuple-element(t), index={0}\n", i);
    elements += fmt::format("{}g{}x", i == 0 ? "" : ", ", kElements - 1 - i);
  }
  hlo += "u = (" + type + ") tuple(" + elements + R"()
ROOT r = (()" +
         type + "), f32[]) tuple(u, g0x) }";
  const std::string text = Printed(hlo);
  CHECK(text.find("!tuple0 = tuple<tensor<f32>, tensor<f32>, ") == 0);
  CHECK(text.find("@main(%arg0: !tuple0) -> (!tuple0, tensor<f32>)") != std::string::npos);
  CHECK(text.size() < 300'000);
  CheckPrinted(hlo);
}

TEST_CASE("export: dynamic sizes have bounds", "[mlir][export]") {
  const std::string hlo =
      R"(ENTRY e { a = f32[4,3] parameter(0)
 n = s32[] constant(2)
d = f32[<=4,3] set-dimension-size(a, n), dimensions={0}
 k = f32[] constant(0.5)
ROOT r = f32[<=4,3] clamp(k, d, k) })";
  CHECK(Body(hlo).find("stablehlo.set_dimension_size %arg0, %0, dim = 0 : (tensor<4x3xf32>, tensor<i32>) -> "
                       "tensor<?x3xf32, #stablehlo.bounds<4, ?>>") != std::string::npos);
  CheckPrinted(hlo);
}

TEST_CASE("export: every element type has a name that reads back, or is refused", "[mlir][export]") {
  for (int t = 0; t < kNumElementTypes; ++t) {
    const std::string array = std::string(Name(static_cast<ElementType>(t))) + "[2]";
    const std::string hlo = "HloModule m\nENTRY e {\n  ROOT x = " + array + " parameter(0)\n}\n";
    INFO(array);
    const absl::StatusOr<std::string> text = ExportStableHlo(ProgramOf(hlo).module());
    if (!text.ok()) {
      CHECK(ExitCodeOf(text.status()) == 4);
      continue;
    }
    const absl::StatusOr<Module> again = ParseStableHloText(*text);
    INFO(*text << again.status());
    REQUIRE(again.ok());
    CHECK(again->computation(again->entry).root_instruction().shape->ToString() == array);
  }
}

TEST_CASE("export: an op with a StableHLO name is written, and read by that name", "[mlir][export]") {
  for (int i = 0; i < kNumOpcodes; ++i) {
    const auto opcode = static_cast<Opcode>(i);
    std::string name(StableHloName(opcode));
    if (name.empty()) continue;
    if (name.find('.') == std::string::npos) name = "stablehlo." + name;
    INFO(name);
    CHECK(mlir::FindExport(opcode) != nullptr);
    const mlir::NameFacts facts = mlir::FactsOf(name);
    CHECK((facts.import != nullptr || facts.role != mlir::NameFacts::Role::kOther));
  }
}

TEST_CASE("export: functions that HLO has not are CHLO's", "[mlir][export]") {
  for (const char* const name : {"bessel_i1e", "digamma", "erf_inv", "erfc", "lgamma"}) {
    CheckPrinted(fmt::format(R"(ENTRY e {{ a = f32[3] parameter(0)
 ROOT r = f32[3] custom-call(a), custom_call_target="chlo.{}" }})",
                             name));
  }
  for (const char* const name : {"polygamma", "zeta"}) {
    CheckPrinted(fmt::format(R"(ENTRY e {{ a = f64[3] parameter(0)
 b = f64[3] parameter(1)
 ROOT r = f64[3] custom-call(a, b), custom_call_target="chlo.{}" }})",
                             name));
  }
  CHECK(Body(R"(ENTRY e { a = c64[3] parameter(0)
 ROOT r = c64[3] custom-call(a), custom_call_target="chlo.atan" })") ==
        R"(    %0 = "chlo.atan"(%arg0) : (tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>>
    return %0 : tensor<3xcomplex<f32>>
)");
  CheckPrinted(R"(ENTRY e { a = f8e4m3fn[3] parameter(0)
 ROOT r = f8e4m3fn[3] custom-call(a, a), custom_call_target="chlo.next_after" })");
  // Read as operations that HLO has, these would not be the same program.
  CHECK(Body(R"(ENTRY e { a = f32[3] parameter(0)
 ROOT r = f32[3] custom-call(a), custom_call_target="chlo.atan" })")
            .find("stablehlo.custom_call") != std::string::npos);
}

TEST_CASE("export: scan is CHLO's", "[mlir][export][scan]") {
  const std::string scan = R"(f { x = f32[2] parameter(0)
 y = f32[2] parameter(1)
 z = f32[2] subtract(x, y)
ROOT t = (f32[2], f32[2]) tuple(y, z) }
ENTRY e { a = f32[3,2] parameter(0)
 c = f32[2] parameter(1)
 ROOT s = (f32[3,2], f32[2]) scan(a, c), dimensions={0}, num_carries=1, is_reverse=true, is_associative=true, to_apply=f })";
  CheckPrinted(scan);
  CHECK(Body(scan).find(R"(%0:2 = "chlo.scan"(%arg0, %arg1) <{dimension = 0 : i64, is_associative = true, )"
                        "is_reverse = true, operandSegmentSizes = array<i32: 1, 1>, "
                        "resultSegmentSizes = array<i32: 1, 1>}>") != std::string::npos);
}

}  // namespace
}  // namespace assay
