#include "base/hash_map.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <new>
#include <string>

#include "base/thread_team.h"

namespace assay {
namespace {

// Whether `test` returns true in a process of its own in which there is no memory left.
template <typename Test>
bool HoldsWithoutMemory(Test test) {
  const pid_t child = fork();
  if (child == 0) {
    size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlimit limit = {pages * 4096 + (size_t{1} << 20), RLIM_INFINITY};
    if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
    // What is taken is not given back: large blocks first, then what is left between them, of any size.
    for (size_t bytes = size_t{1} << 20; bytes >= 16; bytes -= bytes > 4096 ? bytes / 2 : 16) {
      while (std::malloc(bytes) != nullptr) {
      }
    }
    _exit(test() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_CASE("Hash tables grow by a reserve where there is no memory, and anything else throws", "[hash_map]") {
#ifdef __SANITIZE_ADDRESS__
  return;  // it has no limit on address space
#endif
  const auto throws = [] {
    try {
      const std::string any(100'000, 'x');
    } catch (const std::bad_alloc&) {
      return true;
    }
    return false;
  };
  CHECK(HoldsWithoutMemory(throws));
  CHECK(HoldsWithoutMemory([&] {
    // Twice: what is freed is there again.
    for (int round = 0; round < 2; ++round) {
      HashMap<int, int> table;
      HashSet<int> set;
      for (int i = 0; i < 10'000; ++i) {
        table[i] = i;
        set.insert(-i);
      }
      for (int i = 0; i < 10'000; ++i) {
        if (table.at(i) != i || !set.contains(-i)) return false;
      }
    }
    return throws();
  }));
}

TEST_CASE("Threads of a team begin together, or not at all", "[thread_team]") {
  std::atomic<int> sum = 0;
  {
    ThreadTeam team;
    REQUIRE(team.Start(
                    5, [&](int64_t i) { sum += static_cast<int>(i) + 1; }, "threads")
                .ok());
  }
  CHECK(sum == 15);
#ifndef __SANITIZE_ADDRESS__
  CHECK(HoldsWithoutMemory([] {
    std::atomic<int> ran = 0;
    ThreadTeam team;
    try {
      if (team.Start(
                  100, [&](int64_t) { ++ran; }, "threads")
              .ok())
        return false;
    } catch (const std::bad_alloc&) {  // of the error's text
    }
    return ran == 0;
  }));
#endif
}

}  // namespace
}  // namespace assay
