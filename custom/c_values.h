// Attributes, arrays and arguments as the structures of custom/c_api.h.
#ifndef ASSAY_CUSTOM_C_VALUES_H_
#define ASSAY_CUSTOM_C_VALUES_H_

#include <deque>
#include <span>
#include <string_view>
#include <vector>

#include "custom/c_api.h"
#include "custom/op_interface.h"
#include "custom/resolved_call.h"
#include "literal/literal.h"

namespace assay::custom {

inline std::string_view ViewOf(AssayText text) { return {text.data, text.size}; }

// The C view of attributes. It points into `values` and into itself.
class CAttrs {
 public:
  explicit CAttrs(const OpAttrValues& values);
  CAttrs(const CAttrs&) = delete;
  CAttrs& operator=(const CAttrs&) = delete;
  const AssayAttr* data() const { return attrs_.data(); }
  size_t size() const { return attrs_.size(); }

 private:
  AssayAttr Of(const OpAttrValue& value);
  std::vector<AssayAttr> attrs_;
  std::deque<std::vector<AssayAttr>> lists_;
};

// Names and ranges of a call's inputs, or outputs.
std::vector<AssayArgument> CArguments(const std::vector<OpArgument>& arguments,
                                      const std::vector<ArgumentRange>& ranges);

// A literal, or a shape without data; both live as long as the result is used.
AssayArray CArray(const Literal& literal);
AssayArray CArray(const Shape& shape);

// What a library reported, with the operation's name before it: an error of the call (InvalidProgram) as long
// as the program does not run, of its values (EvalError) when it does;
// NotSupported and LimitExceeded in both.
absl::Status ErrorOf(std::string_view op, int32_t code, AssayText message, bool running);

// The bytes of temporary memory that a kernel asks for: EvalError where no array has such a type and sizes.
absl::StatusOr<int64_t> TemporaryBytes(std::string_view op, AssayType code, int64_t rank,
                                       const int64_t* sizes);

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_C_VALUES_H_
