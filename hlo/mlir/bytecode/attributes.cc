// Attributes of the builtin dialect and of VHLO in bytecode (docs/spec/stablehlo-bytecode.md sections 3 and
// 4).
#include <algorithm>

#include "base/checked.h"
#include "base/counted.h"
#include "base/limits.h"
#include "fmt/format.h"
#include "hlo/mlir/bytecode/reader.h"
#include "hlo/mlir/quantization.h"
#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay::mlir {

using Kind = Attribute::Kind;

namespace {

// Codes of VHLO.
constexpr uint64_t kVhloString = 14, kVhloTensor = 15, kVhloType = 17;

}  // namespace

void BytecodeReader::FailPart(Cursor& in, const char* what, size_t index) {
  in.Fail(fmt::format("{} {} can't be read", what, index));
}

const Attribute* BytecodeReader::OptionalAttribute(Cursor& in) {
  bool present = false;
  const uint64_t index = in.WithFlag(&present);
  if (!present || !in.ok()) return nullptr;
  if (index >= attributes_.size()) {
    in.Fail(fmt::format("found attribute {}, want less than {}", index, attributes_.size()));
    return nullptr;
  }
  const size_t i = static_cast<size_t>(index);
  const Attribute* const attribute = AttributeOf(i);
  if (attribute == nullptr) FailPart(in, "attribute", i);
  return attribute;
}

// An entry of the table, read when it is first asked for. VHLO's strings, types and tensors, of short
// numbers, need no cursor; all others, and whatever is wrong with one of these,
// are left to DecodeAnyAttribute.
const Attribute* BytecodeReader::DecodeAttribute(size_t index) {
  Entry& entry = attribute_entries_.data()[index];
  const Entry& next = (&entry)[1];
  if (!entry.is_of(Dialect::kVhlo) || entry.is_open || nesting_ >= kMaxNesting) {
    return DecodeAnyAttribute(index);
  }
  ShortNumbers numbers(file_.bytes, entry.begin, next.begin);
  const size_t code = numbers.Next(), first = numbers.Next();
  if (code == kVhloString && first < strings_.size() && numbers.left() == 0) {
    Attribute* const attribute = tree_->NewAttribute(Kind::kString);
    attribute->text = strings_.data()[first];
    return attributes_.data()[index] = attribute;
  }
  if ((code != kVhloTensor && code != kVhloType) || first >= types_.size()) return DecodeAnyAttribute(index);
  entry.is_open = 1;
  ++nesting_;
  const Type* const type = TypeOf(first);
  --nesting_;
  entry.is_open = 0;
  if (type == nullptr) [[unlikely]]
    return nullptr;
  if (code == kVhloTensor) return DecodeTensor(index, numbers, *type);
  if (numbers.left() > 0) return DecodeAnyAttribute(index);
  Attribute* const attribute = tree_->NewAttribute(Kind::kType);
  attribute->type = type;
  attribute->weight = type->weight;
  return attributes_.data()[index] = attribute;
}

// The elements of a tensor of whole bytes: all of them, or one for all.
const Attribute* BytecodeReader::DecodeTensor(size_t index, ShortNumbers numbers, const Type& type) {
  const size_t length = numbers.Next();
  if (length != numbers.left() || type.kind != Type::Kind::kTensor ||
      type.element_type->kind != Type::Kind::kElement) {
    return DecodeAnyAttribute(index);
  }
  const ElementTypeInfo& element = Info(type.element_type->element);
  const bool has_sizes = std::ranges::all_of(type.sizes, [](int64_t size) { return size >= 0; });
  const std::optional<int64_t> count = has_sizes ? CheckedProduct(type.sizes) : std::nullopt;
  const auto bytes = static_cast<size_t>(element.bytes);
  if (type.element_type->element == ElementType::kPred || element.bits < 8 || !count) {
    return DecodeAnyAttribute(index);
  }
  const bool is_splat = length == bytes && *count >= 1;
  const bool is_whole =
      static_cast<uint64_t>(*count) <= length && static_cast<size_t>(*count) * bytes == length;
  if (!is_splat && !is_whole) return DecodeAnyAttribute(index);
  Attribute* const attribute = tree_->NewAttribute(Kind::kDense);
  attribute->type = &type;
  attribute->weight = type.weight;
  attribute->is_splat = is_splat;
  attribute->data = std::as_bytes(std::span(numbers.at(), length));
  return attributes_.data()[index] = attribute;
}

