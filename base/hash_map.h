// Hash tables of Abseil that do not corrupt the heap where an allocation fails. Abseil's own set their
// capacity before they allocate, so that the destructor frees a wrong address after std::bad_alloc. Here a
// failed allocation ends in std::terminate, for which the command prints an error (tools/commands.h).
#ifndef ASSAY_BASE_HASH_MAP_H_
#define ASSAY_BASE_HASH_MAP_H_

#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/node_hash_map.h"

namespace assay {

template <typename T>
struct TableAllocator {
  using value_type = T;

  TableAllocator() = default;
  template <typename Other>
  TableAllocator(const TableAllocator<Other>& /*other*/) {}  // NOLINT(google-explicit-constructor)
  T* allocate(size_t n) noexcept { return std::allocator<T>().allocate(n); }
  void deallocate(T* block, size_t n) noexcept { std::allocator<T>().deallocate(block, n); }
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
