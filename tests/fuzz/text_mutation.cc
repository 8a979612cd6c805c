// How libFuzzer changes the texts of programs: two times in three as mutants are made, which are programs
// more often than noise is, and else as it changes any bytes. Linked into the targets that read text.
#include <cstdint>
#include <cstring>
#include <string>

#include "tests/mutants/text_mutator.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  assay::fuzz::Choices choices(seed);
  if (choices.OneIn(3)) return LLVMFuzzerMutate(data, size, max_size);
  const std::string mutant = assay::testing::MutateText({reinterpret_cast<const char*>(data), size}, choices,
                                                        1 + static_cast<int>(choices.Below(3)));
  if (mutant.empty() || mutant.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::memcpy(data, mutant.data(), mutant.size());
  return mutant.size();
}
