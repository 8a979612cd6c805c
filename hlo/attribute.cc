// The attribute table of attributes.def, and the map that an instruction keeps its attributes in.
#include "hlo/attribute.h"

#include <algorithm>
#include <utility>

#include "hlo/name_index.h"
#include "shape/error.h"

namespace assay {
namespace {

struct Row {
  std::string_view name;
  AttrForm form;
};
constexpr Row kRows[] = {
#define ATTR(id, name, form) {name, AttrForm::form},
#include "hlo/attributes.def"
#undef ATTR
};

// First entry at or after `attr`.
template <typename Entries>
auto LowerBound(Entries& entries, Attr attr) {
  return std::lower_bound(entries.begin(), entries.end(), attr,
                          [](const AttributeMap::Entry& entry, Attr wanted) { return entry.attr < wanted; });
}

// The value as a T, or null where it is absent; a value of another type is our own bug.
template <typename T>
const T* Get(const AttributeMap& map, Attr attr) {
  const AttrValue* const value = map.Find(attr);
  if (value == nullptr) return nullptr;
  const T* const typed = std::get_if<T>(value);
  ASSAY_CHECK(typed != nullptr);
  return typed;
}

}  // namespace

std::string_view Name(Attr attr) { return kRows[static_cast<int>(attr)].name; }
AttrForm FormOf(Attr attr) { return kRows[static_cast<int>(attr)].form; }

std::optional<Attr> AttrFromName(std::string_view name) {
  static constexpr NameIndex kByName(kRows, &Row::name);
  const int row = kByName.Find(name);
  if (row < 0) return std::nullopt;
  return static_cast<Attr>(row);
}

const AttrValue* AttributeMap::Find(Attr attr) const {
  const auto it = LowerBound(entries_, attr);
  return it != entries_.end() && it->attr == attr ? &it->value : nullptr;
}

AttrValue* AttributeMap::FindMutable(Attr attr) {
  const auto it = LowerBound(entries_, attr);
  return it != entries_.end() && it->attr == attr ? &it->value : nullptr;
}

void AttributeMap::Set(Attr attr, AttrValue value) {
  if (entries_.empty() || entries_.back().attr < attr) {
    entries_.push_back(Entry{attr, std::move(value)});
    return;
  }
  const auto it = LowerBound(entries_, attr);
  if (it != entries_.end() && it->attr == attr) {
    it->value = std::move(value);
  } else {
    entries_.insert(it, Entry{attr, std::move(value)});
  }
}

void AttributeMap::Erase(Attr attr) {
  const auto it = LowerBound(entries_, attr);
  if (it != entries_.end() && it->attr == attr) entries_.erase(it);
}

bool AttributeMap::Bool(Attr attr, bool absent) const {
  const bool* const value = Get<bool>(*this, attr);
  return value == nullptr ? absent : *value;
}

int64_t AttributeMap::Int(Attr attr, int64_t absent) const {
  const int64_t* const value = Get<int64_t>(*this, attr);
  return value == nullptr ? absent : *value;
}

double AttributeMap::Float(Attr attr, double absent) const {
  const double* const value = Get<double>(*this, attr);
  return value == nullptr ? absent : *value;
}

std::string_view AttributeMap::Text(Attr attr, std::string_view absent) const {
  const AttrValue* const value = Find(attr);
  if (value == nullptr) return absent;
  if (const auto* word = std::get_if<Word>(value)) return word->text;
  return *Get<std::string>(*this, attr);
}

std::span<const int64_t> AttributeMap::List(Attr attr) const {
  const Ints* const value = Get<Ints>(*this, attr);
  return value == nullptr ? std::span<const int64_t>() : std::span<const int64_t>(*value);
}

const IntLists& AttributeMap::Lists(Attr attr) const {
  static const auto* const kEmpty = new IntLists();
  const IntLists* const value = Get<IntLists>(*this, attr);
  return value == nullptr ? *kEmpty : *value;
}

const Window& AttributeMap::WindowOf(Attr attr) const {
  static const auto* const kEmpty = new Window();
  const Window* const value = Get<Window>(*this, attr);
  return value == nullptr ? *kEmpty : *value;
}

std::optional<ComputationId> AttributeMap::Computation(Attr attr) const {
  const ComputationId* const value = Get<ComputationId>(*this, attr);
  if (value == nullptr) return std::nullopt;
  return *value;
}

std::span<const ComputationId> AttributeMap::Computations(Attr attr) const {
  const AttrValue* const value = Find(attr);
  if (value == nullptr) return {};
  if (const auto* one = std::get_if<ComputationId>(value)) return {one, 1};
  return *Get<std::vector<ComputationId>>(*this, attr);
}

}  // namespace assay
