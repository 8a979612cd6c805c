// Arrays between pages that can't be touched, for tests of kernels whose loads and
// stores no compiler instruments.
#ifndef ASSAY_BASE_GUARD_PAGES_H_
#define ASSAY_BASE_GUARD_PAGES_H_

#include <cstddef>
#include <cstdint>

namespace assay {

// Where an array lies between its two guard pages: it ends as close before the one behind as its alignment
// allows, or begins right after the one in front.
enum class ArrayGuard { kNone, kBehind, kInFront };

// While it lives, every array that the process allocates is guarded.
// Nested ones end in the order of their making.
class GuardedArrays {
 public:
  explicit GuardedArrays(ArrayGuard guard);
  ~GuardedArrays();
  GuardedArrays(const GuardedArrays&) = delete;
  GuardedArrays& operator=(const GuardedArrays&) = delete;

  static ArrayGuard Current();

 private:
  const ArrayGuard before_;
};

// One guarded array: its pages and, up to the guard pages, bytes of a fixed value around it.
class GuardedBlock {
 public:
  // The array is zero and aligned to `alignment` bytes, a power of 2 and at most a page.
  // Aborts when there is no memory.
  GuardedBlock(ArrayGuard guard, int64_t size, size_t alignment);
  // Aborts when a byte around the array was written.
  ~GuardedBlock();
  GuardedBlock(const GuardedBlock&) = delete;
  GuardedBlock& operator=(const GuardedBlock&) = delete;

  std::byte* data() const { return data_; }

 private:
  std::byte* pages_;
  size_t length_;
  std::byte* data_;
  size_t size_;
};

}  // namespace assay

#endif  // ASSAY_BASE_GUARD_PAGES_H_
