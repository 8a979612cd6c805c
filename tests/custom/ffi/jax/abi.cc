// Compiles where custom/ffi/abi.h says what jaxlib's header does. python/tests/test_ffi.py compiles it, and
// sees that nothing of the header is left out here.
#include "custom/ffi/abi.h"

#include <cstddef>
#include <type_traits>

#include "xla/ffi/api/c_api.h"

namespace abi = assay::custom::ffi::abi;

#define TYPE(ours, theirs) \
  static_assert(sizeof(abi::ours) == sizeof(theirs) && alignof(abi::ours) == alignof(theirs), #theirs)
#define FIELD(ours, our_field, theirs, their_field)                                \
  static_assert(offsetof(abi::ours, our_field) == offsetof(theirs, their_field) && \
                    sizeof(abi::ours::our_field) == sizeof(theirs::their_field),   \
                #theirs "." #their_field)
#define VALUE(ours, theirs) static_assert(static_cast<int>(abi::ours) == static_cast<int>(theirs), #theirs)
// What all structs but a few begin with.
#define HEADED(ours, theirs)                     \
  TYPE(ours, theirs);                            \
  FIELD(ours, struct_size, theirs, struct_size); \
  FIELD(ours, extensions, theirs, extension_start)

VALUE(kMajorVersion, XLA_FFI_API_MAJOR);
VALUE(kMinorVersion, XLA_FFI_API_MINOR);
VALUE(kCallFrameSize, XLA_FFI_CallFrame_STRUCT_SIZE);
VALUE(kMetadataSize, XLA_FFI_Metadata_STRUCT_SIZE);
VALUE(kFutureCreateSize, XLA_FFI_Future_Create_Args_STRUCT_SIZE);

// What the header's own code writes as the size of arguments: nothing that we want may be larger.
#define WRITTEN(size, theirs) VALUE(size, theirs##_STRUCT_SIZE)
#define WHOLE(ours, theirs) static_assert(sizeof(abi::ours) == theirs##_STRUCT_SIZE, #theirs)
WRITTEN(kErrorCreateSize, XLA_FFI_Error_Create_Args);
WRITTEN(kHandlerRegisterSize, XLA_FFI_Handler_Register_Args);
WRITTEN(kTypeRegisterSize, XLA_FFI_Type_Register_Args);
WRITTEN(kDeviceOrdinalGetSize, XLA_FFI_DeviceOrdinal_Get_Args);
WHOLE(ErrorGetMessageArgs, XLA_FFI_Error_GetMessage_Args);
WHOLE(ErrorDestroyArgs, XLA_FFI_Error_Destroy_Args);
WHOLE(StreamGetArgs, XLA_FFI_Stream_Get_Args);
WHOLE(ContextGetArgs, XLA_FFI_ExecutionContext_Get_Args);
WHOLE(StateSetArgs, XLA_FFI_State_Set_Args);
WHOLE(StateGetArgs, XLA_FFI_State_Get_Args);
WHOLE(MemoryAllocateArgs, XLA_FFI_DeviceMemory_Allocate_Args);
WHOLE(MemoryFreeArgs, XLA_FFI_DeviceMemory_Free_Args);
WHOLE(ScheduleArgs, XLA_FFI_ThreadPool_Schedule_Args);
WHOLE(NumThreadsArgs, XLA_FFI_ThreadPool_NumThreads_Args);
WHOLE(FutureSetAvailableArgs, XLA_FFI_Future_SetAvailable_Args);
WHOLE(FutureSetErrorArgs, XLA_FFI_Future_SetError_Args);
WHOLE(RunIdGetArgs, XLA_FFI_RunId_Get_Args);
WHOLE(Buffer, XLA_FFI_Buffer);
WHOLE(Arguments, XLA_FFI_Args);
WHOLE(Results, XLA_FFI_Rets);
WHOLE(Attributes, XLA_FFI_Attrs);
WHOLE(Extension, XLA_FFI_Extension_Base);
WHOLE(MetadataExtension, XLA_FFI_Metadata_Extension);
WHOLE(ApiVersion, XLA_FFI_Api_Version);
WHOLE(Api, XLA_FFI_Api);

VALUE(ExtensionType::kMetadata, XLA_FFI_Extension_Metadata);
VALUE(ArgumentKind::kBuffer, XLA_FFI_ArgType_BUFFER);
VALUE(ResultKind::kBuffer, XLA_FFI_RetType_BUFFER);
VALUE(AttributeKind::kArray, XLA_FFI_AttrType_ARRAY);
VALUE(AttributeKind::kDictionary, XLA_FFI_AttrType_DICTIONARY);
VALUE(AttributeKind::kScalar, XLA_FFI_AttrType_SCALAR);
VALUE(AttributeKind::kString, XLA_FFI_AttrType_STRING);
VALUE(Stage::kInstantiate, XLA_FFI_ExecutionStage_INSTANTIATE);
VALUE(Stage::kPrepare, XLA_FFI_ExecutionStage_PREPARE);
VALUE(Stage::kInitialize, XLA_FFI_ExecutionStage_INITIALIZE);
VALUE(Stage::kExecute, XLA_FFI_ExecutionStage_EXECUTE);

VALUE(ErrorCode::kOk, XLA_FFI_Error_Code_OK);
VALUE(ErrorCode::kCancelled, XLA_FFI_Error_Code_CANCELLED);
VALUE(ErrorCode::kUnknown, XLA_FFI_Error_Code_UNKNOWN);
VALUE(ErrorCode::kInvalidArgument, XLA_FFI_Error_Code_INVALID_ARGUMENT);
VALUE(ErrorCode::kDeadlineExceeded, XLA_FFI_Error_Code_DEADLINE_EXCEEDED);
VALUE(ErrorCode::kNotFound, XLA_FFI_Error_Code_NOT_FOUND);
VALUE(ErrorCode::kAlreadyExists, XLA_FFI_Error_Code_ALREADY_EXISTS);
VALUE(ErrorCode::kPermissionDenied, XLA_FFI_Error_Code_PERMISSION_DENIED);
VALUE(ErrorCode::kResourceExhausted, XLA_FFI_Error_Code_RESOURCE_EXHAUSTED);
VALUE(ErrorCode::kFailedPrecondition, XLA_FFI_Error_Code_FAILED_PRECONDITION);
VALUE(ErrorCode::kAborted, XLA_FFI_Error_Code_ABORTED);
VALUE(ErrorCode::kOutOfRange, XLA_FFI_Error_Code_OUT_OF_RANGE);
VALUE(ErrorCode::kUnimplemented, XLA_FFI_Error_Code_UNIMPLEMENTED);
VALUE(ErrorCode::kInternal, XLA_FFI_Error_Code_INTERNAL);
VALUE(ErrorCode::kUnavailable, XLA_FFI_Error_Code_UNAVAILABLE);
VALUE(ErrorCode::kDataLoss, XLA_FFI_Error_Code_DATA_LOSS);
VALUE(ErrorCode::kUnauthenticated, XLA_FFI_Error_Code_UNAUTHENTICATED);

#define DATA_TYPE(ours, theirs) VALUE(DataType::ours, XLA_FFI_DataType_##theirs)
DATA_TYPE(kInvalid, INVALID);
DATA_TYPE(kPred, PRED);
DATA_TYPE(kS1, S1);
DATA_TYPE(kS2, S2);
DATA_TYPE(kS4, S4);
DATA_TYPE(kS8, S8);
DATA_TYPE(kS16, S16);
DATA_TYPE(kS32, S32);
DATA_TYPE(kS64, S64);
DATA_TYPE(kU1, U1);
DATA_TYPE(kU2, U2);
DATA_TYPE(kU4, U4);
DATA_TYPE(kU8, U8);
DATA_TYPE(kU16, U16);
DATA_TYPE(kU32, U32);
DATA_TYPE(kU64, U64);
DATA_TYPE(kF16, F16);
DATA_TYPE(kF32, F32);
DATA_TYPE(kF64, F64);
DATA_TYPE(kBF16, BF16);
DATA_TYPE(kC64, C64);
DATA_TYPE(kC128, C128);
DATA_TYPE(kToken, TOKEN);
DATA_TYPE(kF8E5M2, F8E5M2);
DATA_TYPE(kF8E3M4, F8E3M4);
DATA_TYPE(kF8E4M3, F8E4M3);
DATA_TYPE(kF8E4M3FN, F8E4M3FN);
DATA_TYPE(kF8E4M3B11FNUZ, F8E4M3B11FNUZ);
DATA_TYPE(kF8E5M2FNUZ, F8E5M2FNUZ);
DATA_TYPE(kF8E4M3FNUZ, F8E4M3FNUZ);
DATA_TYPE(kF4E2M1FN, F4E2M1FN);
DATA_TYPE(kF8E8M0FNU, F8E8M0FNU);

TYPE(Extension, XLA_FFI_Extension_Base);
FIELD(Extension, struct_size, XLA_FFI_Extension_Base, struct_size);
FIELD(Extension, type, XLA_FFI_Extension_Base, type);
FIELD(Extension, next, XLA_FFI_Extension_Base, next);
HEADED(ApiVersion, XLA_FFI_Api_Version);
FIELD(ApiVersion, major, XLA_FFI_Api_Version, major_version);
FIELD(ApiVersion, minor, XLA_FFI_Api_Version, minor_version);
TYPE(ByteSpan, XLA_FFI_ByteSpan);
FIELD(ByteSpan, data, XLA_FFI_ByteSpan, ptr);
FIELD(ByteSpan, size, XLA_FFI_ByteSpan, len);
HEADED(Buffer, XLA_FFI_Buffer);
FIELD(Buffer, type, XLA_FFI_Buffer, dtype);
FIELD(Buffer, data, XLA_FFI_Buffer, data);
FIELD(Buffer, rank, XLA_FFI_Buffer, rank);
FIELD(Buffer, sizes, XLA_FFI_Buffer, dims);
TYPE(Scalar, XLA_FFI_Scalar);
FIELD(Scalar, type, XLA_FFI_Scalar, dtype);
FIELD(Scalar, value, XLA_FFI_Scalar, value);
TYPE(Array, XLA_FFI_Array);
FIELD(Array, type, XLA_FFI_Array, dtype);
FIELD(Array, size, XLA_FFI_Array, size);
FIELD(Array, data, XLA_FFI_Array, data);
HEADED(Arguments, XLA_FFI_Args);
FIELD(Arguments, size, XLA_FFI_Args, size);
FIELD(Arguments, kinds, XLA_FFI_Args, types);
FIELD(Arguments, values, XLA_FFI_Args, args);
HEADED(Results, XLA_FFI_Rets);
FIELD(Results, size, XLA_FFI_Rets, size);
FIELD(Results, kinds, XLA_FFI_Rets, types);
FIELD(Results, values, XLA_FFI_Rets, rets);
HEADED(Attributes, XLA_FFI_Attrs);
FIELD(Attributes, size, XLA_FFI_Attrs, size);
FIELD(Attributes, kinds, XLA_FFI_Attrs, types);
FIELD(Attributes, names, XLA_FFI_Attrs, names);
FIELD(Attributes, values, XLA_FFI_Attrs, attrs);
HEADED(CallFrame, XLA_FFI_CallFrame);
FIELD(CallFrame, api, XLA_FFI_CallFrame, api);
FIELD(CallFrame, context, XLA_FFI_CallFrame, ctx);
FIELD(CallFrame, stage, XLA_FFI_CallFrame, stage);
FIELD(CallFrame, arguments, XLA_FFI_CallFrame, args);
FIELD(CallFrame, results, XLA_FFI_CallFrame, rets);
FIELD(CallFrame, attributes, XLA_FFI_CallFrame, attrs);
FIELD(CallFrame, future, XLA_FFI_CallFrame, future);
TYPE(HandlerBundle, XLA_FFI_Handler_Bundle);
FIELD(HandlerBundle, instantiate, XLA_FFI_Handler_Bundle, instantiate);
FIELD(HandlerBundle, prepare, XLA_FFI_Handler_Bundle, prepare);
FIELD(HandlerBundle, initialize, XLA_FFI_Handler_Bundle, initialize);
FIELD(HandlerBundle, execute, XLA_FFI_Handler_Bundle, execute);
TYPE(TypeId, XLA_FFI_TypeId);
FIELD(TypeId, value, XLA_FFI_TypeId, type_id);
HEADED(TypeInfo, XLA_FFI_TypeInfo);
FIELD(TypeInfo, deleter, XLA_FFI_TypeInfo, deleter);
TYPE(Metadata, XLA_FFI_Metadata);
FIELD(Metadata, struct_size, XLA_FFI_Metadata, struct_size);
FIELD(Metadata, version, XLA_FFI_Metadata, api_version);
FIELD(Metadata, traits, XLA_FFI_Metadata, traits);
FIELD(Metadata, state_type, XLA_FFI_Metadata, state_type_id);
TYPE(MetadataExtension, XLA_FFI_Metadata_Extension);
FIELD(MetadataExtension, base, XLA_FFI_Metadata_Extension, extension_base);
FIELD(MetadataExtension, metadata, XLA_FFI_Metadata_Extension, metadata);

HEADED(ErrorCreateArgs, XLA_FFI_Error_Create_Args);
FIELD(ErrorCreateArgs, message, XLA_FFI_Error_Create_Args, message);
FIELD(ErrorCreateArgs, code, XLA_FFI_Error_Create_Args, errc);
HEADED(ErrorGetMessageArgs, XLA_FFI_Error_GetMessage_Args);
FIELD(ErrorGetMessageArgs, error, XLA_FFI_Error_GetMessage_Args, error);
FIELD(ErrorGetMessageArgs, message, XLA_FFI_Error_GetMessage_Args, message);
HEADED(ErrorDestroyArgs, XLA_FFI_Error_Destroy_Args);
FIELD(ErrorDestroyArgs, error, XLA_FFI_Error_Destroy_Args, error);
HEADED(HandlerRegisterArgs, XLA_FFI_Handler_Register_Args);
FIELD(HandlerRegisterArgs, name, XLA_FFI_Handler_Register_Args, name);
FIELD(HandlerRegisterArgs, platform, XLA_FFI_Handler_Register_Args, platform);
FIELD(HandlerRegisterArgs, bundle, XLA_FFI_Handler_Register_Args, bundle);
FIELD(HandlerRegisterArgs, traits, XLA_FFI_Handler_Register_Args, traits);
HEADED(StreamGetArgs, XLA_FFI_Stream_Get_Args);
FIELD(StreamGetArgs, context, XLA_FFI_Stream_Get_Args, ctx);
FIELD(StreamGetArgs, stream, XLA_FFI_Stream_Get_Args, stream);
HEADED(TypeRegisterArgs, XLA_FFI_Type_Register_Args);
FIELD(TypeRegisterArgs, name, XLA_FFI_Type_Register_Args, name);
FIELD(TypeRegisterArgs, type, XLA_FFI_Type_Register_Args, type_id);
FIELD(TypeRegisterArgs, info, XLA_FFI_Type_Register_Args, type_info);
HEADED(ContextGetArgs, XLA_FFI_ExecutionContext_Get_Args);
FIELD(ContextGetArgs, context, XLA_FFI_ExecutionContext_Get_Args, ctx);
FIELD(ContextGetArgs, type, XLA_FFI_ExecutionContext_Get_Args, type_id);
FIELD(ContextGetArgs, data, XLA_FFI_ExecutionContext_Get_Args, data);
HEADED(StateSetArgs, XLA_FFI_State_Set_Args);
FIELD(StateSetArgs, context, XLA_FFI_State_Set_Args, ctx);
FIELD(StateSetArgs, stage, XLA_FFI_State_Set_Args, stage);
FIELD(StateSetArgs, type, XLA_FFI_State_Set_Args, type_id);
FIELD(StateSetArgs, state, XLA_FFI_State_Set_Args, state);
HEADED(StateGetArgs, XLA_FFI_State_Get_Args);
FIELD(StateGetArgs, context, XLA_FFI_State_Get_Args, ctx);
FIELD(StateGetArgs, stage, XLA_FFI_State_Get_Args, stage);
FIELD(StateGetArgs, type, XLA_FFI_State_Get_Args, type_id);
FIELD(StateGetArgs, state, XLA_FFI_State_Get_Args, state);
HEADED(MemoryAllocateArgs, XLA_FFI_DeviceMemory_Allocate_Args);
FIELD(MemoryAllocateArgs, context, XLA_FFI_DeviceMemory_Allocate_Args, ctx);
FIELD(MemoryAllocateArgs, size, XLA_FFI_DeviceMemory_Allocate_Args, size);
FIELD(MemoryAllocateArgs, alignment, XLA_FFI_DeviceMemory_Allocate_Args, alignment);
FIELD(MemoryAllocateArgs, data, XLA_FFI_DeviceMemory_Allocate_Args, data);
HEADED(MemoryFreeArgs, XLA_FFI_DeviceMemory_Free_Args);
FIELD(MemoryFreeArgs, context, XLA_FFI_DeviceMemory_Free_Args, ctx);
FIELD(MemoryFreeArgs, size, XLA_FFI_DeviceMemory_Free_Args, size);
FIELD(MemoryFreeArgs, data, XLA_FFI_DeviceMemory_Free_Args, data);
HEADED(ScheduleArgs, XLA_FFI_ThreadPool_Schedule_Args);
FIELD(ScheduleArgs, context, XLA_FFI_ThreadPool_Schedule_Args, ctx);
FIELD(ScheduleArgs, task, XLA_FFI_ThreadPool_Schedule_Args, task);
FIELD(ScheduleArgs, data, XLA_FFI_ThreadPool_Schedule_Args, data);
HEADED(NumThreadsArgs, XLA_FFI_ThreadPool_NumThreads_Args);
FIELD(NumThreadsArgs, context, XLA_FFI_ThreadPool_NumThreads_Args, ctx);
FIELD(NumThreadsArgs, num_threads, XLA_FFI_ThreadPool_NumThreads_Args, num_threads);
HEADED(FutureCreateArgs, XLA_FFI_Future_Create_Args);
FIELD(FutureCreateArgs, future, XLA_FFI_Future_Create_Args, future);
HEADED(FutureSetAvailableArgs, XLA_FFI_Future_SetAvailable_Args);
FIELD(FutureSetAvailableArgs, future, XLA_FFI_Future_SetAvailable_Args, future);
HEADED(FutureSetErrorArgs, XLA_FFI_Future_SetError_Args);
FIELD(FutureSetErrorArgs, future, XLA_FFI_Future_SetError_Args, future);
FIELD(FutureSetErrorArgs, error, XLA_FFI_Future_SetError_Args, error);
HEADED(RunIdGetArgs, XLA_FFI_RunId_Get_Args);
FIELD(RunIdGetArgs, context, XLA_FFI_RunId_Get_Args, ctx);
FIELD(RunIdGetArgs, run_id, XLA_FFI_RunId_Get_Args, run_id);
HEADED(DeviceOrdinalGetArgs, XLA_FFI_DeviceOrdinal_Get_Args);
FIELD(DeviceOrdinalGetArgs, context, XLA_FFI_DeviceOrdinal_Get_Args, ctx);
FIELD(DeviceOrdinalGetArgs, ordinal, XLA_FFI_DeviceOrdinal_Get_Args, device_ordinal);

HEADED(Api, XLA_FFI_Api);
FIELD(Api, version, XLA_FFI_Api, api_version);
FIELD(Api, internal, XLA_FFI_Api, internal_api);
FIELD(Api, error_create, XLA_FFI_Api, XLA_FFI_Error_Create);
FIELD(Api, error_get_message, XLA_FFI_Api, XLA_FFI_Error_GetMessage);
FIELD(Api, error_destroy, XLA_FFI_Api, XLA_FFI_Error_Destroy);
FIELD(Api, handler_register, XLA_FFI_Api, XLA_FFI_Handler_Register);
FIELD(Api, stream_get, XLA_FFI_Api, XLA_FFI_Stream_Get);
FIELD(Api, type_register, XLA_FFI_Api, XLA_FFI_Type_Register);
FIELD(Api, context_get, XLA_FFI_Api, XLA_FFI_ExecutionContext_Get);
FIELD(Api, state_set, XLA_FFI_Api, XLA_FFI_State_Set);
FIELD(Api, state_get, XLA_FFI_Api, XLA_FFI_State_Get);
FIELD(Api, memory_allocate, XLA_FFI_Api, XLA_FFI_DeviceMemory_Allocate);
FIELD(Api, memory_free, XLA_FFI_Api, XLA_FFI_DeviceMemory_Free);
FIELD(Api, schedule, XLA_FFI_Api, XLA_FFI_ThreadPool_Schedule);
FIELD(Api, num_threads, XLA_FFI_Api, XLA_FFI_ThreadPool_NumThreads);
FIELD(Api, future_create, XLA_FFI_Api, XLA_FFI_Future_Create);
FIELD(Api, future_set_available, XLA_FFI_Api, XLA_FFI_Future_SetAvailable);
FIELD(Api, future_set_error, XLA_FFI_Api, XLA_FFI_Future_SetError);
FIELD(Api, run_id_get, XLA_FFI_Api, XLA_FFI_RunId_Get);
FIELD(Api, device_ordinal_get, XLA_FFI_Api, XLA_FFI_DeviceOrdinal_Get);
