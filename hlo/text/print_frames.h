// The stack frame tables as printed: only frames in use, numbered by first use, equal rows once.
#ifndef ASSAY_HLO_TEXT_PRINT_FRAMES_H_
#define ASSAY_HLO_TEXT_PRINT_FRAMES_H_

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "hlo/module.h"

namespace assay::print {

// Decision: frames-numbered-in-print-order. XLA numbers them by first use in the text that it read, so that
// its own text is not a fixed point where printing reorders instructions.
class FrameNumbering {
 public:
  explicit FrameNumbering(const FrameTables& old_tables)
      : old_(old_tables), numbers_(old_tables.frames.size() + 1, kNew) {}
  // The printed number of a frame, its callers numbered first; 0 for a frame that is not in the tables.
  int64_t Use(int64_t old_frame);
  const FrameTables& tables() const { return tables_; }

 private:
  static constexpr int64_t kNew = -1, kOpen = -2;
  int64_t Number(int64_t old_frame, int64_t parent);
  bool InTables(int64_t old_frame) const;

  const FrameTables& old_;
  std::vector<int64_t> numbers_;  // by old number
  FrameTables tables_;
  std::map<std::string, int64_t> file_names_, function_names_;
  std::map<std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t, int64_t>, int64_t> locations_;
  std::map<std::pair<int64_t, int64_t>, int64_t> frames_;
};

}  // namespace assay::print

#endif  // ASSAY_HLO_TEXT_PRINT_FRAMES_H_
