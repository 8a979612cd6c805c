// The threads of a block as fibres: stacks between which one thread of the operating system switches.
#ifndef ASSAY_TESTS_GPU_EMULATOR_DEVICE_FIBRE_H_
#define ASSAY_TESTS_GPU_EMULATOR_DEVICE_FIBRE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace assay::emulated {

class Fibres {
 public:
  explicit Fibres(int most);
  ~Fibres();
  Fibres(const Fibres&) = delete;
  Fibres& operator=(const Fibres&) = delete;

  int most() const { return most_; }
  // Fibre i starts with entry() at the next Resume(i). `entry` must not return: its last act is Suspend.
  void Start(int i, void (*entry)());
  // From the scheduler: runs fibre i until it suspends itself.
  void Resume(int i);
  // From fibre i: back to the scheduler.
  void Suspend(int i);
  bool IsStack(uintptr_t address) const { return address - stacks_ < bytes_; }

 private:
  struct Context;
  const int most_;
  uintptr_t stacks_ = 0;
  size_t bytes_ = 0;
  std::unique_ptr<Context[]> contexts_;  // the last one is the scheduler's
};

}  // namespace assay::emulated

#endif  // ASSAY_TESTS_GPU_EMULATOR_DEVICE_FIBRE_H_
