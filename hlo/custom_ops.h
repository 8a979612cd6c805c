// What custom calls of a module may mean: operations by their targets' names. A module carries them; what an
// operation does, and what it does it with, is the evaluator's (evaluator/custom_op.h).
#ifndef ASSAY_HLO_CUSTOM_OPS_H_
#define ASSAY_HLO_CUSTOM_OPS_H_

#include <string_view>

namespace assay {

// What a target stands for. The one class derived from it is CustomOp of evaluator/custom_op.h.
class CustomCallTarget {
 public:
  virtual ~CustomCallTarget() = default;
};

// The operations that a program may call. They change no more once a module has them.
class CustomOps {
 public:
  virtual ~CustomOps() = default;
  // Null where no operation has the target's name.
  virtual const CustomCallTarget* Find(std::string_view target) const = 0;
};

}  // namespace assay

#endif  // ASSAY_HLO_CUSTOM_OPS_H_
