// The functions of the interface. Each checks that its arguments are as large as it reads them, answers with
// an error object or null, and lets no exception out.
#include "custom/ffi/api.h"

#include <exception>
#include <new>
#include <utility>

#include "base/counted.h"
#include "custom/ffi/call_context.h"
#include "fmt/format.h"

namespace assay::custom::ffi {
namespace {

using abi::ErrorCode;

thread_local RegistrationScope* current_scope = nullptr;

abi::Error* NewError(ErrorCode code, std::string message) {
  return new abi::Error{{code, std::move(message)}};
}

abi::Error* NewError(const absl::Status& status) {
  if (status.ok()) return nullptr;
  return NewError(static_cast<ErrorCode>(status.code()), std::string(status.message()));
}

// The last field that is read ends at `size`.
template <typename Args>
absl::Status CheckSize(std::string_view function, const Args* args, size_t size) {
  if (args != nullptr && args->struct_size >= size) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format("{}: arguments of {}, want {} as in version {}.{}", function,
                                                Counted(args == nullptr ? 0 : args->struct_size, "byte"),
                                                size, abi::kMajorVersion, abi::kMinorVersion));
}

// Runs `body` on arguments that are large enough, and makes an error of what it says or throws.
template <typename Args, typename Body>
abi::Error* Answer(std::string_view function, Args* args, size_t size, Body body) {
  try {
    absl::Status status = CheckSize(function, args, size);
    if (status.ok()) status = body(*args);
    if (status.ok()) return nullptr;
    return NewError(WithPrefix(status, function));
  } catch (const std::exception& e) {
    return NewError(ErrorCode::kInternal, fmt::format("{}: {}", function, e.what()));
  }
}

std::string_view TextOf(const abi::ByteSpan& span) {
  return span.data == nullptr ? std::string_view() : std::string_view(span.data, span.size);
}

// The run that a context belongs to; `what` is what only a run has.
absl::StatusOr<RunPart*> RunOf(abi::ExecutionContext* context, std::string_view what) {
  if (context == nullptr) return absl::InvalidArgumentError("the context is null");
  if (context->run == nullptr)
    return absl::FailedPreconditionError(fmt::format("there is no {} while a handler is instantiated", what));
  return context->run;
}

abi::Error* ErrorCreate(abi::ErrorCreateArgs* args) {
  if (!CheckSize("Error_Create", args, abi::kErrorCreateSize).ok() || args->message == nullptr)
    return NewError(ErrorCode::kInvalidArgument, "Error_Create: no message");
  return NewError(args->code, args->message);
}

void ErrorGetMessage(abi::ErrorGetMessageArgs* args) {
  if (args->struct_size >= sizeof(*args))
    args->message = args->error == nullptr ? "" : args->error->message.c_str();
}

void ErrorDestroy(abi::ErrorDestroyArgs* args) {
  if (args->struct_size >= sizeof(*args)) delete args->error;
}

abi::Error* HandlerRegister(abi::HandlerRegisterArgs* args) {
  abi::Error* const error = Answer(
      "Handler_Register", args, abi::kHandlerRegisterSize,
      [](const abi::HandlerRegisterArgs& given) -> absl::Status {
        RegistrationScope* const scope = RegistrationScope::Current();
        if (scope == nullptr)
          return absl::FailedPreconditionError("handlers are registered while a library is loaded");
        scope->registrations.push_back({std::string(TextOf(given.name)), std::string(TextOf(given.platform)),
                                        given.bundle, given.traits});
        return absl::OkStatus();
      });
  if (RegistrationScope* const scope = RegistrationScope::Current();
      scope != nullptr && error != nullptr && scope->first_error.ok())
    scope->first_error = absl::InvalidArgumentError(error->message);
  return error;
}

abi::Error* StreamGet(abi::StreamGetArgs* args) {
  return Answer("Stream_Get", args, sizeof(*args), [](const abi::StreamGetArgs&) {
    return absl::UnimplementedError("there is no stream: handlers run on the CPU");
  });
}

abi::Error* TypeRegister(abi::TypeRegisterArgs* args) {
  return Answer("Type_Register", args, abi::kTypeRegisterSize,
                [](const abi::TypeRegisterArgs& given) -> absl::Status {
                  if (given.type == nullptr) return absl::InvalidArgumentError("the type's number is null");
                  return TypeRegistry::OfProcess().Register(
                      TextOf(given.name), *given.type, given.info == nullptr ? nullptr : given.info->deleter);
                });
}

abi::Error* ContextGet(abi::ContextGetArgs* args) {
  return Answer("ExecutionContext_Get", args, sizeof(*args), [](abi::ContextGetArgs& given) -> absl::Status {
    if (given.context == nullptr || given.type == nullptr)
      return absl::InvalidArgumentError("the context or the type is null");
    const UserData* const data = given.context->user_data;
    if (data != nullptr) {
      if (const auto found = data->find(given.type->value); found != data->end()) {
        given.data = found->second;
        return absl::OkStatus();
      }
    }
    return absl::NotFoundError(
        fmt::format("there is no user data of {}", TypeRegistry::OfProcess().NameOf(*given.type)));
  });
}

abi::Error* StateSet(abi::StateSetArgs* args) {
  return Answer("State_Set", args, sizeof(*args), [](const abi::StateSetArgs& given) -> absl::Status {
    abi::ExecutionContext* const context = given.context;
    if (context == nullptr || given.type == nullptr || given.state == nullptr)
      return absl::InvalidArgumentError("the context, the type or the state is null");
    if (given.stage != context->stage || given.stage == abi::Stage::kExecute) {
      return absl::InvalidArgumentError(fmt::format("stage {} sets a state of stage {}",
                                                    static_cast<int>(context->stage),
                                                    static_cast<int>(given.stage)));
    }
    if (context->new_state != nullptr) return absl::AlreadyExistsError("this stage has set a state");
    const std::optional<Deleter> deleter = TypeRegistry::OfProcess().DeleterOf(*given.type);
    if (!deleter)
      return absl::InvalidArgumentError(fmt::format("type {} is not registered", given.type->value));
    context->new_state = std::make_unique<State>(*given.type, given.state, *deleter);
    return absl::OkStatus();
  });
}

abi::Error* StateGet(abi::StateGetArgs* args) {
  return Answer("State_Get", args, sizeof(*args), [](abi::StateGetArgs& given) -> absl::Status {
    const auto stage = static_cast<size_t>(given.stage);
    if (given.context == nullptr || given.type == nullptr || stage >= abi::kNumStages)
      return absl::InvalidArgumentError("the context or the type is null, or there is no such stage");
    const State* const state = given.context->states[stage];
    if (state == nullptr) return absl::NotFoundError(fmt::format("stage {} has set no state", stage));
    if (!(state->type() == *given.type)) {
      const TypeRegistry& types = TypeRegistry::OfProcess();
      return absl::InvalidArgumentError(fmt::format("the state is of {}, not of {}",
                                                    types.NameOf(state->type()), types.NameOf(*given.type)));
    }
    given.state = state->object();
    return absl::OkStatus();
  });
}

abi::Error* MemoryAllocate(abi::MemoryAllocateArgs* args) {
  return Answer("DeviceMemory_Allocate", args, sizeof(*args),
                [](abi::MemoryAllocateArgs& given) -> absl::Status {
                  ASSAY_ASSIGN_OR_RETURN(RunPart* const run, RunOf(given.context, "memory"));
                  ASSAY_ASSIGN_OR_RETURN(given.data, run->memory.Allocate(given.size, given.alignment));
                  return absl::OkStatus();
                });
}

abi::Error* MemoryFree(abi::MemoryFreeArgs* args) {
  return Answer("DeviceMemory_Free", args, sizeof(*args),
                [](const abi::MemoryFreeArgs& given) -> absl::Status {
                  ASSAY_ASSIGN_OR_RETURN(RunPart* const run, RunOf(given.context, "memory"));
                  return run->memory.Free(given.data);
                });
}

abi::Error* Schedule(abi::ScheduleArgs* args) {
  return Answer("ThreadPool_Schedule", args, sizeof(*args),
                [](const abi::ScheduleArgs& given) -> absl::Status {
                  ASSAY_ASSIGN_OR_RETURN(RunPart* const run, RunOf(given.context, "thread pool"));
                  if (given.task == nullptr) return absl::InvalidArgumentError("the task is null");
                  run->tasks.Schedule(given.task, given.data);
                  return absl::OkStatus();
                });
}

abi::Error* NumThreads(abi::NumThreadsArgs* args) {
  return Answer("ThreadPool_NumThreads", args, sizeof(*args),
                [](const abi::NumThreadsArgs& given) -> absl::Status {
                  ASSAY_ASSIGN_OR_RETURN(const RunPart* const run, RunOf(given.context, "thread pool"));
                  if (given.num_threads == nullptr)
                    return absl::InvalidArgumentError("the place of the number is null");
                  *given.num_threads = run->tasks.jobs();
                  return absl::OkStatus();
                });
}

abi::Error* FutureCreate(abi::FutureCreateArgs* args) {
  return Answer("Future_Create", args, abi::kFutureCreateSize, [](abi::FutureCreateArgs& given) {
    given.future = new abi::Future;
    return absl::OkStatus();
  });
}

abi::Error* FutureSetAvailable(abi::FutureSetAvailableArgs* args) {
  return Answer("Future_SetAvailable", args, sizeof(*args),
                [](const abi::FutureSetAvailableArgs& given) -> absl::Status {
                  if (given.future == nullptr) return absl::InvalidArgumentError("the future is null");
                  given.future->Complete({});
                  return absl::OkStatus();
                });
}

abi::Error* FutureSetError(abi::FutureSetErrorArgs* args) {
  return Answer("Future_SetError", args, sizeof(*args),
                [](const abi::FutureSetErrorArgs& given) -> absl::Status {
                  if (given.future == nullptr || given.error == nullptr)
                    return absl::InvalidArgumentError("the future or the error is null");
                  given.future->Complete(TakeError(given.error));
                  return absl::OkStatus();
                });
}

abi::Error* RunIdGet(abi::RunIdGetArgs* args) {
  return Answer("RunId_Get", args, sizeof(*args), [](abi::RunIdGetArgs& given) -> absl::Status {
    ASSAY_ASSIGN_OR_RETURN(const RunPart* const run, RunOf(given.context, "run"));
    given.run_id = run->run_id;
    return absl::OkStatus();
  });
}

abi::Error* DeviceOrdinalGet(abi::DeviceOrdinalGetArgs* args) {
  return Answer("DeviceOrdinal_Get", args, abi::kDeviceOrdinalGetSize,
                [](abi::DeviceOrdinalGetArgs& given) -> absl::Status {
                  ASSAY_ASSIGN_OR_RETURN(const RunPart* const run, RunOf(given.context, "device"));
                  given.ordinal = run->device;
                  return absl::OkStatus();
                });
}

}  // namespace

