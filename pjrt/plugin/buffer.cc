#include "pjrt/plugin/buffer.h"

#include <cstring>

#include "fmt/format.h"
#include "pjrt/plugin/element_types.h"
#include "pjrt/plugin/error.h"
#include "pjrt/plugin/event.h"
#include "pjrt/plugin/function_table.h"

namespace assay::pjrt {

Buffer::Buffer(Memory* memory, Literal value)
    : memory_(memory),
      shape_(value.shared_shape()),
      minor_to_major_(RowMajorOrder(shape_->IsArray() ? shape_->rank() : 0)),
      value_(std::move(value)) {}

Buffer::Buffer(Memory* memory, std::shared_ptr<const Shape> shape, absl::Status failure)
    : memory_(memory),
      shape_(std::move(shape)),
      minor_to_major_(RowMajorOrder(shape_->IsArray() ? shape_->rank() : 0)),
      failure_(std::move(failure)) {}

absl::Status Buffer::WhyEmpty() const {
  if (!failure_.ok()) return failure_;
  return InvalidProgram({}, fmt::format("the buffer {} was deleted or donated", shape_->ToString()));
}

absl::Status Buffer::failure() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return failure_;
}

absl::StatusOr<Literal> Buffer::Value() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (value_.has_value()) return *value_;
  return WhyEmpty();
}

absl::StatusOr<Literal> Buffer::Donate() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!value_.has_value()) return WhyEmpty();
  Literal value = *std::move(value_);
  value_.reset();
  return value;
}

void Buffer::Delete() {
  std::optional<Literal> value;  // its end may call back, outside of the lock
  const std::lock_guard<std::mutex> lock(mutex_);
  value.swap(value_);
  failure_ = absl::OkStatus();
}

bool Buffer::IsDeleted() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return !value_.has_value() && failure_.ok();
}

absl::Status Buffer::AddReference() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!value_.has_value()) return WhyEmpty();
  ++references_;
  if (!referred_.has_value()) referred_ = *value_;
  return absl::OkStatus();
}

absl::Status Buffer::DropReference() {
  std::optional<Literal> value;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (references_ == 0) return InvalidProgram({}, "the buffer has no external reference");
  if (--references_ == 0) value.swap(referred_);
  return absl::OkStatus();
}

bool Buffer::IsRowMajor() const { return minor_to_major_ == RowMajorOrder(std::ssize(minor_to_major_)); }

absl::StatusOr<const void*> Buffer::Address() const {
  if (!IsRowMajor()) return NotSupported({}, "the address of an array whose layout is not row-major");
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::optional<Literal>& value = referred_.has_value() ? referred_ : value_;
  if (!value.has_value()) return WhyEmpty();
  return shape_->IsArray() ? value->data() : nullptr;
}

