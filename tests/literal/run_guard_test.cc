#include "literal/run_guard.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <thread>

#include "evaluator/parallel.h"

namespace assay {
namespace {

// Longer than the clock of polls stands still.
void Wait() { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }

TEST_CASE("run guard: time is over for good, and for guards inside", "[run_guard]") {
  const auto outer = std::make_shared<RunGuard>(RunLimits{.timeout_seconds = 0.01});
  RunGuard inner({.timeout_seconds = 100}, {}, outer);
  Wait();
  for (int i = 0; i < 2; ++i) {
    CHECK(inner.Poll().message() == "timeout after 0.01 seconds (--timeout)");
    Wait();
  }
}

TEST_CASE("run guard: one thread alone asks whether the work is interrupted", "[run_guard]") {
  int asked = 0;
  RunGuard guard({}, [&] { return ++asked > 1; });
  std::thread([&] {
    for (int i = 0; i < 5; ++i) {
      CHECK(guard.Poll().ok());
      Wait();
    }
  }).join();
  CHECK(asked == 0);
  CHECK(guard.Poll().ok());
  Wait();
  CHECK(absl::IsCancelled(guard.Poll()));
  CHECK(asked == 2);
  CHECK(guard.Poll().ok());  // at once: nobody is asked
  CHECK(asked == 2);
}

TEST_CASE(
    "memory budget: what is counted inside is counted around it, and the limit that was passed is named",
    "[memory]") {
  const auto outer = std::make_shared<MemoryBudget>(100);
  MemoryBudget inner(1000, outer);
  REQUIRE(inner.Reserve(60));
  CHECK(outer->live() == 60);
  CHECK_FALSE(inner.Reserve(50));
  CHECK(inner.live() == 60);
  CHECK(inner.Refusal("x", 50).message() == "memory in bytes, for x, is 110, over the limit of 100");
  CHECK(inner.Refusal("x", 950).message() == "memory in bytes, for x, is 1010, over the limit of 1000");
  CHECK(inner.Refusal("x", 5).message() == "out of memory: no room for x of 5 bytes");
  CHECK(IsMemoryError(inner.Refusal("x", 5)));
  CHECK(ExitCodeOf(inner.Refusal("x", 5)) == 5);
  inner.Release(60);
  CHECK(outer->live() == 0);
}

TEST_CASE("budget scope: large arrays of no run are counted", "[memory]") {
  const auto budget = std::make_shared<MemoryBudget>(10000);
  const BudgetScope scope(budget);
  const int64_t sizes[] = {8000};
  const Shape shape = Shape::ArrayOrDie(ElementType::kU8, sizes);
  {
    const absl::StatusOr<Literal> first = Literal::Make(shape);
    REQUIRE(first.ok());
    CHECK(budget->live() == 8000);
    CHECK(IsMemoryError(Literal::Make(shape).status()));
  }
  CHECK(budget->live() == 0);
  const BudgetScope none(nullptr);
  CHECK(Literal::Make(shape).ok());
  CHECK(budget->live() == 0);
}

TEST_CASE("parallel: a loop ends between its parts", "[run_guard]") {
  for (int jobs : {1, 2}) {
    RunGuard guard({.timeout_seconds = 0.02});
    Parallel parallel(jobs);
    parallel.Watch(&guard);
    std::atomic<int> parts = 0;
    const auto loop = [&] {
      parallel.For(100000, 1, [&](int64_t begin, int64_t end) {
        parts += static_cast<int>(end - begin);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      });
    };
    CHECK_THROWS_AS(loop(), LoopEnded);
    CHECK(parts < 50000);
    Wait();
    CHECK_THROWS_AS(parallel.Poll(), LoopEnded);
    parallel.Watch(nullptr);
    parts = 0;
    parallel.For(1000, 1, [&](int64_t begin, int64_t end) { parts += static_cast<int>(end - begin); });
    CHECK(parts == 1000);
  }
}

}  // namespace
}  // namespace assay
