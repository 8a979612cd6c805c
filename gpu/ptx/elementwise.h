// Elementwise instructions as PTX: what each does to the elements of its operands in a thread's registers.
// Results have the bits of the op table's strip functions, or the thread's element is open:
// then the host makes it (repair.h). Only an emitter that approximates gives others.
#ifndef ASSAY_GPU_PTX_ELEMENTWISE_H_
#define ASSAY_GPU_PTX_ELEMENTWISE_H_

#include <span>

#include "base/error.h"
#include "gpu/ptx/element.h"
#include "hlo/module.h"

namespace assay::gpu {

// What the families of instructions write with.
struct Emitter {
  PtxWriter& w;
  Elements& elements;
  Register open =
      {};  // a predicate: this thread's element is open; unknown where no instruction leaves one open
  bool approximate = false;  // instructions that have an approximation are that (approximate.h)

  void LeaveOpenIf(Register predicate) { open = open.known() ? w.OrPred(open, predicate) : predicate; }
};

// The instruction of the operands' elements, or NotSupported with the reason.
absl::StatusOr<Element> EmitElementwise(Emitter& emitter, const Instruction& instruction,
                                        std::span<Element* const> operands);

// The families. An unknown pattern and value: the family has no such instruction.
Element EmitIntegers(Emitter& emitter, const Instruction& instruction, std::span<Element* const> operands);
Element EmitFloats(Emitter& emitter, const Instruction& instruction, std::span<Element* const> operands);
Element EmitFunction(Emitter& emitter, const Instruction& instruction, std::span<Element* const> operands);
Element EmitTestedFunction(Emitter& emitter, const Instruction& instruction,
                           std::span<Element* const> operands);
Element EmitConvert(Emitter& emitter, ElementType to, Element& x);
// `order` is one of EQ, NE, LT, LE, GT and GE.
Register EmitCompare(Emitter& emitter, std::string_view order, bool total, Element& x, Element& y);
inline bool IsKnown(const Element& element) {
  return element.pattern.known() || element.single.known() || element.twice.known();
}

}  // namespace assay::gpu

#endif  // ASSAY_GPU_PTX_ELEMENTWISE_H_
