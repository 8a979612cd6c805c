// Every decision of docs/semantics.md is held by a golden or a test that its paragraph names, and nothing
// refers to a decision that is not there.
#include <catch2/catch.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/file_io.h"
#include "check/golden/golden.h"
#include "fmt/format.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTagCharacters = "abcdefghijklmnopqrstuvwxyz0123456789-";

struct Holder {
  std::string path, test;
};
struct Decisions {
  std::map<std::string, std::vector<Holder>> holders;  // by tag
  std::vector<std::string> faults;
};

// A paragraph begins with "### tag"; its lines `*Held by* PATH "TEST CASE"` name holders.
Decisions ParseDecisions(std::string_view page) {
  constexpr std::string_view kHeading = "### ", kHeldBy = "*Held by* ";
  Decisions decisions;
  std::string tag;
  for (size_t at = 0; at < page.size();) {
    const size_t end = std::min(page.find('\n', at), page.size());
    const std::string_view line = page.substr(at, end - at);
    at = end + 1;
    if (line.starts_with(kHeading)) {
      tag = line.substr(kHeading.size());
      if (!decisions.holders.try_emplace(tag).second)
        decisions.faults.push_back(fmt::format("two paragraphs are called '{}'", tag));
    } else if (line.starts_with(kHeldBy)) {
      const size_t open = line.find(" \""), close = line.rfind('"');
      if (open == line.npos || close < open + 2 || tag.empty()) {
        decisions.faults.push_back(fmt::format("no path and test: {}", line));
      } else {
        decisions.holders[tag].push_back({std::string(line.substr(kHeldBy.size(), open - kHeldBy.size())),
                                          std::string(line.substr(open + 2, close - open - 2))});
      }
    }
  }
  return decisions;
}

// The tags after "Decision:" in comments of a source. A tag may stand at the beginning
// of the comment's next line.
std::vector<std::string> DecisionsNamedIn(std::string_view source) {
  constexpr std::string_view kWord = "Decision:";
  std::vector<std::string> tags;
  for (size_t at = source.find(kWord); at != source.npos; at = source.find(kWord, at + 1)) {
    const size_t line = source.rfind('\n', at) + 1;
    if (source.substr(line, at - line).find_first_of("/#") == std::string_view::npos) continue;
    const size_t begin = std::min(source.find_first_not_of(" \n/#", at + kWord.size()), source.size());
    tags.emplace_back(source.substr(begin, source.find_first_not_of(kTagCharacters, begin) - begin));
  }
  return tags;
}

// (who refers to it, tag), in goldens and in sources.
using References = std::vector<std::pair<std::string, std::string>>;
// The text of a file of the repository; empty if it isn't there.
using Reader = std::function<std::string(const std::string& path)>;

std::vector<std::string> Faults(const Decisions& decisions, const References& goldens,
                                const References& comments, const Reader& read) {
  std::vector<std::string> faults = decisions.faults;
  std::set<std::string> held;
  for (const References* references : {&goldens, &comments}) {
    for (const auto& [path, tag] : *references) {
      if (decisions.holders.count(tag) == 0)
        faults.push_back(fmt::format("{}: there is no decision '{}'", path, tag));
      if (references == &goldens) held.insert(tag);
    }
  }
  for (const auto& [tag, holders] : decisions.holders) {
    if (holders.empty() && held.count(tag) == 0)
      faults.push_back(fmt::format("{}: neither a golden nor a test holds it", tag));
    for (const Holder& holder : holders) {
      if (read(holder.path).find(fmt::format("TEST_CASE(\"{}\"", holder.test)) == std::string::npos)
        faults.push_back(fmt::format("{}: {} has no test case '{}'", tag, holder.path, holder.test));
    }
  }
  return faults;
}

std::string ReadOrNothing(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(std::string(ASSAY_SOURCE_DIR "/") + path);
  return text.ok() ? *text : "";
}

