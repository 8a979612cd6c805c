// Reading and printing shapes: docs/spec/hlo-text.md section 2, docs/spec/shapes.md sections 9.1 and 9.2.
//
// The reader is a cursor over bytes with no token objects: the HLO parser calls it for every shape of a
// program, so an array shape of rank <= 4 without layout tail allocates nothing.
#include "shape/shape_text.h"

#include <algorithm>

#include "base/error.h"
#include "base/limits.h"
#include "base/text_cursor.h"
#include "fmt/format.h"

namespace assay {
namespace {

using absl::ascii_isdigit;

bool IsIdentifierStart(char c) { return absl::ascii_isalpha(c) || c == '_'; }
bool IsIdentifier(char c) { return IsIdentifierStart(c) || ascii_isdigit(c) || c == '.' || c == '-'; }

class ShapeReader : public TextCursor {
 public:
  using TextCursor::TextCursor;

  bool ReadShape(Shape* shape, int depth);
  // Whitespace and comments; false for a comment that doesn't end.
  bool SkipBlanks() { return SkipSpaceAndComments() || Fail("shape: comment without end"); }
  const absl::Status& status() const { return status_; }
  bool Fail(std::string_view message) { return FailWith(InvalidProgram({}, message)); }

 private:
  bool FailWith(absl::Status status) {
    if (status_.ok()) status_ = std::move(status);
    return false;
  }
  // Skips blanks, then takes `c` if it is next.
  bool Take(char c) {
    SkipBlanks();
    return TextCursor::Take(c);
  }
  bool Expect(char c) { return Take(c) || Fail(fmt::format("shape: want '{}' here", c)); }
  // The longest run of identifier characters; empty if none starts here.
  std::string_view Identifier();
  // Takes an upper-case mark such as E in "E(4)" if it is next and followed by an opening parenthesis.
  bool TakeMark(std::string_view mark);
  bool ReadInt(int64_t* value);
  bool NextIsInt();
  bool NextIsLayout();

  bool ReadTuple(Shape* shape, int depth);
  bool ReadBuffer(Shape* shape);
  bool ReadArray(ElementType type, Shape* shape);
  bool ReadDimension(int64_t d, DimVector* sizes, uint64_t* dynamic);
  bool ReadLayout(Shape* shape);
  bool ReadTail(LayoutTail* tail);
  bool ReadTiles(LayoutTail* tail);
  bool SkipLevelTypes();
  bool ReadNumberPart(std::string_view mark, int64_t* value);
  bool ReadTypePart(char mark, std::optional<ElementType>* type);
  bool ReadSplits(LayoutTail* tail);
  bool ReadPadding(LayoutTail* tail);
  bool ReadIntList(std::vector<int64_t>* values, bool stars);

