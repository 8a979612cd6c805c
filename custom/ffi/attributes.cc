#include "custom/ffi/attributes.h"

#include <algorithm>
#include <cstring>

#include "custom/ffi/data_types.h"
#include "fmt/format.h"
#include "literal/element_io.h"

namespace assay::custom::ffi {
namespace {

absl::Status NoForm(const std::string& path, std::string_view what) {
  return InvalidProgram({}, fmt::format("attribute '{}' is {}, for which XLA's FFI has no form", path, what));
}

// Numbers that a scalar or an array may hold.
bool IsNumber(ElementType type) {
  if (IsFloat(type)) return type == ElementType::kF32 || type == ElementType::kF64;
  return IsIntegral(type) && Bits(type) >= 8;
}

std::byte* StoreNumber(ElementType type, int64_t integer, double real, std::byte* out) {
  ScalarValue value;
  value.i = integer;
  value.u = static_cast<uint64_t>(integer);
  value.r = real;
  StoreElement(type, value, out);
  return out + Bytes(type);
}

}  // namespace

absl::StatusOr<std::unique_ptr<const CallAttributes>> CallAttributes::Make(
    const ConfigDictionary& dictionary) {
  std::unique_ptr<CallAttributes> attributes(new CallAttributes);
  ASSAY_RETURN_IF_ERROR(attributes->Fill(dictionary, ""));
  return attributes;
}

absl::Status CallAttributes::Fill(const ConfigDictionary& dictionary, const std::string& prefix) {
  std::vector<const ConfigEntry*> sorted;
  for (const auto& field : dictionary) sorted.push_back(&field);
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->first < b->first; });
  for (const auto* const field : sorted) {
    const std::string& name = texts_.emplace_back(field->first);
    name_pointers_.push_back(&spans_.emplace_back(abi::ByteSpan{name.data(), name.size()}));
    ASSAY_RETURN_IF_ERROR(Add(prefix + field->first, field->second));
  }
  view_ = {sizeof(abi::Attributes), nullptr,       static_cast<int64_t>(kinds_.size()), kinds_.data(),
           name_pointers_.data(),   values_.data()};
  return absl::OkStatus();
}

void CallAttributes::AddScalar(ElementType type, const void* value, size_t bytes) {
  std::vector<Block>& block = blocks_.emplace_back(1);
  std::memcpy(block[0].bytes, value, bytes);
  kinds_.push_back(abi::AttributeKind::kScalar);
  values_.push_back(&scalars_.emplace_back(abi::Scalar{*DataTypeOf(type), block[0].bytes}));
}

absl::Status CallAttributes::AddArray(const std::string& path, const ConfigArray& array) {
  if (!IsNumber(array.type)) return NoForm(path, fmt::format("an array of {}", Name(array.type)));
  const size_t size = IsFloat(array.type) ? array.floats.size() : array.ints.size();
  const size_t bytes = size * static_cast<size_t>(Bytes(array.type));
  std::vector<Block>& blocks = blocks_.emplace_back(bytes / sizeof(Block) + 1);
  std::byte* out = blocks[0].bytes;
  for (const int64_t value : array.ints) out = StoreNumber(array.type, value, 0, out);
  for (const double value : array.floats) out = StoreNumber(array.type, 0, value, out);
  kinds_.push_back(abi::AttributeKind::kArray);
  values_.push_back(&arrays_.emplace_back(abi::Array{*DataTypeOf(array.type), size, blocks[0].bytes}));
  return absl::OkStatus();
}

absl::Status CallAttributes::Add(const std::string& path, const ConfigValue& any) {
  if (const bool* const truth = std::get_if<bool>(&any.value)) {
    AddScalar(ElementType::kPred, truth, 1);
  } else if (const ConfigInt* const integer = std::get_if<ConfigInt>(&any.value)) {
    if (!IsNumber(integer->type) && integer->type != ElementType::kPred)
      return NoForm(path, fmt::format("of type {}", Name(integer->type)));
    std::byte bytes[8];
    if (integer->type == ElementType::kPred) {
      bytes[0] = std::byte{integer->value != 0};
    } else {
      StoreNumber(integer->type, integer->value, 0, bytes);
    }
    AddScalar(integer->type, bytes, static_cast<size_t>(Bytes(integer->type)));
  } else if (const ConfigFloat* const number = std::get_if<ConfigFloat>(&any.value)) {
    if (!IsNumber(number->type)) return NoForm(path, fmt::format("of type {}", Name(number->type)));
    std::byte bytes[8];
    StoreNumber(number->type, 0, number->value, bytes);
    AddScalar(number->type, bytes, static_cast<size_t>(Bytes(number->type)));
  } else if (const std::string* const text = std::get_if<std::string>(&any.value)) {
    const std::string& kept = texts_.emplace_back(*text);
    kinds_.push_back(abi::AttributeKind::kString);
    values_.push_back(&spans_.emplace_back(abi::ByteSpan{kept.data(), kept.size()}));
  } else if (const ConfigArray* const array = std::get_if<ConfigArray>(&any.value)) {
    return AddArray(path, *array);
  } else if (const ConfigDictionary* const dictionary = std::get_if<ConfigDictionary>(&any.value)) {
    std::unique_ptr<CallAttributes> inner(new CallAttributes);
    ASSAY_RETURN_IF_ERROR(inner->Fill(*dictionary, path + "."));
    kinds_.push_back(abi::AttributeKind::kDictionary);
    values_.push_back(const_cast<abi::Attributes*>(&inner->view_));
    dictionaries_.push_back(std::move(inner));
  } else {
    return NoForm(path, std::holds_alternative<ConfigType>(any.value) ? "a type" : "a list");
  }
  return absl::OkStatus();
}

}  // namespace assay::custom::ffi
