// Kernels for GPUs of the user's own operations, on the emulated driver, against their kernels for the CPU.
// What such a kernel does to the device it does by the driver's own functions, as a library would.
#include "gpu/custom_step.h"

#include <dlfcn.h>

#include <catch2/catch.hpp>
#include <cstring>

#include "assay/op_library.h"
#include "custom/registry.h"
#include "fmt/format.h"
#include "gpu/driver/cuda_api.h"
#include "plan/plan_text.h"
#include "tests/run/program_testing.h"
#include "tests/run/run_text.h"

namespace assay::gpu {
namespace {

using Catch::Contains;

template <typename Fn>
Fn* Driver(const char* name) {
  void* const handle = dlopen(ASSAY_EMULATED_CUDA, RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Fn*>(dlsym(handle, name));
}

void CopyOnDevice(void* to, const void* from, int64_t bytes, void* stream) {
  const auto copy =
      Driver<cuda::Result(cuda::Address, cuda::Address, size_t, cuda::Stream)>("cuMemcpyDtoDAsync_v2");
  copy(reinterpret_cast<cuda::Address>(to), reinterpret_cast<cuda::Address>(from), static_cast<size_t>(bytes),
       static_cast<cuda::Stream>(stream));
}

void ZeroOnDevice(void* to, int64_t bytes, void* stream) {
  const auto set =
      Driver<cuda::Result(cuda::Address, unsigned char, size_t, cuda::Stream)>("cuMemsetD8Async");
  set(reinterpret_cast<cuda::Address>(to), 0, static_cast<size_t>(bytes), static_cast<cuda::Stream>(stream));
}

// The first `count` elements of x, then zeros; and count again, twice.
class FirstOnCpu : public op::Kernel {
 public:
  using Kernel::Kernel;
  void Compute(op::KernelContext* c) override {
    const op::Tensor x = c->input(0);
    const int32_t count = c->input(1).scalar<int32_t>();
    op::Tensor y, n;
    ASSAY_REQUIRES_OK(c, c->allocate_output(0, x.shape(), &y));
    ASSAY_REQUIRES_OK(c, c->allocate_output(1, op::TensorShape{2}, &n));
    const size_t bytes = x.type() == op::Type::kF64 ? 8 : 4;
    std::memset(y.data(), 0, bytes * static_cast<size_t>(x.num_elements()));
    std::memcpy(y.data(), x.data(), bytes * static_cast<size_t>(count));
    n.flat<int32_t>()[0] = n.flat<int32_t>()[1] = count;
  }
};

class FirstOnDevice : public op::Kernel {
 public:
  explicit FirstOnDevice(op::KernelConstruction* c) : Kernel(c) {
    ASSAY_REQUIRES_OK(c, c->GetAttr("fault", &fault_));
  }
  void Compute(op::KernelContext* c) override {
    const op::Tensor x = c->input(0);
    const int32_t count = c->input(1).scalar<int32_t>();  // in the host's memory
    ASSAY_REQUIRES(c, count <= x.num_elements(), op::InvalidArgument("count is ", count));
    op::Tensor y, n, kept;
    ASSAY_REQUIRES_OK(c, c->allocate_output(0, fault_ == "sizes" ? op::TensorShape{3} : x.shape(), &y));
    if (fault_ == "twice") ASSAY_REQUIRES_OK(c, c->allocate_output(0, x.shape(), &y));
    if (fault_ != "missing") ASSAY_REQUIRES_OK(c, c->allocate_output(1, op::TensorShape{2}, &n));
    if (fault_ == "no_such") ASSAY_REQUIRES_OK(c, c->allocate_output(2, op::TensorShape{2}, &n));
    if (fault_ == "temporary") ASSAY_REQUIRES_OK(c, c->allocate_temp(x.type(), op::TensorShape{-1}, &kept));
    ASSAY_REQUIRES_OK(c, c->allocate_temp(x.type(), x.shape(), &kept));
    CopyOnDevice(kept.data(), x.data(), 4 * count, c->cuda_stream());
    ZeroOnDevice(y.data(), 4 * x.num_elements(), c->cuda_stream());
    CopyOnDevice(y.data(), kept.data(), 4 * (fault_ == "wrong" ? count - 1 : count), c->cuda_stream());
    if (n.data() != nullptr) n.flat<int32_t>()[0] = n.flat<int32_t>()[1] = count;
  }

 private:
  std::string fault_;
};

std::shared_ptr<const CustomOps> Ops() {
  static custom::OpRegistry registry;
  static const absl::Status added = [] {
    const absl::StatusOr<custom::Registrations> registrations = custom::Collect([](const AssayRegistrar* r) {
      for (const char* const name : {"Test.First", "Test.FirstOnCpu"}) {
        op::OpBuilder(name)
            .Attr("T: {f32, s32, f64}")
            .Attr("fault: string = ''")
            .Input("x: T")
            .Input("count: s32")
            .Output("y: T")
            .Output("n: s32")
            .Tell(*r);
        op::Name(name).Device(op::kCpu).Tell<FirstOnCpu>(*r);
      }
      op::Name("Test.First")
          .Device(op::kCuda)
          .TypeConstraint<float, int32_t>("T")
          .HostMemory("count")
          .HostMemory("n")
          .Tell<FirstOnDevice>(*r);
    });
    return registrations.ok() ? registry.Add(*registrations).status() : registrations.status();
  }();
  INFO(added);
  REQUIRE(added.ok());
  return registry.ops();
}

std::span<const Engine* const> EmulatedEngines() {
  return EnginesOf(EngineChoice::kGpu, MachineIsa(), false,
                   {.driver = ASSAY_EMULATED_CUDA, .min_elements = 0});
}

// A call between two steps of the device.
Program CallOf(const std::string& op, const std::string& fault, const std::string& type = "f32") {
  absl::StatusOr<Program> program = Program::Load("program.hlo",
                                                  fmt::format(R"(HloModule m
ENTRY e {{
  x = {2}[2,3] parameter(0)
  count = s32[] parameter(1)
  a = {2}[2,3] add(x, x)
  r = ({2}[2,3], s32[2]) custom-call(a, count), custom_call_target="{0}", backend_config="{{fault = \"{1}\"}}"
  y = {2}[2,3] get-tuple-element(r), index=0
  n = s32[2] get-tuple-element(r), index=1
  s = {2}[2,3] negate(y)
  ROOT out = ({2}[2,3], {2}[2,3], s32[2]) tuple(s, y, n)
}}
)",
                                                              op, fault, type),
                                                  {.custom_ops = Ops()});
  INFO(program.status());
  REQUIRE(program.ok());
  return *std::move(program);
}

absl::StatusOr<Literal> RunOnDevice(const Program& program, int count,
                                    Crosscheck crosscheck = Crosscheck::kOff,
                                    const std::string& type = "f32") {
  return program.Run({Value(type + "[2,3] {{1, 2, 3}, {4, 5, 6}}"), Value(fmt::format("s32[] {}", count))},
                     {.crosscheck = crosscheck}, EmulatedEngines());
}

TEST_CASE("custom step: a kernel for GPUs is chosen, and its results stay on the device", "[gpu]") {
  for (const std::string type : {"f32", "s32"}) {
    const Program program = CallOf("Test.First", "", type);
    const std::string plan = PlanToText(PlanOf(program, EmulatedEngines()));
    INFO(plan);
    CHECK_THAT(plan,
               Contains("gpu") && Contains("Test.First: cuda, T in {f32, s32}, host memory for count, n"));
    for (const Crosscheck crosscheck : {Crosscheck::kOff, Crosscheck::kFull}) {
      const absl::StatusOr<Literal> found = RunOnDevice(program, 4, crosscheck, type);
      INFO(found.status());
      REQUIRE(found.ok());
      const auto is = [&](int64_t i, const std::string& value) {
        INFO(LiteralToText(found->element(i)) << ", wanted " << value);
        CHECK(Literal::BitwiseEqual(found->element(i), Value(value)));
      };
      // x twice, of which four stay; -0 where a float is negated.
      is(0,
         type == "f32" ? "f32[2,3] {{-2, -4, -6}, {-8, -0.0, -0.0}}" : "s32[2,3] {{-2, -4, -6}, {-8, 0, 0}}");
      is(1, type + "[2,3] {{2, 4, 6}, {8, 0, 0}}");
      is(2, "s32[2] {4, 4}");
    }
  }
}

TEST_CASE("custom step: other calls run on the CPU, and the plan says why", "[gpu]") {
  const auto plan = [](const std::string& op, const std::string& type) {
    return PlanToText(PlanOf(CallOf(op, "", type), EmulatedEngines()));
  };
  CHECK_THAT(plan("Test.First", "f64"), Contains("op Test.First has no kernel for GPUs that fits this call"));
  CHECK_THAT(plan("Test.FirstOnCpu", "f32"), Contains("op Test.FirstOnCpu has no kernel for GPUs"));
  const absl::StatusOr<Literal> found =
      RunOnDevice(CallOf("Test.First", "", "f64"), 2, Crosscheck::kFull, "f64");
  REQUIRE(found.ok());
  CHECK(Literal::BitwiseEqual(found->element(1), Value("f64[2,3] {{2, 4, 0}, {0, 0, 0}}")));
}

TEST_CASE("custom step: what a kernel does wrong ends the run", "[gpu]") {
  const auto error = [](const std::string& fault, int count = 4) {
    const absl::StatusOr<Literal> found = RunOnDevice(CallOf("Test.First", fault), count);
    CHECK(ExitCodeOf(found.status()) == 5);
    return std::string(found.status().message());
  };
  CHECK_THAT(error("", 7), Contains("op Test.First: count is 7"));
  CHECK_THAT(error("sizes"),
             Contains("op Test.First: output 0 is allocated with the sizes [3], the program says f32[2,3]"));
  CHECK_THAT(error("twice"), Contains("op Test.First: output 0 is allocated twice"));
  CHECK_THAT(error("missing"), Contains("op Test.First: output 1 was not allocated"));
  CHECK_THAT(error("no_such"), Contains("op Test.First: there is no output 2 to allocate"));
  CHECK_THAT(error("temporary"), Contains("op Test.First: temporary memory of f32[-1]"));
  const absl::StatusOr<Literal> wrong = RunOnDevice(CallOf("Test.First", "wrong"), 4, Crosscheck::kFull);
  CHECK(ExitCodeOf(wrong.status()) == 1);
  CHECK(RunOnDevice(CallOf("Test.First", "wrong"), 4).ok());
}

}  // namespace
}  // namespace assay::gpu
