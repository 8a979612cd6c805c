#include "base/suggestion.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace assay {
namespace {

constexpr size_t kMostNames = 3;
constexpr size_t kLongestWord = 100;  // longer ones are no names

std::string Folded(std::string_view word) {
  std::string folded(word);
  for (char& c : folded) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '_') c = '-';
  }
  return folded;
}

// Optimal string alignment, by rows of the table of distances of beginnings.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last, last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last = std::move(last);
    last = row;
  }
  return last[b.size()];
}

std::vector<std::string> Few(std::vector<std::string> names) {
  if (names.size() > kMostNames) names.clear();
  return names;
}

}  // namespace

std::vector<std::string> NearNames(std::string_view word, std::span<const std::string> names) {
  if (word.size() > kLongestWord) return {};
  const std::string folded = Folded(word);
  size_t least = std::min<size_t>((word.size() + 2) / 4, 3);
  std::vector<std::string> near, longer;
  for (const std::string& name : names) {
    const std::string other = Folded(name);
    if (word.size() >= 3 && other.starts_with(folded)) longer.push_back(name);
    const size_t difference = std::max(other.size(), folded.size()) - std::min(other.size(), folded.size());
    if (difference > least) continue;
    const size_t distance = Distance(folded, other);
    if (distance > least || distance >= folded.size()) continue;
    if (distance < least) near.clear();
    least = distance;
    near.push_back(name);
  }
  return Few(near.empty() ? std::move(longer) : std::move(near));
}

std::string DidYouMean(std::string_view word, std::span<const std::string> names) {
  std::string text;
  for (const std::string& name : NearNames(word, names))
    text += (text.empty() ? "; did you mean '" : " or '") + name + "'";
  return text.empty() ? text : text + "?";
}

}  // namespace assay
