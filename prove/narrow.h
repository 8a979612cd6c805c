// Proofs over every input: tools/prove --bits N.
#ifndef ASSAY_PROVE_NARROW_H_
#define ASSAY_PROVE_NARROW_H_

#include <functional>
#include <string>

#include "prove/functions.h"
#include "prove/report.h"
#include "prove/subject.h"

namespace assay::prove {

// Every float function of one operand over all values of every float type of at most `bits` bits, of two
// operands over all pairs of values of the types of at most 8 bits; every integer function over all values or
// pairs of the integer types of at most 8 bits; every conversion between types of at most `bits` bits.
void ProveNarrow(int bits, const std::string& engine, int jobs, Ledger& ledger);

// Every value, or pair of values, of one format.
Proof ProveAllValues(const Function1& f, const NumberFormat& format, const Subject& subject);
Proof ProveAllPairs(const Function2& f, const NumberFormat& format, const Subject& subject);

// Integers (integers.cc). The oracle works on values, with plain arithmetic in 64 bits.
struct IntegerFunction {
  Opcode opcode;
  int operands;
  // Takes values of the type (`bits` wide); the result is taken mod 2^bits.
  std::function<int64_t(int64_t a, int64_t b, int bits, bool is_signed)> value;
};
const std::vector<IntegerFunction>& IntegerFunctions();
Proof ProveIntegers(const IntegerFunction& f, ElementType type, const Subject& subject);

// Every value of `from` converted to `to` (conversions.cc). Types of at most 32 bits, and pred.
Proof ProveConversion(ElementType from, ElementType to, const Subject& subject);
uint64_t WantConversion(ElementType from, ElementType to, uint64_t pattern);

}  // namespace assay::prove

#endif  // ASSAY_PROVE_NARROW_H_
