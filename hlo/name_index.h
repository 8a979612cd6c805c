// Finds a name in a table that the compiler knows, by a hash table that the compiler makes too: filled at run
// time, it would be a third of the time in which the first program of a process is read.
#ifndef ASSAY_HLO_NAME_INDEX_H_
#define ASSAY_HLO_NAME_INDEX_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace assay {

template <size_t N>
class NameIndex {
 public:
  // rows[i].*name is the name of row i, whose characters outlive the index; the first of equal names counts.
  template <class Row>
  consteval NameIndex(const Row (&rows)[N], std::string_view Row::*name) {
    for (size_t i = 0; i < N; ++i) {
      size_t slot = Hash(rows[i].*name);
      while (slots_[slot] != kEmpty && names_[slots_[slot]] != rows[i].*name) slot = (slot + 1) % kSlots;
      names_[i] = rows[i].*name;
      if (slots_[slot] == kEmpty) slots_[slot] = static_cast<uint16_t>(i);
    }
  }

  // The row of that name, or -1.
  constexpr int Find(std::string_view name) const {
    for (size_t slot = Hash(name); slots_[slot] != kEmpty; slot = (slot + 1) % kSlots) {
      if (names_[slots_[slot]] == name) return slots_[slot];
    }
    return -1;
  }

 private:
  static constexpr size_t kSlots = std::bit_ceil(4 * N);  // so that most names are found at once
  static constexpr uint16_t kEmpty = 0xffff;
  static_assert(N < kEmpty);

  // Hashes the length and four characters: names are words, which these tell apart nearly always.
  static constexpr size_t Hash(std::string_view name) {
    if (name.empty()) return 0;
    const size_t n = name.size();
    const auto at = [&](size_t i) { return uint64_t{static_cast<unsigned char>(name[i])}; };
    const uint64_t key = at(0) | at(n - 1) << 8 | at(n / 2) << 16 | at(n / 4) << 24 | uint64_t{n} << 32;
    return static_cast<size_t>(key * 0x9e3779b97f4a7c15 >> 40) % kSlots;
  }

  static constexpr std::array<uint16_t, kSlots> NoSlots() {
    std::array<uint16_t, kSlots> slots{};
    slots.fill(kEmpty);
    return slots;
  }

  std::array<uint16_t, kSlots> slots_ = NoSlots();
  std::array<std::string_view, N> names_{};
};

}  // namespace assay

#endif  // ASSAY_HLO_NAME_INDEX_H_
