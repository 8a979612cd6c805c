// The rules of OpDef::audit: each tells where its instruction depends on what the specification leaves open.
// integers.cc, floats.cc, groups.cc, indexing.cc, order.cc and reducers.cc have them.
#ifndef ASSAY_EVALUATOR_AUDITS_RULES_H_
#define ASSAY_EVALUATOR_AUDITS_RULES_H_

#include <initializer_list>
#include <optional>

#include "evaluator/audit.h"

namespace assay::audit {

// Its meaning is said to the last bit, whatever the values: moves, structure, operations on bits, and calls,
// whose instructions are looked at by themselves.
void Nothing(AuditContext& c);
// Computes with floats, of which some may be subnormal.
void Computes(AuditContext& c);

void Divide(AuditContext& c);  // remainder too
void Power(AuditContext& c);
void Shift(AuditContext& c);

void Extreme(AuditContext& c);  // maximum, minimum
void Clamp(AuditContext& c);
void Compare(AuditContext& c);
void Convert(AuditContext& c);

void Gather(AuditContext& c);
void DynamicSlice(AuditContext& c);
void DynamicUpdateSlice(AuditContext& c);
void Scatter(AuditContext& c);

void Sort(AuditContext& c);
void TopK(AuditContext& c);

void AllReduce(AuditContext& c);   // reduce-scatter too
void GroupOrder(AuditContext& c);  // all-gather
void Reduce(AuditContext& c);
void ReduceWindow(AuditContext& c);
void Scan(AuditContext& c);
void SelectAndScatter(AuditContext& c);

void Random(AuditContext& c);
void Cholesky(AuditContext& c);
void TriangularSolve(AuditContext& c);

// --- What rules are made of
// ---------------------------------------------------------------------------------------

// Subnormal numbers of a type that XLA may flush (f32, f64, bf16, complex),
// among the operands and in the result.
void Subnormals(AuditContext& c);
// NaNs among these operands, where the computation compares its operands, or takes the larger or smaller.
void NansOfReducer(AuditContext& c, ComputationId id, size_t begin, size_t end);
bool IsNan(const Literal& array, int64_t position);

// What comes of applying a computation of two values in another order.
enum class Combiner : uint8_t {
  kAnyOrder,  // the same
  kRounds,    // the same, but for rounding
  kReplaces,  // the last one
  kUnknown,   // nobody knows: it is none of the operations that are commutative and associative
};
Combiner CombinerOf(const Module& module, ComputationId id);

// What the text says of the values of an instruction of integers or predicates.
IntegerRange RangeOf(const Computation& computation, int32_t instruction);

}  // namespace assay::audit

#endif  // ASSAY_EVALUATOR_AUDITS_RULES_H_
