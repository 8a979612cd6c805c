// How near a kernel's results are to the reference's. An accuracy is one object: it says whether an element
// may be what a kernel gave, and says its bound in words, so that plan,
// cross-check and messages speak of one formula.
#ifndef ASSAY_ENGINES_ACCURACY_H_
#define ASSAY_ENGINES_ACCURACY_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "hlo/module.h"
#include "shape/element_type.h"

namespace assay {

// A sum of products or of elements before it is rounded to the result's type. With u = 2^-53 and n terms:
struct SumOfTerms {
  double sum = 0;        // within u |sum| + n^2 u^2 magnitude of the exact one, of f64 within u |sum|
  double magnitude = 0;  // sum |t|, or up to 3 n u of it more
  double subnormal = 0;  // the part of it with a factor below 2^-126, likewise
  int64_t terms = 0;
};

// The right value of an element.
struct ExactElement {
  ElementType type = ElementType::kPred;
  const std::byte* value = nullptr;  // as the reference gives it, of `type`
  const SumOfTerms* sum = nullptr;   // for Accuracy::Basis::kSum
};

class Accuracy {
 public:
  // What Allows looks at.
  enum class Basis : uint8_t {
    kValue,  // ExactElement::value
    kSum,    // ExactElement::sum
    // Each approximate member of a step by itself (Kernel::ApproximationOf), and what the others make of it.
    kMembers,
  };

  virtual ~Accuracy() = default;
  virtual Basis basis() const { return Basis::kValue; }
  // Whether a kernel may give `actual`, an element of the exact one's type.
  virtual bool Allows(const ExactElement& exact, const std::byte* actual) const = 0;
  // The bound in words: "bit-exact", "within 2 ulp of the correctly rounded result".
  virtual std::string Bound() const = 0;
  // What is allowed for this element, for the message of a difference: ", allowed from 1.5 to 2". Empty where
  // it is the exact value alone.
  virtual std::string Allowed(const ExactElement& exact) const;
};

// Every element has the reference's bits.
const Accuracy& BitExact();

// Sums of n terms t (products, in dot and convolution) in f32, u = 2^-24 and w = 2^-126, or in f64, u = 2^-53
// and w = 2^-1074, in some order:
//   RN_T(s - e) <= element <= RN_T(s + e),  s = sum t,  T the result's type,
//   e = gamma sum |t| + n w,  gamma = (n + 2) u / (1 - (n + 2) u)
// Where s is NaN it is NaN, where s is infinite s or NaN (in f64 anything); where sum |t| (1 + gamma) leaves
// that format's range, anything.
const Accuracy& SumInF32();
const Accuracy& SumInF64();
// Terms with a subnormal factor may count as zero besides: e grows by the sum of their magnitudes.
const Accuracy& SumInF32WithoutSubnormals();

// Sums of n terms on tensor cores whose sums are f32 (NVIDIA's of compute capability 8.0 and later): the
// terms of a group and the sum so far are added in fixed point, each cut at F fraction bits of the greatest
// exponent among them, and the sum is cut at 24 bits. With d = (1 + 2^-p)^2 - 1 for factors that are first
// rounded to p bits (d = 0: they are not), G groups that have a term, and a = (n + G) 2^-F + G 2^-23:
//   RN_T(s - e) <= element <= RN_T(s + e),  s = sum t,  e = (d + (1 + d) a / (1 - a)) sum |t| + n 2^-126
// Proof of a: n + G numbers are cut, each by less than 2^-F times the greatest magnitude in its group, and G
// sums by 2^-23; no sum exceeds (1 + d) sum |t| (1 + a / (1 - a)). Where d > 0, terms with a subnormal factor
// may count as zero besides. NaN, infinities and sums that leave the range are as in SumInF32.
class TensorCoreSums final : public Accuracy {
 public:
  struct Cores {
    int factor_bits = 0;         // p; 0: factors are as they are
    int fraction_bits = 25;      // F
    int64_t terms_of_group = 1;  // of neighbouring k
    bool has_gaps = false;       // some k are no terms: each term may have a group of its own
  };
  explicit TensorCoreSums(const Cores& cores) : cores_(cores) {}

  Basis basis() const override { return Basis::kSum; }
  bool Allows(const ExactElement& exact, const std::byte* actual) const override;
  std::string Bound() const override;
  std::string Allowed(const ExactElement& exact) const override;

 private:
  Cores cores_;
};

// f(x) rounded once, or one of the `ulps` next numbers of the type on either side, of the same sign; infinity
// is the one behind the largest. NaN is NaN. 0 <= ulps <= 16.
const Accuracy& WithinUlps(int64_t ulps);

// f(x) with an error of at most `relative` |f(x)| + `absolute`, rounded once. With v the correctly rounded
// result, which is off by h = half a unit in its last place itself:
//   RN_T(v - e) <= element <= RN_T(v + e),  e = relative (|v| + h) + absolute + h
// NaN is NaN; infinity is the power of two behind the largest number.
class WithinError final : public Accuracy {
 public:
  WithinError(double relative, double absolute) : relative_(relative), absolute_(absolute) {}

  bool Allows(const ExactElement& exact, const std::byte* actual) const override;
  std::string Bound() const override;
  std::string Allowed(const ExactElement& exact) const override;

 private:
  double relative_, absolute_;
};

// Members with an approximation are within that one's bound, all others have the reference's
// bits for what they were given.
const Accuracy& ByMembers();

// The most terms of a sum that an element of a dot or convolution is; 1 for other ops.
int64_t TermsOfProduct(const Computation& computation, const Instruction& instruction);

}  // namespace assay

#endif  // ASSAY_ENGINES_ACCURACY_H_
