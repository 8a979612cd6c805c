// Bytes that are given out with a function that ends them.
#ifndef ASSAY_PJRT_PLUGIN_OWNED_BYTES_H_
#define ASSAY_PJRT_PLUGIN_OWNED_BYTES_H_

#include <string>
#include <utility>

#include "pjrt/plugin/pjrt_api.h"

namespace assay::pjrt {

struct OwnedBytes {
  std::string bytes;
};

inline void DeleteBytes(OwnedBytes* bytes) { delete bytes; }

inline OwnedBytes* GiveBytes(std::string bytes, const char** data, size_t* size) {
  auto* const owned = new OwnedBytes{std::move(bytes)};
  *data = owned->bytes.data();
  *size = owned->bytes.size();
  return owned;
}

}  // namespace assay::pjrt

#endif  // ASSAY_PJRT_PLUGIN_OWNED_BYTES_H_
