// Programs by the engine "gpu" on the emulated driver, against the reference.
#include "gpu/gpu_engine.h"

#include <dlfcn.h>

#include <catch2/catch.hpp>

#include "fmt/format.h"
#include "gpu/kernels/images.h"
#include "tests/gpu/device_programs.h"

namespace assay::gpu {
namespace {

TEST_CASE("A fusion runs on the device, and its result is the reference's", "[gpu]") {
  const std::string plan = PlanOfEqualRun(R"(HloModule m
ENTRY e {
  x = f32[257,33] parameter(0)
  y = f32[33] parameter(1)
  e = f32[257,33] exponential(x)
  b = f32[257,33] broadcast(y), dimensions={1}
  s = f32[257,33] add(e, b)
  ROOT t = f32[257,33] tanh(s)
}
)");
  CHECK_THAT(plan, Catch::Contains("gpu        %t = f32[257,33] tanh"));
  CHECK_THAT(plan, Catch::Contains("[generated PTX]"));
  CHECK_THAT(plan, Catch::Contains("fused: %e %b %s"));
  CHECK_THAT(plan, Catch::Contains("to the device") && Catch::Contains("to the host"));
}

TEST_CASE("Values stay on the device between its steps", "[gpu]") {
  const Program program = ProgramOf(R"(HloModule m
ENTRY e {
  x = f32[64,32] parameter(0)
  a = f32[64,32] exponential(x)
  n = f32[64,32] negate(a)
  t = f32[64,32] multiply(a, n)
  ROOT r = (f32[64,32], f32[64,32]) tuple(t, a)
}
)");
  const Plan plan = PlanOf(program, Emulated());
  CHECK_THAT(PlanToText(plan), Catch::Contains("gpu        %a") && Catch::Contains("gpu        %t"));
  const std::vector<Literal> arguments = RandomInputs(program.verified(), 1).value();
  // x goes there once, t and a come back: no step between copies anything but the counters of open elements.
  if (!TestsEmulatedDriver()) return;
  const uint64_t before = CallsOf("cuMemcpyHtoDAsync_v2");
  CHECK(Executor(plan, {}).Run(arguments).ok());
  CHECK(CallsOf("cuMemcpyHtoDAsync_v2") == before + 1);
  CHECK(Executor(plan, {}).Run(arguments).ok());
  CHECK(CallsOf("cuMemcpyHtoDAsync_v2") == before + 1);  // it is there still
}

TEST_CASE("Small steps stay on the CPU, and the plan says why", "[gpu]") {
  const Plan plan = PlanOf(ProgramOf(R"(HloModule m
ENTRY e {
  x = f32[100] parameter(0)
  ROOT t = f32[100] tanh(x)
}
)"),
                           Emulated(101));
  CHECK_THAT(PlanToText(plan), Catch::Contains("(gpu: too few elements (100 < 101))"));
}

TEST_CASE("Without a driver every step is another engine's, and the plan says why", "[gpu]") {
  const Plan plan = PlanOf(ProgramOf(R"(HloModule m
ENTRY e {
  x = f32[100] parameter(0)
  ROOT t = f32[100] tanh(x)
}
)"),
                           EnginesOf(EngineChoice::kGpu, MachineIsa(), false,
                                     {.driver = "/nowhere/libcuda.so.1", .min_elements = 0}));
  CHECK_THAT(PlanToText(plan), Catch::Contains("(gpu: ") && Catch::Contains("/nowhere/libcuda.so.1"));
}

// Sets something of the emulated driver for as long as it lives (emulator/control.h).
class EmulatedSetting {
 public:
  EmulatedSetting(const char* name, const char* value) : name_(name) {
    void* const handle = dlopen(ASSAY_EMULATED_CUDA, RTLD_NOW | RTLD_LOCAL);
    REQUIRE(handle != nullptr);
    set_ = reinterpret_cast<bool (*)(const char*, const char*)>(dlsym(handle, "assay_emulated_set"));
    REQUIRE(set_ != nullptr);
    REQUIRE(set_(name, value));
  }
  ~EmulatedSetting() { set_(name_, nullptr); }
  EmulatedSetting(const EmulatedSetting&) = delete;
  EmulatedSetting& operator=(const EmulatedSetting&) = delete;

 private:
  const char* const name_;
  bool (*set_)(const char*, const char*) = nullptr;
};

TEST_CASE("A build without nvcc names the kernels that it lacks, and generates others", "[gpu][no_nvcc]") {
  if (!TestsEmulatedDriver() || !KernelImage("dot").empty()) {
    WARN("skipped: there are kernels in this build");
    return;
  }
  const EmulatedSetting setting("KERNELS", "0");
  const std::string plan = PlanOfEqualRun(R"(HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT, type=TOTALORDER
}
ENTRY e {
  x = f32[20,30] parameter(0)
  z = f32[] constant(0)
  d = f32[20,20] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  t = f32[20,20] tanh(d)
  o = f32[20,20] sort(t), dimensions={1}, to_apply=less
  r = f32[20] reduce(o, z), dimensions={1}, to_apply=add
  ROOT v = (f32[20,20], f32[20]) tuple(t, r)
}
)");
  CHECK_THAT(plan, Catch::Contains("gpu        %t"));
  for (const char* module : {"dot", "sort", "sum_lines"}) {
    CHECK_THAT(plan, Catch::Contains(
                         fmt::format("no CUDA kernels of {} in this build (built without nvcc)", module)));
  }
}

}  // namespace
}  // namespace assay::gpu
