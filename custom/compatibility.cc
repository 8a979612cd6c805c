#include "custom/compatibility.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "fmt/format.h"

namespace assay::custom {
namespace {

// One operation of both lists; collects what is unsafe.
class OpComparison {
 public:
  OpComparison(const OpInterface& older, const OpInterface& newer, std::vector<Incompatibility>* found)
      : older_(older), newer_(newer), found_(found) {}

  void Run() {
    CompareAttrs();
    CompareArguments("input", older_.inputs, newer_.inputs);
    CompareArguments("output", older_.outputs, newer_.outputs);
    if (newer_.has_side_effect && !older_.has_side_effect) {
      Add("side effect added", "the op has a side effect now, which older calls do not declare");
    }
  }

 private:
  void Add(std::string rule, std::string text) {
    found_->push_back({older_.name, std::move(rule), std::move(text)});
  }
  void CompareAttrs();
  void CompareAttr(const OpAttrDef& before, const OpAttrDef& after);
  bool IsNarrowed(const OpAttrDef& before, const OpAttrDef& after) const;
  void CompareArguments(const std::string& what, const std::vector<OpArgument>& before,
                        const std::vector<OpArgument>& after);
  void CompareArgument(const std::string& what, const OpArgument& before, const OpArgument& after);
  bool HasSameType(const OpArgument& before, const OpArgument& after) const;
  // The attribute is new, and its default is the text.
  bool IsNewWithDefault(const std::string& attr, std::string_view default_text) const;

  template <class T>
  void CompareOrder(const std::string& what, const std::vector<T>& before, const std::vector<T>& after);

