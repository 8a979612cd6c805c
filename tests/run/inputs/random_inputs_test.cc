// Random inputs are in range, ordered and distinct where the program asks for it.
#include "run/inputs/random_inputs.h"

#include <algorithm>
#include <set>

#include "tests/run/program_testing.h"

namespace assay {
namespace {

struct ProgramWithInputs {
  Program program;
  std::vector<Literal> inputs;
};

ProgramWithInputs Make(const std::string& text, uint64_t seed = 1) {
  const Program program = ProgramOf(text);
  absl::StatusOr<std::vector<Literal>> inputs = RandomInputs(program.verified(), seed);
  INFO(text << "\n" << inputs.status());
  REQUIRE(inputs.ok());
  return {program, *std::move(inputs)};
}

std::vector<int64_t> Ints(const Literal& literal) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < literal.shape().num_elements(); ++i) values.push_back(literal.GetInt(i));
  return values;
}

// All values lie in [0, high], and for so many draws the ends are met.
void CheckFills(const Literal& literal, int64_t high) {
  const std::vector<int64_t> values = Ints(literal);
  CHECK(*std::min_element(values.begin(), values.end()) == 0);
  CHECK(*std::max_element(values.begin(), values.end()) == high);
}

constexpr std::string_view kGatherTail =
    "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,2}";

TEST_CASE("random inputs: gather indices are in range", "[random_inputs]") {
  const ProgramWithInputs p = Make(R"(HloModule m
ENTRY e {
  x = f32[5,2] parameter(0)
  i = s32[200,1] parameter(1)
  ROOT g = f32[200,2] gather(x, i), )" +
                                   std::string(kGatherTail) + "\n}");
  CheckFills(p.inputs[1], 4);
}

TEST_CASE("random inputs: each component of an index vector has its own range", "[random_inputs]") {
  const ProgramWithInputs p = Make(R"(HloModule m
ENTRY e {
  x = f32[3,9] parameter(0)
  i = s32[2,100] parameter(1)
  ROOT g = f32[100,1,4] gather(x, i), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={1,0}, index_vector_dim=0, slice_sizes={1,4}
})");
  const std::vector<int64_t> values = Ints(p.inputs[1]);
  CHECK(*std::max_element(values.begin(), values.begin() + 100) == 5);
  CHECK(*std::max_element(values.begin() + 100, values.end()) == 2);
}

TEST_CASE("random inputs: indices are followed through calls, loops, tuples and conversions",
          "[random_inputs]") {
  const ProgramWithInputs p = Make(R"(HloModule m
inner {
  q = (s32[], s8[300]) parameter(0)
  raw = s8[300] get-tuple-element(q), index=1
  wide = s32[300] convert(raw)
  i = s32[300,1] reshape(wide)
  x = f32[5,2] constant({{1,2},{3,4},{5,6},{7,8},{9,10}})
  ROOT g = f32[300,2] gather(x, i), )" +
                                   std::string(kGatherTail) + R"(
}
body {
  s = (s32[], s8[300]) parameter(0)
  g = f32[300,2] call(s), to_apply=inner
  n = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next = s32[] add(n, one)
  i = s8[300] get-tuple-element(s), index=1
  ROOT t = (s32[], s8[300]) tuple(next, i)
}
cond {
  s = (s32[], s8[300]) parameter(0)
  n = s32[] get-tuple-element(s), index=0
  ten = s32[] constant(10)
  ROOT lt = pred[] compare(n, ten), direction=LT
}
ENTRY e {
  start = s32[] constant(0)
  pair = (f32[], s8[300]) parameter(0)
  i = s8[300] get-tuple-element(pair), index=1
  init = (s32[], s8[300]) tuple(start, i)
  ROOT w = (s32[], s8[300]) while(init), condition=cond, body=body
})");
  CheckFills(p.inputs[0].element(1), 4);
}

TEST_CASE("random inputs: indices are followed through the wrapping of negative ones", "[random_inputs]") {
  const ProgramWithInputs p = Make(R"(HloModule m
ENTRY e {
  x = f32[5,2] parameter(0)
  i = s32[200] parameter(1)
  zero = s32[] constant(0)
  zeros = s32[200] broadcast(zero), dimensions={}
  five = s32[] constant(5)
  fives = s32[200] broadcast(five), dimensions={}
  low = pred[200] compare(i, zeros), direction=LT
  up = s32[200] add(i, fives)
  wrapped = s32[200] select(low, up, i)
  column = s32[200,1] reshape(wrapped)
  ROOT g = f32[200,2] gather(x, column), )" +
                                   std::string(kGatherTail) + "\n}");
  CheckFills(p.inputs[1], 4);
}

