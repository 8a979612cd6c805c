// Code that is made when it pays. Making code costs as much as many small runs, and most programs run once: a
// kernel that can do without code counts what it does without, in a unit of its own, and gets code from where
// that work has cost as much as making the code does. From then on nobody has lost
// more than half of the time.
#ifndef ASSAY_ENGINES_CODEGEN_TIERED_CODE_H_
#define ASSAY_ENGINES_CODEGEN_TIERED_CODE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "base/once.h"

namespace assay::codegen {

// It is safe from many threads, which share one count.
template <typename Code>
class TieredCode {
 public:
  using Maker = std::function<absl::StatusOr<Code>()>;

  // `worth`: the work that takes as long as `make`.
  TieredCode(int64_t worth, Maker make) : worth_(worth), make_(std::move(make)) {}

  // The code, where it is there or pays by now; null while the kernel is to do without, which is for ever
  // where making it failed (there may be no memory for code).
  const Code* Get() const {
    if (const Code* const code = ready_.load(std::memory_order_acquire)) return code;
    if (work_.load(std::memory_order_relaxed) < worth_) return nullptr;
    making_.Do([this] {
      absl::StatusOr<Code> code = make_();
      if (!code.ok()) return;
      ready_.store(&code_.emplace(*std::move(code)), std::memory_order_release);
    });
    return ready_.load(std::memory_order_acquire);
  }

  // Says that so much is done without code.
  void Count(int64_t work) const { work_.fetch_add(work, std::memory_order_relaxed); }

 private:
  const int64_t worth_;
  const Maker make_;
  mutable std::atomic<int64_t> work_ = 0;
  mutable Once making_;
  mutable std::optional<Code> code_;
  mutable std::atomic<const Code*> ready_ = nullptr;
};

}  // namespace assay::codegen

#endif  // ASSAY_ENGINES_CODEGEN_TIERED_CODE_H_
