// What authors of operations report errors with. This and the other headers of custom/api are compiled into
// their libraries, and know of Assay the C structures of custom/c_api.h alone.
#ifndef ASSAY_CUSTOM_API_STATUS_H_
#define ASSAY_CUSTOM_API_STATUS_H_

#include <cstdint>
#include <sstream>
#include <string>
#include <utility>

#include "custom/c_api.h"

// A library's own copy of everything: two libraries that were built otherwise never
// share a function or a list.
#define ASSAY_OP_API __attribute__((visibility("hidden")))

namespace assay {
namespace op ASSAY_OP_API {

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(int32_t code, std::string message) : code_(code), message_(std::move(message)) {}
  bool ok() const { return code_ == ASSAY_OK; }
  int32_t code() const { return code_; }
  const std::string& message() const { return message_; }

 private:
  int32_t code_ = ASSAY_OK;
  std::string message_;
};

template <typename... Parts>
std::string Joined(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

inline Status Ok() { return {}; }
// The call is wrong: an operand's shape, an attribute.
template <typename... Parts>
Status InvalidArgument(const Parts&... parts) {
  return {ASSAY_INVALID_ARGUMENT, Joined(parts...)};
}
template <typename... Parts>
Status Unimplemented(const Parts&... parts) {
  return {ASSAY_UNIMPLEMENTED, Joined(parts...)};
}
// The values are wrong.
template <typename... Parts>
Status FailedPrecondition(const Parts&... parts) {
  return {ASSAY_FAILED, Joined(parts...)};
}
template <typename... Parts>
Status ResourceExhausted(const Parts&... parts) {
  return {ASSAY_RESOURCE_EXHAUSTED, Joined(parts...)};
}
template <typename... Parts>
Status Internal(const Parts&... parts) {
  return {ASSAY_INTERNAL, Joined(parts...)};
}

inline AssayText TextOf(const std::string& text) { return {text.data(), text.size()}; }
inline std::string StringOf(AssayText text) { return std::string(text.data, text.size); }

}  // namespace ASSAY_OP_API
}  // namespace assay

// In functions without a result, whose `c` has SetStatus: they end here where the condition does not hold.
#define ASSAY_REQUIRES(c, condition, status) \
  do {                                       \
    if (!(condition)) {                      \
      (c)->SetStatus(status);                \
      return;                                \
    }                                        \
  } while (false)
#define ASSAY_REQUIRES_OK(c, expression)                                             \
  do {                                                                               \
    if (::assay::op::Status assay_op_status = (expression); !assay_op_status.ok()) { \
      (c)->SetStatus(std::move(assay_op_status));                                    \
      return;                                                                        \
    }                                                                                \
  } while (false)
// In functions that return a Status.
#define ASSAY_OP_RETURN_IF_ERROR(expression)                                                               \
  do {                                                                                                     \
    if (::assay::op::Status assay_op_status = (expression); !assay_op_status.ok()) return assay_op_status; \
  } while (false)

#endif  // ASSAY_CUSTOM_API_STATUS_H_
