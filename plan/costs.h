// What a step moves and computes, from shapes alone: the numbers that `assay plan` and `assay bench --steps`
// show.
//
// Bytes. A step reads each of its operands once and writes its result once; a fusion reads its outer
// operands, constants among them, and writes its root; of an operand that only slices read, these. Where a
// part is touched, the part counts: slice and dynamic-slice read what they give, dynamic-update-slice reads
// and writes as much as the update, gather reads as much as it gives, scatter reads and writes as much as the
// updates; indices are read. Nothing is moved by what only passes values on or lets them share storage:
// parameter, constant, tuple, get-tuple-element, tokens, domain, optimization barrier, reshape, bitcast,
// copy.
//
// Operations. n elements in the result, c(f) what one application of the computation f takes:
//   elementwise       n, in `flops`, integers and pred too; in `functions` for those that XLA calls
//                     transcendental: exp, log, power, sqrt, tanh, … A complex operation is one.
//   dot and its kin   2 M N K
//   convolution       2 n (kernel's input features) (valid window positions): products with padding or a hole
//                     of base dilation are none
//   reduce            (elements - n) c         reduce-window n (window - 1) c
//   select-and-scatter  elements of the source by ((window - 1) c(select) + c(scatter))
//   map               n c                      scatter       elements of the updates by c
//   sort              elements by ⌈log2 of the line's length⌉        topk   elements of the operand
//   fft               8 elements by the sum of ⌈log2 of the length⌉ (of the longer side where it is real)
//   cholesky          n³/3 a matrix            triangular-solve  2 (elements of b) (unknowns)
//   rng               n functions              all others 0
// Steps that run other computations (while, conditional, call, fusion, async, scan) leave all of this to the
// steps in there. Where a kernel takes a whole while or scan, it reads and writes the state, and its
// operations are those of one iteration.
#ifndef ASSAY_PLAN_COSTS_H_
#define ASSAY_PLAN_COSTS_H_

#include <string>
#include <vector>

#include "plan/plan.h"

namespace assay {

// Numbers beyond 2^53 are rounded.
struct Cost {
  double read = 0, written = 0;  // bytes
  double flops = 0, functions = 0;
  bool known = true;           // false: the operations of a custom call, or sizes without a bound
  bool per_iteration = false;  // of a loop, operations only

  double bytes() const { return read + written; }
  friend bool operator==(const Cost&, const Cost&) = default;
};

// The costs of a module's steps; computations are counted once, each after those that it calls.
class Costs {
 public:
  explicit Costs(const Module& module);
  // `computation` is the step's own, in this module.
  Cost Of(const Computation& computation, const Step& step) const;
  // The cost of the instruction by itself, as the reference runs it.
  Cost Of(const Computation& computation, const Instruction& instruction) const;

 private:
  // Operations of a run of each computation, with those of one iteration of the loops in there.
  std::vector<Cost> totals_;
};

// "24 B", "1.5 KiB", "64 MiB": three digits.
std::string BytesText(double bytes);
// "2 flop", "1.07 Gflop + 16.8 M functions", "? flop", "2 flop an iteration".
std::string OperationsText(const Cost& cost);

}  // namespace assay

#endif  // ASSAY_PLAN_COSTS_H_
