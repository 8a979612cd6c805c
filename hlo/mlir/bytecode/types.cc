// Types of the builtin dialect and of VHLO in bytecode (docs/spec/stablehlo-bytecode.md sections 3 and 5).
#include "base/counted.h"
#include "base/limits.h"
#include "fmt/format.h"
#include "hlo/mlir/bytecode/reader.h"
#include "hlo/mlir/quantization.h"

namespace assay::mlir {
namespace {

// Element types by VHLO type code; kU1, which no program has, stands for "not an element type".
constexpr ElementType kNo = ElementType::kU1;
constexpr ElementType kVhloElements[] = {ElementType::kPred,
                                         kNo,
                                         ElementType::kBF16,
                                         ElementType::kF16,
                                         ElementType::kF32,
                                         ElementType::kF64,
                                         ElementType::kF8E4M3FN,
                                         ElementType::kF8E5M2,
                                         kNo,
                                         kNo,
                                         ElementType::kS4,
                                         ElementType::kS8,
                                         ElementType::kS16,
                                         ElementType::kS32,
                                         ElementType::kS64,
                                         ElementType::kU4,
                                         ElementType::kU8,
                                         ElementType::kU16,
                                         ElementType::kU32,
                                         ElementType::kU64,
                                         kNo,
                                         kNo,
                                         kNo,
                                         kNo,
                                         kNo,
                                         kNo,
                                         kNo,
                                         ElementType::kF8E4M3FNUZ,
                                         ElementType::kF8E5M2FNUZ,
                                         ElementType::kF8E4M3B11FNUZ,
                                         kNo,
                                         ElementType::kS2,
                                         ElementType::kU2,
                                         kNo,
                                         kNo,
                                         ElementType::kF8E4M3,
                                         ElementType::kF8E3M4,
                                         ElementType::kF4E2M1FN,
                                         ElementType::kF6E2M3FN,
                                         ElementType::kF6E3M2FN,
                                         ElementType::kF8E8M0FNU};

// A complex type is made of its component's; s1 and u1 are the types that StableHLO lacks.
consteval bool HasEveryElement() {
  for (int t = 0; t < kNumElementTypes; ++t) {
    const auto type = static_cast<ElementType>(t);
    bool has = kComplexTypes.Has(type) || type == ElementType::kS1 || type == ElementType::kU1;
    for (const ElementType element : kVhloElements) has |= element == type;
    if (!has) return false;
  }
  return true;
}
static_assert(HasEveryElement());

// A signless or signed integer is signed; i1 is pred.
ElementType IntegerOfWidth(uint64_t bits, bool is_unsigned) {
  using enum ElementType;
  switch (bits) {
    case 1:
      return is_unsigned ? kNo : kPred;
    case 2:
      return is_unsigned ? kU2 : kS2;
    case 4:
      return is_unsigned ? kU4 : kS4;
    case 8:
      return is_unsigned ? kU8 : kS8;
    case 16:
      return is_unsigned ? kU16 : kS16;
    case 32:
      return is_unsigned ? kU32 : kS32;
    case 64:
      return is_unsigned ? kU64 : kS64;
    default:
      return kNo;
  }
}

constexpr uint64_t kVhloTensorType = 20;
constexpr size_t kMaxShortRank = 8;
static_assert(kMaxShortRank <= kMaxRank);

bool MayBeElement(const Type& type) {
  return type.kind == Type::Kind::kElement || type.kind == Type::Kind::kIndex ||
         type.kind == Type::Kind::kQuantized || type.kind == Type::Kind::kUnsupported;
}

void SetElement(ElementType element, Type* type) {
  type->kind = Type::Kind::kElement;
  type->element = element;
}

void SetComplex(Cursor& in, const Type* component, Type* type) {
  if (!in.ok()) return;
  if (component->kind == Type::Kind::kElement && component->element == ElementType::kF32) {
    return SetElement(ElementType::kC64, type);
  }
  if (component->kind == Type::Kind::kElement && component->element == ElementType::kF64) {
    return SetElement(ElementType::kC128, type);
  }
  in.Fail(fmt::format("found complex<{}>, want f32 or f64", ToString(*component)));
}

}  // namespace

// VHLO's tensors of static sizes, of short numbers, need no cursor; all others, and whatever is wrong with
// one of these, are left to DecodeAnyType.
const Type* BytecodeReader::DecodeType(size_t index) {
  Entry& entry = type_entries_.data()[index];
  const Entry& next = (&entry)[1];
  if (!entry.is_of(Dialect::kVhlo) || entry.is_open || nesting_ >= kMaxNesting) return DecodeAnyType(index);
  ShortNumbers numbers(file_.bytes, entry.begin, next.begin);
  const size_t code = numbers.Next(), rank = numbers.Next();
  if (code != kVhloTensorType || rank > kMaxShortRank) return DecodeAnyType(index);
  int64_t sizes[kMaxShortRank];
  for (size_t i = 0; i < rank; ++i) {
    const size_t number = numbers.Next();
    if ((number & 1) != 0) return DecodeAnyType(index);  // negative, or none
    sizes[i] = static_cast<int64_t>(number >> 1);
  }
  const size_t element = numbers.Next();
  if (element >= types_.size() || numbers.left() > 0) return DecodeAnyType(index);
  Type* const type = tree_->NewType(Type::Kind::kTensor);
  entry.is_open = 1;
  ++nesting_;
  type->element_type = TypeOf(element);
  --nesting_;
  entry.is_open = 0;
  if (type->element_type == nullptr) [[unlikely]]
    return nullptr;
  if (!MayBeElement(*type->element_type) || type->element_type->kind == Type::Kind::kQuantized) [[unlikely]]
    return DecodeAnyType(index);
  if (rank > 0) {
    void* const memory = tree_->Node(rank * sizeof(int64_t));
    std::memcpy(memory, sizes, rank * sizeof(int64_t));
    type->sizes = {static_cast<const int64_t*>(memory), rank};
  }
  return types_.data()[index] = type;
}

const Type* BytecodeReader::DecodeAnyType(size_t index) {
  Entry& entry = type_entries_[index];
  Cursor in(file_, entry.begin, type_entries_[index + 1].begin);
  Type* const type = tree_->NewType(Type::Kind::kUnsupported);
  // StableHLO's own type stands in the bodies of Shardy's regions, which have no portable form.
  const bool is_stablehlo_token = entry.is_of(Dialect::kStableHlo) && in.left() == 1 && in.Varint() == 0;
  if (is_stablehlo_token) {
    type->kind = Type::Kind::kToken;
    return types_[index] = type;
  }
  if (entry.is_of(Dialect::kOther) || entry.is_of(Dialect::kSdy) || entry.is_of(Dialect::kStableHlo)) {
    type->text = "of another dialect";
    return types_[index] = type;
  }
  if (entry.is_open || nesting_ >= kMaxNesting) {
    NoteError(entry.is_open ? BytecodeError(entry.begin, fmt::format("type {} contains itself", index))
                            : ProgramLimitExceeded({}, "nesting", nesting_ + 1, kMaxNesting));
    return nullptr;
  }
  entry.is_open = 1;
  ++nesting_;
  const uint64_t code = in.Varint();
  if (in.ok())
    entry.is_of(Dialect::kBuiltin) ? ReadBuiltinType(in, code, type) : ReadVhloType(in, code, type);
  if (in.ok() && !Tree::Weigh(type)) in.Fail(fmt::format("type {} has too many parts", index));
  if (in.ok() && in.left() > 0) FailBehind(in, "type", index, code);
  --nesting_;
  entry.is_open = 0;
  if (!in.ok()) {
    NoteError(in.status());
    return nullptr;
  }
  return types_[index] = type;
}

// Builtin types 22 to 32, which MLIR has beside VHLO's: the bodies of Shardy's regions have them.
constexpr uint64_t kFirstSmallFloat = 22;
constexpr ElementType kSmallFloats[] = {
    ElementType::kF8E5M2,     ElementType::kF8E4M3,        ElementType::kF8E4M3FN, ElementType::kF8E5M2FNUZ,
    ElementType::kF8E4M3FNUZ, ElementType::kF8E4M3B11FNUZ, ElementType::kF8E3M4,   ElementType::kF4E2M1FN,
    ElementType::kF6E2M3FN,   ElementType::kF6E3M2FN,      ElementType::kF8E8M0FNU};

void BytecodeReader::ReadBuiltinType(Cursor& in, uint64_t code, Type* type) {
  if (code >= kFirstSmallFloat && code - kFirstSmallFloat < std::size(kSmallFloats))
    return SetElement(kSmallFloats[code - kFirstSmallFloat], type);
  switch (code) {
    case 0: {
      const uint64_t value = in.Varint();
      const ElementType element = IntegerOfWidth(value >> 2, (value & 3) == 2);
      if (element != kNo) return SetElement(element, type);
      type->text = arena_.Copy(fmt::format("i{}", value >> 2));
      return;
    }
    case 1:
      type->kind = Type::Kind::kIndex;
      return;
    case 2:
      type->kind = Type::Kind::kFunction;
      type->inputs = ReadTypeList(in);
      type->results = ReadTypeList(in);
      return;
    case 3:
      return SetElement(ElementType::kBF16, type);
    case 4:
      return SetElement(ElementType::kF16, type);
    case 5:
      return SetElement(ElementType::kF32, type);
    case 6:
      return SetElement(ElementType::kF64, type);
    case 9:
      return SetComplex(in, TypeAt(in), type);
    case 12:
      type->kind = Type::Kind::kNone;
      return;
    case 13:
    case 14:
      return ReadTensorType(in, code == 14, type);
    case 15:
      type->kind = Type::Kind::kTuple;
      type->inputs = ReadTypeList(in);
      return;
    default:
      in.Fail(fmt::format("unsupported builtin type code {}", code));
  }
}

void BytecodeReader::ReadVhloType(Cursor& in, uint64_t code, Type* type) {
  if (code < std::size(kVhloElements) && kVhloElements[code] != kNo)
    return SetElement(kVhloElements[code], type);
  switch (code) {
    case 1:
      return SetComplex(in, TypeAt(in), type);
    case 8:
      type->kind = Type::Kind::kFunction;
      type->inputs = ReadTypeList(in);
      type->results = ReadTypeList(in);
      return;
    case 9:
      type->kind = Type::Kind::kIndex;
      return;
    case kVhloTensorType:
    case 21:
      return ReadTensorType(in, code == 21, type);
    case 22:
      type->kind = Type::Kind::kToken;
      return;
    case 23:
      type->kind = Type::Kind::kTuple;
      type->inputs = ReadTypeList(in);
      return;
    case 24:
    case 30:
      return ReadQuantizedType(in, code == 30, type);
    case 25:
      type->text = "tensor<*>";
      TypeAt(in);
      return;
    case 26:
      type->text = "witness";
      return;
    case 33:
      type->kind = Type::Kind::kNone;
      return;
    case 34:
      type->text = "tf32";
      return;
    case 41:
      type->text = "buffer";
      in.Bytes(in.left());
      return;
    case 42:
      type->text = "!stablehlo.future";
      in.Bytes(in.left());
      return;
    default:
      in.Fail(fmt::format("unsupported VHLO type code {}, in a file of {}", code, producer_));
  }
}

// [encoding], sizes, element type
void BytecodeReader::ReadTensorType(Cursor& in, bool has_encoding, Type* type) {
  const Attribute* const encoding = has_encoding ? AttributeAt(in) : nullptr;
  type->kind = Type::Kind::kTensor;
  type->sizes = ReadSignedList(in);
  type->element_type = TypeAt(in);
  if (!in.ok()) return;
  if (type->sizes.size() > kMaxRank) {
    return in.Fail(fmt::format("found rank {}, want at most {}", type->sizes.size(), kMaxRank));
  }
  for (int64_t size : type->sizes) {
    if (size < 0 && size != kDynamicSize) return in.Fail(fmt::format("found a dimension of size {}", size));
    tree_->has_free_sizes |= size == kDynamicSize;
  }
  if (!MayBeElement(*type->element_type)) {
    return in.Fail(fmt::format("found a tensor of {}", ToString(*type->element_type)));
  }
  if (type->element_type->kind == Type::Kind::kQuantized) {
    const absl::Status axis = CheckAxis(*type->element_type->quantization, type->sizes);
    if (!axis.ok()) return in.Fail(std::string(axis.message()));
  }
  if (encoding == nullptr || encoding->kind != Attribute::Kind::kStruct || encoding->text != "bounds") return;
  if (encoding->integers.size() != type->sizes.size()) {
    return in.Fail(fmt::format("found {} for {}", Counted(encoding->integers.size(), "bound"),
                               Counted(type->sizes.size(), "dimension")));
  }
  type->bounds = encoding->integers;
}

// flags, storage type, expressed type, [axis], then of one scale and zero point: scale, zero point, smallest
// and largest storage; of several: smallest and largest storage, scales, zero points. What Assay does not do
// becomes a type that says so where it is used.
void BytecodeReader::ReadQuantizedType(Cursor& in, bool per_axis, Type* type) {
  Quantization* const read = arena_.New<Quantization>();
  const uint64_t flags = in.Varint();
  const Type* const storage = TypeAt(in);
  const Type* const expressed = TypeAt(in);
  if (!in.ok()) return;
  const auto element = [&](const Type& of) { return of.kind == Type::Kind::kElement; };
  if (!element(*storage)) return in.Fail(fmt::format("QUANT-2: found storage type {}", ToString(*storage)));
  if (!element(*expressed))
    return in.Fail(fmt::format("QUANT-4: found expressed type {}", ToString(*expressed)));
  read->storage = storage->element;
  read->expressed = expressed->element;
  if (flags > 1 || (flags == 1 && IsUnsignedIntegral(read->storage))) {
    return in.Fail(fmt::format("QUANT-14: found flags {} of storage type {}", flags, ToString(*storage)));
  }
  if (flags == 0 && IsSignedIntegral(read->storage))
    read->storage = IntegerOfWidth(Bits(read->storage), true);
  if (per_axis) read->axis = static_cast<int64_t>(in.Varint());
  std::vector<double> scales;
  std::vector<int64_t> zero_points;
  const auto read_range = [&] {
    read->storage_min = in.Signed();
    read->storage_max = in.Signed();
  };
  if (per_axis) {
    read_range();
    scales.resize(in.Count());
    for (double& scale : scales) scale = ReadApFloat(in, ElementType::kF64);
    zero_points.resize(in.Count());
    for (int64_t& zero_point : zero_points) zero_point = in.Signed();
  } else {
    scales.push_back(ReadApFloat(in, ElementType::kF64));
    zero_points.push_back(in.Signed());
    read_range();
  }
  if (!in.ok()) return;
  if (read->axis < 0 && per_axis) return in.Fail("QUANT-8: the axis does not fit in 63 bits");
  read->scales = arena_.Copy(scales);
  read->zero_points = arena_.Copy(zero_points);
  absl::Status legal = CheckStorage(read->storage);
  if (legal.ok()) legal = CheckExpressed(read->expressed);
  if (absl::IsUnimplemented(legal)) {
    type->text = arena_.Copy(fmt::format("!quant.uniform<{}:{}> ({})", ToString(*storage),
                                         ToString(*expressed), std::string(legal.message())));
    return;
  }
  if (legal.ok()) legal = CheckQuantization(*read);
  if (!legal.ok()) return in.Fail(std::string(legal.message()));
  type->kind = Type::Kind::kQuantized;
  type->quantization = read;
  tree_->has_quantized = true;
}

std::span<const Type* const> BytecodeReader::ReadTypeList(Cursor& in) {
  const std::span<const Type*> types = arena_.Uninitialized<const Type*>(in.Count());
  for (const Type*& type : types) {
    type = TypeAt(in);
    if (!in.ok()) return {};
  }
  return types;
}

}  // namespace assay::mlir
