#include "find/fuzz/corpus.h"

#include <algorithm>

namespace assay::fuzz {
namespace {

constexpr int64_t kFewestBytes = 48, kMostBytes = 800;

ChoiceBytes NewBytes(RandomSource& random) {
  ChoiceBytes bytes(static_cast<size_t>(random.Between(kFewestBytes, kMostBytes)));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.Next());
  return bytes;
}

}  // namespace

ChoiceBytes Corpus::Next(RandomSource& random) const {
  // Half of the programs are new ones: changed ones stay near what was seen.
  if (entries_.empty() || random.Between(0, 1) == 0) return NewBytes(random);
  const auto last = static_cast<int64_t>(entries_.size()) - 1;
  return Changed(entries_[static_cast<size_t>(random.Between(0, last))], random);
}

ChoiceBytes Corpus::Changed(ChoiceBytes bytes, RandomSource& random) const {
  for (int64_t changes = random.Between(1, 6); changes > 0; --changes) {
    const auto size = static_cast<int64_t>(bytes.size());
    const int64_t at = random.Between(0, std::max<int64_t>(size - 1, 0));
    switch (random.Between(0, 4)) {
      case 0:
      case 1:  // another byte
        if (size > 0) bytes[static_cast<size_t>(at)] = static_cast<uint8_t>(random.Next());
        break;
      case 2:  // a few more
        for (int64_t more = random.Between(1, 8); more > 0 && bytes.size() < size_t{kMostBytes}; --more)
          bytes.insert(bytes.begin() + at, static_cast<uint8_t>(random.Next()));
        break;
      case 3:  // a few less
        bytes.erase(bytes.begin() + at, bytes.begin() + std::min(at + random.Between(1, 8), size));
        break;
      default: {  // the rest of another program
        const auto last = static_cast<int64_t>(entries_.size()) - 1;
        const ChoiceBytes& other = entries_[static_cast<size_t>(random.Between(0, last))];
        const auto from = static_cast<int64_t>(other.size()) / 2;
        bytes.resize(static_cast<size_t>(at));
        bytes.insert(bytes.end(), other.begin() + std::min<int64_t>(from, at), other.end());
        if (bytes.size() > size_t{kMostBytes}) bytes.resize(kMostBytes);
      }
    }
  }
  return bytes;
}

int64_t Corpus::Add(const ChoiceBytes& bytes, const std::set<std::string>& features) {
  int64_t added = 0;
  for (const std::string& feature : features) added += features_.insert(feature).second;
  const bool is_there = !entries_.empty() && entries_.back() == bytes;
  if (added > 0 && !bytes.empty() && !is_there) entries_.push_back(bytes);
  return added;
}

std::string ToHex(const ChoiceBytes& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

ChoiceBytes FromHex(std::string_view text) {
  const auto value = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  ChoiceBytes bytes;
  if (text.size() % 2 != 0) return {};
  for (size_t i = 0; i < text.size(); i += 2) {
    const int high = value(text[i]), low = value(text[i + 1]);
    if (high < 0 || low < 0) return {};
    bytes.push_back(static_cast<uint8_t>(high << 4 | low));
  }
  return bytes;
}

}  // namespace assay::fuzz
