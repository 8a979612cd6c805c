#include "run/engine_list.h"

#include <array>

#include "engines/approximate/bf16_tiles.h"
#include "engines/approximate/functions_engine.h"
#include "engines/approximate/rounded_sums.h"
#include "engines/custom/custom_engine.h"
#include "engines/jit/jit_engine.h"
#include "engines/jit/scalar_loop.h"
#include "engines/native/native_engine.h"
#include "engines/onednn/onednn_engine.h"

namespace assay {

std::string_view Name(EngineChoice choice) {
  return choice == EngineChoice::kReference ? "reference" : choice == EngineChoice::kExact ? "exact" : "fast";
}

std::span<const Engine* const> EnginesOf(EngineChoice choice, Isa isa, bool allow_rwx) {
  struct Engines {
    std::array<const Engine*, 8> fast_with_rwx;
    std::array<const Engine*, 7> fast;
    std::array<const Engine*, 4> exact;
  };
  static const std::array<Engines, 3> all = [] {
    std::array<Engines, 3> by_isa;
    for (Isa i : {Isa::kBaseline, Isa::kAvx2, Isa::kAvx512})
      by_isa[static_cast<size_t>(i)] = {
          .fast_with_rwx = {&approximate::ApproximateJitEngine(i), &approximate::Bf16TilesEngine(i),
                            &onednn::OnednnEngine(i), &approximate::RoundedSumsEngine(i),
                            &approximate::FunctionsEngine(i), &jit::LoopEngine(i), &native::NativeEngine(i),
                            &custom::CustomEngine()},
          .fast = {&approximate::ApproximateJitEngine(i), &approximate::Bf16TilesEngine(i),
                   &approximate::RoundedSumsEngine(i), &approximate::FunctionsEngine(i), &jit::LoopEngine(i),
                   &native::NativeEngine(i), &custom::CustomEngine()},
          .exact = {&jit::ExactJitEngine(i), &jit::LoopEngine(i), &native::NativeEngine(i),
                    &custom::CustomEngine()}};
    return by_isa;
  }();
  if (choice == EngineChoice::kReference) return {};
  const Engines& engines = all[static_cast<size_t>(isa)];
  if (choice == EngineChoice::kExact) return engines.exact;
  if (allow_rwx) return engines.fast_with_rwx;
  return engines.fast;
}

}  // namespace assay