// Dialects that we don't know give opaque values.
const Attribute* BytecodeReader::DecodeAnyAttribute(size_t index) {
  Entry& entry = attribute_entries_[index];
  Cursor in(file_, entry.begin, attribute_entries_[index + 1].begin);
  Attribute* const attribute = tree_->NewAttribute(Kind::kOpaque);
  if (entry.is_of(Dialect::kOther) || entry.is_of(Dialect::kStableHlo)) {
    attribute->text = "an attribute of another dialect";
    return attributes_[index] = attribute;
  }
  if (entry.is_open || nesting_ >= kMaxNesting) {
    NoteError(entry.is_open ? BytecodeError(entry.begin, fmt::format("attribute {} contains itself", index))
                            : ProgramLimitExceeded({}, "nesting", nesting_ + 1, kMaxNesting));
    return nullptr;
  }
  entry.is_open = 1;
  ++nesting_;
  const uint64_t code = in.Varint();
  if (in.ok()) {
    if (entry.is_of(Dialect::kSdy)) {
      ReadShardingAttribute(in, code, attribute);
    } else {
      entry.is_of(Dialect::kBuiltin) ? ReadBuiltinAttribute(in, code, attribute)
                                     : ReadVhloAttribute(in, code, attribute);
    }
  }
  if (in.ok() && !Tree::Weigh(attribute)) in.Fail(fmt::format("attribute {} has too many parts", index));
  if (in.ok() && in.left() > 0) FailBehind(in, "attribute", index, code);
  --nesting_;
  entry.is_open = 0;
  if (!in.ok()) {
    NoteError(in.status());
    return nullptr;
  }
  return attributes_[index] = attribute;
}

void BytecodeReader::FailBehind(Cursor& in, const char* what, size_t index, uint64_t code) {
  in.Fail(fmt::format("found {} behind {} {} of code {}", Counted(in.left(), "byte"), what, index, code));
}

void BytecodeReader::NoteError(absl::Status status) {
  if (first_error_.ok()) first_error_ = std::move(status);
}

absl::Status BytecodeReader::ErrorOf(const Cursor& in) const {
  return in.ok() || first_error_.ok() ? in.status() : first_error_;
}

void BytecodeReader::ReadBuiltinAttribute(Cursor& in, uint64_t code, Attribute* attribute) {
  switch (code) {
    case 0:
      return ReadArray(in, attribute);
    case 1:
      return ReadDictionary(in, attribute);
    case 2:
    case 3:
      attribute->kind = Kind::kString;
      attribute->text = String(in);
      if (code == 3) TypeAt(in);
      return;
    case 4:
    case 5:
      attribute->kind = Kind::kSymbol;
      if (const Attribute* name = AttributeAt(in); name != nullptr) attribute->text = name->text;
      if (code == 5) ReadArray(in, attribute);
      attribute->kind = Kind::kSymbol;
      return;
    case 6:
      attribute->kind = Kind::kType;
      attribute->type = TypeAt(in);
      return;
    case 7:
      attribute->kind = Kind::kUnit;
      return;
    case 8:
      return ReadInteger(in, attribute);
    case 9:
      return ReadFloat(in, attribute);
    case 17: {  // dense array: element type, count, bytes
      TypeAt(in);
      in.Varint();
      in.Blob();
      return;
    }
    default:
      break;
  }
  if (IsLocation(code)) {
    Location* const location = tree_->NewLocation();
    ReadLocation(in, code, location);
    attribute->kind = Kind::kLocation;
    attribute->location = location;
    attribute->text = location->name;
    return;
  }
  if (code == 16 || (code >= 18 && code <= 21)) {
    in.Bytes(in.left());  // resources and tensors of the builtin dialect: no value that VHLO uses
    return;
  }
  in.Fail(fmt::format("unsupported builtin attribute code {}", code));
}

