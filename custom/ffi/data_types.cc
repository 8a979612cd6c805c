#include "custom/ffi/data_types.h"

#include <algorithm>
#include <cstring>

#include "fmt/format.h"

namespace assay::custom::ffi {

std::optional<abi::DataType> DataTypeOf(ElementType type) {
  using enum abi::DataType;
  switch (type) {
    case ElementType::kPred:
      return kPred;
    case ElementType::kS1:
      return kS1;
    case ElementType::kS2:
      return kS2;
    case ElementType::kS4:
      return kS4;
    case ElementType::kS8:
      return kS8;
    case ElementType::kS16:
      return kS16;
    case ElementType::kS32:
      return kS32;
    case ElementType::kS64:
      return kS64;
    case ElementType::kU1:
      return kU1;
    case ElementType::kU2:
      return kU2;
    case ElementType::kU4:
      return kU4;
    case ElementType::kU8:
      return kU8;
    case ElementType::kU16:
      return kU16;
    case ElementType::kU32:
      return kU32;
    case ElementType::kU64:
      return kU64;
    case ElementType::kF16:
      return kF16;
    case ElementType::kF32:
      return kF32;
    case ElementType::kF64:
      return kF64;
    case ElementType::kBF16:
      return kBF16;
    case ElementType::kF8E5M2:
      return kF8E5M2;
    case ElementType::kF8E4M3:
      return kF8E4M3;
    case ElementType::kF8E4M3FN:
      return kF8E4M3FN;
    case ElementType::kF8E4M3B11FNUZ:
      return kF8E4M3B11FNUZ;
    case ElementType::kF8E3M4:
      return kF8E3M4;
    case ElementType::kF8E5M2FNUZ:
      return kF8E5M2FNUZ;
    case ElementType::kF8E4M3FNUZ:
      return kF8E4M3FNUZ;
    case ElementType::kF8E8M0FNU:
      return kF8E8M0FNU;
    case ElementType::kF4E2M1FN:
      return kF4E2M1FN;
    case ElementType::kC64:
      return kC64;
    case ElementType::kC128:
      return kC128;
    case ElementType::kF6E3M2FN:
    case ElementType::kF6E2M3FN:
      return std::nullopt;
  }
  return std::nullopt;
}

absl::StatusOr<MemoryForm> MemoryForm::Of(const Shape& array, const Layout& layout) {
  const ElementType type = array.element_type();
  MemoryForm form;
  form.num_elements_ = array.num_elements();
  form.bytes_ = Bytes(type);
  form.bits_ = Bits(type);
  form.is_packed_ = type != ElementType::kPred && form.bits_ < 8;
  form.is_signed_ = IsSignedIntegral(type);
  form.num_bytes_ = form.is_packed_ ? (form.num_elements_ * form.bits_ + 7) / 8 : array.num_bytes();
  if (layout.tail != nullptr) {
    LayoutTail tail = *layout.tail;
    tail.memory_space = 0;
    if (tail.element_size_in_bits == form.bits_) tail.element_size_in_bits = 0;
    if (!(tail == LayoutTail()))
      return NotSupported(
          {}, fmt::format("a handler's array of layout {}", array.ToString(/*with_layout=*/true)));
  }
  if (layout.IsRowMajor() || form.num_elements_ == 0) return form;
  form.sizes_.assign(array.sizes().begin(), array.sizes().end());
  form.order_ = layout.minor_to_major;
  form.strides_.resize(form.sizes_.size());
  int64_t stride = 1;
  for (size_t d = form.sizes_.size(); d-- > 0;) {
    form.strides_[d] = stride;
    stride *= form.sizes_[d];
  }
  return form;
}

template <typename Body>
void MemoryForm::ForEachPlace(Body body) const {
  if (order_.empty()) {
    for (int64_t place = 0; place < num_elements_; ++place) body(place, place);
    return;
  }
  DimVector index(sizes_.size(), 0);
  int64_t element = 0;
  for (int64_t place = 0; place < num_elements_; ++place) {
    body(place, element);
    for (const int64_t d : order_) {  // the first that has more takes a step, those before it begin again
      const auto at = static_cast<size_t>(d);
      element += strides_[at];
      if (++index[at] < sizes_[at]) break;
      element -= strides_[at] * sizes_[at];
      index[at] = 0;
    }
  }
}

void MemoryForm::FromLiteral(const std::byte* literal, std::byte* memory) const {
  if (is_literal()) {
    std::copy_n(literal, num_bytes_, memory);
  } else if (is_packed_) {
    std::fill_n(memory, num_bytes_, std::byte{0});
    const auto mask = static_cast<std::byte>((1 << bits_) - 1);
    ForEachPlace([&](int64_t place, int64_t element) {
      const int64_t bit = place * bits_;
      memory[bit / 8] |= (literal[element] & mask) << (bit % 8);
    });
  } else {
    ForEachPlace([&](int64_t place, int64_t element) {
      std::memcpy(memory + place * bytes_, literal + element * bytes_, static_cast<size_t>(bytes_));
    });
  }
}

void MemoryForm::ToLiteral(const std::byte* memory, std::byte* literal) const {
  if (is_literal()) {
    std::copy_n(memory, num_bytes_, literal);
  } else if (is_packed_) {
    const int mask = (1 << bits_) - 1, sign = is_signed_ ? 1 << (bits_ - 1) : 0;
    ForEachPlace([&](int64_t place, int64_t element) {
      const int64_t bit = place * bits_;
      const int value = (std::to_integer<int>(memory[bit / 8]) >> (bit % 8)) & mask;
      literal[element] = static_cast<std::byte>((value ^ sign) - sign);
    });
  } else {
    ForEachPlace([&](int64_t place, int64_t element) {
      std::memcpy(literal + element * bytes_, memory + place * bytes_, static_cast<size_t>(bytes_));
    });
  }
}

}  // namespace assay::custom::ffi
