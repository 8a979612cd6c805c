// Shapes as text: "f32[2,<=3]{1,0:T(8,128)}" (docs/spec/shapes.md section 9, docs/spec/hlo-text.md section
// 2).
#ifndef ASSAY_SHAPE_SHAPE_TEXT_H_
#define ASSAY_SHAPE_SHAPE_TEXT_H_

#include <string>
#include <string_view>

#include "shape/shape.h"

namespace assay {

enum class LayoutText { kNone, kAlways, kWhereNotDefault };

// The canonical form. kAlways prints "{1,0}" for every array of rank >= 1, as HLO text does, and for a
// scalar only where its layout has a tail. Tuples of more than five get "/*index=5*/" marks.
std::string ShapeToText(const Shape& shape, LayoutText layouts);
// "{1,0:T(2,2)}"; empty for a plain scalar layout.
std::string LayoutToText(const Layout& layout);

// Parses a whole string as one shape. Errors: InvalidProgram with a column.
absl::StatusOr<Shape> ParseShape(std::string_view text);
// Parses a shape at the start of `text` and says how many bytes it took; used by the HLO parser. The
// position of an error counts from 1:1 at the start of `text`; `consumed` is then where it is.
absl::StatusOr<Shape> ParseShapePrefix(std::string_view text, size_t* consumed);

}  // namespace assay

#endif  // ASSAY_SHAPE_SHAPE_TEXT_H_
