// Errors that input can cause, and the one place that decides their class. shape/ is the lowest folder,
// so these live here.
//
// Everything that a program, an input file or a flag can get wrong is an absl::Status made by one of the
// helpers below; the class decides the exit code of the command line (docs/architecture.md). Messages are
// lower case, name the op, the value found and the value wanted, and end without a full stop.
// ASSAY_CHECK is for our own bugs: no input may reach one.
#ifndef ASSAY_BASE_ERROR_H_
#define ASSAY_BASE_ERROR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace assay {

// A place in a program's text: 1-based line and column, 0 where unknown.
struct SourcePosition {
  int32_t line = 0;
  int32_t column = 0;
  bool known() const { return line > 0; }
  friend bool operator==(const SourcePosition&, const SourcePosition&) = default;
};

// The program is wrong: syntax, verifier, shapes. Exit 3.
[[gnu::cold]] absl::Status InvalidProgram(SourcePosition where, std::string_view message);
// The program is legal and asks for something that Assay does not do. Exit 4.
absl::Status NotSupported(SourcePosition where, std::string_view message);
// Evaluation met a value that the operation refuses (dynamic sizes, ragged ranges, deadlock). Exit 5.
[[gnu::cold]] absl::Status EvalError(SourcePosition where, std::string_view message);
// An input of the run is wrong: .npz content, arguments, files. Exit 5.
[[gnu::cold]] absl::Status BadInput(std::string_view message);
// A limit of limits.h was passed while evaluating. Exit 5.
[[gnu::cold]] absl::Status LimitExceeded(std::string_view which, int64_t value, int64_t limit);
// The same of memory, in bytes: `what` is what there is no room for.
[[gnu::cold]] absl::Status MemoryLimitExceeded(std::string_view what, int64_t bytes, int64_t limit);
// The system gives no more memory, whatever the limit. Exit 5.
[[gnu::cold]] absl::Status OutOfMemory(std::string_view what);
// Whether the error is one of these two.
bool IsMemoryError(const absl::Status& status);
// A limit of limits.h was passed while reading the program. Exit 3.
[[gnu::cold]] absl::Status ProgramLimitExceeded(SourcePosition where, std::string_view which, int64_t value,
                                                int64_t limit);
// A comparison found a difference. Exit 1.
[[gnu::cold]] absl::Status ComparisonFailed(std::string_view message);

// The same error with `where` filled in, if it has no position yet.
[[gnu::cold]] absl::Status WithPosition(absl::Status status, SourcePosition where);
// The same error, found in a text that starts at `base` of a larger one: its position, counted from 1:1, is
// moved there. An error without position gets `base`.
[[gnu::cold]] absl::Status WithPositionMovedTo(absl::Status status, SourcePosition base);
// The same error with "prefix: " before its message.
[[gnu::cold]] absl::Status WithPrefix(const absl::Status& status, std::string_view prefix);
// The same error with `suffix` behind its message.
[[gnu::cold]] absl::Status WithSuffix(const absl::Status& status, std::string_view suffix);

std::optional<SourcePosition> PositionOf(const absl::Status& status);
// 0 for OK, else 1, 3, 4 or 5 as docs/architecture.md lists them.
int ExitCodeOf(const absl::Status& status);

namespace internal {
[[noreturn, gnu::cold]] void CheckFailed(const char* condition, const char* file, int line);
}  // namespace internal

#define ASSAY_CHECK(condition)                                                             \
  do {                                                                                     \
    if (!(condition)) ::assay::internal::CheckFailed(#condition, __FILE_NAME__, __LINE__); \
  } while (false)

#define ASSAY_RETURN_IF_ERROR(expression)                                                     \
  do {                                                                                        \
    if (absl::Status assay_status_ = (expression); !assay_status_.ok()) return assay_status_; \
  } while (false)

#define ASSAY_CONCAT_INNER_(a, b) a##b
#define ASSAY_CONCAT_(a, b) ASSAY_CONCAT_INNER_(a, b)
// ASSAY_ASSIGN_OR_RETURN(auto x, F()); `declaration` must not contain a comma outside parentheses.
#define ASSAY_ASSIGN_OR_RETURN(declaration, expression) \
  ASSAY_ASSIGN_OR_RETURN_IMPL_(ASSAY_CONCAT_(assay_or_, __LINE__), declaration, expression)
#define ASSAY_ASSIGN_OR_RETURN_IMPL_(or_value, declaration, expression) \
  auto or_value = (expression);                                         \
  if (!or_value.ok()) return std::move(or_value).status();              \
  declaration = *std::move(or_value)

#ifdef __FAST_MATH__
#error "Assay's results are exact: it can't be built with -ffast-math"
#endif

}  // namespace assay

#endif  // ASSAY_BASE_ERROR_H_
