// scatter and updates in place by the engine "gpu" on the emulated driver.
#include "fmt/format.h"
#include "tests/gpu/device_programs.h"

namespace assay::gpu {
namespace {

struct ScatterCase {
  const char *operand, *indices, *updates, *numbers;
};
constexpr ScatterCase kGeometries[] = {
    // Rows, single elements, and elements of a vector of indices.
    {"[7,5]", "[40,1]", "[40,5]",
     "update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
     "index_vector_dim=1"},
    {"[13]", "[70]", "[70]",
     "update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1"},
    {"[4,6,3]", "[2,9]", "[9,3]",
     "update_window_dims={1}, inserted_window_dims={0,1}, scatter_dims_to_operand_dims={1,0}, "
     "index_vector_dim=0"},
    // Windows that share a part of their elements.
    {"[9,8]", "[11,2]", "[3,11,2]",
     "update_window_dims={0,2}, inserted_window_dims={}, scatter_dims_to_operand_dims={0,1}, "
     "index_vector_dim=1"},
    // Batches.
    {"[3,6,2]", "[3,5,1]", "[3,5,2]",
     "update_window_dims={2}, inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, "
     "index_vector_dim=2, "
     "input_batching_dims={0}, scatter_indices_batching_dims={0}"},
    // Many updates of each element.
    {"[3]", "[200,1]", "[200]",
     "update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1"},
    // No index at all.
    {"[5]", "[0,1]", "[0]",
     "update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1"},
};

std::string ScatterText(const ScatterCase& g, std::string_view type, std::string_view index,
                        std::string_view root) {
  return fmt::format(R"(HloModule m
f {{
  a = {0}[] parameter(0)
  {5}
}}
ENTRY e {{
  x = {0}{1} parameter(0)
  i = {4}{2} parameter(1)
  u = {0}{3} parameter(2)
  ROOT r = {0}{1} scatter(x, i, u), {6}, to_apply=f
}}
)",
                     type, g.operand, g.indices, g.updates, index, root, g.numbers);
}
std::string Combine(std::string_view type, std::string_view op) {
  return fmt::format("b = {0}[] parameter(1)\n  ROOT c = {0}[] {1}(a, b)", type, op);
}

// Indices of which some are out of bounds, and few different ones.
void CheckScatter(const ScatterCase& g, std::string_view type, std::string_view index,
                  const std::string& root) {
  const std::string text = ScatterText(g, type, index, root);
  CheckOnDevice(text, 1);
  for (uint64_t seed = 5; seed < 7; ++seed) {
    std::vector<Literal> arguments = HostileArguments(text, seed);
    const Shape shape = arguments[1].shape();
    std::vector<int64_t> indices;
    for (int64_t i = 0; i < shape.num_elements(); ++i)
      indices.push_back((i * 7 + static_cast<int64_t>(seed)) % 9 - 1);
    arguments[1] = Literal::FromInts(shape.element_type(), shape.sizes(), indices);
    PlanOfEqualRun(text, arguments);
  }
}

}  // namespace

TEST_CASE("scattered sums are exact, in any order", "[gpu][scatter]") {
  for (const ScatterCase& g : kGeometries) {
    for (const char* type : {"f32", "f64", "bf16", "f16"}) CheckScatter(g, type, "s32", Combine(type, "add"));
  }
}

constexpr const char* kSumTypes[] = {"f32", "f64", "bf16", "f16"};

std::string RowsText(const char* type, int64_t rows, int64_t items, int64_t length) {
  const std::string operand = fmt::format("[{},{}]", rows, length), indices = fmt::format("[{},1]", items),
                    updates = fmt::format("[{},{}]", items, length);
  return ScatterText({operand.c_str(), indices.c_str(), updates.c_str(),
                      "update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
                      "index_vector_dim=1"},
                     type, "s32", Combine(type, "add"));
}

TEST_CASE("rows that scatters add to", "[gpu][scatter]") {
  struct Rows {
    int64_t rows, items, length;
  };
  // Vectors; of f64 alone; more rows than updates; strips; single elements; one row.
  for (const Rows& r : {Rows{11, 60, 8}, {9, 40, 6}, {40, 23, 50}, {5, 12, 300}, {17, 70, 1}, {1, 1, 4}}) {
    for (const char* type : kSumTypes) {
      const std::string text = RowsText(type, r.rows, r.items, r.length);
      CHECK_THAT(PlanOfEqualRun(text), Catch::Contains("exact sums of rows"));
      for (uint64_t seed = 0; seed < 2; ++seed) {
        std::vector<Literal> arguments = HostileArguments(text, seed);
        PlanOfEqualRun(text, arguments);
        std::vector<int64_t> indices;
        for (int64_t i = 0; i < r.items; ++i) indices.push_back(i * i % (r.rows + 1));
        arguments[1] = Literal::FromInts(ElementType::kS32, arguments[1].shape().sizes(), indices);
        PlanOfEqualRun(text, arguments);
      }
    }
  }
}

