// The primitives of MLIR bytecode (docs/spec/stablehlo-bytecode.md section 1), over a range of the file.
//
// A read that fails returns 0 and all later ones do too; status() then says at which byte and why. Counts are
// bounded by the bytes that are left, so that no list is longer than its file.
#ifndef ASSAY_HLO_MLIR_BYTECODE_CURSOR_H_
#define ASSAY_HLO_MLIR_BYTECODE_CURSOR_H_

#include <cstdint>
#include <cstring>
#include <forward_list>
#include <string>
#include <string_view>

#include "base/error.h"

namespace assay::mlir {

// "byte N: message"
absl::Status BytecodeError(size_t offset, std::string_view message);

// The file that cursors are in, and the first error of each of them.
struct BytecodeFile {
  struct Error {
    size_t offset = 0;
    std::string message;
  };
  std::string_view bytes;
  std::forward_list<Error> errors;
};

class Cursor {
 public:
  Cursor() = default;
  Cursor(BytecodeFile& file, size_t begin, size_t end)
      : file_(&file), at_(file.bytes.data() + begin), end_(file.bytes.data() + end) {}

  size_t offset() const { return static_cast<size_t>(at_ - file_->bytes.data()); }
  size_t left() const { return static_cast<size_t>(end_ - at_); }
  bool ok() const { return error_ == nullptr; }
  absl::Status status() const;
  // Keeps the first error.
  [[gnu::cold]] void Fail(std::string message);
  // A cursor over what is left.
  Cursor Rest() const {
    Cursor rest = *this;
    rest.error_ = nullptr;
    return rest;
  }

  uint8_t Byte() {
    if (at_ == end_) [[unlikely]] {
      return static_cast<uint8_t>(NothingLeft("a byte"));
    }
    return static_cast<uint8_t>(*at_++);
  }
  uint64_t Varint() {
    if (at_ != end_) [[likely]] {
      const auto first = static_cast<uint8_t>(*at_);
      if (first & 1) [[likely]] {
        ++at_;
        return first >> 1;
      }
    }
    return AnyVarint();
  }
  int64_t Signed() {
    const uint64_t value = Varint();
    return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
  }
  uint64_t WithFlag(bool* flag) {
    const uint64_t value = Varint();
    *flag = (value & 1) != 0;
    return value >> 1;
  }
  // A number of things that take a byte or more each.
  size_t Count() {
    const uint64_t count = Varint();
    if (count <= left()) [[likely]] {
      return static_cast<size_t>(count);
    }
    return BadCount(count);
  }
  // An index below `size`.
  size_t Index(size_t size, const char* what) {
    const uint64_t index = Varint();
    if (index < size) [[likely]] {
      return static_cast<size_t>(index);
    }
    return BadIndex(index, size, what);
  }
  std::string_view Bytes(uint64_t count) {
    if (count > left()) [[unlikely]] {
      BadLength(count);
      return {};
    }
    const std::string_view bytes(at_, static_cast<size_t>(count));
    at_ += count;
    return bytes;
  }
  std::string_view Blob() { return Bytes(Varint()); }

 private:
  friend class ShortNumbers;
  uint64_t AnyVarint();
  size_t IndexOr(size_t index, size_t size, const char* what);
  size_t CountOr(size_t count);
  [[gnu::cold]] uint64_t NothingLeft(const char* wanted);
  [[gnu::cold]] size_t BadIndex(uint64_t index, size_t size, const char* what);
  [[gnu::cold]] size_t BadCount(uint64_t count);
  [[gnu::cold]] void BadLength(uint64_t length);

  BytecodeFile* file_ = nullptr;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  const BytecodeFile::Error* error_ = nullptr;
};

// Numbers of one and two bytes, which are nearly all, read in registers. Whatever else comes is left to the
// cursor that they come from; once it has failed nothing is left here either.
class ShortNumbers {
 public:
  static constexpr size_t kNone = SIZE_MAX;

  explicit ShortNumbers(const Cursor& in) : at_(in.at_), end_(in.end_) {}
  ShortNumbers(std::string_view file, size_t begin, size_t end)
      : at_(file.data() + begin), end_(file.data() + end) {}

  const char* at() const { return at_; }
  size_t left() const { return static_cast<size_t>(end_ - at_); }
  // kNone: the number is longer, or not there.
  size_t Next() {
    if (at_ == end_) [[unlikely]]
      return kNone;
    const size_t first = static_cast<uint8_t>(*at_);
    if (first & 1) [[likely]] {
      ++at_;
      return first >> 1;
    }
    if ((first & 2) == 0 || end_ - at_ < 2) [[unlikely]]
      return kNone;
    const size_t second = static_cast<uint8_t>(at_[1]);
    at_ += 2;
    return second << 6 | first >> 2;
  }
  // A number of any length, where Next() gave none.
  uint64_t Long(Cursor& in) {
    in.at_ = at_;
    const uint64_t read = in.AnyVarint();
    at_ = in.at_;
    return read;
  }
  // Works as Cursor's does; kNone: `in` has failed.
  size_t Index(Cursor& in, size_t size, const char* what) {
    const size_t index = Next();
    if (index < size) [[likely]]
      return index;
    in.at_ = at_;
    const size_t read = in.IndexOr(index, size, what);
    at_ = in.at_;
    return read;
  }
  size_t Byte(Cursor& in) {
    if (at_ != end_) [[likely]]
      return static_cast<uint8_t>(*at_++);
    in.at_ = at_;
    return in.Byte();
  }
  // Works as Cursor's does; 0 where `in` has failed.
  size_t Count(Cursor& in) {
    const size_t count = Next();
    if (count <= left()) [[likely]]
      return count;
    in.at_ = at_;
    const size_t read = in.CountOr(count);
    at_ = in.at_;
    return read;
  }
  // `in` goes on where this ends.
  void GiveBack(Cursor& in) const { in.at_ = at_; }

 private:
  const char* at_;
  const char* end_;
};

}  // namespace assay::mlir

#endif  // ASSAY_HLO_MLIR_BYTECODE_CURSOR_H_
