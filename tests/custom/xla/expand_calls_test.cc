// Custom calls of XLA's compilers as plain instructions; their values are those of golden/xla_calls.
#include "custom/xla/expand_calls.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "evaluator/custom_op.h"
#include "fmt/format.h"
#include "hlo/load/load.h"
#include "hlo/mlir/export/export.h"
#include "hlo/text/printer.h"
#include "literal/literal.h"
#include "run/program.h"

namespace assay::testing {
namespace {

constexpr std::string_view kPlain =
    R"({"gemm_backend_config":{"alpha_real":1,"beta":0,"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["0"]}}})";

std::string Gemm(std::string_view config, std::string_view target = "__cublas$gemm") {
  return fmt::format(R"(HloModule m

ENTRY e {{
  a = f32[2,3] parameter(0)
  b = f32[3,2] parameter(1)
  g = (f32[2,2], s8[16]) custom-call(a, b), custom_call_target="{}", backend_config={}
  ROOT r = f32[2,2] get-tuple-element(g), index=0
}}
)",
                     target, config);
}

std::string Convolution(std::string_view target, std::string_view config, std::string_view window) {
  return fmt::format(R"(HloModule m

ENTRY e {{
  a = f32[1,2,5,5] parameter(0)
  b = f32[2,2,3,3] parameter(1)
  g = (f32[1,2,5,5], u8[0]) custom-call(a, b), window={{{}}}, dim_labels=bf01_oi01->bf01, custom_call_target="{}", backend_config={}
  ROOT r = f32[1,2,5,5] get-tuple-element(g), index=0
}}
)",
                     window, target, config);
}

absl::Status StatusOf(const std::string& text) { return Program::Load("m.hlo", text).status(); }

int64_t CustomCalls(const Module& module) {
  int64_t count = 0;
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions)
      count += instruction.opcode == Opcode::kCustomCall;
  }
  return count;
}

Literal Matrix(std::vector<int64_t> sizes, std::vector<float> values) {
  Literal literal = *Literal::Make(Shape::ArrayOrDie(ElementType::kF32, sizes));
  std::copy_n(reinterpret_cast<const std::byte*>(values.data()), values.size() * sizeof(float),
              literal.MutableBytes().data());
  return literal;
}

std::vector<float> Product(const Program& program) {
  const auto result = program.Run({Matrix({2, 3}, {1, 2, 3, 4, 5, 6}), Matrix({3, 2}, {1, 0, 0, 1, 2, 2})});
  REQUIRE(result.ok());
  std::vector<float> values(4);
  std::copy_n(result->data(), sizeof(float) * 4, reinterpret_cast<std::byte*>(values.data()));
  return values;
}

// One operation, which is never run.
class OneOp final : public CustomOps, public CustomOp {
 public:
  const CustomOp* Find(std::string_view target) const override {
    return target == "__cublas$gemm" ? this : nullptr;
  }
  absl::StatusOr<Shape> Infer(const InferContext&) const override {
    return Shape::Tuple({Shape::ArrayOrDie(ElementType::kF32, std::vector<int64_t>{2, 2}),
                         Shape::ArrayOrDie(ElementType::kS8, std::vector<int64_t>{16})});
  }
  absl::StatusOr<std::shared_ptr<const CustomKernel>> Prepare(const Module&, const Computation&,
                                                              const Instruction&, KernelRole) const override {
    return NotSupported({}, "the user's");
  }
};

TEST_CASE("xla calls: what runs is plain instructions, what is printed is the program", "[custom][xla]") {
  const auto program = Program::Load("m.hlo", Gemm(kPlain));
  REQUIRE(program.ok());
  CHECK(CustomCalls(program->module()) == 0);
  CHECK(CustomCalls(program->as_written()) == 1);
  CHECK_THAT(ModuleToText(program->as_written()), Catch::Contains("__cublas$gemm"));
  CHECK(Product(*program) == std::vector<float>{7, 8, 16, 17});
}

