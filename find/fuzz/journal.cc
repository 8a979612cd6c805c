#include "find/fuzz/journal.h"

#include <charconv>
#include <optional>

#include "base/quoted.h"
#include "fmt/format.h"

namespace assay::fuzz {
namespace {

constexpr std::string_view kHeader = "assay fuzz journal 1";

// The next word of the line, and the rest of it.
std::string_view TakeWord(std::string_view& line) {
  const size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

template <typename Number>
bool TakeNumber(std::string_view& line, Number& number) {
  const std::string_view word = TakeWord(line);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc() && end == word.data() + word.size();
}

// Messages are one line.
std::string OneLine(std::string_view text) {
  std::string line(text);
  for (char& c : line) c = c == '\n' || c == '\r' ? ' ' : c;
  return line;
}

// Reads one line into the state; false: it is none.
bool ReadLine(std::string_view line, FuzzState& state) {
  const std::string_view key = TakeWord(line);
  if (key == "seed") return TakeNumber(line, state.seed);
  if (key == "next") return TakeNumber(line, state.next);
  if (key == "seconds") return TakeNumber(line, state.seconds);
  if (key == "judged") return TakeNumber(line, state.judged);
  if (key == "without_result") return TakeNumber(line, state.without_result);
  if (key == "rewritten") return TakeNumber(line, state.rewritten);
  if (key == "feature") {
    state.corpus.Add({}, {std::string(line)});
    return true;
  }
  if (key == "bytes") {
    ChoiceBytes bytes = FromHex(line);
    const bool read = !bytes.empty();
    if (read) state.corpus.Restore(std::move(bytes));
    return read;
  }
  if (key == "refused") {
    int64_t count = 0;
    if (!TakeNumber(line, count)) return false;
    state.refused[std::string(line)] = count;
    return true;
  }
  if (key == "finding") {
    FuzzFinding finding;
    int kind = 0;
    if (!TakeNumber(line, kind) || kind < 0 || kind > static_cast<int>(FindingKind::kMeaning)) return false;
    if (!TakeNumber(line, finding.count)) return false;
    finding.kind = static_cast<FindingKind>(kind);
    finding.folder = std::string(TakeWord(line));
    finding.cause = std::string(line);
    state.findings.push_back(std::move(finding));
    return true;
  }
  if (key == "sign") {
    size_t finding = 0;
    if (!TakeNumber(line, finding) || finding >= state.findings.size()) return false;
    state.signs[std::string(line)].insert(finding);
    return true;
  }
  return false;
}

}  // namespace

std::string WriteJournal(const FuzzState& state, std::string_view question) {
  std::string text = fmt::format("{}\nquestion {}\n", kHeader, OneLine(question));
  text +=
      fmt::format("seed {}\nnext {}\nseconds {:.3f}\njudged {}\nwithout_result {}\nrewritten {}\n",
                  state.seed, state.next, state.seconds, state.judged, state.without_result, state.rewritten);
  for (const std::string& feature : state.corpus.features()) text += "feature " + feature + "\n";
  for (const ChoiceBytes& bytes : state.corpus.entries()) text += "bytes " + ToHex(bytes) + "\n";
  for (const auto& [skeleton, count] : state.refused)
    text += fmt::format("refused {} {}\n", count, OneLine(skeleton));
  for (const FuzzFinding& finding : state.findings) {
    text += fmt::format("finding {} {} {} {}\n", static_cast<int>(finding.kind), finding.count,
                        finding.folder, OneLine(finding.cause));
  }
  for (const auto& [sign, findings] : state.signs) {
    for (const size_t finding : findings) text += fmt::format("sign {} {}\n", finding, OneLine(sign));
  }
  return text;
}

absl::StatusOr<FuzzState> ReadJournal(std::string_view text, std::string_view question) {
  FuzzState state;
  const std::string asked = "question " + OneLine(question);
  for (int64_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto wrong = [&](std::string_view wanted) {
      return BadInput(fmt::format("line {} of the journal is '{}', expected {}", number,
                                  EscapeControls(std::string(line)), wanted));
    };
    if (number == 1) {
      if (line != kHeader) return wrong(fmt::format("'{}'", kHeader));
    } else if (number == 2) {
      if (line != asked) return wrong(fmt::format("'{}': another folder is for another question", asked));
    } else if (!ReadLine(line, state)) {
      return wrong("a line that a journal has");
    }
  }
  return state;
}

}  // namespace assay::fuzz