void BytecodeReader::ReadVhloAttribute(Cursor& in, uint64_t code, Attribute* attribute) {
  switch (code) {
    case 1:
      return ReadArray(in, attribute);
    case 2:
      attribute->kind = Kind::kBool;
      attribute->integer = in.Varint() != 0 ? 1 : 0;
      return;
    case 3:
      return ReadEnum(in, 0, {"EQ", "NE", "GE", "GT", "LE", "LT"}, attribute);
    case 4:
      return ReadEnum(in, 0, {"NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"}, attribute);
    case 5:
      attribute->kind = Kind::kInteger;
      attribute->integer = static_cast<int64_t>(in.Varint());
      return;
    case 6:
      return ReadDictionary(in, attribute);
    case 7:
      return ReadEnum(in, 0, {"FFT", "IFFT", "RFFT", "IRFFT"}, attribute);
    case 8:
      return ReadFloat(in, attribute);
    case 9:
      return ReadInteger(in, attribute);
    case 10:
      return ReadAlias(in, attribute);
    case 11:
      return ReadEnum(in, 0, {"DEFAULT", "HIGH", "HIGHEST"}, attribute);
    case 12:
      return ReadEnum(in, 0, {"DEFAULT", "THREE_FRY", "PHILOX"}, attribute);
    case 13:
      return ReadEnum(in, 1, {"UNIFORM", "NORMAL"}, attribute);
    case kVhloString:
      attribute->kind = Kind::kString;
      attribute->text = String(in);
      return;
    case kVhloTensor:
      return ReadTensor(in, attribute);
    case 16:
      return ReadEnum(in, 0, {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}, attribute);
    case kVhloType:
      attribute->kind = Kind::kType;
      attribute->type = TypeAt(in);
      return;
    case 18:
      attribute->kind = Kind::kStruct;
      attribute->text = "bounds";
      attribute->integers = ReadSignedList(in);
      return;
    case 19:
      return ReadEnum(in, 0, {"DEFAULT", "HIGHEST", "TOLERANCE"}, attribute);
    case 20:
      return ReadAccuracy(in, attribute);
    default:
      break;
  }
  if (code >= 21 && code <= 25) {
    attribute->text = "axes of a mesh";
    in.Bytes(in.left());
    return;
  }
  in.Fail(fmt::format("unsupported VHLO attribute code {}, in a file of {}", code, producer_));
}

void BytecodeReader::ReadEnum(Cursor& in, uint64_t first, std::initializer_list<std::string_view> words,
                              Attribute* attribute) {
  const uint64_t value = in.Varint();
  attribute->kind = Kind::kWord;
  if (value < first || value - first >= words.size()) {
    return in.Fail(fmt::format("found value {} of an enumeration, want {} to {}", value, first,
                               first + words.size() - 1));
  }
  attribute->text = words.begin()[value - first];
}

void BytecodeReader::ReadArray(Cursor& in, Attribute* attribute) {
  attribute->kind = Kind::kArray;
  const std::span<const Attribute*> elements = arena_.Uninitialized<const Attribute*>(in.Count());
  for (const Attribute*& element : elements) {
    element = AttributeAt(in);
    if (!in.ok()) return;
  }
  attribute->elements = elements;
}

