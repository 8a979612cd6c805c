// The container of MLIR bytecode: sections, strings, dialects and tables (docs/spec/stablehlo-bytecode.md
// section 2).
#include "hlo/mlir/bytecode/reader.h"

#include <algorithm>

#include "base/counted.h"
#include "fmt/format.h"

namespace assay::mlir {
namespace {

constexpr std::string_view kMagic = "ML\xefR";
constexpr uint64_t kNewestVersion = 6;
enum Section : uint8_t {
  kStrings,
  kDialects,
  kData,
  kOffsets,
  kIr,
  kResources,
  kResourceOffsets,
  kVersions,
  kProperties
};
constexpr std::string_view kSectionNames[] = {"string",           "dialect", "attribute",
                                              "attribute offset", "IR",      "resource",
                                              "resource offset",  "version", "property"};

[[gnu::cold]] void FailString(Cursor& in, uint64_t length) {
  if (length == 0) in.Fail("found a string without its NUL");
  in.Bytes(length);
  in.Fail("found a string that does not end with NUL");
}

[[gnu::cold]] void FailEntry(Cursor& in, uint64_t size, size_t left) {
  in.Fail(fmt::format("found an entry of {}, the section has {}", Counted(size, "byte"), left));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Tree>> ReadMlirBytecode(std::string_view bytes) {
  return BytecodeReader(bytes).Read();
}

BytecodeReader::BytecodeReader(std::string_view bytes)
    : file_{bytes, {}}, tree_(std::make_unique<Tree>(/*is_text=*/false)), arena_(tree_->arena()) {
  vhlo_name_ids_.fill(-1);
}

absl::StatusOr<std::unique_ptr<Tree>> BytecodeReader::Read() {
  ASSAY_RETURN_IF_ERROR(ReadSections());
  ASSAY_RETURN_IF_ERROR(ReadStrings());
  ASSAY_RETURN_IF_ERROR(ReadDialects());
  ASSAY_RETURN_IF_ERROR(ReadOffsets());
  ASSAY_RETURN_IF_ERROR(ReadPropertyRanges());
  ASSAY_RETURN_IF_ERROR(ReadIr());
  return std::move(tree_);
}

// magic, version, producer, then sections in any order, each once.
absl::Status BytecodeReader::ReadSections() {
  const std::string_view bytes = file_.bytes;
  if (!bytes.starts_with(kMagic)) return BytecodeError(0, "this is not MLIR bytecode");
  Cursor in(file_, kMagic.size(), bytes.size());
  version_ = in.Varint();
  if (in.ok() && version_ > kNewestVersion) {
    return BytecodeError(kMagic.size(),
                         fmt::format("found bytecode version {}, want 0 to {}", version_, kNewestVersion));
  }
  const size_t begin = in.offset();
  const size_t nul = bytes.find('\0', begin);
  if (nul == std::string_view::npos) return BytecodeError(begin, "the name of the producer has no end");
  producer_ = bytes.substr(begin, nul - begin);
  in = Cursor(file_, nul + 1, bytes.size());
  while (in.left() > 0) {
    const size_t at = in.offset();
    uint8_t id = 0;
    Range contents;
    ASSAY_RETURN_IF_ERROR(ReadSection(in, &id, &contents));
    if (id >= sections_.size())
      return BytecodeError(at, fmt::format("found a section of kind {}, want 0 to 8", id));
    if (sections_[id]) return BytecodeError(at, fmt::format("found a second {} section", kSectionNames[id]));
    sections_[id] = contents;
  }
  for (Section wanted : {kStrings, kDialects, kData, kOffsets, kIr}) {
    if (!sections_[wanted])
      return BytecodeError(bytes.size(), fmt::format("found no {} section", kSectionNames[wanted]));
  }
  return in.status();
}

// kind, with the top bit where the contents are aligned; length; alignment and padding.
absl::Status BytecodeReader::ReadSection(Cursor& in, uint8_t* id, Range* contents) {
  const uint8_t kind = in.Byte();
  const uint64_t length = in.Varint();
  *id = kind & 0x7f;
  if ((kind & 0x80) != 0) {
    const size_t at = in.offset();
    const uint64_t alignment = in.Varint();
    if (in.ok() && (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > (1u << 20))) {
      return BytecodeError(at, fmt::format("found an alignment of {}, want a power of two", alignment));
    }
    while (in.ok() && (in.offset() & (alignment - 1)) != 0) {
      if (in.Byte() != 0xcb && in.ok())
        return BytecodeError(in.offset() - 1, "found padding that is not 0xcb");
    }
  }
  contents->begin = in.offset();
  in.Bytes(length);
  contents->end = in.offset();
  return in.status();
}

// The lengths come last string first, each with the NUL that follows the string.
absl::Status BytecodeReader::ReadStrings() {
  Cursor in(file_, sections_[kStrings]->begin, sections_[kStrings]->end);
  strings_ = tables_.Array<std::string_view>(in.Count());
  const std::span<uint64_t> lengths = tables_.Uninitialized<uint64_t>(strings_.size());
  ShortNumbers numbers(in);
  for (size_t i = lengths.size(); i-- > 0;) {
    const size_t length = numbers.Next();
    lengths.data()[i] = length != ShortNumbers::kNone ? length : numbers.Long(in);
  }
  numbers.GiveBack(in);
  const char* const begin = numbers.at();
  size_t at = 0, i = 0;
  for (; i < strings_.size(); ++i) {
    const uint64_t length = lengths.data()[i];
    if (length - 1 >= in.left() - at || begin[at + length - 1] != '\0') break;
    strings_.data()[i] = {begin + at, static_cast<size_t>(length - 1)};
    at += static_cast<size_t>(length);
  }
  in.Bytes(at);
  if (i < strings_.size()) FailString(in, lengths[i]);
  tree_->has_shardings |= std::ranges::find(strings_, std::string_view("mhlo.sharding")) != strings_.end();
  tree_->has_frontend_attributes = std::ranges::find(strings_, Tree::kFrontendAttributes) != strings_.end();
  if (in.ok() && in.left() > 0)
    in.Fail(fmt::format("found {} behind the strings", Counted(in.left(), "byte")));
  return in.status();
}

std::string_view BytecodeReader::String(Cursor& in) {
  const size_t index = in.Index(strings_.size(), "string");
  return in.ok() ? strings_[index] : std::string_view();
}

absl::Status BytecodeReader::ReadDialects() {
  Cursor in(file_, sections_[kDialects]->begin, sections_[kDialects]->end);
  const size_t count = in.Count();
  dialects_ = tables_.Array<Dialect>(count);
  dialect_names_ = tables_.Array<std::string_view>(count);
  for (size_t i = 0; i < count && in.ok(); ++i) {
    const size_t at = in.offset();
    bool has_version = false;
    const uint64_t index = version_ >= 1 ? in.WithFlag(&has_version) : in.Varint();
    if (in.ok() && index >= strings_.size()) {
      return BytecodeError(at, fmt::format("found string {}, want less than {}", index, strings_.size()));
    }
    if (!in.ok()) break;
    const std::string_view name = strings_[static_cast<size_t>(index)];
    dialect_names_[i] = name;
    dialects_[i] = name == "builtin"     ? Dialect::kBuiltin
                   : name == "vhlo"      ? Dialect::kVhlo
                   : name == "sdy"       ? Dialect::kSdy
                   : name == "stablehlo" ? Dialect::kStableHlo
                                         : Dialect::kOther;
    tree_->has_shardings |= name == "sdy";
    if (has_version) {
      uint8_t id = 0;
      Range contents;
      ASSAY_RETURN_IF_ERROR(ReadSection(in, &id, &contents));
    }
  }
  if (version_ >= 4) {
    const uint64_t names = in.Varint();  // in all
    op_names_.reserve(static_cast<size_t>(std::min<uint64_t>(names, in.left())));
  }
  return ReadOpNames(in, version_ >= 5);
}

// Groups of a dialect, a count, and names, to the end of the section.
absl::Status BytecodeReader::ReadOpNames(Cursor& in, bool has_flags) {
  while (in.ok() && in.left() > 0) {
    const size_t dialect = in.Index(dialects_.size(), "dialect");
    const size_t count = in.Count();
    for (size_t i = 0; i < count && in.ok(); ++i) {
      bool is_registered = true;
      const uint64_t index = has_flags ? in.WithFlag(&is_registered) : in.Varint();
      if (in.ok() && index >= strings_.size())
        in.Fail(fmt::format("found string {}, want less than {}", index, strings_.size()));
      if (!in.ok()) break;
      const std::string_view text = strings_[static_cast<size_t>(index)];
      OpName& name = op_names_.emplace_back();
      name.is_registered = is_registered;
      name.dialect = dialect_names_[dialect];
      name.text = text;
      if (dialects_[dialect] == Dialect::kVhlo) {
        name.vhlo = FindVhloOp(text);
        if (name.vhlo != nullptr) name.name = name.vhlo->stablehlo;
      } else {
        name.name = FullName(name);
      }
    }
  }
  return in.status();
}

std::string_view BytecodeReader::FullName(const OpName& name) {
  const std::span<char> text = arena_.Uninitialized<char>(name.dialect.size() + 1 + name.text.size());
  std::ranges::copy(name.text, std::ranges::copy(name.dialect, text.data()).out + 1);
  text[name.dialect.size()] = '.';
  return {text.data(), text.size()};
}

absl::Status BytecodeReader::ReadOffsets() {
  Cursor in(file_, sections_[kOffsets]->begin, sections_[kOffsets]->end);
  const uint64_t num_attributes = in.Varint(), num_types = in.Varint();
  if (in.ok() && (num_attributes > in.left() || num_types > in.left())) {
    in.Fail(fmt::format("found {} and {} in {}", Counted(num_attributes, "attribute"),
                        Counted(num_types, "type"), Counted(in.left(), "byte")));
  }
  ASSAY_RETURN_IF_ERROR(in.status());
  const auto attributes = static_cast<size_t>(num_attributes), types = static_cast<size_t>(num_types);
  attribute_entries_ = tables_.Uninitialized<Entry>(attributes + 1);
  type_entries_ = tables_.Uninitialized<Entry>(types + 1);
  size_t at = sections_[kData]->begin;
  ASSAY_RETURN_IF_ERROR(ReadOffsetGroups(in, attributes, &at, attribute_entries_));
  ASSAY_RETURN_IF_ERROR(ReadOffsetGroups(in, types, &at, type_entries_));
  if (in.left() > 0)
    return BytecodeError(in.offset(), fmt::format("found {} behind the offsets", Counted(in.left(), "byte")));
  attributes_ = tables_.Array<const Attribute*>(attributes);
  locations_ = tables_.Array<const Location*>(attributes);
  types_ = tables_.Array<const Type*>(types);
  return absl::OkStatus();
}

// dialect, count, and for each entry its size and whether the dialect has encoded it.
absl::Status BytecodeReader::ReadOffsetGroups(Cursor& in, size_t count, size_t* at,
                                              std::span<Entry> entries) {
  constexpr auto other = static_cast<uint64_t>(Dialect::kOther);
  const size_t end = sections_[kData]->end;
  size_t read = 0, begin = *at;
  while (read < count && in.ok()) {
    const size_t dialect = in.Index(dialects_.size(), "dialect");
    const size_t group = in.Count();
    if (group == 0) in.Fail("found an empty group of offsets");
    if (!in.ok()) break;
    const auto encoding = static_cast<uint64_t>(dialects_[dialect]);
    ShortNumbers numbers(in);
    Entry* entry = entries.data() + read;
    Entry* const last = entry + std::min(group, count - read);
    read += group;
    for (size_t i = 0; i < group; ++i) {
      uint64_t number = numbers.Next();
      if (number == ShortNumbers::kNone) [[unlikely]] {
        number = numbers.Long(in);
        if (!in.ok()) break;
      }
      const uint64_t size = number >> 1;
      if (size > end - begin) [[unlikely]] {
        numbers.GiveBack(in);
        FailEntry(in, size, end - begin);
        numbers = ShortNumbers(in);
        break;
      }
      if (entry < last) *entry++ = {0, (number & 1) != 0 ? encoding : other, begin};
      begin += size;
    }
    numbers.GiveBack(in);
  }
  if (in.ok() && read > count) in.Fail(fmt::format("found {}, want {}", Counted(read, "entry"), count));
  entries[count] = {0, other, begin};
  *at = begin;
  return in.status();
}

absl::Status BytecodeReader::ReadPropertyRanges() {
  if (!sections_[kProperties]) return absl::OkStatus();
  Cursor in(file_, sections_[kProperties]->begin, sections_[kProperties]->end);
  properties_ = tables_.Array<Properties>(in.Count());
  for (Properties& entry : properties_) {
    const uint64_t size = in.Varint();
    entry.range.begin = in.offset();
    in.Bytes(size);
    entry.range.end = in.offset();
  }
  return in.status();
}

}  // namespace assay::mlir
