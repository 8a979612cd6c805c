// What one op is: OpDef, the row of the op table. Every opcode of hlo/ops.def has exactly one, defined
// in its family file under ops/; verifier, executor, tests and docs read the table (registry.h).
#ifndef ASSAY_EVALUATOR_OP_H_
#define ASSAY_EVALUATOR_OP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/error.h"
#include "evaluator/input_demand.h"
#include "evaluator/terms.h"
#include "evaluator/work.h"
#include "hlo/module.h"
#include "literal/literal.h"
#include "shape/index.h"
#include "shape/shape.h"

namespace assay {

class AuditContext;  // audit.h
class BoundContext;  // bound.h
struct DeviceGrid;   // device.h
class EvalContext;   // eval_context.h
class OpenSizes;     // open_sizes.h
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
  const DeviceGrid* grid = nullptr;          // of a run; null: the number of devices is not settled yet

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
  // The declared shape, for ops whose result shape comes from the program alone, or an error saying that it
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

// Writes how far a correct backend's result may lie from the exact one (bound.h; the rules are in bounds/).
using BoundFn = void (*)(BoundContext& context);

// Tells where the instruction depends on what the specification leaves open (audit.h;
// the rules are in audits/).
using AuditFn = void (*)(AuditContext& context);

// What the op does with open dimensions of its operands, and which of its result's are open (open_sizes.h).
using OpenSizesFn = absl::Status (*)(OpenSizes& sizes);

// The function over strips that gives an elementwise op its meaning, for these operand types and
// result type. See elementwise.h.
using StripFor = StripKernel (*)(const Instruction& instruction, std::span<const ElementType> operands,
                                 ElementType result);

// Of ops whose result elements are elements of operands, with all their bits. Bounds (bound::Moved), demands
// on operands and ranges of integers follow from it.
struct MoveDef {
  static constexpr int8_t kAll = -1;
  int8_t operands =
      0;  // the first ones are moved, by what stands behind them; kAll: all are; 0: the op moves none
  bool in_place = false;  // at the same row-major positions
  bool or_zero = false;   // some elements may be zero instead: devices that nobody sends to

  bool any() const { return operands != 0; }
  size_t count(size_t num_operands) const {
    return operands == kAll ? num_operands : static_cast<size_t>(operands);
  }
};

// Maps a result that holds elements of operand 0, each where its index says: the element at `index` is the
// operand's at row-major position base + sum of index[d] * strides[d]. nullopt where these shapes or layouts
// forbid such a map.
using SourceFn = std::optional<AffineMap> (*)(const InstructionView& view);

// What the parameters of a called computation hold.
enum class Arguments : uint8_t {
  kOther,     // nothing that the op table tells: elements and partial results, states, a branch's operand
  kOperands,  // parameter k is operand k
  kElements,  // parameter k is an element of operand k, and the result one of the result
};

// What channel_id says.
enum class Channel : uint8_t {
  kNone,
  kCollective,  // chooses the mode of the groups; a positive id
  kTransfer,    // the n-th send of a channel meets its n-th recv
};

// A function that every op has to name: a row of the table without it does not compile. The address is not
// compared with null, which g++ takes for no constant under the sanitizers.
template <typename Fn>
class Named {
 public:
  consteval Named(Fn fn) : fn_(fn) {}  // NOLINT(google-explicit-constructor): rows name functions
  Named(std::nullptr_t) = delete;
  constexpr operator Fn() const { return fn_; }  // NOLINT(google-explicit-constructor)

 private:
  Fn fn_;
};

struct OpDef {
  Arity operands;
  // Element types admitted for the array operands that the op computes with (UNARY-C2 and its like are
  // checked by the shape rule with its own label; this set is what `assay ops` shows and what the type sweep
  // tries).
  TypeSet types;
  std::span<const AttrSpec> attributes = {};
  Named<InferFn> infer;
  Named<EvalFn> eval;
  Named<WorkFn> work;          // what a run takes (work.h)
  Named<BoundFn> bound;        // how far a correct backend may be from the exact result
  Named<AuditFn> audit;        // where it depends on what the specification leaves open
  StripFor strip = nullptr;    // elementwise ops only; eval is then EvalElementwise of map_elements.h
  MoveDef moves = {};          // ops that only move elements
  SourceFn source = nullptr;   // where each comes from, of those that move operand 0 by an affine map
  SumDef sum = {};             // ops whose result elements are sums of operand elements
  DemandFn demands = nullptr;  // what operands must be for the op to mean something; null: anything
  PassDemandFn pass_demand =
      nullptr;  // null: as `moves` says, else a demand on the result says nothing of the operands
  // Null: as open::Elementwise where there is a strip, else the op needs every size of its operands.
  OpenSizesFn open_sizes = nullptr;
  Arguments arguments = Arguments::kOther;
  Channel channel = Channel::kNone;
  // Each element is a function of its own index alone, so that it costs nothing to make it again.
  bool from_index = false;
  bool is_identity = false;  // the result is operand 0, an array or a tuple
  // What it calls runs as steps of the program, and counts there (Work tells the rest).
  bool runs_steps = false;
  // No engine gives the result in the storage of an operand.
  bool never_in_place = false;
  // Async states: one stands in a result, or in operand 0; each has one reader (Async-C7).
  bool gives_async_state = false, takes_async_state = false;
  // Its partner is looked for in its own computation (by channel, or Copy-C2):
  // what holds it stays a computation.
  bool partner_in_computation = false;
  bool has_side_effect = false;  // executed even if unused, in token and textual order
  // Says which instructions have one, where only some of the op do; null: has_side_effect says it for all.
  bool (*effect_of)(const Instruction& instruction) = nullptr;
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