TEST_CASE("xla calls: configurations as JSON, as a string, as MLIR's dictionary, flat, in camel case",
          "[custom][xla]") {
  for (
      const std::string_view config :
      {R"("{\"gemm_backend_config\":{\"alpha_real\":2,\"dot_dimension_numbers\":{\"lhs_contracting_dimensions\":[1],\"rhs_contracting_dimensions\":[0]}}}")",
       R"({alpha_real = 2.0 : f64, dot_dimension_numbers = {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}})",
       R"({"alpha_real":2,"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["0"]}})",
       R"({"gemmBackendConfig":{"alphaReal":"2","dotDimensionNumbers":{"lhsContractingDimensions":["1"],"rhsContractingDimensions":["0"]}}})"}) {
    INFO(config);
    const auto program = Program::Load("m.hlo", Gemm(config));
    INFO(program.status().message());
    REQUIRE(program.ok());
    CHECK(Product(*program) == std::vector<float>{14, 16, 32, 34});
  }
}

TEST_CASE("xla calls: calls in loops, branches and called computations are written out", "[custom][xla]") {
  const std::string text = fmt::format(R"(HloModule m

g.entry {{
  a = f32[2,2] parameter(0)
  g = (f32[2,2], s8[16]) custom-call(a, a), custom_call_target="__cublas$gemm", backend_config={0}
  ROOT r = f32[2,2] get-tuple-element(g), index=0
}}

body {{
  s = (s32[], f32[2,2]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[2,2] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[2,2] call(x), to_apply=g.entry
  z = (f32[2,2], s8[0]) custom-call(y, x), custom_call_target="__cublas$gemm", backend_config={0}
  w = f32[2,2] get-tuple-element(z), index=0
  ROOT t = (s32[], f32[2,2]) tuple(j, w)
}}

condition {{
  s = (s32[], f32[2,2]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(2)
  ROOT p = pred[] compare(i, n), direction=LT
}}

ENTRY e {{
  a = f32[2,2] parameter(0)
  zero = s32[] constant(0)
  init = (s32[], f32[2,2]) tuple(zero, a)
  loop = (s32[], f32[2,2]) while(init), condition=condition, body=body
  ROOT r = f32[2,2] get-tuple-element(loop), index=1
}}
)",
                                       kPlain);
  const auto program = Program::Load("m.hlo", text);
  INFO(program.status().message());
  REQUIRE(program.ok());
  CHECK(CustomCalls(program->module()) == 0);
  const auto result = program->Run({Matrix({2, 2}, {1, 1, 0, 1})});  // to the power of 9
  REQUIRE(result.ok());
  CHECK(reinterpret_cast<const float*>(result->data())[1] == 9);
  // The names are unique, so that the text is read again.
  CHECK(Program::Load("m.hlo", ModuleToText(program->module())).ok());
}

TEST_CASE("xla calls: as StableHLO a bias lies along the same dimension", "[custom][xla]") {
  std::string text = Gemm(
      R"({"epilogue":"BIAS","dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["0"]}})",
      "__cublas$lt$matmul");
  text.replace(text.find("(a, b)"), 6, "(a, b, c)");
  text.replace(text.find("  g ="), 3, "  c = f32[2] parameter(2)\n  g");
  text.replace(text.find("(f32[2,2], s8[16])"), 9, "(f32[2,2]{0,1}");
  const auto program = Program::Load("m.hlo", text);
  INFO(program.status().message());
  REQUIRE(program.ok());
  const auto written = ExportStableHlo(program->as_written());
  REQUIRE(written.ok());
  const auto again = Program::Load("m.mlir", *written);
  INFO(again.status().message());
  REQUIRE(again.ok());
  for (const Program& one : {*program, *again}) {
    const auto result = one.Run(
        {Matrix({2, 3}, {1, 2, 3, 4, 5, 6}), Matrix({3, 2}, {1, 0, 0, 1, 2, 2}), Matrix({2}, {100, 200})});
    REQUIRE(result.ok());
    const float* const values = reinterpret_cast<const float*>(result->data());
    CHECK(std::vector<float>(values, values + 4) == std::vector<float>{107, 108, 216, 217});
  }
}

