// The kernels of gpu/kernels by the names of their files.
#include <map>
#include <memory>
#include <string>

#include "tests/gpu/emulator/device/block.h"

namespace assay::emulated {
namespace {

class CompiledKernel final : public Kernel {
 public:
  explicit CompiledKernel(const KernelBody& body) : body_(body) {}
  uint32_t argument_bytes() const override { return body_.argument_bytes; }
  std::string Run(const Launch& launch, const Memory& memory) const override {
    return std::make_unique<GridRun>(body_, launch, memory)->Run();
  }

 private:
  const KernelBody body_;
};

class CompiledKernels final : public Module {
 public:
  const Kernel* Find(std::string_view name) const override {
    const auto found = kernels_.find(name);
    return found == kernels_.end() ? nullptr : &found->second;
  }
  bool IsOnlyFor90() const override { return only_for_90_; }
  void Add(const KernelBody& body) {
    kernels_.emplace(body.name, CompiledKernel(body));
    only_for_90_ |= body.cluster_blocks > 0;
  }

 private:
  std::map<std::string, CompiledKernel, std::less<>> kernels_;
  bool only_for_90_ = false;
};

std::map<std::string, CompiledKernels, std::less<>>& Modules() {
  static auto* const modules = new std::map<std::string, CompiledKernels, std::less<>>;
  return *modules;
}

}  // namespace

RegisteredKernel::RegisteredKernel(const char* module, const KernelBody& body) {
  Modules()[module].Add(body);
}

const Module* CompiledModule(std::string_view name) {
  const auto found = Modules().find(name);
  return found == Modules().end() ? nullptr : &found->second;
}

}  // namespace assay::emulated
