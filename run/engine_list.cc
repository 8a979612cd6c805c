#include "run/engine_list.h"

#include <array>
#include <map>
#include <mutex>
#include <utility>

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
  switch (choice) {
    case EngineChoice::kReference:
      return "reference";
    case EngineChoice::kExact:
      return "exact";
    case EngineChoice::kFast:
      return "fast";
    case EngineChoice::kGpu:
      return "gpu";
    case EngineChoice::kGpuFast:
      return "gpu-fast";
  }
  return "";
}

namespace {

// `device` before the others; kept, as plans and callers hold the list.
std::span<const Engine* const> After(const Engine& device, std::span<const Engine* const> others) {
  static std::mutex mutex;
  static auto* const lists =
      new std::map<std::pair<const Engine*, const Engine* const*>, std::vector<const Engine*>>;
  const std::lock_guard lock(mutex);
  std::vector<const Engine*>& list = (*lists)[{&device, others.data()}];
  if (list.empty()) {
    list.push_back(&device);
    list.insert(list.end(), others.begin(), others.end());
  }
  return list;
}

bool IsGpu(EngineChoice choice) { return choice == EngineChoice::kGpu || choice == EngineChoice::kGpuFast; }

const Engine& GpuEngineOf(EngineChoice choice, gpu::GpuOptions options) {
  options.fast = choice == EngineChoice::kGpuFast;
  return gpu::GpuEngineFor(options);
}

}  // namespace

std::span<const Engine* const> EnginesOf(EngineChoice choice, Isa isa, bool allow_rwx,
                                         const gpu::GpuOptions& gpu) {
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
  if (IsGpu(choice)) return After(GpuEngineOf(choice, gpu), engines.exact);
  if (allow_rwx) return engines.fast_with_rwx;
  return engines.fast;
}

std::vector<std::string_view> EnginesFor(Opcode opcode, EngineChoice choice, Isa isa) {
  std::vector<std::string_view> names;
  for (const Engine* const engine : EnginesOf(choice, isa, /*allow_rwx=*/true)) {
    if (engine->MayTake(opcode)) names.push_back(engine->name());
  }
  return names;
}

std::vector<IdleEngine> IdleEngines(EngineChoice choice, Isa isa, bool allow_rwx,
                                    const gpu::GpuOptions& gpu) {
  const auto because = [](const Engine& engine, const absl::Status& status) {
    return status.ok() ? std::vector<IdleEngine>()
                       : std::vector<IdleEngine>{{&engine, std::string(status.message())}};
  };
  if (IsGpu(choice)) return because(GpuEngineOf(choice, gpu), gpu::Device::Open(gpu.driver).status());
  if (choice == EngineChoice::kFast && allow_rwx)
    return because(onednn::OnednnEngine(isa), onednn::LoadFailure());
  return {};
}

std::span<const Engine* const> InstructionEngines() {
  static const std::array<const Engine*, 2> engines = {&native::NativeEngine(MachineIsa()),
                                                       &custom::CustomEngine()};
  return engines;
}

}  // namespace assay
