#include "custom/combined_ops.h"

namespace assay::custom {

const CustomCallTarget* CombinedOps::Find(std::string_view target) const {
  for (const std::shared_ptr<const CustomOps>& set : sets_) {
    if (const CustomCallTarget* const op = set->Find(target)) return op;
  }
  return nullptr;
}

}  // namespace assay::custom
