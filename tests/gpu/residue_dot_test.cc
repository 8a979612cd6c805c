// Dots and convolutions by residues, by the engine "gpu" on the emulated driver.
#include "gpu/residue_dot.h"

#include <unistd.h>

#include <filesystem>

#include "fmt/format.h"
#include "gpu/residue_systems.h"
#include "tests/gpu/device_programs.h"

namespace assay::gpu {
namespace {

constexpr const char* kByResidues = "residues on integer tensor cores";
constexpr const char* kByWarpgroups = "products of warpgroups on integer tensor cores";

std::string DotText(std::string_view lhs, std::string_view rhs, std::string_view result,
                    std::string_view dimensions) {
  return fmt::format(
      "HloModule m\nENTRY e {{\n  x = {} parameter(0)\n  w = {} parameter(1)\n"
      "  ROOT r = {} dot(x, w), {}\n}}\n",
      lhs, rhs, result, dimensions);
}

void CheckByResidues(const std::string& text, const char* algorithm = kByResidues, int hostile_runs = 1) {
  INFO(text);
  CHECK_THAT(PlanOfEqualRun(text, 1, EmulatedResidues()), Catch::Contains(algorithm));
  for (int seed = 0; seed < hostile_runs; ++seed)
    PlanOfEqualRun(text, HostileArguments(text, static_cast<uint64_t>(seed)), EmulatedResidues());
}

constexpr const char* kMatrices = "lhs_contracting_dims={1}, rhs_contracting_dims={0}";

}  // namespace

TEST_CASE("dots by residues of every type have the reference's bits", "[gpu][dot][residues]") {
  const std::pair<const char*, const char*> types[] = {
      {"f32", "f32"}, {"f32", "bf16"},      {"bf16", "f32"}, {"bf16", "bf16"},
      {"f16", "f16"}, {"f8e4m3fn", "bf16"}, {"f64", "f64"}};
  for (const auto& [type, result] : types) {
    CheckByResidues(DotText(fmt::format("{}[19,45]", type), fmt::format("{}[45,23]", type),
                            fmt::format("{}[19,23]", result), kMatrices));
  }
}

TEST_CASE("dots by residues of any dimensions have the reference's bits", "[gpu][dot][residues]") {
  CheckByResidues(DotText("f32[2,5,3,7]", "f32[7,4,2,5]", "f32[2,3,4]",
                          "lhs_batch_dims={0}, rhs_batch_dims={2}, lhs_contracting_dims={3,1}, "
                          "rhs_contracting_dims={0,3}"));
  CheckByResidues(
      DotText("f32[3,4]", "f32[4]", "f32[3]", "lhs_contracting_dims={1}, rhs_contracting_dims={0}"));
  CheckByResidues(DotText("bf16[1,1]", "bf16[1,1]", "bf16[1,1]", kMatrices));
  CheckByResidues(DotText("f32[129,1]", "f32[1,257]", "f32[129,257]", kMatrices));
}

TEST_CASE("convolutions by residues have the reference's bits", "[gpu][convolution][residues]") {
  for (const char* type : {"f32", "bf16"}) {
    CheckByResidues(fmt::format(R"(HloModule m
ENTRY e {{
  x = {0}[2,6,6,4] parameter(0)
  w = {0}[3,3,2,6] parameter(1)
  ROOT r = {0}[2,6,6,6] convolution(x, w), window={{size=3x3 pad=1_1x1_1}}, dim_labels=b01f_01io->b01f, feature_group_count=2
}}
)",
                                type));
  }
}

TEST_CASE("dots of bytes by warpgroups have the reference's bits", "[gpu][dot][residues]") {
  for (const char* lhs : {"s8", "u8"}) {
    for (const char* rhs : {"s8", "u8"}) {
      CheckByResidues(
          DotText(fmt::format("{}[2,33,150]", lhs), fmt::format("{}[2,150,17]", rhs), "s32[2,33,17]",
                  "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
                  "rhs_contracting_dims={1}"),
          kByWarpgroups);
    }
  }
  for (const char* type : {"s4", "u4"}) {
    for (const char* result : {"s16", "s8", "s4", "u4"}) {
      CheckByResidues(DotText(fmt::format("{}[9,40]", type), fmt::format("{}[40,11]", type),
                              fmt::format("{}[9,11]", result), kMatrices),
                      kByWarpgroups);
    }
  }
}

