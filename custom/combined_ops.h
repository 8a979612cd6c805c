// Several sets of operations as one.
#ifndef ASSAY_CUSTOM_COMBINED_OPS_H_
#define ASSAY_CUSTOM_COMBINED_OPS_H_

#include <memory>
#include <utility>
#include <vector>

#include "evaluator/custom_op.h"

namespace assay::custom {

class CombinedOps final : public CustomOps {
 public:
  explicit CombinedOps(std::vector<std::shared_ptr<const CustomOps>> sets) : sets_(std::move(sets)) {}
  // The first set's that has one.
  const CustomCallTarget* Find(std::string_view target) const override;

 private:
  const std::vector<std::shared_ptr<const CustomOps>> sets_;
};

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_COMBINED_OPS_H_
