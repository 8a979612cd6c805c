// A call's attributes as handlers are given them.
#ifndef ASSAY_CUSTOM_FFI_ATTRIBUTES_H_
#define ASSAY_CUSTOM_FFI_ATTRIBUTES_H_

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "custom/config_dictionary.h"
#include "custom/ffi/abi.h"

namespace assay::custom::ffi {

// XLA's FFI has scalars (bool, integers of 8 to 64 bits, f32, f64), arrays of such numbers,
// strings and dictionaries.
class CallAttributes {
 public:
  // Error: InvalidProgram, naming the attribute, for lists, types and what else XLA refuses too.
  static absl::StatusOr<std::unique_ptr<const CallAttributes>> Make(const ConfigDictionary& dictionary);
  CallAttributes(const CallAttributes&) = delete;
  CallAttributes& operator=(const CallAttributes&) = delete;

  // Shares what it points to, which nobody writes to.
  const abi::Attributes& view() const { return view_; }

 private:
  // 64-byte aligned.
  struct alignas(64) Block {
    std::byte bytes[64];
  };

  CallAttributes() = default;
  absl::Status Fill(const ConfigDictionary& dictionary, const std::string& prefix);
  absl::Status Add(const std::string& path, const ConfigValue& any);
  absl::Status AddArray(const std::string& path, const ConfigArray& array);
  void AddScalar(ElementType type, const void* value, size_t bytes);

  abi::Attributes view_ = {};
  std::vector<abi::AttributeKind> kinds_;
  std::vector<abi::ByteSpan*> name_pointers_;
  std::vector<void*> values_;
  // Where the pointers lead to: these don't move.
  std::deque<std::string> texts_;
  std::deque<abi::ByteSpan> spans_;
  std::deque<abi::Scalar> scalars_;
  std::deque<abi::Array> arrays_;
  std::deque<std::vector<Block>> blocks_;
  std::deque<std::unique_ptr<const CallAttributes>> dictionaries_;
};

}  // namespace assay::custom::ffi

#endif  // ASSAY_CUSTOM_FFI_ATTRIBUTES_H_
