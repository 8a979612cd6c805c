// The attribute table of attributes.def, and the map that an instruction keeps its attributes in.
#include "hlo/attribute.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/error.h"
#include "hlo/name_index.h"

namespace assay {
namespace {

struct AttributeRow {
  std::string_view name;
  AttrForm form;
};
constexpr AttributeRow kAttributeRows[] = {
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

std::string_view Name(Attr attr) { return kAttributeRows[static_cast<int>(attr)].name; }
AttrForm FormOf(Attr attr) { return kAttributeRows[static_cast<int>(attr)].form; }

std::optional<Attr> AttrFromName(std::string_view name) {
  static constexpr NameIndex kByName(kAttributeRows, &AttributeRow::name);
  const int row = kByName.Find(name);
  if (row < 0) return std::nullopt;
  return static_cast<Attr>(row);
}

AttributeMap::AttributeMap(std::span<Entry> entries, SharedPool<Entries>& pool) : entries_(pool.New()) {
  entries_->reserve(entries.size());
  for (Entry& entry : entries) {
    if (entries_->empty() || entries_->back().attr < entry.attr) {
      entries_->push_back(std::move(entry));
    } else {
      Set(entry.attr, std::move(entry.value));
    }
  }
}

// A count of one can't grow meanwhile: only through this map could another come to share the entries.
AttributeMap::Entries& AttributeMap::Own() {
  if (entries_ == nullptr) {
    entries_ = std::make_shared<Entries>();
  } else if (entries_.use_count() != 1) {
    entries_ = std::make_shared<Entries>(*entries_);
  }
  // What another thread read before it dropped its share must be read before we write.
  std::atomic_thread_fence(std::memory_order_acquire);
  return *entries_;
}

const AttrValue* AttributeMap::Find(Attr attr) const {
  for (const Entry& entry : entries()) {
    if (entry.attr >= attr) return entry.attr == attr ? &entry.value : nullptr;
  }
  return nullptr;
}

AttrValue* AttributeMap::FindMutable(Attr attr) {
  if (!Has(attr)) return nullptr;
  return &LowerBound(Own(), attr)->value;
}

void AttributeMap::Set(Attr attr, AttrValue value) {
  Entries& entries = Own();
  if (entries.empty() || entries.back().attr < attr) {
    entries.push_back(Entry{attr, std::move(value)});
    return;
  }
  const auto it = LowerBound(entries, attr);
  if (it->attr == attr) {
    it->value = std::move(value);
  } else {
    entries.insert(it, Entry{attr, std::move(value)});
  }
}

void AttributeMap::Erase(Attr attr) {
  if (!Has(attr)) return;
  Entries& entries = Own();
  entries.erase(LowerBound(entries, attr));
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
