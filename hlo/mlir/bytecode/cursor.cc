// The longer numbers and the errors of MLIR bytecode.
#include "hlo/mlir/bytecode/cursor.h"

#include <bit>

#include "base/counted.h"
#include "fmt/format.h"

namespace assay::mlir {
namespace {

// The zero bits at the end of the first byte say how many bytes follow;
// eight mean that the value is those bytes.
size_t BytesBehind(uint8_t first) { return first == 0 ? 8 : static_cast<size_t>(std::countr_zero(first)); }

}  // namespace

absl::Status BytecodeError(size_t offset, std::string_view message) {
  return InvalidProgram({}, fmt::format("byte {}: {}", offset, message));
}

absl::Status Cursor::status() const {
  return ok() ? absl::OkStatus() : BytecodeError(error_->offset, error_->message);
}

void Cursor::Fail(std::string message) {
  if (ok()) error_ = &file_->errors.emplace_front(BytecodeFile::Error{offset(), std::move(message)});
  at_ = end_;
}

uint64_t Cursor::NothingLeft(const char* wanted) {
  Fail(fmt::format("found the end of a section, want {}", wanted));
  return 0;
}

uint64_t Cursor::AnyVarint() {
  if (at_ == end_) return NothingLeft("a number");
  const auto first = static_cast<uint8_t>(*at_);
  const size_t follow = BytesBehind(first);
  if (left() <= follow) {
    Fail(fmt::format("found {}, want a number of {}", Counted(left(), "byte"), follow + 1));
    return 0;
  }
  uint64_t value = 0;
  if (first == 0) {
    std::memcpy(&value, at_ + 1, 8);
  } else if (left() >= 8) {
    std::memcpy(&value, at_, 8);
    value = value << (56 - 8 * follow) >> (57 - 7 * follow);
  } else {
    std::memcpy(&value, at_, follow + 1);
    value >>= follow + 1;
  }
  at_ += follow + 1;
  return value;
}

// What ShortNumbers has read, or kNone, which is not too large by chance.
size_t Cursor::IndexOr(size_t index, size_t size, const char* what) {
  const uint64_t read = index == ShortNumbers::kNone ? AnyVarint() : index;
  if (read >= size) BadIndex(read, size, what);
  return ok() ? static_cast<size_t>(read) : ShortNumbers::kNone;
}

size_t Cursor::CountOr(size_t count) {
  const uint64_t read = count == ShortNumbers::kNone ? AnyVarint() : count;
  return read <= left() ? static_cast<size_t>(read) : BadCount(read);
}

size_t Cursor::BadCount(uint64_t count) {
  Fail(fmt::format("found a count of {}, only {} follow", count, Counted(left(), "byte")));
  return 0;
}

size_t Cursor::BadIndex(uint64_t index, size_t size, const char* what) {
  Fail(fmt::format("found {} {}, want less than {}", what, index, size));
  return 0;
}

void Cursor::BadLength(uint64_t length) {
  Fail(fmt::format("found a length of {}, only {} follow", length, Counted(left(), "byte")));
}

}  // namespace assay::mlir
