// Sums of products on a device: what dot and convolution are, over rows of two operands
// whose elements stand anywhere.
#ifndef ASSAY_GPU_PRODUCT_H_
#define ASSAY_GPU_PRODUCT_H_

#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "gpu/driver/device.h"
#include "gpu/fast_product.h"
#include "gpu/kernels/dot_arguments.h"
#include "gpu/kernels/dot_i8_arguments.h"
#include "gpu/residue_dot.h"
#include "gpu/strided.h"
#include "shape/shape.h"

namespace assay::gpu {

// result[b, m, n] = sum over k of lhs[b, m, k] * rhs[b, n, k]: the dimensions of an operand by role, with
// their strides in it and, for batch and rows, in the result.
struct ProductSide {
  std::vector<Axis> batch, rows, depth;
};

// What makes of an operand one that the kernels multiply: narrow floats become f32, which has all of their
// values; or bf16, which has all of those of at most 8 bits.
class Widening {
 public:
  // Whether there is anything to do.
  bool exists() const { return function_ != nullptr && count_ > 0; }
  static absl::StatusOr<Widening> Make(Device& device, ElementType type, int64_t count,
                                       ElementType to = ElementType::kF32);
  // The operand's elements as that type, in memory of their own.
  absl::StatusOr<std::shared_ptr<DeviceMemory>> Enqueue(Device& device, DeviceAddress from) const;

 private:
  const DeviceFunction* function_ = nullptr;
  int64_t count_ = 0;
  int64_t width_ = 4;                    // bytes of what it makes
  std::shared_ptr<DeviceMemory> table_;  // of the 256 values of a type of 8 bits
};

// An operand where a step has it.
struct ProductOperand {
  DeviceAddress address = 0;           // of the array
  const Widening* widening = nullptr;  // of its elements; null: there is nothing to do
  int64_t start = 0;                   // of the first element, in bytes of the array that is multiplied
  KeptOperands* kept = nullptr;        // null: of an array that is made for this step
};

class Product {
 public:
  // What the kernels multiply: the elements of operands that are widened are f32. Devices that can take dots
  // of `residues_from` products and more by residues; -1: by the table of residue_dot.h.
  static absl::StatusOr<Product> Make(Device& device, ElementType lhs, ElementType rhs, ElementType result,
                                      const std::array<ProductSide, 2>& sides, bool lhs_has_padding,
                                      int64_t residues_from);
  // By tensor cores of floats, within a bound (IsForFastProduct). Widened operands are `type`.
  static absl::StatusOr<Product> MakeFast(Device& device, const std::array<ElementType, 2>& operands,
                                          ElementType type, Float result,
                                          const std::array<ProductSide, 2>& sides, bool lhs_has_padding);
  absl::Status Enqueue(Device& device, const std::array<ProductOperand, 2>& operands,
                       DeviceAddress result) const;

  std::string_view algorithm() const;
  const Accuracy& accuracy() const { return fast_ ? fast_->accuracy() : BitExact(); }

 private:
  struct Functions {
    const DeviceFunction *scales = nullptr, *dot = nullptr, *repair = nullptr;
  };

  absl::Status MakeBytes(Device& device, ElementType lhs, ElementType rhs, ElementType result,
                         const std::array<ProductSide, 2>& sides, int64_t residues_from);
  absl::Status MakeFloats(Device& device, bool is_double, Float result,
                          const std::array<ProductSide, 2>& sides);
  // What is kept of the operands, where anything is: nothing of panels.
  class Kept;

  absl::Status EnqueueBytes(Device& device, const std::array<ProductOperand, 2>& operands,
                            DeviceAddress result) const;
  absl::Status EnqueueFast(Device& device, const std::array<ProductOperand, 2>& operands,
                           DeviceAddress result) const;
  // Of a dot with its addresses, by its bytes with passes over whole elements.
  absl::Status EnqueueByteTiles(Device& device, ByteDotArguments dot) const;
  absl::Status EnqueueFloats(Device& device, const std::array<ProductOperand, 2>& operands,
                             DeviceAddress result) const;
  // With its addresses. By residues where there are any, and memory for them.
  absl::Status EnqueueFloatDot(Device& device, DotArguments dot, const ResidueDot* residues,
                               const std::array<KeptOperand*, 2>& kept) const;
  absl::Status EnqueueRepair(Device& device, const DotArguments& dot) const;

  std::optional<FastProduct> fast_;  // nothing: exact
  bool is_bytes_ = false, is_double_ = false;
  std::array<ElementType, 2> types_{};
  // Empty where they do not take the dot.
  ResidueDot::Panels residues_;
  ByteProduct::Panels byte_products_;
  Functions functions_;
  DotTile tile_{};
  DotArguments floats_{};
  ByteDotArguments bytes_{};
  std::array<int64_t, 2> element_bytes_{};  // of such operands
};

// Whether integer tensor cores multiply elements of the type, by their bytes.
bool IsTensorInteger(ElementType type);

}  // namespace assay::gpu

#endif  // ASSAY_GPU_PRODUCT_H_
