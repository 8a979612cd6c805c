// Handlers of XLA's FFI written in tests, and programs that call them.
#ifndef ASSAY_TESTS_CUSTOM_FFI_HANDLER_TESTING_H_
#define ASSAY_TESTS_CUSTOM_FFI_HANDLER_TESTING_H_

#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "custom/ffi/ffi_ops.h"
#include "fmt/format.h"
#include "hlo/load/load.h"
#include "literal/literal_text.h"
#include "run/program.h"
#include "tests/run/run_text.h"

namespace assay::custom::ffi {

inline abi::Error* NewError(const abi::CallFrame& frame, abi::ErrorCode code, const char* message) {
  abi::ErrorCreateArgs args = {abi::kErrorCreateSize, nullptr, message, code};
  return frame.api->error_create(&args);
}

// Answers the question for the version; true: that was the question.
inline bool AnswersVersion(const abi::CallFrame& frame, int minor = abi::kMinorVersion,
                           int major = abi::kMajorVersion) {
  if (frame.extensions == nullptr || frame.extensions->type != abi::ExtensionType::kMetadata) return false;
  abi::Metadata& metadata = *reinterpret_cast<abi::MetadataExtension*>(frame.extensions)->metadata;
  metadata.version.major = major;
  metadata.version.minor = minor;
  return true;
}

inline const abi::Buffer& ArgumentOf(const abi::CallFrame& frame, int64_t i) {
  return *static_cast<const abi::Buffer*>(frame.arguments.values[i]);
}
inline const abi::Buffer& ResultOf(const abi::CallFrame& frame, int64_t i) {
  return *static_cast<const abi::Buffer*>(frame.results.values[i]);
}
inline int64_t SizeOf(const abi::Buffer& buffer) {
  int64_t size = 1;
  for (int64_t d = 0; d < buffer.rank; ++d) size *= buffer.sizes[d];
  return size;
}

inline std::shared_ptr<const FfiOps> OpsWith(std::string_view target, const abi::HandlerBundle& bundle) {
  const auto ops = std::make_shared<FfiOps>();
  const absl::Status status = ops->Register(target, bundle);
  INFO(status);
  REQUIRE(status.ok());
  return ops;
}
inline std::shared_ptr<const FfiOps> OpsWith(std::string_view target, abi::Handler* execute) {
  return OpsWith(target, abi::HandlerBundle{nullptr, nullptr, nullptr, execute});
}

inline absl::StatusOr<Program> ProgramWith(std::shared_ptr<const CustomOps> ops, std::string_view text) {
  return Program::Load("program.hlo", text, {.custom_ops = std::move(ops)});
}

// A call of `target` on operands as OpProgram takes them.
inline std::string CallProgram(std::string_view target, const std::vector<std::string>& operands,
                               const std::string& result, std::string_view config = "{}",
                               std::string_view more = "") {
  return OpProgram(
      "custom-call", operands, result,
      fmt::format(", custom_call_target=\"{}\", api_version=API_VERSION_TYPED_FFI, backend_config={}{}",
                  target, config, more));
}

inline absl::StatusOr<Literal> RunWith(std::shared_ptr<const CustomOps> ops, std::string_view text,
                                       const std::vector<std::string>& operands,
                                       EngineChoice engine = EngineChoice::kExact,
                                       const RunOptions& options = {}) {
  ASSAY_ASSIGN_OR_RETURN(const Program program, ProgramWith(std::move(ops), text));
  std::vector<Literal> values;
  for (const std::string& operand : operands) values.push_back(Value(operand));
  return program.Run(std::move(values), options, EnginesOf(engine));
}

// Only a run says in which instruction an error was; a plan's error has its position.
inline std::string WithoutPlace(const std::string& message) {
  return message.substr(0, message.find(" (in '%"));
}

// The text of the result of a call by both engines, or the error of it.
inline std::string Called(const std::shared_ptr<const CustomOps>& ops, std::string_view text,
                          const std::vector<std::string>& operands, const RunOptions& options = {}) {
  std::string first;
  for (const EngineChoice engine : {EngineChoice::kReference, EngineChoice::kExact}) {
    const absl::StatusOr<Literal> result = RunWith(ops, text, operands, engine, options);
    const std::string shown = result.ok() ? LiteralToText(*result)
                                          : fmt::format("exit {}: {}", ExitCodeOf(result.status()),
                                                        WithoutPlace(std::string(result.status().message())));
    if (engine == EngineChoice::kReference) {
      first = shown;
    } else {
      CHECK(shown == first);
    }
  }
  return first;
}

}  // namespace assay::custom::ffi

#endif  // ASSAY_TESTS_CUSTOM_FFI_HANDLER_TESTING_H_
