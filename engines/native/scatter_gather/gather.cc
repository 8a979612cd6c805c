// The loop over the index vectors; geometry and result are gather_plan.h's.
#include "engines/native/scatter_gather/gather.h"

#include <limits>

#include "base/checked.h"
#include "base/parallel.h"
#include "engines/native/scatter_gather/gather_plan.h"
#include "engines/native/scatter_gather/index_kernels.h"
#include "engines/native/scatter_gather/index_vector_walk.h"
#include "engines/native/walk/move.h"
#include "evaluator/eval_context.h"
#include "evaluator/ops/indexing/gather.h"

namespace assay::native {
namespace {

constexpr int64_t kBytesOfPart = 1 << 17;      // worth a task
constexpr int64_t kVectorsOfPart = 1 << 14;    // index vectors worth a task
constexpr int64_t kElementsOfRound = 1 << 23;  // between two charges
constexpr int64_t kLongBlock = 1 << 12;        // bytes that memcpy copies as fast

class GatherLoop {
 public:
  GatherLoop(const IndexKernels& kernels, const GatherPlan& plan, const Literal& operand, Literal& result)
      : kernels_(kernels),
        plan_(plan),
        bytes_(Bytes(operand.shape().element_type())),
        move_(static_cast<int>(bytes_), plan.slice, plan.from_strides, plan.to_strides),
        walk_(kernels, *plan.indices, plan.index_vector_dim, plan.out, plan.batch),
        src_(operand.data()),
        dst_(result.MutableBytes().data()) {}

  absl::Status Run(EvalContext& context) const {
    const int32_t* const contiguous = GathersWords() ? walk_.contiguous_indices() : nullptr;
    const int64_t slice = CheckedProduct(plan_.slice).value_or(0);
    const int64_t grain = std::min(kBytesOfPart / (slice * bytes_ + 1) + kStrip, kVectorsOfPart);
    const int64_t most = kElementsOfRound / (slice + 1) + 1;
    for (int64_t done = 0; done < walk_.count(); done += most) {
      const int64_t some = std::min(most, walk_.count() - done);
      context.parallel().For(some, grain, [&](int64_t begin, int64_t end) {
        if (contiguous != nullptr) return GatherWords(contiguous, done + begin, done + end);
        walk_.Run(done + begin, done + end, [&](const IndexVectorWalk::Strip& strip) { MoveStrip(strip); });
      });
      ASSAY_RETURN_IF_ERROR(context.Charge(some * slice));
    }
    return absl::OkStatus();
  }

 private:
  // Single elements of 4 bytes, one behind the other, from offsets that 32 bits hold.
  bool GathersWords() const {
    return bytes_ == 4 && move_.block_bytes() == 4 && walk_.a_step() == 1 && plan_.limits.size() == 1 &&
           plan_.limits[0] * std::max<int64_t>(plan_.strides[0], 1) <= std::numeric_limits<int32_t>::max();
  }
  void GatherWords(const int32_t* indices, int64_t begin, int64_t end) const {
    kernels_.gather4_s32(end - begin, reinterpret_cast<const uint32_t*>(src_) + walk_.b(), indices + begin,
                         static_cast<int32_t>(plan_.limits[0]), static_cast<int32_t>(plan_.strides[0]),
                         reinterpret_cast<uint32_t*>(dst_) + walk_.a() + begin);
  }

  void MoveStrip(const IndexVectorWalk::Strip& strip) const {
    alignas(64) int64_t from[kStrip];
    kernels_.fill(strip.n, strip.b, strip.b_step, from);
    for (size_t k = 0; k < plan_.limits.size(); ++k)
      kernels_.clamped(strip.n, strip.components + static_cast<int64_t>(k) * kStrip, plan_.limits[k],
                       plan_.strides[k], from);
    std::byte* const to = dst_ + strip.a * bytes_;
    const int64_t block = move_.block_bytes(), step = strip.a_step * bytes_;
    if (block == 4 && bytes_ == 4 && step == 4) {
      return kernels_.gather4(strip.n, reinterpret_cast<const uint32_t*>(src_), from,
                              reinterpret_cast<uint32_t*>(to));
    }
    if (block == 8 && bytes_ == 8 && step == 8) {
      return kernels_.gather8(strip.n, reinterpret_cast<const uint64_t*>(src_), from,
                              reinterpret_cast<uint64_t*>(to));
    }
    if (block >= 16 && block <= kLongBlock)
      return kernels_.copy_blocks(strip.n, src_, from, bytes_, block, to, step);
    for (int64_t i = 0; i < strip.n; ++i) move_.Run(src_ + from[i] * bytes_, to + i * step);
  }

  const IndexKernels& kernels_;
  const GatherPlan& plan_;
  const int64_t bytes_;
  const StridedMove move_;
  const IndexVectorWalk walk_;
  const std::byte* const src_;
  std::byte* const dst_;
};

class GatherKernel final : public Kernel {
 public:
  explicit GatherKernel(const IndexKernels& kernels) : kernels_(kernels) {}

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    return RunGather(context, operands, [&](const GatherPlan& plan, const Literal& operand, Literal& result) {
      return GatherLoop(kernels_, plan, operand, result).Run(context);
    });
  }

 private:
  const IndexKernels& kernels_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareGather(const StepView&, Isa isa) {
  return std::make_shared<GatherKernel>(IndexKernelsOf(isa));
}

}  // namespace assay::native
