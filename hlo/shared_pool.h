// Small parts of a Module that many instructions share, or that there are many of: each is owned by all who
// use it, and they are allocated together.
#ifndef ASSAY_HLO_SHARED_POOL_H_
#define ASSAY_HLO_SHARED_POOL_H_

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

// A text that never changes. A copy is the same text in memory.
class SharedText {
 public:
  SharedText() = default;
  // Copies the text into memory of its own; TextPool makes many at less cost.
  SharedText(std::string_view text);  // NOLINT(google-explicit-constructor): as std::string has it
  SharedText(const std::string& text) : SharedText(std::string_view(text)) {}  // NOLINT
  SharedText(const char* text) : SharedText(std::string_view(text)) {}         // NOLINT

  std::string_view view() const { return {data_.get(), size_}; }
  operator std::string_view() const { return view(); }  // NOLINT(google-explicit-constructor)
  bool empty() const { return size_ == 0; }
  friend bool operator==(const SharedText& a, const SharedText& b) { return a.view() == b.view(); }
  friend bool operator==(const SharedText& a, std::string_view b) { return a.view() == b; }
  friend bool operator==(const SharedText& a, const char* b) { return a.view() == b; }

 private:
  friend class TextPool;
  SharedText(std::shared_ptr<const char> data, size_t size) : data_(std::move(data)), size_(size) {}

  std::shared_ptr<const char> data_;
  size_t size_ = 0;
};

// Texts in chunks; one text keeps its chunk alive.
class TextPool {
 public:
  SharedText Add(std::string_view text);

 private:
  std::shared_ptr<char[]> chunk_;
  size_t used_ = 0, capacity_ = 0;
};

// Objects in chunks; one object keeps its chunk alive.
template <typename T>
class SharedPool {
 public:
  SharedPool() = default;
  // `expected` objects, about: the first chunk is for as many.
  explicit SharedPool(size_t expected) : next_(std::clamp(expected, kFirst, kLargest)) {}

  template <typename... Arguments>
  std::shared_ptr<T> New(Arguments&&... arguments) {
    if (chunk_ == nullptr || chunk_->size() == chunk_->capacity()) {
      chunk_ = std::make_shared<std::vector<T>>();
      chunk_->reserve(next_);  // and never more: pointers to its objects stay
      next_ = std::min(kLargest, 2 * next_);
    }
    return std::shared_ptr<T>(chunk_, &chunk_->emplace_back(std::forward<Arguments>(arguments)...));
  }

 private:
  static constexpr size_t kFirst = 4, kLargest = 128;
  std::shared_ptr<std::vector<T>> chunk_;
  size_t next_ = kFirst;  // objects of the next chunk
};

}  // namespace assay

#endif  // ASSAY_HLO_SHARED_POOL_H_
