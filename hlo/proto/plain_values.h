// Shapes and literals of the usual kind straight from the wire: a decoded message takes several allocations
// for each, and nearly all of a real program's are of this kind.
//
// Null: the message is of another kind, or there is something wrong with it;
// the decoder (values.h) says what.
#ifndef ASSAY_HLO_PROTO_PLAIN_VALUES_H_
#define ASSAY_HLO_PROTO_PLAIN_VALUES_H_

#include <memory>
#include <optional>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "literal/literal.h"
#include "shape/shape.h"

namespace assay::proto {

// Takes ShapeProtos of a static array whose layout says no more than the order of dimensions,
// or of a tuple of such.
std::optional<Shape> PlainShape(std::string_view bytes);

// Takes LiteralProtos of a static row-major array of a type of one byte or more that is not complex.
// `read_shape` reads its ShapeProto; null: it can't.
using ShapeReader = absl::FunctionRef<std::shared_ptr<const Shape>(std::string_view)>;
std::optional<Literal> PlainLiteral(std::string_view bytes, ShapeReader read_shape);

}  // namespace assay::proto

#endif  // ASSAY_HLO_PROTO_PLAIN_VALUES_H_
