#include "gpu/product.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/counted.h"
#include "fmt/format.h"
#include "gpu/kernel_function.h"
#include "gpu/kernels/widen_arguments.h"
#include "literal/element_io.h"

namespace assay::gpu {
namespace {

// Where the elements of an operand of a kernel lie: DotOperand or ByteOperand. False:
// over too many dimensions.
template <typename Operand>
bool Fill(const ProductSide& side, Operand& operand, int64_t* batch_strides, int64_t* row_strides) {
  const std::optional<Strides> batch = StridesOf(side.batch, batch_strides);
  const std::optional<Strides> rows = StridesOf(side.rows, row_strides);
  const std::optional<Strides> depth = StridesOf(side.depth);
  if (!batch || !rows || !depth) return false;
  operand.batch = *batch;
  operand.rows = *rows;
  operand.depth = *depth;
  return true;
}

// The dimensions of either kernel's arguments.
template <typename Arguments>
absl::Status SetDimensions(const std::array<ProductSide, 2>& sides, Arguments& arguments) {
  int64_t again[kMaxDimensions];
  if (!Fill(sides[0], arguments.lhs, arguments.batch_strides, arguments.row_strides) ||
      !Fill(sides[1], arguments.rhs, again, arguments.column_strides))
    return NotSupported({}, fmt::format("more than {} dimensions", kMaxDimensions));
  return absl::OkStatus();
}

// The strides of elements of so many bytes, in bytes.
void ToBytes(int64_t bytes, ByteOperand& operand) {
  for (Strides* strides : {&operand.batch, &operand.rows, &operand.depth}) {
    for (int64_t& stride : strides->strides) stride *= bytes;
  }
}

// The bits of a float's significand; of the types of at most 8 bits no more than a bf16 has.
int PrecisionOf(ElementType type) {
  const std::optional<Float> format = FloatOf(type);
  return ShapeOf(format.value_or(Float::kBf16)).precision;
}

absl::Status CheckBlocks(int64_t blocks) {
  if (blocks <= kMaxBlocks) return absl::OkStatus();
  return NotSupported({}, fmt::format("{}, a launch has at most {}", Counted(blocks, "block"), kMaxBlocks));
}

// What takes the dot; nothing where it is left to other kernels.
template <typename Panels>
absl::StatusOr<Panels> Taken(absl::StatusOr<Panels> made) {
  if (!made.ok() && absl::IsUnimplemented(made.status())) return Panels();
  return made;
}

// The part of a dot that a panel is, with addresses.
template <typename Arguments>
Arguments At(Arguments panel, DeviceAddress lhs, DeviceAddress rhs, DeviceAddress result) {
  panel.lhs.address += lhs;
  panel.rhs.address += rhs;
  panel.result += result;
  return panel;
}

}  // namespace

bool IsTensorInteger(ElementType type) { return IsIntegral(type); }

absl::StatusOr<Widening> Widening::Make(Device& device, ElementType type, int64_t count, ElementType to) {
  Widening widening;
  widening.count_ = count;
  widening.width_ = Bytes(to);
  if (type == to || type == ElementType::kF32 || type == ElementType::kF64 || IsTensorInteger(type))
    return widening;
  const bool is_half = type == ElementType::kBF16 || type == ElementType::kF16;
  if (!is_half && !(IsFloat(type) && Info(type).bits <= 8))
    return NotSupported({}, fmt::format("products of {}", Name(type)));
  ASSAY_ASSIGN_OR_RETURN(widening.function_, KernelFunction(device, "widen",
                                                            is_half ? fmt::format("widen_{}", Name(type))
                                                            : to == ElementType::kBF16 ? "widen_8_bf16"
                                                                                       : "widen_8"));
  if (is_half) return widening;
  std::array<float, 256> values;
  for (size_t bits = 0; bits < values.size(); ++bits) {
    const auto byte = static_cast<std::byte>(bits);
    values[bits] = static_cast<float>(LoadElement(type, &byte).r);
  }
  ASSAY_ASSIGN_OR_RETURN(widening.table_, device.Allocate(sizeof(values)));
  ASSAY_RETURN_IF_ERROR(device.CopyIn(widening.table_->address(), std::as_bytes(std::span(values))));
  return widening;
}

absl::StatusOr<std::shared_ptr<DeviceMemory>> Widening::Enqueue(Device& device, DeviceAddress from) const {
  ASSAY_ASSIGN_OR_RETURN(std::shared_ptr<DeviceMemory> memory, device.Allocate(count_ * width_));
  const WidenArguments arguments{.from = from,
                                 .to = memory->address(),
                                 .count = count_,
                                 .table = table_ == nullptr ? 0 : table_->address()};
  const LaunchShape shape{.blocks = {BlocksFor(device, count_, kWidenThreads), 1, 1},
                          .threads = {kWidenThreads, 1, 1},
                          .shared_bytes = table_ == nullptr ? 0 : kWidenTableBytes};
  ASSAY_RETURN_IF_ERROR(device.Launch(*function_, shape, arguments));
  return memory;
}

absl::StatusOr<Product> Product::Make(Device& device, ElementType lhs, ElementType rhs, ElementType result,
                                      const std::array<ProductSide, 2>& sides, bool lhs_has_padding,
                                      int64_t residues_from) {
  Product product;
  product.types_ = {lhs, rhs};
  if (IsTensorInteger(lhs) && IsTensorInteger(rhs) && IsTensorInteger(result)) {
    ASSAY_RETURN_IF_ERROR(product.MakeBytes(device, lhs, rhs, result, sides, residues_from));
    return product;
  }
  const std::optional<Float> format = FloatOf(result);
  if (!format) return NotSupported({}, fmt::format("sums of products to {}", Name(result)));
  const bool is_double = lhs == ElementType::kF64 && rhs == ElementType::kF64;
  for (ElementType type : {lhs, rhs}) {
    if (!is_double && (!IsFloat(type) || type == ElementType::kF64))
      return NotSupported({}, fmt::format("products of {} and {}", Name(lhs), Name(rhs)));
  }
  ASSAY_RETURN_IF_ERROR(product.MakeFloats(device, is_double, *format, sides));
  product.floats_.lhs_has_padding = lhs_has_padding ? 1 : 0;
  ASSAY_ASSIGN_OR_RETURN(
      product.residues_,
      Taken(ResidueDot::Make(device, product.floats_, is_double, std::max(PrecisionOf(lhs), PrecisionOf(rhs)),
                             residues_from)));
  return product;
}

absl::StatusOr<Product> Product::MakeFast(Device& device, const std::array<ElementType, 2>& operands,
                                          ElementType type, Float result,
                                          const std::array<ProductSide, 2>& sides, bool lhs_has_padding) {
  FastDotArguments dot{};
  ASSAY_RETURN_IF_ERROR(SetDimensions(sides, dot));
  if (const int64_t terms = SizeOf(dot.lhs.depth); terms > kMaxDotTerms)
    return NotSupported({}, fmt::format("sums of {}", Counted(terms, "product")));
  dot.result_type = result;
  dot.lhs_has_padding = lhs_has_padding ? 1 : 0;
  Product product;
  ASSAY_ASSIGN_OR_RETURN(product.fast_, FastProduct::Make(device, operands, type, dot));
  return product;
}

absl::Status Product::EnqueueFast(Device& device, const std::array<ProductOperand, 2>& operands,
                                  DeviceAddress result) const {
  std::array<std::shared_ptr<DeviceMemory>, 2> widened;
  std::array<DeviceAddress, 2> elements{};
  for (size_t k = 0; k < 2; ++k) {
    elements[k] = operands[k].address;
    if (operands[k].widening != nullptr && operands[k].widening->exists()) {
      ASSAY_ASSIGN_OR_RETURN(widened[k], operands[k].widening->Enqueue(device, elements[k]));
      elements[k] = widened[k]->address();
    }
    elements[k] += static_cast<uint64_t>(operands[k].start);
  }
  return fast_->Enqueue(device, elements, result);
}

absl::Status Product::MakeBytes(Device& device, ElementType lhs, ElementType rhs, ElementType result,
                                const std::array<ProductSide, 2>& sides, int64_t residues_from) {
  is_bytes_ = true;
  ASSAY_RETURN_IF_ERROR(SetDimensions(sides, bytes_));
  ASSAY_RETURN_IF_ERROR(CheckBlocks(ByteDotBlocks(bytes_)));
  bytes_.result_bytes = static_cast<int32_t>(Bytes(result));
  bytes_.unused_bits = std::max(0, 32 - static_cast<int32_t>(Info(result).bits));
  bytes_.result_is_signed = IsSignedIntegral(result) ? 1 : 0;
  const auto lhs_bytes = static_cast<int>(Bytes(lhs)), rhs_bytes = static_cast<int>(Bytes(rhs));
  bytes_.passes = BytePassesOf(lhs_bytes, IsSignedIntegral(lhs), rhs_bytes, IsSignedIntegral(rhs),
                               bytes_.result_bytes, SizeOf(bytes_.lhs.depth));
  ASSAY_ASSIGN_OR_RETURN(
      functions_.dot, KernelFunction(device, "dot_i8", bytes_.result_bytes == 8 ? "dot_i8_wide" : "dot_i8"));
  element_bytes_ = {lhs_bytes, rhs_bytes};
  ASSAY_ASSIGN_OR_RETURN(byte_products_,
                         Taken(ByteProduct::Make(device, bytes_, {lhs_bytes, rhs_bytes}, residues_from)));
  return absl::OkStatus();
}

absl::Status Product::MakeFloats(Device& device, bool is_double, Float result,
                                 const std::array<ProductSide, 2>& sides) {
  is_double_ = is_double;
  floats_.result_type = result;
  ASSAY_RETURN_IF_ERROR(SetDimensions(sides, floats_));
  if (const int64_t terms = SizeOf(floats_.lhs.depth); terms > kMaxDotTerms)
    return NotSupported({}, fmt::format("sums of {}", Counted(terms, "product")));
  for (const DotOperand& operand : {floats_.lhs, floats_.rhs})
    ASSAY_RETURN_IF_ERROR(CheckBlocks(ScaleBlocks(operand)));
  // Tiles of the large kind pay where they are mostly full.
  const bool is_large =
      SizeOf(floats_.lhs.rows) >= kDotTile.rows && SizeOf(floats_.rhs.rows) >= kDotTile.columns;
  tile_ = is_double ? kPairDotTile : is_large ? kDotTile : kSmallDotTile;
  ASSAY_RETURN_IF_ERROR(CheckBlocks(DotBlocks(tile_, floats_)));
  const std::string_view module = is_double ? "dot_f64" : "dot";
  const std::string suffix = is_double ? "f64" : "f32";
  ASSAY_ASSIGN_OR_RETURN(functions_.scales, KernelFunction(device, module, "dot_scales_" + suffix));
  ASSAY_ASSIGN_OR_RETURN(
      functions_.dot,
      KernelFunction(device, module, is_double || is_large ? "dot_" + suffix : "dot_small_" + suffix));
  ASSAY_ASSIGN_OR_RETURN(functions_.repair, KernelFunction(device, module, "dot_repair_" + suffix));
  return absl::OkStatus();
}

std::string_view Product::algorithm() const {
  if (fast_) return fast_->algorithm();
  if (residues_.size() > 1) return "residues on integer tensor cores, in panels";
  if (!residues_.empty()) return "residues on integer tensor cores";
  if (byte_products_.size() > 1) return "products of warpgroups on integer tensor cores, in panels";
  if (!byte_products_.empty()) return "products of warpgroups on integer tensor cores";
  return is_bytes_ ? "integer tensor cores" : is_double_ ? "pairs of doubles" : "f64 tensor cores";
}

absl::Status Product::Enqueue(Device& device, const std::array<ProductOperand, 2>& operands,
                              DeviceAddress result) const {
  if (fast_) return EnqueueFast(device, operands, result);
  return is_bytes_ ? EnqueueBytes(device, operands, result) : EnqueueFloats(device, operands, result);
}

class Product::Kept {
 public:
  // By key_of(dot, side), of one panel.
  template <typename Panels, typename KeyOf>
  Kept(Device& device, const Panels& panels, const std::array<ProductOperand, 2>& operands,
       const KeyOf& key_of) {
    if (panels.size() != 1 || (operands[0].kept == nullptr && operands[1].kept == nullptr)) return;
    lock_.emplace();
    for (size_t k = 0; k < 2; ++k) {
      if (operands[k].kept == nullptr) continue;
      auto dot = panels[0].dot;
      (k == 0 ? dot.lhs : dot.rhs).address += static_cast<uint64_t>(operands[k].start);
      const int side = static_cast<int>(k);
      uses_[k].emplace(operands[k].kept->Find(device, key_of(dot, side), panels[0].kernels.KeptBytes(side)));
    }
  }

