// Locations in bytecode (docs/spec/stablehlo-bytecode.md section 3). Most attributes of a file are locations
// and their names, so these are read into less than an attribute; what else stands in their place is read as
// an attribute.
#include <algorithm>

#include "base/limits.h"
#include "fmt/format.h"
#include "hlo/mlir/bytecode/reader.h"

namespace assay::mlir {
namespace {

constexpr uint64_t kStringCode = 2;
enum LocationCode : uint64_t {
  kCallSite = 10,
  kFile = 11,
  kFused = 12,
  kFusedWith = 13,
  kName = 14,
  kUnknownPlace = 15,
  kRange = 22
};

}  // namespace

// Those with a name, call sites and places in a file, of short numbers and of short names, need no cursor;
// all others, and whatever is wrong with one of these, are left to DecodeAnyLocation.
const Location* BytecodeReader::DecodeLocation(size_t index) {
  const Entry& entry = attribute_entries_.data()[index];
  const Entry& next = (&entry)[1];
  // At the last level but one its parts may be too deep.
  if (!entry.is_of(Dialect::kBuiltin) || entry.is_open || nesting_ + 1 >= kMaxNesting) {
    return DecodeAnyLocation(index);
  }
  ShortNumbers numbers(file_.bytes, entry.begin, next.begin);
  const size_t code = numbers.Next(), first = numbers.Next();
  std::string_view text;
  if (code == kCallSite) return DecodeCallSite(index, numbers, first);
  if (code == kUnknownPlace && next.begin - entry.begin == 1) {
    return locations_.data()[index] = tree_->NewLocation({.id = tree_->NewLocationId()});
  }
  if (first >= locations_.size() || !TextOf(first, &text)) return DecodeAnyLocation(index);
  if (code == kRange) return DecodePlace(index, numbers, text);
  const size_t child = numbers.Next();
  if (code != kName || child >= locations_.size() || numbers.left() > 0) return DecodeAnyLocation(index);
  const int32_t id = tree_->NewLocationId();
  const Location* const from = LocationInside(index, child);
  if (from == nullptr) [[unlikely]]
    return nullptr;
  return locations_.data()[index] = tree_->NewLocation({.name = text.empty() ? from->name : text,
                                                        .source_file = from->source_file,
                                                        .line = from->line,
                                                        .column = from->column,
                                                        .id = id});
}

// The location `part`, of which `index` is made.
inline const Location* BytecodeReader::LocationInside(size_t index, size_t part) {
  const Location* const known = locations_.data()[part];
  if (known != nullptr) return known;
  Entry& entry = attribute_entries_.data()[index];
  entry.is_open = 1;
  ++nesting_;
  const Location* const location = DecodeLocation(part);
  --nesting_;
  entry.is_open = 0;
  return location;
}

// The place of the callee; the caller's has only to be one.
inline const Location* BytecodeReader::DecodeCallSite(size_t index, ShortNumbers numbers, size_t callee) {
  const size_t caller = numbers.Next();
  if (callee >= locations_.size() || caller >= locations_.size() || numbers.left() > 0) {
    return DecodeAnyLocation(index);
  }
  const int32_t id = tree_->NewLocationId();
  const Location* const from = LocationInside(index, callee);
  if (from == nullptr || LocationInside(index, caller) == nullptr) [[unlikely]]
    return nullptr;
  Location* const location = tree_->NewLocation(*from);
  location->id = id;
  return locations_.data()[index] = location;
}

// The rest of a place in a file, line and column and where it ends.
inline const Location* BytecodeReader::DecodePlace(size_t index, ShortNumbers numbers,
                                                   std::string_view file) {
  const size_t count = numbers.Next();
  if (count > 4) return DecodeAnyLocation(index);
  const size_t line = count > 0 ? numbers.Next() : 0;
  const size_t column = count > 1 ? numbers.Next() : 0;
  size_t last = std::max(line, column);
  for (size_t i = 2; i < count; ++i) last = std::max(last, numbers.Next());
  if (last == ShortNumbers::kNone || numbers.left() > 0) return DecodeAnyLocation(index);
  return locations_.data()[index] = tree_->NewLocation({.source_file = file,
                                                        .line = static_cast<int64_t>(line),
                                                        .column = static_cast<int32_t>(column),
                                                        .id = tree_->NewLocationId()});
}

// The text of an attribute that is a short string: two bytes or three, its code and the number of the string.
inline bool BytecodeReader::TextOf(size_t index, std::string_view* text) const {
  const Entry& entry = attribute_entries_.data()[index];
  const Entry& next = (&entry)[1];
  if (!entry.is_of(Dialect::kBuiltin)) return false;
  ShortNumbers numbers(file_.bytes, entry.begin, next.begin);
  const size_t code = numbers.Next(), string = numbers.Next();
  if (code != kStringCode || string >= strings_.size() || numbers.left() > 0) return false;
  *text = strings_.data()[string];
  return true;
}

const Location* BytecodeReader::DecodeAnyLocation(size_t index) {
  Entry& entry = attribute_entries_[index];
  Cursor in(file_, entry.begin, attribute_entries_[index + 1].begin);
  const uint64_t code = entry.is_of(Dialect::kBuiltin) && in.left() > 0 ? in.Varint() : 0;
  if (!IsLocation(code) || entry.is_open || nesting_ >= kMaxNesting) return AttributeAsLocation(index);
  Location* const location = tree_->NewLocation();
  entry.is_open = 1;
  ++nesting_;
  ReadLocation(in, code, location);
  if (in.ok() && in.left() > 0) FailBehind(in, "attribute", index, code);
  --nesting_;
  entry.is_open = 0;
  if (!in.ok()) {
    NoteError(in.status());
    return nullptr;
  }
  return locations_[index] = location;
}

const Location* BytecodeReader::AttributeAsLocation(size_t index) {
  const Attribute* const attribute = AttributeOf(index);
  if (attribute == nullptr || attribute->location != nullptr) {
    return attribute == nullptr ? nullptr : attribute->location;
  }
  Location* const location = tree_->NewLocation();
  location->name = attribute->text;
  location->line = attribute->integer;
  return locations_[index] = location;
}

std::string_view BytecodeReader::TextAt(Cursor& in) {
  const size_t index = in.Index(attributes_.size(), "attribute");
  if (!in.ok()) return {};
  std::string_view text;
  if (attributes_[index] == nullptr && nesting_ < kMaxNesting && TextOf(index, &text)) return text;
  const Attribute* const attribute = AttributeOf(index);
  if (attribute == nullptr) FailPart(in, "attribute", index);
  return attribute == nullptr ? std::string_view() : attribute->text;
}

// What is kept of locations: the outermost name, and the first place in a file.
void BytecodeReader::ReadLocation(Cursor& in, uint64_t code, Location* location) {
  const auto take = [&] {
    const Location* const from = LocationAt(in);
    if (from == nullptr) return;
    if (location->name.empty()) location->name = from->name;
    if (!location->source_file.empty()) return;
    location->source_file = from->source_file;
    location->line = from->line;
    location->column = from->column;
  };
  switch (code) {
    case kCallSite:
      take();
      LocationAt(in);
      return;
    case kFile:
    case kRange: {
      location->source_file = TextAt(in);
      const size_t count = code == kFile ? 2 : in.Count();
      for (size_t i = 0; i < count && in.ok(); ++i) {
        const uint64_t number = in.Varint() & 0x7fffffff;
        if (i == 0) location->line = static_cast<int64_t>(number);
        if (i == 1) location->column = static_cast<int32_t>(number);
      }
      return;
    }
    case kFused:
    case kFusedWith: {
      const size_t count = in.Count();
      for (size_t i = 0; i < count && in.ok(); ++i) take();
      if (code == kFusedWith) AttributeAt(in);
      return;
    }
    case kName:
      location->name = TextAt(in);
      return take();
    default:
      return;
  }
}

}  // namespace assay::mlir
