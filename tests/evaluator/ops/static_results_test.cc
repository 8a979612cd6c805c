// A result that is declared static although its op makes it dynamic: an error that names the size where the
// value is smaller, whatever the op and the engine, and the value where it has the full size
// (decision static-result-size).
#include "tests/evaluator/ops/shape_testing.h"

namespace assay::testing {
namespace {

constexpr std::string_view kComputations = R"(
sum { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = f32[] add(a, b) }
less { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = pred[] compare(a, b), direction=LT }
ge { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = pred[] compare(a, b), direction=GE }
passed { ROOT a = f32[<=4,2] parameter(0) }
body { s = (f32[<=4,2], pred[]) parameter(0)
 a = f32[<=4,2] get-tuple-element(s), index=0
 no = pred[] constant(false)
 ROOT t = (f32[<=4,2], pred[]) tuple(a, no) }
condition { s = (f32[<=4,2], pred[]) parameter(0)
 ROOT p = pred[] get-tuple-element(s), index=1 }
)";

// x is f32[<=4,2], i s32[<=4], z, y and w are static, and p is true.
struct StaticResult {
  const char* op;
  const char* result;
};

std::vector<StaticResult> Elementwise() {
  std::vector<StaticResult> cases;
  for (const char* op : {"abs(x)",
                         "negate(x)",
                         "sign(x)",
                         "ceil(x)",
                         "floor(x)",
                         "round-nearest-afz(x)",
                         "round-nearest-even(x)",
                         "cbrt(x)",
                         "sqrt(x)",
                         "rsqrt(x)",
                         "exponential(x)",
                         "exponential-minus-one(x)",
                         "log(x)",
                         "log-plus-one(x)",
                         "logistic(x)",
                         "sine(x)",
                         "cosine(x)",
                         "tan(x)",
                         "sinh(x)",
                         "cosh(x)",
                         "tanh(x)",
                         "asin(x)",
                         "acos(x)",
                         "atanh(x)",
                         "asinh(x)",
                         "acosh(x)",
                         "erf(x)",
                         "copy(x)",
                         "add(x, x)",
                         "subtract(x, x)",
                         "multiply(x, x)",
                         "divide(x, x)",
                         "remainder(x, x)",
                         "power(x, x)",
                         "atan2(x, x)",
                         "maximum(x, x)",
                         "minimum(x, y)",
                         "clamp(x, x, x)",
                         "select(p, x, x)",
                         "real(x)",
                         "imag(x)",
                         "reduce-precision(x), exponent_bits=5, mantissa_bits=5",
                         "map(x, x), to_apply=sum",
                         "opt-barrier(x)",
                         "reverse(x), dimensions={0}",
                         "sort(x), dimensions={0}, to_apply=less",
                         "call(x), to_apply=passed",
                         "fusion(x), kind=kLoop, calls=passed",
                         "conditional(p, x, x), true_computation=passed, false_computation=passed",
                         "custom-call(x), custom_call_target=\"Sharding\"",
                         "get-tuple-element(pair), index=0",
                         "get-tuple-element(loop), index=0",
                         "slice(x), slice={[0:4], [0:2]}",
                         "dynamic-slice(x, one, one), dynamic_slice_sizes={4,2}",
                         "dynamic-update-slice(x, w, one, one)",
                         "bitcast(x)",
                         "add-dependency(x, after)"})
    cases.push_back({op, "f32[4,2]"});
  return cases;
}

std::vector<StaticResult> Others() {
  return {
      {"is-finite(x)", "pred[4,2]"},
      {"compare(x, x), direction=LT", "pred[4,2]"},
      {"convert(x)", "s8[4,2]"},
      {"bitcast-convert(x)", "s32[4,2]"},
      {"bitcast-convert(x)", "u8[4,2,4]"},
      {"complex(x, x)", "c64[4,2]"},
      {"not(i)", "s32[4]"},
      {"and(i, i)", "s32[4]"},
      {"popcnt(i)", "s32[4]"},
      {"count-leading-zeros(i)", "s32[4]"},
      {"shift-left(i, i)", "s32[4]"},
      {"broadcast(x), dimensions={1,0}", "f32[2,4]"},
      {"transpose(x), dimensions={1,0}", "f32[2,4]"},
      {"reshape(x)", "f32[2,2,2]"},
      {"reshape(x)", "f32[8]"},
      {"slice(x), slice={[1:4], [0:2]}", "f32[3,2]"},
      {"slice(x), slice={[0:4:2], [0:2]}", "f32[2,2]"},
      {"pad(x, z), padding=1_2x0_0", "f32[7,2]"},
      {"concatenate(x, x), dimensions={0}", "f32[8,2]"},
      {"concatenate(x, x), dimensions={1}", "f32[4,4]"},
      {"gather(w, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, "
       "slice_sizes={1,2}",
       "f32[4,2]"},
      {"scatter(x, zero, w), update_window_dims={0,1}, inserted_window_dims={}, "
       "scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=sum",
       "f32[4,2]"},
      {"reduce(x, z), dimensions={1}, to_apply=sum", "f32[4]"},
      {"reduce-window(x, z), window={size=2x1}, to_apply=sum", "f32[3,2]"},
      {"select-and-scatter(x, x, z), window={size=1x1}, select=ge, scatter=sum", "f32[4,2]"},
      {"dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}", "f32[4,4]"},
      {"convolution(x, kernel), dim_labels=bf_io->bf", "f32[4,3]"},
      {"fft(c), fft_type=FFT, fft_length={2}", "c64[4,2]"},
      {"cholesky(m), lower=true", "f32[4,1,1]"},
      {"triangular-solve(m, m), left_side=true, lower=true, transpose_a=NO_TRANSPOSE", "f32[4,1,1]"},
      {"batch-norm-inference(x, v, v, v, v), epsilon=1, feature_index=1", "f32[4,2]"},
      {"set-dimension-size(x, two), dimensions={1}", "f32[4,<=2]"},
  };
}

std::string TextOf(const StaticResult& c) {
  return fmt::format(R"(HloModule m
{}ENTRY e {{
 x = f32[<=4,2] parameter(0)
 i = s32[<=4] parameter(1)
 z = f32[] constant(0)
 y = f32[4,2] constant({{{{1,2}},{{3,4}},{{5,6}},{{7,8}}}})
 w = f32[4,2] constant({{{{1,2}},{{3,4}},{{5,6}},{{7,8}}}})
 v = f32[2] constant({{1,1}})
 kernel = f32[2,3] constant({{{{1,2,3}},{{4,5,6}}}})
 p = pred[] constant(true)
 one = s32[] constant(1)
 two = s32[] constant(2)
 zero = s32[1] constant({{0}})
 after = token[] after-all()
 pair = (f32[<=4,2], s32[]) tuple(x, one)
 state = (f32[<=4,2], pred[]) tuple(x, p)
 loop = (f32[<=4,2], pred[]) while(state), condition=condition, body=body
 c = c64[<=4,2] complex(x, x)
 part = f32[<=4,1] slice(x), slice={{[0:4], [1:2]}}
 m = f32[<=4,1,1] reshape(part)
 ROOT r = {} {}
}})",
                     kComputations, c.result, c.op);
}

