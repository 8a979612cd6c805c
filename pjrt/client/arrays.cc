#include "pjrt/client/arrays.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "base/counted.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "pjrt/plugin/element_types.h"

namespace assay::pjrt_client {
namespace {

using pjrt::BufferType;

// The type of a buffer, as messages name it.
std::string TypeName(BufferType type) {
  if (type == BufferType::kToken) return "token";
  const std::optional<ElementType> known = pjrt::ElementTypeOf(type);
  return known ? std::string(Name(*known)) : fmt::format("buffer type {}", static_cast<int32_t>(type));
}

absl::Status CheckType(const Plugin& plugin, pjrt::Buffer* buffer, const Shape& shape,
                       std::string_view what) {
  Struct<pjrt::BufferElementTypeArgs> call;
  call->buffer = buffer;
  ASSAY_RETURN_IF_ERROR(plugin.Invoke(FunctionId::kBuffer_ElementType, call));
  if (call->type == pjrt::BufferTypeOf(shape)) return absl::OkStatus();
  return plugin.Wrong(
      FunctionId::kBuffer_ElementType,
      fmt::format("{} is of type {}, the program gives {}", what, TypeName(call->type), shape.ToString()));
}

absl::Status CheckSizes(const Plugin& plugin, pjrt::Buffer* buffer, const Shape& shape,
                        std::string_view what) {
  constexpr FunctionId kAsked = FunctionId::kBuffer_Dimensions;
  Struct<pjrt::BufferDimensionsArgs> call;
  call->buffer = buffer;
  ASSAY_RETURN_IF_ERROR(plugin.Invoke(kAsked, call));
  if (call->num_dims != static_cast<size_t>(shape.rank())) {
    return plugin.Wrong(kAsked, fmt::format("{} has {}, the program gives {}", what,
                                            Counted(call->num_dims, "dimension"), shape.ToString()));
  }
  if (call->num_dims > 0 && call->dims == nullptr)
    return plugin.Wrong(kAsked, fmt::format("gave no dimensions of {}", what));
  const std::span<const int64_t> sizes(call->dims, call->num_dims);
  if (!std::ranges::equal(sizes, shape.sizes())) {
    return plugin.Wrong(kAsked, fmt::format("{} has the sizes [{}], the program gives {}", what,
                                            fmt::join(sizes, ","), shape.ToString()));
  }
  if (!plugin.Has(FunctionId::kBuffer_DynamicDimensionIndices)) return absl::OkStatus();
  Struct<pjrt::BufferDynamicDimensionIndicesArgs> dynamic;
  dynamic->buffer = buffer;
  // Plugins without dynamic sizes need not have it.
  if (plugin.Invoke(FunctionId::kBuffer_DynamicDimensionIndices, dynamic).ok() &&
      dynamic->num_dynamic_dims > 0) {
    return plugin.Wrong(FunctionId::kBuffer_DynamicDimensionIndices,
                        fmt::format("{} has dynamic sizes, the program gives {}", what, shape.ToString()));
  }
  return absl::OkStatus();
}

absl::Status AwaitReady(const Plugin& plugin, pjrt::Buffer* buffer, std::string_view what) {
  if (!plugin.Has(FunctionId::kBuffer_ReadyEvent)) return absl::OkStatus();
  Struct<pjrt::BufferReadyEventArgs> ready;
  ready->buffer = buffer;
  ASSAY_RETURN_IF_ERROR(plugin.Invoke(FunctionId::kBuffer_ReadyEvent, ready));
  return plugin.Await(ready->event, what);
}

// Where a plugin writes what is fetched, with bytes behind that it has no business in.
class Landing {
 public:
  explicit Landing(size_t size) : size_(size), bytes_(new (std::nothrow) std::byte[size + kBehind]) {
    if (bytes_ != nullptr) std::fill_n(bytes_.get() + size, kBehind, kMark);
  }
  bool has_memory() const { return bytes_ != nullptr; }
  std::byte* data() { return bytes_.get(); }
  bool IsWrittenBehind() const {
    return !std::all_of(bytes_.get() + size_, bytes_.get() + size_ + kBehind,
                        [](std::byte byte) { return byte == kMark; });
  }
  // A plugin that is still at work may write later.
  void Abandon() { static_cast<void>(bytes_.release()); }

