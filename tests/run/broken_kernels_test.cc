// Kernels that are wrong on purpose, in the ways in which kernels are wrong: the cross-check finds each of
// them, also by a few elements of a large result, and what it writes repeats the step.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "base/file_io.h"
#include "literal/element_io.h"
#include "run/crosscheck.h"
#include "run/elements_at.h"
#include "run/engine_list.h"
#include "run/inputs/program_io.h"
#include "run/inputs/random_inputs.h"
#include "tests/run/program_testing.h"

namespace assay {
namespace {

enum class Fault {
  kNone,
  kBit,      // a bit of every element that is worth a 64th of it, or of an integer the lowest
  kLastBit,  // the lowest bit of every element
  kTail,     // the last elements are left zero
  kSwap,     // each pair of neighbours the wrong way round, as by a comparison that is turned
};

// What another kernel gives, with one fault; it may claim less accuracy than that kernel has.
class BrokenKernel final : public Kernel {
 public:
  BrokenKernel(std::shared_ptr<const Kernel> kernel, Fault fault, const Accuracy& accuracy)
      : kernel_(std::move(kernel)), fault_(fault), accuracy_(accuracy) {}

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    ASSAY_ASSIGN_OR_RETURN(Literal result, kernel_->Run(context, operands));
    const ElementType type = result.shape().element_type();
    const auto bytes = static_cast<size_t>(Bytes(type));
    const std::span<std::byte> data = result.MutableBytes();
    const int bit = fault_ == Fault::kLastBit || !IsFloat(type) ? 0 : Info(type).format->mantissa_bits - 6;
    for (size_t at = 0; at + bytes <= data.size(); at += bytes) {
      if (fault_ == Fault::kBit || fault_ == Fault::kLastBit)
        data[at + static_cast<size_t>(bit / 8)] ^= std::byte{static_cast<uint8_t>(1 << (bit % 8))};
    }
    if (fault_ == Fault::kTail)
      std::fill(data.end() - static_cast<int64_t>(5 * bytes), data.end(), std::byte{0});
    for (size_t at = 0; fault_ == Fault::kSwap && at + 2 * bytes <= data.size(); at += 2 * bytes)
      std::swap_ranges(data.begin() + at, data.begin() + at + bytes, data.begin() + at + bytes);
    return result;
  }
  const Accuracy& accuracy() const override { return accuracy_; }

 private:
  const std::shared_ptr<const Kernel> kernel_;
  const Fault fault_;
  const Accuracy& accuracy_;
};

struct Case {
  std::string name, body;
  const Accuracy* accuracy = &BitExact();
};

// Large enough for a sample of elements.
const Case kCases[] = {
    {"fusion",
     R"(x = f32[70000] parameter(0)
y = f32[] parameter(1)
b = f32[70000] broadcast(y), dimensions={}
i = f32[70000] iota(), iota_dimension=0
m = f32[70000] multiply(x, i)
ROOT out = f32[70000] add(m, b))"},
    {"maximum",
     R"(x = s32[70000] parameter(0)
y = s32[70000] parameter(1)
ROOT out = s32[70000] maximum(x, y))"},
    {"function", R"(x = f64[20001] parameter(0)
ROOT out = f64[20001] exponential(x))"},
    {"dot",
     R"(x = f32[2,70,90] parameter(0)
y = f32[90,2,61] parameter(1)
ROOT out = f32[2,70,61] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={1}, lhs_contracting_dims={2}, rhs_contracting_dims={0})"},
    {"dot within a bound",
     R"(x = bf16[100,90] parameter(0)
y = bf16[90,61] parameter(1)
ROOT out = bf16[100,61] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0})",
     &SumInF32WithoutSubnormals()},
    {"dot of f64 within a bound",
     R"(x = f64[100,90] parameter(0)
y = f64[90,61] parameter(1)
ROOT out = f64[100,61] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0})",
     &SumInF64()},
    {"integer dot",
     R"(x = s8[100,90] parameter(0)
y = s8[90,61] parameter(1)
ROOT out = s32[100,61] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0})"},
    {"convolution",
     R"(x = f32[2,17,19,8] parameter(0)
w = f32[3,2,4,6] parameter(1)
ROOT out = f32[2,9,21,6] convolution(x, w), window={size=3x2 stride=2x1 pad=1_1x2_1 rhs_reversal=1x0}, dim_labels=b01f_01io->b01f, feature_group_count=2)"},
    {"convolution within a bound",
     R"(x = f32[4,17,19,8] parameter(0)
w = f32[3,2,8,6] parameter(1)
ROOT out = f32[2,17,20,6] convolution(x, w), window={size=3x2 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, batch_group_count=2)",
     &SumInF32()},
    {"sum",
     R"(x = f32[300,70,2] parameter(0)
z = f32[] parameter(1)
ROOT out = f32[300] reduce(x, z), dimensions={1,2}, to_apply=add)"},
    {"fold",
     R"(x = s32[300,70] parameter(0)
z = s32[] parameter(1)
ROOT out = s32[70] reduce(x, z), dimensions={0}, to_apply=differ)"},
};

