// Chunks: a few for small files, then huge pages, whose first touch costs less and
// which the next file takes up.
#include "hlo/arena.h"

#include <utility>

#include "base/page_pool.h"

namespace assay {
namespace {

constexpr size_t kChunk = size_t{1} << 16;
constexpr size_t kManyChunks = 16;
constexpr int64_t kPages = kHugePage;

// Address sanitizers are to see what outlives its arena.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kKeepsChunks = false;
#elif defined(__has_feature)
constexpr bool kKeepsChunks = !__has_feature(address_sanitizer);
#else
constexpr bool kKeepsChunks = true;
#endif

// Chunks that a thread keeps for the next file, of which small ones then allocate none: two, since a reader
// has an arena for what it returns and one for its tables.
class SpareChunks {
 public:
  ~SpareChunks() {
    while (void* const chunk = Take()) ::operator delete(chunk);
  }
  void* Take() { return count_ == 0 ? nullptr : chunks_[--count_]; }
  // False: there is no room for more.
  bool Keep(void* chunk) {
    if (!kKeepsChunks || count_ == kMost) return false;
    chunks_[count_++] = chunk;
    return true;
  }

 private:
  static constexpr size_t kMost = 2;
  void* chunks_[kMost] = {};
  size_t count_ = 0;
};
thread_local SpareChunks spare_chunks;

}  // namespace

Arena::~Arena() {
  while (chunks_ != nullptr) {
    Chunk* const chunk = std::exchange(chunks_, chunks_->next);
    if (!spare_chunks.Keep(chunk)) ::operator delete(chunk);
  }
  while (large_ != nullptr) ::operator delete(std::exchange(large_, large_->next));
  for (void* const mapping : mappings_) PagePool::OfProcess().Keep(mapping, kPages);
}

void* Arena::TakeNew(size_t bytes) {
  if (bytes > kChunk / 4) {
    // A large piece gets memory of its own and leaves the current chunk as it is.
    void* const block = ::operator new(kHeader + bytes);
    large_ = new (block) Chunk{large_};
    return static_cast<std::byte*>(block) + kHeader;
  }
  void* mapping = nullptr;
  if (num_chunks_ >= kManyChunks) {
    mapping = PagePool::OfProcess().Take(kPages);
    if (mapping == nullptr) mapping = MapArray(kPages);
  }
  if (mapping != nullptr) {
    mappings_.push_back(mapping);
    next_ = ArrayIn(mapping, kPages);
    left_ = static_cast<size_t>(kPages);
  } else {
    void* block = spare_chunks.Take();
    if (block == nullptr) block = ::operator new(kChunk);
    chunks_ = new (block) Chunk{chunks_};
    ++num_chunks_;
    next_ = static_cast<std::byte*>(block) + kHeader;
    left_ = kChunk - kHeader;
  }
  std::byte* const taken = next_;
  next_ += bytes;
  left_ -= bytes;
  return taken;
}

}  // namespace assay
