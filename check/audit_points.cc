// What is open at each point of an audit. The figures of XLA:CPU are those of jaxlib 0.10.2, those of XLA:GPU
// of JAX 0.11.2 on an H200, by tests/differential/audit_on_xla.py; what is said of StableHLO is what its
// specification says, and "not said" where it says nothing. docs/audit.md has the same words.
#include <iterator>

#include "check/audit.h"

namespace assay {
namespace {

// StableHLO, "Errors": error conditions, such as integer overflow and accesses out of bounds, have
// implementation-defined results where an operation does not say more.
constexpr std::string_view kErrors = "implementation-defined (Errors)";

// In the order of audit_points.def.
constexpr AuditPointFacts kFacts[] = {
    {"x / 0 and x rem 0 of integers", kErrors, "-1 (all ones), and x (measured)",
     "-1 (all ones), and x (measured)", "-1 (all ones), and x"},
    {"the smallest integer / -1, and its remainder", kErrors, "the smallest integer, and 0 (measured)",
     "the smallest integer, and 0 (measured)", "the smallest integer, and 0"},
    {"a shift by the type's width or more, or by less than 0", "not said",
     "all bits are shifted out; arithmetic ones leave the sign (measured)",
     "all bits are shifted out; arithmetic ones leave the sign (measured)",
     "all bits are shifted out; arithmetic ones leave the sign"},
    {"an integer to a negative power", "not said", "0, of bases 1 and -1 their power (measured)",
     "0, of bases 1 and -1 their power (measured)", "0, of bases 1 and -1 their power"},
    {"a float that is not a number of the integer type it is converted to", "to be defined (convert)",
     "the nearest number of the type, of NaN 0 (measured)",
     "the nearest number of the type, of NaN 0 (measured)", "the nearest number of the type, of NaN 0"},
    {"a window that starts where it would leave the array", "moved inside (gather, dynamic_slice)",
     "moved inside (measured)", "moved inside (measured)", "moved inside"},
    {"updates outside of the array", "each such element is skipped (scatter)",
     "the whole window is dropped (measured)", "dropped (measured with windows of one element)",
     "the whole window is dropped"},
    {"updates that hit one element, in an order that shows", "any order (scatter)",
     "in the order of the indices; sums round at each step (measured)",
     "in another order: of three updates that replace the first stayed, and 1 with 1e8, -1e8 and 0.001 added "
     "became 0.001 (measured)",
     "in the order of the indices; sums are exact and round once"},
    {"unique_indices=true where two are equal", "undefined (scatter)", "no difference seen (measured)",
     "updates are lost: of three one was added (measured)", "the promise is not used"},
    {"indices_are_sorted=true where they are not", "undefined (gather, scatter)",
     "no difference seen (measured)", "no difference seen (measured)", "the promise is not used"},
    {"a sort that is not stable, of equal keys with something else to tell them apart", "any order (sort)",
     "another order than a stable sort's (measured with 20)",
     "another order than a stable sort's (measured with 20)", "the order of a stable sort"},
    {"a comparator that is not a strict weak order: NaNs by LT, or LE", "undefined (sort)",
     "some other order than Assay's (measured)", "some other order than Assay's (measured)",
     "what a merge sort makes of it (sort-not-an-order)"},
    {"NaN among what the larger, the smaller or the largest k are taken of",
     "NaN (IEEE 754 maximum, minimum)", "NaN (measured)",
     "NaN (measured); not where --xla_gpu_enable_fast_min_max is on",
     "NaN; in topk as the total order has it"},
    {"LT, LE, GT or GE with a NaN", "false (IEEE 754)", "false (measured)", "false (measured)", "false"},
    {"clamp(low, x, high) with low > high", "min(max(x, low), high), so high (clamp)", "high (measured)",
     "high (measured)", "high"},
    {"an initial value that is not the identity of its reducer", "used any number of times (reduce)",
     "used once, several times (1000 ones and 5 are 1165) or not at all (sizes of 1) (measured)",
     "used several times (1000 ones and 5 are 1470) or not at all (sizes of 1) (measured)", "used once"},
    {"a reducer that gives other results in another order", "any order (reduce)",
     "in order where it was measured", "in another order (measured)", "in order"},
    {"the order of a group of several replicas with all their several partitions",
     "for each partition, the replicas of the group (all_gather, cross_replica_and_partition)",
     "for each replica, its partitions (measured)",
     "for each replica, its partitions (XLA's source); not measured",
     "each form's own: HLO has XLA's order, StableHLO its own (stablehlo-group-order)"},
    {"random numbers", "another stream on each implementation (rng_bit_generator)",
     "three_fry and philox give Assay's bits, rng_default is philox (measured); rng has a stream of its own",
     "three_fry and philox give Assay's bits, rng_default is philox (measured); rng was not measured",
     "three_fry and philox; rng by philox and --seed (rng-stream)"},
    {"operands or results of f32, f64 and bf16 that are subnormal numbers", "no word on accuracy (Accuracy)",
     "read and written as zero (measured)", "kept (measured); zero where --xla_gpu_ftz is on", "kept"},
    {"the triangle of a Cholesky factor that was not asked for", "implementation-defined (cholesky)",
     "zero (measured)", "zero (measured)", "zero"},
    {"the Cholesky factor of a matrix that is not positive definite", "undefined (cholesky)",
     "NaN (measured)", "NaN (measured)", "NaN"},
    {"a triangular system with 0 on the diagonal", "not said", "NaN where Assay has infinities (measured)",
     "x / 0 as IEEE 754 has it (measured)", "x / 0 as IEEE 754 has it"},
};
static_assert(std::size(kFacts) == kNumAuditPoints);

}  // namespace

const AuditPointFacts& FactsOf(AuditPoint point) { return kFacts[static_cast<size_t>(point)]; }

}  // namespace assay
