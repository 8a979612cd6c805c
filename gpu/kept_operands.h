// What dots made of an operand and keep with its array, so that later dots of the same array find it: its
// elements widened, the scales of its rows, their slices. A loop's weights, or a parameter of several steps,
// are sliced once.
#ifndef ASSAY_GPU_KEPT_OPERANDS_H_
#define ASSAY_GPU_KEPT_OPERANDS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "gpu/driver/device.h"

namespace assay::gpu {

struct KeptOperand {
  std::shared_ptr<DeviceMemory> widened;  // null: the elements are multiplied as they are
  std::shared_ptr<DeviceMemory> memory;
  bool is_made = false;  // the device was told to make all of it
  bool in_use = false;   // a dot is telling the device what to do with it
  uint64_t losses = 0;   // of the device, before it was made
};

// What is kept with one array, by the side, the geometry and the kernels that it is for. Callers hold
// KeptLock.
class KeptOperands {
 public:
  using Key = std::vector<int64_t>;
  // From the second call with a key on, as most operands are multiplied once: what is kept by it, of so many
  // bytes. Null: nothing, also where a quarter of the device's memory is kept already, or it has none left.
  std::shared_ptr<KeptOperand> Find(Device& device, const Key& key, int64_t bytes);

 private:
  std::map<Key, std::shared_ptr<KeptOperand>> kept_;  // null: asked for once
};

// One dot at a time uses what is kept. Gives back what is kept and not in use if the device has no memory
// left for anything else.
class KeptLock {
 public:
  KeptLock();

 private:
  const std::unique_lock<std::recursive_mutex> lock_;
};

// Marks an operand as in use.
class KeptUse {
 public:
  explicit KeptUse(std::shared_ptr<KeptOperand> kept) : kept_(std::move(kept)) {
    if (kept_ != nullptr) kept_->in_use = true;
  }
  ~KeptUse() {
    if (kept_ != nullptr) kept_->in_use = false;
  }
  KeptUse(const KeptUse&) = delete;
  KeptUse& operator=(const KeptUse&) = delete;
  KeptOperand* get() const { return kept_.get(); }

 private:
  const std::shared_ptr<KeptOperand> kept_;
};

}  // namespace assay::gpu

#endif  // ASSAY_GPU_KEPT_OPERANDS_H_
