// The generic MLIR tree: its memory, types as text, and which values each region takes from outside.
#include "hlo/mlir/ir.h"

#include <algorithm>

#include "base/hash_map.h"
#include "fmt/format.h"
#include "hlo/mlir/quantization.h"
#include "literal/element_io.h"

namespace assay::mlir {
namespace {

std::string Join(std::span<const Type* const> types) {
  std::string text;
  for (const Type* type : types) text += (text.empty() ? "" : ", ") + ToString(*type);
  return text;
}

bool SameTypes(std::span<const Type* const> a, std::span<const Type* const> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Type* x, const Type* y) { return SameType(*x, *y); });
}

std::string TensorText(const Type& type) {
  std::string text = "tensor<";
  for (int64_t size : type.sizes) text += size == kDynamicSize ? "?x" : fmt::format("{}x", size);
  text += ToString(*type.element_type);
  if (!type.bounds.empty()) {
    text += ", #stablehlo.bounds<";
    for (size_t i = 0; i < type.bounds.size(); ++i) {
      text += i == 0 ? "" : ", ";
      text += type.bounds[i] == kDynamicSize ? "?" : fmt::format("{}", type.bounds[i]);
    }
    text += '>';
  }
  return text + '>';
}

}  // namespace

bool SameType(const Type& a, const Type& b) {
  if (&a == &b) return true;
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Type::Kind::kElement:
      return a.element == b.element;
    case Type::Kind::kTensor:
      return SameType(*a.element_type, *b.element_type) && std::ranges::equal(a.sizes, b.sizes) &&
             std::ranges::equal(a.bounds, b.bounds);
    case Type::Kind::kTuple:
    case Type::Kind::kFunction:
      return SameTypes(a.inputs, b.inputs) && SameTypes(a.results, b.results);
    case Type::Kind::kQuantized:
      return SameQuantization(*a.quantization, *b.quantization);
    case Type::Kind::kUnsupported:
      return a.text == b.text;
    default:
      return true;
  }
}

std::string ToString(const Type& type) {
  switch (type.kind) {
    case Type::Kind::kElement:
      return ElementName(type.element);
    case Type::Kind::kIndex:
      return "index";
    case Type::Kind::kNone:
      return "none";
    case Type::Kind::kTensor:
      return TensorText(type);
    case Type::Kind::kToken:
      return "!stablehlo.token";
    case Type::Kind::kTuple:
      return fmt::format("tuple<{}>", Join(type.inputs));
    case Type::Kind::kFunction:
      return fmt::format("({}) -> ({})", Join(type.inputs), Join(type.results));
    case Type::Kind::kQuantized:
      return ToString(*type.quantization);
    case Type::Kind::kUnsupported:
      return std::string(type.text);
  }
  return {};
}

const Attribute* Find(std::span<const NamedAttribute> fields, std::string_view name) {
  for (const NamedAttribute& field : fields) {
    if (field.name == name) return field.value;
  }
  return nullptr;
}

// Clear() writes each field: one more is one more line there.
static_assert(sizeof(Type) == 112 && sizeof(Attribute) == 120 && sizeof(Operation) == 112);
static_assert(alignof(Type) == 8 && alignof(Attribute) == 8 && alignof(Location) == 8 && alignof(Value) == 8);

void* Tree::NodeFromArena(size_t bytes) {
  constexpr size_t kChunk = 2048;
  if (bytes > kChunk / 4) return arena_.Take(bytes, alignof(void*));
  nodes_ = static_cast<std::byte*>(arena_.Take(kChunk, alignof(void*)));
  nodes_end_ = nodes_ + kChunk;
  return Node(bytes);
}

Type* Tree::NewType(Type::Kind kind) {
  auto* const type = static_cast<Type*>(Node(sizeof(Type)));
  Clear(type);
  type->kind = kind;
  type->id = num_types_++;
  return type;
}

bool Tree::Weigh(Type* type) {
  int64_t weight = 1;
  for (const Type* part : type->inputs) weight += part->weight;
  for (const Type* part : type->results) weight += part->weight;
  type->weight = static_cast<int32_t>(std::min<int64_t>(weight, kMaxWeight));
  return weight < kMaxWeight;
}

bool Tree::Weigh(Attribute* attribute) {
  int64_t weight = attribute->type == nullptr ? 1 : attribute->type->weight;
  for (const Attribute* part : attribute->elements) {
    weight += part->weight;
    attribute->is_open |= part->is_open;
  }
  for (const NamedAttribute& part : attribute->fields) {
    weight += part.value->weight;
    attribute->is_open |= part.value->is_open;
  }
  attribute->weight = static_cast<int32_t>(std::min<int64_t>(weight, kMaxWeight));
  return weight < kMaxWeight;
}

absl::Status Tree::WithPlace(const absl::Status& status, const Operation& operation) const {
  if (status.ok() || PositionOf(status)) return status;
  if (is_text_) return WithPosition(status, operation.position);
  return WithPrefix(status, fmt::format("byte {}", operation.offset));
}

void NormalizeElements(ElementType type, std::span<std::byte> elements) {
  if (Bits(type) >= 8) return;
  for (std::byte& element : elements) {
    const auto raw = std::to_integer<uint64_t>(element);
    if (type == ElementType::kPred) {
      element = std::byte{raw != 0};
    } else if (IsSignedIntegral(type)) {
      ScalarValue value;
      value.kind = ComputeKind::kInt64;
      value.i = WrapSigned(static_cast<int64_t>(raw), Bits(type));
      StoreElement(type, value, &element);
    } else {
      element = static_cast<std::byte>(raw & ((1u << Bits(type)) - 1));
    }
  }
}

// captures(R) = the values of smaller depth among the operands in R and the captures of the regions in R. A
// region is complete before its operation's end, so the recursion goes down and fills on the way up.
void FillCaptures(Tree& tree, Region& region) {
  std::vector<Value*> captures;
  HashSet<const Value*> seen;
  const auto use = [&](Value* value) {
    if (value->depth < region.depth && seen.insert(value).second) captures.push_back(value);
  };
  for (Operation* operation : region.operations) {
    for (Value* operand : operation->operands) use(operand);
    for (Region& nested : operation->regions) {
      FillCaptures(tree, nested);
      for (Value* captured : nested.captures) use(captured);
    }
  }
  region.captures = tree.arena().Copy(captures);
}

}  // namespace assay::mlir