TEST_CASE("dots of wide integers by warpgroups have the reference's bits", "[gpu][dot][residues]") {
  const std::array<const char*, 3> types[] = {
      {"s16", "s16", "s16"}, {"s16", "s16", "s32"}, {"u16", "u16", "u32"}, {"s16", "u16", "s32"},
      {"s32", "s32", "s32"}, {"u32", "u32", "u32"}, {"s32", "u32", "s32"}, {"s8", "s16", "s32"},
      {"u32", "u8", "u32"},  {"s4", "s32", "s32"},  {"s32", "s16", "s8"},  {"u16", "s16", "s4"}};
  for (const auto& [lhs, rhs, result] : types) {
    CheckByResidues(
        DotText(fmt::format("{}[2,33,150]", lhs), fmt::format("{}[2,150,17]", rhs),
                fmt::format("{}[2,33,17]", result),
                "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}"),
        kByWarpgroups);
  }
  // Padding and a reversed window, of elements of several bytes.
  for (const char* type : {"s16", "u32"}) {
    CheckByResidues(fmt::format(R"(HloModule m
ENTRY e {{
  x = {0}[2,9,7,3] parameter(0)
  w = {0}[3,2,3,5] parameter(1)
  ROOT r = {0}[2,9,8,5] convolution(x, w), window={{size=3x2 pad=1_1x1_1 rhs_reversal=1x0}}, dim_labels=b01f_01io->b01f
}}
)",
                                type),
                    kByWarpgroups);
  }
}

TEST_CASE("small dots are left to other kernels, by the table", "[gpu][dot][residues]") {
  const auto plan = [](const std::string& text) { return PlanToText(PlanOf(ProgramOf(text), Emulated())); };
  CHECK_THAT(plan(DotText("f32[512,512]", "f32[512,512]", "f32[512,512]", kMatrices)),
             Catch::Contains("f64 tensor cores"));
  CHECK_THAT(plan(DotText("f32[1024,1024]", "f32[1024,1024]", "f32[1024,1024]", kMatrices)),
             Catch::Contains(kByResidues));
  CHECK_THAT(plan(DotText("f64[1024,1024]", "f64[1024,1024]", "f64[1024,1024]", kMatrices)),
             Catch::Contains(kByResidues));
  // Tiles that are nearly empty.
  CHECK_THAT(plan(DotText("f32[8,8192]", "f32[8192,8192]", "f32[8,8192]", kMatrices)),
             Catch::Contains("f64 tensor cores"));
  CHECK_THAT(plan(DotText("f32[1024,1024]", "f32[1024,1024]", "f64[1024,1024]", kMatrices)),
             Catch::Contains("f64 tensor cores"));
  CHECK_THAT(plan(DotText("s8[1024,1024]", "s8[1024,1024]", "s32[1024,1024]", kMatrices)),
             Catch::Contains(kByWarpgroups));
}

namespace {

// The engine on a device of so many bytes of memory, by a driver of its own.
class SmallDevice {
 public:
  explicit SmallDevice(int64_t bytes)
      : library_(std::filesystem::temp_directory_path() /
                 fmt::format("assay_small_{}_{}.so", getpid(), bytes)) {
    std::filesystem::copy_file(ASSAY_EMULATED_CUDA, library_,
                               std::filesystem::copy_options::overwrite_existing);
    void* const handle = dlopen(library_.c_str(), RTLD_NOW | RTLD_LOCAL);
    REQUIRE(handle != nullptr);
    const auto set =
        reinterpret_cast<bool (*)(const char*, const char*)>(dlsym(handle, "assay_emulated_set"));
    REQUIRE(set != nullptr);
    REQUIRE(set("MEMORY", std::to_string(bytes).c_str()));
  }
  ~SmallDevice() { std::filesystem::remove(library_); }
  SmallDevice(const SmallDevice&) = delete;
  SmallDevice& operator=(const SmallDevice&) = delete;

