// Names. Nearly every name of a real program is free, so the bookkeeping by root starts with the first clash.
#include "hlo/text/name_table.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"
#include "fmt/format.h"
#include "hlo/text/print_values.h"

namespace assay {
namespace {

struct SplitName {
  std::string_view root;
  int64_t number = 0;
  bool has_number = false;
};

// "add.3" is ("add", 3), "add" is ("add", 0).
SplitName Split(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || dot + 1 == name.size()) return {name};
  int64_t number = 0;
  const char* const end = name.data() + name.size();
  const auto result = std::from_chars(name.data() + dot + 1, end, number);
  if (result.ec != std::errc() || result.ptr != end || number < 0) return {name};
  return {name.substr(0, dot), number, true};
}

std::string Join(std::string_view root, int64_t number) { return fmt::format("{}.{}", root, number); }

}  // namespace

NameTable::NameTable() : slots_(0, SlotHash(), SlotEqual{&entries_}) {}

void NameTable::Reserve(size_t names) {
  // Twice as many at least, so that many small computations do not grow the tables one by one.
  if (entries_.size() + names <= entries_.capacity()) return;
  const size_t wanted = std::max(entries_.size() + names, 2 * entries_.capacity());
  entries_.reserve(wanted);
  slots_.reserve(wanted);
}

std::string_view NameTable::Keep(std::string name) { return kept_.emplace_back(std::move(name)); }

int32_t NameTable::Intern(std::string_view name) {
  const size_t hash = absl::Hash<absl::string_view>()(absl::string_view(name.data(), name.size()));
  const auto slot = slots_.lazy_emplace(Probe{hash, name}, [&](const auto& construct) {
    construct(Slot{hash, static_cast<int32_t>(entries_.size())});
    entries_.push_back({name, {}, false});
  });
  return slot->id;
}

bool NameTable::Take(int32_t id) { return !std::exchange(entries_[id].used, true); }
bool NameTable::TakeGenerated(std::string name) { return Take(Intern(Keep(std::move(name)))); }

std::string NameTable::Unique(int32_t id) {
  if (!print::IsLegalName(entries_[id].text)) id = Intern(Keep(print::SanitizedName(entries_[id].text)));
  const std::string_view name = entries_[id].text;
  const SplitName split = Split(name);
  // "add.0" and "add.03" are spellings of other names.
  const bool plain = !split.has_number || name[split.root.size() + 1] != '0';
  if (plain) {
    if (Take(id)) return std::string(name);
  } else if (split.number > 0) {
    std::string canonical = Join(split.root, split.number);
    if (TakeGenerated(canonical)) return canonical;
  }
  // Number 0 is the root itself.
  const int32_t root = Intern(split.root);
  if (Take(root)) return split.has_number ? Join(split.root, 0) : std::string(split.root);
  int64_t& next = next_.try_emplace(root, 1).first->second;
  while (true) {
    std::string candidate = Join(split.root, next++);
    if (TakeGenerated(candidate)) return candidate;
  }
}

}  // namespace assay
