// Which dimensions of a program have to be of one size: those that a reduction of shapes changes together.
#ifndef ASSAY_FIND_REDUCE_SIZE_CLASSES_H_
#define ASSAY_FIND_REDUCE_SIZE_CLASSES_H_

#include <cstdint>
#include <map>
#include <vector>

#include "hlo/module.h"

namespace assay {

class SizeClasses {
 public:
  explicit SizeClasses(const Module& module);

  // The class of dimension `d` of a leaf of an instruction; it is named by one of its dimensions.
  int64_t ClassOf(ComputationId computation, int32_t instruction, int64_t leaf, int64_t d) const {
    return Find(FirstOf(computation, instruction, leaf) + d);
  }
  int64_t SizeOf(int64_t name) const { return sizes_[static_cast<size_t>(name)]; }
  // The classes of sizes above 1, in order of their first dimension.
  const std::vector<int64_t>& choices() const { return choices_; }
  // The classes of size 1.
  const std::vector<int64_t>& ones() const { return ones_; }

 private:
  int64_t FirstOf(ComputationId computation, int32_t instruction, int64_t leaf) const {
    return first_[static_cast<size_t>(computation.value)][static_cast<size_t>(instruction)]
                 [static_cast<size_t>(leaf)];
  }
  int64_t Find(int64_t dimension) const;
  // Nothing where the sizes differ.
  void Unite(int64_t a, int64_t b);
  void UniteDimension(ComputationId computation, int32_t a, int64_t dim_a, int32_t b, int64_t dim_b);
  void UniteLeaves(ComputationId of_a, int32_t a, int64_t leaf_a, ComputationId of_b, int32_t b,
                   int64_t leaf_b);
  // All leaves of a with those of b, from `leaf_b` on.
  void UniteValues(ComputationId of_a, int32_t a, ComputationId of_b, int32_t b, int64_t leaf_b = 0);
  void AddDimensions();
  void UniteInstruction(ComputationId id, int32_t k);
  bool UniteCalls(ComputationId id, int32_t k);
  bool UniteTuples(ComputationId id, int32_t k);
  void UniteArrays(ComputationId id, int32_t k);
  void UniteDot(ComputationId id, int32_t k);
  void UniteConvolution(ComputationId id, int32_t k);
  void UniteReduction(ComputationId id, int32_t k);
  void UniteReshape(ComputationId id, int32_t k);
  void UniteGather(ComputationId id, int32_t k);
  void UniteScatter(ComputationId id, int32_t k);
  // Dimension by dimension, where the sizes are equal, and not because of what a window does.
  void UniteAlike(ComputationId id, int32_t a, int32_t b, int64_t leaf_b = 0, const Window& window = {});

  const Module& module_;
  std::vector<std::vector<std::vector<int64_t>>> first_;  // by computation, instruction, leaf
  std::vector<int64_t> sizes_;                            // by dimension
  mutable std::vector<int64_t> parents_;
  std::vector<int64_t> choices_, ones_;
};

// Parts of a reshape: dimensions [a_begin, a_end) of the operand and [b_begin, b_end) of the result that hold
// as many elements.
struct ReshapeGroup {
  int64_t a_begin = 0, a_end = 0, b_begin = 0, b_end = 0;
};
std::vector<ReshapeGroup> ReshapeGroups(const Shape& operand, const Shape& result);

}  // namespace assay

#endif  // ASSAY_FIND_REDUCE_SIZE_CLASSES_H_
