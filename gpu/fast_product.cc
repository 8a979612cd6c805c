#include "gpu/fast_product.h"

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "base/counted.h"
#include "fmt/format.h"
#include "gpu/kernel_function.h"

namespace assay::gpu {
namespace {

constexpr int kTf32Bits = 11;

// Narrow floats, all of whose numbers a bf16 or a TF32 has.
bool IsNarrow(ElementType type) {
  return type == ElementType::kBF16 || type == ElementType::kF16 || (IsFloat(type) && Info(type).bits <= 8);
}

// Precisions and algorithms for which products of TF32 are enough.
bool AllowsTf32(const Instruction& instruction) {
  const AttributeMap& attributes = instruction.attributes;
  if (const AttrValue* const precision = attributes.Find(Attr::kOperandPrecision)) {
    for (const Word& word : std::get<std::vector<Word>>(*precision)) {
      if (!absl::EqualsIgnoreCase(word.text, "default")) return false;
    }
  }
  constexpr std::string_view kCoarse[] = {
      "unset",           "dot_tf32_tf32_f32", "dot_bf16_bf16_f32",     "dot_bf16_bf16_bf16",
      "dot_f16_f16_f32", "dot_f16_f16_f16",   "dot_any_f8_any_f8_f32", "dot_any_f8_any_f8_f32_fast_accum"};
  const std::string_view algorithm = attributes.Text(Attr::kAlgorithm, "unset");
  return std::any_of(std::begin(kCoarse), std::end(kCoarse), [&](std::string_view coarse) {
    return absl::EqualsIgnoreCase(absl::string_view(coarse.data(), coarse.size()),
                                  absl::string_view(algorithm.data(), algorithm.size()));
  });
}

// F and the bytes of a group: tests/gpu/emulator/device/tensor_core.h has the source.
TensorCoreSums::Cores CoresOf(const Device& device, ElementType type, bool cuts_factors, bool has_gaps) {
  const bool is_hopper = device.properties().capability >= Capability{9, 0};
  return {.factor_bits = cuts_factors ? kTf32Bits : 0,
          .fraction_bits = is_hopper ? 25 : 24,
          .terms_of_group = (is_hopper ? 32 : 16) / Bytes(type),
          .has_gaps = has_gaps};
}

}  // namespace

bool IsForFastProduct(const StepView& step) {
  const ElementType types[] = {step.operand_shape(0).element_type(), step.operand_shape(1).element_type()};
  const auto takes = [&](ElementType type) {
    return IsNarrow(type) || (type == ElementType::kF32 && AllowsTf32(step.instruction));
  };
  return takes(types[0]) && takes(types[1]) && FloatOf(step.result_shape().element_type()).has_value();
}

ElementType MultipliedAs(ElementType lhs, ElementType rhs) {
  const auto fits_bf16 = [](ElementType type) { return IsNarrow(type) && type != ElementType::kF16; };
  if (fits_bf16(lhs) && fits_bf16(rhs)) return ElementType::kBF16;
  if (lhs == ElementType::kF16 && rhs == ElementType::kF16) return ElementType::kF16;
  return ElementType::kF32;
}

absl::StatusOr<FastProduct> FastProduct::Make(Device& device, const std::array<ElementType, 2>& operands,
                                              ElementType type, const FastDotArguments& dot) {
  const bool is_large = SizeOf(dot.lhs.rows) >= kDotTile.rows && SizeOf(dot.rhs.rows) >= kDotTile.columns;
  const DotTile& tile = is_large ? kDotTile : kSmallDotTile;
  if (const int64_t blocks = FastDotBlocks(tile, dot); blocks > kMaxBlocks)
    return NotSupported({}, fmt::format("{}, a launch has at most {}", Counted(blocks, "block"), kMaxBlocks));
  const std::string_view name = type == ElementType::kF32 ? "tf32" : Name(type);
  ASSAY_ASSIGN_OR_RETURN(
      const DeviceFunction* const function,
      KernelFunction(device, "dot_fast", fmt::format("dot_{}{}", is_large ? "" : "small_", name)));
  const bool cuts_factors = operands[0] == ElementType::kF32 || operands[1] == ElementType::kF32;
  return FastProduct(type, *function, tile, dot,
                     TensorCoreSums(CoresOf(device, type, cuts_factors, dot.lhs_has_padding != 0)));
}

absl::Status FastProduct::Enqueue(Device& device, const std::array<DeviceAddress, 2>& operands,
                                  DeviceAddress result) const {
  FastDotArguments dot = dot_;
  dot.lhs.address = operands[0];
  dot.rhs.address = operands[1];
  dot.result = result;
  const LaunchShape shape{.blocks = {static_cast<uint32_t>(FastDotBlocks(tile_, dot)), 1, 1},
                          .threads = {tile_.threads, 1, 1},
                          .shared_bytes = tile_.shared_bytes};
  return device.Launch(*function_, shape, dot);
}

std::string_view FastProduct::algorithm() const {
  return type_ == ElementType::kF32    ? "TF32 tensor cores"
         : type_ == ElementType::kBF16 ? "bf16 tensor cores"
                                       : "f16 tensor cores";
}

}  // namespace assay::gpu
