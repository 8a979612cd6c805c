#include "pjrt/plugin/named_values.h"

#include <utility>

namespace assay::pjrt {

NamedValue& NamedValues::Add(std::string name, NamedValueType type, size_t size) {
  const std::string& kept = texts_.emplace_back(std::move(name));
  NamedValue& value = values_.emplace_back();
  value.struct_size = kSizeOf<NamedValue>;
  value.name = kept.data();
  value.name_size = kept.size();
  value.type = type;
  value.value_size = size;
  return value;
}

void NamedValues::AddInts(std::string name, std::vector<int64_t> value) {
  const std::vector<int64_t>& kept = lists_.emplace_back(std::move(value));
  Add(std::move(name), NamedValueType::kInt64List, kept.size()).int64_array_value = kept.data();
}

void NamedValues::AddFloat(std::string name, float value) {
  Add(std::move(name), NamedValueType::kFloat, 1).float_value = value;
}

}  // namespace assay::pjrt
