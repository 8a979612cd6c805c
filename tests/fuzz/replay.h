// The fuzz targets of this folder as ordinary functions; the table is made by CMakeLists.txt.
#ifndef ASSAY_TESTS_FUZZ_REPLAY_H_
#define ASSAY_TESTS_FUZZ_REPLAY_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay {

struct FuzzTarget {
  const char* name;  // of its folder under tests/corpus
  int (*run)(const uint8_t* data, size_t size);
};
const std::vector<FuzzTarget>& FuzzTargets();

}  // namespace assay

#endif  // ASSAY_TESTS_FUZZ_REPLAY_H_
