#include "base/guard_pages.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <functional>
#include <string>

#include "literal/literal.h"
#include "shape/shape_text.h"

namespace assay {
namespace {

// The signal that ends a child process that does it, else 0.
int SignalOf(const std::function<void()>& action) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL);
    signal(SIGABRT, SIG_DFL);
    close(STDERR_FILENO);
    action();
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

Literal Bytes(int64_t n) { return *Literal::Make(*ParseShape("u8[" + std::to_string(n) + "]")); }

TEST_CASE("guarded arrays: what lies around them can't be touched", "[literal]") {
  for (int64_t size : {0, 1, 48, 64, 100, 4096, 5000}) {
    INFO(size << " bytes");
    {
      const GuardedArrays guarded(ArrayGuard::kInFront);
      CHECK(SignalOf([&] { Bytes(size).MutableBytes().data()[-1] = std::byte{1}; }) == SIGSEGV);
      CHECK(SignalOf([&] {
              Literal array = Bytes(size);
              for (std::byte& b : array.MutableBytes()) b = std::byte{1};
            }) == 0);
    }
    const GuardedArrays guarded(ArrayGuard::kBehind);
    // The alignment is 16 bytes for the smallest, else 64.
    const int64_t around = size <= 48 ? 16 : 64, room = (size + around - 1) / around * around;
    CHECK(SignalOf([&] { Bytes(size).MutableBytes().data()[room] = std::byte{1}; }) == SIGSEGV);
    if (room > size) {
      CHECK(SignalOf([&] { Bytes(size).MutableBytes().data()[size] = std::byte{1}; }) == SIGABRT);
    }
  }
}

TEST_CASE("guarded arrays: as many as before once it ends", "[literal]") {
  CHECK(GuardedArrays::Current() == ArrayGuard::kNone);
  {
    const GuardedArrays outer(ArrayGuard::kInFront);
    {
      const GuardedArrays inner(ArrayGuard::kBehind);
      CHECK(GuardedArrays::Current() == ArrayGuard::kBehind);
    }
    CHECK(GuardedArrays::Current() == ArrayGuard::kInFront);
    const Literal array = Bytes(3 << 20);
    CHECK(reinterpret_cast<uintptr_t>(array.bytes().data()) % 4096 == 0);
    for (std::byte b : array.bytes().first(100)) CHECK(b == std::byte{0});
  }
  CHECK(GuardedArrays::Current() == ArrayGuard::kNone);
}

}  // namespace
}  // namespace assay
