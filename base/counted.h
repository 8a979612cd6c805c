// Counts in messages: "1 element", "2 elements", "0 entries".
#ifndef ASSAY_BASE_COUNTED_H_
#define ASSAY_BASE_COUNTED_H_

#include <concepts>
#include <string>
#include <string_view>

namespace assay {

// `noun` is singular. Its plural: entry, entries; axis, axes; process, processes; mesh, meshes;
// branch, branches; any other takes an s.
std::string CountedText(std::string_view digits, std::string_view noun);

template <std::integral T>
std::string Counted(T count, std::string_view noun) {
  return CountedText(std::to_string(count), noun);
}

}  // namespace assay

#endif  // ASSAY_BASE_COUNTED_H_
