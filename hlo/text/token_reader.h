// What every part of the HLO text parser stands on: the current token, errors that say what was found and
// what is wanted, names, and shapes.
#ifndef ASSAY_HLO_TEXT_TOKEN_READER_H_
#define ASSAY_HLO_TEXT_TOKEN_READER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "base/error.h"
#include "base/hash_map.h"
#include "hlo/attribute.h"
#include "hlo/diagnostics.h"
#include "hlo/shared_pool.h"
#include "hlo/text/lexer.h"
#include "shape/shape.h"

namespace assay {

inline absl::string_view AbslView(std::string_view s) { return absl::string_view(s.data(), s.size()); }

class TokenReader {
 public:
  explicit TokenReader(std::string_view text) : lexer_(text) {}
  TokenReader(const TokenReader&) = delete;
  TokenReader& operator=(const TokenReader&) = delete;

  Lexer& lexer() { return lexer_; }
  const Lexer& lexer() const { return lexer_; }
  const Token& token() const { return lexer_.token(); }
  SourcePosition position() const { return lexer_.token().position; }
  bool At(TokenKind kind) const { return lexer_.token().kind == kind; }
  bool AtWord(TokenKind kind, std::string_view text) const { return At(kind) && token().text == text; }
  bool AtName() const { return At(TokenKind::kName) || At(TokenKind::kIdent); }
  // A shape may start here: a primitive type, '(' or "b(".
  bool AtShape() const;
  void Next() { lexer_.Next(); }
  // The kind of the token after the current one.
  TokenKind Ahead() const;

  // Takes the token if it is the wanted one.
  bool Eat(TokenKind kind);
  bool EatKeyword(std::string_view keyword);
  bool EatAttrName(std::string_view name);
  // Takes the wanted token or says that it was wanted.
  absl::Status Expect(TokenKind kind);
  absl::Status ExpectAttrName(std::string_view name);
  // "found 'x', want `wanted`", or what the lexer could not read.
  [[gnu::cold]] absl::Status Unexpected(std::string_view wanted) const;

  absl::Status ReadInt(int64_t* value, std::string_view what = "an integer");
  absl::Status ReadNonNegative(int64_t* value, std::string_view what);
  absl::Status ReadBool(bool* value);
  absl::Status ReadFloat(double* value);
  absl::Status ReadString(std::string* value);
  absl::Status ReadText(SharedText* value);  // the same
  // NAME or IDENT; the view lies in the program text.
  absl::Status ReadName(std::string_view* name, std::string_view what);
  // IDENT, or a keyword or type name where a word is wanted.
  absl::Status ReadWord(std::string* word, std::string_view what);
  // Equal texts give the same object.
  absl::Status ReadShape(std::shared_ptr<const Shape>* shape);

  // `open` [item {',' item}] `close`.
  absl::Status ReadList(TokenKind open, TokenKind close, absl::FunctionRef<absl::Status()> item);
  absl::Status ReadInts(Ints* values);                                      // {1,2}
  absl::Status ReadIntList(TokenKind open, TokenKind close, Ints* values);  // [1,2]

  // Compact replica groups are listed out, once for each distinct text. Counts how many devices that makes;
  // false when the program asks for too many.
  static constexpr int64_t kMaxExpandedDevices = int64_t{1} << 22;
  using CompactGroups = HashMap<std::string, std::shared_ptr<const ReplicaGroups>>;
  CompactGroups& compact_groups() { return compact_groups_; }
  bool CountExpandedDevices(int64_t devices) {
    if (devices > kMaxExpandedDevices - expanded_devices_) return false;
    expanded_devices_ += devices;
    return true;
  }

  static constexpr size_t kMaxWarnings = 20;
  void Warn(SourcePosition where, std::string message) {
    if (warnings_.size() < kMaxWarnings) warnings_.push_back({where, std::move(message)});
  }
  std::vector<Warning> TakeWarnings() { return std::move(warnings_); }
  // Counts the bytes of arrays of which the text holds one element; false when the program asks for too many.
  static constexpr int64_t kMaxBareBytes = int64_t{1} << 28;
  bool CountBareBytes(int64_t bytes) {
    if (bytes > kMaxBareBytes - bare_bytes_) return false;
    bare_bytes_ += bytes;
    return true;
  }

  // Counts a level of nesting for as long as it lives; status() says whether the limit is passed.
  class Nesting {
   public:
    explicit Nesting(TokenReader& reader) : reader_(reader) { ++reader_.depth_; }
    ~Nesting() { --reader_.depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    absl::Status status() const;

   private:
    TokenReader& reader_;
  };

 private:
  Lexer lexer_;
  int depth_ = 0;
  int64_t expanded_devices_ = 0;
  int64_t bare_bytes_ = 0;
  std::vector<Warning> warnings_;
  TextPool texts_;
  CompactGroups compact_groups_;                                     // by canonical text
  HashMap<absl::string_view, std::shared_ptr<const Shape>> shapes_;  // by text
};

}  // namespace assay

#endif  // ASSAY_HLO_TEXT_TOKEN_READER_H_
