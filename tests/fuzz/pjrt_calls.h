// Calls of the plugin's table as a fuzz target makes them: arguments lie in blocks of exactly the size that
// their struct_size says, so that the address sanitizer sees what is read or written behind it.
#ifndef ASSAY_TESTS_FUZZ_PJRT_CALLS_H_
#define ASSAY_TESTS_FUZZ_PJRT_CALLS_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include "base/error.h"
#include "pjrt/plugin/function_table.h"
#include "pjrt/plugin/pjrt_api.h"

namespace assay::pjrt {

// The input; zeros behind its end.
class Choices {
 public:
  explicit Choices(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  bool AtEnd() const { return bytes_.empty(); }
  uint8_t Byte() {
    if (bytes_.empty()) return 0;
    const uint8_t byte = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return byte;
  }
  template <typename T, size_t kCount>
  const T& Of(const T (&values)[kCount]) {
    return values[Byte() % kCount];
  }
  std::span<const uint8_t> Take(size_t count) {
    const std::span<const uint8_t> taken = bytes_.first(std::min(count, bytes_.size()));
    bytes_ = bytes_.subspan(taken.size());
    return taken;
  }

 private:
  std::span<const uint8_t> bytes_;
};

// A struct of the interface in a block of its own.
class Block {
 public:
  // `choice` 0: all that Assay knows of the struct. Others are too small, or of a newer writer.
  Block(const void* args, size_t least, size_t known, uint8_t choice) {
    const size_t sizes[] = {known, least, least - 1, 0, 8, 16, known + 8, known + 64};
    size_ = choice < std::size(sizes) ? sizes[choice] : choice;
    is_short_ = size_ < least;
    const size_t room = std::max(size_, sizeof(size_t));
    bytes_ = std::make_unique<uint8_t[]>(room);
    std::memcpy(bytes_.get(), args, std::min(room, known));
    std::memcpy(bytes_.get(), &size_, sizeof(size_t));
  }
  void* get() { return bytes_.get(); }
  bool is_short() const { return is_short_; }
  void CopyTo(void* args, size_t known) const { std::memcpy(args, bytes_.get(), std::min(size_, known)); }

 private:
  size_t size_;
  bool is_short_;
  std::unique_ptr<uint8_t[]> bytes_;
};

// Ends the error, and gives its code; kOk where there is none. Every error has a message and a code of those
// that a caller can cause: an internal error would be a bug.
inline ErrorCode TakeCode(Error* error) {
  if (error == nullptr) return ErrorCode::kOk;
  const auto call = [](FunctionId id, auto& args) {
    args.struct_size = kSizeOf<std::remove_reference_t<decltype(args)>>;
    ASSAY_CHECK(GetPjrtApi()->functions[static_cast<size_t>(id)](&args) == nullptr);
  };
  ErrorGetCodeArgs code = {.error = error};
  call(FunctionId::kError_GetCode, code);
  ErrorMessageArgs message = {.error = error};
  call(FunctionId::kError_Message, message);
  ASSAY_CHECK(message.message_size > 0);
  ErrorDestroyArgs destroy = {.error = error};
  call(FunctionId::kError_Destroy, destroy);
  constexpr ErrorCode kCaused[] = {ErrorCode::kInvalidArgument, ErrorCode::kUnimplemented,
                                   ErrorCode::kResourceExhausted, ErrorCode::kFailedPrecondition};
  ASSAY_CHECK(std::find(std::begin(kCaused), std::end(kCaused), code.code) != std::end(kCaused));
  return code.code;
}

// These give no error whatever they get.
inline bool NeverFails(Function* function) {
  for (const FunctionId id :
       {FunctionId::kError_Destroy, FunctionId::kError_Message, FunctionId::kError_ForEachPayload}) {
    if (GetPjrtApi()->functions[static_cast<size_t>(id)] == function) return true;
  }
  return false;
}

// What is written into the arguments is there behind the call, unless it failed.
inline ErrorCode CallRaw(Function* function, void* args, size_t least, size_t known, uint8_t size_choice) {
  Block block(args, least, known, size_choice);
  const ErrorCode code = TakeCode(function(block.get()));
  if (block.is_short() && !NeverFails(function))
    ASSAY_CHECK(code == ErrorCode::kInvalidArgument || code == ErrorCode::kUnimplemented);
  if (code == ErrorCode::kOk) block.CopyTo(args, known);
  return block.is_short() ? ErrorCode::kInvalidArgument : code;
}

template <class Args>
ErrorCode CallTyped(FunctionId id, Args& args, uint8_t size_choice = 0) {
  return CallRaw(GetPjrtApi()->functions[static_cast<size_t>(id)], &args, kSizeOf<Args>, sizeof(Args),
                 size_choice);
}

}  // namespace assay::pjrt

#endif  // ASSAY_TESTS_FUZZ_PJRT_CALLS_H_