std::string TextOf(const Case& c) {
  return R"(HloModule m
add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT r = f32[] add(a, b) }
differ { a = s32[] parameter(0)
 b = s32[] parameter(1)
 ROOT r = s32[] xor(a, b) }
ENTRY e {
)" + c.body +
         "\n}\n";
}

struct Broken {
  Plan plan;
  std::vector<Literal> arguments;
};

Broken Break(const Case& c, Fault fault) {
  INFO(c.name);
  const Program program = ProgramOf(TextOf(c));
  Broken broken{PlanOf(program), *RandomInputs(program.verified(), 7)};
  bool any = false;
  for (Step& step : broken.plan.computations.back().steps) {
    if (step.instruction != broken.plan.module->entry_computation().root) continue;
    REQUIRE(step.kernel != nullptr);
    step.kernel = std::make_shared<BrokenKernel>(step.kernel, fault, *c.accuracy);
    any = true;
  }
  REQUIRE(any);
  return broken;
}

absl::Status RunWith(const Broken& broken, const RunOptions& options) {
  return Executor(broken.plan, options).Run(broken.arguments).status();
}

TEST_CASE("cross-check: faults of kernels are found, exact ones and those with a bound", "[crosscheck]") {
  for (const Case& c : kCases) {
    for (Crosscheck crosscheck : {Crosscheck::kSample, Crosscheck::kFull}) {
      INFO(c.name << (crosscheck == Crosscheck::kFull ? ", full" : ", sample"));
      const auto run = [&](Fault fault) { return RunWith(Break(c, fault), {.crosscheck = crosscheck}); };
      const absl::Status right = run(Fault::kNone);
      INFO(right.message());
      CHECK(right.ok());
      for (Fault fault : {Fault::kBit, Fault::kTail, Fault::kSwap}) {
        const absl::Status status = run(fault);
        INFO("fault " << static_cast<int>(fault));
        CHECK(ExitCodeOf(status) == 1);
        CHECK_THAT(std::string(status.message()),
                   Catch::Contains("differs from the reference") && Catch::Contains("%out = ") &&
                       Catch::Contains("expected ") && Catch::Contains("actual "));
      }
      // The last bit of f32 and f64 is within the bound, that of bf16,
      // to which sums are rounded at the end, is not.
      CHECK(run(Fault::kLastBit).ok() == (c.accuracy == &SumInF32() || c.accuracy == &SumInF64()));
    }
  }
}

TEST_CASE("cross-check: a sample compares few elements, at the first and the last position always",
          "[crosscheck]") {
  const Broken broken = Break(kCases[1], Fault::kTail);
  const absl::Status status = RunWith(broken, {.crosscheck = Crosscheck::kSample});
  CHECK_THAT(std::string(status.message()),
             Catch::Contains("1 of 4 compared elements") && Catch::Contains("[69999]"));
}

// A kernel that asks for the exact sums of a dot of two rows by one column.
class AskingKernel final : public Kernel {
 public:
  explicit AskingKernel(std::vector<SumOfTerms>& sums) : sums_(sums) {}
  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    const int32_t root = context.computation().root;
    const StepValues values{context.computation(),
                            {&root, 1},
                            context.instruction().operands,
                            {operands.data(), operands.size()}};
    ASSAY_ASSIGN_OR_RETURN(sums_, SumsAt(context, values, std::vector<int64_t>{0, 1}));
    return context.NewResult(true);
  }
  const Accuracy& accuracy() const override { return SumInF32(); }

 private:
  std::vector<SumOfTerms>& sums_;
};

std::vector<SumOfTerms> SumsOf(const std::string& type, const std::vector<double>& lhs,
                               const std::vector<double>& rhs) {
  const auto n = static_cast<int64_t>(rhs.size());
  const std::string x = type + "[2," + std::to_string(n) + "]", y = type + "[" + std::to_string(n) + "]";
  const Case dot{"dot", "x = " + x + R"( parameter(0)
y = )" + y + R"( parameter(1)
ROOT out = )" + type + "[2] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}"};
  Broken asking = Break(dot, Fault::kNone);
  std::vector<SumOfTerms> sums;
  for (Step& step : asking.plan.computations.back().steps) step.kernel = std::make_shared<AskingKernel>(sums);
  const ElementType element = *ElementTypeFromName(type);
  const int64_t sizes[] = {2, n};
  asking.arguments = {Literal::FromDoubles(element, sizes, lhs),
                      Literal::FromDoubles(element, {sizes + 1, 1}, rhs)};
  const absl::Status status = RunWith(asking, {.crosscheck = Crosscheck::kOff});
  INFO(status.message());
  REQUIRE(status.ok());
  REQUIRE(sums.size() == 2);
  return sums;
}

