// Libraries that the tests load: they lie beside the tests' own binary, wherever that is.
#ifndef ASSAY_TESTS_CUSTOM_LIBRARY_FILE_H_
#define ASSAY_TESTS_CUSTOM_LIBRARY_FILE_H_

#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>

namespace assay::custom {

// `name`: "libraries/zero_out".
inline std::string LibraryFileOf(const std::string& name) {
  char self[4096] = {};
  REQUIRE(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
  const std::string path = self;
  return path.substr(0, path.rfind('/') + 1) + name + ".so";
}

}  // namespace assay::custom

#endif  // ASSAY_TESTS_CUSTOM_LIBRARY_FILE_H_