  std::span<const Engine* const> engines() const {
    return EnginesOf(EngineChoice::kGpu, MachineIsa(), false,
                     {.driver = library_.string(), .min_elements = 0, .residues_from = 0});
  }

 private:
  const std::filesystem::path library_;
};

}  // namespace

TEST_CASE("dots whose slices do not fit are done in panels, with the same bits", "[gpu][dot][residues]") {
  const SmallDevice device(8'000'000);
  const auto check = [&](const std::string& text, const char* algorithm) {
    INFO(text);
    CHECK_THAT(PlanOfEqualRun(text, 1, device.engines()), Catch::Contains(algorithm));
    PlanOfEqualRun(text, HostileArguments(text, 2), device.engines());
  };
  constexpr const char* kResiduePanels = "residues on integer tensor cores, in panels";
  constexpr const char* kBytePanels = "products of warpgroups on integer tensor cores, in panels";
  // By batches, rows and columns; by a part of the rows' dimensions.
  check(DotText("f32[3,9,45]", "f32[3,45,7]", "f32[3,9,7]",
                "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}"),
        kResiduePanels);
  check(DotText("bf16[300,20]", "bf16[20,270]", "bf16[300,270]", kMatrices), kResiduePanels);
  check(DotText("f64[5,13,20,4]", "f64[20,9]", "f64[5,13,4,9]",
                "lhs_contracting_dims={2}, rhs_contracting_dims={0}"),
        kResiduePanels);
  check(DotText("s32[520,1300]", "s32[1300,8]", "s32[520,8]", kMatrices), kBytePanels);
}

TEST_CASE("dots of which no panel's slices fit are left to other kernels", "[gpu][dot][residues]") {
  const SmallDevice device(4'000'000);
  CHECK_THAT(
      PlanOfEqualRun(DotText("f32[40,300]", "f32[300,30]", "f32[40,30]", kMatrices), 1, device.engines()),
      Catch::Contains("f64 tensor cores"));
}

// From the second run on an argument's slices are kept with it: then nothing is launched to widen it, for its
// scales, or for slices of integers. Slices of floats are made again where the number of moduli changes.
TEST_CASE("slices of operands that do not change are kept", "[gpu][dot][residues]") {
  struct Case {
    const char *lhs, *rhs, *result;
    uint64_t saved;  // launches, of both operands
    int rows;
  };
  for (const Case& x : {Case{"f32", "f32", "f32", 2, 21},
                        {"bf16", "bf16", "f32", 4, 22},
                        {"f64", "f64", "f64", 2, 23},
                        {"s16", "s8", "s32", 2, 24}}) {
    // Sizes of no other test or case: launches that the device's queue knows from there would go as a graph,
    // and not be counted.
    const std::string text = DotText(fmt::format("{}[{},47]", x.lhs, x.rows), fmt::format("{}[47,25]", x.rhs),
                                     fmt::format("{}[{},25]", x.result, x.rows), kMatrices);
    INFO(text);
    const Program program = ProgramOf(text);
    const Plan plan = PlanOf(program, EmulatedResidues());
    const std::vector<Literal> arguments = RandomInputs(program.verified(), 3).value();
    std::vector<Literal> others = RandomInputs(program.verified(), 4).value();
    const Literal wanted = program.Run(arguments, {}, EnginesOf(EngineChoice::kReference)).value();
    std::vector<uint64_t> launches;
    for (int run = 0; run < 4; ++run) {
      const uint64_t before = CallsOf("cuLaunchKernel");
      CHECK(Literal::BitwiseEqual(Executor(plan, {}).Run(arguments).value(), wanted));
      launches.push_back(CallsOf("cuLaunchKernel") - before);
    }
    if (TestsEmulatedDriver()) {
      CHECK(launches[1] == launches[0]);
      CHECK(launches[2] == launches[0] - x.saved);
      CHECK(launches[3] == launches[2]);
    }
    // One operand is kept, the other is new; and what is kept belongs to its array alone.
    others[1] = arguments[1];
    const Literal other = program.Run(others, {}, EnginesOf(EngineChoice::kReference)).value();
    CHECK(Literal::BitwiseEqual(Executor(plan, {}).Run(others).value(), other));
    CHECK(Literal::BitwiseEqual(Executor(plan, {}).Run(arguments).value(), wanted));
  }
}

