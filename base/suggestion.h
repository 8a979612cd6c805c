// Known names that are near an unknown one, for messages: "unknown opcode 'gahter'; did you mean 'gather'?"
#ifndef ASSAY_BASE_SUGGESTION_H_
#define ASSAY_BASE_SUGGESTION_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// The names with the fewest edits from `word`: a letter inserted, removed, replaced, or swapped with its
// neighbour. Case, and whether '-' or '_' is written, are no edits. A word of n letters may need (n + 2) / 4
// edits, at most 3. Where no name is that near, those that begin with the word, if it has three letters. At
// most three names, in the given order; none where there are more.
std::vector<std::string> NearNames(std::string_view word, std::span<const std::string> names);

// "; did you mean 'a' or 'b'?", or nothing.
std::string DidYouMean(std::string_view word, std::span<const std::string> names);

}  // namespace assay

#endif  // ASSAY_BASE_SUGGESTION_H_
