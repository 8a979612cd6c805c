// Registering in C++, and what a registry does with it: all or nothing, and programs keep what they were
// given. Operations from libraries are tested from outside (tests/tools/cli_ops_test.py).
#include "custom/registry.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "assay/op_library.h"
#include "base/guard_pages.h"
#include "builder/builder.h"
#include "custom/gradient_program.h"
#include "run/program.h"
#include "shape/shape_text.h"

namespace assay::custom {
namespace {

using Catch::Contains;

std::string MessageOf(const absl::Status& status) { return std::string(status.message()); }

// y = x + amount.
class Shifted : public op::Kernel {
 public:
  explicit Shifted(op::KernelConstruction* c) : Kernel(c) {
    ASSAY_REQUIRES_OK(c, c->GetAttr("amount", &amount_));
  }
  void Compute(op::KernelContext* c) override {
    const op::Tensor x = c->input(0);
    op::Tensor y;
    ASSAY_REQUIRES_OK(c, c->allocate_output(0, x.shape(), &y));
    for (int64_t i = 0; i < x.num_elements(); ++i) y.flat<float>()[i] = x.flat<float>()[i] + amount_;
  }

 private:
  float amount_ = 0;
};

void TellShifted(const AssayRegistrar* registrar) {
  op::OpBuilder("Test.Shifted")
      .Attr("amount: float = 1")
      .Input("x: f32")
      .Output("y: f32")
      .SetShapeFn(op::UnchangedShape)
      .Tell(*registrar);
  op::Name("Test.Shifted").Device(op::kCpu).Tell<Shifted>(*registrar);
}

absl::StatusOr<std::vector<std::string>> Add(OpRegistry& registry,
                                             const std::function<void(const AssayRegistrar*)>& tell) {
  absl::StatusOr<Registrations> registrations = Collect(tell);
  if (!registrations.ok()) return registrations.status();
  return registry.Add(*registrations);
}

TEST_CASE("registry: the same again changes nothing, another interface is refused",
          "[custom][registry][OP-2]") {
  OpRegistry registry;
  CHECK(*Add(registry, TellShifted) == std::vector<std::string>{"Test.Shifted"});
  const auto again = [](const AssayRegistrar* registrar) {
    op::OpBuilder("Test.Shifted")
        .Attr("amount: float = 1")
        .Input("x: f32")
        .Output("y: f32")
        .Doc("Other words.")
        .Tell(*registrar);
  };
  CHECK(Add(registry, again)->empty());
  const auto other = [](const AssayRegistrar* registrar) {
    op::OpBuilder("Test.New").Input("x: f32").Output("y: f32").Tell(*registrar);
    op::OpBuilder("Test.Shifted").Input("x: f32").Output("y: f32").Tell(*registrar);
  };
  CHECK_THAT(MessageOf(Add(registry, other).status()), Contains("op Test.Shifted is registered already"));
  CHECK(registry.ops()->FindOp("Test.New") == nullptr);  // all or nothing
  // Names of targets that everybody knows have no prefix, and so can't be taken.
  const auto taken = [](const AssayRegistrar* registrar) {
    op::OpBuilder("TopK").Input("x: f32").Output("y: f32").Tell(*registrar);
  };
  CHECK_THAT(MessageOf(Add(registry, taken).status()), Contains("op TopK: the name 'TopK' has no prefix"));
}

TEST_CASE("registry: kernels and gradients are of operations that are there", "[custom][registry][KERN-2]") {
  OpRegistry registry;
  const auto error = [&](const std::function<void(const AssayRegistrar*)>& tell) {
    return MessageOf(Add(registry, tell).status());
  };
  CHECK_THAT(error([](const AssayRegistrar* r) { op::Name("Test.None").Tell<Shifted>(*r); }),
             Contains("kernel of op Test.None: no such op"));
  REQUIRE(Add(registry, TellShifted).ok());
  CHECK_THAT(error([](const AssayRegistrar* r) {
               op::Name("Test.Shifted").TypeConstraint<float>("amount").Tell<Shifted>(*r);
             }),
             Contains("'amount' is not an attribute of a type"));
  CHECK_THAT(error([](const AssayRegistrar* r) {
               op::OpBuilder("Test.Typed").Attr("T: {f32, f64}").Input("x: T").Output("y: T").Tell(*r);
               op::Name("Test.Typed").TypeConstraint<int32_t>("T").Tell<Shifted>(*r);
             }),
             Contains("kernel of op Test.Typed: attr 'T' can't be s32: T: {f32, f64}"));
  CHECK_THAT(
      error([](const AssayRegistrar* r) {
        op::Name("Test.Shifted").Label("host").HostMemory("x").HostMemory("z").Tell<Shifted>(*r);
      }),
      Contains("kernel of op Test.Shifted: host memory for 'z', which is neither an input nor an output"));
  const auto zero = [](const AssayRegistrar* r) { op::TellGradient(*r, "Test.Shifted", nullptr); };
  CHECK(Add(registry, zero).ok());
  CHECK_THAT(error(zero), Contains("gradient of op Test.Shifted is registered already"));
  CHECK_THAT(error([](const AssayRegistrar* r) {
               AssayKernel kernel = {};
               kernel.size = sizeof(kernel);
               kernel.op = {"Test.Shifted", 12};
               r->kernel(r->self, &kernel);
             }),
             Contains("a function is missing"));
  CHECK_THAT(error([](const AssayRegistrar*) { throw std::runtime_error("half-way"); }),
             Contains("threw while it registered: half-way"));
  CHECK(registry.ops()->FindOp("Test.Shifted")->kernels().size() == 1);
}

// A library that was built for an older interface has shorter structures:
// what lies behind their end is not read.
TEST_CASE("registry: a shorter structure leaves the rest zero", "[custom][registry][LIB-3]") {
  const auto tell = [](size_t size) {
    return [size](const AssayRegistrar* registrar) {
      const AssayText output = {"y: f32", 6};
      AssayOp op = {};
      op.size = size;
      op.name = {"Test.Short", 10};
      op.outputs = &output, op.num_outputs = 1;
      op.composite = {"no_namespace", 12};
      registrar->op(registrar->self, &op);
    };
  };
  OpRegistry registry;
  CHECK_THAT(MessageOf(Add(registry, tell(sizeof(AssayOp))).status()), Contains("composite 'no_namespace'"));
  REQUIRE(Add(registry, tell(offsetof(AssayOp, composite))).ok());
  CHECK(registry.ops()->FindOp("Test.Short")->interface().composite.empty());
}

TEST_CASE("registry: programs made by the builder call operations", "[custom][registry]") {
  OpRegistry registry;
  REQUIRE(Add(registry, TellShifted).ok());
  const Shape shape = *ParseShape("f32[3]");
  builder::XlaBuilder b("shifted");
  b.SetCustomOps(registry.ops());
  const builder::XlaOp x = builder::Parameter(&b, 0, shape, "x");
  builder::CustomCall(&b, "Test.Shifted", {x}, shape, "{amount = 2.5 : f32}", false, {}, nullptr,
                      builder::CustomCallSchedule::kNone, builder::CustomCallApiVersion::kTypedFfi);
  const absl::StatusOr<builder::XlaComputation> computation = b.Build();
  REQUIRE(computation.ok());
  const Program program(computation->verified());
  const int64_t sizes[] = {3};
  const double values[] = {1, 2, 4}, wanted[] = {3.5, 4.5, 6.5};
  const absl::StatusOr<Literal> y = program.Run({Literal::FromDoubles(ElementType::kF32, sizes, values)});
  REQUIRE(y.ok());
  CHECK(Literal::BitwiseEqual(*y, Literal::FromDoubles(ElementType::kF32, sizes, wanted)));

  // The shape function is asked as the call is added.
  const builder::XlaOp again = builder::Parameter(&b, 0, shape, "x");
  builder::CustomCall(&b, "Test.Shifted", {again}, *ParseShape("f32[4]"), "", false, {}, nullptr,
                      builder::CustomCallSchedule::kNone, builder::CustomCallApiVersion::kTypedFfi);
  CHECK_THAT(MessageOf(b.Build().status()),
             Contains("op Test.Shifted: output 0 has the shape [3], the program says f32[4]"));
}

TEST_CASE("registry: a program keeps the operations that it was given", "[custom][registry]") {
  OpRegistry registry;
  const std::string text = R"(HloModule m
ENTRY e {
  x = f32[1] constant({1})
  ROOT r = f32[1] custom-call(x), custom_call_target="Test.Shifted"
}
)";
  const absl::StatusOr<Program> before = Program::Load("m.hlo", text, {.custom_ops = registry.ops()});
  REQUIRE(before.ok());  // its shape is trusted
  REQUIRE(Add(registry, TellShifted).ok());
  CHECK(before->Run({}).status().code() == absl::StatusCode::kUnimplemented);
  const absl::StatusOr<Program> after = Program::Load("m.hlo", text, {.custom_ops = registry.ops()});
  REQUIRE(after.ok());
  CHECK(after->Run({})->GetDouble(0) == 2);
}

// Fills its output, and writes one more where it is told to.
class Overrunning : public op::Kernel {
 public:
  explicit Overrunning(op::KernelConstruction* c) : Kernel(c) {
    ASSAY_REQUIRES_OK(c, c->GetAttr("more", &more_));
  }
  void Compute(op::KernelContext* c) override {
    op::Tensor y;
    ASSAY_REQUIRES_OK(c, c->allocate_output(0, c->input(0).shape(), &y));
    float* const elements = y.flat<float>().data();
    for (int64_t i = 0; i < y.num_elements() + more_; ++i) elements[i] = 1;
  }

