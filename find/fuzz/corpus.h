// The bytes from which programs are made (generator.h): new ones, or those of a program that had something
// new, changed a little.
#ifndef ASSAY_FIND_FUZZ_CORPUS_H_
#define ASSAY_FIND_FUZZ_CORPUS_H_

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "literal/random.h"

namespace assay::fuzz {

using ChoiceBytes = std::vector<uint8_t>;

class Corpus {
 public:
  // The bytes of the next program: the same for the same draws and the same corpus.
  ChoiceBytes Next(RandomSource& random) const;
  // Keeps the bytes if the program has a feature that none before had; gives how many such features.
  int64_t Add(const ChoiceBytes& bytes, const std::set<std::string>& features);
  // Keeps bytes that an earlier session kept.
  void Restore(ChoiceBytes bytes) { entries_.push_back(std::move(bytes)); }

  const std::vector<ChoiceBytes>& entries() const { return entries_; }
  const std::set<std::string>& features() const { return features_; }

 private:
  ChoiceBytes Changed(ChoiceBytes bytes, RandomSource& random) const;

  std::vector<ChoiceBytes> entries_;
  std::set<std::string> features_;
};

std::string ToHex(const ChoiceBytes& bytes);
// Empty where the text is not an even number of hexadecimal digits.
ChoiceBytes FromHex(std::string_view text);

}  // namespace assay::fuzz

#endif  // ASSAY_FIND_FUZZ_CORPUS_H_
