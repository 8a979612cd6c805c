// Every call of the driver fails once in a run of a program: the run has the values that it has without
// failure, as the CPU took the step, or ends with an error; and nothing is left on the device.
#include <dlfcn.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "gpu/driver/device.h"
#include "run/inputs/random_inputs.h"
#include "tests/run/program_testing.h"

namespace assay::gpu {
namespace {

std::string TextOf(const std::string& program) {
  std::ostringstream text;
  text << std::ifstream(std::string(ASSAY_SOURCE_DIR) + "/golden/programs/" + program + "/program.hlo")
              .rdbuf();
  return text.str();
}

// The control interface of the driver that the engine opens (emulator/control.h).
class EmulatedDriver {
 public:
  EmulatedDriver() : handle_(dlopen(ASSAY_EMULATED_CUDA, RTLD_NOW | RTLD_LOCAL)) {
    REQUIRE(handle_ != nullptr);
    Find("assay_emulated_set", &set_);
    Find("assay_emulated_calls", &calls_);
    Find("assay_emulated_live", &live_);
  }
  void Fail(uint64_t call, int error) {
    set_("FAIL", nullptr);
    set_("FAIL", ("*:" + std::to_string(call) + ":" + std::to_string(error)).c_str());
  }
  void FailNothing() { set_("FAIL", nullptr); }
  uint64_t calls() { return calls_("*"); }
  // What was given back is taken back when the stream is waited for;
  // the first call may give an error that nobody was told.
  uint64_t live_memory() {
    const std::shared_ptr<Device> device = Device::Open(ASSAY_EMULATED_CUDA).value();
    if (!device->Synchronize().ok()) device->Synchronize().IgnoreError();
    return live_("memory");
  }

 private:
  template <typename Function>
  void Find(const char* name, Function* function) {
    *function = reinterpret_cast<Function>(dlsym(handle_, name));
    REQUIRE(*function != nullptr);
  }

  void* const handle_;
  bool (*set_)(const char*, const char*) = nullptr;
  uint64_t (*calls_)(const char*) = nullptr;
  uint64_t (*live_)(const char*) = nullptr;
};

std::span<const Engine* const> Engines(int64_t residues_from) {
  return EnginesOf(EngineChoice::kGpu, MachineIsa(), false,
                   {.driver = ASSAY_EMULATED_CUDA, .min_elements = 0, .residues_from = residues_from});
}

// CUDA's numbers of an error that says that memory ended, and of one that says nothing of the kind.
constexpr int kOutOfMemory = 2, kInvalidValue = 1;

struct Failures {
  int64_t same = 0, errors = 0;
};

// At most about so many of the calls.
Failures FailEach(const std::string& text, uint64_t most, std::vector<Literal> arguments = {},
                  int64_t residues_from = -1) {
  EmulatedDriver emulated;
  const Program program = ProgramOf(text);
  if (arguments.empty()) arguments = RandomInputs(program.verified(), 1).value();
  const auto run = [&]() -> absl::StatusOr<Literal> {
    // Arguments keep their copies on the device: each run has its own.
    std::vector<Literal> own;
    for (const Literal& argument : arguments) {
      own.push_back(argument);
      if (!argument.shape().IsTuple()) own.back().MutableBytes();
    }
    // Constants stay on the device as long as the program: each run has its own.
    ASSAY_ASSIGN_OR_RETURN(const Program loaded, Program::Load("program.hlo", text));
    return loaded.Run(std::move(own), {}, Engines(residues_from));
  };
  const absl::StatusOr<Literal> wanted = program.Run(arguments, {}, EnginesOf(EngineChoice::kExact));
  REQUIRE(wanted.ok());
  emulated.FailNothing();
  uint64_t lost = emulated.live_memory();  // what the driver would not take back, in this process
  const uint64_t before = emulated.calls();
  {
    const absl::StatusOr<Literal> found = run();
    INFO(found.status());
    REQUIRE(found.ok());
    REQUIRE(Literal::BitwiseEqual(*wanted, *found));
  }
  const uint64_t calls = emulated.calls() - before;
  REQUIRE(calls > 4);
  CHECK(emulated.live_memory() == lost);
  Failures failures;
  const uint64_t step = std::max<uint64_t>(1, calls / most);
  for (uint64_t call = 1; call <= calls; call += step) {
    for (const int error : {kOutOfMemory, kInvalidValue}) {
      emulated.Fail(call, error);
      absl::StatusOr<Literal> result = run();
      emulated.FailNothing();
      INFO("call " << call << " of " << calls << " gives error " << error << ": " << result.status());
      const std::string message(result.status().message());
      if (result.ok()) {
        ++failures.same;
        CHECK(Literal::BitwiseEqual(*wanted, *result));
      } else {
        ++failures.errors;
        CHECK_THAT(message, Catch::Contains("emulated error"));
        CHECK((ExitCodeOf(result.status()) == 4 || ExitCodeOf(result.status()) == 5));
      }
      // A result keeps its copy on the device. What the driver would not take back,
      // in the one call that failed, is lost.
      result = absl::CancelledError("");
      const uint64_t live = emulated.live_memory();
      CHECK(live - lost <= 1);
      lost = live;
    }
  }
  return failures;
}

TEST_CASE("Each call of the driver fails once in a small program", "[gpu][failures]") {
  const Failures failures = FailEach(R"(HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  x = f32[40,50] parameter(0)
  y = f32[50,30] parameter(1)
  z = f32[] constant(0)
  d = f32[40,30] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[40,30] tanh(d)
  r = f32[30] reduce(t, z), dimensions={0}, to_apply=sum
  v = f32[30,40] transpose(t), dimensions={1,0}
  ROOT o = (f32[30], f32[30,40]) tuple(r, v)
}
)",
                                     40);
  CHECK(failures.same > 0);
  CHECK(failures.errors > 0);
}

