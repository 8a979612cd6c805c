// What --max-steps counts: worked by hand from the shapes, and equal by every engine,
// thread count and cross-check.
#include "evaluator/steps.h"

#include <catch2/catch.hpp>
#include <string>

#include "fmt/format.h"
#include "tests/run/program_testing.h"

namespace assay {
namespace {

// Runs by one engine with zeros for arguments (unless given); the counts,
// or -1 where the step limit ended it.
int64_t CountsOfRun(const Program& program, EngineChoice engine, int jobs, Crosscheck crosscheck,
                    int64_t max_steps) {
  const absl::StatusOr<std::shared_ptr<const Plan>> plan = program.PlanFor(EnginesOf(engine));
  REQUIRE(plan.ok());
  RunOptions options;
  options.jobs = jobs;
  options.crosscheck = crosscheck;
  options.limits.max_steps = max_steps;
  Executor executor(**plan, options);
  std::vector<Literal> arguments;
  const Computation& entry = program.module().entry_computation();
  for (int32_t parameter : entry.parameters)
    arguments.push_back(*Literal::Make(*entry.instructions[static_cast<size_t>(parameter)].shape));
  const absl::Status status = executor.Run(arguments).status();
  INFO(status);
  if (!status.ok()) {
    CHECK(status.message() == fmt::format("steps (--max-steps): more than the limit of {}", max_steps));
    CHECK(ExitCodeOf(status) == 5);
    return -1;
  }
  return executor.statistics().steps * kUnitsPerStep + executor.statistics().parts;
}

// Every engine counts `counts`; it ends at no limit that allows it, and at the one below.
void Counts(const std::string& text, int64_t counts) {
  const Program program = ProgramOf("HloModule m\n" + text);
  INFO(text);
  for (EngineChoice engine : {EngineChoice::kReference, EngineChoice::kExact, EngineChoice::kFast}) {
    for (int jobs : {1, 3}) {
      for (Crosscheck crosscheck : {Crosscheck::kOff, Crosscheck::kFull}) {
        if (jobs == 3 && crosscheck == Crosscheck::kFull) continue;
        INFO(static_cast<int>(engine) << " " << jobs << " " << static_cast<int>(crosscheck));
        CHECK(CountsOfRun(program, engine, jobs, crosscheck, 0) == counts);
        const int64_t steps = counts / kUnitsPerStep;
        CHECK(CountsOfRun(program, engine, jobs, crosscheck, steps) == counts);
        if (steps > 1) CHECK(CountsOfRun(program, engine, jobs, crosscheck, steps - 1) == -1);
      }
    }
  }
}

// Of a program of its entry alone: the call of the entry, so many instructions, and their work.
int64_t Steps(int64_t instructions, int64_t work) { return (1 + instructions) * kUnitsPerStep + work; }

}  // namespace

TEST_CASE("steps: computations of arrays of one element are calls by every engine", "[steps][sort][reduce]") {
  for (const char* const text : {R"(HloModule m
lt {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  x = f32[1] reshape(a)
  y = f32[1] reshape(b)
  c = pred[1] compare(x, y), direction=LT
  ROOT r = pred[] reshape(c)
}
ENTRY e {
  x = f32[3000] parameter(0)
  ROOT s = f32[3000] sort(x), dimensions={0}, to_apply=lt
}
)",
                                 R"(HloModule m
f {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  x = f32[1] reshape(a)
  y = f32[1] reshape(b)
  c = f32[1] multiply(x, y)
  d = f32[1] add(c, x)
  ROOT r = f32[] reshape(d)
}
ENTRY e {
  x = f32[3000] parameter(0)
  i = f32[] constant(1)
  ROOT s = f32[] reduce(x, i), dimensions={0}, to_apply=f
}
)"}) {
    INFO(text);
    const Program program = ProgramOf(text);
    const int64_t counts = CountsOfRun(program, EngineChoice::kReference, 1, Crosscheck::kOff, 0);
    CHECK(counts > int64_t{5} * 2999 * kUnitsPerStep);
    for (EngineChoice engine : {EngineChoice::kExact, EngineChoice::kFast})
      CHECK(CountsOfRun(program, engine, 1, Crosscheck::kOff, 0) == counts);
  }
}

