// Memory for what is freed together: the nodes of a file that is being read, the metadata of a module.
#ifndef ASSAY_HLO_ARENA_H_
#define ASSAY_HLO_ARENA_H_

#include <cstddef>
#include <cstring>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace assay {

// Takes pieces of growing chunks. Nothing is freed before the arena is, and no destructor runs.
class Arena {
 public:
  Arena() = default;
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  template <typename T>
  T* New() {
    return Array<T>(1).data();
  }
  template <typename T>
  std::span<T> Array(size_t count) {
    static_assert(std::is_trivially_destructible_v<T>);
    if (count == 0) return {};
    T* const first = static_cast<T*>(Take(count * sizeof(T), alignof(T)));
    for (size_t i = 0; i < count; ++i) new (first + i) T();
    return {first, count};
  }
  // Takes types without initial values, which the caller writes before anyone reads them.
  template <typename T>
  std::span<T> Uninitialized(size_t count) {
    static_assert(std::is_trivially_default_constructible_v<T> && std::is_trivially_destructible_v<T>);
    if (count == 0) return {};
    return {static_cast<T*>(Take(count * sizeof(T), alignof(T))), count};
  }
  template <typename T>
  std::span<T> Copy(const T* values, size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (count == 0) return {};
    T* const first = static_cast<T*>(Take(count * sizeof(T), alignof(T)));
    std::memcpy(static_cast<void*>(first), values, count * sizeof(T));
    return {first, count};
  }
  template <typename T>
  std::span<T> Copy(const std::vector<T>& values) {
    return Copy(values.data(), values.size());
  }
  std::string_view Copy(std::string_view text) {
    if (text.empty()) return {};
    char* const first = static_cast<char*>(Take(text.size(), 1));
    std::memcpy(first, text.data(), text.size());
    return {first, text.size()};
  }
  // `alignment`: a power of two, at most that of max_align_t.
  void* Take(size_t bytes, size_t alignment) {
    const size_t padding = -reinterpret_cast<size_t>(next_) & (alignment - 1);
    if (left_ < padding || bytes > left_ - padding) return TakeNew(bytes);
    std::byte* const taken = next_ + padding;
    next_ = taken + bytes;
    left_ -= padding + bytes;
    return taken;
  }

 private:
  // Stands at the start of a block of its own, from new.
  struct Chunk {
    Chunk* next;
  };
  static constexpr size_t kHeader = alignof(std::max_align_t);
  static_assert(sizeof(Chunk) <= kHeader);

  void* TakeNew(size_t bytes);

  Chunk* chunks_ = nullptr;  // all of one size
  Chunk* large_ = nullptr;   // of a single piece each
  size_t num_chunks_ = 0;
  std::vector<void*> mappings_;  // of page_pool.h, kPages each: once there is much
  std::byte* next_ = nullptr;
  size_t left_ = 0;
};

}  // namespace assay

#endif  // ASSAY_HLO_ARENA_H_
