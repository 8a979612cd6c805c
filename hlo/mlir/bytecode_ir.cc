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
  ASSAY_RETURN_IF_ERROR(ReadOperation(in, module));
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

// name, mask, location, then what the mask says.
absl::Status BytecodeReader::ReadOperation(Cursor& in, Operation* operation) {
  operation->offset = in.offset();
  const size_t name_index = in.Index(op_names_.size(), "operation name");
  const uint8_t mask = in.Byte();
  operation->location = AttributeAt(in);
  if (!in.ok()) return ErrorOf(in);
  OpName& name = op_names_[name_index];
  if (name.name.empty()) {
    return NotSupported({}, fmt::format("byte {}: operation '{}', in a file of {}", operation->offset,
                                        name.full_name(), producer_));
  }
  if (name.name_id < 0) name.name_id = tree_->NameId(name.name);
  operation->name = name.name;
  operation->name_id = name.name_id;
  if ((mask & 0x80) != 0)
    return BytecodeError(operation->offset, fmt::format("found the mask {:#x} of an operation", mask));
  if ((mask & (kHasAttributes | kHasProperties)) != 0)
    ASSAY_RETURN_IF_ERROR(ReadAttributes(in, mask, name, operation));
  if ((mask & kHasResults) != 0) ASSAY_RETURN_IF_ERROR(ReadResults(in, operation));
  if ((mask & kHasOperands) != 0) ASSAY_RETURN_IF_ERROR(ReadOperands(in, operation));
  if ((mask & kHasSuccessors) != 0) {
    const size_t count = in.Count();
    for (size_t i = 0; i < count; ++i) in.Varint();
    if (count > 0) return BytecodeError(operation->offset, "found an operation with successor blocks");
  }
  if ((mask & kHasUseLists) != 0) SkipUseLists(in, operation->results.size());
  if ((mask & kHasRegions) != 0) ASSAY_RETURN_IF_ERROR(ReadRegions(in, operation));
  return ErrorOf(in);
}

absl::Status BytecodeReader::ReadAttributes(Cursor& in, uint8_t mask, const OpName& name,
                                            Operation* operation) {
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
    if (name.is_registered) {
      ASSAY_RETURN_IF_ERROR(ReadNativeProperties(in, name, &properties));
    } else {
      read_dictionary(&properties);
    }
  }
  if (discardable.empty() || properties.empty()) {
    operation->attributes = discardable.empty() ? properties : discardable;
    return ErrorOf(in);
  }
  const std::span<NamedAttribute> all = arena_.Array<NamedAttribute>(discardable.size() + properties.size());
  std::copy(properties.begin(), properties.end(),
            std::copy(discardable.begin(), discardable.end(), all.begin()));
  operation->attributes = all;
  return ErrorOf(in);
}

// An attribute for each name in the table; a module has an optional name. Those of other dialects mean nothing here.
absl::Status BytecodeReader::ReadNativeProperties(Cursor& in, const OpName& name,
                                                  std::span<const NamedAttribute>* attributes) {
  const size_t index = in.Index(properties_.size(), "property");
  if (!in.ok()) return ErrorOf(in);
  Properties& properties = properties_[index];
  if (name.vhlo != nullptr && properties.read_as == name.vhlo) {
    *attributes = properties.attributes;
    return absl::OkStatus();
  }
  Cursor entry(file_, properties.range.begin, properties.range.end);
  if (name.vhlo != nullptr) {
    const std::span<NamedAttribute> read = arena_.Array<NamedAttribute>(name.vhlo->attributes.size());
    for (size_t i = 0; i < read.size(); ++i) {
      read[i] = {name.vhlo->attributes[i], AttributeAt(entry)};
      if (!entry.ok()) return ErrorOf(entry);
    }
    *attributes = read;
  } else if (name.name == "builtin.module") {
    const Attribute* const symbol = OptionalAttribute(entry);
    OptionalAttribute(entry);
    if (symbol != nullptr) *attributes = arena_.Copy(std::vector<NamedAttribute>{{"sym_name", symbol}});
  } else {
    return absl::OkStatus();
  }
  if (entry.ok() && entry.left() > 0) {
    entry.Fail(fmt::format("found {} bytes behind the properties of '{}'", entry.left(), name.full_name()));
  }
  if (entry.ok()) {
    properties.read_as = name.vhlo;
    properties.attributes = *attributes;
  }
  return ErrorOf(entry);
}

absl::Status BytecodeReader::ReadResults(Cursor& in, Operation* operation) {
  const size_t count = in.Count();
  operation->results = tree_->NewValues(count, operation, depth_);
  for (Value& result : operation->results) {
    result.type = TypeAt(in);
    if (!in.ok()) return ErrorOf(in);
  }
  return Define(in, operation->results);
}

// The next values of the region.
absl::Status BytecodeReader::Define(Cursor& in, std::span<Value> values) {
  if (values.size() > last_value_ - next_value_) {
    in.Fail("found more values than the region says that it has");
    return ErrorOf(in);
  }
  for (Value& value : values) values_[next_value_++] = &value;
  return absl::OkStatus();
}