void BytecodeReader::ReadDictionary(Cursor& in, Attribute* attribute) {
  attribute->kind = Kind::kDictionary;
  const std::span<NamedAttribute> fields = arena_.Array<NamedAttribute>(in.Count());
  for (NamedAttribute& field : fields) {
    const Attribute* const name = AttributeAt(in);
    field.value = AttributeAt(in);
    if (!in.ok()) return;
    if (name->kind != Kind::kString) return in.Fail("found a name in a dictionary that is not a string");
    field.name = name->text;
  }
  attribute->fields = fields;
}

std::span<const int64_t> BytecodeReader::ReadSignedList(Cursor& in) {
  const std::span<int64_t> values = arena_.Array<int64_t>(in.Count());
  for (int64_t& value : values) value = in.Signed();
  return values;
}

// Up to 8 bits are a byte, up to 64 the zigzag of the value without its sign.
uint64_t BytecodeReader::ReadApInt(Cursor& in, int bits) {
  const uint64_t value = bits <= 8 ? in.Byte() : static_cast<uint64_t>(in.Signed());
  return bits >= 64 ? value : value & ((uint64_t{1} << bits) - 1);
}

double BytecodeReader::ReadApFloat(Cursor& in, ElementType type) {
  return DecodeFloat(ReadApInt(in, Bits(type)), *Info(type).format);
}

void BytecodeReader::ReadInteger(Cursor& in, Attribute* attribute) {
  attribute->kind = Kind::kInteger;
  attribute->type = TypeAt(in);
  if (!in.ok()) return;
  if (attribute->type->kind == Type::Kind::kIndex) {
    attribute->integer = static_cast<int64_t>(ReadApInt(in, 64));
    return;
  }
  const ElementType element = attribute->type->element;
  if (attribute->type->kind != Type::Kind::kElement || IsFloat(element) || IsComplex(element)) {
    return in.Fail(fmt::format("found an integer of type {}", ToString(*attribute->type)));
  }
  const uint64_t raw = ReadApInt(in, Bits(element));
  if (element == ElementType::kPred) attribute->kind = Kind::kBool;
  attribute->integer = IsSignedIntegral(element) ? WrapSigned(static_cast<int64_t>(raw), Bits(element))
                                                 : static_cast<int64_t>(raw);
}

void BytecodeReader::ReadFloat(Cursor& in, Attribute* attribute) {
  attribute->kind = Kind::kFloat;
  attribute->type = TypeAt(in);
  if (!in.ok()) return;
  if (attribute->type->kind != Type::Kind::kElement || !IsFloat(attribute->type->element)) {
    return in.Fail(fmt::format("found a number of type {}", ToString(*attribute->type)));
  }
  attribute->real = ReadApFloat(in, attribute->type->element);
}

const Attribute* BytecodeReader::Integer(int64_t value) {
  Attribute* const attribute = tree_->NewAttribute(Kind::kInteger);
  attribute->integer = value;
  return attribute;
}

const Attribute* BytecodeReader::Float(double value) {
  Attribute* const attribute = tree_->NewAttribute(Kind::kFloat);
  attribute->real = value;
  return attribute;
}

const Attribute* BytecodeReader::Integers(std::span<const int64_t> values) {
  Attribute* const attribute = tree_->NewAttribute(Kind::kIntegers);
  attribute->integers = values;
  return attribute;
}

void BytecodeReader::ReadAlias(Cursor& in, Attribute* attribute) {
  attribute->kind = Kind::kStruct;
  attribute->text = "output_operand_alias";
  std::vector<NamedAttribute> fields(3);
  fields[0] = {"output_tuple_indices", Integers(ReadSignedList(in))};
  fields[1] = {"operand_index", Integer(in.Signed())};
  fields[2] = {"operand_tuple_indices", Integers(ReadSignedList(in))};
  attribute->fields = arena_.Copy(fields);
}