// Sums, prefixes, a sort, a gather and a scatter.
constexpr const char* kMemoryBound = R"(HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=GE, type=TOTALORDER
}
ENTRY e {
  x = f32[2,40] parameter(0)
  i = s32[9] parameter(1)
  z = f32[] constant(0)
  c = f32[2,40] reduce-window(x, z), window={size=1x40 pad=0_0x39_0}, to_apply=sum
  o = f32[2,40] sort(c), dimensions={1}, is_stable=true, to_apply=less
  g = f32[9,40] gather(o, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1,
    slice_sizes={1,40}
  r = f32[9] reduce(g, z), dimensions={1}, to_apply=sum
  u = f32[40] reduce(g, z), dimensions={0}, to_apply=sum
  j = s32[9,1] reshape(i)
  a = f32[2,40] scatter(x, j, g), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0},
    index_vector_dim=1, to_apply=sum
  ROOT t = (f32[9], f32[40], f32[2,40]) tuple(r, u, a)
}
)";

TEST_CASE("Each call of the driver fails once in sums, prefixes, sorts and gathers", "[gpu][failures]") {
  const Failures failures = FailEach(kMemoryBound, 8);
  CHECK(failures.same > 0);
  CHECK(failures.errors > 0);
}

// The second dot reads what was kept of w for the first; that of integers multiplies bytes.
constexpr const char* kResidueDots = R"(HloModule m
ENTRY e {
  x = f32[20,30] parameter(0)
  w = f32[30,30] parameter(1)
  i = s16[9,30] parameter(2)
  d = f32[20,30] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  f = f32[20,30] dot(d, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  c = f64[20,30] convert(f)
  h = f64[20,20] dot(c, c), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  p = s64[9,9] dot(i, i), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  ROOT t = (f64[20,20], s64[9,9]) tuple(h, p)
}
)";
TEST_CASE("Calls of the driver fail in dots by residues", "[gpu][failures][residues]") {
  const Failures failures = FailEach(kResidueDots, 8, {}, 0);
  CHECK(failures.same + failures.errors > 8);
}

// assay_gpu_tests "[all-failures]": minutes.
TEST_CASE("Each call of the driver fails once in memory-bound steps", "[.all-failures]") {
  FailEach(kMemoryBound, 100000);
}
TEST_CASE("Each call of the driver fails once in dots by residues", "[.all-failures][residues]") {
  FailEach(kResidueDots, 100000, {}, 0);
}
// From the fourth iteration or so on these launch a graph.
TEST_CASE("Each call of the driver fails once in a loop of graphs", "[.all-failures]") {
  const Failures failures = FailEach(R"(HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
body {
  p = (s32[], f32[8,10], f32[10,10]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[8,10] get-tuple-element(p), index=1
  w = f32[10,10] get-tuple-element(p), index=2
  one = s32[] constant(1)
  n = s32[] add(i, one)
  d = f32[8,10] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[8,10] tanh(d)
  z = f32[] constant(0)
  r = f32[8] reduce(t, z), dimensions={1}, to_apply=sum
  b = f32[8,10] broadcast(r), dimensions={0}
  y = f32[8,10] subtract(t, b)
  ROOT q = (s32[], f32[8,10], f32[10,10]) tuple(n, y, w)
}
condition {
  p = (s32[], f32[8,10], f32[10,10]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  m = s32[] constant(12)
  ROOT c = pred[] compare(i, m), direction=LT
}
ENTRY e {
  x = f32[8,10] parameter(0)
  w = f32[10,10] parameter(1)
  zero = s32[] constant(0)
  t = (s32[], f32[8,10], f32[10,10]) tuple(zero, x, w)
  l = (s32[], f32[8,10], f32[10,10]) while(t), condition=condition, body=body
  ROOT r = f32[8,10] get-tuple-element(l), index=1
}
)",
                                     100000);
  CHECK(failures.errors > 0);
}

// Between a tenth of a second and some seconds a run: a few calls of each.
void FailInPrograms(std::initializer_list<const char*> programs, uint64_t most) {
  for (const std::string program : programs) {
    INFO(program);
    const std::string text = TextOf(program);
    REQUIRE(!text.empty());
    // Newton's method ends where its residual is below 1e-14, which that of a large number never is.
    std::vector<Literal> arguments;
    if (program == "newton_while")
      arguments.push_back(Literal::FromDoubles(ElementType::kF64, {}, std::vector<double>{2}));
    FailEach(text, most, std::move(arguments));
  }
}

TEST_CASE("Calls of the driver fail in real programs", "[gpu][failures]") {
  FailInPrograms({"branches", "fp8_quantised_dot", "softmax"}, 2);
}

TEST_CASE("Calls of the driver fail in each real program", "[.all-failures]") {
  FailInPrograms({"attention_bf16", "beam_search_step", "branches", "embedding_update", "fft_convolve",
                  "fp8_quantised_dot", "gru_scan", "int8_matmul", "mlp_train_step", "newton_while",
                  "random_draws", "resnet_block", "softmax", "spd_solve", "tiny_gpt_train_step"},
                 4);
}

}  // namespace
}  // namespace assay::gpu