namespace {

absl::Status DestroyBuffer(BufferDestroyArgs& args) {
  delete args.buffer;
  return absl::OkStatus();
}

absl::Status TypeOf(BufferElementTypeArgs& args) {
  ASSAY_PJRT_WANT(buffer);
  args.type = BufferTypeOf(args.buffer->shape());
  return absl::OkStatus();
}

absl::Status DimensionsOf(BufferDimensionsArgs& args) {
  ASSAY_PJRT_WANT(buffer);
  args.dims = args.buffer->sizes().data();
  args.num_dims = args.buffer->sizes().size();
  return absl::OkStatus();
}

absl::Status UnpaddedDimensions(BufferUnpaddedDimensionsArgs& args) {
  ASSAY_PJRT_WANT(buffer);
  args.unpadded_dims = args.buffer->sizes().data();
  args.num_dims = args.buffer->sizes().size();
  return absl::OkStatus();
}

absl::Status DynamicDimensions(BufferDynamicDimensionIndicesArgs& args) {
  ASSAY_PJRT_WANT(buffer);
  args.dynamic_dim_indices = nullptr;
  args.num_dynamic_dims = 0;
  return absl::OkStatus();
}

absl::Status MemoryLayoutOf(BufferGetMemoryLayoutArgs& args) {
  ASSAY_PJRT_WANT(buffer);
  const DimVector& order = args.buffer->minor_to_major();
  args.layout = {};
  args.layout.struct_size = kSizeOf<BufferMemoryLayout>;
  args.layout.type = MemoryLayoutType::kTiled;
  args.layout.tiled = {
      kSizeOf<BufferMemoryLayoutTiled>, nullptr, order.data(), order.size(), nullptr, nullptr, 0};
  return absl::OkStatus();
}

absl::Status SizeInBytes(BufferOnDeviceSizeInBytesArgs& args) {
  ASSAY_PJRT_WANT(buffer);
  args.on_device_size_in_bytes = static_cast<size_t>(args.buffer->num_bytes());
  return absl::OkStatus();
}

absl::Status DeviceOf(BufferDeviceArgs& args) {
  ASSAY_PJRT_WANT(buffer);
  args.device = args.buffer->memory()->device;
  return absl::OkStatus();
}

absl::Status MemoryOfBuffer(BufferMemoryArgs& args) {
  ASSAY_PJRT_WANT(buffer);
  args.memory = args.buffer->memory();
  return absl::OkStatus();
}

absl::Status DeleteBuffer(BufferDeleteArgs& args) {
  ASSAY_PJRT_WANT(buffer);
  args.buffer->Delete();
  return absl::OkStatus();
}

absl::Status IsDeletedBuffer(BufferIsDeletedArgs& args) {
  ASSAY_PJRT_WANT(buffer);
  args.is_deleted = args.buffer->IsDeleted();
  return absl::OkStatus();
}

// Whether the host may read the bytes in place: not where they are no host's form of the elements.
absl::Status IsOnCpu(BufferIsOnCpuArgs& args) {
  ASSAY_PJRT_WANT(buffer);
  const Shape& shape = args.buffer->shape();
  args.is_on_cpu = shape.IsArray() && !IsSignExtended(shape.element_type()) && args.buffer->IsRowMajor();
  return absl::OkStatus();
}

absl::Status ReadyEventOf(BufferReadyEventArgs& args) {
  ASSAY_PJRT_WANT(buffer);
  args.event = ReadyEvent(args.buffer->failure());
  return absl::OkStatus();
}

absl::StatusOr<Buffer*> CopyTo(const Buffer& buffer, Memory* memory) {
  ASSAY_ASSIGN_OR_RETURN(Literal value, buffer.Value());
  auto copy = std::make_unique<Buffer>(memory, std::move(value));
  copy->set_minor_to_major(buffer.minor_to_major());
  return copy.release();
}

absl::Status CopyToDevice(BufferCopyToDeviceArgs& args) {
  ASSAY_PJRT_WANT(buffer);
  ASSAY_PJRT_WANT(dst_device);
  ASSAY_ASSIGN_OR_RETURN(args.dst_buffer, CopyTo(*args.buffer, args.dst_device->memory_handles[0]));
  return absl::OkStatus();
}

absl::Status CopyToMemory(BufferCopyToMemoryArgs& args) {
  ASSAY_PJRT_WANT(buffer);
  ASSAY_PJRT_WANT(dst_memory);
  ASSAY_ASSIGN_OR_RETURN(args.dst_buffer, CopyTo(*args.buffer, args.dst_memory));
  return absl::OkStatus();
}

absl::Status UnsafePointer(BufferUnsafePointerArgs& args) {
  ASSAY_PJRT_WANT(buffer);
  ASSAY_ASSIGN_OR_RETURN(const void* const address, args.buffer->Address());
  args.buffer_pointer = reinterpret_cast<uintptr_t>(address);
  return absl::OkStatus();
}

absl::Status DataPointer(BufferOpaqueDeviceMemoryDataPointerArgs& args) {
  ASSAY_PJRT_WANT(buffer);
  ASSAY_ASSIGN_OR_RETURN(const void* const address, args.buffer->Address());
  args.device_memory_ptr = const_cast<void*>(address);
  return absl::OkStatus();
}

absl::Status AddReference(BufferIncreaseExternalReferenceCountArgs& args) {
  ASSAY_PJRT_WANT(buffer);
  return args.buffer->AddReference();
}

absl::Status DropReference(BufferDecreaseExternalReferenceCountArgs& args) {
  ASSAY_PJRT_WANT(buffer);
  return args.buffer->DropReference();
}

}  // namespace

void AddBufferFunctions(FunctionTable& table) {
  table.Set<DestroyBuffer>(FunctionId::kBuffer_Destroy);
  table.Set<TypeOf>(FunctionId::kBuffer_ElementType);
  table.Set<DimensionsOf>(FunctionId::kBuffer_Dimensions);
  table.Set<UnpaddedDimensions>(FunctionId::kBuffer_UnpaddedDimensions);
  table.Set<DynamicDimensions>(FunctionId::kBuffer_DynamicDimensionIndices);
  table.Set<MemoryLayoutOf>(FunctionId::kBuffer_GetMemoryLayout);
  table.Set<SizeInBytes>(FunctionId::kBuffer_OnDeviceSizeInBytes);
  table.Set<DeviceOf>(FunctionId::kBuffer_Device);
  table.Set<MemoryOfBuffer>(FunctionId::kBuffer_Memory);
  table.Set<DeleteBuffer>(FunctionId::kBuffer_Delete);
  table.Set<IsDeletedBuffer>(FunctionId::kBuffer_IsDeleted);
  table.Set<CopyToDevice>(FunctionId::kBuffer_CopyToDevice);
  table.Set<CopyToMemory>(FunctionId::kBuffer_CopyToMemory);
  table.Set<IsOnCpu>(FunctionId::kBuffer_IsOnCpu);
  table.Set<ReadyEventOf>(FunctionId::kBuffer_ReadyEvent);
  table.Set<UnsafePointer>(FunctionId::kBuffer_UnsafePointer);
  table.Set<AddReference>(FunctionId::kBuffer_IncreaseExternalReferenceCount);
  table.Set<DropReference>(FunctionId::kBuffer_DecreaseExternalReferenceCount);
  table.Set<DataPointer>(FunctionId::kBuffer_OpaqueDeviceMemoryDataPointer);
}

}  // namespace assay::pjrt
