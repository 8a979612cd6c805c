// Text in quotes, for people and for the shell.
#ifndef ASSAY_BASE_QUOTED_H_
#define ASSAY_BASE_QUOTED_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace assay {

// Text of the user's for a message: in single quotes, at most `most` bytes of it and then dots, all but
// printable ASCII as \xNN.
std::string ShownText(std::string_view text, size_t most);

// A word of the shell: in single quotes, which themselves stand outside of them.
std::string ShellWord(std::string_view text);
// The same, without quotes where a shell needs none.
std::string ShellArgument(std::string_view text);

}  // namespace assay

#endif  // ASSAY_BASE_QUOTED_H_