  absl::Status status_;
};

std::string_view ShapeReader::Identifier() {
  SkipBlanks();
  return IsIdentifierStart(Peek()) ? TakeWhile(IsIdentifier) : std::string_view();
}

bool ShapeReader::TakeMark(std::string_view mark) {
  const size_t start = at();
  if (Identifier() == mark && Take('(')) return true;
  GoTo(start);
  return false;
}

// INT of the lexer: 64 bits; values of 2^63 and above are reinterpreted.
bool ShapeReader::ReadInt(int64_t* value) {
  SkipBlanks();
  const bool negative = Peek() == '-';
  if (!ascii_isdigit(Peek(negative))) return Fail("shape: want an integer here");
  Skip(negative);
  uint64_t magnitude = 0;
  if (ReadNumber(magnitude).ec != std::errc() || (negative && magnitude > uint64_t{1} << 63)) {
    TakeDigits();
    return Fail("shape: integer does not fit in 64 bits");
  }
  *value = static_cast<int64_t>(negative ? uint64_t{0} - magnitude : magnitude);
  return true;
}

// True if the next token is INT, and not a longer number token (DECIMAL, DXD, PAD).
bool ShapeReader::NextIsInt() {
  SkipBlanks();
  size_t k = Peek() == '-';
  if (!ascii_isdigit(Peek(k))) return false;
  while (ascii_isdigit(Peek(k))) ++k;
  const char c = Peek(k);
  if (c == '.') return false;
  const bool sign = Peek(k + 1) == '-' || Peek(k + 1) == '+';
  if (c == 'e' || c == 'E') return !ascii_isdigit(Peek(k + 1 + sign));
  if (c == 'x') return !ascii_isdigit(Peek(k + 1));
  if (c == '_') return !ascii_isdigit(Peek(k + 1 + (Peek(k + 1) == '-')));
  return true;
}

// A '{' after ']' starts a layout only if INT or ':' follows; else it belongs to what comes after the shape.
bool ShapeReader::NextIsLayout() {
  if (Peek() != '{' && Peek() != ' ' && Peek() != '/' && Peek() != '\n' && Peek() != '\t' && Peek() != '\r') {
    return false;
  }
  const size_t start = at();
  const bool layout = Take('{') && (NextIsInt() || Peek() == ':');
  if (!status_.ok()) return false;
  GoTo(start);
  return layout;
}

bool ShapeReader::ReadShape(Shape* shape, int depth) {
  if (depth > kMaxNesting) {
    return FailWith(ProgramLimitExceeded({}, "the nesting of a tuple shape", depth, kMaxNesting));
  }
  if (Take('(')) return ReadTuple(shape, depth);
  if (!status_.ok()) return false;
  const size_t start = at();
  const std::string_view name = Identifier();
  if (const auto type = ElementTypeFromName(name)) return ReadArray(*type, shape);
  if (name == "token" || name == "opaque") {
    if (!Expect('[') || !Expect(']')) return false;
    *shape = name == "token" ? Shape::Token() : Shape::Opaque();
    return true;
  }
  if (name == "b" && Take('(')) return ReadBuffer(shape);
  GoTo(start);
  if (name.empty()) return Fail("shape: want an element type or '(' here");
  return Fail(fmt::format("shape: '{}' is not an element type", name.substr(0, 40)));
}

bool ShapeReader::ReadTuple(Shape* shape, int depth) {
  std::vector<Shape> elements;
  if (!Take(')')) {
    do {
      if (!ReadShape(&elements.emplace_back(), depth + 1)) return false;
    } while (Take(','));
    if (!Expect(')')) return false;
  }
  *shape = Shape::Tuple(std::move(elements));
  return status_.ok();
}

bool ShapeReader::ReadBuffer(Shape* shape) {
  Shape array;
  const size_t start = at();
  const auto type = ElementTypeFromName(Identifier());
  if (!type) {
    GoTo(start);
    return Fail("shape: want an array shape inside b(...)");
  }
  if (!ReadArray(*type, &array) || !Expect(')')) return false;
  *shape = Shape::Buffer(std::move(array));
  return true;
}

bool ShapeReader::ReadDimension(int64_t d, DimVector* sizes, uint64_t* dynamic) {
  SkipBlanks();
  const size_t start = at();
  int64_t size = kUnboundedSize;
  bool is_dynamic = true;
  if (!TextCursor::Take('?')) {
    is_dynamic = TextCursor::Take("<=");
    if (!ReadInt(&size)) return false;
    if (size < 0) {
      GoTo(start);
      return Fail(fmt::format("SHAPE-3: size of dimension {} is {}, want at least 0", d, size));
    }
  }
  sizes->push_back(size);
  if (is_dynamic && d < kMaxRank) *dynamic |= uint64_t{1} << d;
  return true;
}

bool ShapeReader::ReadArray(ElementType type, Shape* shape) {
  const size_t start = at();
  if (!Expect('[')) return false;
  DimVector sizes;
  uint64_t dynamic = 0;
  if (!Take(']')) {
    do {
      if (!ReadDimension(static_cast<int64_t>(sizes.size()), &sizes, &dynamic)) return false;
    } while (Take(','));
    if (!Expect(']')) return false;
  }
  absl::StatusOr<Shape> array = Shape::Array(type, sizes);
  if (!array.ok()) {
    GoTo(start);
    return FailWith(array.status());
  }
  *shape = *std::move(array);
  for (int64_t d = 0; dynamic != 0; ++d, dynamic >>= 1) {
    if (dynamic & 1) shape->set_dynamic(d, true);
  }
  return status_.ok() && (!NextIsLayout() || ReadLayout(shape)) && status_.ok();
}

bool ShapeReader::ReadLayout(Shape* shape) {
  SkipBlanks();
  const size_t start = at();
  Layout layout;
  if (!Expect('{')) return false;
  if (NextIsInt()) {
    do {
      int64_t d;
      if (!ReadInt(&d)) return false;
      layout.minor_to_major.push_back(d);
    } while (Take(','));
  }
  if (Take(':')) {
    LayoutTail tail;
    if (!ReadTail(&tail)) return false;
    if (!(tail == LayoutTail{})) layout.tail = std::make_shared<const LayoutTail>(std::move(tail));
  }
  if (!Expect('}')) return false;
  shape->set_layout(std::move(layout));
  absl::Status valid = ValidateLayout(*shape);
  // Sparse types are read, so that a program can be printed; the verifier refuses them.
  if (valid.ok() || absl::IsUnimplemented(valid)) return true;
  GoTo(start);
  return FailWith(std::move(valid));
}

// The parts after ':', each at most once and in this order.
bool ShapeReader::ReadTail(LayoutTail* tail) {
  if (TakeMark("D") && !SkipLevelTypes()) return false;
  if (TakeMark("T") && !ReadTiles(tail)) return false;
  if (!ReadNumberPart("L", &tail->tail_padding_alignment_in_elements)) return false;
  if (!ReadTypePart('#', &tail->index_type) || !ReadTypePart('*', &tail->pointer_type)) return false;
  if (!ReadNumberPart("E", &tail->element_size_in_bits)) return false;
  if (!ReadNumberPart("S", &tail->memory_space)) return false;
  if (TakeMark("SC") && !ReadSplits(tail)) return false;
  if (TakeMark("P"))
    return FailWith(InvalidProgram({}, "layout: a physical shape belongs to sparse layouts"));
  if (!ReadNumberPart("M", &tail->dynamic_shape_metadata_prefix_bytes)) return false;
  return !TakeMark("PAD") || ReadPadding(tail);
}

// "list)" with the parenthesis already taken; '*' is kCombineDimension where `stars`.
bool ShapeReader::ReadIntList(std::vector<int64_t>* values, bool stars) {
  if (Take(')')) return true;
  do {
    int64_t value = kCombineDimension;
    if (!(stars && Take('*')) && !ReadInt(&value)) return false;
    values->push_back(value);
  } while (Take(','));
  return Expect(')');
}

bool ShapeReader::ReadTiles(LayoutTail* tail) {
  do {
    if (!ReadIntList(&tail->tiles.emplace_back(), true)) return false;
  } while (Take('('));
  return true;
}

// Dimension level types of sparse layouts: D(D,C+~,...), dropped.
bool ShapeReader::SkipLevelTypes() {
  do {
    const size_t start = at();
    const std::string_view level = Identifier();
    if (level != "D" && level != "C" && level != "S" && level != "H") {
      GoTo(start);
      return Fail("layout: want a dimension level type D, C, S or H");
    }
    Take('+');
    Take('~');
  } while (Take(','));
  return Expect(')');
}

bool ShapeReader::ReadNumberPart(std::string_view mark, int64_t* value) {
  return !TakeMark(mark) || (ReadInt(value) && Expect(')'));
}

bool ShapeReader::ReadTypePart(char mark, std::optional<ElementType>* type) {
  if (!Take(mark)) return true;
  if (!Expect('(')) return false;
  const size_t start = at();
  *type = ElementTypeFromName(Identifier());
  if (!*type || !IsUnsignedIntegral(**type)) {
    GoTo(start);
    return Fail("layout: want an unsigned integral type here");
  }
  return Expect(')');
}

bool ShapeReader::ReadSplits(LayoutTail* tail) {
  do {
    auto& split = tail->split_configs.emplace_back();
    if (!ReadInt(&split.dimension) || !Expect(':') || !ReadIntList(&split.split_indices, false)) return false;
  } while (Take('('));
  return true;
}

// PAD(3,5), then optionally V(value); the value is kept as text.
bool ShapeReader::ReadPadding(LayoutTail* tail) {
  if (!ReadIntList(&tail->padded_dimensions, false)) return false;
  if (tail->padded_dimensions.empty()) return Fail("LAYOUT-3: padded_dimensions has no entries");
  if (!TakeMark("V")) return true;
  const size_t start = at();
  for (int open = 1; open > 0; Skip()) {
    if (AtEnd() || Peek() == '}') return Fail("layout: padding value without ')'");
    open += (Peek() == '(') - (Peek() == ')');
  }
  const std::string_view value = From(start).substr(0, at() - 1 - start);
  const size_t first = value.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return Fail("layout: padding value is empty");
  tail->padding_value = value.substr(first, value.find_last_not_of(" \t\r\n") - first + 1);
  return true;
}

bool HasTail(const Layout& layout) { return layout.tail && !(*layout.tail == LayoutTail{}); }

void AppendInts(const auto& values, std::string* out) {
  std::string_view separator;
  for (int64_t value : values) {
    out->append(separator);
    out->append(value == kCombineDimension ? "*" : fmt::format_int(value).c_str());
    separator = ",";
  }
}

void AppendTail(const LayoutTail& tail, std::string* out) {
  const auto into = std::back_inserter(*out);
  out->push_back(':');
  if (!tail.tiles.empty()) out->push_back('T');
  for (const Tile& tile : tail.tiles) {
    out->push_back('(');
    AppendInts(tile, out);
    out->push_back(')');
  }
  if (tail.tail_padding_alignment_in_elements != 1) {
    fmt::format_to(into, "L({})", tail.tail_padding_alignment_in_elements);
  }
  if (tail.index_type) fmt::format_to(into, "#({})", Name(*tail.index_type));
  if (tail.pointer_type) fmt::format_to(into, "*({})", Name(*tail.pointer_type));
  if (tail.element_size_in_bits != 0) fmt::format_to(into, "E({})", tail.element_size_in_bits);
  if (tail.memory_space != 0) fmt::format_to(into, "S({})", tail.memory_space);
  if (!tail.split_configs.empty()) out->append("SC");
  for (const auto& split : tail.split_configs) {
    fmt::format_to(into, "({}:{})", split.dimension, fmt::join(split.split_indices, ","));
  }
  if (tail.dynamic_shape_metadata_prefix_bytes != 0) {
    fmt::format_to(into, "M({})", tail.dynamic_shape_metadata_prefix_bytes);
  }
  if (!tail.padded_dimensions.empty()) {
    fmt::format_to(into, "PAD({})", fmt::join(tail.padded_dimensions, ","));
    if (!tail.padding_value.empty()) fmt::format_to(into, "V({})", tail.padding_value);
  }
}

void AppendLayout(const Layout& layout, std::string* out) {
  const bool tail = HasTail(layout);
  if (layout.minor_to_major.empty() && !tail) return;
  out->push_back('{');
  AppendInts(layout.minor_to_major, out);
  if (tail) AppendTail(*layout.tail, out);
  out->push_back('}');
}

void AppendArray(const Shape& shape, LayoutText layouts, std::string* out) {
  out->append(Name(shape.element_type()));
  out->push_back('[');
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (d > 0) out->push_back(',');
    if (shape.size(d) == kUnboundedSize) {
      out->push_back('?');
      continue;
    }
    if (shape.is_dynamic(d)) out->append("<=");
    out->append(fmt::format_int(shape.size(d)).c_str());
  }
  out->push_back(']');
  if (layouts == LayoutText::kNone) return;
  const bool plain = shape.layout().IsRowMajor() && !HasTail(shape.layout());
  if (layouts == LayoutText::kAlways || !plain) AppendLayout(shape.layout(), out);
}

void AppendShape(const Shape& shape, LayoutText layouts, std::string* out) {
  switch (shape.kind()) {
    case Shape::Kind::kArray:
      return AppendArray(shape, layouts, out);
    case Shape::Kind::kToken:
      out->append("token[]");
      return;
    case Shape::Kind::kOpaque:
      out->append("opaque[]");
      return;
    case Shape::Kind::kBuffer:
      out->append("b(");
      AppendShape(shape.element(0), layouts, out);
      out->push_back(')');
      return;
    case Shape::Kind::kTuple:
      break;
  }
  out->push_back('(');
  for (size_t i = 0; i < shape.elements().size(); ++i) {
    if (i > 0) out->append(", ");
    if (i > 0 && i % 5 == 0) fmt::format_to(std::back_inserter(*out), "/*index={}*/", i);
    AppendShape(shape.element(static_cast<int64_t>(i)), layouts, out);
  }
  out->push_back(')');
}

}  // namespace

std::string ShapeToText(const Shape& shape, LayoutText layouts) {
  std::string text;
  AppendShape(shape, layouts, &text);
  return text;
}

std::string LayoutToText(const Layout& layout) {
  std::string text;
  AppendLayout(layout, &text);
  return text;
}

absl::StatusOr<Shape> ParseShapePrefix(std::string_view text, size_t* consumed) {
  ShapeReader reader(text);
  Shape shape;
  const bool ok = reader.ReadShape(&shape, 0);
  *consumed = reader.at();
  if (!ok) return WithPosition(reader.status(), PositionAt(text, reader.at()));
  return shape;
}

absl::StatusOr<Shape> ParseShape(std::string_view text) {
  ShapeReader reader(text);
  Shape shape;
  if (reader.ReadShape(&shape, 0) && reader.SkipBlanks()) {
    if (reader.AtEnd()) return shape;
    reader.Fail("shape: something follows the shape");
  }
  return WithPosition(reader.status(), PositionAt(text, reader.at()));
}

}  // namespace assay
