#include "tools/specification.h"

#include <algorithm>
#include <string>

namespace assay::cli {
namespace {

using std::string_view_literals::operator""sv;  // of the pages, which are too long for clang to count

struct Page {
  std::string_view name, text;
};

constexpr Page kPages[] = {
#include "tools/specification_pages.inc"
};

// Takes the next line of `rest`, with its end.
std::string_view TakeLine(std::string_view& rest) {
  const std::string_view line = rest.substr(0, std::min(rest.find('\n'), rest.size() - 1) + 1);
  rest.remove_prefix(line.size());
  return line;
}

// The number of # of a heading, 0 of other lines. Lines of code blocks are indented or between fences.
size_t LevelOf(std::string_view line) {
  const size_t level = line.find_first_not_of('#');
  return level != std::string_view::npos && line[level] == ' ' ? level : 0;
}

bool IsFence(std::string_view line) { return line.starts_with("```"); }

std::string_view WithoutBlankEnd(std::string_view text) {
  return text.substr(0, text.find_last_not_of('\n') + 1);
}

// From the line where `begins` is true up to the next where `ends` is, of text outside of fences.
template <typename Begins, typename Ends>
std::string_view PartOf(const Begins& begins, const Ends& ends) {
  for (const Page& page : kPages) {
    bool fenced = false;
    size_t start = std::string_view::npos;
    for (std::string_view rest = page.text; !rest.empty();) {
      const size_t at = page.text.size() - rest.size();
      const std::string_view line = TakeLine(rest);
      if (IsFence(line)) fenced = !fenced;
      if (fenced) continue;
      if (start != std::string_view::npos && ends(line))
        return WithoutBlankEnd(page.text.substr(start, at - start));
      if (start == std::string_view::npos && begins(line)) start = at;
    }
    if (start != std::string_view::npos) return WithoutBlankEnd(page.text.substr(start));
  }
  return {};
}

std::vector<std::string> LabelsIn(std::string_view text) {
  constexpr std::string_view kStart = "- **";
  std::vector<std::string> labels;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (!line.starts_with(kStart)) continue;
    const std::string_view label = line.substr(kStart.size(), line.find("**", kStart.size()) - kStart.size());
    if (label.find(' ') == std::string_view::npos) labels.emplace_back(label);
  }
  return labels;
}

}  // namespace

std::string_view SectionOf(std::string_view opcode) {
  const std::string quoted = "`" + std::string(opcode) + "`";
  size_t level = 0;
  return PartOf(
      [&](std::string_view line) {
        const size_t opcodes = line.find("(`");
        if (LevelOf(line) == 0 || opcodes == std::string_view::npos) return false;
        if (line.find(quoted, opcodes) == std::string_view::npos) return false;
        level = LevelOf(line);
        return true;
      },
      [&](std::string_view line) { return LevelOf(line) != 0 && LevelOf(line) <= level; });
}

std::vector<std::string> LabelsOf(std::string_view opcode) { return LabelsIn(SectionOf(opcode)); }

std::vector<std::string> AllLabels() {
  std::vector<std::string> labels;
  for (const Page& page : kPages) {
    for (std::string& label : LabelsIn(page.text)) labels.push_back(std::move(label));
  }
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  return labels;
}

std::string_view ParagraphOf(std::string_view label) {
  const std::string start = "- **" + std::string(label) + "**";
  return PartOf([&](std::string_view line) { return line.starts_with(start); },
                // What belongs to the item is indented.
                [](std::string_view line) { return !line.starts_with(' '); });
}

}  // namespace assay::cli
