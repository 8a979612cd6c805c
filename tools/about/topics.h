// What `assay help TOPIC` says besides the commands: the texts of tools/topics, which CMakeLists.txt puts
// into the program.
#ifndef ASSAY_TOOLS_ABOUT_TOPICS_H_
#define ASSAY_TOOLS_ABOUT_TOPICS_H_

#include <span>
#include <string_view>

namespace assay::cli {

struct Topic {
  std::string_view name;     // "exit-codes"
  std::string_view summary;  // the first line of the text
  std::string_view text;     // the others
};

// By name.
std::span<const Topic> Topics();
// Null where there is none.
const Topic* FindTopic(std::string_view name);

}  // namespace assay::cli

#endif  // ASSAY_TOOLS_ABOUT_TOPICS_H_
