// Locations in bytecode (spec/stablehlo-bytecode.md section 3). Most attributes of a file are locations and their
// names, so these are read into less than an attribute; what else stands in their place is read as an attribute.
#include "fmt/format.h"
#include "hlo/mlir/bytecode_reader.h"
#include "shape/limits.h"

namespace assay::mlir {
namespace {

constexpr uint64_t kStringCode = 2;
enum LocationCode : uint64_t {
  kCallSite = 10,
  kFile = 11,
  kFused = 12,
  kFusedWith = 13,
  kName = 14,
  kRange = 22
};

}  // namespace

// Those with a name, call sites and places in a file, of short numbers and of names that are known or short, need no
// cursor; all others, and whatever is wrong with one of these, are left to DecodeAnyLocation.
const Location* BytecodeReader::DecodeLocation(size_t index) {
  Entry& entry = attribute_entries_.data()[index];
  const Entry& next = (&entry)[1];
  // At the last level but one its parts may be too deep.
  if (!entry.is_of(Dialect::kBuiltin) || entry.is_open || nesting_ + 1 >= kMaxNesting) {
    return DecodeAnyLocation(index);
  }
  ShortNumbers numbers(file_.bytes, entry.begin, next.begin);
  const size_t code = numbers.Next(), first = numbers.Next();
  if (first >= locations_.size()) return DecodeAnyLocation(index);
  std::string_view text;
  if (code != kCallSite && !TextOf(first, &text)) return DecodeAnyLocation(index);
  if (code == kRange) return DecodePlace(index, numbers, text);
  const size_t second = numbers.Next();
  if ((code != kName && code != kCallSite) || second >= locations_.size() || numbers.left() > 0) {
    return DecodeAnyLocation(index);
  }
  Location* const location = tree_->NewLocation();
  entry.is_open = 1;
  ++nesting_;
  const Location* const from = LocationOf(code == kName ? second : first);
  const bool is_whole = from != nullptr && (code == kName || LocationOf(second) != nullptr);
  --nesting_;
  entry.is_open = 0;
  if (!is_whole) [[unlikely]]
    return nullptr;
  location->name = text.empty() ? from->name : text;
  location->source_file = from->source_file;
  location->line = from->line;
  location->column = from->column;
  return locations_.data()[index] = location;
}

// The rest of a place in a file, line and column and where it ends.
inline const Location* BytecodeReader::DecodePlace(size_t index, ShortNumbers numbers,
                                                   std::string_view file) {
  const size_t count = numbers.Next();
  size_t place[4] = {};
  if (count > std::size(place)) return DecodeAnyLocation(index);
  for (size_t i = 0; i < count; ++i) {
    place[i] = numbers.Next();
    if (place[i] == ShortNumbers::kNone) return DecodeAnyLocation(index);
  }
  if (numbers.left() > 0) return DecodeAnyLocation(index);
  Location* const location = tree_->NewLocation();
  location->source_file = file;
  location->line = static_cast<int64_t>(place[0]);
  location->column = static_cast<int32_t>(place[1]);
  return locations_.data()[index] = location;
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
