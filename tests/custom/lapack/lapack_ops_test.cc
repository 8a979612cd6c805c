// What the operations of LAPACK refuse, their names in plans, and the limits of a run.
#include "custom/lapack/lapack_ops.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>

#include "tests/custom/lapack/matrices.h"
#include "tests/run/program_testing.h"

namespace assay::testing {

TEST_CASE("lapack: operands of other types, ranks and sizes are refused", "[custom][lapack]") {
  const std::string target = "lapack_dgetrf_ffi", result = "(f64[3,3], s32[3], s32[])";
  CHECK_THAT(CallRefusal(target, {"f32[3,3]"}, result),
             Catch::Contains(
                 "CustomCall: lapack_dgetrf_ffi: operand 0 is f32[3,3], wanted f64[m,n] or a batch of such"));
  CHECK_THAT(CallRefusal(target, {"f64[3]"}, result),
             Catch::Contains("operand 0 is f64[3], wanted f64[m,n]"));
  CHECK_THAT(CallRefusal(target, {"(f64[3,3])"}, result), Catch::Contains("wanted f64[m,n]"));
  CHECK_THAT(CallRefusal(target, {"f64[3,3]", "f64[3,3]"}, result), Catch::Contains("2 operands, wanted 1"));
  CHECK_THAT(CallRefusal("lapack_dsyevd_ffi", {"f64[3,4]"}, "(f64[3,4], f64[3], s32[])",
                         "mode = 86 : ui8, uplo = 76 : ui8"),
             Catch::Contains("operand 0 is f64[3,4], wanted f64[n,n]"));
  CHECK_THAT(CallRefusal("lapack_dgtsv_ffi", {"f64[2,3]", "f64[2,4]", "f64[2,3]", "f64[2,3,1]"},
                         "(f64[2,3], f64[2,3], f64[2,3], f64[2,3,1], s32[2])"),
             Catch::Contains("operand 1 is f64[2,4], wanted f64[2,3]"));
  CHECK_THAT(CallRefusal("lapack_dgtsv_ffi", {"f64[2,3]", "f64[2,3]", "f64[3]", "f64[2,3,1]"},
                         "(f64[2,3], f64[2,3], f64[2,3], f64[2,3,1], s32[2])"),
             Catch::Contains("operand 2 is f64[3], wanted f64[2,3]"));
  CHECK_THAT(CallRefusal("lapack_dgeqp3_ffi", {"f64[3,4]", "s64[4]"}, "(f64[3,4], s64[4], f64[3])"),
             Catch::Contains("operand 1 is s64[4], wanted s32[4]"));
  CHECK_THAT(
      CallRefusal("tridiagonal_solve_perturbed_ffi", {"f16[3]", "f16[3]", "f16[3]", "f16[3,1]"}, "f16[3,1]"),
      Catch::Contains("operand 0 is f16[3], wanted f64[n]"));
  CHECK_THAT(CallRefusal(target, {"f64[<=3,3]"}, result), Catch::Contains("dimensions without a fixed size"));
}

TEST_CASE("lapack: results must be those of the routine", "[custom][lapack]") {
  for (const std::string result : {"(f64[3,4], s32[4], s32[])", "(f64[3,4], s32[3])",
                                   "(f64[3,4], s64[3], s32[])", "(f64[3,4], s32[3], s32[1])", "f64[3,4]"}) {
    CHECK_THAT(CallRefusal("lapack_dgetrf_ffi", {"f64[3,4]"}, result),
               Catch::Contains("(f64[3,4], s32[3], s32[])"));
  }
  CHECK_THAT(CallRefusal("lapack_dgesdd_ffi", {"f64[3,4]"}, "(f64[3,4], f64[3], f64[3,3], f64[3,4], s32[])",
                         "mode = 65 : ui8"),
             Catch::Contains("f64[4,4]"));
  CHECK_THAT(CallRefusal("lapack_zheevd_ffi", {"c128[3,3]"}, "(c128[3,3], c128[3], s32[])",
                         "mode = 86 : ui8, uplo = 76 : ui8"),
             Catch::Contains("(c128[3,3], f64[3], s32[])"));
}

TEST_CASE("lapack: attributes that are missing or of no meaning are refused", "[custom][lapack]") {
  const std::string result = "(f64[3,3], f64[3], s32[])";
  CHECK_THAT(CallRefusal("lapack_dsyevd_ffi", {"f64[3,3]"}, result, "uplo = 76 : ui8"),
             Catch::Contains("backend_config has mode = nothing, wanted the code of one of 'VN'"));
  CHECK_THAT(CallRefusal("lapack_dsyevd_ffi", {"f64[3,3]"}, result, "mode = 86 : ui8, uplo = 77 : ui8"),
             Catch::Contains("uplo = 77 : ui8, wanted the code of one of 'LU'"));
  CHECK_THAT(CallRefusal("lapack_dormqr_ffi", {"f64[3,3]", "f64[3]", "f64[3,3]"}, "f64[3,3]",
                         "left = 1, transpose = true"),
             Catch::Contains("left = 1, wanted true or false"));
  const std::string reduced = "(f64[3,3], f64[2], s32[])";
  CHECK_THAT(CallRefusal("lapack_dgehrd_ffi", {"f64[3,3]"}, reduced, "low = 1 : i32, high = 4 : i32"),
             Catch::Contains("low = 1, high = 4, wanted 1 <= low <= high <= 3"));
  CHECK_THAT(CallRefusal("lapack_dgehrd_ffi", {"f64[3,3]"}, reduced, "low = 0 : i32, high = 3 : i32"),
             Catch::Contains("low = 0"));
  CHECK_THAT(CallRefusal("lapack_dgehrd_ffi", {"f64[3,3]"}, reduced, "low = 3 : i32, high = 2 : i32"),
             Catch::Contains("high = 2"));
  CHECK_THAT(
      CallRefusal("lapack_dgehrd_ffi", {"f64[3,3]"}, reduced, "low = 4294967297 : i64, high = 3 : i32"),
      Catch::Contains("wanted an i32"));
  CHECK_THAT(
      CallRefusal("lapack_dgees_ffi", {"f64[3,3]"}, "(f64[3,3], f64[3,3], f64[3], f64[3], s32[], s32[])",
                  "mode = 86 : ui8, sort = 83 : ui8"),
      Catch::Contains("sort = 83 : ui8, wanted the code of one of 'N'"));
}

TEST_CASE("lapack: reflectors must fit their matrix", "[custom][lapack]") {
  CHECK_THAT(CallRefusal("lapack_dorgqr_ffi", {"f64[3,4]", "f64[3]"}, "f64[3,4]"),
             Catch::Contains("3 reflectors for 4 columns of 3 rows"));
  CHECK_THAT(CallRefusal("lapack_dorgqr_ffi", {"f64[4,3]", "f64[4]"}, "f64[4,3]"),
             Catch::Contains("4 reflectors for 3 columns"));
  CHECK_THAT(CallRefusal("lapack_dormqr_ffi", {"f64[4,3]", "f64[3]", "f64[3,5]"}, "f64[3,5]",
                         "left = true, transpose = true"),
             Catch::Contains("wanted 3 rows"));
  CHECK_THAT(CallRefusal("lapack_dormqr_ffi", {"f64[4,3]", "f64[4]", "f64[4,5]"}, "f64[4,5]",
                         "left = true, transpose = true"),
             Catch::Contains("4 reflectors in a matrix of 4 x 3"));
}

TEST_CASE("lapack: a batch of matrices without elements costs nothing", "[custom][lapack]") {
  const Program program = ProgramOf(CallProgram("lapack_dgeqrf_ffi", {"f64[1099511627776,0,3]"},
                                                "(f64[1099511627776,0,3], f64[1099511627776,0])"));
  CHECK(program
            .Run({*Literal::Make(
                Shape::ArrayOrDie(ElementType::kF64, std::vector<int64_t>{1099511627776, 0, 3}))})
            .ok());
}

TEST_CASE("lapack: plans name the routine", "[custom][lapack]") {
  const Plan plan =
      PlanOf(CallProgram("lapack_zgesdd_ffi", {"c128[3,3]"},
                         "(c128[3,3], f64[3], c128[3,3], c128[3,3], s32[])", "mode = 65 : ui8"));
  const std::vector<Step>& steps = plan.computations.back().steps;
  REQUIRE(steps.back().kernel != nullptr);
  CHECK(steps.back().kernel->algorithm() == "exact gesdd");
  CHECK(steps.back().engine->name() == "custom");
  const absl::StatusOr<Program> by_library =
      Program::Load("program.hlo",
                    CallProgram("lapack_zgesdd_ffi", {"c128[3,3]"},
                                "(c128[3,3], f64[3], c128[3,3], c128[3,3], s32[])", "mode = 65 : ui8"),
                    {.custom_ops = custom::LibraryLapackOps()});
  REQUIRE(by_library.ok());
  CHECK(PlanOf(*by_library).computations.back().steps.back().kernel->algorithm() == "lapack zgesdd");
  const Plan exact = PlanOf(CallProgram("lapack_sgetrf_ffi", {"f32[3,3]"}, "(f32[3,3], s32[3], s32[])"));
  CHECK(exact.computations.back().steps.back().kernel->algorithm() == "exact getrf");
}

TEST_CASE("lapack: workspaces count against the memory limit, and time is up between matrices",
          "[custom][lapack]") {
  const std::string config = "mode = 86 : ui8, uplo = 76 : ui8";
  const Program large = ProgramOf(
      CallProgram("lapack_dsyevd_ffi", {"f64[100,100]"}, "(f64[100,100], f64[100], s32[])", config));
  RunOptions options;
  options.limits.memory_limit =
      200000;  // operand and results are 160,800 bytes, the wide numbers more than that
  absl::Status status = large.Run({Draw(LapackTypes()[1], {100, 100})}, options).status();
  CHECK(IsMemoryError(status));
  options.limits.memory_limit = 12000000;
  CHECK(large.Run({Draw(LapackTypes()[1], {100, 100})}, options).ok());
  const Program many = ProgramOf(CallProgram("lapack_dsyevd_ffi", {"f64[20000,40,40]"},
                                             "(f64[20000,40,40], f64[20000,40], s32[20000])", config));
  RunOptions brief;
  brief.limits.timeout_seconds = 0.05;
  status =
      many.Run({*Literal::Make(Shape::ArrayOrDie(ElementType::kF64, std::vector<int64_t>{20000, 40, 40}))},
               brief)
          .status();
  CHECK(ExitCodeOf(status) == 5);
  CHECK_THAT(std::string(status.message()), Catch::Contains("time"));
}

TEST_CASE("lapack: decompositions count steps by their sizes, before they run", "[custom][lapack]") {
  struct Counted {
    std::string_view target, operand, result, config;
    int64_t steps;  // of 4,096 elements, after the parameter's own and the call's
  };
  const Counted calls[] = {
      // 64 x 64 x 64 are 64 steps.
      {"lapack_dgeqrf_ffi", "f64[64,64]", "(f64[64,64], f64[64])", "", 64},
      {"lapack_dgetrf_ffi", "f64[64,64]", "(f64[64,64], s32[64], s32[])", "", 64},
      {"Qr", "f64[64,64]", "(f64[64,64], f64[64])", "", 64},
      {"lapack_dgeqrf_ffi", "f64[4,64,32]", "(f64[4,64,32], f64[4,32])", "", 64},
      {"lapack_dgesdd_ffi", "f64[64,64]", "(f64[64,64], f64[64], f64[64,64], f64[64,64], s32[])",
       "mode = 78 : ui8", 20 * 64},
      {"lapack_dsyevd_ffi", "f64[64,64]", "(f64[64,64], f64[64], s32[])", "mode = 78 : ui8, uplo = 76 : ui8",
       20 * 64},
  };
  for (const Counted& call : calls) {
    INFO(call.target << " of " << call.operand);
    const std::string text = CallProgram(std::string(call.target), {std::string(call.operand)},
                                         std::string(call.result), std::string(call.config));
    const bool is_batch = call.operand == "f64[4,64,32]";
    const std::vector<int64_t> sizes =
        is_batch ? std::vector<int64_t>{4, 64, 32} : std::vector<int64_t>{64, 64};
    const std::vector<Literal> zeros = {*Literal::Make(Shape::ArrayOrDie(ElementType::kF64, sizes))};
    for (const bool by_library : {false, true}) {
      const absl::StatusOr<Program> program = Program::Load(
          "program.hlo", text, {.custom_ops = by_library ? custom::LibraryLapackOps() : custom::LapackOps()});
      REQUIRE(program.ok());
      RunOptions options;
      options.limits.max_steps = call.steps;
      const absl::Status limited = program->Run(zeros, options).status();
      CHECK(ExitCodeOf(limited) == 5);
      CHECK_THAT(std::string(limited.message()), Catch::Contains("steps"));
      options.limits.max_steps = call.steps + 8;
      if (!by_library) CHECK(program->Run(zeros, options).ok());
    }
  }
}

TEST_CASE("lapack: time and interruption end a decomposition in the middle of a matrix", "[custom][lapack]") {
  const Program svd = ProgramOf(CallProgram("lapack_dgesdd_ffi", {"f64[200,200]"},
                                            "(f64[200,200], f64[200], f64[200,200], f64[200,200], s32[])",
                                            "mode = 65 : ui8"));
  const std::vector<Literal> operands = {Draw(LapackTypes()[1], {200, 200})};
  RunOptions brief;
  brief.limits.timeout_seconds = 0.1;
  const auto start = std::chrono::steady_clock::now();
  const absl::Status late = svd.Run(operands, brief).status();
  CHECK(ExitCodeOf(late) == 5);
  CHECK_THAT(std::string(late.message()), Catch::Contains("time"));
  std::atomic<int> asked = 0;
  const absl::Status stopped = svd.Run(operands, {.interrupted = [&asked] { return ++asked > 3; }}).status();
  CHECK(absl::IsCancelled(stopped));
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(3));
}