TEST_CASE("cross-check: sums to compare with, their terms' magnitudes, and the part of subnormal factors",
          "[crosscheck]") {
  // 2^120 + 1 - 2^120, and 3 2^-131 2^20 - 2^-130 / 2.
  for (const std::string type : {"f32", "f64"}) {
    const std::vector<SumOfTerms> sums =
        SumsOf(type, {0x1p100, 1, -0x1p100, 0, 0x1.8p-130, 0, 0, -0x1p-130}, {0x1p20, 1, 0x1p20, 0.5});
    CHECK(sums[0].sum == 1);
    CHECK(sums[0].magnitude == Approx(0x1p121).epsilon(1e-14));
    CHECK(sums[0].magnitude >= 0x1p121);
    CHECK(sums[0].subnormal == 0);
    CHECK(sums[1].sum == 0x1.8p-110 - 0x1p-131);
    CHECK(sums[1].subnormal >= 0x1.8p-110 + 0x1p-131);
    CHECK(sums[1].subnormal == Approx(0x1.8p-110).epsilon(1e-5));
    CHECK(sums[1].terms == 4);
    CHECK(SumsOf(type, {0x1p20, 3, 1, 1}, {0x1.8p-130, 4})[0].subnormal == Approx(0x1.8p-110).epsilon(1e-14));
  }
  for (const std::string type : {"bf16", "f32", "f64"}) {
    CHECK(SumsOf(type, {HUGE_VAL, 1, 2, 3}, {1, 1})[0].sum == HUGE_VAL);
    CHECK(std::isnan(SumsOf(type, {HUGE_VAL, 1, HUGE_VAL, -HUGE_VAL}, {1, 1})[1].sum));
    CHECK(std::isnan(SumsOf(type, {HUGE_VAL, 1, 0, 0}, {0, 1})[0].sum));
    CHECK(SumsOf(type, {3, 4, 5, 6}, {7, -8})[1].sum == -13);
  }
}

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "assay_repro_XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  size_t entries() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::filesystem::path path_;
};

TEST_CASE("reproducer: the wrong step alone, with its inputs and both outputs", "[crosscheck][reproducer]") {
  for (const Case& c : kCases) {
    for (Crosscheck crosscheck : {Crosscheck::kSample, Crosscheck::kFull}) {
      INFO(c.name);
      const TemporaryDirectory directory;
      const std::string dir = directory / "wrong";
      const Broken broken = Break(c, Fault::kBit);
      const RunOptions options{.crosscheck = crosscheck, .repro_dir = dir, .repro_flags = "--engine exact"};
      const absl::Status status = RunWith(broken, options);
      CHECK_THAT(std::string(status.message()),
                 Catch::Contains("assay run " + dir + "/program.hlo --inputs " + dir +
                                 "/inputs.npz --engine exact --crosscheck full"));
      CHECK(directory.entries() == 1);
      // A second time it gets another name.
      CHECK_THAT(std::string(RunWith(broken, options).message()), Catch::Contains(dir + "-2/program.hlo"));
      CHECK(std::filesystem::exists(dir + "/README"));

      const Program program = ProgramOf(*ReadFile(dir + "/program.hlo"));
      const auto inputs = ReadNpzFile(dir + "/inputs.npz");
      REQUIRE(inputs.ok());
      const auto arguments = ArgumentsFrom(program.verified(), *inputs, nullptr);
      INFO(arguments.status().message());
      REQUIRE(arguments.ok());
      const absl::StatusOr<Literal> result = program.Run(*arguments, {}, EnginesOf(EngineChoice::kReference));
      REQUIRE(result.ok());
      const auto saved = [&](const std::string& name) {
        const auto arrays = ReadNpzFile(dir + "/" + name + ".npz");
        REQUIRE(arrays.ok());
        return *DecodeNpy("out0", arrays->at("out0"), result->shape());
      };
      CHECK(Literal::BitwiseEqual(saved("expected"), *result));
      CHECK(!Literal::BitwiseEqual(saved("actual"), *result));
    }
  }
}

TEST_CASE("reproducer: where nothing can be written the message says so", "[crosscheck][reproducer]") {
  const absl::Status status = RunWith(Break(kCases[0], Fault::kBit),
                                      {.crosscheck = Crosscheck::kFull, .repro_dir = "/nonexistent/x"});
  CHECK(ExitCodeOf(status) == 1);
  CHECK_THAT(std::string(status.message()), Catch::Contains("no reproducer could be written"));
}

}  // namespace
}  // namespace assay
