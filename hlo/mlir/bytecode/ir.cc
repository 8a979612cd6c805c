// Operations, regions and values of MLIR bytecode (docs/spec/stablehlo-bytecode.md section 6).
#include <algorithm>

#include "base/counted.h"
#include "base/limits.h"
#include "fmt/format.h"
#include "hlo/mlir/bytecode/reader.h"

namespace assay::mlir {
namespace {

constexpr size_t kIrSection = 4;
enum OpMask : uint8_t {
  kHasAttributes = 0x01,
  kHasResults = 0x02,
  kHasOperands = 0x04,
  kHasSuccessors = 0x08,
  kHasRegions = 0x10,
  kHasUseLists = 0x20,
  kHasProperties = 0x40,
  kUnknown = 0x80,
};
constexpr size_t kUsualSlots = 128;
constexpr std::string_view kModule = "builtin.module";

}  // namespace

// One block without arguments, of one operation.
absl::Status BytecodeReader::ReadIr() {
  Cursor in(file_, sections_[kIrSection]->begin, sections_[kIrSection]->end);
  bool has_arguments = false;
  const size_t at = in.offset();
  const uint64_t count = in.WithFlag(&has_arguments);
  if (in.ok() && (count != 1 || has_arguments)) {
    return BytecodeError(at,
                         fmt::format("found {} at the top, want one module", Counted(count, "operation")));
  }
  Operation* const module = arena_.New<Operation>();
  slots_.reserve(std::min<size_t>(in.left(), kUsualSlots));
  if (!ReadOperation(in, module)) return failure_;
  if (module->name != kModule) {
    return BytecodeError(at,
                         fmt::format("found operation '{}' at the top, want builtin.module", module->name));
  }
  tree_->top = arena_.New<Region>();
  tree_->top->operations = arena_.Copy(&module, 1);
  if (in.left() > 0)
    return BytecodeError(in.offset(), fmt::format("found {} behind the module", Counted(in.left(), "byte")));
  return absl::OkStatus();
}

// name, mask, location, then what the mask says.
bool BytecodeReader::ReadOperation(Cursor& in, Operation* operation) {
  const size_t offset = in.offset();
  operation->offset = offset;
  ShortNumbers numbers(in);
  const size_t name_index = numbers.Index(in, op_names_.size(), "operation name");
  const size_t mask = numbers.Byte(in);
  const size_t location_index = numbers.Index(in, locations_.size(), "attribute");
  if (location_index == ShortNumbers::kNone) [[unlikely]]
    return Failed(in);
  operation->location = LocationOf(location_index);
  if (operation->location == nullptr) [[unlikely]]
    return FailedPart(in, "attribute", location_index);
  OpName& name = op_names_.data()[name_index];
  if (name.name_id < 0) [[unlikely]] {
    if (name.name.empty()) return RefuseName(name, offset);
    name.name_id = NameId(name);
    tree_->has_size_operations |= IsSizeOperation(name.name);
  }
  operation->name = name.name;
  operation->name_id = name.name_id;
  if ((mask & kUnknown) != 0) [[unlikely]]
    return RefuseMask(mask, offset);
  if ((mask & (kHasAttributes | kHasProperties)) != 0 &&
      !ReadAttributes(in, numbers, mask, name, operation)) {
    return false;
  }
  if ((mask & kHasResults) != 0 && !ReadResults(in, numbers, operation)) return false;
  if ((mask & kHasOperands) != 0 && !ReadOperands(in, numbers, operation)) return false;
  numbers.GiveBack(in);
  if ((mask & (kHasSuccessors | kHasUseLists | kHasRegions)) != 0) return ReadRare(in, mask, operation);
  return Check(in);
}

// What few operations have.
bool BytecodeReader::ReadRare(Cursor& in, size_t mask, Operation* operation) {
  if ((mask & kHasSuccessors) != 0) {
    const size_t count = in.Count();
    for (size_t i = 0; i < count; ++i) in.Varint();
    if (count > 0)
      return Refuse(BytecodeError(operation->offset, "found an operation with successor blocks"));
  }
  if ((mask & kHasUseLists) != 0) SkipUseLists(in, operation->results.size());
  if ((mask & kHasRegions) != 0 && !ReadRegions(in, operation)) return false;
  return Check(in);
}

bool BytecodeReader::Refuse(absl::Status status) {
  failure_ = std::move(status);
  return false;
}

bool BytecodeReader::Failed(const Cursor& in) { return Refuse(ErrorOf(in)); }

bool BytecodeReader::FailedPart(Cursor& in, const char* what, size_t index) {
  FailPart(in, what, index);
  return Failed(in);
}

bool BytecodeReader::RefuseName(const OpName& name, size_t offset) {
  return Refuse(NotSupported(
      {}, fmt::format("byte {}: operation '{}', in a file of {}", offset, name.full_name(), producer_)));
}

bool BytecodeReader::RefuseMask(size_t mask, size_t offset) {
  return Refuse(BytecodeError(offset, fmt::format("found the mask {:#x} of an operation", mask)));
}

// Names that differ in their version are one name of StableHLO.
int32_t BytecodeReader::NameId(const OpName& name) {
  const auto new_id = [this](int32_t* id) { return *id >= 0 ? *id : *id = tree_->NewName(); };
  if (name.vhlo != nullptr) return new_id(&vhlo_name_ids_[static_cast<size_t>(name.vhlo->number)]);
  if (name.name == kModule) return new_id(&module_name_id_);
  return new_id(
      &other_name_ids_.try_emplace(absl::string_view(name.name.data(), name.name.size()), -1).first->second);
}

// Most operations with attributes have properties alone, which another operation has had before.
inline bool BytecodeReader::ReadAttributes(Cursor& in, ShortNumbers& numbers, size_t mask, const OpName& name,
                                           Operation* operation) {
  if ((mask & kHasAttributes) != 0 || !name.is_registered) {
    numbers.GiveBack(in);
    const bool ok = ReadDictionaries(in, mask, name, operation);
    numbers = ShortNumbers(in);
    return ok;
  }
  const size_t index = numbers.Index(in, properties_.size(), "property");
  if (index == ShortNumbers::kNone) [[unlikely]]
    return Failed(in);
  Properties& properties = properties_.data()[index];
  if (properties.read_as != name.vhlo || name.vhlo == nullptr) {
    return DecodeProperties(name, &properties, &operation->attributes);
  }
  operation->attributes = properties.attributes;
  return true;
}

BytecodeReader::Fields BytecodeReader::ReadDictionaryAt(Cursor& in) {
  const Attribute* const dictionary = AttributeAt(in);
  if (dictionary == nullptr) return {};
  if (dictionary->kind == Attribute::Kind::kDictionary) return dictionary->fields;
  in.Fail("found attributes that are not a dictionary");
  return {};
}

bool BytecodeReader::ReadDictionaries(Cursor& in, size_t mask, const OpName& name, Operation* operation) {
  Fields discardable, properties;
  if ((mask & kHasAttributes) != 0) discardable = ReadDictionaryAt(in);
  if ((mask & kHasProperties) != 0) {
    if (!name.is_registered) {
      properties = ReadDictionaryAt(in);
    } else {
      const size_t index = in.Index(properties_.size(), "property");
      if (!in.ok()) return Failed(in);
      if (!DecodeProperties(name, &properties_[index], &properties)) return false;
    }
  }
  if (discardable.empty() || properties.empty()) {
    operation->attributes = discardable.empty() ? properties : discardable;
    return Check(in);
  }
  const std::span<NamedAttribute> all = arena_.Array<NamedAttribute>(discardable.size() + properties.size());
  std::copy(properties.begin(), properties.end(),
            std::copy(discardable.begin(), discardable.end(), all.begin()));
  operation->attributes = all;
  return Check(in);
}

// An attribute for each name in the table. What is not of short numbers, or wrong,
// is left to DecodeAnyProperties.
bool BytecodeReader::DecodeProperties(const OpName& name, Properties* properties, Fields* attributes) {
  if (name.vhlo == nullptr) return DecodeOtherProperties(name, properties->range, attributes);
  if (properties->read_as == name.vhlo) {
    *attributes = properties->attributes;
    return true;
  }
  const size_t count = name.vhlo->attributes.size();
  const std::string_view* field = name.vhlo->attributes.data();
  void* const memory = count == 0 ? nullptr : tree_->Node(count * sizeof(NamedAttribute));
  auto* const read = static_cast<NamedAttribute*>(memory);
  ShortNumbers numbers(file_.bytes, properties->range.begin, properties->range.end);
  for (size_t i = 0; i < count; ++i) {
    const size_t index = numbers.Next();
    if (index >= attributes_.size()) [[unlikely]]
      return DecodeAnyProperties(name, properties, attributes);
    const Attribute* const value = AttributeOf(index);
    if (value == nullptr) [[unlikely]]
      return DecodeAnyProperties(name, properties, attributes);
    new (read + i) NamedAttribute{field[i], value};
  }
  if (numbers.left() > 0) [[unlikely]]
    return DecodeAnyProperties(name, properties, attributes);
  properties->read_as = name.vhlo;
  properties->attributes = {read, count};
  *attributes = properties->attributes;
  return true;
}

bool BytecodeReader::DecodeAnyProperties(const OpName& name, Properties* properties, Fields* attributes) {
  Cursor entry(file_, properties->range.begin, properties->range.end);
  const std::span<NamedAttribute> read = arena_.Array<NamedAttribute>(name.vhlo->attributes.size());
  const std::string_view* field = name.vhlo->attributes.data();
  for (NamedAttribute& attribute : read) {
    attribute = {*field++, AttributeAt(entry)};
    if (!entry.ok()) return Failed(entry);
  }
  if (entry.left() > 0) return RefuseBehind(entry, name);
  properties->read_as = name.vhlo;
  properties->attributes = read;
  *attributes = read;
  return true;
}

// These dialects have encodings of their own, which no specification defines: artifacts have VHLO instead.
bool HasUnstableEncoding(std::string_view dialect) {
  return dialect == "func" || dialect == "stablehlo" || dialect == "chlo" || dialect == "mhlo";
}

// A module has an optional name. Those of other dialects that artifacts have mean nothing here.
bool BytecodeReader::DecodeOtherProperties(const OpName& name, Range range, Fields* attributes) {
  if (HasUnstableEncoding(name.dialect)) {
    return Refuse(
        NotSupported({}, fmt::format("byte {}: the properties of '{}' in a file of {}, want a portable "
                                     "artifact, whose dialect is vhlo",
                                     range.begin, name.full_name(), producer_)));
  }
  if (name.dialect == "sdy") return DecodeShardingProperties(name, range, attributes);
  if (name.name != kModule) return true;
  Cursor entry(file_, range.begin, range.end);
  const Attribute* const symbol = OptionalAttribute(entry);
  OptionalAttribute(entry);
  if (!entry.ok()) return Failed(entry);
  if (entry.left() > 0) return RefuseBehind(entry, name);
  const NamedAttribute named{"sym_name", symbol};
  if (symbol != nullptr) *attributes = arena_.Copy(&named, 1);
  return true;
}

bool BytecodeReader::RefuseBehind(Cursor& entry, const OpName& name) {
  entry.Fail(
      fmt::format("found {} behind the properties of '{}'", Counted(entry.left(), "byte"), name.full_name()));
  return Failed(entry);
}

inline bool BytecodeReader::ReadResults(Cursor& in, ShortNumbers& numbers, Operation* operation) {
  const size_t count = numbers.Count(in);
  if (count == 1) [[likely]] {
    const size_t index = numbers.Index(in, types_.size(), "type");
    if (index == ShortNumbers::kNone) [[unlikely]]
      return Failed(in);
    const Type* const type = TypeOf(index);
    if (type == nullptr) [[unlikely]]
      return FailedPart(in, "type", index);
    if (next_slot_ == last_slot_) [[unlikely]] {
      numbers.GiveBack(in);
      return RefuseValues(in);
    }
    Value* const value = tree_->NewValue(type, operation, depth_);
    operation->results = {value, 1};
    slots_.data()[next_slot_++] = {value, depth_};
    return true;
  }
  numbers.GiveBack(in);
  const bool ok = ReadManyResults(in, count, operation);
  numbers = ShortNumbers(in);
  return ok;
}

bool BytecodeReader::ReadManyResults(Cursor& in, size_t count, Operation* operation) {
  operation->results = tree_->NewValues(count, operation, depth_);
  for (Value& result : operation->results) {
    result.type = TypeAt(in);
    if (!in.ok()) [[unlikely]]
      return Failed(in);
  }
  return Define(in, operation->results);
}

// The next values of the region.
inline bool BytecodeReader::Define(Cursor& in, std::span<Value> values) {
  if (values.size() > last_slot_ - next_slot_) [[unlikely]]
    return RefuseValues(in);
  Slot* slot = slots_.data() + next_slot_;
  for (Value& value : values) *slot++ = {&value, depth_};
  next_slot_ += values.size();
  return true;
}

bool BytecodeReader::RefuseValues(Cursor& in) {
  in.Fail("found more values than the region says that it has");
  return Failed(in);
}

inline bool BytecodeReader::ReadOperands(Cursor& in, ShortNumbers& numbers, Operation* operation) {
  const size_t count = numbers.Count(in);
  const std::span<Value*> operands(static_cast<Value**>(tree_->Node(count * sizeof(Value*))), count);
  const Slot* const slots = slots_.data() + first_slot_;
  const size_t num_slots = slots_.size() - first_slot_;
  const int32_t depth = depth_;
  for (Value*& operand : operands) {
    const size_t index = numbers.Index(in, num_slots, "value");
    if (index == ShortNumbers::kNone) [[unlikely]]
      return Failed(in);
    const Slot& slot = slots[index];
    operand = slot.value;
    if (slot.value == nullptr) [[unlikely]] {
      numbers.GiveBack(in);
      return RefuseValue(in, index);
    }
    if (slot.depth < depth) Capture(first_slot_ + index);
  }
  operation->operands = operands;
  numbers.GiveBack(in);
  return Check(in);
}

bool BytecodeReader::RefuseValue(Cursor& in, size_t index) {
  in.Fail(fmt::format("value {} is used before it is defined", index));
  return Failed(in);
}

// The open regions between the one that defines the value and the one that uses it take it from outside.
// Those that have it already are the outer ones of these.
void BytecodeReader::Capture(size_t slot) {
  captures_.resize(std::max(captures_.size(), static_cast<size_t>(depth_) + 1));
  for (int32_t depth = slots_[slot].depth + 1; depth <= depth_; ++depth) {
    captures_[static_cast<size_t>(depth)].push_back(slot);
  }
  slots_[slot].depth = depth_;
}

// What the region around this one has among its captures, or defines, it still has; the next one inside of it
// begins with none.
void BytecodeReader::CloseCaptures(Region* region) {
  if (captures_.size() <= static_cast<size_t>(depth_)) return;
  std::vector<size_t>& open = captures_[static_cast<size_t>(depth_)];
  const std::span<Value*> captures = arena_.Array<Value*>(open.size());
  for (size_t i = 0; i < open.size(); ++i) {
    captures[i] = slots_[open[i]].value;
    slots_[open[i]].depth = depth_ - 1;
  }
  region->captures = captures;
  open.clear();
}

// Orders of uses: no meaning for us.
void BytecodeReader::SkipUseLists(Cursor& in, size_t values) {
  const size_t count = values > 1 ? in.Count() : 1;
  for (size_t i = 0; i < count && in.ok(); ++i) {
    if (values > 1) in.Varint();
    bool pairs = false;
    const uint64_t numbers = in.WithFlag(&pairs);
    for (uint64_t k = 0; k < numbers && in.ok(); ++k) in.Varint();
  }
}

// All regions of an operation; isolated ones have a section and a numbering of their own.
bool BytecodeReader::ReadRegions(Cursor& in, Operation* operation) {
  if (nesting_ >= kMaxNesting) {
    return Refuse(WithPrefix(ProgramLimitExceeded({}, "nesting", nesting_ + 1, kMaxNesting),
                             fmt::format("byte {}", operation->offset)));
  }
  bool isolated = false;
  const uint64_t count = in.WithFlag(&isolated);
  if (in.ok() && count > in.left())
    in.Fail(fmt::format("found {} in {}", Counted(count, "region"), Counted(in.left(), "byte")));
  if (!in.ok()) return Failed(in);
  Cursor inner = in.Rest();
  const bool has_section = isolated && version_ >= 2;
  if (has_section) {
    uint8_t id = 0;
    Range contents;
    if (absl::Status status = ReadSection(in, &id, &contents); !status.ok()) return Refuse(std::move(status));
    if (id != kIrSection) {
      return Refuse(BytecodeError(operation->offset,
                                  fmt::format("found a section of kind {} for a region, want 4", id)));
    }
    inner = Cursor(file_, contents.begin, contents.end);
  }
  const size_t outer_first = first_slot_;
  if (isolated) first_slot_ = slots_.size();
  operation->regions = arena_.Array<Region>(static_cast<size_t>(count));
  ++nesting_;
  ++depth_;
  for (Region& region : operation->regions) {
    region.depth = depth_;
    if (!ReadRegion(inner, &region)) return false;
  }
  --depth_;
  --nesting_;
  first_slot_ = outer_first;
  if (!has_section) {
    in = inner;
    return true;
  }
  if (inner.left() > 0)
    inner.Fail(
        fmt::format("found {} behind the regions of '{}'", Counted(inner.left(), "byte"), operation->name));
  return Check(inner);
}

// blocks, and, if there are any, the number of values that are defined directly in them. The values of a
// region are numbered behind those of the regions around it; siblings start alike.
bool BytecodeReader::ReadRegion(Cursor& in, Region* region) {
  const size_t at = in.offset();
  const uint64_t blocks = in.Varint();
  if (!in.ok() || blocks == 0) return Check(in);
  if (blocks != 1)
    return Refuse(BytecodeError(at, fmt::format("found {} in a region, want 1", Counted(blocks, "block"))));
  const size_t base = slots_.size(), outer_next = next_slot_, outer_last = last_slot_;
  const size_t count = in.Count();
  slots_.resize(base + count);
  next_slot_ = base;
  last_slot_ = base + count;
  if (!ReadBlock(in, region)) return false;
  if (next_slot_ != last_slot_)
    in.Fail(fmt::format("found {} in a region, want {}", Counted(next_slot_ - base, "value"), count));
  CloseCaptures(region);
  slots_.resize(base);
  next_slot_ = outer_next;
  last_slot_ = outer_last;
  return Check(in);
}

bool BytecodeReader::ReadBlock(Cursor& in, Region* region) {
  bool has_arguments = false;
  const uint64_t operations = in.WithFlag(&has_arguments);
  if (has_arguments && !ReadArguments(in, region)) return false;
  if (in.ok() && operations > in.left())
    in.Fail(fmt::format("found {} in {}", Counted(operations, "operation"), Counted(in.left(), "byte")));
  if (!in.ok()) return Failed(in);
  const auto count = static_cast<size_t>(operations);
  auto* const nodes = static_cast<Operation*>(arena_.Take(count * sizeof(Operation), alignof(Operation)));
  const std::span<Operation*> pointers = arena_.Uninitialized<Operation*>(count);
  for (size_t i = 0; i < count; ++i) {
    pointers[i] = nodes + i;
    Clear(nodes + i);
    if (!ReadOperation(in, pointers[i])) return false;
  }
  region->operations = pointers;
  return true;
}

bool BytecodeReader::ReadArguments(Cursor& in, Region* region) {
  const size_t count = in.Count();
  region->arguments = tree_->NewValues(count, nullptr, depth_);
  const bool has_flag = version_ >= 4;
  ShortNumbers numbers(in);
  for (Value& argument : region->arguments) {
    const ShortNumbers before = numbers;
    const size_t number = numbers.Next();
    const size_t type = has_flag ? number >> 1 : number;
    const bool has_location = !has_flag || (number & 1) != 0;
    const size_t location = has_location ? numbers.Next() : 0;
    if (type < types_.size() && (!has_location || location < locations_.size())) [[likely]] {
      argument.type = TypeOf(type);
      if (argument.type != nullptr && (!has_location || LocationOf(location) != nullptr)) continue;
    }
    before.GiveBack(in);
    if (!ReadArgument(in, &argument)) return false;
    numbers = ShortNumbers(in);
  }
  numbers.GiveBack(in);
  if (version_ >= 3 && in.Byte() != 0) SkipUseLists(in, count);
  return Define(in, region->arguments);
}

// One of long numbers, or what is wrong with it.
bool BytecodeReader::ReadArgument(Cursor& in, Value* argument) {
  bool has_location = true;
  if (version_ >= 4) {
    const uint64_t type = in.WithFlag(&has_location);
    if (in.ok() && type >= types_.size())
      in.Fail(fmt::format("found type {}, want less than {}", type, types_.size()));
    if (!in.ok()) return Failed(in);
    const auto index = static_cast<size_t>(type);
    argument->type = TypeOf(index);
    if (argument->type == nullptr) return FailedPart(in, "type", index);
  } else {
    argument->type = TypeAt(in);
  }
  if (has_location) LocationAt(in);
  return Check(in);
}

}  // namespace assay::mlir
