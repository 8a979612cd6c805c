// Reading the short texts of a registration, word by word (docs/spec/custom-ops.md, section 1). Space between
// words has no meaning.
#ifndef ASSAY_CUSTOM_SPEC_READER_H_
#define ASSAY_CUSTOM_SPEC_READER_H_

#include <string>
#include <string_view>

#include "base/text_cursor.h"

namespace assay::custom {

class SpecReader : private TextCursor {
 public:
  using TextCursor::rest, TextCursor::Skip, TextCursor::TextCursor;

  bool AtEnd();
  char Peek();                                                  // '\0' at the end
  bool Eat(std::string_view token) { return TakeNext(token); }  // where it stands next
  // The longest run of letters, digits and '_'; may be empty.
  std::string_view Word();
  // The longest run of what numbers are written with: letters, digits, '.', '+', '-'.
  std::string_view Number();
  // 'text', with \\, \', \n, \r, \t and \xNN. Error: it is not closed, an unknown escape.
  absl::StatusOr<std::string> QuotedString();
  // What stands next, in quotes, for messages: a word or a character.
  std::string Found();
  // InvalidProgram: what is found here, and what is wanted.
  absl::Status Wanted(std::string_view what);
};

// The text in single quotes, as QuotedString reads it: ASCII whatever the bytes are.
std::string QuoteText(std::string_view text);

// A text of the user's in quotes for a message: at most 160 bytes, without control characters.
std::string ShownText(std::string_view text);

bool IsName(std::string_view text);       // [A-Za-z][A-Za-z0-9_]*
bool IsSnakeCase(std::string_view text);  // [a-z][a-z0-9_]*

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_SPEC_READER_H_