References DecisionsOfGoldens() {
  References found;
  for (const std::string& path : FindGoldens({ASSAY_SOURCE_DIR "/golden"}).files) {
    INFO(path);
    if (fs::path(path).extension() == ".pb") continue;  // a snapshot has no header
    const absl::StatusOr<std::string> text = ReadFile(path);
    REQUIRE(text.ok());
    const absl::StatusOr<Golden> golden = ParseGolden(*text);
    REQUIRE(golden.ok());
    if (!golden->decision.empty()) found.emplace_back(path, golden->decision);
  }
  return found;
}

// In sources of C++ and Python, but for what was built or fetched, and this file.
References DecisionsOfSources() {
  References found;
  for (auto it = fs::recursive_directory_iterator(ASSAY_SOURCE_DIR); it != fs::recursive_directory_iterator();
       ++it) {
    const std::string name = it->path().filename(), extension = it->path().extension();
    if (it->is_directory() && (name == "build" || name == "programs" || (name[0] == '.' && name.size() > 1)))
      it.disable_recursion_pending();
    if ((extension != ".cc" && extension != ".h" && extension != ".py") || name == "decisions_test.cc")
      continue;
    const absl::StatusOr<std::string> text = ReadFile(it->path());
    REQUIRE(text.ok());
    for (const std::string& tag : DecisionsNamedIn(*text)) found.emplace_back(it->path(), tag);
  }
  return found;
}

TEST_CASE("decisions: each is held by a golden or a test, and each that is named is there", "[golden]") {
  const Decisions decisions = ParseDecisions(ReadOrNothing("docs/semantics.md"));
  const References goldens = DecisionsOfGoldens(), comments = DecisionsOfSources();
  CHECK(decisions.holders.size() > 100);
  CHECK(goldens.size() > 200);
  CHECK(comments.size() > 40);
  CHECK(Faults(decisions, goldens, comments, ReadOrNothing) == std::vector<std::string>());
}

TEST_CASE("decisions: what is missing or names nothing is found", "[golden]") {
  using List = std::vector<std::string>;
  const std::string page = "# Title\n\n### a-1\nText.\n\n### b\nText.\n\n*Held by* t.cc \"b: holds\"\n";
  const auto read = [](const std::string& path) {
    return path == "t.cc" ? "TEST_CASE(\"b: holds\", \"[b]\")" : "";
  };
  const auto faults = [&](const std::string& text, const References& goldens, const References& comments) {
    return Faults(ParseDecisions(text), goldens, comments, read);
  };
  const References a = {{"a.hlo", "a-1"}};
  CHECK(faults(page, a, a).empty());
  CHECK(faults(page, {}, a) == List{"a-1: neither a golden nor a test holds it"});
  CHECK(faults(page, {{"a.hlo", "a-1"}, {"c.hlo", "c"}}, {}) == List{"c.hlo: there is no decision 'c'"});
  CHECK(faults(page, a, {{"x.cc", "a"}}) == List{"x.cc: there is no decision 'a'"});
  CHECK(faults(page + "*Held by* t.cc \"b: hold\"\n", a, {}) == List{"b: t.cc has no test case 'b: hold'"});
  CHECK(faults(page + "*Held by* u.cc \"b: holds\"\n", a, {}) == List{"b: u.cc has no test case 'b: holds'"});
  CHECK(faults(page + "*Held by* t.cc\n", a, {}) == List{"no path and test: *Held by* t.cc"});
  CHECK(faults(page + "### b\n", a, {}) == List{"two paragraphs are called 'b'"});
}

TEST_CASE("decisions: tags are found in comments, also on the next line", "[golden]") {
  CHECK(DecisionsNamedIn(
            "// Decision: a-1. Why.\nint Decision: b;\n  # Decision: c\n// z^w. Decision:\n// d.\n") ==
        std::vector<std::string>{"a-1", "c", "d"});
}

}  // namespace
}  // namespace assay
