// The members of a fusion that generated PTX approximates (gpu/ptx/approximate.h): what is promised of them,
// and what the cross-check asks them for.
#ifndef ASSAY_GPU_APPROXIMATE_MEMBERS_H_
#define ASSAY_GPU_APPROXIMATE_MEMBERS_H_

#include <memory>
#include <string>
#include <vector>

#include "engines/engine.h"
#include "gpu/driver/device.h"

namespace assay::gpu {

class ApproximateMembers final : public Accuracy {
 public:
  // Of those members of the step that have an approximation.
  ApproximateMembers(std::shared_ptr<Device> device, const FusionView& step);

  bool exist() const { return !members_.empty(); }
  // Of a step: bit-exact where there are none.
  const Accuracy& accuracy() const { return exist() ? static_cast<const Accuracy&>(*this) : BitExact(); }
  // By the device, with a kernel of that member alone: its instructions are those of the fusion.
  Approximation Of(const Instruction& member) const;

  Basis basis() const override { return Basis::kMembers; }
  bool Allows(const ExactElement& exact, const std::byte* actual) const override {
    return BitExact().Allows(exact, actual);
  }
  std::string Bound() const override;

 private:
  absl::Status Run(int32_t member, int64_t n, const std::byte* in, std::byte* out) const;

  const std::shared_ptr<Device> device_;
  const Module& module_;
  const Computation& computation_;
  std::vector<int32_t> members_;
};

}  // namespace assay::gpu

#endif  // ASSAY_GPU_APPROXIMATE_MEMBERS_H_
