// Unique names. Nearly every name of a real program is free, so only a set of the names' own texts is kept,
// and the bookkeeping by root starts with the first clash.
#include "hlo/text/name_uniquer.h"

#include <charconv>
#include <utility>

#include "fmt/format.h"

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
absl::string_view View(std::string_view s) { return absl::string_view(s.data(), s.size()); }

}  // namespace

absl::string_view NameUniquer::Keep(std::string text) {
  kept_.push_back(std::move(text));
  return absl::string_view(kept_.back().data(), kept_.back().size());
}

std::string NameUniquer::Unique(std::string_view name) {
  const SplitName split = Split(name);
  // The key of a name: its text, but for "add.0" and "add.03", which are spellings of other names.
  const bool plain = !split.has_number || name[split.root.size() + 1] != '0';
  if (plain) {
    if (used_.insert(View(name)).second) return std::string(name);
  } else if (split.number == 0) {
    if (used_.insert(View(split.root)).second) return Join(split.root, 0);
  } else {
    std::string canonical = Join(split.root, split.number);
    if (!used_.contains(View(canonical))) {
      used_.insert(Keep(canonical));
      return canonical;
    }
  }
  int64_t& next = next_[View(split.root)];
  if (next == 0 && used_.insert(View(split.root)).second) {
    next = 1;
    return split.has_number ? Join(split.root, 0) : std::string(split.root);
  }
  if (next == 0) next = 1;
  while (true) {
    std::string candidate = Join(split.root, next++);
    if (used_.contains(View(candidate))) continue;
    used_.insert(Keep(candidate));
    return candidate;
  }
}

}  // namespace assay