TEST_CASE("steps: reducers of several operations, also past 2^20 of them", "[steps]") {
  // 300,000 elements by 4 operations: work is the elements, once, and not the operations.
  const std::string f =
      R"(f { a = f32[] parameter(0)
 b = f32[] parameter(1)
 m = f32[] multiply(a, b)
 c = f32[] constant(0.5)
 s = f32[] subtract(m, c)
 t = f32[] maximum(s, a)
 ROOT u = f32[] add(t, b) }
)";
  Counts(f + R"(ENTRY e { x = f32[3000,100] parameter(0)
 i = f32[] constant(1)
 ROOT r = f32[100] reduce(x, i), dimensions={0}, to_apply=f })",
         Steps(2, 300'000));
  Counts(f + R"(ENTRY e { x = f32[300000] parameter(0)
 i = f32[] constant(1)
 ROOT r = f32[300000] reduce-window(x, i), window={size=3 pad=1_1}, to_apply=f })",
         Steps(2, 900'000));
  Counts(f + R"(ENTRY e { x = f32[1000] parameter(0)
 k = s32[300000,1] parameter(1)
 u = f32[300000] parameter(2)
 ROOT r = f32[1000] scatter(x, k, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f })",
         Steps(1, 300'000));
}

TEST_CASE("steps: reducers by every kernel", "[steps]") {
  for (const char* op : {"add", "multiply", "maximum", "minimum"}) {
    for (const char* type : {"f32", "s32", "f64", "bf16", "s8"}) {
      const std::string f = fmt::format(
          R"(f {{ a = {0}[] parameter(0)
 b = {0}[] parameter(1)
 ROOT c = {0}[] {1}(a, b) }}
)",
          type, op);
      for (const char* shape : {"[700,90]", "[90,700]"}) {
        Counts(fmt::format(R"({0}ENTRY e {{ x = {1}{2} parameter(0)
 i = {1}[] constant(1)
 ROOT r = {1}[] reduce(x, i), dimensions={{0,1}}, to_apply=f }})",
                           f, type, shape),
               Steps(2, 63'000));
      }
      Counts(fmt::format(R"({0}ENTRY e {{ x = {1}[700,90] parameter(0)
 i = {1}[] constant(1)
 ROOT r = {1}[90] reduce(x, i), dimensions={{0}}, to_apply=f }})",
                         f, type),
             Steps(2, 63'000));
      Counts(fmt::format(R"({0}ENTRY e {{ x = {1}[1000] parameter(0)
 i = {1}[] constant(1)
 ROOT r = {1}[1000] reduce-window(x, i), window={{size=1000 pad=999_0}}, to_apply=f }})",
                         f, type),
             Steps(2, 1'000'000));
    }
  }
}

TEST_CASE("steps: maps with constants, calls, maps and unread values", "[steps]") {
  const std::string g =
      R"(g { a = f32[] parameter(0)
 c = f32[] constant(2)
 ROOT s = f32[] multiply(a, c) }
)";
  Counts(g + R"(ENTRY e { x = f32[100000] parameter(0)
 ROOT z = f32[100000] map(x), dimensions={0}, to_apply=g })",
         Steps(1, 100'000));
  Counts(g + R"(f { a = f32[] parameter(0)
 b = f32[] parameter(1)
 m = f32[] map(a), dimensions={}, to_apply=g
 u = f32[] subtract(a, b)
 n = f32[] call(b), to_apply=g
 d = f32[] constant(3)
 p = f32[] add(m, d)
 ROOT s = f32[] exponential(p) }
ENTRY e { x = f32[1000,300] parameter(0)
 y = f32[1000,300] parameter(1)
 n = f32[1000,300] negate(x)
 z = f32[1000,300] map(n, y), dimensions={0,1}, to_apply=f
 ROOT w = f32[1000,300] abs(z) })",
         Steps(3, 900'000));
  Counts(
      R"(f { a = s8[] parameter(0)
 ROOT c = f64[] constant(2.5) }
ENTRY e { x = s8[9000] parameter(0)
 ROOT z = f64[9000] map(x), dimensions={0}, to_apply=f })",
      Steps(1, 9000));
  Counts(
      R"(f { a = s8[] parameter(0)
 ROOT b = s8[] parameter(1) }
ENTRY e { x = s8[9000] parameter(0)
 y = s8[9000] parameter(1)
 ROOT z = s8[9000] map(x, y), dimensions={0}, to_apply=f })",
      Steps(1, 9000));
}

TEST_CASE("steps: an unread call in a reducer does not make it run instruction by instruction", "[steps]") {
  Counts(
      R"(g { a = f32[] parameter(0)
 ROOT s = f32[] negate(a) }
f { a = f32[] parameter(0)
 b = f32[] parameter(1)
 u = f32[] call(a), to_apply=g
 ROOT s = f32[] subtract(a, b) }
ENTRY e { x = f32[8000] parameter(0)
 i = f32[] constant(1)
 ROOT r = f32[] reduce(x, i), dimensions={0}, to_apply=f })",
      Steps(2, 8000));
}