 private:
  static constexpr size_t kBehind = 256;
  static constexpr std::byte kMark{0xA5};
  size_t size_;
  std::unique_ptr<std::byte[]> bytes_;
};

// The arguments for a copy that is row-major, which they point into.
struct ToHost {
  ToHost(pjrt::Buffer* buffer, const Shape& shape) : order(pjrt::RowMajorOrder(shape.rank())) {
    layout->struct_size = pjrt::kSizeOf<pjrt::BufferMemoryLayout>;
    layout->type = pjrt::MemoryLayoutType::kTiled;
    layout->tiled.struct_size = pjrt::kSizeOf<pjrt::BufferMemoryLayoutTiled>;
    layout->tiled.minor_to_major = order.data();
    layout->tiled.minor_to_major_size = order.size();
    call->src = buffer;
    call->host_layout = layout.get();
  }
  DimVector order;
  std::unique_ptr<pjrt::BufferMemoryLayout> layout = std::make_unique<pjrt::BufferMemoryLayout>();
  Struct<pjrt::BufferToHostBufferArgs> call;
};

absl::Status CopyToHost(const Plugin& plugin, pjrt::Buffer* buffer, const Shape& shape, std::string_view what,
                        Landing& landing) {
  constexpr FunctionId kAsked = FunctionId::kBuffer_ToHostBuffer;
  const auto wanted = static_cast<size_t>(shape.num_bytes());
  ToHost query(buffer, shape);
  ASSAY_RETURN_IF_ERROR(plugin.Invoke(kAsked, query.call));
  const Handle<pjrt::Event> needless(plugin, query.call->event);
  if (query.call->dst_size != wanted) {
    return plugin.Wrong(kAsked, fmt::format("{} takes {}, want {} for {}", what,
                                            Counted(query.call->dst_size, "byte"), wanted, shape.ToString()));
  }
  ToHost copy(buffer, shape);
  copy.call->dst = landing.data();
  copy.call->dst_size = wanted;
  ASSAY_RETURN_IF_ERROR(plugin.Invoke(kAsked, copy.call));
  absl::Status status = plugin.Await(copy.call->event, what);
  if (plugin.is_abandoned()) landing.Abandon();
  ASSAY_RETURN_IF_ERROR(status);
  if (!landing.IsWrittenBehind()) return absl::OkStatus();
  return plugin.Wrong(kAsked, fmt::format("wrote more than the {} of {}", Counted(wanted, "byte"), what));
}

}  // namespace

absl::StatusOr<Handle<pjrt::Buffer>> PutArray(const Plugin& plugin, pjrt::Client* client,
                                              pjrt::Device* device, const Literal& value,
                                              std::string_view what) {
  constexpr FunctionId kAsked = FunctionId::kClient_BufferFromHostBuffer;
  ASSAY_RETURN_IF_ERROR(value.Fetch());
  const Shape& shape = value.shape();
  Struct<pjrt::ClientBufferFromHostBufferArgs> call;
  call->client = client;
  call->type = pjrt::BufferTypeOf(shape);
  call->host_buffer_semantics = pjrt::HostBufferSemantics::kImmutableOnlyDuringCall;
  call->device = device;
  DimVector strides;
  std::vector<std::byte> bits;
  if (shape.IsArray()) {
    call->data = value.data();
    if (pjrt::IsSignExtended(shape.element_type())) {
      bits.assign(value.bytes().begin(), value.bytes().end());
      pjrt::ClearPaddingBits(shape.element_type(), bits);
      call->data = bits.data();
    }
    call->dims = shape.sizes().data();
    call->num_dims = shape.sizes().size();
    strides =
        pjrt::DenseStrides(shape.sizes(), Bytes(shape.element_type()), pjrt::RowMajorOrder(shape.rank()));
    call->byte_strides = strides.data();
    call->num_byte_strides = strides.size();
  }
  ASSAY_RETURN_IF_ERROR(plugin.Invoke(kAsked, call));
  Handle<pjrt::Buffer> buffer(plugin, call->buffer);
  // With these semantics it has let go of the host's memory already;
  // errors of the transfer come by the event.
  const absl::Status done = plugin.Await(call->done_with_host_buffer, what);
  ASSAY_RETURN_IF_ERROR(done);
  if (buffer.get() == nullptr) return plugin.Wrong(kAsked, fmt::format("gave no buffer for {}", what));
  return buffer;
}

absl::StatusOr<Literal> FetchArray(const Plugin& plugin, pjrt::Buffer* buffer, const Shape& shape,
                                   std::string_view what) {
  ASSAY_RETURN_IF_ERROR(CheckType(plugin, buffer, shape, what));
  ASSAY_RETURN_IF_ERROR(CheckSizes(plugin, buffer, shape, what));
  ASSAY_RETURN_IF_ERROR(AwaitReady(plugin, buffer, what));
  ASSAY_ASSIGN_OR_RETURN(Literal value, Literal::Make(shape));
  const auto size = static_cast<size_t>(shape.num_bytes());
  Landing landing(size);
  if (!landing.has_memory()) return OutOfMemory(fmt::format("{} {}", what, shape.ToString()));
  ASSAY_RETURN_IF_ERROR(CopyToHost(plugin, buffer, shape, what, landing));
  const std::span<std::byte> bytes = value.MutableBytes();
  if (size > 0) std::memcpy(bytes.data(), landing.data(), size);
  if (pjrt::HasPaddingBits(shape.element_type())) pjrt::NormalizeBytes(shape.element_type(), bytes);
  return value;
}

}  // namespace assay::pjrt_client