void BytecodeReader::ReadAccuracy(Cursor& in, Attribute* attribute) {
  attribute->kind = Kind::kStruct;
  attribute->text = "result_accuracy";
  std::vector<NamedAttribute> fields(4);
  fields[0] = {"atol", Float(ReadApFloat(in, ElementType::kF64))};
  fields[1] = {"rtol", Float(ReadApFloat(in, ElementType::kF64))};
  fields[2] = {"ulps", Integer(in.Signed())};
  fields[3] = {"mode", AttributeAt(in)};
  if (in.ok()) attribute->fields = arena_.Copy(fields);
}

// type, bytes: elements in row-major order, or one of them for all.
void BytecodeReader::ReadTensor(Cursor& in, Attribute* attribute) {
  attribute->kind = Kind::kDense;
  attribute->type = TypeAt(in);
  const std::string_view blob = in.Blob();
  if (!in.ok()) return;
  const Type& type = *attribute->type;
  if (type.kind != Type::Kind::kTensor)
    return in.Fail(fmt::format("found elements of type {}", ToString(type)));
  const std::optional<int64_t> count = CheckedProduct(type.sizes);
  if (std::any_of(type.sizes.begin(), type.sizes.end(), [](int64_t size) { return size < 0; }) || !count) {
    return in.Fail(fmt::format("found elements of type {}, want a static shape", ToString(type)));
  }
  if (type.element_type->kind == Type::Kind::kUnsupported) {
    attribute->data = std::as_bytes(std::span(blob));
    return;
  }
  const bool is_index = type.element_type->kind == Type::Kind::kIndex;
  const bool is_quantized = type.element_type->kind == Type::Kind::kQuantized;
  const ElementType element = is_index       ? ElementType::kS64
                              : is_quantized ? type.element_type->quantization->storage
                                             : type.element_type->element;
  if (element == ElementType::kPred) return ReadPredTensor(in, blob, *count, attribute);
  const auto bytes = static_cast<size_t>(Bytes(element));
  const std::optional<int64_t> wanted = CheckedMul(*count, static_cast<int64_t>(bytes));
  if (*count == 0 && blob.size() == bytes) return;  // one for all of no elements
  attribute->is_splat = blob.size() == bytes && *count >= 1;
  if (!attribute->is_splat && (!wanted || static_cast<int64_t>(blob.size()) != *wanted)) {
    return in.Fail(
        fmt::format("found {} of elements for type {}", Counted(blob.size(), "byte"), ToString(type)));
  }
  attribute->data = std::as_bytes(std::span(blob));
  if (Bits(element) >= 8 || blob.empty()) return;
  const std::span<std::byte> copy = arena_.Array<std::byte>(blob.size());
  std::memcpy(copy.data(), blob.data(), blob.size());
  NormalizeElements(element, copy);
  attribute->data = copy;
}

// 0xff alone: all true. ceil(n / 8) bytes: a bit each. One byte: all equal. n bytes: a byte each.
void BytecodeReader::ReadPredTensor(Cursor& in, std::string_view blob, int64_t count, Attribute* attribute) {
  const auto length = static_cast<int64_t>(blob.size());
  if (count == 0 && length == 1) return;  // one for all of no elements
  const auto byte = [&](int64_t i) { return static_cast<uint8_t>(blob[static_cast<size_t>(i)]); };
  const bool all_true = length == 1 && byte(0) == 0xff && count >= 1;
  const bool is_packed = !all_true && length == CeilDiv(count, 8) && length != count;
  attribute->is_splat = all_true || (!is_packed && length == 1 && count >= 1);
  if (!attribute->is_splat && !is_packed && length != count) {
    return in.Fail(
        fmt::format("found {} of elements for type {}", Counted(length, "byte"), ToString(*attribute->type)));
  }
  const std::span<std::byte> elements =
      arena_.Array<std::byte>(static_cast<size_t>(attribute->is_splat ? 1 : count));
  for (size_t i = 0; i < elements.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    elements[i] = std::byte{is_packed ? (byte(at / 8) >> (at % 8) & 1) != 0 : byte(at) != 0};
  }
  attribute->data = elements;
}

}  // namespace assay::mlir
