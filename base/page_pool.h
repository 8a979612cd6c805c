// Pages of freed large arrays, kept for the next one of the same size in the process, by whichever run: the
// first touch of 64 MiB of fresh memory costs more than most operations on it.
#ifndef ASSAY_BASE_PAGE_POOL_H_
#define ASSAY_BASE_PAGE_POOL_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>

namespace assay {

// Keeps at most a limit of bytes; what was kept longest goes first. The pool is safe from many threads.
class PagePool {
 public:
  explicit PagePool(int64_t limit) : limit_(limit) {}
  ~PagePool() { Clear(); }
  PagePool(const PagePool&) = delete;
  PagePool& operator=(const PagePool&) = delete;

  // The process's: 512 MiB, or a sixteenth of the machine's memory where that is less.
  static PagePool& OfProcess();

  // The mapping of an array of exactly `bytes` with its old contents, else null. It is the caller's now.
  void* Take(int64_t bytes);
  // Takes over the mapping of an array of `bytes`.
  void Keep(void* mapping, int64_t bytes);
  // Comes before `bytes` are mapped anew: as many that are kept go first,
  // so that keeping them makes no process larger.
  void MakeRoom(int64_t bytes);
  void Clear();
  int64_t kept() const;

 private:
  struct Pages {
    void* mapping;
    int64_t bytes;
  };
  void DropOldest();

  const int64_t limit_;
  mutable std::mutex mutex_;
  int64_t kept_ = 0;
  std::deque<Pages> pages_;  // oldest first
};

// Arrays of this many bytes and more have mappings of their own: malloc gives the pages of such ones back to
// the system when they are freed. Those of kHugePage and more have room to begin at a 2 MiB page.
inline constexpr int64_t kMappedBytes = 1 << 18;
inline constexpr size_t kHugePage = 2 << 20;
// Smaller ones are mapped anew without giving up what is kept while that is no more than this.
inline constexpr int64_t kSmallPagesKept = 32 << 20;
inline bool HasHugePages(int64_t bytes) { return bytes >= static_cast<int64_t>(kHugePage); }

// The length of the mapping of an array of `bytes`.
inline size_t MappingLength(int64_t bytes) {
  return static_cast<size_t>(bytes) + (HasHugePages(bytes) ? kHugePage : 0);
}
// Fresh pages, all zero, on 2 MiB pages where the system has them; null: no memory.
void* MapArray(int64_t bytes);
void UnmapArray(void* mapping, int64_t bytes);
// Where the array of `bytes` begins in its mapping.
std::byte* ArrayIn(void* mapping, int64_t bytes);

}  // namespace assay

#endif  // ASSAY_BASE_PAGE_POOL_H_
