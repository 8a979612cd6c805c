// What the families of builder operations share. Users of the builder do not need it.
#ifndef ASSAY_BUILDER_INTERNAL_H_
#define ASSAY_BUILDER_INTERNAL_H_

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "builder/builder.h"
#include "fmt/format.h"

namespace assay::builder {

inline Ints ToInts(Int64s values) { return Ints(values.begin(), values.end()); }
inline std::vector<XlaOp> ToOps(Ops ops) { return std::vector<XlaOp>(ops.begin(), ops.end()); }
inline std::shared_ptr<const Shape> Shared(Shape shape) {
  return std::make_shared<const Shape>(std::move(shape));
}
inline std::span<const int64_t> AsSpan(Int64s values) { return {values.data(), values.size()}; }

// The builder of the first op that has one; null if none has.
XlaBuilder* BuilderOf(std::initializer_list<XlaOp> ops);
XlaBuilder* BuilderOf(Ops ops);

// Adds one instruction, errors remembered. With a null builder the result is the empty op.
XlaOp Emit(XlaBuilder* builder, NewInstruction instruction);
// Runs `make` in the builder; with a null builder the result is the empty op.
XlaOp RunIn(XlaBuilder* builder, absl::FunctionRef<absl::StatusOr<XlaOp>()> make);

// The shape of an array operand; anything else is an error that starts with `label`.
absl::StatusOr<const Shape*> ArrayShape(XlaBuilder* builder, XlaOp op, std::string_view label);

// Adds an instruction whose result element type the caller chooses: the rule's shape with that type.
absl::StatusOr<XlaOp> AddWithElementType(XlaBuilder* builder, NewInstruction instruction,
                                         std::optional<ElementType> type);

// docs/spec/broadcasting.md: the operand replicated to `sizes`, its own sizes being 1 or those (reshape +
// broadcast).
absl::StatusOr<XlaOp> BroadcastDegenerate(XlaBuilder* builder, XlaOp operand, Int64s sizes);
absl::StatusOr<XlaOp> AddBroadcast(XlaBuilder* builder, XlaOp operand, Int64s sizes, Int64s dimensions);
// Both operands at the result's sizes.
absl::StatusOr<std::pair<XlaOp, XlaOp>> BroadcastOperands(XlaBuilder* builder, XlaOp lhs, XlaOp rhs,
                                                          Int64s broadcast_dimensions);
absl::StatusOr<XlaOp> AddReshape(XlaBuilder* builder, XlaOp operand, Int64s sizes);
absl::StatusOr<XlaOp> AddTranspose(XlaBuilder* builder, XlaOp operand, Int64s permutation);
absl::StatusOr<XlaOp> AddTupleElement(XlaBuilder* builder, XlaOp tuple, int64_t index);

// Attributes that several families write.
AttrValue PrecisionWords(const PrecisionConfig& config);
void SetPrecision(const PrecisionConfig* config, AttributeMap& attributes);
absl::StatusOr<Window> MakeWindow(Int64s sizes, Int64s strides, absl::Span<const PaddingPair> padding,
                                  Int64s base_dilations, Int64s window_dilations,
                                  const std::vector<bool>& reversal, std::string_view label);

}  // namespace assay::builder

#endif  // ASSAY_BUILDER_INTERNAL_H_
