#include "custom/ffi/data_types.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "fmt/format.h"

namespace assay::custom::ffi {

namespace {

constexpr std::pair<ElementType, abi::DataType> kTypes[] = {
    {ElementType::kPred, abi::DataType::kPred},
    {ElementType::kS1, abi::DataType::kS1},
    {ElementType::kS2, abi::DataType::kS2},
    {ElementType::kS4, abi::DataType::kS4},
    {ElementType::kS8, abi::DataType::kS8},
    {ElementType::kS16, abi::DataType::kS16},
    {ElementType::kS32, abi::DataType::kS32},
    {ElementType::kS64, abi::DataType::kS64},
    {ElementType::kU1, abi::DataType::kU1},
    {ElementType::kU2, abi::DataType::kU2},
    {ElementType::kU4, abi::DataType::kU4},
    {ElementType::kU8, abi::DataType::kU8},
    {ElementType::kU16, abi::DataType::kU16},
    {ElementType::kU32, abi::DataType::kU32},
    {ElementType::kU64, abi::DataType::kU64},
    {ElementType::kF16, abi::DataType::kF16},
    {ElementType::kF32, abi::DataType::kF32},
    {ElementType::kF64, abi::DataType::kF64},
    {ElementType::kBF16, abi::DataType::kBF16},
    {ElementType::kF8E5M2, abi::DataType::kF8E5M2},
    {ElementType::kF8E4M3, abi::DataType::kF8E4M3},
    {ElementType::kF8E4M3FN, abi::DataType::kF8E4M3FN},
    {ElementType::kF8E4M3B11FNUZ, abi::DataType::kF8E4M3B11FNUZ},
    {ElementType::kF8E3M4, abi::DataType::kF8E3M4},
    {ElementType::kF8E5M2FNUZ, abi::DataType::kF8E5M2FNUZ},
    {ElementType::kF8E4M3FNUZ, abi::DataType::kF8E4M3FNUZ},
    {ElementType::kF8E8M0FNU, abi::DataType::kF8E8M0FNU},
    {ElementType::kF4E2M1FN, abi::DataType::kF4E2M1FN},
    {ElementType::kC64, abi::DataType::kC64},
    {ElementType::kC128, abi::DataType::kC128},
};
static_assert(std::size(kTypes) + 2 == kNumElementTypes);  // f6e3m2fn and f6e2m3fn have no number

}  // namespace

std::optional<abi::DataType> DataTypeOf(ElementType type) {
  const auto* const found = std::ranges::find(kTypes, type, &std::pair<ElementType, abi::DataType>::first);
  return found == std::end(kTypes) ? std::nullopt : std::optional(found->second);
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
