// The longer numbers and the errors of MLIR bytecode.
#include "hlo/mlir/bytecode_cursor.h"

#include "fmt/format.h"

namespace assay::mlir {

absl::Status BytecodeError(size_t offset, std::string_view message) {
  return InvalidProgram({}, fmt::format("byte {}: {}", offset, message));
}

// The zero bits at the end of the first byte say how many bytes follow; eight mean that the value is those bytes.
uint64_t Cursor::LongVarint(uint8_t first) {
  const int follow = first == 0 ? 8 : std::countr_zero(first);
  if (left() < static_cast<size_t>(follow) + 1) {
    Fail(fmt::format("found {} bytes, want a number of {}", left(), follow + 1));
    return 0;
  }
  uint64_t value = 0;
  if (first == 0) {
    std::memcpy(&value, file_.data() + at_ + 1, 8);
    at_ += 9;
    return value;
  }
  std::memcpy(&value, file_.data() + at_, static_cast<size_t>(follow) + 1);
  at_ += static_cast<size_t>(follow) + 1;
  return value >> (follow + 1);
}

size_t Cursor::Count() {
  const uint64_t count = Varint();
  if (count <= left()) return static_cast<size_t>(count);
  Fail(fmt::format("found a count of {}, only {} bytes follow", count, left()));
  return 0;
}

size_t Cursor::BadIndex(uint64_t index, size_t size, const char* what) {
  Fail(fmt::format("found {} {}, want less than {}", what, index, size));
  return 0;
}

std::string_view Cursor::Bytes(uint64_t count) {
  if (count > left()) {
    Fail(fmt::format("found a length of {}, only {} bytes follow", count, left()));
    return {};
  }
  const std::string_view bytes = file_.substr(at_, static_cast<size_t>(count));
  at_ += static_cast<size_t>(count);
  return bytes;
}

}  // namespace assay::mlir
