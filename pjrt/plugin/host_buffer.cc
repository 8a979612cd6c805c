// Arrays between the host's memory and buffers, by strides and layouts, without a copy where the elements lie
// as literals have them.
#include <cstring>
#include <memory>

#include "base/counted.h"
#include "fmt/format.h"
#include "pjrt/plugin/buffer.h"
#include "pjrt/plugin/element_types.h"
#include "pjrt/plugin/error.h"
#include "pjrt/plugin/event.h"
#include "pjrt/plugin/function_table.h"

namespace assay::pjrt {
namespace {

// Any element type's, and what NumPy's arrays have.
constexpr uintptr_t kBorrowAlignment = 16;
// Below, a copy costs less than what keeps track of the owner.
constexpr int64_t kLeastBorrowed = 4096;

absl::StatusOr<std::shared_ptr<const Shape>> ShapeOfHost(BufferType type, const int64_t* dims,
                                                         size_t num_dims) {
  if (num_dims > 0) ASSAY_RETURN_IF_ERROR(Wanted(dims, "dims"));
  if (type == BufferType::kToken) {
    if (num_dims > 0)
      return InvalidProgram({}, fmt::format("a token of {}, want none", Counted(num_dims, "dimension")));
    return std::make_shared<const Shape>(Shape::Token());
  }
  const std::optional<ElementType> element_type = ElementTypeOf(type);
  if (!element_type)
    return InvalidProgram({}, fmt::format("there is no buffer type {}", static_cast<int32_t>(type)));
  ASSAY_ASSIGN_OR_RETURN(Shape shape, Shape::Array(*element_type, {dims, num_dims}));
  // One negative number stands for a size that is not known, which no array in memory has.
  if (shape.HasDynamic()) return InvalidProgram({}, fmt::format("an array of shape {}", shape.ToString()));
  return std::make_shared<const Shape>(std::move(shape));
}

// Calls back when the last literal that lies in the host's memory is gone.
struct Loan {
  std::shared_ptr<EventState> done;
  void (*on_delete)(void* data, void* user_arg) = nullptr;
  void* data = nullptr;
  void* user_arg = nullptr;
  ~Loan() {
    if (done != nullptr) done->Set(absl::OkStatus());
    if (on_delete != nullptr) on_delete(data, user_arg);
  }
};

bool CanBorrow(const Shape& shape, const void* data, std::span<const int64_t> strides) {
  const ElementType type = shape.element_type();
  // An array without elements may be said to lie nowhere.
  if (shape.num_elements() == 0) return false;
  if (HasPaddingBits(type) || reinterpret_cast<uintptr_t>(data) % kBorrowAlignment != 0) return false;
  const DimVector dense = DenseStrides(shape.sizes(), Bytes(type), RowMajorOrder(shape.rank()));
  for (size_t d = 0; d < strides.size(); ++d) {
    if (strides[d] != dense[d] && shape.size(static_cast<int64_t>(d)) > 1) return false;
  }
  return true;
}

absl::StatusOr<Literal> CopyIn(const std::shared_ptr<const Shape>& shape, const void* data,
                               std::span<const int64_t> strides) {
  ASSAY_ASSIGN_OR_RETURN(Literal literal, Literal::Make(shape, nullptr, /*zero=*/false));
  if (shape->num_elements() == 0) return literal;
  const ElementType type = shape->element_type();
  const std::span<std::byte> bytes = literal.MutableBytes();
  CopyStrided(shape->sizes(), Bytes(type), static_cast<const std::byte*>(data), strides, bytes.data(),
              DenseStrides(shape->sizes(), Bytes(type), RowMajorOrder(shape->rank())));
  if (HasPaddingBits(type)) NormalizeBytes(type, bytes);
  return literal;
}

absl::StatusOr<DimVector> StridesOfHost(const ClientBufferFromHostBufferArgs& args, const Shape& shape) {
  const int64_t bytes = Bytes(shape.element_type());
  if (args.num_byte_strides == 0) return DenseStrides(shape.sizes(), bytes, RowMajorOrder(shape.rank()));
  ASSAY_PJRT_WANT(byte_strides);
  if (args.num_byte_strides != args.num_dims) {
    return InvalidProgram({}, fmt::format("{} for {}", Counted(args.num_byte_strides, "stride"),
                                          Counted(args.num_dims, "dimension")));
  }
  return DimVector(args.byte_strides, args.byte_strides + args.num_byte_strides);
}

absl::Status BufferFromHost(ClientBufferFromHostBufferArgs& args) {
  ASSAY_PJRT_WANT(client);
  ASSAY_ASSIGN_OR_RETURN(Memory* const memory, MemoryFor(*args.client, args.device, args.memory));
  ASSAY_ASSIGN_OR_RETURN(std::shared_ptr<const Shape> shape,
                         ShapeOfHost(args.type, args.dims, args.num_dims));
  if (shape->IsToken()) {
    args.buffer = new Buffer(memory, Literal::Token());
    args.done_with_host_buffer = ReadyEvent();
    return absl::OkStatus();
  }
  ASSAY_ASSIGN_OR_RETURN(DimVector order, OrderOf(args.device_layout, shape->sizes()));
  ASSAY_ASSIGN_OR_RETURN(const DimVector strides, StridesOfHost(args, *shape));
  if (shape->num_elements() > 0) ASSAY_PJRT_WANT(data);
  const bool may_borrow = args.host_buffer_semantics == HostBufferSemantics::kImmutableZeroCopy ||
                          args.host_buffer_semantics == HostBufferSemantics::kMutableZeroCopy;
  if (may_borrow && shape->num_bytes() >= kLeastBorrowed && CanBorrow(*shape, args.data, strides)) {
    auto loan = std::make_shared<Loan>();
    loan->done = std::make_shared<EventState>();
    auto done = std::make_unique<Event>(Event{loan->done});
    const std::span<const std::byte> bytes(static_cast<const std::byte*>(args.data),
                                           static_cast<size_t>(shape->num_bytes()));
    args.buffer = new Buffer(memory, Literal::Borrow(shape, bytes, std::move(loan)));
    args.done_with_host_buffer = done.release();
  } else {
    ASSAY_ASSIGN_OR_RETURN(Literal literal, CopyIn(shape, args.data, strides));
    args.buffer = new Buffer(memory, std::move(literal));
    args.done_with_host_buffer = ReadyEvent();
  }
  args.buffer->set_minor_to_major(std::move(order));
  return absl::OkStatus();
}

absl::Status ViewOfDeviceBuffer(ClientCreateViewOfDeviceBufferArgs& args) {
  ASSAY_PJRT_WANT(client);
  Memory* named =
      args.struct_size >= kSizeOf<ClientCreateViewOfDeviceBufferArgs> + sizeof(void*) ? args.memory : nullptr;
  ASSAY_ASSIGN_OR_RETURN(Memory* const memory, MemoryFor(*args.client, args.device, named));
  ASSAY_ASSIGN_OR_RETURN(std::shared_ptr<const Shape> shape,
                         ShapeOfHost(args.element_type, args.dims, args.num_dims));
  if (shape->IsToken()) return InvalidProgram({}, "a view of a token");
  ASSAY_ASSIGN_OR_RETURN(const DimVector strides,
                         StridesOf(args.layout, shape->sizes(), Bytes(shape->element_type())));
  if (shape->num_elements() > 0) ASSAY_PJRT_WANT(device_buffer_ptr);
  auto loan = std::make_shared<Loan>();
  Loan& owner = *loan;
  if (CanBorrow(*shape, args.device_buffer_ptr, strides)) {
    const std::span<const std::byte> bytes(static_cast<const std::byte*>(args.device_buffer_ptr),
                                           static_cast<size_t>(shape->num_bytes()));
    args.buffer = new Buffer(memory, Literal::Borrow(shape, bytes, loan));
  } else {
    ASSAY_ASSIGN_OR_RETURN(Literal literal, CopyIn(shape, args.device_buffer_ptr, strides));
    args.buffer = new Buffer(memory, std::move(literal));
  }
  // From here on nothing fails: the caller's memory is the buffer's, or given back at once.
  owner.on_delete = args.on_delete_callback;
  owner.data = args.device_buffer_ptr;
  owner.user_arg = args.on_delete_callback_arg;
  return absl::OkStatus();
}

absl::Status UninitializedBuffer(ClientCreateUninitializedBufferArgs& args) {
  ASSAY_PJRT_WANT(client);
  ASSAY_ASSIGN_OR_RETURN(Memory* const memory, MemoryFor(*args.client, args.device, args.memory));
  ASSAY_ASSIGN_OR_RETURN(std::shared_ptr<const Shape> shape,
                         ShapeOfHost(args.shape_element_type, args.shape_dims, args.shape_num_dims));
  if (shape->IsToken()) {
    args.buffer = new Buffer(memory, Literal::Token());
    return absl::OkStatus();
  }
  // Nobody said what it holds; zeros are the same on every machine.
  ASSAY_ASSIGN_OR_RETURN(Literal literal, Literal::Make(shape));
  args.buffer = new Buffer(memory, std::move(literal));
  return absl::OkStatus();
}

// As the host has them: narrow integers without their signs.
void CopyOut(const Literal& value, std::byte* target, std::span<const int64_t> strides) {
  const Shape& shape = value.shape();
  if (shape.num_elements() == 0) return;
  const ElementType type = shape.element_type();
  const DimVector dense = DenseStrides(shape.sizes(), Bytes(type), RowMajorOrder(shape.rank()));
  const std::byte* source = value.data();
  std::vector<std::byte> bare;
  if (IsSignExtended(type)) {
    bare.assign(value.bytes().begin(), value.bytes().end());
    ClearPaddingBits(type, bare);
    source = bare.data();
  }
  CopyStrided(shape.sizes(), Bytes(type), source, dense, target, strides);
}

// From the first byte to the last one that elements at these strides have.
__int128 ReachOf(const Shape& shape, std::span<const int64_t> strides) {
  if (shape.num_elements() == 0) return 0;
  __int128 reach = Bytes(shape.element_type());
  for (size_t d = 0; d < strides.size(); ++d) {
    const __int128 stride = strides[d];
    reach += (shape.size(static_cast<int64_t>(d)) - 1) * (stride < 0 ? -stride : stride);
  }
  return reach;
}

absl::Status ToHost(BufferToHostBufferArgs& args) {
  ASSAY_PJRT_WANT(src);
  ASSAY_ASSIGN_OR_RETURN(const Literal value, args.src->Value());
  const auto wanted = static_cast<size_t>(args.src->num_bytes());
  if (args.dst == nullptr) {
    args.dst_size = wanted;
    args.event = nullptr;
    return absl::OkStatus();
  }
  const Shape& shape = value.shape();
  if (!shape.IsArray()) {
    args.event = ReadyEvent();
    return absl::OkStatus();
  }
  ASSAY_ASSIGN_OR_RETURN(const DimVector strides,
                         StridesOf(args.host_layout, shape.sizes(), Bytes(shape.element_type())));
  if (const __int128 reach = ReachOf(shape, strides); args.dst_size < reach)
    return InvalidProgram({}, fmt::format("dst has {}, want {}", Counted(args.dst_size, "byte"), reach));
  ASSAY_RETURN_IF_ERROR(value.Fetch());
  CopyOut(value, static_cast<std::byte*>(args.dst), strides);
  args.event = ReadyEvent();
  return absl::OkStatus();
}

absl::Status CopyRawToHost(BufferCopyRawToHostArgs& args) {
  ASSAY_PJRT_WANT(buffer);
  ASSAY_ASSIGN_OR_RETURN(const Literal value, args.buffer->Value());
  if (!args.buffer->IsRowMajor())
    return NotSupported({}, "the bytes of an array whose layout is not row-major");
  const int64_t size = args.buffer->num_bytes();
  if (args.offset < 0 || args.transfer_size < 0 || args.offset > size ||
      args.transfer_size > size - args.offset) {
    return InvalidProgram({}, fmt::format("{} from byte {} of a buffer of {}",
                                          Counted(args.transfer_size, "byte"), args.offset, size));
  }
  if (args.transfer_size > 0) {
    ASSAY_PJRT_WANT(dst);
    std::memcpy(args.dst, value.data() + args.offset, static_cast<size_t>(args.transfer_size));
  }
  args.event = ReadyEvent();
  return absl::OkStatus();
}

}  // namespace

void AddHostBufferFunctions(FunctionTable& table) {
  table.Set<BufferFromHost>(FunctionId::kClient_BufferFromHostBuffer);
  table.Set<ViewOfDeviceBuffer>(FunctionId::kClient_CreateViewOfDeviceBuffer);
  table.Set<UninitializedBuffer>(FunctionId::kClient_CreateUninitializedBuffer);
  table.Set<ToHost>(FunctionId::kBuffer_ToHostBuffer);
  table.Set<CopyRawToHost>(FunctionId::kBuffer_CopyRawToHost);
}

}  // namespace assay::pjrt
