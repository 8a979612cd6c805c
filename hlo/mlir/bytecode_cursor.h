// The primitives of MLIR bytecode (spec/stablehlo-bytecode.md section 1), over a range of the file.
//
// A read that fails returns 0 and all later ones do too; status() then says at which byte and why. Counts are
// bounded by the bytes that are left, so that no list is longer than its file.
#ifndef ASSAY_HLO_MLIR_BYTECODE_CURSOR_H_
#define ASSAY_HLO_MLIR_BYTECODE_CURSOR_H_

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "shape/error.h"

namespace assay::mlir {

// "byte N: message"
absl::Status BytecodeError(size_t offset, std::string_view message);

class Cursor {
 public:
  Cursor() = default;
  Cursor(std::string_view file, size_t begin, size_t end)
      : file_(file.data()), at_(file_ + begin), end_(file_ + end) {}

  size_t offset() const { return static_cast<size_t>(at_ - file_); }
  size_t left() const { return static_cast<size_t>(end_ - at_); }
  bool ok() const { return error_ == nullptr; }
  absl::Status status() const;
  // Keeps the first error.
  [[gnu::cold]] void Fail(std::string message);
  // A cursor over what is left.
  Cursor Rest() const {
    Cursor rest;
    rest.file_ = file_;
    rest.at_ = at_;
    rest.end_ = end_;
    return rest;
  }

  uint8_t Byte() {
    if (at_ == end_) [[unlikely]] {
      return static_cast<uint8_t>(NothingLeft("a byte"));
    }
    return static_cast<uint8_t>(*at_++);
  }
  uint64_t Varint() {
    if (at_ == end_) [[unlikely]] {
      return NothingLeft("a number");
    }
    const auto first = static_cast<uint8_t>(*at_);
    if (first & 1) [[likely]] {
      ++at_;
      return first >> 1;
    }
    return LongVarint(first);
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
  struct Error {
    size_t offset = 0;
    std::string message;
  };
  uint64_t LongVarint(uint8_t first);
  [[gnu::cold]] uint64_t NothingLeft(const char* wanted);
  [[gnu::cold]] size_t BadIndex(uint64_t index, size_t size, const char* what);
  [[gnu::cold]] size_t BadCount(uint64_t count);
  [[gnu::cold]] void BadLength(uint64_t length);

  const char* file_ = nullptr;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  std::unique_ptr<Error> error_;
};

}  // namespace assay::mlir

#endif  // ASSAY_HLO_MLIR_BYTECODE_CURSOR_H_