 private:
  int64_t more_ = 0;
};

// How a process ends that runs it with all arrays guarded.
int EndOfOverrunning(int more) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGSEGV, SIG_DFL);
    OpRegistry registry;
    const auto added = Add(registry, [](const AssayRegistrar* r) {
      op::OpBuilder("Test.Overrunning").Attr("more: int = 0").Input("x: f32").Output("y: f32").Tell(*r);
      op::Name("Test.Overrunning").Device(op::kCpu).Tell<Overrunning>(*r);
    });
    const std::string text =
        "HloModule m\nENTRY e {\n  x = f32[1024] parameter(0)\n  ROOT r = f32[1024] custom-call(x), "
        "custom_call_target=\"Test.Overrunning\", backend_config=\"{more = " +
        std::to_string(more) + " : i64}\"\n}\n";
    const GuardedArrays guarded(ArrayGuard::kBehind);
    const absl::StatusOr<Program> program = Program::Load("m.hlo", text, {.custom_ops = registry.ops()});
    if (!added.ok() || !program.ok()) _exit(2);
    const int64_t sizes[] = {1024};
    const std::vector<double> values(1024, 2.0);
    RunOptions options;
    options.jobs = 1;  // a child process has no other thread
    _exit(program->Run({Literal::FromDoubles(ElementType::kF32, sizes, values)}, options).ok() ? 0 : 3);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST_CASE("registry: guarded arrays see a kernel that writes past its output", "[custom][registry]") {
  const int fine = EndOfOverrunning(0), over = EndOfOverrunning(1);
  CHECK((WIFEXITED(fine) && WEXITSTATUS(fine) == 0));
  CHECK((WIFSIGNALED(over) && WTERMSIG(over) == SIGSEGV));
}