TEST_CASE("random inputs: parts of concatenated index vectors get their own component", "[random_inputs]") {
  const ProgramWithInputs p = Make(R"(HloModule m
ENTRY e {
  x = f32[3,7] parameter(0)
  i = s32[200,1] parameter(1)
  j = s32[200,1] parameter(2)
  both = s32[200,2] concatenate(i, j), dimensions={1}
  ROOT g = f32[200] gather(x, both), offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,1}
})");
  CheckFills(p.inputs[1], 2);
  CheckFills(p.inputs[2], 6);
}

std::string ScatterProgram(std::string_view promise) {
  return R"(HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  x = f32[4,30] parameter(0)
  i = s32[20,2] parameter(1)
  u = f32[20,1,3] parameter(2)
  ROOT r = f32[4,30] scatter(x, i, u), update_window_dims={1,2}, inserted_window_dims={}, scatter_dims_to_operand_dims={1,0}, index_vector_dim=1, )" +
         std::string(promise) + " to_apply=add\n}";
}

TEST_CASE("random inputs: promised order and distinctness of scatter indices are kept", "[random_inputs]") {
  const ProgramWithInputs p = Make(ScatterProgram("indices_are_sorted=true, unique_indices=true,"));
  const std::vector<int64_t> values = Ints(p.inputs[1]);
  std::vector<std::pair<int64_t, int64_t>> windows;  // (row, column): the operand's order
  for (int v = 0; v < 20; ++v) windows.emplace_back(values[2 * v + 1], values[2 * v]);
  CHECK(std::is_sorted(windows.begin(), windows.end()));
  std::set<std::pair<int64_t, int64_t>> touched;
  for (const auto& [row, column] : windows) {
    CHECK((row >= 0 && row <= 3 && column >= 0 && column <= 27));
    for (int64_t k = 0; k < 3; ++k) CHECK(touched.emplace(row, column + k).second);
  }
}

TEST_CASE("random inputs: scatter indices keep windows inside", "[random_inputs]") {
  const ProgramWithInputs p = Make(ScatterProgram(""));
  const std::vector<int64_t> values = Ints(p.inputs[1]);
  for (int v = 0; v < 20; ++v) {
    CHECK((values[2 * v] >= 0 && values[2 * v] <= 27));
    CHECK((values[2 * v + 1] >= 0 && values[2 * v + 1] <= 3));
  }
}

TEST_CASE("random inputs: starts of dynamic slices and updates are in range", "[random_inputs]") {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    const ProgramWithInputs p = Make(R"(HloModule m
ENTRY e {
  x = f32[9,4] parameter(0)
  i = s32[2] parameter(1)
  a = s32[1] slice(i), slice={[0:1]}
  b = s32[1] slice(i), slice={[1:2]}
  a0 = s32[] reshape(a)
  b0 = s32[] reshape(b)
  s = f32[3,4] dynamic-slice(x, a0, b0), dynamic_slice_sizes={3,4}
  u = f32[1,1] parameter(2)
  j = u8[] parameter(3)
  z = u8[] constant(0)
  d = f32[9,4] dynamic-update-slice(x, u, j, z)
  ROOT t = (f32[3,4], f32[9,4]) tuple(s, d)
})",
                                     seed);
    const std::vector<int64_t> i = Ints(p.inputs[1]);
    CHECK((i[0] >= 0 && i[0] <= 6));
    CHECK((i[1] >= 0 && i[1] <= 6));
    CHECK((p.inputs[3].GetInt(0) >= 0 && p.inputs[3].GetInt(0) <= 8));
  }
}

TEST_CASE("random inputs: group sizes fit the ragged dimension", "[random_inputs]") {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const ProgramWithInputs p = Make(R"(HloModule m
ENTRY e {
  l = f32[11,2] parameter(0)
  r = f32[3,2,5] parameter(1)
  gs = s32[3] parameter(2)
  ROOT d = f32[11,5] ragged-dot(l, r, gs), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}
})",
                                     seed);
    const std::vector<int64_t> sizes = Ints(p.inputs[2]);
    CHECK(*std::min_element(sizes.begin(), sizes.end()) >= 0);
    CHECK(sizes[0] + sizes[1] + sizes[2] <= 11);
  }
}

TEST_CASE("random inputs: ranges of a ragged-all-to-all are empty", "[random_inputs]") {
  const ProgramWithInputs p = Make(R"(HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  io = s32[1] parameter(2)
  ss = s32[1] parameter(3)
  oo = s32[1] parameter(4)
  rs = s32[1] parameter(5)
  ROOT r = f32[4] ragged-all-to-all(x, y, io, ss, oo, rs), replica_groups={{0}}
})");
  for (size_t i = 2; i < 6; ++i) CHECK(Ints(p.inputs[i]) == std::vector<int64_t>{0});
}