TEST_CASE("steps: a reducer that has to be interpreted counts as calls", "[steps]") {
  // 20 calls of f, each with 5 instructions; the reduce of 3 elements in it.
  Counts(
      R"(g { a = s32[] parameter(0)
 b = s32[] parameter(1)
 ROOT s = s32[] add(a, b) }
f { a = s32[] parameter(0)
 b = s32[] parameter(1)
 w = s32[3] broadcast(b), dimensions={}
 z = s32[] constant(0)
 r = s32[] reduce(w, z), dimensions={0}, to_apply=g
 ROOT s = s32[] add(a, r) }
ENTRY e { x = s32[20] parameter(0)
 i = s32[] constant(1)
 ROOT r = s32[] reduce(x, i), dimensions={0}, to_apply=f })",
      Steps(2, 20) + 20 * Steps(4, 3 + 3 + 1));
}

TEST_CASE("steps: sorts, dots, convolutions, transforms, solves", "[steps]") {
  const std::string less =
      R"(f { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = pred[] compare(a, b), direction=LT }
)";
  const std::string odd =
      R"(f { a = f32[] parameter(0)
 b = f32[] parameter(1)
 d = f32[] add(a, b)
 s = f32[] subtract(d, a)
 ROOT c = pred[] compare(a, s), direction=LT }
)";
  for (const std::string& f : {less, odd}) {
    Counts(f + R"(ENTRY e { x = f32[5,1000] parameter(0)
 ROOT r = f32[5,1000] sort(x), dimensions={1}, to_apply=f })",
           Steps(1, 5 * 1000 * 10));
  }
  for (const char* type : {"f32", "f64", "bf16", "s32", "s8"}) {
    for (int n : {20, 200}) {
      Counts(fmt::format(R"(ENTRY e {{ x = {0}[{1},30] parameter(0)
 y = {0}[30,{1}] parameter(1)
 ROOT r = {0}[{1},{1}] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}} }})",
                         type, n),
             Steps(1, int64_t{30} * n * n));
    }
    Counts(fmt::format(R"(ENTRY e {{ x = {0}[2,20,20,3] parameter(0)
 y = {0}[3,3,3,8] parameter(1)
 ROOT r = {0}[2,20,20,8] convolution(x, y), window={{size=3x3 pad=1_1x1_1}}, dim_labels=b01f_01io->b01f }})",
                       type),
           Steps(1, 2 * 20 * 20 * 8 * 9 * 3));
  }
  Counts(
      R"(ENTRY e { x = c64[10,1000] parameter(0)
 ROOT r = c64[10,1000] fft(x), fft_type=FFT, fft_length={1000} })",
      Steps(1, 10'000 * 10));
  Counts(
      R"(ENTRY e { x = f32[10,1000] parameter(0)
 ROOT r = c64[10,501] fft(x), fft_type=RFFT, fft_length={1000} })",
      Steps(1, 10'000 * 10));
  Counts(R"(ENTRY e { x = f64[3,30,30] parameter(0)
 ROOT r = f64[3,30,30] cholesky(x), lower=true })",
         Steps(1, 3 * 30 * 30 * 30));
  Counts(
      R"(ENTRY e { x = f64[3,30,30] parameter(0)
 y = f64[3,30,40] parameter(1)
 ROOT r = f64[3,30,40] triangular-solve(x, y), left_side=true, lower=true, transpose_a=NO_TRANSPOSE, unit_diagonal=false })",
      Steps(1, 3 * 30 * 40 * 30));
}

TEST_CASE("steps: moves, and fusions that read them twice", "[steps]") {
  Counts(
      R"(ENTRY e { x = f32[300,400] parameter(0)
 t = f32[400,300] transpose(x), dimensions={1,0}
 s = f32[100,300] slice(t), slice={[0:100], [0:300]}
 c = f32[] constant(2)
 b = f32[100,300] broadcast(c), dimensions={}
 m = f32[100,300] multiply(s, b)
 i = f32[100,300] iota(), iota_dimension=1
 a = f32[100,300] add(m, i)
 d = f32[100,300] divide(b, i)
 ROOT r = (f32[100,300], f32[100,300]) tuple(a, d) })",
      Steps(9, 120'000 + 6 * 30'000));
  Counts(
      R"(ENTRY e { x = f32[1000,40] parameter(0)
 k = s32[500,1] parameter(1)
 g = f32[500,40] gather(x, k), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,40}
 z = f32[] constant(0)
 p = f32[502,40] pad(g, z), padding=1_1x0_0
 ROOT r = f32[502,40] reverse(p), dimensions={0} })",
      Steps(4, 20'000 + 2 * 502 * 40));
}

