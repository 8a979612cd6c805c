// Compiled and interpreted computations of scalars.
#include "evaluator/scalar_function.h"

#include <catch2/catch.hpp>
#include <cstring>

#include "fmt/format.h"
#include "tests/run/program_testing.h"
#include "tests/run/run_text.h"

namespace assay {
namespace {

// The first computation of a module (by name "f") as a scalar function.
class Function {
 public:
  explicit Function(const std::string& computation) {
    plan_ = std::make_unique<Plan>(PlanOf(ProgramOf("HloModule m\n" + computation + R"(
ENTRY e {
  ROOT z = s32[] constant(0)
}
)")));
    executor_ = std::make_unique<Executor>(*plan_, RunOptions());
    const auto& computations = plan_->module->computations;
    for (size_t i = 0; i < computations.size(); ++i) {
      if (computations[i].name == "f") id_ = {static_cast<int32_t>(i)};
    }
    auto function = ScalarFunction::Make(*executor_, *plan_->module, id_, 0);
    REQUIRE(function.ok());
    function_ = *std::move(function);
  }

  ScalarFunction& operator*() { return *function_; }
  ScalarFunction* operator->() { return function_.get(); }
  bool IsSum() const { return IsExactSum(*plan_->module, id_); }

  // Of arrays of one length; the first result.
  Literal Apply(const std::vector<std::string>& arguments, const std::string& result_shape) {
    std::vector<Literal> values;
    std::vector<const std::byte*> in;
    std::vector<int64_t> in_strides;
    for (const std::string& argument : arguments) {
      values.push_back(Value(argument));
      in.push_back(values.back().data());
      in_strides.push_back(values.back().shape().rank() == 0 ? 0
                                                             : Bytes(values.back().shape().element_type()));
    }
    const absl::StatusOr<Shape> shape = ParseShape(result_shape);
    Literal result = *Literal::Make(*shape);
    std::byte* out = result.MutableBytes().data();
    const int64_t out_stride = Bytes(shape->element_type());
    CHECK(function_->Run(shape->num_elements(), in, in_strides, {&out, 1}, {&out_stride, 1}).ok());
    return result;
  }

 private:
  std::unique_ptr<Plan> plan_;
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<ScalarFunction> function_;
  ComputationId id_;
};

TEST_CASE("scalar function: a comparator over one and over many elements", "[scalar_function]") {
  Function f(
      R"(f {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT
}
)");
  CHECK(f->num_inputs() == 2);
  CHECK(f->output_type(0) == ElementType::kPred);
  CHECK(Literal::BitwiseEqual(f.Apply({"f32[1] {1}", "f32[1] {2}"}, "pred[1]"), Value("pred[1] {1}")));
  CHECK(Literal::BitwiseEqual(f.Apply({"f32[4] {1, 2, nan, -0.0}", "f32[] 0"}, "pred[4]"),
                              Value("pred[4] {0, 0, 0, 0}")));
  std::string many = "f32[600] {", want = "pred[600] {";
  for (int i = 0; i < 600; ++i) {
    many += std::to_string(i) + (i < 599 ? ", " : "}");
    want += std::string(i < 300 ? "1" : "0") + (i < 599 ? ", " : "}");
  }
  CHECK(Literal::BitwiseEqual(f.Apply({many, "f32[] 300"}, "pred[600]"), Value(want)));
}

TEST_CASE("scalar function: calls are inlined, tuples taken apart, constants kept", "[scalar_function]") {
  Function f(
      R"(g {
  t = (s32[], s32[]) parameter(0)
  u = s32[] get-tuple-element(t), index=0
  v = s32[] get-tuple-element(t), index=1
  ROOT d = s32[] subtract(u, v)
}
f {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  k = s32[] constant(10)
  m = s32[] multiply(b, k)
  t = (s32[], s32[]) tuple(a, m)
  c = s32[] call(t), to_apply=g
  ROOT r = (s32[], s32[]) tuple(c, a)
}
)");
  CHECK(f->num_outputs() == 2);
  const int32_t a[] = {100, 5}, b[] = {3, -1};
  int32_t first[2], second[2];
  const std::byte* in[] = {reinterpret_cast<const std::byte*>(a), reinterpret_cast<const std::byte*>(b)};
  std::byte* out[] = {reinterpret_cast<std::byte*>(first), reinterpret_cast<std::byte*>(second)};
  const int64_t strides[] = {4, 4};
  REQUIRE(f->Run(2, in, strides, out, strides).ok());
  CHECK(first[0] == 70);
  CHECK(first[1] == 15);
  CHECK(second[1] == 5);
}

TEST_CASE("scalar function: what is not elementwise is interpreted, with the same bits",
          "[scalar_function]") {
  Function f(
      R"(add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y)
}
f {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  w = f32[3] broadcast(a), dimensions={}
  ROOT r = f32[] reduce(w, b), dimensions={0}, to_apply=add
}
)");
  CHECK(Literal::BitwiseEqual(f.Apply({"f32[2] {1, 2}", "f32[2] {10, 20}"}, "f32[2]"),
                              Value("f32[2] {13, 26}")));
}

TEST_CASE("scalar function: a parameter handed through keeps its bits", "[scalar_function]") {
  Function f(R"(f {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] copy(b)
}
)");
  CHECK(f->passes_through() == 1);
  CHECK(Literal::BitwiseEqual(f.Apply({"f32[2] {1, 2}", "f32[2] {nan(0x1), -nan}"}, "f32[2]"),
                              Value("f32[2] {nan(0x1), -nan}")));
  Function g(R"(f {
  a = f32[] parameter(0)
  ROOT c = f32[] negate(a)
}
)");
  CHECK(g->passes_through() == -1);
}

TEST_CASE("scalar function: results may be written over inputs", "[scalar_function]") {
  Function f(
      R"(f {
  a = s8[] parameter(0)
  b = s8[] parameter(1)
  s = s8[] add(a, b)
  ROOT c = s8[] add(s, a)
}
)");
  int8_t a[] = {1, 2, 3, 100}, b[] = {1, 1, 1, 100};
  const std::byte* in[] = {reinterpret_cast<const std::byte*>(a), reinterpret_cast<const std::byte*>(b)};
  std::byte* out = reinterpret_cast<std::byte*>(a);
  const int64_t strides[] = {1, 1};
  REQUIRE(f->Run(4, in, strides, {&out, 1}, {strides, 1}).ok());
  CHECK(a[0] == 3);
  CHECK(a[2] == 7);
  CHECK(a[3] == 44);
}

TEST_CASE("exact sum: one add of the two parameters, of a floating or complex type", "[RED-1]") {
  const auto is_sum = [](const std::string& type, const std::string& root) {
    return Function(fmt::format(R"(f {{
  a = {0}[] parameter(0)
  b = {0}[] parameter(1)
  ROOT c = {0}[] {1}
}}
)",
                                type, root))
        .IsSum();
  };
  CHECK(is_sum("f32", "add(a, b)"));
  CHECK(is_sum("bf16", "add(b, a)"));
  CHECK(is_sum("c64", "add(a, b)"));
  CHECK_FALSE(is_sum("f32", "add(a, a)"));
  CHECK_FALSE(is_sum("f32", "subtract(a, b)"));
  CHECK_FALSE(is_sum("s32", "add(a, b)"));
  CHECK_FALSE(is_sum("pred", "add(a, b)"));
}

}  // namespace
}  // namespace assay
