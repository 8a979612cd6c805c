#include "base/error.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace assay {
namespace {

// Payloads carry what absl::Status has no field for: the position, and whether a limit was one on the
// program text (exit 3) or one on the run (exit 5).
constexpr absl::string_view kPositionPayload = "assay/position";
constexpr absl::string_view kProgramLimitPayload = "assay/program-limit";
constexpr absl::string_view kMemoryPayload = "assay/memory";

absl::string_view View(std::string_view s) { return absl::string_view(s.data(), s.size()); }

absl::Status Make(absl::StatusCode code, SourcePosition where, std::string_view message) {
  return WithPosition(absl::Status(code, View(message)), where);
}

std::string LimitMessage(std::string_view which, int64_t value, int64_t limit) {
  return absl::StrCat(View(which), " is ", value, ", over the limit of ", limit);
}

absl::Status WithMessage(const absl::Status& status, absl::string_view message) {
  if (status.ok()) return status;
  absl::Status result(status.code(), message);
  status.ForEachPayload(
      [&](absl::string_view url, const absl::Cord& payload) { result.SetPayload(url, payload); });
  return result;
}

}  // namespace

absl::Status InvalidProgram(SourcePosition where, std::string_view message) {
  return Make(absl::StatusCode::kInvalidArgument, where, message);
}
absl::Status NotSupported(SourcePosition where, std::string_view message) {
  return Make(absl::StatusCode::kUnimplemented, where, message);
}
absl::Status EvalError(SourcePosition where, std::string_view message) {
  return Make(absl::StatusCode::kFailedPrecondition, where, message);
}
absl::Status BadInput(std::string_view message) {
  return absl::Status(absl::StatusCode::kOutOfRange, View(message));
}
absl::Status LimitExceeded(std::string_view which, int64_t value, int64_t limit) {
  return absl::Status(absl::StatusCode::kResourceExhausted, LimitMessage(which, value, limit));
}
absl::Status MemoryLimitExceeded(std::string_view what, int64_t bytes, int64_t limit) {
  absl::Status status = LimitExceeded(absl::StrCat("memory in bytes, for ", View(what), ","), bytes, limit);
  status.SetPayload(kMemoryPayload, absl::Cord());
  return status;
}
absl::Status OutOfMemory(std::string_view what) {
  absl::Status status = absl::ResourceExhaustedError(absl::StrCat("out of memory: no room for ", View(what)));
  status.SetPayload(kMemoryPayload, absl::Cord());
  return status;
}
bool IsMemoryError(const absl::Status& status) { return status.GetPayload(kMemoryPayload).has_value(); }
absl::Status ProgramLimitExceeded(SourcePosition where, std::string_view which, int64_t value,
                                  int64_t limit) {
  absl::Status status = Make(absl::StatusCode::kResourceExhausted, where, LimitMessage(which, value, limit));
  status.SetPayload(kProgramLimitPayload, absl::Cord("1"));
  return status;
}
absl::Status ComparisonFailed(std::string_view message) {
  return absl::Status(absl::StatusCode::kDataLoss, View(message));
}

absl::Status WithPosition(absl::Status status, SourcePosition where) {
  if (status.ok() || !where.known() || PositionOf(status).has_value()) return status;
  status.SetPayload(kPositionPayload, absl::Cord(absl::StrCat(where.line, ":", where.column)));
  return status;
}

absl::Status WithPositionMovedTo(absl::Status status, SourcePosition base) {
  const std::optional<SourcePosition> inner = PositionOf(status);
  if (!inner || !base.known()) return WithPosition(std::move(status), base);
  status.ErasePayload(kPositionPayload);
  SourcePosition where = *inner;
  if (where.line == 1) where.column += base.column - 1;
  where.line += base.line - 1;
  return WithPosition(std::move(status), where);
}

absl::Status WithPrefix(const absl::Status& status, std::string_view prefix) {
  return WithMessage(status, absl::StrCat(View(prefix), ": ", status.message()));
}

absl::Status WithSuffix(const absl::Status& status, std::string_view suffix) {
  return WithMessage(status, absl::StrCat(status.message(), View(suffix)));
}

std::optional<SourcePosition> PositionOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kPositionPayload);
  if (!payload) return std::nullopt;
  SourcePosition where;
  const std::string text(*payload);
  if (std::sscanf(text.c_str(), "%d:%d", &where.line, &where.column) != 2) return std::nullopt;
  return where;
}

int ExitCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return 0;
    case absl::StatusCode::kDataLoss:
      return 1;
    case absl::StatusCode::kInvalidArgument:
      return 3;
    case absl::StatusCode::kUnimplemented:
      return 4;
    case absl::StatusCode::kResourceExhausted:
      return status.GetPayload(kProgramLimitPayload) ? 3 : 5;
    default:
      return 5;
  }
}

namespace internal {
void CheckFailed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "assay: internal error: check '%s' failed at %s:%d\n", condition, file, line);
  std::abort();
}
}  // namespace internal

}  // namespace assay
