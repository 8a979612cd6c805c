#include "run/program_cache.h"

#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "fmt/format.h"

namespace assay {
namespace {

// Adds `number` to an s32.
std::string Adding(int number) {
  return fmt::format(R"(HloModule m
ENTRY e {{
  x = s32[] parameter(0)
  c = s32[] constant({})
  ROOT y = s32[] add(x, c)
}}
)",
                     number);
}

Program Load(ProgramCache& cache, const std::string& text) {
  const absl::StatusOr<Program> program = cache.Load("program.hlo", text);
  REQUIRE(program.ok());
  return *program;
}

bool Same(const Program& a, const Program& b) { return &a.module() == &b.module(); }

Literal Number(int64_t x) { return Literal::ScalarInt(ElementType::kS32, x); }

int64_t Run(const Program& program, int64_t x) {
  const absl::StatusOr<Literal> y = program.Run({Number(x)});
  REQUIRE(y.ok());
  return y->GetInt(0);
}

TEST_CASE("a program that is loaded again is the same one, with the same plans", "[program_cache]") {
  ProgramCache cache(4, 1 << 16);
  const auto first = Load(cache, Adding(3)), again = Load(cache, Adding(3)), other = Load(cache, Adding(4));
  CHECK(Same(first, again));
  CHECK(!Same(first, other));
  CHECK(cache.size() == 2);
  CHECK(Run(again, 5) == 8);
  CHECK(Run(other, 5) == 9);
  CHECK(*first.PlanFor() == *again.PlanFor());
}

// How many steps each of six runs compares.
std::vector<int64_t> Sampled(const Program& program, RunCounts& counts) {
  const std::shared_ptr<const Plan> plan = *program.PlanFor();
  std::vector<int64_t> compared;
  for (int run = 0; run < 6; ++run) {
    Executor executor(*plan, {.crosscheck = Crosscheck::kSample});
    executor.CountRunsIn(counts);
    REQUIRE(executor.Run({Number(5)}).ok());
    compared.push_back(executor.statistics().crosschecked);
  }
  return compared;
}

TEST_CASE("a program that is loaded again is sampled from its first run, whatever ran before",
          "[program_cache][crosscheck]") {
  ProgramCache cache(4, 1 << 16);
  const std::vector<int64_t> wanted = {1, 1, 0, 1, 0, 0};  // runs 1, 2 and 4
  const auto first = Load(cache, Adding(3));
  RunCounts of_first, of_again;
  CHECK(Sampled(first, of_first) == wanted);
  const auto again = Load(cache, Adding(3));
  REQUIRE(Same(again, first));
  CHECK(Sampled(again, of_again) == wanted);
  CHECK(Sampled(first, of_first) == std::vector<int64_t>{0, 1, 0, 0, 0, 0});  // runs 7 to 12
}

TEST_CASE("the same bytes under a name of another form are another program", "[program_cache]") {
  // Without a header the name decides what the text is.
  const std::string text = "\n  e { ROOT c = s32[] constant(7) }";
  ProgramCache cache(4, 1 << 16);
  const auto hlo = cache.Load("a.hlo", text), mlir = cache.Load("a.mlir", text);
  CHECK(!mlir.ok());
  const auto parsed = LoadProgram("a.hlo", text);
  CHECK(hlo.ok() == parsed.ok());
  CHECK(!cache.Load("a.mlir", text).ok());
}

TEST_CASE("programs that were loaded longest ago leave first and stay usable", "[program_cache]") {
  ProgramCache cache(2, 1 << 16);
  const auto one = Load(cache, Adding(1)), two = Load(cache, Adding(2));
  CHECK(Same(Load(cache, Adding(1)), one));  // now 2 is the oldest
  const auto three = Load(cache, Adding(3));
  CHECK(cache.size() == 2);
  CHECK(Same(Load(cache, Adding(1)), one));
  CHECK(Same(Load(cache, Adding(3)), three));
  CHECK(!Same(Load(cache, Adding(2)), two));
  CHECK(Run(two, 10) == 12);
}

TEST_CASE("a cache keeps no more bytes than it may, and no program that is a large part of them",
          "[program_cache]") {
  const std::string text = Adding(1);
  ProgramCache five(100, 5 * text.size());
  std::vector<Program> programs;
  for (int i = 0; i < 9; ++i) programs.push_back(Load(five, Adding(i)));
  CHECK(five.size() == 5);
  CHECK(Same(Load(five, Adding(4)), programs[4]));
  CHECK(!Same(Load(five, Adding(3)), programs[3]));
  ProgramCache three(100, 3 * text.size());
  CHECK(!Same(Load(three, text), Load(three, text)));
  CHECK(three.size() == 0);
  ProgramCache none(0, 1 << 16);
  CHECK(!Same(Load(none, text), Load(none, text)));
}

TEST_CASE("errors are not kept", "[program_cache]") {
  ProgramCache cache(4, 1 << 16);
  for (int i = 0; i < 2; ++i) {
    const auto broken = cache.Load("p.hlo", R"(HloModule m
ENTRY e { ROOT y = s32[] add(x, x) })");
    REQUIRE(!broken.ok());
    const auto wrong = cache.Load("p.hlo", R"(HloModule m
ENTRY e { x = s32[2] parameter(0)
 ROOT y = s32[3] add(x, x) })");
    REQUIRE(!wrong.ok());
  }
  CHECK(cache.size() == 0);
}

TEST_CASE("many threads may load and run one program", "[program_cache]") {
  ProgramCache cache(3, 1 << 16);
  std::vector<int64_t> sums(8, 0);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < sums.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const absl::StatusOr<Program> program = cache.Load("p.hlo", Adding(i % 5));
        sums[t] += program->Run({Number(i)})->GetInt(0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  // The sum of i and of i mod 5 for i below 50: 1225 + 10 * 10.
  for (int64_t sum : sums) CHECK(sum == 1325);
  CHECK(cache.size() == 3);
}

}  // namespace
}  // namespace assay