TEST_CASE("random inputs: sizes set at run time are within the bound", "[random_inputs]") {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const ProgramWithInputs p = Make(R"(HloModule m
ENTRY e {
  x = f32[3] parameter(0)
  n = s32[] parameter(1)
  ROOT s = f32[<=3] set-dimension-size(x, n), dimensions={0}
})",
                                     seed);
    CHECK((p.inputs[1].GetInt(0) >= 0 && p.inputs[1].GetInt(0) <= 3));
    CHECK(p.program.Run(p.inputs).ok());
  }
}

TEST_CASE("random inputs: matrices to factorise are positive definite", "[random_inputs]") {
  const ProgramWithInputs p = Make(R"(HloModule m
ENTRY e {
  a = f64[2,6,6] parameter(0)
  ROOT l = f64[2,6,6] cholesky(a), lower=true
})");
  const Literal& a = p.inputs[0];
  for (int m = 0; m < 2; ++m) {
    for (int i = 0; i < 6; ++i) {
      double off = 0;
      for (int j = 0; j < 6; ++j) {
        if (i == j) continue;
        CHECK(a.GetDouble(m * 36 + i * 6 + j) == a.GetDouble(m * 36 + j * 6 + i));
        off += std::abs(a.GetDouble(m * 36 + i * 6 + j));
      }
      CHECK(a.GetDouble(m * 36 + i * 7) > off);  // dominant diagonal: positive definite (Gershgorin)
    }
  }
}

TEST_CASE("random inputs: branch indices name a branch", "[random_inputs]") {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const ProgramWithInputs p = Make(R"(HloModule m
f { ROOT x = f32[] parameter(0) }
g { y = f32[] parameter(0)
 ROOT n = f32[] negate(y) }
ENTRY e {
  i = s32[] parameter(0)
  x = f32[] parameter(1)
  ROOT c = f32[] conditional(i, x, x), branch_computations={f, g}
})",
                                     seed);
    CHECK((p.inputs[0].GetInt(0) == 0 || p.inputs[0].GetInt(0) == 1));
  }
}

TEST_CASE("random inputs: one seed gives one set of inputs", "[random_inputs]") {
  const std::string program = ScatterProgram("");
  const ProgramWithInputs a = Make(program, 5), b = Make(program, 5), c = Make(program, 6);
  for (size_t i = 0; i < a.inputs.size(); ++i) {
    CHECK(Literal::BitwiseEqual(a.inputs[i], b.inputs[i]));
    CHECK_FALSE(Literal::BitwiseEqual(a.inputs[i], c.inputs[i]));
  }
}

TEST_CASE("random inputs: two demands on one parameter are both met", "[random_inputs]") {
  const ProgramWithInputs p = Make(R"(HloModule m
ENTRY e {
  x = f32[5,2] parameter(0)
  y = f32[3,2] parameter(1)
  i = s32[200,1] parameter(2)
  g = f32[200,2] gather(x, i), )" + std::string(kGatherTail) +
                                   R"(
  h = f32[200,2] gather(y, i), )" + std::string(kGatherTail) +
                                   R"(
  ROOT s = f32[200,2] add(g, h)
})");
  CheckFills(p.inputs[2], 2);
}

TEST_CASE("random inputs: tokens, empty arrays and empty ranges do no harm", "[random_inputs]") {
  const ProgramWithInputs p = Make(R"(HloModule m
ENTRY e {
  t = token[] parameter(0)
  x = f32[0,2] parameter(1)
  i = s32[4,1] parameter(2)
  e = (s32[0], ()) parameter(3)
  ROOT g = f32[4,0] gather(x, i), offset_dims={1}, collapsed_slice_dims={1}, start_index_map={0}, index_vector_dim=1, slice_sizes={0,1}
})");
  CHECK(p.inputs[0].shape().IsToken());
  CHECK(Ints(p.inputs[2]) == std::vector<int64_t>{0, 0, 0, 0});
}

TEST_CASE("random inputs: streams of the host go on for as long as they are read, alike from each copy",
          "[random_inputs]") {
  StreamItem stream = RandomStream(3);
  StreamItem copy = stream;
  const Shape shape = Shape::ArrayOrDie(ElementType::kF32, std::vector<int64_t>{5});
  const absl::StatusOr<Literal> first = stream(shape), second = stream(shape), again = copy(shape);
  REQUIRE((first.ok() && second.ok() && again.ok()));
  CHECK(Literal::BitwiseEqual(*first, *again));
  CHECK_FALSE(Literal::BitwiseEqual(*first, *second));
}

}  // namespace
}  // namespace assay
