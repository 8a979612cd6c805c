// Hash tables of Abseil that do not corrupt the heap where an allocation fails. Abseil's own set their
// capacity before they allocate, so that the destructor frees a wrong address after std::bad_alloc. Here a
// table takes memory from a reserve then; the next allocation of anything else throws. Where the reserve is
// too small the process ends in std::terminate, for which the command prints an error (tools/commands.h).
#ifndef ASSAY_BASE_HASH_MAP_H_
#define ASSAY_BASE_HASH_MAP_H_

#include <cstddef>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/node_hash_map.h"

namespace assay {

// Memory of new, or else of the reserve. Both functions may be called from any thread.
void* AllocateTable(size_t bytes) noexcept;
void FreeTable(void* block, size_t bytes) noexcept;

template <typename T>
struct TableAllocator {
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  using value_type = T;

  TableAllocator() = default;
  template <typename Other>
  TableAllocator(const TableAllocator<Other>& /*other*/) {}  // NOLINT(google-explicit-constructor)
  T* allocate(size_t n) noexcept { return static_cast<T*>(AllocateTable(n * sizeof(T))); }
  void deallocate(T* block, size_t n) noexcept { FreeTable(block, n * sizeof(T)); }
  friend bool operator==(const TableAllocator& /*a*/, const TableAllocator& /*b*/) { return true; }
};

template <typename Key, typename Value, typename Hash = typename absl::flat_hash_set<Key>::hasher,
          typename Equal = typename absl::flat_hash_set<Key>::key_equal>
using HashMap = absl::flat_hash_map<Key, Value, Hash, Equal, TableAllocator<std::pair<const Key, Value>>>;

template <typename Key, typename Hash = typename absl::flat_hash_set<Key>::hasher,
          typename Equal = typename absl::flat_hash_set<Key>::key_equal>
using HashSet = absl::flat_hash_set<Key, Hash, Equal, TableAllocator<Key>>;

template <typename Key, typename Value, typename Hash = typename absl::flat_hash_set<Key>::hasher,
          typename Equal = typename absl::flat_hash_set<Key>::key_equal>
using NodeHashMap = absl::node_hash_map<Key, Value, Hash, Equal, TableAllocator<std::pair<const Key, Value>>>;

}  // namespace assay

#endif  // ASSAY_BASE_HASH_MAP_H_
