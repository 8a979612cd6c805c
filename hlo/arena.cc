// Chunks: small ones for small files, then huge pages, whose first touch costs less and which the next file takes up.
#include "hlo/arena.h"

#include "literal/page_pool.h"

namespace assay {
namespace {

constexpr size_t kLargestChunk = size_t{1} << 16;
constexpr size_t kManyChunks = 16;
constexpr int64_t kPages = kMappedBytes;

}  // namespace

Arena::~Arena() {
  for (void* const mapping : mappings_) PagePool::OfProcess().Keep(mapping, kPages);
}

void* Arena::TakeNew(size_t bytes) {
  if (bytes > kLargestChunk / 4) {
    // A large piece gets memory of its own and leaves the current chunk as it is.
    chunks_.push_back(std::unique_ptr<std::byte[]>(new std::byte[bytes]));
    return chunks_.back().get();
  }
  void* mapping = nullptr;
  if (chunks_.size() >= kManyChunks) {
    mapping = PagePool::OfProcess().Take(kPages);
    if (mapping == nullptr) mapping = MapArray(kPages);
  }
  if (mapping != nullptr) {
    mappings_.push_back(mapping);
    next_ = ArrayIn(mapping);
    left_ = static_cast<size_t>(kPages);
  } else {
    while (chunk_ < 4 * bytes) chunk_ *= 2;
    chunks_.push_back(std::unique_ptr<std::byte[]>(new std::byte[chunk_]));
    next_ = chunks_.back().get();
    left_ = chunk_;
    if (chunk_ < kLargestChunk) chunk_ *= 2;
  }
  std::byte* const taken = next_;
  next_ += bytes;
  left_ -= bytes;
  return taken;
}

}  // namespace assay
