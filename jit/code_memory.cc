#include "jit/code_memory.h"

#include <sys/mman.h>

#include <cstring>
#include <utility>

#include "jit/perf_map.h"

namespace assay::jit {

absl::StatusOr<CodeMemory> CodeMemory::Make(std::span<const uint8_t> code) {
  const auto refused = [&] { return LimitExceeded("memory for generated code", code.size(), 0); };
  if (code.empty()) return CodeMemory();
  void* const pages = mmap(nullptr, code.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return refused();
  std::memcpy(pages, code.data(), code.size());
  if (mprotect(pages, code.size(), PROT_READ | PROT_EXEC) != 0) {
    munmap(pages, code.size());
    return refused();
  }
  CodeMemory memory;
  memory.pages_ = pages;
  memory.size_ = code.size();
  return memory;
}

CodeMemory::CodeMemory(CodeMemory&& other) noexcept
    : pages_(std::exchange(other.pages_, nullptr)), size_(std::exchange(other.size_, 0)) {}

CodeMemory& CodeMemory::operator=(CodeMemory&& other) noexcept {
  std::swap(pages_, other.pages_);
  std::swap(size_, other.size_);
  return *this;
}

CodeMemory::~CodeMemory() {
  // An address that has a name is not used again for other code.
  if (pages_ != nullptr && !PerfMapIsOn()) munmap(pages_, size_);
}

}  // namespace assay::jit