TEST_CASE("xla calls: an operation of the user's comes first", "[custom][xla]") {
  const auto program = Program::Load("m.hlo", Gemm(kPlain), {.custom_ops = std::make_shared<const OneOp>()});
  REQUIRE(program.ok());
  CHECK(CustomCalls(program->module()) == 1);
}

TEST_CASE("xla calls: contradictions are errors with a label and a place", "[custom][xla]") {
  struct Wrong {
    std::string text;
    std::string_view message;
  };
  const std::string window = "size=3x3 pad=1_1x1_1";
  const Wrong wrong[] = {
      {Gemm(R"({"alpha_real":[]})"), "alpha_real = [], wanted a number"},
      {Gemm(R"({"alpha_real":null})"), "backend_config"},
      {Gemm(R"({"beta":1e999})"), "backend_config"},
      {Gemm(R"({"beta":0.5})"), "no third operand"},
      {Gemm(R"({"gemm_backend_config":7})"), "gemm_backend_config = 7 : i64, wanted a message"},
      {Gemm(R"({"dot_dimension_numbers":{"lhs_contracting_dimensions":["x"]}})"),
       "wanted a list of integers"},
      {Gemm(R"({"dot_dimension_numbers":{"lhs_contracting_dimensions":["-1"]}})"), "has -1"},
      {Gemm(
           R"({"dot_dimension_numbers":{"lhs_contracting_dimensions":["1","1"],"rhs_contracting_dimensions":["0","0"]}})"),
       "DotGeneral-C2"},
      {Gemm(R"({"damax_output":1})"), "damax_output = 1 : i64, wanted true or false"},
      {Gemm(
           R"({"alpha_imag":1,"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["0"]}})"),
       "alpha_imag is 1"},
      {Gemm(R"({"left_side":"yes"})", "__cublas$triangularSolve"), "wanted true or false"},
      {Gemm(R"({"transpose_a":"MAYBE"})", "__cublas$triangularSolve"), "transpose_a = MAYBE"},
      {Gemm(R"({"onednn_matmul_config":{"fusions":{"ops":["BIAS"]}}})", "__onednn$matmul"),
       "BIAS wants operand 2"},
      {Gemm(R"({"onednn_matmul_config":{"fusions":{"ops":["LINEAR"],"alpha_typecast":99999999999}}})",
            "__onednn$matmul"),
       "32 bits of a float"},
      {Gemm(R"({})", "__onednn$convolution"), "each dimension once"},
      {Gemm(R"({})", "__cudnn$convForward"), "dim_labels are missing"},
      {Convolution("__cudnn$convForward", R"({"cudnn_conv_backend_config":{"activation_mode":"kRelu"}})",
                   window),
       "a call that has neither"},
      {Convolution("__cudnn$convForward", "{}", "size=3 pad=1_1"), "window has 1 dimension"},
      {Convolution("__cudnn$convBackwardInput", "{}", "size=3x3 pad=1_1x1_1 stride=9223372036854775807x1"),
       "out of all proportion"},
      {Convolution("__cudnn$convBackwardFilter", "{}", window), "window"},
      {Convolution("__cudnn$convForwardGraph", R"({"serialized_graph":"1:[f32]conv();1:[f32]relu(1);"})",
                   window),
       "1 stands twice"},
      {Convolution("__cudnn$convForwardGraph", R"({"serialized_graph":"1:[f32]conv();2:[f32]add(1);"})",
                   window),
       "the call no operand 2"},
      {Convolution("__cudnn$convForwardGraph", R"({"serialized_graph":"1:[s32]conv();"})", window),
       "not a type of floats"},
      {Convolution("__cudnn$convForwardGraph", R"({})", window), "no operation with a result"},
  };
  for (const Wrong& program : wrong) {
    const absl::Status status = StatusOf(program.text);
    INFO(program.text << status.message());
    CHECK(ExitCodeOf(status) == 3);
    CHECK(PositionOf(status).has_value());
    CHECK_THAT(std::string(status.message()),
               Catch::Contains("CustomCall-C4") && Catch::Contains(std::string(program.message)));
  }
}