TEST_CASE("registry: what a gradient adds is checked", "[custom][gradient]") {
  OpRegistry registry;
  REQUIRE(Add(registry, TellShifted).ok());
  const Shape shape = *ParseShape("f32[2]");
  const Shape* const operands[] = {&shape};
  const Instruction call(Opcode::kCustomCall);
  const auto gradient = [&](op::GradientFn fn) -> absl::StatusOr<std::string> {
    OpRegistry own;
    REQUIRE(Add(own, TellShifted).ok());
    REQUIRE(Add(own, [&](const AssayRegistrar* r) { op::TellGradient(*r, "Test.Shifted", fn); }).ok());
    return GradientProgram(*own.ops()->FindOp("Test.Shifted"), call, operands, {&shape, 1});
  };
  CHECK_THAT(
      MessageOf(
          GradientProgram(*registry.ops()->FindOp("Test.Shifted"), call, operands, {&shape, 1}).status()),
      Contains("op Test.Shifted has registered no gradient"));
  CHECK_THAT(*gradient(nullptr),
             Contains("ROOT gradients = tuple(v4)"));  // zeros: v3 = 0, v4 = broadcast(v3)
  CHECK_THAT(*gradient([](op::GradContext* c) { return c->set_gradient(0, c->grad(0)), op::Ok(); }),
             Contains("ROOT gradients = tuple(v2)"));
  CHECK_THAT(MessageOf(gradient([](op::GradContext* c) {
                         return c->Add("nonsense", {c->grad(0)}), op::Ok();
                       }).status()),
             Contains("gradient of op Test.Shifted: 'v3 = nonsense(v2)'"));
  CHECK_THAT(MessageOf(gradient([](op::GradContext* c) {
                         return c->set_gradient(0, c->Slice(c->grad(0), {0}, {1})), op::Ok();
                       }).status()),
             Contains("that of input 0 is f32[1]"));
  CHECK_THAT(MessageOf(gradient([](op::GradContext*) { return op::Unimplemented("not yet"); }).status()),
             Contains("not yet"));
  CHECK_THAT(MessageOf(gradient([](op::GradContext* c) { return c->Negate(op::Op()), op::Ok(); }).status()),
             Contains("operand 0 of negate is not an instruction"));
}

}  // namespace
}  // namespace assay::custom