  std::array<KeptOperand*, 2> get() const {
    return {uses_[0] ? uses_[0]->get() : nullptr, uses_[1] ? uses_[1]->get() : nullptr};
  }
  // The device was told to make all of it.
  void SetMade() {
    for (KeptOperand* const kept : get()) {
      if (kept != nullptr) kept->is_made = true;
    }
  }

 private:
  std::optional<KeptLock> lock_;
  std::array<std::optional<KeptUse>, 2> uses_;
};

absl::Status Product::EnqueueBytes(Device& device, const std::array<ProductOperand, 2>& operands,
                                   DeviceAddress result) const {
  const DeviceAddress lhs = operands[0].address + static_cast<uint64_t>(operands[0].start),
                      rhs = operands[1].address + static_cast<uint64_t>(operands[1].start);
  if (byte_products_.empty()) return EnqueueByteTiles(device, At(bytes_, lhs, rhs, result));
  Kept kept(device, byte_products_, operands, [&](const ByteDotArguments& dot, int side) {
    return byte_products_[0].kernels.KeptKey(dot, side);
  });
  for (const auto& panel : byte_products_) {
    const ByteDotArguments dot = At(panel.dot, lhs, rhs, result);
    const absl::Status status = panel.kernels.Enqueue(device, dot, kept.get());
    // Without memory for the slices nothing has begun.
    if (IsMemoryError(status)) {
      ASSAY_RETURN_IF_ERROR(EnqueueByteTiles(device, dot));
      continue;
    }
    ASSAY_RETURN_IF_ERROR(status);
    kept.SetMade();
  }
  return absl::OkStatus();
}

absl::Status Product::EnqueueByteTiles(Device& device, ByteDotArguments dot) const {
  ToBytes(element_bytes_[0], dot.lhs);
  ToBytes(element_bytes_[1], dot.rhs);
  const LaunchShape shape{.blocks = {static_cast<uint32_t>(ByteDotBlocks(dot)), 1, 1},
                          .threads = {kByteDotThreads, 1, 1},
                          .shared_bytes = dot.result_bytes == 8 ? kWideDotSharedBytes : kByteDotSharedBytes};
  return device.Launch(*functions_.dot, shape, dot);
}

absl::Status Product::EnqueueFloats(Device& device, const std::array<ProductOperand, 2>& operands,
                                    DeviceAddress result) const {
  Kept kept(device, residues_, operands, [&](const DotArguments& dot, int side) {
    return residues_[0].kernels.KeptKey(dot, side, types_[static_cast<size_t>(side)]);
  });
  std::array<std::shared_ptr<DeviceMemory>, 2> widened;
  std::array<DeviceAddress, 2> elements{};
  for (size_t k = 0; k < 2; ++k) {
    const ProductOperand& operand = operands[k];
    KeptOperand* const of_side = kept.get()[k];
    elements[k] = operand.address;
    if (operand.widening != nullptr && operand.widening->exists()) {
      if (of_side != nullptr && of_side->is_made) {
        widened[k] = of_side->widened;
      } else {
        ASSAY_ASSIGN_OR_RETURN(widened[k], operand.widening->Enqueue(device, operand.address));
        if (of_side != nullptr) of_side->widened = widened[k];
      }
      elements[k] = widened[k]->address();
    }
    elements[k] += static_cast<uint64_t>(operand.start);
  }
  if (residues_.empty())
    return EnqueueFloatDot(device, At(floats_, elements[0], elements[1], result), nullptr, {});
  for (const auto& panel : residues_) {
    ASSAY_RETURN_IF_ERROR(
        EnqueueFloatDot(device, At(panel.dot, elements[0], elements[1], result), &panel.kernels, kept.get()));
  }
  return absl::OkStatus();
}

absl::Status Product::EnqueueFloatDot(Device& device, DotArguments dot, const ResidueDot* residues,
                                      const std::array<KeptOperand*, 2>& kept) const {
  const int64_t batch = SizeOf(dot.lhs.batch), rows = SizeOf(dot.lhs.rows), columns = SizeOf(dot.rhs.rows);
  const int64_t results = batch * rows * columns;
  const int64_t scales = batch * (rows + columns) * static_cast<int64_t>(sizeof(RowScale));
  ASSAY_ASSIGN_OR_RETURN(const std::shared_ptr<DeviceMemory> memory,
                         device.Allocate(scales + 8 + 4 * results));
  dot.lhs.scales = memory->address();
  dot.rhs.scales = memory->address() + static_cast<uint64_t>(batch * rows) * sizeof(RowScale);
  dot.open_count = memory->address() + static_cast<uint64_t>(scales);
  dot.open = dot.open_count + 8;
  ASSAY_RETURN_IF_ERROR(device.Zero(dot.open_count, 8));
  for (size_t k = 0; k < 2; ++k) {
    DotOperand& operand = k == 0 ? dot.lhs : dot.rhs;
    if (kept[k] != nullptr) {
      operand.scales = ResidueDot::KeptScales(*kept[k]);
      if (kept[k]->is_made) continue;
      ASSAY_RETURN_IF_ERROR(ResidueDot::ClearKept(device, *kept[k]));
    }
    const LaunchShape shape{.blocks = {static_cast<uint32_t>(ScaleBlocks(operand)), 1, 1},
                            .threads = {kScaleThreads, 1, 1},
                            .shared_bytes = kScaleSharedBytes};
    ASSAY_RETURN_IF_ERROR(device.Launch(*functions_.scales, shape, DotScaleArguments{operand}));
  }
  if (residues != nullptr) {
    std::shared_ptr<DeviceMemory> residue_memory;
    uint64_t open = 0, open_count = 0;
    const absl::Status status = residues->Enqueue(device, dot, kept, &residue_memory, &open, &open_count);
    // Without memory for the slices nothing has begun.
    if (!IsMemoryError(status)) {
      ASSAY_RETURN_IF_ERROR(status);
      for (KeptOperand* const of_side : kept) {
        if (of_side != nullptr) of_side->is_made = true;
      }
      dot.open = open;
      dot.open_count = open_count;
      return EnqueueRepair(device, dot);
    }
  }
  const LaunchShape tiles{.blocks = {static_cast<uint32_t>(DotBlocks(tile_, dot)), 1, 1},
                          .threads = {tile_.threads, 1, 1},
                          .shared_bytes = tile_.shared_bytes};
  ASSAY_RETURN_IF_ERROR(device.Launch(*functions_.dot, tiles, dot));
  return EnqueueRepair(device, dot);
}

absl::Status Product::EnqueueRepair(Device& device, const DotArguments& dot) const {
  const int64_t results = SizeOf(dot.lhs.batch) * SizeOf(dot.lhs.rows) * SizeOf(dot.rhs.rows);
  constexpr int kThreadsOfWarp = 32;  // one warp an open element
  const LaunchShape repair{.blocks = {BlocksFor(device, results * kThreadsOfWarp, kRepairThreads), 1, 1},
                           .threads = {kRepairThreads, 1, 1}};
  return device.Launch(*functions_.repair, repair, dot);
}

}  // namespace assay::gpu
