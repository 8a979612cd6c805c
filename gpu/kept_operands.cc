#include "gpu/kept_operands.h"

#include <algorithm>

#include "gpu/driver/give_back.h"

namespace assay::gpu {
namespace {

// All that is kept in the process.
struct Registry {
  std::recursive_mutex mutex;
  std::vector<std::weak_ptr<KeptOperand>> all;

  static Registry& Get() {
    static Registry& registry = *new Registry;
    return registry;
  }

  int64_t BytesOn(const Device& device) {
    int64_t bytes = 0;
    std::erase_if(all, [](const std::weak_ptr<KeptOperand>& kept) { return kept.expired(); });
    for (const std::weak_ptr<KeptOperand>& weak : all) {
      const std::shared_ptr<KeptOperand> kept = weak.lock();
      if (kept == nullptr || kept->memory == nullptr || kept->memory->device().get() != &device) continue;
      bytes += kept->memory->size() + (kept->widened == nullptr ? 0 : kept->widened->size());
    }
    return bytes;
  }

  // Whether there was anything.
  bool GiveUnused() {
    const std::lock_guard lock(mutex);
    bool any = false;
    for (const std::weak_ptr<KeptOperand>& weak : all) {
      const std::shared_ptr<KeptOperand> kept = weak.lock();
      if (kept == nullptr || kept->in_use || kept->memory == nullptr) continue;
      *kept = {};
      any = true;
    }
    return any;
  }
};

// Of a device's memory.
constexpr int64_t kKeptPart = 4;

}  // namespace

KeptLock::KeptLock() : lock_(Registry::Get().mutex) {
  SetGiveBack([] { return Registry::Get().GiveUnused(); });
}

std::shared_ptr<KeptOperand> KeptOperands::Find(Device& device, const Key& key, int64_t bytes) {
  const auto [found, is_new] = kept_.try_emplace(key);
  if (is_new) return nullptr;
  std::shared_ptr<KeptOperand>& kept = found->second;
  if (kept != nullptr && kept->memory != nullptr && device.LostSince(kept->losses).ok()) return kept;
  Registry& registry = Registry::Get();
  if (kept != nullptr) *kept = {};
  if (registry.BytesOn(device) + bytes > device.properties().memory / kKeptPart) return nullptr;
  const uint64_t losses = device.losses();
  absl::StatusOr<std::shared_ptr<DeviceMemory>> memory = device.Allocate(bytes);
  if (!memory.ok()) return nullptr;
  if (kept == nullptr) {
    kept = std::make_shared<KeptOperand>();
    registry.all.push_back(kept);
  }
  kept->memory = *std::move(memory);
  kept->losses = losses;
  return kept;
}

}  // namespace assay::gpu
