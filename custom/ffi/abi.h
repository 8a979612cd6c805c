// The C interface of XLA's FFI, version 0.3, as its calls lie in memory: what a handler that was compiled
// against jaxlib's headers (xla/ffi/api/c_api.h) is given, and which functions it may call. Names are ours;
// order, sizes and numbers are the interface's, which tests/custom/ffi/jax/abi.cc holds against jaxlib's
// own header, field by field.
//
// Each struct of arguments begins with its size in bytes as its writer knows it,
// and with a list of extensions.
#ifndef ASSAY_CUSTOM_FFI_ABI_H_
#define ASSAY_CUSTOM_FFI_ABI_H_

#include <cstddef>
#include <cstdint>

namespace assay::custom::ffi::abi {

inline constexpr int kMajorVersion = 0, kMinorVersion = 3;
// The oldest that jaxlib 0.10 still takes. What has changed since then shows in the sizes of the arguments.
inline constexpr int kOldestMinorVersion = 1;

// PrimitiveType's numbers.
enum class DataType : int32_t {
  kInvalid = 0,
  kPred = 1,
  kS8 = 2,
  kS16 = 3,
  kS32 = 4,
  kS64 = 5,
  kU8 = 6,
  kU16 = 7,
  kU32 = 8,
  kU64 = 9,
  kF16 = 10,
  kF32 = 11,
  kF64 = 12,
  kC64 = 15,
  kBF16 = 16,
  kToken = 17,
  kC128 = 18,
  kF8E5M2 = 19,
  kF8E4M3FN = 20,
  kS4 = 21,
  kU4 = 22,
  kF8E4M3B11FNUZ = 23,
  kF8E5M2FNUZ = 24,
  kF8E4M3FNUZ = 25,
  kS2 = 26,
  kU2 = 27,
  kF8E4M3 = 28,
  kF8E3M4 = 29,
  kS1 = 30,
  kU1 = 31,
  kF4E2M1FN = 32,
  kF8E8M0FNU = 33,
};

// Abseil's status codes.
enum class ErrorCode : int32_t {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

enum class Stage : int32_t { kInstantiate = 0, kPrepare = 1, kInitialize = 2, kExecute = 3 };
inline constexpr int kNumStages = 4;

enum class ExtensionType : int32_t { kMetadata = 1 };
enum class ArgumentKind : int32_t { kBuffer = 1 };
enum class ResultKind : int32_t { kBuffer = 1 };
enum class AttributeKind : int32_t { kArray = 1, kDictionary = 2, kScalar = 3, kString = 4 };

struct Error;             // api.cc
struct Future;            // future.h
struct ExecutionContext;  // call_context.h
struct InternalApi;       // XLA's own; there is none here
struct Api;

struct Extension {
  size_t struct_size;
  ExtensionType type;
  Extension* next;
};

struct ApiVersion {
  size_t struct_size;
  Extension* extensions;
  int major, minor;
};

struct ByteSpan {
  const char* data;
  size_t size;
};

// A call's operand or result.
struct Buffer {
  size_t struct_size;
  Extension* extensions;
  DataType type;
  void* data;
  int64_t rank;
  int64_t* sizes;
};

struct Scalar {
  DataType type;
  void* value;
};

struct Array {
  DataType type;
  size_t size;
  void* data;
};

struct Arguments {
  size_t struct_size;
  Extension* extensions;
  int64_t size;
  ArgumentKind* kinds;
  void** values;  // Buffer*
};

struct Results {
  size_t struct_size;
  Extension* extensions;
  int64_t size;
  ResultKind* kinds;
  void** values;  // Buffer*
};

// Sorted by name.
struct Attributes {
  size_t struct_size;
  Extension* extensions;
  int64_t size;
  AttributeKind* kinds;
  ByteSpan** names;
  void** values;  // Array*, Attributes*, Scalar* or ByteSpan*
};

struct CallFrame {
  size_t struct_size;
  Extension* extensions;
  const Api* api;
  ExecutionContext* context;
  Stage stage;
  Arguments arguments;
  Results results;
  Attributes attributes;
  Future* future;  // of a handler that goes on after it returned
};
// A handler wants this very number, which leaves out the last field.
inline constexpr size_t kCallFrameSize = offsetof(CallFrame, future);

using Handler = Error*(CallFrame* frame);

// Handlers of the stages; only `execute` must be there.
struct HandlerBundle {
  Handler* instantiate;
  Handler* prepare;
  Handler* initialize;
  Handler* execute;
  friend bool operator==(const HandlerBundle&, const HandlerBundle&) = default;
};

// 0: none.
struct TypeId {
  int64_t value;
  friend bool operator==(const TypeId&, const TypeId&) = default;
};

struct TypeInfo {
  size_t struct_size;
  Extension* extensions;
  void (*deleter)(void* object);
};

// What a handler says of itself when it is called with the extension of it.
struct Metadata {
  size_t struct_size;
  ApiVersion version;
  uint32_t traits;
  TypeId state_type;
};
inline constexpr size_t kMetadataSize = offsetof(Metadata, traits) + sizeof(uint32_t);

struct MetadataExtension {
  Extension base;
  Metadata* metadata;
};

// The arguments of the functions below.
struct ErrorCreateArgs {
  size_t struct_size;
  Extension* extensions;
  const char* message;
  ErrorCode code;
};
// Where the last field is of 4 bytes its writer does not count the 4 behind it.
inline constexpr size_t kErrorCreateSize = offsetof(ErrorCreateArgs, code) + sizeof(ErrorCode);
struct ErrorGetMessageArgs {
  size_t struct_size;
  Extension* extensions;
  Error* error;
  const char* message;  // out
};
struct ErrorDestroyArgs {
  size_t struct_size;
  Extension* extensions;
  Error* error;
};
struct HandlerRegisterArgs {
  size_t struct_size;
  Extension* extensions;
  ByteSpan name, platform;
  HandlerBundle bundle;
  uint32_t traits;
};
inline constexpr size_t kHandlerRegisterSize = offsetof(HandlerRegisterArgs, traits) + sizeof(uint32_t);
struct StreamGetArgs {
  size_t struct_size;
  Extension* extensions;
  ExecutionContext* context;
  void* stream;  // out
};
struct TypeRegisterArgs {
  size_t struct_size;
  Extension* extensions;
  ByteSpan name;
  TypeId* type;  // in and out
  const TypeInfo* info;
};
// Its writer fills `info` and does not count it.
inline constexpr size_t kTypeRegisterSize = offsetof(TypeRegisterArgs, info);
struct ContextGetArgs {
  size_t struct_size;
  Extension* extensions;
  ExecutionContext* context;
  TypeId* type;
  void* data;  // out
};
struct StateSetArgs {
  size_t struct_size;
  Extension* extensions;
  ExecutionContext* context;
  Stage stage;
  TypeId* type;
  void* state;
};
struct StateGetArgs {
  size_t struct_size;
  Extension* extensions;
  ExecutionContext* context;
  Stage stage;
  TypeId* type;
  void* state;  // out
};
struct MemoryAllocateArgs {
  size_t struct_size;
  Extension* extensions;
  ExecutionContext* context;
  size_t size, alignment;
  void* data;  // out
};
struct MemoryFreeArgs {
  size_t struct_size;
  Extension* extensions;
  ExecutionContext* context;
  size_t size;
  void* data;
};
using Task = void(void* data);
struct ScheduleArgs {
  size_t struct_size;
  Extension* extensions;
  ExecutionContext* context;
  Task* task;
  void* data;
};
struct NumThreadsArgs {
  size_t struct_size;
  Extension* extensions;
  ExecutionContext* context;
  int64_t* num_threads;  // out
};
struct FutureCreateArgs {
  size_t struct_size;
  Extension* extensions;
  Future* future;  // out
};
// Its writer counts the first two fields alone.
inline constexpr size_t kFutureCreateSize = offsetof(FutureCreateArgs, future);
struct FutureSetAvailableArgs {
  size_t struct_size;
  Extension* extensions;
  Future* future;
};
struct FutureSetErrorArgs {
  size_t struct_size;
  Extension* extensions;
  Future* future;
  Error* error;  // goes over to the callee
};
struct RunIdGetArgs {
  size_t struct_size;
  Extension* extensions;
  ExecutionContext* context;
  int64_t run_id;  // out
};
struct DeviceOrdinalGetArgs {
  size_t struct_size;
  Extension* extensions;
  ExecutionContext* context;
  int32_t ordinal;  // out
};
inline constexpr size_t kDeviceOrdinalGetSize = offsetof(DeviceOrdinalGetArgs, ordinal) + sizeof(int32_t);

// What a handler may call. An error that a function returns is its caller's to destroy.
struct Api {
  size_t struct_size;
  Extension* extensions;
  ApiVersion version;
  const InternalApi* internal;
  Error* (*error_create)(ErrorCreateArgs*);
  void (*error_get_message)(ErrorGetMessageArgs*);
  void (*error_destroy)(ErrorDestroyArgs*);
  Error* (*handler_register)(HandlerRegisterArgs*);
  Error* (*stream_get)(StreamGetArgs*);
  Error* (*type_register)(TypeRegisterArgs*);
  Error* (*context_get)(ContextGetArgs*);
  Error* (*state_set)(StateSetArgs*);
  Error* (*state_get)(StateGetArgs*);
  Error* (*memory_allocate)(MemoryAllocateArgs*);
  Error* (*memory_free)(MemoryFreeArgs*);
  Error* (*schedule)(ScheduleArgs*);
  Error* (*num_threads)(NumThreadsArgs*);
  Error* (*future_create)(FutureCreateArgs*);
  Error* (*future_set_available)(FutureSetAvailableArgs*);
  Error* (*future_set_error)(FutureSetErrorArgs*);
  Error* (*run_id_get)(RunIdGetArgs*);
  Error* (*device_ordinal_get)(DeviceOrdinalGetArgs*);
};

}  // namespace assay::custom::ffi::abi

#endif  // ASSAY_CUSTOM_FFI_ABI_H_
