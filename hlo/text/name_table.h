// The instruction names (or computation names) of one module: each text once, with what it stands for in the
// computation that is being read, and whether the module uses it already.
//
// Unique names are made as the reference makes them: a name is a root and a number, "add.3" or "add" (number
// 0); a clash takes the lowest number of the root that was not tried before.
#ifndef ASSAY_HLO_TEXT_NAME_TABLE_H_
#define ASSAY_HLO_TEXT_NAME_TABLE_H_

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash_map.h"

namespace assay {

class NameTable {
 public:
  // Where a name was defined last: valid for a reader that is in that scope.
  struct Binding {
    int32_t scope = 0;  // 0: none
    int32_t index = 0;
  };

  NameTable();
  NameTable(const NameTable&) = delete;
  NameTable& operator=(const NameTable&) = delete;

  // Room for so many more.
  void Reserve(size_t names);
  // The number of a name. The text must outlive the table: a part of the program, or Keep's.
  int32_t Intern(std::string_view name);
  std::string_view Keep(std::string name);
  std::string_view text(int32_t id) const { return entries_[id].text; }
  Binding& binding(int32_t id) { return entries_[id].binding; }

  // The name to use in the module in place of this one: its own text if that is legal and free.
  std::string Unique(int32_t id);

 private:
  struct Entry {
    std::string_view text;
    Binding binding;
    bool used = false;
  };
  struct Slot {
    size_t hash;
    int32_t id;
  };
  struct Probe {
    size_t hash;
    std::string_view text;
  };
  // Slots carry their hash, so that growing the set touches no text.
  struct SlotHash {
    using is_transparent = void;
    size_t operator()(const Slot& slot) const { return slot.hash; }
    size_t operator()(const Probe& probe) const { return probe.hash; }
  };
  struct SlotEqual {
    using is_transparent = void;
    const std::vector<Entry>* entries;
    bool operator()(const Slot& a, const Slot& b) const { return a.id == b.id; }
    bool operator()(const Slot& a, const Probe& b) const {
      return a.hash == b.hash && (*entries)[a.id].text == b.text;
    }
  };
  // True if the name was free; it is used from now on.
  bool Take(int32_t id);
  bool TakeGenerated(std::string name);

  std::vector<Entry> entries_;
  HashSet<Slot, SlotHash, SlotEqual> slots_;
  HashMap<int32_t, int64_t> next_;  // by root: numbers below it were tried
  std::deque<std::string> kept_;
};

}  // namespace assay

#endif  // ASSAY_HLO_TEXT_NAME_TABLE_H_