TEST_CASE("steps: loops of scalars and of arrays", "[steps]") {
  // 1,000 iterations: 2 instructions and a comparison, then 4 and two elementwise ones.
  Counts(
      R"(c { s = (s32[], s32[]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 n = s32[] constant(1000)
 ROOT d = pred[] compare(i, n), direction=LT }
b { s = (s32[], s32[]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 k = s32[] get-tuple-element(s), index=1
 o = s32[] constant(1)
 j = s32[] add(i, o)
 l = s32[] add(k, j)
 ROOT t = (s32[], s32[]) tuple(j, l) }
ENTRY e { z = s32[] constant(0)
 t = (s32[], s32[]) tuple(z, z)
 ROOT w = (s32[], s32[]) while(t), condition=c, body=b })",
      Steps(3, 0) + 1001 * Steps(3, 1) + 1000 * Steps(6, 2));
  Counts(
      R"(c { s = (s32[], f32[5000]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 n = s32[] constant(10)
 ROOT d = pred[] compare(i, n), direction=LT }
h { x = f32[] parameter(0)
 k = f32[] constant(3)
 ROOT y = f32[] multiply(x, k) }
b { s = (s32[], f32[5000]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 x = f32[5000] get-tuple-element(s), index=1
 o = s32[] constant(1)
 j = s32[] add(i, o)
 y = f32[5000] map(x), dimensions={0}, to_apply=h
 ROOT t = (s32[], f32[5000]) tuple(j, y) }
ENTRY e { z = s32[] constant(0)
 x = f32[5000] parameter(0)
 t = (s32[], f32[5000]) tuple(z, x)
 ROOT w = (s32[], f32[5000]) while(t), condition=c, body=b })",
      Steps(3, 0) + 11 * Steps(3, 1) + 10 * Steps(6, 1 + 5000));
}

TEST_CASE("steps: what runs once a loop counts in every iteration; concatenates count what they read through",
          "[steps]") {
  Counts(
      R"(c { s = (s32[], f32[50,10]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 n = s32[] constant(10)
 ROOT d = pred[] compare(i, n), direction=LT }
b { s = (s32[], f32[50,10]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 x = f32[50,10] get-tuple-element(s), index=1
 o = s32[] constant(1)
 j = s32[] add(i, o)
 k = f32[50,5] iota(), iota_dimension=0
 p = f32[50,10] concatenate(k, k), dimensions={1}
 w = f32[50,10] sine(p)
 y = f32[50,10] multiply(x, w)
 ROOT t = (s32[], f32[50,10]) tuple(j, y) }
ENTRY e { z = s32[] constant(0)
 x = f32[50,10] parameter(0)
 t = (s32[], f32[50,10]) tuple(z, x)
 ROOT w = (s32[], f32[50,10]) while(t), condition=c, body=b })",
      Steps(3, 0) + 11 * Steps(3, 1) + 10 * Steps(9, 1 + 250 + 3 * 500));
  Counts(
      R"(ENTRY e { x = f32[4,30] parameter(0)
 a = f32[1,30] slice(x), slice={[0:1], [0:30]}
 b = f32[1,30] slice(x), slice={[2:3], [0:30]}
 c = f32[30] reshape(a)
 d = f32[30] reshape(b)
 ROOT r = f32[60] concatenate(c, d), dimensions={0} })",
      Steps(5, 30 + 30 + 60));
}

TEST_CASE("steps: plans of arrays that no machine holds", "[steps]") {
  // 2^60 elements by some hundreds of operations: no number of counts overflows (the sanitizer build looks).
  std::string f = R"(f { a = s8[] parameter(0)
 v0 = s8[] negate(a)
)";
  for (int i = 0; i < 300; ++i) f += fmt::format(" v{} = s8[] negate(v{})\n", i + 1, i);
  const Program program = ProgramOf("HloModule m\n" + f +
                                    R"( ROOT r = s8[] add(v300, a) }
ENTRY e { x = s8[1073741824,1073741824] parameter(0)
 ROOT r = s8[1073741824,1073741824] map(x), dimensions={0,1}, to_apply=f })");
  for (EngineChoice engine : {EngineChoice::kReference, EngineChoice::kExact})
    CHECK(program.PlanFor(EnginesOf(engine)).ok());
}

}  // namespace assay
