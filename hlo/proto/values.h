// Shapes and literals as messages, both ways (docs/spec/hlo-proto.md section 4).
#ifndef ASSAY_HLO_PROTO_VALUES_H_
#define ASSAY_HLO_PROTO_VALUES_H_

#include "literal/literal.h"
#include "shape/shape.h"

namespace assay::pb {
class LiteralProto;
class ProgramShapeProto;
class ShapeProto;
}  // namespace assay::pb

namespace assay::proto {

// A layout left out is the row-major one.
absl::StatusOr<Shape> ShapeFrom(const pb::ShapeProto& message, int depth = 0);
// NotSupported: a layout with padded dimensions, for which the message has no field.
absl::Status WriteShape(const Shape& shape, pb::ShapeProto* message);

absl::StatusOr<ProgramShape> ProgramShapeFrom(const pb::ProgramShapeProto& message);

absl::StatusOr<Literal> LiteralFrom(const pb::LiteralProto& message, int depth = 0);
absl::Status WriteLiteral(const Literal& literal, pb::LiteralProto* message);

}  // namespace assay::proto

#endif  // ASSAY_HLO_PROTO_VALUES_H_