TEST_CASE("xla calls: dimension numbers of a proto are checked", "[custom][xla]") {
  for (const int64_t dimension : {int64_t{99}, int64_t{-1}, int64_t{1}}) {
    Module module = *LoadProgram("m.hlo", Convolution("__cudnn$convForward", "{}", "size=3x3 pad=1_1x1_1"));
    AttributeMap& attributes = module.computations[0].instructions[2].attributes;
    auto dims = std::make_shared<ConvDimensionNumbers>(
        *std::get<std::shared_ptr<const ConvDimensionNumbers>>(*attributes.Find(Attr::kDimLabels)));
    dims->input_batch = dimension;
    attributes.Set(Attr::kDimLabels, std::shared_ptr<const ConvDimensionNumbers>(dims));
    const absl::Status status = Program::OfModule(std::move(module)).status();
    CHECK(ExitCodeOf(status) == 3);
    CHECK_THAT(std::string(status.message()), Catch::Contains("do not name each dimension once"));
  }
}

// The goldens' texts, by the names of their files.
std::vector<std::string> Goldens() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(ASSAY_SOURCE_DIR "/golden/xla_calls"))
    paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> texts;
  for (const std::filesystem::path& path : paths) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    texts.push_back(text.str());
  }
  return texts;
}

TEST_CASE("xla calls: no call crashes, whatever stands in it", "[custom][xla]") {
  uint64_t state = 12345;
  const auto draw = [&](size_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<size_t>(state >> 33) % n;
  };
  const std::string_view pieces[] = {"-1",         "9223372036854775807",
                                     "1e308",      "\"",
                                     "{",          "}",
                                     "[",          "]",
                                     ",",          ":",
                                     "0",          "null",
                                     "true",       "99",
                                     "3,",         "BIAS",
                                     "()",         "f8e4m3fn",
                                     ";",          "s8[",
                                     "4294967295", "-0.0",
                                     "\\",         "x"};
  int64_t accepted = 0, refused = 0;
  for (const std::string& text : Goldens()) {
    const size_t begin = text.find("call = "), end = text.find('\n', begin);
    if (begin == std::string::npos) continue;
    for (int k = 0; k < 40; ++k) {
      std::string mutant = text;
      for (size_t n = 0; n <= draw(3); ++n) {
        const size_t at = begin + 7 + draw(end - begin - 20);
        if (draw(2) == 0) mutant.erase(at, 1 + draw(3));
        if (draw(2) == 0) mutant.insert(at, pieces[draw(std::size(pieces))]);
      }
      const absl::Status status = StatusOf(mutant);
      INFO(mutant << status.message());
      CHECK((status.ok() || ExitCodeOf(status) == 3));
      (status.ok() ? accepted : refused)++;
    }
  }
  CHECK(accepted > 500);
  CHECK(refused > 500);
}

TEST_CASE("xla calls: each target has a golden", "[custom][xla]") {
  std::string all;
  for (const std::string& text : Goldens()) {
    if (text.find("// refuse:") == std::string::npos) all += text;
  }
  const std::vector<std::string> targets = custom::XlaCallTargets();
  CHECK(std::is_sorted(targets.begin(), targets.end()));
  for (const std::string& target : targets) {
    INFO(target);
    CHECK(all.find("custom_call_target=\"" + target + "\"") != std::string::npos);
  }
}

}  // namespace
}  // namespace assay::testing
