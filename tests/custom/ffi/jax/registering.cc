// A library that registers its handler by itself, with the API of whoever loads it.
#include <cstdint>
#include <memory>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

namespace {

struct Offset {
  static ffi::TypeId id;
  int32_t value;
};
ffi::TypeId Offset::id = {};

ffi::ErrorOr<std::unique_ptr<Offset>> Instantiate(int32_t offset) {
  return std::make_unique<Offset>(Offset{offset});
}
ffi::Error Execute(Offset* offset, ffi::Buffer<ffi::S32> x, ffi::ResultBuffer<ffi::S32> y) {
  for (size_t i = 0; i < x.element_count(); ++i) y->typed_data()[i] = x.typed_data()[i] + offset->value;
  return ffi::Error::Success();
}

const ffi::TypeInfo info = ffi::MakeTypeInfo<Offset>();
XLA_FFI_REGISTER_TYPE(XLA_FFI_GetApi(), "assay_tests.Offset", &Offset::id, &info);
XLA_FFI_DEFINE_HANDLER(instantiate, Instantiate, ffi::Ffi::BindInstantiate().Attr<int32_t>("offset"));
XLA_FFI_DEFINE_HANDLER(
    execute, Execute,
    ffi::Ffi::Bind().Ctx<ffi::State<Offset>>().Arg<ffi::Buffer<ffi::S32>>().Ret<ffi::Buffer<ffi::S32>>());
XLA_FFI_REGISTER_HANDLER(XLA_FFI_GetApi(), "assay_tests.AddOffset", "Host",
                         (XLA_FFI_Handler_Bundle{instantiate, nullptr, nullptr, execute}));

}  // namespace
