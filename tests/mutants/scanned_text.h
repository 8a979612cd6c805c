// The text of a program, HLO or StableHLO, as a mutation sees it: tokens, and lines that define a value. No
// grammar: what a mutation makes may well be no program.
#ifndef ASSAY_TESTS_MUTANTS_SCANNED_TEXT_H_
#define ASSAY_TESTS_MUTANTS_SCANNED_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::testing {

struct TextToken {
  enum class Kind { kName, kWord, kNumber, kString, kMark };
  Kind kind;
  size_t begin, end;
  bool defines = false;   // a name that its line gives to a value
  std::string_view type;  // of such a value, as the line writes it; empty where it writes none
};

struct TextLine {
  size_t begin, end;  // with its line break
};

class ScannedText {
 public:
  explicit ScannedText(std::string_view text);

  bool is_hlo() const { return is_hlo_; }
  std::string_view text() const { return text_; }
  std::string_view Of(const TextToken& token) const {
    return text_.substr(token.begin, token.end - token.begin);
  }
  std::string_view Of(const TextLine& line) const { return text_.substr(line.begin, line.end - line.begin); }
  const std::vector<TextToken>& tokens() const { return tokens_; }
  // Lines that give a name to a value, and nothing else.
  const std::vector<TextLine>& definitions() const { return definitions_; }
  // The token that defines the name at `use`, in the same computation; null: none.
  const TextToken* DefinitionOf(size_t use) const;
  // Tokens [first, second) are the computation in whose braces token `inside` is.
  std::pair<size_t, size_t> ScopeOf(size_t inside) const;
  // Indices of the tokens of one kind.
  std::vector<size_t> All(TextToken::Kind kind) const;
  // The index of the bracket that closes the one at `open`; 0: none.
  size_t CloserOf(size_t open) const;

 private:
  void Scan();
  void FindNames();
  void FindTypes();
  void FindDefinitions();

  std::string_view text_;
  bool is_hlo_;
  std::vector<TextToken> tokens_;
  std::vector<TextLine> definitions_;
};

}  // namespace assay::testing

#endif  // ASSAY_TESTS_MUTANTS_SCANNED_TEXT_H_
