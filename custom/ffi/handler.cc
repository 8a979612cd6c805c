#include "custom/ffi/handler.h"

#include <exception>

#include "custom/ffi/api.h"
#include "custom/ffi/call_context.h"
#include "custom/float_environment.h"
#include "fmt/format.h"

namespace assay::custom::ffi {
namespace {

constexpr abi::Stage kStages[] = {abi::Stage::kInstantiate, abi::Stage::kPrepare, abi::Stage::kInitialize,
                                  abi::Stage::kExecute};

// What the handler answers, or what it throws.
HandlerError Called(abi::Handler* handler, abi::CallFrame& frame) {
  const KeptFloatEnvironment kept;
  try {
    return TakeError(handler(&frame));
  } catch (const std::exception& e) {
    return {abi::ErrorCode::kInternal, fmt::format("an exception came out of the handler: {}", e.what())};
  } catch (...) {
    return {abi::ErrorCode::kInternal, "an exception came out of the handler"};
  }
}

}  // namespace

std::string_view NameOf(abi::Stage stage) {
  constexpr std::string_view kNames[] = {"instantiate", "prepare", "initialize", "execute"};
  return kNames[static_cast<size_t>(stage)];
}

absl::StatusOr<FfiHandlers> FfiHandlers::Make(std::string_view target, const abi::HandlerBundle& bundle) {
  FfiHandlers handlers(target, bundle);
  if (target.empty()) return BadInput("ffi: a target without a name");
  if (bundle.execute == nullptr)
    return BadInput(fmt::format("ffi: target '{}' has no handler of stage execute", target));
  for (const abi::Stage stage : kStages) {
    if (handlers.Has(stage)) ASSAY_RETURN_IF_ERROR(handlers.CheckVersion(stage));
  }
  return handlers;
}

absl::Status FfiHandlers::CheckVersion(abi::Stage stage) const {
  constexpr int kNone = -1;
  abi::Metadata metadata = {abi::kMetadataSize, {sizeof(abi::ApiVersion), nullptr, kNone, kNone}, 0, {}};
  abi::MetadataExtension extension = {
      {sizeof(abi::MetadataExtension), abi::ExtensionType::kMetadata, nullptr}, &metadata};
  // Nothing but the question: jaxlib's asks in stage execute, without a context.
  abi::CallFrame frame = {};
  frame.struct_size = abi::kCallFrameSize;
  frame.extensions = &extension.base;
  frame.api = &FunctionTable();
  frame.stage = abi::Stage::kExecute;
  frame.arguments.struct_size = sizeof(abi::Arguments);
  frame.results.struct_size = sizeof(abi::Results);
  frame.attributes.struct_size = sizeof(abi::Attributes);
  const HandlerError error = Called(handlers_[static_cast<size_t>(stage)], frame);
  if (error.code != abi::ErrorCode::kOk) {
    return BadInput(fmt::format("ffi: target '{}', {}: asked for its version: {}: {}", target_, NameOf(stage),
                                NameOf(error.code), error.message));
  }
  const abi::ApiVersion& version = metadata.version;
  if (version.major == kNone) {
    return BadInput(
        fmt::format("ffi: target '{}', {}: asked for its version, it says nothing: no handler of XLA's FFI",
                    target_, NameOf(stage)));
  }
  if (version.major == abi::kMajorVersion && version.minor >= abi::kOldestMinorVersion &&
      version.minor <= abi::kMinorVersion)
    return absl::OkStatus();
  return NotSupported(
      {}, fmt::format("ffi: target '{}', {}: the handler has version {}.{} of XLA's FFI, want {}.{} to {}.{}",
                      target_, NameOf(stage), version.major, version.minor, abi::kMajorVersion,
                      abi::kOldestMinorVersion, abi::kMajorVersion, abi::kMinorVersion));
}

absl::Status FfiHandlers::Call(abi::Stage stage, abi::CallFrame& frame,
                               abi::ExecutionContext& context) const {
  context.stage = stage;
  frame.struct_size = abi::kCallFrameSize;
  frame.api = &FunctionTable();
  frame.context = &context;
  frame.stage = stage;
  frame.future = nullptr;
  const HandlerError error = Called(handlers_[static_cast<size_t>(stage)], frame);
  return error.code == abi::ErrorCode::kOk ? absl::OkStatus() : ErrorOf(stage, error);
}

absl::Status FfiHandlers::ErrorOf(abi::Stage stage, const HandlerError& error) const {
  const std::string text =
      fmt::format("ffi: target '{}', {}: {}: {}", target_, NameOf(stage), NameOf(error.code),
                  error.message.empty() ? "no message" : error.message);
  return error.code == abi::ErrorCode::kUnimplemented ? NotSupported({}, text) : EvalError({}, text);
}

}  // namespace assay::custom::ffi
