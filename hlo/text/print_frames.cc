// Stack frame tables (docs/spec/hlo-text.md section 3). Numbers are 1-based; a frame's parent_frame_id is one
// more than its caller's number, 1 where it has none.
#include "hlo/text/print_frames.h"

namespace assay::print {
namespace {

// The number of a row: that of an equal row, or the next.
template <typename Row, typename Key>
int64_t NumberOf(const Key& key, const Row& row, std::map<Key, int64_t>& numbers, std::vector<Row>& rows) {
  const auto [it, is_new] = numbers.emplace(key, static_cast<int64_t>(rows.size()) + 1);
  if (is_new) rows.push_back(row);
  return it->second;
}

}  // namespace

bool FrameNumbering::InTables(int64_t old_frame) const {
  const auto within = [](int64_t number, const auto& rows) {
    return number >= 1 && number <= static_cast<int64_t>(rows.size());
  };
  if (!within(old_frame, old_.frames)) return false;
  const int64_t location = old_.frames[old_frame - 1].file_location_id;
  return within(location, old_.locations) &&
         within(old_.locations[location - 1].file_name_id, old_.file_names) &&
         within(old_.locations[location - 1].function_name_id, old_.function_names);
}

int64_t FrameNumbering::Number(int64_t old_frame, int64_t parent) {
  FrameTables::Location l = old_.locations[old_.frames[old_frame - 1].file_location_id - 1];
  const std::string& file = old_.file_names[l.file_name_id - 1];
  const std::string& function = old_.function_names[l.function_name_id - 1];
  l.file_name_id = NumberOf(file, file, file_names_, tables_.file_names);
  l.function_name_id = NumberOf(function, function, function_names_, tables_.function_names);
  const auto key =
      std::make_tuple(l.file_name_id, l.function_name_id, l.line, l.end_line, l.column, l.end_column);
  const FrameTables::Frame frame{NumberOf(key, l, locations_, tables_.locations), parent + 1};
  return NumberOf(std::make_pair(frame.file_location_id, frame.parent_frame_id), frame, frames_,
                  tables_.frames);
}

int64_t FrameNumbering::Use(int64_t old_frame) {
  // It goes from the frame up to a caller that has a number, or to the outermost.
  std::vector<int64_t> chain;
  int64_t parent = 0;
  for (int64_t frame = old_frame; frame != 0;) {
    if (!InTables(frame) || numbers_[frame] == kOpen) {  // callers in a circle end like outermost ones
      break;
    }
    if (numbers_[frame] >= 0) {
      parent = numbers_[frame];
      break;
    }
    numbers_[frame] = kOpen;
    chain.push_back(frame);
    frame = old_.frames[frame - 1].parent_frame_id - 1;
  }
  for (size_t i = chain.size(); i > 0; --i) {
    parent = Number(chain[i - 1], parent);
    numbers_[chain[i - 1]] = parent;
  }
  return parent;
}

}  // namespace assay::print
