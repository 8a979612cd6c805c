// Lists of named values: options that come in, attributes that go out.
#ifndef ASSAY_PJRT_PLUGIN_NAMED_VALUES_H_
#define ASSAY_PJRT_PLUGIN_NAMED_VALUES_H_

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "pjrt/plugin/pjrt_api.h"

namespace assay::pjrt {

// Owns what its values point to. A copy would point into the original.
class NamedValues {
 public:
  NamedValues() = default;
  NamedValues(const NamedValues&) = delete;
  NamedValues& operator=(const NamedValues&) = delete;

  void AddInts(std::string name, std::vector<int64_t> value);
  void AddFloat(std::string name, float value);

  const NamedValue* data() const { return values_.data(); }
  size_t size() const { return values_.size(); }

 private:
  NamedValue& Add(std::string name, NamedValueType type, size_t size);

  std::deque<std::string> texts_;
  std::deque<std::vector<int64_t>> lists_;
  std::vector<NamedValue> values_;
};

}  // namespace assay::pjrt

#endif  // ASSAY_PJRT_PLUGIN_NAMED_VALUES_H_