std::string_view NameOf(abi::ErrorCode code) {
  constexpr std::string_view kNames[] = {
      "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
      "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
      "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
      "DATA_LOSS", "UNAUTHENTICATED"};
  const auto number = static_cast<size_t>(code);
  return number < std::size(kNames) ? kNames[number] : "an unknown code";
}

HandlerError TakeError(abi::Error* error) {
  if (error == nullptr) return {};
  const std::unique_ptr<abi::Error> owned(error);
  HandlerError taken = std::move(*owned);
  // An error is one, whatever its code says.
  if (taken.code == ErrorCode::kOk) taken.code = ErrorCode::kUnknown;
  return taken;
}

RegistrationScope::RegistrationScope() : outer_(std::exchange(current_scope, this)) {}
RegistrationScope::~RegistrationScope() { current_scope = outer_; }
RegistrationScope* RegistrationScope::Current() { return current_scope; }

const abi::Api& FunctionTable() {
  static constexpr abi::Api kTable = {
      .struct_size = sizeof(abi::Api),
      .extensions = nullptr,
      .version = {sizeof(abi::ApiVersion), nullptr, abi::kMajorVersion, abi::kMinorVersion},
      .internal = nullptr,
      .error_create = ErrorCreate,
      .error_get_message = ErrorGetMessage,
      .error_destroy = ErrorDestroy,
      .handler_register = HandlerRegister,
      .stream_get = StreamGet,
      .type_register = TypeRegister,
      .context_get = ContextGet,
      .state_set = StateSet,
      .state_get = StateGet,
      .memory_allocate = MemoryAllocate,
      .memory_free = MemoryFree,
      .schedule = Schedule,
      .num_threads = NumThreads,
      .future_create = FutureCreate,
      .future_set_available = FutureSetAvailable,
      .future_set_error = FutureSetError,
      .run_id_get = RunIdGet,
      .device_ordinal_get = DeviceOrdinalGet,
  };
  return kTable;
}

}  // namespace assay::custom::ffi

extern "C" const assay::custom::ffi::abi::Api* XLA_FFI_GetApi() {
  return &assay::custom::ffi::FunctionTable();
}
