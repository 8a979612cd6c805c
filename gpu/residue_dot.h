// Dots by residues (gpu/kernels/residues/residue_arguments.h) on devices of compute capability 9.0, and dots
// of integers by the same product of bytes: what they take, and the launches that they are.
#ifndef ASSAY_GPU_RESIDUE_DOT_H_
#define ASSAY_GPU_RESIDUE_DOT_H_

#include <array>
#include <memory>
#include <vector>

#include "gpu/driver/device.h"
#include "gpu/kept_operands.h"
#include "gpu/kernels/dot_arguments.h"
#include "gpu/kernels/dot_i8_arguments.h"
#include "gpu/kernels/residues/residue_arguments.h"
#include "shape/shape.h"

namespace assay::gpu {

// From how many products on these kernels take a dot: elements of the result times k.
struct ResidueThresholds {
  int64_t f32, f64, bytes;
};
// The prototypes win from about 512^3 on with five launches; a dot has some fifteen here, most of which find
// nothing to do, and a product of bytes has three.
inline constexpr ResidueThresholds kResidueThresholds = {int64_t{1} << 29, int64_t{1} << 29,
                                                         int64_t{1} << 28};

// A part of a dot whose slices fit into half of the device's memory: all of it, or some of its batches, rows
// and columns. The addresses of `dot` are offsets from those of the whole, in bytes.
template <typename Arguments, typename Kernels>
struct Panel {
  Arguments dot;
  Kernels kernels;
};

class ResidueDot {
 public:
  using Panels = std::vector<Panel<DotArguments, ResidueDot>>;
  // `dot` but for addresses. NotSupported, with the reason, where other kernels are to take it. From `least`
  // products on; -1: by the table. The operands' elements have so many bits, before they were widened.
  static absl::StatusOr<Panels> Make(Device& device, const DotArguments& dot, bool is_double,
                                     int operand_precision, int64_t least);
  // What of a side may be kept: of a dot without its addresses, and operands of that type.
  KeptOperands::Key KeptKey(const DotArguments& dot, int side, ElementType type) const;
  int64_t KeptBytes(int side) const { return static_cast<int64_t>(PlaceKept(side).bytes); }
  // Where its scales are.
  static uint64_t KeptScales(const KeptOperand& kept) { return kept.memory->address() + kKeptScales; }
  // Of memory that is new.
  static absl::Status ClearKept(Device& device, const KeptOperand& kept);
  // With addresses and scales, and what is kept of either side or null. What is still open is left in *open
  // and *open_count, of memory that *memory owns.
  absl::Status Enqueue(Device& device, const DotArguments& dot, const std::array<KeptOperand*, 2>& kept,
                       std::shared_ptr<DeviceMemory>* memory, uint64_t* open, uint64_t* open_count) const;

 private:
  struct Functions {
    const DeviceFunction *choose = nullptr, *slice = nullptr, *finish = nullptr, *product = nullptr,
                         *sum = nullptr, *again = nullptr, *slice_again = nullptr, *sum_again = nullptr,
                         *mend = nullptr;
  };
  // Where things lie in the memory of one run.
  struct Layout {
    uint64_t control, counts, rows[2][2], cuts[2], slices[2], residues, sign_sums, still_open, bytes;
    uint64_t rows_begin, rows_end;  // zeroed
  };

  // Where things lie in what is kept: a KeptControl, the scales, then these.
  struct KeptLayout {
    uint64_t rows, cuts, slices, bytes;
  };
  static constexpr uint64_t kKeptScales = 256;

  KeptLayout PlaceKept(int side) const;
  absl::Status Find(Device& device);
  void Fit(const DotArguments& dot, int operand_precision);
  Layout Place() const;
  absl::Status EnqueueLevel(Device& device, const ResidueArguments& a, const uint64_t (&slices)[2],
                            const DeviceFunction& slice, const DeviceFunction& sum) const;

  bool is_double_ = false;
  ResidueTiles tiles_{};
  int64_t results_ = 0;
  double half_root_ = 0;
  int least_ = 0, usual_ = 0, most_ = 0;
  int sign_sums_ = 0, sign_planes_ = 0;
  Functions functions_;
  std::shared_ptr<DeviceMemory> systems_;
};

class ByteProduct {
 public:
  using Panels = std::vector<Panel<ByteDotArguments, ByteProduct>>;
  // Elements of so many bytes.
  static absl::StatusOr<Panels> Make(Device& device, const ByteDotArguments& dot,
                                     const std::array<int, 2>& element_bytes, int64_t least);
  KeptOperands::Key KeptKey(const ByteDotArguments& dot, int side) const;
  int64_t KeptBytes(int side) const { return SliceBytes(side); }
  // With what is kept of either side or null.
  absl::Status Enqueue(Device& device, const ByteDotArguments& dot,
                       const std::array<KeptOperand*, 2>& kept) const;

 private:
  // Of the slices of a side.
  int64_t SliceBytes(int side) const;

  std::array<const DeviceFunction*, 2> slice_{};
  const DeviceFunction* product_ = nullptr;
  std::array<int, 2> element_bytes_{}, slices_{};
  ResidueTiles tiles_{};
};

}  // namespace assay::gpu

#endif  // ASSAY_GPU_RESIDUE_DOT_H_
