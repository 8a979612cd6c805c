#include "tests/mutation/mutant.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

namespace assay_mutation {
namespace {

// ASSAY_MUTANTS_REACHED names a file of as many bytes as there are mutants, and one.
unsigned char* Mapped() {
  const char* const path = std::getenv("ASSAY_MUTANTS_REACHED");
  if (path == nullptr) return nullptr;
  const int fd = open(path, O_RDWR);
  struct stat file;
  if (fd < 0 || fstat(fd, &file) != 0) std::abort();
  void* const bytes =
      mmap(nullptr, static_cast<size_t>(file.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (bytes == MAP_FAILED) std::abort();
  return static_cast<unsigned char*>(bytes);
}

int Current() {
  const char* const number = std::getenv("ASSAY_MUTANT");
  return number == nullptr ? 0 : std::atoi(number);
}

}  // namespace

int current = 0;
unsigned char* reached = nullptr;

// Before what other units initialize.
__attribute__((constructor(101))) void ReadEnvironment() {
  current = Current();
  reached = Mapped();
}

}  // namespace assay_mutation
