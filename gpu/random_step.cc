#include "gpu/random_step.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "evaluator/eval_context.h"
#include "gpu/kernel_function.h"
#include "gpu/kernels/random_arguments.h"
#include "gpu/resident.h"

namespace assay::gpu {
namespace {

// Pairs of narrow elements stand along the first dimension of even size, else along the first of the largest
// size (docs/spec/operations-rng.md).
void SetPairs(const Shape& shape, RandomArguments& arguments) {
  DimVector sizes(shape.sizes().begin(), shape.sizes().end());
  if (sizes.empty()) sizes.push_back(1);
  auto chosen = std::find_if(sizes.begin(), sizes.end(), [](int64_t size) { return size % 2 == 0; });
  if (chosen == sizes.end()) chosen = std::max_element(sizes.begin(), sizes.end());
  arguments.size = *chosen;
  arguments.inner = 1;
  for (auto size = chosen + 1; size != sizes.end(); ++size) arguments.inner *= *size;
  arguments.used = arguments.count / arguments.size * ((arguments.size + 1) / 2);
}

class RandomStep final : public DeviceKernel {
 public:
  RandomStep(std::shared_ptr<Device> device, const DeviceFunction& function, std::string_view name,
             const RandomArguments& arguments)
      : DeviceKernel(std::move(device)), function_(function), name_(name), arguments_(arguments) {}

  std::string_view algorithm() const override { return name_; }

 private:
  absl::Status Enqueue(const DeviceCall& call) const override {
    RandomArguments arguments = arguments_;
    arguments.state = call.operands[0];
    arguments.result = call.results.back();
    if (call.results.size() > 1) arguments.new_state = call.results[0];
    const LaunchShape shape{.blocks = {BlocksFor(call.device, arguments.used, kRandomThreads), 1, 1},
                            .threads = {kRandomThreads, 1, 1}};
    return call.device.Launch(function_, shape, arguments);
  }

  const DeviceFunction& function_;
  const std::string_view name_;
  const RandomArguments arguments_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareRandom(const std::shared_ptr<Device>& device,
                                                            const StepView& step) {
  const Shape& result = step.result_shape();
  const Shape& bits = result.IsTuple() ? result.element(1) : result;
  if (bits.num_elements() == 0) return NotSupported({}, "no elements");
  const ElementType type = bits.element_type();
  RandomArguments arguments{.count = bits.num_elements(),
                            .state_words = static_cast<int32_t>(step.operand_shape(0).size(0)),
                            .bytes = static_cast<int32_t>(Bytes(type)),
                            .bits = static_cast<int32_t>(Info(type).bits),
                            .is_signed = IsSignedIntegral(type) ? 1 : 0};
  const bool is_three_fry =
      absl::AsciiStrToLower(std::string(step.instruction.attributes.Text(Attr::kAlgorithm))) ==
      "rng_three_fry";
  const bool is_wide = arguments.bytes == 8;
  if (!is_three_fry) {
    arguments.used = (arguments.count + (is_wide ? 1 : 3)) / (is_wide ? 2 : 4);
  } else if (is_wide) {
    arguments.used = arguments.count;
  } else {
    SetPairs(bits, arguments);
  }
  const std::string_view name = is_three_fry ? "threefry" : "philox";
  ASSAY_ASSIGN_OR_RETURN(
      const DeviceFunction* const function,
      KernelFunction(*device, "random", is_three_fry ? "random_three_fry" : "random_philox"));
  return std::make_shared<const RandomStep>(device, *function, name, arguments);
}

}  // namespace assay::gpu
