#include "pjrt/plugin/error.h"

#include <exception>
#include <new>

#include "fmt/format.h"
#include "pjrt/plugin/function_table.h"

namespace assay::pjrt {
namespace {

// Given out where there is no memory for another one.
Error& NoMemory() {
  static Error& error = *new Error{ErrorCode::kResourceExhausted, "out of memory"};
  return error;
}
[[maybe_unused]] const Error& made_beforehand = NoMemory();

ErrorCode CodeOf(const absl::Status& status) {
  // Of BadInput: the argument is wrong, whatever the program.
  if (status.code() == absl::StatusCode::kOutOfRange) return ErrorCode::kInvalidArgument;
  return static_cast<ErrorCode>(status.code());
}

// These two can't fail, and take structs of any size that have their fields.
Error* Destroy(void* raw) {
  const auto* const args = static_cast<const ErrorDestroyArgs*>(raw);
  if (args != nullptr && args->struct_size >= kSizeOf<ErrorDestroyArgs> && args->error != &NoMemory())
    delete args->error;
  return nullptr;
}

Error* Message(void* raw) {
  auto* const args = static_cast<ErrorMessageArgs*>(raw);
  if (args == nullptr || args->struct_size < kSizeOf<ErrorMessageArgs>) return nullptr;
  args->message = args->error == nullptr ? "" : args->error->message.data();
  args->message_size = args->error == nullptr ? 0 : args->error->message.size();
  return nullptr;
}

absl::Status GetCode(ErrorGetCodeArgs& args) {
  args.code = args.error == nullptr ? ErrorCode::kOk : args.error->code;
  return absl::OkStatus();
}

// Errors have no payloads to tell of. It must not fail: frameworks would ask for the payloads of that error.
Error* ForEachPayload(void*) { return nullptr; }

}  // namespace

Error* ErrorOf(const absl::Status& status) noexcept {
  if (status.ok()) return nullptr;
  try {
    std::string message(status.message());
    if (const std::optional<SourcePosition> position = PositionOf(status))
      message = fmt::format("{}:{}: {}", position->line, position->column, message);
    return new Error{CodeOf(status), std::move(message)};
  } catch (const std::bad_alloc&) {
    return &NoMemory();
  }
}

Error* ErrorOfException() noexcept {
  try {
    try {
      throw;
    } catch (const std::bad_alloc&) {
      return &NoMemory();
    } catch (const std::exception& exception) {
      return new Error{ErrorCode::kInternal, exception.what()};
    } catch (...) {
      return new Error{ErrorCode::kInternal, "an exception of an unknown type"};
    }
  } catch (const std::bad_alloc&) {
    return &NoMemory();
  }
}

absl::Status Wanted(const void* pointer, std::string_view name) {
  if (pointer != nullptr) return absl::OkStatus();
  return InvalidProgram({}, fmt::format("{} is null", name));
}

absl::Status WantSize(size_t size, size_t wanted, std::string_view what) {
  if (size >= wanted) return absl::OkStatus();
  return InvalidProgram({}, fmt::format("the struct_size of {} is {}, want at least {}", what, size, wanted));
}

void AddErrorFunctions(FunctionTable& table) {
  table.SetRaw(FunctionId::kError_Destroy, Destroy);
  table.SetRaw(FunctionId::kError_Message, Message);
  table.Set<GetCode>(FunctionId::kError_GetCode);
  table.SetRaw(FunctionId::kError_ForEachPayload, ForEachPayload);
}

}  // namespace assay::pjrt
