// Operations, regions and values of MLIR bytecode (spec/stablehlo-bytecode.md section 6).
#include <algorithm>

#include "fmt/format.h"
#include "hlo/mlir/bytecode_reader.h"
#include "shape/limits.h"

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
};

}  // namespace

// One block without arguments, of one operation.
absl::Status BytecodeReader::ReadIr() {
  Cursor in(file_, sections_[kIrSection]->begin, sections_[kIrSection]->end);
  bool has_arguments = false;
  const size_t at = in.offset();
  const uint64_t count = in.WithFlag(&has_arguments);
  if (in.ok() && (count != 1 || has_arguments)) {
    return BytecodeError(at, fmt::format("found {} operations at the top, want one module", count));
  }
  Operation* const module = arena_.New<Operation>();
  if (!ReadOperation(in, module)) return failure_;
  if (module->name != "builtin.module") {
    return BytecodeError(at,
                         fmt::format("found operation '{}' at the top, want builtin.module", module->name));
  }
  tree_->top = arena_.New<Region>();
  tree_->top->operations = arena_.Copy(std::vector<Operation*>{module});
  if (in.left() > 0)
    return BytecodeError(in.offset(), fmt::format("found {} bytes behind the module", in.left()));
  return absl::OkStatus();
}

// name, mask, location, then what the mask says. What most operations have is read inline.
bool BytecodeReader::ReadOperation(Cursor& in, Operation* operation) {
  operation->offset = in.offset();
  const size_t name_index = in.Index(op_names_.size(), "operation name");
  const uint8_t mask = in.Byte();
  operation->location = LocationAt(in);
  if (!in.ok()) return Failed(in);
  if (!ReadName(name_index, operation)) return false;
  if ((mask & 0x80) != 0) {
    return Refuse(
        BytecodeError(operation->offset, fmt::format("found the mask {:#x} of an operation", mask)));
  }
  if ((mask & (kHasAttributes | kHasProperties)) != 0 &&
      !ReadAttributes(in, mask, op_names_[name_index], operation)) {
    return false;
  }
  if ((mask & kHasResults) != 0 && !ReadResults(in, operation)) return false;
  if ((mask & kHasOperands) != 0 && !ReadOperands(in, operation)) return false;
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

inline bool BytecodeReader::ReadName(size_t index, Operation* operation) {
  OpName& name = op_names_[index];
  if (name.name.empty()) {
    return Refuse(NotSupported({}, fmt::format("byte {}: operation '{}', in a file of {}", operation->offset,
                                               name.full_name(), producer_)));
  }
  if (name.name_id < 0) name.name_id = NameId(name);
  operation->name = name.name;
  operation->name_id = name.name_id;
  return true;
}

// Names that differ in their version are one name of StableHLO.
int32_t BytecodeReader::NameId(const OpName& name) {
  const auto new_id = [this](int32_t* id) { return *id >= 0 ? *id : *id = tree_->NewName(); };
  if (name.vhlo != nullptr) return new_id(&vhlo_name_ids_[static_cast<size_t>(name.vhlo->number)]);
  return new_id(
      &other_name_ids_.try_emplace(absl::string_view(name.name.data(), name.name.size()), -1).first->second);
}

bool BytecodeReader::ReadAttributes(Cursor& in, uint8_t mask, const OpName& name, Operation* operation) {
  std::span<const NamedAttribute> discardable, properties;
  const auto read_dictionary = [&](std::span<const NamedAttribute>* fields) {
    const Attribute* const dictionary = AttributeAt(in);
    if (dictionary == nullptr) return;
    if (dictionary->kind != Attribute::Kind::kDictionary)
      return in.Fail("found attributes that are not a dictionary");
    *fields = dictionary->fields;
  };
  if ((mask & kHasAttributes) != 0) read_dictionary(&discardable);
  if ((mask & kHasProperties) != 0) {
    if (!name.is_registered) {
      read_dictionary(&properties);
    } else if (!ReadProperties(in, name, &properties)) {
      return false;
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

inline bool BytecodeReader::ReadProperties(Cursor& in, const OpName& name,
                                           std::span<const NamedAttribute>* attributes) {
  const size_t index = in.Index(properties_.size(), "property");
  if (!in.ok()) return Failed(in);
  Properties& properties = properties_[index];
  if (name.vhlo == nullptr || properties.read_as != name.vhlo) {
    return DecodeProperties(name, &properties, attributes);
  }
  *attributes = properties.attributes;
  return true;
}

// An attribute for each name in the table; a module has an optional name. Those of other dialects mean nothing here.
bool BytecodeReader::DecodeProperties(const OpName& name, Properties* properties,
                                      std::span<const NamedAttribute>* attributes) {
  Cursor entry(file_, properties->range.begin, properties->range.end);
  if (name.vhlo != nullptr) {
    const std::span<NamedAttribute> read = arena_.Array<NamedAttribute>(name.vhlo->attributes.size());
    const std::string_view* field = name.vhlo->attributes.data();
    for (NamedAttribute& attribute : read) {
      attribute = {*field++, AttributeAt(entry)};
      if (!entry.ok()) return Failed(entry);
    }
    *attributes = read;
  } else if (name.name == "builtin.module") {
    const Attribute* const symbol = OptionalAttribute(entry);
    OptionalAttribute(entry);
    if (symbol != nullptr) *attributes = arena_.Copy(std::vector<NamedAttribute>{{"sym_name", symbol}});
  } else {
    return true;
  }
  if (entry.ok() && entry.left() > 0) {
    entry.Fail(fmt::format("found {} bytes behind the properties of '{}'", entry.left(), name.full_name()));
  }
  if (entry.ok()) {
    properties->read_as = name.vhlo;
    properties->attributes = *attributes;
  }
  return Check(entry);
}

inline bool BytecodeReader::ReadResults(Cursor& in, Operation* operation) {
  const size_t count = in.Count();
  operation->results = tree_->NewValues(count, operation, depth_);
  for (Value& result : operation->results) {
    result.type = TypeAt(in);
    if (!in.ok()) return Failed(in);
  }
  return Define(in, operation->results);
}

// The next values of the region.
inline bool BytecodeReader::Define(Cursor& in, std::span<Value> values) {
  if (values.size() > last_slot_ - next_slot_) {
    in.Fail("found more values than the region says that it has");
    return Failed(in);
  }
  Slot* slot = slots_.data() + next_slot_;
  for (Value& value : values) *slot++ = {&value, depth_};
  next_slot_ += values.size();
  return true;
}

inline bool BytecodeReader::ReadOperands(Cursor& in, Operation* operation) {
  const size_t count = in.Count();
  const std::span<Value*> operands = arena_.Uninitialized<Value*>(count);
  const std::span<const Slot> slots = std::span(slots_).subspan(first_slot_);
  for (Value*& operand : operands) {
    const size_t index = in.Index(slots.size(), "value");
    if (!in.ok()) return Failed(in);
    const Slot slot = slots[index];
    operand = slot.value;
    if (operand == nullptr) {
      in.Fail(fmt::format("value {} is used before it is defined", index));
      return Failed(in);
    }
    if (slot.depth < depth_) Capture(first_slot_ + index);
  }
  operation->operands = operands;
  return Check(in);
}

// The open regions between the one that defines the value and the one that uses it take it from outside. Those that
// have it already are the outer ones of these.
void BytecodeReader::Capture(size_t slot) {
  captures_.resize(std::max(captures_.size(), static_cast<size_t>(depth_) + 1));
  for (int32_t depth = slots_[slot].depth + 1; depth <= depth_; ++depth) {
    captures_[static_cast<size_t>(depth)].push_back(slot);
  }
  slots_[slot].depth = depth_;
}

// What the region around this one has among its captures, or defines, it still has; the next one inside of it begins
// with none.
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
  if (in.ok() && count > in.left()) in.Fail(fmt::format("found {} regions in {} bytes", count, in.left()));
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
    in = std::move(inner);
    return true;
  }
  if (inner.left() > 0)
    inner.Fail(fmt::format("found {} bytes behind the regions of '{}'", inner.left(), operation->name));
  return Check(inner);
}

// blocks, and, if there are any, the number of values that are defined directly in them. The values of a region
// are numbered behind those of the regions around it; siblings start alike.
bool BytecodeReader::ReadRegion(Cursor& in, Region* region) {
  const size_t at = in.offset();
  const uint64_t blocks = in.Varint();
  if (!in.ok() || blocks == 0) return Check(in);
  if (blocks != 1)
    return Refuse(BytecodeError(at, fmt::format("found {} blocks in a region, want 1", blocks)));
  const size_t base = slots_.size(), outer_next = next_slot_, outer_last = last_slot_;
  const size_t count = in.Count();
  slots_.resize(base + count);
  next_slot_ = base;
  last_slot_ = base + count;
  if (!ReadBlock(in, region)) return false;
  if (next_slot_ != last_slot_)
    in.Fail(fmt::format("found {} values in a region, want {}", next_slot_ - base, count));
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
    in.Fail(fmt::format("found {} operations in {} bytes", operations, in.left()));
  if (!in.ok()) return Failed(in);
  const std::span<Operation> nodes = arena_.Array<Operation>(static_cast<size_t>(operations));
  const std::span<Operation*> pointers = arena_.Uninitialized<Operation*>(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    pointers[i] = &nodes[i];
    if (!ReadOperation(in, &nodes[i])) return false;
  }
  region->operations = pointers;
  return true;
}

bool BytecodeReader::ReadArguments(Cursor& in, Region* region) {
  const size_t count = in.Count();
  region->arguments = tree_->NewValues(count, nullptr, depth_);
  for (Value& argument : region->arguments) {
    bool has_location = true;
    if (version_ >= 4) {
      const uint64_t type = in.WithFlag(&has_location);
      if (in.ok() && type >= types_.size())
        in.Fail(fmt::format("found type {}, want less than {}", type, types_.size()));
      if (!in.ok()) return Failed(in);
      const auto index = static_cast<size_t>(type);
      argument.type = types_[index] != nullptr ? types_[index] : TypeOf(in, index);
    } else {
      argument.type = TypeAt(in);
    }
    if (has_location) LocationAt(in);
    if (!in.ok()) return Failed(in);
  }
  if (version_ >= 3 && in.Byte() != 0) SkipUseLists(in, count);
  return Define(in, region->arguments);
}

}  // namespace assay::mlir
