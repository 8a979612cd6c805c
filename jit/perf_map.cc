#include "jit/perf_map.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <string>

#include "fmt/format.h"

namespace assay::jit {
namespace {

std::atomic<int> map_file = -1;  // never closed
std::mutex starting;

}  // namespace

absl::Status StartPerfMap() {
  const std::lock_guard lock(starting);
  if (PerfMapIsOn()) return absl::OkStatus();
  const std::string path = fmt::format("/tmp/perf-{}.map", ::getpid());
  ::unlink(path.c_str());
  // A new file: what somebody put in its place, a link above all, is not written to.
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) return BadInput(fmt::format("{}: can't create: {}", path, std::strerror(errno)));
  map_file.store(fd, std::memory_order_release);
  return absl::OkStatus();
}

bool PerfMapIsOn() { return map_file.load(std::memory_order_acquire) >= 0; }

void AddToPerfMap(const void* code, size_t bytes, std::string_view name) {
  std::string line = fmt::format("{:x} {:x} ", reinterpret_cast<uintptr_t>(code), bytes);
  for (const char c : name) line += c > ' ' && c < 0x7f ? c : '_';
  line += '\n';
  // One write, so that lines of several threads don't mix. A name that is lost is no error of the program's.
  [[maybe_unused]] const ssize_t written =
      ::write(map_file.load(std::memory_order_acquire), line.data(), line.size());
}

}  // namespace assay::jit
