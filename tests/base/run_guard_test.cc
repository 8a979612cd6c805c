#include "base/run_guard.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "base/parallel.h"

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

TEST_CASE("memory budget: what is taken in advance keeps no other budget from the last byte", "[memory]") {
  constexpr int64_t kLimit = 1 << 20;
  const auto outer = std::make_shared<MemoryBudget>(kLimit);
  const auto middle = std::make_shared<MemoryBudget>(kLimit, outer);
  MemoryBudget first(kLimit, middle), second(kLimit, middle), other(100, outer);
  REQUIRE(first.Reserve(10));
  REQUIRE(second.Reserve(20));
  REQUIRE(other.Reserve(5));
  CHECK(outer->live() == 35);
  CHECK(middle->live() == 30);
  CHECK_FALSE(other.Reserve(96));
  CHECK(other.live() == 5);
  CHECK_FALSE(outer->Reserve(kLimit - 34));
  REQUIRE(outer->Reserve(kLimit - 35));
  CHECK_FALSE(first.Reserve(1));
  CHECK(first.Refusal("x", 1).message() == "memory in bytes, for x, is 1048577, over the limit of 1048576");
  second.Release(7);
  CHECK_FALSE(first.Reserve(8));
  REQUIRE(first.Reserve(7));
  CHECK(outer->live() == kLimit);
  CHECK(first.peak() == 17);
  outer->Release(kLimit - 35);
  first.Release(17);
  second.Release(13);
  other.Release(5);
  CHECK(outer->live() == 0);
  {
    MemoryBudget last(kLimit, outer);
    REQUIRE(last.Reserve(kLimit));
    CHECK_FALSE(first.Reserve(1));
    last.Release(kLimit);
  }
  REQUIRE(first.Reserve(kLimit));
  CHECK(outer->live() == kLimit);
  first.Release(kLimit);
}

TEST_CASE("memory budget: threads of several budgets stay within the outer one", "[memory]") {
  constexpr int64_t kLimit = 300'000;
  const auto outer = std::make_shared<MemoryBudget>(kLimit);
  std::atomic<int64_t> live = 0, most = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 200; ++round) {
        MemoryBudget inner(kLimit, outer);
        for (int i = 0; i < 20; ++i) {
          const int64_t bytes = (t * 7919 + round * 104729 + i * 1299709) % 120'000;
          if (!inner.Reserve(bytes)) continue;
          const int64_t now = live += bytes;
          for (int64_t seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
          }
          live -= bytes;
          inner.Release(bytes);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(most <= kLimit);
  CHECK(outer->live() == 0);
  CHECK(outer->Reserve(kLimit));
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
