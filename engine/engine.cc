#include "engine/engine.h"

#include <array>

#include "engines/approximate/bf16_engine.h"
#include "engines/approximate/f32_engine.h"
#include "engines/approximate/f64_engine.h"
#include "engines/jit/jit_engine.h"
#include "engines/jit/scalar_loop.h"
#include "engines/native/native_engine.h"
#include "engines/onednn/onednn_engine.h"

namespace assay {

absl::StatusOr<std::shared_ptr<const Kernel>> Engine::Prepare(const StepView&) const {
  return NotSupported({}, "takes fusions alone");
}
absl::StatusOr<std::shared_ptr<const Kernel>> Engine::PrepareFusion(const FusionView&) const {
  return NotSupported({}, "takes single instructions alone");
}
bool Engine::CanFuse(const StepView&, std::string* reason) const {
  if (reason != nullptr) *reason = "takes single instructions alone";
  return false;
}

std::string_view Name(EngineChoice choice) {
  return choice == EngineChoice::kReference ? "reference" : choice == EngineChoice::kExact ? "exact" : "fast";
}

std::span<const Engine* const> EnginesOf(EngineChoice choice, native::Isa isa) {
  using native::Isa;
  struct Engines {
    std::array<const Engine*, 7> fast;
    std::array<const Engine*, 3> exact;
  };
  static const std::array<Engines, 3> all = [] {
    std::array<Engines, 3> by_isa;
    for (Isa i : {Isa::kBaseline, Isa::kAvx2, Isa::kAvx512})
      by_isa[static_cast<size_t>(i)] = {
          .fast = {&fast::Bf16Engine(i), &onednn::OnednnEngine(i), &fast::F32Engine(i), &fast::F64Engine(i),
                   &fused::NearJitEngine(i), &fused::LoopEngine(i), &native::NativeEngine(i)},
          .exact = {&fused::JitEngine(i), &fused::LoopEngine(i), &native::NativeEngine(i)}};
    return by_isa;
  }();
  if (choice == EngineChoice::kReference) return {};
  const Engines& engines = all[static_cast<size_t>(isa)];
  if (choice == EngineChoice::kFast) return engines.fast;
  return engines.exact;
}

}  // namespace assay
