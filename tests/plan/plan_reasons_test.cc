// Why `assay plan` says that an engine declined: the true reason, on a small program for each.
#include <catch2/catch.hpp>
#include <string>

#include "engines/native/native_engine.h"
#include "fmt/format.h"
#include "plan/plan.h"
#include "plan/plan_text.h"
#include "tests/engines/native/code_testing.h"
#include "tests/run/program_testing.h"

namespace assay {
namespace {

std::string TextOf(const std::string& program, EngineChoice choice = EngineChoice::kExact) {
  return PlanToText(PlanOf("HloModule m\n" + program, choice));
}

// The line of %r.
std::string LineOf(const std::string& program, EngineChoice choice = EngineChoice::kExact) {
  const std::string text = TextOf(program, choice);
  const size_t at = text.find("%r = ");
  REQUIRE(at != std::string::npos);
  return text.substr(at, text.find('\n', at) - at);
}

void Says(const std::string& program, const std::string& reason, EngineChoice choice = EngineChoice::kExact) {
  INFO(program);
  CHECK_THAT(LineOf(program, choice), Catch::Contains("(" + reason + ")"));
}

// Machines without registers for generated code say other reasons.
bool HasCode() {
  const bool has = testing::HasCode();
  if (!has) WARN("skipped: no AVX2");
  return has;
}

}  // namespace

TEST_CASE("plan: results and operands that are no arrays of static sizes", "[plan]") {
  if (!HasCode()) return;
  const std::string sort =
      R"(f { a = f32[] parameter(0)
 b = f32[] parameter(1)
 c = s32[] parameter(2)
 d = s32[] parameter(3)
 ROOT l = pred[] compare(a, b), direction=LT }
)";
  Says(sort +
           R"(ENTRY e { x = f32[900] parameter(0)
 y = s32[900] parameter(1)
 ROOT r = (f32[900], s32[900]) sort(x, y), dimensions={0}, to_apply=f })",
       "jit: a tuple, not an array");
  Says(
      R"(ENTRY e { r = token[] after-all()
 x = f32[2] parameter(0)
 ROOT o = token[] outfeed(x, r), outfeed_shape=f32[2] })",
      "jit: a token, not an array");
  const std::string dynamic =
      R"(ENTRY e { x = f32[900] parameter(0)
 n = s32[] parameter(1)
 d = f32[<=900] set-dimension-size(x, n), dimensions={0}
 )";
  Says(dynamic + "ROOT r = f32[<=900] negate(d) }", "jit: a dynamic dimension");
  Says(dynamic + "ROOT r = f32[<=900] reverse(d), dimensions={0} }", "native: a dynamic dimension");
  Says(dynamic + "ROOT r = f32[<=900] exponential(d) }", "functions: a dynamic dimension",
       EngineChoice::kFast);
}

TEST_CASE("plan: types that do not go together", "[plan]") {
  const std::string f =
      R"(f { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = f32[] maximum(a, b) }
)";
  Says(f + R"(ENTRY e { x = bf16[900] parameter(0)
 i = f32[] parameter(1)
 ROOT r = f32[] reduce(x, i), dimensions={0}, to_apply=f })",
       "native: operand, init value and result of more than one type");
  Says(
      R"(ENTRY e { x = f32[90,90] parameter(0)
 y = bf16[90,90] parameter(1)
 ROOT r = f32[90,90] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0} })",
      "rounded-sums: f32 by bf16 to f32", EngineChoice::kFast);
}

TEST_CASE("plan: scatters whose windows overlap in another order than the updates'", "[plan]") {
  const auto scatter = [](const char* updates, int window_dim, const char* combiner) {
    return fmt::format(
        "f {{ a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = {} }}\nENTRY e {{ x = f32[40] "
        "parameter(0)\n "
        "i = s32[1000,1] parameter(1)\n u = f32[{}] parameter(2)\n ROOT r = f32[40] scatter(x, i, u), "
        "update_window_dims={{{}}}, inserted_window_dims={{}}, scatter_dims_to_operand_dims={{0}}, "
        "index_vector_dim=1, to_apply=f }}",
        combiner, updates, window_dim);
  };
  for (const char* combiner : {"f32[] multiply(a, b)", "f32[] subtract(a, b)", "f32[] copy(b)"}) {
    if (!HasCode()) break;
    Says(scatter("5,1000", 0, combiner), "native: windows overlap in another order than that of the updates");
    CHECK_THAT(LineOf(scatter("1000,5", 1, combiner), EngineChoice::kExact),
               !Catch::Contains("windows overlap"));
    CHECK_THAT(LineOf(scatter("1,1000", 0, combiner), EngineChoice::kExact),
               !Catch::Contains("windows overlap"));
  }
}

TEST_CASE("plan: dots of no products, of few, of long sums and of many offsets", "[plan]") {
  const auto dot = [](int64_t m, int64_t k, int64_t n) {
    return fmt::format(
        R"(ENTRY e {{ x = f32[{0},{1}] parameter(0)
 y = f32[{1},{2}] parameter(1)
 ROOT r = f32[{0},{2}] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}} }})",
        m, k, n);
  };
  Says(dot(4, 0, 4), "rounded-sums: no products", EngineChoice::kFast);
  Says(dot(4, 4, 4), "rounded-sums: too few products (64 < 4096)", EngineChoice::kFast);
  Says(dot(4, 5000, 4), "rounded-sums: sums of more than 4096 terms", EngineChoice::kFast);
  Says(dot(5000, 2, 1), "rounded-sums: more than 4096 rows, columns and batches", EngineChoice::kFast);
}

TEST_CASE("plan: functions without an approximation", "[plan]") {
  if (!HasCode()) return;
  Says(R"(ENTRY e { x = f8e4m3fn[900] parameter(0)
 ROOT r = f8e4m3fn[900] exponential(x) })",
       "functions: no approximate function for exponential of f8e4m3fn", EngineChoice::kFast);
  Says(
      R"(ENTRY e { x = f32[900] parameter(0)
 ROOT r = f32[900] exponential(x), result_accuracy={mode=highest} })",
      "functions: it has a result_accuracy", EngineChoice::kFast);
  Says(R"(ENTRY e { x = f32[900] parameter(0)
 ROOT r = f32[900] exponential(x) })",
       "functions: too few elements (900 < 1024)", EngineChoice::kFast);
}

TEST_CASE("plan: more fusions than have code", "[plan]") {
  if (!HasCode()) return;
  std::string program =
      R"(ENTRY e { x = f32[3000] parameter(0)
 n0 = f32[3000] sort(x), dimensions={0}, to_apply=f
)";
  const int fusions = 2049;
  for (int i = 0; i < fusions; ++i) {
    // A sort between two fusions keeps them apart.
    program += fmt::format(
        R"( m{0} = f32[3000] negate(n{0})
 {2} = f32[3000] multiply(m{0}, m{0})
 n{1} = f32[3000] sort({2}), dimensions={{0}}, to_apply=f
)",
        i, i + 1, i + 1 < fusions ? fmt::format("a{}", i) : "r");
  }
  Says(
      R"(f { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT l = pred[] compare(a, b), direction=LT }
)" + program +
          fmt::format(" ROOT z = f32[3000] negate(n{}) }}", fusions),
      "jit: limit of 2048 fusions with generated code reached");
}

}  // namespace assay
