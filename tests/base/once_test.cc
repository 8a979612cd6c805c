#include "base/once.h"

#include <catch2/catch.hpp>
#include <stdexcept>
#include <thread>
#include <vector>

namespace assay {

TEST_CASE("once: one of several threads calls the function, and all see what it made", "[base]") {
  Once once;
  int calls = 0;
  std::vector<int> seen(4);
  std::vector<std::thread> threads;
  for (int& of_thread : seen) {
    threads.emplace_back([&] {
      once.Do([&] { ++calls; });
      of_thread = calls;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(seen == std::vector<int>(4, 1));
}

TEST_CASE("once: a function that throws is called again", "[base]") {
  Once once;
  int calls = 0;
  CHECK_THROWS_AS(once.Do([] { throw std::runtime_error("no"); }), std::runtime_error);
  once.Do([&] { ++calls; });
  once.Do([&] { ++calls; });
  CHECK(calls == 1);
}

}  // namespace assay
