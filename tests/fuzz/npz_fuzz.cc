// Any bytes as an .npz file and as a .npy file. Whatever is read must survive being written and read again.
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "literal/literal.h"
#include "literal/npz.h"

namespace assay {
namespace {

void Check(const NpyArray& array) {
  const absl::StatusOr<Literal> literal = DecodeNpyByDescr("key", array);
  if (!literal.ok()) return;
  const absl::StatusOr<NpyArray> again = ParseNpy("again", EncodeNpy(*literal));
  ASSAY_CHECK(again.ok());
  const absl::StatusOr<Literal> back = DecodeNpy("again", *again, literal->shape());
  ASSAY_CHECK(back.ok() && Literal::BitwiseEqual(*back, *literal));
  for (int t = 0; t < kNumElementTypes; ++t) {
    const absl::StatusOr<Shape> shape = Shape::Array(static_cast<ElementType>(t), array.sizes);
    if (shape.ok()) (void)DecodeNpy("key", array, *shape);
  }
}

}  // namespace
}  // namespace assay

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto array = assay::ParseNpy("file.npy", bytes); array.ok()) assay::Check(*array);
  if (const auto arrays = assay::ParseNpz("file.npz", bytes); arrays.ok()) {
    for (const auto& [key, array] : *arrays) assay::Check(array);
  }
  return 0;
}