Literal WithSize(ElementType type, Index bounds, int64_t size) {
  Shape shape = Shape::ArrayOrDie(type, bounds);
  shape.set_dynamic(0, true);
  std::vector<int64_t> values(static_cast<size_t>(shape.num_elements()), 0);
  for (int64_t k = 0; k < size * shape.num_elements() / 4; ++k) values[static_cast<size_t>(k)] = k + 1;
  Literal literal = Literal::FromInts(ElementType::kS32, bounds, values);
  if (type == ElementType::kF32) {
    literal = Literal::FromDoubles(type, bounds, std::vector<double>(values.begin(), values.end()));
  }
  literal = literal.WithShape(std::make_shared<const Shape>(shape));
  literal.set_dynamic_size(0, size);
  return literal;
}

TEST_CASE("declared static: a smaller result is an error of every op and engine", "[dynamic]") {
  std::vector<StaticResult> cases = Elementwise();
  for (const StaticResult& c : Others()) cases.push_back(c);
  for (const StaticResult& c : cases) {
    INFO(c.result << " " << c.op);
    const auto program = Program::Load("static.hlo", TextOf(c));
    if (!program.ok()) FAIL(std::string(program.status().message()));
    for (EngineChoice engines : {EngineChoice::kReference, EngineChoice::kExact, EngineChoice::kFast}) {
      for (int64_t size : {0, 2, 4}) {
        const auto result =
            program->Run({WithSize(ElementType::kF32, {4, 2}, size), WithSize(ElementType::kS32, {4}, size)},
                         {.jobs = 1, .crosscheck = Crosscheck::kFull}, EnginesOf(engines));
        INFO(Name(engines) << ", size " << size << ": " << std::string(result.status().message()));
        if (size == 4) {
          CHECK(result.ok());
          if (result.ok()) CHECK(result->runtime_sizes()[0] == result->shape().size(0));
          continue;
        }
        CHECK(result.status().code() == absl::StatusCode::kFailedPrecondition);
        CHECK(std::string(result.status().message()).find("static and has size") != std::string::npos);
      }
    }
  }
}

}  // namespace
}  // namespace assay::testing