absl::Status BytecodeReader::ReadOperands(Cursor& in, Operation* operation) {
  const size_t count = in.Count();
  const std::span<Value*> operands = arena_.Array<Value*>(count);
  for (Value*& operand : operands) {
    const size_t index = in.Index(values_.size(), "value");
    if (!in.ok()) return ErrorOf(in);
    operand = values_[index];
    if (operand == nullptr) {
      in.Fail(fmt::format("value {} is used before it is defined", index));
      return ErrorOf(in);
    }
  }
  operation->operands = operands;
  return ErrorOf(in);
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
absl::Status BytecodeReader::ReadRegions(Cursor& in, Operation* operation) {
  if (nesting_ >= kMaxNesting) {
    return WithPrefix(ProgramLimitExceeded({}, "nesting", nesting_ + 1, kMaxNesting),
                      fmt::format("byte {}", operation->offset));
  }
  bool isolated = false;
  const uint64_t count = in.WithFlag(&isolated);
  if (in.ok() && count > in.left()) in.Fail(fmt::format("found {} regions in {} bytes", count, in.left()));
  if (!in.ok()) return ErrorOf(in);
  Cursor inner = in;
  const bool has_section = isolated && version_ >= 2;
  if (has_section) {
    uint8_t id = 0;
    Range contents;
    ASSAY_RETURN_IF_ERROR(ReadSection(in, &id, &contents));
    if (id != kIrSection)
      return BytecodeError(operation->offset,
                           fmt::format("found a section of kind {} for a region, want 4", id));
    inner = Cursor(file_, contents.begin, contents.end);
  }
  std::vector<Value*> outer;
  const size_t outer_next = next_value_, outer_last = last_value_;
  if (isolated) {
    std::swap(outer, values_);
    next_value_ = last_value_ = 0;
  }
  operation->regions = arena_.Array<Region>(static_cast<size_t>(count));
  ++nesting_;
  ++depth_;
  for (Region& region : operation->regions) {
    region.depth = depth_;
    ASSAY_RETURN_IF_ERROR(ReadRegion(inner, &region));
  }
  --depth_;
  --nesting_;
  if (isolated) std::swap(outer, values_);
  next_value_ = outer_next;
  last_value_ = outer_last;
  if (!has_section) {
    in = inner;
  } else if (inner.left() > 0) {
    inner.Fail(fmt::format("found {} bytes behind the regions of '{}'", inner.left(), operation->name));
  }
  return ErrorOf(inner);
}

// blocks, and, if there are any, the number of values that are defined directly in them. The values of a region
// are numbered behind those of the regions around it; siblings start alike.
absl::Status BytecodeReader::ReadRegion(Cursor& in, Region* region) {
  const size_t at = in.offset();
  const uint64_t blocks = in.Varint();
  if (!in.ok() || blocks == 0) return ErrorOf(in);
  if (blocks != 1) return BytecodeError(at, fmt::format("found {} blocks in a region, want 1", blocks));
  const size_t base = values_.size(), outer_next = next_value_, outer_last = last_value_;
  const size_t count = in.Count();
  values_.resize(base + count);
  next_value_ = base;
  last_value_ = base + count;
  bool has_arguments = false;
  const uint64_t operations = in.WithFlag(&has_arguments);
  if (has_arguments) ASSAY_RETURN_IF_ERROR(ReadArguments(in, region));
  if (in.ok() && operations > in.left())
    in.Fail(fmt::format("found {} operations in {} bytes", operations, in.left()));
  if (!in.ok()) return ErrorOf(in);
  const std::span<Operation> nodes = arena_.Array<Operation>(static_cast<size_t>(operations));
  const std::span<Operation*> pointers = arena_.Array<Operation*>(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    pointers[i] = &nodes[i];
    ASSAY_RETURN_IF_ERROR(ReadOperation(in, &nodes[i]));
  }
  region->operations = pointers;
  if (next_value_ != last_value_)
    in.Fail(fmt::format("found {} values in a region, want {}", next_value_ - base, count));
  values_.resize(base);
  next_value_ = outer_next;
  last_value_ = outer_last;
  return ErrorOf(in);
}

absl::Status BytecodeReader::ReadArguments(Cursor& in, Region* region) {
  const size_t count = in.Count();
  region->arguments = tree_->NewValues(count, nullptr, depth_);
  for (Value& argument : region->arguments) {
    bool has_location = true;
    if (version_ >= 4) {
      const uint64_t type = in.WithFlag(&has_location);
      if (in.ok() && type >= types_.size())
        in.Fail(fmt::format("found type {}, want less than {}", type, types_.size()));
      if (!in.ok()) return ErrorOf(in);
      const auto index = static_cast<size_t>(type);
      argument.type = types_[index] != nullptr ? types_[index] : DecodeType(index);
      if (argument.type == nullptr) in.Fail(fmt::format("type {} can't be read", index));
    } else {
      argument.type = TypeAt(in);
    }
    if (has_location) AttributeAt(in);
    if (!in.ok()) return ErrorOf(in);
  }
  if (version_ >= 3 && in.Byte() != 0) SkipUseLists(in, count);
  return Define(in, region->arguments);
}

}  // namespace assay::mlir
