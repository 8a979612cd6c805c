// Which instruction gives each array of a computation, and which instructions can be checked alone.
#ifndef ASSAY_CHECK_ISOLATE_VALUE_SOURCES_H_
#define ASSAY_CHECK_ISOLATE_VALUE_SOURCES_H_

#include <compare>
#include <string_view>
#include <vector>

#include "hlo/module.h"

namespace assay {

// A leaf of what an instruction gives.
struct ValueId {
  int32_t instruction = -1;
  int32_t leaf = 0;
  auto operator<=>(const ValueId&) const = default;
};

// What is done with an instruction.
enum class IsolatedAs : uint8_t {
  kGiven,      // parameters and constants
  kForwarded,  // tuples, their elements, barriers: the values are those of operands
  kLeftOut,    // it can't be run alone: effects, tokens, random numbers
  kChecked,
};

class ValueSources {
 public:
  explicit ValueSources(const Computation& computation);

  IsolatedAs RoleOf(int32_t instruction) const { return roles_[static_cast<size_t>(instruction)]; }
  // Why it is left out.
  std::string_view WhyLeftOut(int32_t instruction) const { return why_[static_cast<size_t>(instruction)]; }
  // The values that an instruction gives, by leaf, each as what first gave it.
  const std::vector<ValueId>& Of(int32_t instruction) const {
    return values_[static_cast<size_t>(instruction)];
  }
  // The arrays that instructions give themselves, parameters and constants left out, in program order.
  const std::vector<ValueId>& own() const { return own_; }
  // Their bytes, of the same computation.
  int64_t OwnBytes(const Computation& computation) const;

 private:
  void Add(const Computation& computation, const Instruction& instruction);

  std::vector<IsolatedAs> roles_;
  std::vector<std::string_view> why_;
  std::vector<std::vector<ValueId>> values_;
  std::vector<ValueId> own_;
};

}  // namespace assay

#endif  // ASSAY_CHECK_ISOLATE_VALUE_SOURCES_H_