TEST_CASE("a row of many updates is summed in parts", "[gpu][scatter]") {
  const auto program = [](const char* type, int64_t length) { return RowsText(type, 3, 9000, length); };
  for (const char* type : kSumTypes) {
    for (const int64_t length : {4, 1}) {
      const std::string text = program(type, length);
      std::vector<int64_t> indices;
      for (int64_t i = 0; i < 9000; ++i) indices.push_back(i % 10 == 0 ? 2 : 1);
      for (uint64_t seed = 0; seed < 2; ++seed) {
        std::vector<Literal> arguments =
            seed == 0 ? RandomInputs(ProgramOf(text).verified(), 3).value() : HostileArguments(text, seed);
        arguments[1] = Literal::FromInts(ElementType::kS32, std::vector<int64_t>{9000, 1}, indices);
        PlanOfEqualRun(text, arguments);
      }
    }
  }
}

TEST_CASE("the last one of several updates stays", "[gpu][scatter]") {
  for (const ScatterCase& g : kGeometries) {
    for (std::string type : {"f32", "s8", "bf16", "c128", "f64", "s4"})
      CheckScatter(g, type, "s32", "ROOT b = " + type + "[] parameter(1)");
  }
}

TEST_CASE("scattered folds in any order, with indices of every type", "[gpu][scatter]") {
  for (const ScatterCase& g : kGeometries) {
    for (const char* op : {"maximum", "minimum"}) {
      for (const char* type : {"f32", "f16", "u8", "s64"}) CheckScatter(g, type, "s32", Combine(type, op));
    }
    for (const char* index : {"s8", "u8", "s16", "u16", "u32", "s64", "u64"})
      CheckScatter(g, "s32", index, Combine("s32", "add"));
    CheckScatter(g, "pred", "s32", Combine("pred", "or"));
  }
}

TEST_CASE("what nobody else wants is updated in place", "[gpu][scatter]") {
  const std::string text = R"(HloModule m
body {
  s = (s32[], f32[40,8], f32[1,8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[40,8] get-tuple-element(s), index=1
  u = f32[1,8] get-tuple-element(s), index=2
  zero = s32[] constant(0)
  one = s32[] constant(1)
  n = f32[1,8] negate(u)
  y = f32[40,8] dynamic-update-slice(x, n, i, zero)
  j = s32[] add(i, one)
  ROOT t = (s32[], f32[40,8], f32[1,8]) tuple(j, y, n)
}
condition {
  s = (s32[], f32[40,8], f32[1,8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  end = s32[] constant(30)
  ROOT c = pred[] compare(i, end), direction=LT
}
ENTRY e {
  x = f32[40,8] parameter(0)
  u = f32[1,8] parameter(1)
  zero = s32[] constant(0)
  t = (s32[], f32[40,8], f32[1,8]) tuple(zero, x, u)
  w = (s32[], f32[40,8], f32[1,8]) while(t), condition=condition, body=body
  ROOT r = f32[40,8] get-tuple-element(w), index=1
}
)";
  const Program program = ProgramOf(text);
  const Plan plan = PlanOf(program, Emulated());
  const std::vector<Literal> arguments = RandomInputs(program.verified(), 1).value();
  const std::vector<Literal> before{Literal::FromDoubles(ElementType::kF32, std::vector<int64_t>{},
                                                         std::vector<double>{arguments[0].GetDouble(0)})};
  const uint64_t copies = CallsOf("cuMemcpyDtoDAsync_v2");
  const absl::StatusOr<Literal> found = Executor(plan, {}).Run(arguments);
  INFO(PlanToText(plan));
  REQUIRE(found.ok());
  // The first time the argument is copied, which is the caller's.
  CHECK(CallsOf("cuMemcpyDtoDAsync_v2") - copies <= 1);
  CHECK(Literal::BitwiseEqual(*found, *program.Run(arguments, {}, EnginesOf(EngineChoice::kReference))));
  CHECK(arguments[0].GetDouble(0) == before[0].GetDouble(0));
  // The same values again: nothing of the first run was written over.
  CHECK(Literal::BitwiseEqual(*found, *Executor(plan, {}).Run(arguments)));
}

}  // namespace assay::gpu
