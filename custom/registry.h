// The operations that a process knows besides the op table. A program is given a set of
// them as it is at that moment.
#ifndef ASSAY_CUSTOM_REGISTRY_H_
#define ASSAY_CUSTOM_REGISTRY_H_

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "custom/registrations.h"
#include "evaluator/custom_op.h"

namespace assay::custom {

// One registered operation: what custom calls of its name mean.
class RegisteredOp final : public CustomOp {
 public:
  RegisteredOp(OpInterface interface, ShapeFunction shape)
      : interface_(std::move(interface)), shape_(shape) {}

  const OpInterface& interface() const { return interface_; }
  const std::vector<KernelDef>& kernels() const { return kernels_; }
  const GradientFunction* gradient() const { return gradient_ ? &*gradient_ : nullptr; }

  absl::StatusOr<Shape> Infer(const InferContext& context) const override;
  // What the shape function says of the results of a call on operands of these shapes; nothing of a result
  // that it does not know.
  struct Output {
    ElementType type = ElementType::kPred;
    PartialShape shape;
  };
  absl::StatusOr<std::vector<Output>> InferOutputs(const Instruction& call,
                                                   std::span<const Shape* const> operands) const;
  absl::StatusOr<std::shared_ptr<const CustomKernel>> Prepare(const Module& module,
                                                              const Computation& computation,
                                                              const Instruction& call,
                                                              KernelRole role) const override;
  absl::StatusOr<std::shared_ptr<const CustomDeviceKernel>> PrepareOnDevice(
      const Module& module, const Computation& computation, const Instruction& call) const override;

 private:
  friend class OpRegistry;
  OpInterface interface_;
  ShapeFunction shape_;
  std::vector<KernelDef> kernels_;
  std::optional<GradientFunction> gradient_;
};

// Operations by name; it does not change.
class OpSet final : public CustomOps {
 public:
  const CustomOp* Find(std::string_view target) const override { return FindOp(target); }
  const RegisteredOp* FindOp(std::string_view name) const;
  const std::map<std::string, std::shared_ptr<const RegisteredOp>, std::less<>>& ops() const { return ops_; }

 private:
  friend class OpRegistry;
  std::map<std::string, std::shared_ptr<const RegisteredOp>, std::less<>> ops_;
};

// A file, whatever its name.
struct LibraryFile {
  uint64_t device = 0, inode = 0;
  auto operator<=>(const LibraryFile&) const = default;
};

// Safe from many threads.
class OpRegistry {
 public:
  OpRegistry() : ops_(std::make_shared<const OpSet>()) {}

  // Adds all of it, or nothing. An operation may be registered again with the same interface, which changes
  // nothing. Returns the names that are new. Errors, InvalidProgram: a name that Assay has a meaning for, one
  // with another interface (already exists), a kernel or gradient of an unknown operation, a constraint on
  // something that is no attribute of kind type, a second gradient.
  absl::StatusOr<std::vector<std::string>> Add(const Registrations& registrations);

  std::shared_ptr<const OpSet> ops() const;

  // Libraries that were added (library.h).
  bool HasLoaded(LibraryFile file) const;
  void SetLoaded(LibraryFile file);

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const OpSet> ops_;
  std::set<LibraryFile> loaded_;
};

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_REGISTRY_H_
