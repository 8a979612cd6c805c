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

const Location* BytecodeReader::LocationOf(Cursor& in, size_t index) {
  const Location* const location = DecodeLocation(index);
  if (location == nullptr) in.Fail(fmt::format("attribute {} can't be read", index));
  return location;
}

inline const Location* BytecodeReader::DecodeLocation(size_t index) {
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
  const Attribute* const attribute =
      attributes_[index] != nullptr ? attributes_[index] : DecodeAttribute(index);
  if (attribute == nullptr || attribute->location != nullptr) {
    return attribute == nullptr ? nullptr : attribute->location;
  }
  Location* const location = tree_->NewLocation();
  location->name = attribute->text;
  location->line = attribute->integer;
  return locations_[index] = location;
}

// The text of an attribute, which is a string: two bytes, its code and the number of the string.
std::string_view BytecodeReader::TextAt(Cursor& in) {
  const size_t index = in.Index(attributes_.size(), "attribute");
  if (!in.ok()) return {};
  const Entry& entry = attribute_entries_[index];
  if (attribute_entries_[index + 1].begin - entry.begin == 2 && entry.is_of(Dialect::kBuiltin)) {
    const auto code = static_cast<uint8_t>(file_[entry.begin]);
    const auto string = static_cast<uint8_t>(file_[entry.begin + 1]);
    const size_t number = string >> 1;
    if (code == (kStringCode << 1 | 1) && (string & 1) != 0 && number < strings_.size() &&
        nesting_ < kMaxNesting) {
      return strings_[number];
    }
  }
  return TextOf(in, index);
}

std::string_view BytecodeReader::TextOf(Cursor& in, size_t index) {
  if (attributes_[index] != nullptr) return attributes_[index]->text;
  const Entry& entry = attribute_entries_[index];
  if (entry.is_of(Dialect::kBuiltin) && !entry.is_open && nesting_ < kMaxNesting) {
    Cursor string(file_, entry.begin, attribute_entries_[index + 1].begin);
    if (string.left() > 0 && string.Varint() == kStringCode) {
      const uint64_t text = string.Varint();
      if (string.ok() && string.left() == 0 && text < strings_.size()) return strings_[text];
    }
  }
  const Attribute* const attribute = AttributeOf(in, index);
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
