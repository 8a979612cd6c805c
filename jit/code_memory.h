// Memory for generated code. A mapping is either writable or executable, never both: code is written into
// fresh pages, which then lose the right to be written before they gain the right to be run.
#ifndef ASSAY_JIT_CODE_MEMORY_H_
#define ASSAY_JIT_CODE_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/error.h"

namespace assay::jit {

class CodeMemory {
 public:
  CodeMemory() = default;
  // A copy of position-independent code, ready to run. Error: LimitExceeded where there are no pages.
  static absl::StatusOr<CodeMemory> Make(std::span<const uint8_t> code);
  CodeMemory(CodeMemory&& other) noexcept;
  CodeMemory& operator=(CodeMemory&& other) noexcept;
  ~CodeMemory();

  const void* entry() const { return pages_; }
  size_t size() const { return size_; }

 private:
  void* pages_ = nullptr;
  size_t size_ = 0;  // of the code; whole pages are mapped
};

}  // namespace assay::jit

#endif  // ASSAY_JIT_CODE_MEMORY_H_