// Weights of a loop are multiplied in each iteration, by states that need other numbers of moduli.
TEST_CASE("the weights of a loop are kept sliced", "[gpu][dot][residues]") {
  const std::string text = R"(HloModule m
body {
  p = (s32[], f32[9,20], f32[20,20]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[9,20] get-tuple-element(p), index=1
  w = f32[20,20] get-tuple-element(p), index=2
  one = s32[] constant(1)
  n = s32[] add(i, one)
  y = f32[9,20] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (s32[], f32[9,20], f32[20,20]) tuple(n, y, w)
}
condition {
  p = (s32[], f32[9,20], f32[20,20]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  six = s32[] constant(6)
  ROOT c = pred[] compare(i, six), direction=LT
}
ENTRY e {
  x = f32[9,20] parameter(0)
  w = f32[20,20] parameter(1)
  zero = s32[] constant(0)
  t = (s32[], f32[9,20], f32[20,20]) tuple(zero, x, w)
  l = (s32[], f32[9,20], f32[20,20]) while(t), condition=condition, body=body
  ROOT r = f32[9,20] get-tuple-element(l), index=1
}
)";
  PlanOfEqualRun(text, 1, EmulatedResidues());
  // Small integers at first: few moduli are exact then.
  std::vector<Literal> arguments = RandomInputs(ProgramOf(text).verified(), 1).value();
  for (Literal& argument : arguments) {
    const std::span<std::byte> bytes = argument.MutableBytes();
    auto* const elements = reinterpret_cast<float*>(bytes.data());
    for (size_t i = 0; i < bytes.size() / 4; ++i) elements[i] = static_cast<float>(i % 7) - 3;
  }
  PlanOfEqualRun(text, arguments, EmulatedResidues());
}

TEST_CASE("the number of moduli follows type and k", "[gpu][residues]") {
  CHECK(UsualModuli(24, 8192, kMendedGuardBits, 11) == 10);
  CHECK(UsualModuli(24, 20000, kMendedGuardBits, 11) == 11);
  CHECK(UsualModuli(24, int64_t{1} << 28, kMendedGuardBits, 11) == 11);
  CHECK(UsualModuli(8, 8192, kMendedGuardBits, 11) == 6);
  CHECK(UsualModuli(11, 8192, kMendedGuardBits, 11) == 7);
  CHECK(UsualModuli(53, 8192, kMendedGuardBits, 20) == 18);
  CHECK(UsualModuli(53, 8192, kGuardBits, 20) == 19);
  CHECK(UsualModuli(8, 8192, kGuardBits, 11) == 7);
  CHECK(GuardBits(false, 8, 8) == kMendedGuardBits);
  CHECK(GuardBits(false, 8, 24) == kMendedGuardBits);
  CHECK(GuardBits(false, 24, 8) == kGuardBits);
  CHECK(GuardBits(true, 53, 24) == kGuardBits);
  // The products of the moduli, in bits.
  const std::pair<int, double> logarithms[] = {{5, 39.90},  {8, 63.58},  {10, 79.24}, {11, 87.04},
                                               {16, 125.4}, {18, 140.5}, {20, 155.4}, {23, 177.4}};
  for (const auto& [count, bits] : logarithms)
    CHECK(std::log2(ResidueSystems()[count].most) + 1 == Approx(bits).margin(0.06));
}

}  // namespace assay::gpu
