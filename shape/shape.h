// Shapes: what values look like (docs/spec/shapes.md sections 1, 3 to 8). No data, no operations.
//
// A Shape is an array (element type, sizes, dynamic flags, layout), a tuple, a token, an opaque handle or
// a buffer (a mutable array handle). Arrays always have a layout: the row-major default where none was
// written. Sizes are int64 >= 0, or kUnbounded. Every constructor that takes sizes checks SHAPE-3.
#ifndef ASSAY_SHAPE_SHAPE_H_
#define ASSAY_SHAPE_SHAPE_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "shape/element_type.h"

namespace assay {

using DimVector = absl::InlinedVector<int64_t, 4>;

// The size of a dimension written '?' (DYN-2).
inline constexpr int64_t kUnboundedSize = std::numeric_limits<int64_t>::min();

// One level of tiling, most major entry first; kCombineDimension is written '*'.
using Tile = std::vector<int64_t>;
inline constexpr int64_t kCombineDimension = std::numeric_limits<int64_t>::min();

// docs/spec/shapes.md 4.3 to 4.5: everything in a layout but minor_to_major.
struct LayoutTail {
  std::vector<Tile> tiles;
  int64_t tail_padding_alignment_in_elements = 1;  // L(n)
  int64_t element_size_in_bits = 0;                // E(n); 0: the default
  int64_t memory_space = 0;                        // S(n)
  struct SplitConfig {
    int64_t dimension = 0;
    std::vector<int64_t> split_indices;
    friend bool operator==(const SplitConfig&, const SplitConfig&) = default;
  };
  std::vector<SplitConfig> split_configs;           // SC(d:i,j)
  int64_t dynamic_shape_metadata_prefix_bytes = 0;  // M(n)
  std::vector<int64_t> padded_dimensions;           // PAD(..) (LAYOUT-3), empty: none
  std::string padding_value;                        // V(..), text of a scalar literal, empty: zero
  std::optional<ElementType> index_type;            // #(u32): sparse, kept for printing
  std::optional<ElementType> pointer_type;          // *(u32)
  friend bool operator==(const LayoutTail&, const LayoutTail&) = default;
};

struct Layout {
  DimVector minor_to_major;
  std::shared_ptr<const LayoutTail> tail;  // null: all defaults
  static Layout RowMajor(int64_t rank);
  bool IsRowMajor() const;  // minor_to_major only
  friend bool operator==(const Layout& a, const Layout& b);
};

class Shape {
 public:
  enum class Kind : uint8_t { kArray, kTuple, kToken, kOpaque, kBuffer };

  // The empty tuple. It is not defaulted: else Shape() clears all of it beforehand,
  // with a slow string instruction.
  Shape() {}

  // Array of the given sizes, row-major, static. Errors: rank > kMaxRank, negative size, SHAPE-3.
  static absl::StatusOr<Shape> Array(ElementType type, std::span<const int64_t> sizes);
  // The same for sizes known to be good (from another valid shape); checked by ASSAY_CHECK.
  static Shape ArrayOrDie(ElementType type, std::span<const int64_t> sizes);
  static Shape Scalar(ElementType type) { return ArrayOrDie(type, {}); }
  static Shape Tuple(std::vector<Shape> elements);
  static Shape Token();
  static Shape Opaque();
  static Shape Buffer(Shape array);

  Kind kind() const { return kind_; }
  bool IsArray() const { return kind_ == Kind::kArray; }
  bool IsTuple() const { return kind_ == Kind::kTuple; }
  bool IsToken() const { return kind_ == Kind::kToken; }
  bool IsOpaque() const { return kind_ == Kind::kOpaque; }
  bool IsBuffer() const { return kind_ == Kind::kBuffer; }

  // Arrays.
  ElementType element_type() const { return type_; }
  int64_t rank() const { return static_cast<int64_t>(sizes_.size()); }
  std::span<const int64_t> sizes() const { return sizes_; }
  int64_t size(int64_t d) const { return sizes_[d]; }  // the bound if the dimension is dynamic
  bool IsScalar() const { return IsArray() && sizes_.empty(); }
  bool IsScalar(ElementType type) const { return IsScalar() && type_ == type; }
  bool IsEffectiveScalar() const;  // all sizes 1
  bool is_dynamic(int64_t d) const { return (dynamic_ >> d) & 1; }
  bool HasDynamic() const { return dynamic_ != 0; }
  bool HasUnbounded() const { return dynamic_ != 0 && HasUnboundedSize(); }
  void set_dynamic(int64_t d, bool dynamic);
  const Layout& layout() const { return layout_; }
  void set_layout(Layout layout) { layout_ = std::move(layout); }
  void set_element_type(ElementType type) { type_ = type; }  // caller: same or smaller byte size, or re-check
  int64_t num_elements() const;                              // of the bounds; 1 for a scalar
  int64_t num_bytes() const { return num_elements() * Bytes(type_); }  // in a dense literal

  // Tuples (and the array inside a buffer, as element 0).
  std::span<const Shape> elements() const { return elements_; }
  const Shape& element(int64_t i) const { return elements_[i]; }

  // Bytes of all array leaves in dense literals; tokens 0, opaques 8.
  int64_t TotalBytes() const;

  // "f32[2,3]": with its layout only where `with_layout`; hlo text form (shape_text.h).
  std::string ToString(bool with_layout = false) const;

  // Relations of docs/spec/shapes.md section 7.
  static bool Equal(const Shape& a, const Shape& b);       // layout and flags too
  static bool Compatible(const Shape& a, const Shape& b);  // flags, layout ignored
  static bool CompatibleIgnoringFpPrecision(const Shape& a, const Shape& b);
  static bool SameDimensions(const Shape& a, const Shape& b);  // arrays; sizes only

 private:
  bool HasUnboundedSize() const;

  Kind kind_ = Kind::kTuple;
  ElementType type_ = ElementType::kPred;
  uint64_t dynamic_ = 0;
  DimVector sizes_;
  Layout layout_;
  std::vector<Shape> elements_;
};

// What a computation takes and gives.
struct ProgramShape {
  std::vector<Shape> parameters;
  Shape result;
};

// "{1,0}": a path through nested tuples (TUPLE-1).
using ShapeIndex = absl::InlinedVector<int64_t, 2>;
// The subshape at `index`, or null where the path leaves the shape.
const Shape* SubshapeOrNull(const Shape& shape, std::span<const int64_t> index);
// Calls fn for each leaf (non-tuple subshape), depth first.
void ForEachLeaf(const Shape& shape, const std::function<void(const ShapeIndex&, const Shape&)>& fn);
std::vector<const Shape*> LeafShapes(const Shape& shape);

// Slots in memory and byte size with layout: padding, tiles, tail padding, E(n) (docs/spec/shapes.md section
// 5).
absl::StatusOr<int64_t> LayoutSlots(const Shape& array);
absl::StatusOr<int64_t> LayoutByteSize(const Shape& array);
// The slot of a logical index under the array's layout (section 4.2 to 4.4).
int64_t LayoutPosition(const Shape& array, std::span<const int64_t> index);
// The layout is a permutation with `rank` entries and its tail is legal for the shape (LAYOUT-1..4).
absl::Status ValidateLayout(const Shape& array);

}  // namespace assay

#endif  // ASSAY_SHAPE_SHAPE_H_
