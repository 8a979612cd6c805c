// The primitives of MLIR bytecode (spec/stablehlo-bytecode.md section 1), over a range of the file.
//
// A read that fails returns 0 and all later ones do too; status() then says at which byte and why. Counts are
// bounded by the bytes that are left, so that no list is longer than its file.
#ifndef ASSAY_HLO_MLIR_BYTECODE_CURSOR_H_
#define ASSAY_HLO_MLIR_BYTECODE_CURSOR_H_

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "shape/error.h"

namespace assay::mlir {

// "byte N: message"
absl::Status BytecodeError(size_t offset, std::string_view message);

class Cursor {
 public:
  Cursor() = default;
  Cursor(std::string_view file, size_t begin, size_t end) : file_(file), at_(begin), end_(end) {}

  size_t offset() const { return at_; }
  size_t left() const { return end_ - at_; }
  size_t end() const { return end_; }
  bool ok() const { return error_.empty(); }
  absl::Status status() const { return ok() ? absl::OkStatus() : BytecodeError(error_at_, error_); }
  // Keeps the first error.
  void Fail(std::string message) {
    if (ok()) {
      error_ = std::move(message);
      error_at_ = at_;
    }
    at_ = end_;
  }

  uint8_t Byte() {
    if (at_ >= end_) {
      Fail("found the end of a section, want a byte");
      return 0;
    }
    return static_cast<uint8_t>(file_[at_++]);
  }
  uint64_t Varint() {
    if (at_ >= end_) {
      Fail("found the end of a section, want a number");
      return 0;
    }
    const auto first = static_cast<uint8_t>(file_[at_]);
    if (first & 1) {
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
  size_t Count();
  // An index below `size`.
  size_t Index(size_t size, const char* what) {
    const uint64_t index = Varint();
    if (index < size) return static_cast<size_t>(index);
    return BadIndex(index, size, what);
  }
  std::string_view Bytes(uint64_t count);
  std::string_view Blob() { return Bytes(Varint()); }

 private:
  uint64_t LongVarint(uint8_t first);
  size_t BadIndex(uint64_t index, size_t size, const char* what);

  std::string_view file_;
  size_t at_ = 0, end_ = 0;
  size_t error_at_ = 0;
  std::string error_;
};

}  // namespace assay::mlir

#endif  // ASSAY_HLO_MLIR_BYTECODE_CURSOR_H_
