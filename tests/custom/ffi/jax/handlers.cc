// A library as users of jax.ffi write them, against jaxlib's headers alone: root-mean-square normalisation
// over the last dimension, forward and backward, for three element types;
// and handlers that use the rest of the interface.
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

namespace {

// bf16 as its upper half of an f32; conversion rounds to nearest, ties to even.
struct Bfloat16 {
  uint16_t bits;
  explicit Bfloat16(float value) {
    uint32_t whole;
    std::memcpy(&whole, &value, 4);
    bits = static_cast<uint16_t>((whole + 0x7FFF + ((whole >> 16) & 1)) >> 16);
  }
  explicit operator float() const {
    const uint32_t whole = static_cast<uint32_t>(bits) << 16;
    float value;
    std::memcpy(&value, &whole, 4);
    return value;
  }
};

struct Rows {
  int64_t count, size;
};
Rows RowsOf(const ffi::AnyBuffer& buffer) {
  const auto sizes = buffer.dimensions();
  const int64_t size = sizes.size() == 0 ? 1 : sizes.back();
  return {size == 0 ? 0 : static_cast<int64_t>(buffer.element_count()) / size, size};
}

template <typename T>
T* Elements(const ffi::AnyBuffer& buffer) {
  return static_cast<T*>(buffer.untyped_data());
}

// y = x s, s = 1 / sqrt(mean(x^2) + eps); Wide is what it is computed in.
template <typename T, typename Wide>
void Forward(float eps, const ffi::AnyBuffer& x, const ffi::AnyBuffer& y, Wide* scales) {
  const Rows rows = RowsOf(x);
  for (int64_t row = 0; row < rows.count; ++row) {
    const T* const in = Elements<T>(x) + row * rows.size;
    T* const out = Elements<T>(y) + row * rows.size;
    Wide sum = 0;
    for (int64_t i = 0; i < rows.size; ++i) sum += static_cast<Wide>(in[i]) * static_cast<Wide>(in[i]);
    const Wide scale = Wide(1) / std::sqrt(sum / static_cast<Wide>(rows.size) + static_cast<Wide>(eps));
    for (int64_t i = 0; i < rows.size; ++i) out[i] = T(static_cast<Wide>(in[i]) * scale);
    if (scales != nullptr) scales[row] = scale;
  }
}

// dx = s g - x s^3 mean(x g)
template <typename T, typename Wide>
void Backward(const ffi::AnyBuffer& scales, const ffi::AnyBuffer& x, const ffi::AnyBuffer& g,
              const ffi::AnyBuffer& dx) {
  const Rows rows = RowsOf(x);
  for (int64_t row = 0; row < rows.count; ++row) {
    const T* const in = Elements<T>(x) + row * rows.size;
    const T* const grad = Elements<T>(g) + row * rows.size;
    T* const out = Elements<T>(dx) + row * rows.size;
    const Wide scale = Elements<Wide>(scales)[row];
    Wide sum = 0;
    for (int64_t i = 0; i < rows.size; ++i) sum += static_cast<Wide>(in[i]) * static_cast<Wide>(grad[i]);
    const Wide factor = sum / static_cast<Wide>(rows.size) * scale * scale * scale;
    for (int64_t i = 0; i < rows.size; ++i)
      out[i] = T(static_cast<Wide>(grad[i]) * scale - static_cast<Wide>(in[i]) * factor);
  }
}

ffi::Error RmsNorm(float eps, ffi::AnyBuffer x, ffi::Result<ffi::AnyBuffer> y) {
  if (eps < 0) return ffi::Error::InvalidArgument("eps is negative");
  switch (x.element_type()) {
    case ffi::F32:
      Forward<float, float>(eps, x, *y, nullptr);
      return ffi::Error::Success();
    case ffi::F64:
      Forward<double, double>(eps, x, *y, nullptr);
      return ffi::Error::Success();
    case ffi::BF16:
      Forward<Bfloat16, float>(eps, x, *y, nullptr);
      return ffi::Error::Success();
    default:
      return ffi::Error(ffi::ErrorCode::kUnimplemented, "want f32, f64 or bf16");
  }
}

ffi::Error RmsNormForward(float eps, ffi::AnyBuffer x, ffi::Result<ffi::AnyBuffer> y,
                          ffi::Result<ffi::AnyBuffer> scales) {
  switch (x.element_type()) {
    case ffi::F32:
      Forward<float, float>(eps, x, *y, Elements<float>(*scales));
      return ffi::Error::Success();
    case ffi::F64:
      Forward<double, double>(eps, x, *y, Elements<double>(*scales));
      return ffi::Error::Success();
    case ffi::BF16:
      Forward<Bfloat16, float>(eps, x, *y, Elements<float>(*scales));
      return ffi::Error::Success();
    default:
      return ffi::Error(ffi::ErrorCode::kUnimplemented, "want f32, f64 or bf16");
  }
}

ffi::Error RmsNormBackward(ffi::AnyBuffer scales, ffi::AnyBuffer x, ffi::AnyBuffer g,
                           ffi::Result<ffi::AnyBuffer> dx) {
  switch (x.element_type()) {
    case ffi::F32:
      Backward<float, float>(scales, x, g, *dx);
      return ffi::Error::Success();
    case ffi::F64:
      Backward<double, double>(scales, x, g, *dx);
      return ffi::Error::Success();
    case ffi::BF16:
      Backward<Bfloat16, float>(scales, x, g, *dx);
      return ffi::Error::Success();
    default:
      return ffi::Error(ffi::ErrorCode::kUnimplemented, "want f32, f64 or bf16");
  }
}

// A number that each attribute changes.
ffi::Error Attributes(bool flag, int32_t number, double real, std::string_view name,
                      ffi::Span<const int64_t> list, ffi::Dictionary more,
                      ffi::ResultBufferR0<ffi::F64> out) {
  double sum = (flag ? 1000 : 0) + number + real + 10000.0 * static_cast<double>(name.size());
  for (size_t i = 0; i < list.size(); ++i)
    sum += 1e6 * static_cast<double>(list[i] * static_cast<int64_t>(i + 1));
  const ffi::ErrorOr<uint8_t> inner = more.get<uint8_t>("inner");
  if (inner.has_error()) return inner.error();
  *out->typed_data() = sum + 1e9 * *inner;
  return ffi::Error::Success();
}

// A state made once a call, used by each run.
struct Table {
  static ffi::TypeId id;
  int64_t factor;
};
ffi::TypeId Table::id = {};
const ffi::TypeInfo table_info = ffi::MakeTypeInfo<Table>();

ffi::ErrorOr<std::unique_ptr<Table>> MakeTable(int64_t factor) {
  if (factor == 0) return ffi::Unexpected(ffi::Error::InvalidArgument("factor is 0"));
  return std::make_unique<Table>(Table{factor});
}
ffi::Error UseTable(Table* table, ffi::Buffer<ffi::S64> x, ffi::ResultBuffer<ffi::S64> y) {
  for (size_t i = 0; i < x.element_count(); ++i) y->typed_data()[i] = x.typed_data()[i] * table->factor;
  return ffi::Error::Success();
}

// Each element by a task of its own.
ffi::Error Scheduled(ffi::ThreadPool pool, ffi::Buffer<ffi::S32> x, ffi::ResultBuffer<ffi::S32> y) {
  std::atomic<size_t> done = 0;
  const int32_t* const in = x.typed_data();
  int32_t* const out = y->typed_data();
  for (size_t i = 0; i < x.element_count(); ++i) {
    pool.Schedule([&done, in, out, i] {
      out[i] = in[i] * in[i];
      ++done;
    });
  }
  while (done < x.element_count()) {
  }
  return ffi::Error::Success();
}

// Completes after it returned.
ffi::Future Later(ffi::Buffer<ffi::S32> x, ffi::ResultBuffer<ffi::S32> y) {
  ffi::Promise promise;
  ffi::Future future(promise);
  *y->typed_data() = *x.typed_data() + 1;
  promise.SetAvailable();
  return future;
}

ffi::Error Scratch(ffi::ScratchAllocator scratch, ffi::ResultBufferR0<ffi::S32> y) {
  const std::optional<void*> memory = scratch.Allocate(1000, 64);
  if (!memory) return ffi::Error::Internal("no memory");
  std::memset(*memory, 1, 1000);
  *y->typed_data() = *static_cast<const int32_t*>(*memory);
  return ffi::Error::Success();
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(
    rms_norm, RmsNorm, ffi::Ffi::Bind().Attr<float>("eps").Arg<ffi::AnyBuffer>().Ret<ffi::AnyBuffer>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    rms_norm_forward, RmsNormForward,
    ffi::Ffi::Bind().Attr<float>("eps").Arg<ffi::AnyBuffer>().Ret<ffi::AnyBuffer>().Ret<ffi::AnyBuffer>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    rms_norm_backward, RmsNormBackward,
    ffi::Ffi::Bind().Arg<ffi::AnyBuffer>().Arg<ffi::AnyBuffer>().Arg<ffi::AnyBuffer>().Ret<ffi::AnyBuffer>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(attributes, Attributes,
                              ffi::Ffi::Bind()
                                  .Attr<bool>("flag")
                                  .Attr<int32_t>("number")
                                  .Attr<double>("real")
                                  .Attr<std::string_view>("name")
                                  .Attr<ffi::Span<const int64_t>>("list")
                                  .Attr<ffi::Dictionary>("more")
                                  .Ret<ffi::BufferR0<ffi::F64>>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(make_table, MakeTable, ffi::Ffi::BindInstantiate().Attr<int64_t>("factor"));
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    use_table, UseTable,
    ffi::Ffi::Bind().Ctx<ffi::State<Table>>().Arg<ffi::Buffer<ffi::S64>>().Ret<ffi::Buffer<ffi::S64>>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    scheduled, Scheduled,
    ffi::Ffi::Bind().Ctx<ffi::ThreadPool>().Arg<ffi::Buffer<ffi::S32>>().Ret<ffi::Buffer<ffi::S32>>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(later, Later,
                              ffi::Ffi::Bind().Arg<ffi::Buffer<ffi::S32>>().Ret<ffi::Buffer<ffi::S32>>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(scratch, Scratch,
                              ffi::Ffi::Bind().Ctx<ffi::ScratchAllocator>().Ret<ffi::BufferR0<ffi::S32>>());

extern "C" XLA_FFI_TypeId* table_type() { return &Table::id; }
extern "C" const XLA_FFI_TypeInfo* table_type_info() { return &table_info; }
