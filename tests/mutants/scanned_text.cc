#include "tests/mutants/scanned_text.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace assay::testing {
namespace {

using Kind = TextToken::Kind;

bool IsLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

size_t EndOfNumber(std::string_view text, size_t i) {
  if (text[i] == '-') ++i;
  while (i < text.size() && (IsDigit(text[i]) || text[i] == '.')) ++i;
  if (i + 1 < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    const size_t digits = i + 1 + (text[i + 1] == '-' || text[i + 1] == '+');
    if (digits < text.size() && IsDigit(text[digits])) {
      i = digits;
      while (i < text.size() && IsDigit(text[i])) ++i;
    }
  }
  return i;
}

size_t EndOfWord(std::string_view text, size_t i) {
  while (i < text.size()) {
    const char c = text[i];
    const bool joins =
        (c == '-' || c == '.') && i + 1 < text.size() && (IsLetter(text[i + 1]) || IsDigit(text[i + 1]));
    if (!IsLetter(c) && !IsDigit(c) && !joins) break;
    ++i;
  }
  return i;
}

// Behind a comment that begins at i; i where none does.
size_t BehindComment(std::string_view text, size_t i) {
  if (text.substr(i, 2) == "//") {
    const size_t end = text.find('\n', i);
    return end == std::string_view::npos ? text.size() : end;
  }
  if (text.substr(i, 2) == "/*") {
    const size_t end = text.find("*/", i + 2);
    return end == std::string_view::npos ? text.size() : end + 2;
  }
  return i;
}

size_t EndOfString(std::string_view text, size_t i) {
  for (++i; i < text.size() && text[i] != '"'; ++i) {
    if (text[i] == '\\') ++i;
  }
  return std::min(i + 1, text.size());
}

}  // namespace

ScannedText::ScannedText(std::string_view text)
    : text_(text), is_hlo_(text.find("HloModule") != std::string_view::npos) {
  Scan();
  FindNames();
  FindTypes();
  FindDefinitions();
}

void ScannedText::Scan() {
  for (size_t i = 0; i < text_.size();) {
    const char c = text_[i];
    if (const size_t behind = BehindComment(text_, i); behind != i) {
      i = behind;
      continue;
    }
    if (std::isspace(static_cast<unsigned char>(c))) {
      ++i;
      continue;
    }
    const bool after_number =
        !tokens_.empty() && tokens_.back().kind == Kind::kNumber && tokens_.back().end == i;
    TextToken token{Kind::kMark, i, i + 1};
    if (c == '"') {
      token = {Kind::kString, i, EndOfString(text_, i)};
    } else if (c == '%' && i + 1 < text_.size() && (IsLetter(text_[i + 1]) || IsDigit(text_[i + 1]))) {
      token = {Kind::kName, i, EndOfWord(text_, i + 1)};
    } else if (IsDigit(c) || (c == '-' && i + 1 < text_.size() && IsDigit(text_[i + 1]) && !after_number)) {
      token = {Kind::kNumber, i, EndOfNumber(text_, i)};
    } else if (IsLetter(c) && !((after_number || (i > 0 && text_[i - 1] == '?')) && (c == 'x' || c == '_'))) {
      token = {Kind::kWord, i, EndOfWord(text_, i)};
    }
    tokens_.push_back(token);
    i = token.end;
  }
}

// In HLO text a name may go without '%': a word that stands before " = ".
void ScannedText::FindNames() {
  std::set<std::string_view> names;
  for (TextToken& token : tokens_) {
    if (token.kind != Kind::kWord && token.kind != Kind::kName) continue;
    const std::string_view behind = text_.substr(token.end, 3);
    token.defines = behind.substr(0, 2) == " =" || (token.kind == Kind::kName && behind.substr(0, 1) == ":");
    if (token.defines) names.insert(Of(token));
  }
  for (TextToken& token : tokens_) {
    if (token.kind == Kind::kWord && names.count(Of(token)) > 0) token.kind = Kind::kName;
  }
}

void ScannedText::FindTypes() {
  for (TextToken& token : tokens_) {
    if (!token.defines) continue;
    std::string_view rest = text_.substr(token.end);
    rest = rest.substr(0, rest.find('\n'));
    if (is_hlo_) {
      rest.remove_prefix(std::min<size_t>(3, rest.size()));
      int depth = 0;
      size_t end = 0;
      for (; end < rest.size() && (rest[end] != ' ' || depth > 0); ++end)
        depth += rest[end] == '(' ? 1 : rest[end] == ')' ? -1 : 0;
      token.type = rest.substr(0, end);
    } else {
      const size_t colon = rest.rfind(": "), arrow = rest.rfind("-> ");
      const size_t from = arrow != std::string_view::npos   ? arrow + 3
                          : colon != std::string_view::npos ? colon + 2
                                                            : rest.size();
      token.type = rest.substr(from);
    }
  }
}

void ScannedText::FindDefinitions() {
  for (size_t begin = 0; begin < text_.size();) {
    size_t end = text_.find('\n', begin);
    end = end == std::string_view::npos ? text_.size() : end + 1;
    const std::string_view line = text_.substr(begin, end - begin);
    const size_t equals = line.find(" = ");
    const bool one =
        equals != std::string_view::npos && line.find(" = ", equals + 1) == std::string_view::npos;
    const auto count = [&](char c) { return std::count(line.begin(), line.end(), c); };
    if (one && line.substr(0, 2) != "//" && count('{') == count('}') && count('(') == count(')'))
      definitions_.push_back({begin, end});
    begin = end;
  }
}

std::pair<size_t, size_t> ScannedText::ScopeOf(size_t inside) const {
  const auto depth_change = [&](size_t i) {
    if (tokens_[i].kind != Kind::kMark) return 0;
    const char c = text_[tokens_[i].begin];
    return c == '{' ? 1 : c == '}' ? -1 : 0;
  };
  size_t first = inside, last = inside;
  for (int depth = 0; first > 0; --first) {
    depth += depth_change(first - 1);
    if (depth > 0) break;
  }
  for (int depth = 0; last < tokens_.size(); ++last) {
    depth += depth_change(last);
    if (depth < 0) break;
  }
  return {first, last};
}

const TextToken* ScannedText::DefinitionOf(size_t use) const {
  const size_t first = ScopeOf(use).first;
  for (size_t i = use + 1; i-- > first;) {
    if (tokens_[i].defines && Of(tokens_[i]) == Of(tokens_[use])) return &tokens_[i];
  }
  return nullptr;
}

std::vector<size_t> ScannedText::All(Kind kind) const {
  std::vector<size_t> indices;
  for (size_t i = 0; i < tokens_.size(); ++i) {
    if (tokens_[i].kind == kind) indices.push_back(i);
  }
  return indices;
}

size_t ScannedText::CloserOf(size_t open) const {
  int depth = 0;
  for (size_t i = open; i < tokens_.size(); ++i) {
    if (tokens_[i].kind != Kind::kMark) continue;
    const char c = text_[tokens_[i].begin];
    if (c == '(' || c == '[' || c == '{' || c == '<') ++depth;
    const bool arrow = c == '>' && tokens_[i].begin > 0 && text_[tokens_[i].begin - 1] == '-';
    if ((c == ')' || c == ']' || c == '}' || c == '>') && !arrow && --depth == 0) return i;
  }
  return 0;
}

}  // namespace assay::testing
