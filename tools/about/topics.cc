#include "tools/about/topics.h"

#include <algorithm>
#include <vector>

namespace assay::cli {
namespace {

using std::string_view_literals::operator""sv;  // of the texts

struct File {
  std::string_view name, text;
};
constexpr File kFiles[] = {
#include "tools/about/topic_texts.inc"
};

Topic TopicOf(const File& file) {
  const size_t end = file.text.find('\n');
  return {file.name, file.text.substr(0, end), file.text.substr(file.text.find_first_not_of('\n', end))};
}

}  // namespace

std::span<const Topic> Topics() {
  static const auto* const topics = [] {
    auto* const made = new std::vector<Topic>;
    for (const File& file : kFiles) made->push_back(TopicOf(file));
    std::ranges::sort(*made, {}, &Topic::name);
    return made;
  }();
  return *topics;
}

const Topic* FindTopic(std::string_view name) {
  for (const Topic& topic : Topics()) {
    if (topic.name == name) return &topic;
  }
  return nullptr;
}

}  // namespace assay::cli
