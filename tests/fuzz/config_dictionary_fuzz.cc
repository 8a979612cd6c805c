// Text of a backend_config, in both forms: what is read is printed, and read again as the same.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "custom/config_dictionary.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using assay::custom::ConfigText;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto& read :
       {assay::custom::ParseConfigDictionary(text), assay::custom::ParseJsonConfig(text)}) {
    if (!read.ok()) continue;
    const std::string printed = ConfigText(*read);
    const auto again = assay::custom::ParseConfigDictionary(printed);
    if (!again.ok() || ConfigText(*again) != printed) std::abort();
  }
  return 0;
}