  const OpInterface& older_;
  const OpInterface& newer_;
  std::vector<Incompatibility>* const found_;
};

template <class T>
const T* FindNamed(const std::vector<T>& items, std::string_view name) {
  const auto item = std::ranges::find(items, name, &T::name);
  return item == items.end() ? nullptr : &*item;
}

// What was there is there, in the same order.
template <class T>
void OpComparison::CompareOrder(const std::string& what, const std::vector<T>& before,
                                const std::vector<T>& after) {
  const T* last = nullptr;
  for (const T& item : before) {
    const T* const now = FindNamed(after, item.name);
    if (now == nullptr) {
      Add(what + " removed", fmt::format("{} '{}' no longer exists", what, item.spec));
      continue;
    }
    if (last != nullptr && now < last) {
      Add(what + "s reordered", fmt::format("{} '{}' stands before '{}' now", what, now->spec, last->spec));
    }
    last = now;
  }
}

void OpComparison::CompareAttrs() {
  CompareOrder("attribute", older_.attrs, newer_.attrs);
  for (const OpAttrDef& after : newer_.attrs) {
    if (const OpAttrDef* const before = older_.FindAttr(after.name)) {
      CompareAttr(*before, after);
    } else if (!after.default_value) {
      Add("attribute without default",
          fmt::format("attribute '{}' is new, wanted a default with which older calls mean what they meant",
                      after.spec));
    }
  }
}

std::string DefaultText(const OpAttrDef& attr) {
  return attr.default_value ? ValueText(*attr.default_value) : "none";
}

void OpComparison::CompareAttr(const OpAttrDef& before, const OpAttrDef& after) {
  if (before.kind != after.kind || before.is_list != after.is_list) {
    Add("attribute's type changed", fmt::format("attribute '{}' was '{}'", after.spec, before.spec));
    return;
  }
  if (IsNarrowed(before, after)) {
    Add("constraint narrowed", fmt::format("attribute '{}' was '{}', which allows values that it does not",
                                           after.spec, before.spec));
  }
  if (before.default_value && DefaultText(before) != DefaultText(after)) {
    Add("default changed", fmt::format("attribute '{}' has the default {}, which was {}", after.name,
                                       DefaultText(after), DefaultText(before)));
  }
}

bool OpComparison::IsNarrowed(const OpAttrDef& before, const OpAttrDef& after) const {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  const int64_t least = before.is_list ? 0 : kLeast;
  if (after.minimum.value_or(least) > before.minimum.value_or(least)) return true;
  const auto allows = [](const auto& set, const auto& value) {
    return set.empty() || std::ranges::find(set, value) != set.end();
  };
  for (int i = 0; i < kNumElementTypes; ++i) {
    const auto type = static_cast<ElementType>(i);
    if (allows(before.types, type) && !allows(after.types, type)) return true;
  }
  if (before.strings.empty()) return !after.strings.empty();
  return !std::ranges::all_of(before.strings,
                              [&](const std::string& text) { return allows(after.strings, text); });
}

bool OpComparison::IsNewWithDefault(const std::string& attr, std::string_view default_text) const {
  const OpAttrDef* const def = newer_.FindAttr(attr);
  return def != nullptr && older_.FindAttr(attr) == nullptr && DefaultText(*def) == default_text;
}

void OpComparison::CompareArguments(const std::string& what, const std::vector<OpArgument>& before,
                                    const std::vector<OpArgument>& after) {
  CompareOrder(what, before, after);
  for (const OpArgument& argument : after) {
    if (const OpArgument* const old = FindNamed(before, argument.name)) {
      CompareArgument(what, *old, argument);
    } else if (!IsNewWithDefault(argument.length_attr(), argument.has_type_list ? "[]" : "0")) {
      Add(what + " added",
          fmt::format("{} '{}' is new, wanted a sequence that is empty by default", what, argument.spec));
    }
  }
}

// The element type is the same, or one that was fixed is now the default of a new attribute.
bool OpComparison::HasSameType(const OpArgument& before, const OpArgument& after) const {
  if (before.type == after.type && before.type_attr == after.type_attr) return true;
  return before.type && !after.type && !after.has_type_list &&
         IsNewWithDefault(after.type_attr, assay::Name(*before.type));
}

void OpComparison::CompareArgument(const std::string& what, const OpArgument& before,
                                   const OpArgument& after) {
  const std::string change = fmt::format("{} '{}' was '{}'", what, after.spec, before.spec);
  const auto changed = [&](std::string_view wanted) {
    Add(what + " changed", wanted.empty() ? change : fmt::format("{}, wanted {}", change, wanted));
  };
  const bool was_sequence = !before.length_attr().empty();
  if (before.kind != after.kind || before.is_reference != after.is_reference) return changed("");
  if (before.has_type_list || after.length_attr().empty()) {
    if (before.length_attr() == after.length_attr() && HasSameType(before, after)) return;
    return changed(was_sequence ? "" : "the old type, or a new attribute of which it is the default");
  }
  if (!was_sequence) {
    // One value that becomes a sequence, which has just that one by default.
    const std::string list_default = before.type ? fmt::format("[{}]", assay::Name(*before.type)) : "";
    const bool is_safe = after.has_type_list
                             ? before.type && IsNewWithDefault(after.type_attr, list_default)
                             : IsNewWithDefault(after.count_attr, "1") && HasSameType(before, after);
    if (!is_safe) changed("a sequence that is the old value by default");
    return;
  }
  if (after.has_type_list) return Add("same-type list made a mixed-type list", change);
  if (before.count_attr != after.count_attr || !HasSameType(before, after)) changed("");
}

}  // namespace

// COMPAT-1.
std::vector<Incompatibility> UnsafeChanges(const std::vector<OpInterface>& older,
                                           const std::vector<OpInterface>& newer) {
  std::vector<Incompatibility> found;
  for (const OpInterface& op : older) {
    const OpInterface* const now = FindNamed(newer, op.name);
    if (now == nullptr) {
      found.push_back({op.name, "operation removed", "the op no longer exists"});
      continue;
    }
    OpComparison(op, *now, &found).Run();
  }
  return found;
}

}  // namespace assay::custom
