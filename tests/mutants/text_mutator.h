// Mutants of programs: a few small changes of a text, by choices that can be made again. A change that the
// reader sees and the verifier may take is likelier than noise: another operand of the same shape, another
// number everywhere it stands, another opcode, shape, layout or attribute, an instruction more or less, an
// asynchronous pair around a value.
#ifndef ASSAY_TESTS_MUTANTS_TEXT_MUTATOR_H_
#define ASSAY_TESTS_MUTANTS_TEXT_MUTATOR_H_

#include <string>
#include <string_view>

#include "find/fuzz/generator.h"
#include "tests/mutants/scanned_text.h"

namespace assay::testing {

using fuzz::Choices;

// `changes` of them; fewer where a choice finds nothing to change.
std::string MutateText(std::string_view text, Choices& choices, int changes);

// One change each, in `text`, of which `scanned` tells the places; false where there is no place for it.
using Mutation = bool (*)(const ScannedText& scanned, Choices& choices, std::string& text);

// An instruction on a value, which later uses may take instead of it (insertions.cc): HLO text alone.
bool InsertInstruction(const ScannedText& scanned, Choices& choices, std::string& text);

// One of the elements; they are not empty.
template <typename List>
const auto& AnyOf(const List& list, Choices& choices) {
  return list[static_cast<size_t>(choices.Below(static_cast<int64_t>(std::size(list))))];
}

}  // namespace assay::testing

#endif  // ASSAY_TESTS_MUTANTS_TEXT_MUTATOR_H_
