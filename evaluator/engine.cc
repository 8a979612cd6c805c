#include "evaluator/engine.h"

#include <array>

#include "evaluator/native/native_engine.h"

namespace assay {

std::string_view Name(EngineChoice choice) {
  return choice == EngineChoice::kReference ? "reference" : "exact";
}

std::span<const Engine* const> EnginesOf(EngineChoice choice) {
  static const std::array<const Engine*, 1> exact = {&native::NativeEngine()};
  return choice == EngineChoice::kReference ? std::span<const Engine* const>() : exact;
}

}  // namespace assay
