// assay_replay CORPUS: runs every file of CORPUS/<target>/ through that target, without libFuzzer, so that
// what fuzzing once found is tried again by every build. A target that dies takes the program with it; the
// last line printed says on which file.
#include "tests/fuzz/replay.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace assay {
namespace {

// The number of files run, or -1 if there are none.
int Replay(const FuzzTarget& target, const std::filesystem::path& corpus) {
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(corpus / target.name, error)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  if (error || files.empty()) return -1;
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& file : files) {
    std::ifstream stream(file, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
    std::printf("%s\n", file.c_str());
    std::fflush(stdout);
    target.run(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  }
  return static_cast<int>(files.size());
}

int ReplayAll(const std::filesystem::path& corpus) {
  bool complete = !FuzzTargets().empty();
  for (const FuzzTarget& target : FuzzTargets()) {
    const int files = Replay(target, corpus);
    if (files < 0) std::printf("%s: no files in %s\n", target.name, (corpus / target.name).c_str());
    if (files >= 0) std::printf("%s: %d files\n", target.name, files);
    complete &= files >= 0;
  }
  return complete ? 0 : 1;
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: assay_replay CORPUS\n");
    return 2;
  }
  return assay::ReplayAll(argv[1]);
}