TEST_CASE("lapack: sizes beyond LAPACK's integers are not supported", "[custom][lapack]") {
  const absl::StatusOr<Program> program = Program::Load(
      "program.hlo",
      CallProgram("lapack_dsyevd_ffi", {"f64[0,40000,40000]"}, "(f64[0,40000,40000], f64[0,40000], s32[0])",
                  "mode = 86 : ui8, uplo = 76 : ui8"),
      {.custom_ops = custom::LibraryLapackOps()});
  REQUIRE(program.ok());
  const absl::Status status =
      (*program)
          .Run({*Literal::Make(Shape::ArrayOrDie(ElementType::kF64, std::vector<int64_t>{0, 40000, 40000}))})
          .status();
  CHECK(ExitCodeOf(status) == 4);
  CHECK_THAT(std::string(status.message()), Catch::Contains("with a dimension of size 40000"));
  const Program wide = ProgramOf(
      CallProgram("lapack_dgetrf_ffi", {"f64[3000000000,0]"}, "(f64[3000000000,0], s32[0], s32[])"));
  const absl::Status refused =
      wide.Run({*Literal::Make(Shape::ArrayOrDie(ElementType::kF64, std::vector<int64_t>{3000000000, 0}))})
          .status();
  CHECK(ExitCodeOf(refused) == 4);
  CHECK_THAT(std::string(refused.message()), Catch::Contains("a dimension of size 3000000000"));
}

TEST_CASE("lapack: the targets are all that jaxlib 0.10.2 has but potrf and trsm, and two of XLA's",
          "[custom][lapack]") {
  const std::vector<std::string> targets = custom::LapackTargets();
  CHECK(targets.size() == 55);
  for (const std::string& target : targets) CHECK(custom::LapackOps()->Find(target) != nullptr);
  for (const std::string& target : targets) CHECK(custom::LibraryLapackOps()->Find(target) != nullptr);
  CHECK(custom::LapackOps()->Find("lapack_dpotrf_ffi") == nullptr);
  CHECK(custom::LapackOps()->Find("lapack_dgetrf") == nullptr);
}

}  // namespace assay::testing
