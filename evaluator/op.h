// What one op is: OpDef, the row of the op table. Every opcode of hlo/ops.def has exactly one, defined
// in its family file under ops/; verifier, executor, tests and docs read the table (registry.h).
#ifndef ASSAY_EVALUATOR_OP_H_
#define ASSAY_EVALUATOR_OP_H_

#include <cstdint>
#include <span>

#include "hlo/module.h"
#include "literal/literal.h"
#include "shape/error.h"
#include "shape/shape.h"

namespace assay {

class EvalContext;  // eval_context.h
struct StripKernel;

struct Arity {
  int min = 0;
  int max = 0;  // -1: no upper bound
};
constexpr Arity Exactly(int n) { return {n, n}; }
constexpr Arity AtLeast(int n) { return {n, -1}; }
constexpr Arity Between(int low, int high) { return {low, high}; }

struct AttrSpec {
  Attr attr;
  bool required = false;
};
constexpr AttrSpec Required(Attr attr) { return {attr, true}; }
constexpr AttrSpec Optional(Attr attr) { return {attr, false}; }

// What a shape rule sees: shapes and attributes, never a value.
struct InferContext {
  const Module& module;
  const Instruction& instruction;
  std::span<const Shape* const> operands;
  const Shape* declared;                     // as written in the program; null where it was left out
  const Computation* computation = nullptr;  // the instruction's own; null only in tests of single rules

  const AttributeMap& attributes() const { return instruction.attributes; }
  int64_t num_operands() const { return static_cast<int64_t>(operands.size()); }
  const Shape& operand(int64_t i) const { return *operands[i]; }
  // The instruction that gives operand i, for rules that link a -done with its -start.
  const Instruction& operand_instruction(int64_t i) const {
    return computation->instructions[instruction.operands[i]];
  }
  // Parameter and root shapes of a called computation (already verified).
  ProgramShape Called(ComputationId id) const;
  // The whole called computation, for rules that look inside (RED-1).
  const Computation& CalledComputation(ComputationId id) const { return module.computation(id); }
  // For ops whose result shape comes from the program alone: the declared shape, or an error saying that it
  // can't be left out.
  absl::StatusOr<Shape> Declared() const;
};

// Returns the result shape, or InvalidProgram with the label of the violated constraint first:
// "Gather-C4: start_index_map has 2 entries, index vector has 3". Positions are added by the caller. Where
// the result's layout is not decided by the rule it is row-major; Verify keeps the declared layout.
using InferFn = absl::StatusOr<Shape> (*)(const InferContext& context);

// Evaluates one instruction. Operands have the shapes of the program (run-time sizes within bounds); the op
// may move from them, and an operand that arrives unshared may be overwritten and returned. The result must
// have context.result_shape().
using EvalFn = absl::StatusOr<Literal> (*)(EvalContext& context, std::span<Literal> operands);

// For elementwise ops: the function over strips that gives the op its meaning, for these operand types and
// result type. See elementwise.h.
using StripFor = StripKernel (*)(const Instruction& instruction, std::span<const ElementType> operands,
                                 ElementType result);

struct OpDef {
  Arity operands;
  // Element types admitted for the array operands that the op computes with (UNARY-C2 and its like are
  // checked by the shape rule with its own label; this set is what `assay ops` shows and what the type sweep
  // tries).
  TypeSet types;
  std::span<const AttrSpec> attributes = {};
  InferFn infer = nullptr;
  EvalFn eval = nullptr;
  StripFor strip = nullptr;      // elementwise ops only; eval is then EvalElementwise
  bool has_side_effect = false;  // executed even if unused, in token and textual order
  // Computations called by this op may have side effects (control flow); a reducer's may not (RED-C7).
  bool calls_may_have_effects = false;
};

namespace ops {
#define OP(id, hlo, stablehlo) extern const OpDef id;
#include "hlo/ops.def"
#undef OP
}  // namespace ops

}  // namespace assay

#endif  // ASSAY_EVALUATOR_OP_H_
