// One element of a fusion's value in a thread's registers, in the forms that instructions want; a form is
// made of another one when it is first asked for.
#ifndef ASSAY_GPU_PTX_ELEMENT_H_
#define ASSAY_GPU_PTX_ELEMENT_H_

#include "gpu/ptx/writer.h"
#include "shape/element_type.h"

namespace assay::gpu {

struct Element {
  ElementType type = ElementType::kPred;
  // pred: a predicate. Integers: of 64 bits, or extended to 32. Floats: the stored bits.
  Register pattern;
  Register single;  // floats of at most 32 bits: the value, which an f32 holds; of NaNs no payload
  Register twice;   // floats: the value as an f64
};

// Integers of at most 32 bits lie in registers of 32.
inline Width WidthOf(ElementType type) {
  if (type == ElementType::kPred) return Width::kPred;
  return Bits(type) > 32 ? Width::k64 : Width::k32;
}

class Elements {
 public:
  explicit Elements(PtxWriter& writer) : w(writer) {}

  Element OfPattern(ElementType type, Register pattern);
  Register Pattern(Element& element);
  Register Single(Element& element);
  Register Double(Element& element);

  // The value rounded once to the type; a NaN becomes the type's canonical one.
  Element Rounded(ElementType type, Register f64);
  Element RoundedSingle(ElementType type, Register f32);
  // The same of an f32 that is a value of the type, or NaN.
  Element Exact(ElementType type, Register f32);

  // The low bits of an integer in a register of its width, extended as the type says.
  Element Wrapped(ElementType type, Register integer);

  Element Load(ElementType type, Register address);
  void Store(Element& element, Register address);
  // base + index * the type's bytes; the index is of 32 bits, unsigned, or of 64.
  Register AddressOf(ElementType type, Register base, Register index);
  // table[index] of an index of 32 bits.
  Register LookUp(std::string_view what, int bytes, Register table, Register index);

  Register CanonicalNaN32(Register f32);
  Register CanonicalNaN64(Register f64);
  Register Choose(Register predicate, Register a, Register b);  // of 32 bits, 64 or predicates

 private:
  Register Encode(Element& element);
  Register EncodeNarrow(Element& element);
  Register DecodeNarrow(ElementType type, Register pattern);
  Register RoundNarrow(const FloatFormat& format, Register f64);
  Register RoundToPower(const FloatFormat& format, Register f64);

  PtxWriter& w;
};

}  // namespace assay::gpu

#endif  // ASSAY_GPU_PTX_ELEMENT_H_
