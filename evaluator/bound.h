// Bounds: how far a correct backend's value may lie from the exact one (docs/bounds.md). Every op has a rule
// (OpDef::bound) that writes, beside its instruction, the instructions that compute a radius r for each array
// of the result: every conforming backend has a value in [v - r, v + r].
//
// The invariants of a radius: it is an array of the value's sizes in RadiusType; +inf or NaN says that
// nothing is known of the element (unchecked); a value that is infinite or NaN with a finite radius is so
// with every conforming backend. A radius that is zero whatever the inputs are is absent:
// no instruction is written for it.
#ifndef ASSAY_EVALUATOR_BOUND_H_
#define ASSAY_EVALUATOR_BOUND_H_

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "evaluator/instruction_view.h"
#include "hlo/module.h"

namespace assay {

// An array of the derived program. None stands for a radius that is known to be zero.
struct Node {
  int32_t id = -1;
  explicit operator bool() const { return id >= 0; }
};

// An interval of real numbers that holds every value that a conforming backend can have of an array, in
// radius type: its ends may be infinite, where values may overflow. Where an end is NaN nothing is known,
// and the value may be NaN.
struct Ends {
  Node low, high;
  explicit operator bool() const { return static_cast<bool>(low); }
};

// The first-order form of an array in a loop, of its distance d from the exact one: there are numbers s_1, …,
// s_m in [-1, 1], the same for all arrays of a computation, with |d - sum_i tangents[i] s_i| <= rest. Where
// one value reaches a result by several ways their parts add up with their signs, which radii do not know.
// What an instruction itself is off by is part of the rest, which two readers have independently of each
// other: a compiler may compute an instruction, and the chain before it, once for each fusion that reads it,
// and round it differently. So the numbers s are only of values that are stored: the state of loops.
struct LoopForm {
  Node tangents;  // m arrays like the value, along dimension 0
  Node rest;      // like the radius
  Node total;     // what sum_i |tangents[i]| is at most if nothing cancels: of the rounding of tangents
  // Through how many instructions the tangents went since rest covered their rounding (bound::Settled).
  int steps = 0;
  explicit operator bool() const { return static_cast<bool>(tangents); }
};

// What a profile lets a backend do in one instruction.
struct Allowance {
  double ulps = 0.5;    // of the result's type, from the function of the operands that the backend had
  double relative = 0;  // a tolerance of result_accuracy
  double absolute = 0;  // the same; and numbers below it may become zero
  bool keeps_precision = false;  // the result may stay unrounded (contraction, excess precision)
  bool is_correctly_rounded() const {
    return ulps <= 0.5 && relative == 0 && absolute == 0 && !keeps_precision;
  }
};

// Radii are f64 where the value has f64 components, else f32.
ElementType RadiusType(ElementType type);

// What a rule sees and writes. Where an instruction can't be written the first error is kept, and the
// derivation ends with it.
class BoundContext {
 public:
  virtual ~BoundContext() = default;

  virtual const InstructionView& view() const = 0;  // of the program
  virtual const Module& module() const = 0;         // of the program
  const AttributeMap& attributes() const { return view().attributes(); }
  ElementType result_type() const { return view().result().element_type(); }
  ElementType operand_type(size_t k) const { return view().operand(k).element_type(); }

  // Operand k, an array, and its radius; leaf k of the result.
  virtual Node Value(size_t k) = 0;
  virtual Node Radius(size_t k) = 0;
  virtual Node Result(size_t leaf = 0) = 0;
  virtual const Shape& ShapeOf(Node node) const = 0;
  bool AnyRadius();
  // The interval of operand k, and of the result: of numbers that are not complex. They are written where a
  // rule asks for them, by bound::EndsByRule of what made the array;
  // where the radius is +inf they may still know one end.
  virtual Ends EndsOf(size_t k) = 0;
  virtual Ends ResultEnds() = 0;
  // The operand is the result of an instruction that may overflow:
  // its ends may be known where its radius is +inf.
  virtual bool MayOverflow(size_t k) = 0;
  // The radius that the result was given.
  virtual Node ResultRadius() = 0;
  // What the instruction itself is off by, of the function of the operands that a backend has: a sum of
  // parts, each an array and a number. SetRoundedRadius adds the last rounding, rules of sums add what is
  // rounded before it. Both kinds of first-order forms (bound::LinearForm, LoopForm) ask for it, of ops whose
  // rules add all parts. None: no part is known.
  virtual void AddRounding(Node, double) {}
  virtual Node ResultRounding() { return Node(); }
  // The form of operand k in a loop, where one is known (bound::GiveLoopForm), and of the result.
  virtual LoopForm LoopFormOf(size_t) { return {}; }
  virtual void SetLoopForm(const LoopForm&) {}
  bool AnyLoopForm();
  // An array that another instruction of the computation gave before this one, and its radius: for rules of
  // several instructions. None: it is not at hand.
  virtual Node ValueAt(int32_t) { return Node(); }
  virtual Node RadiusAt(int32_t) { return Node(); }

  // The answer: the radius of a leaf of the result. A leaf without one is exact.
  virtual void SetRadius(Node radius, size_t leaf = 0) = 0;
  // No leaf of the result is checked; the reason is shown to the user.
  virtual void MarkUnchecked(std::string_view why) = 0;
  // Calls, loops, branches and tuples, whose radii follow from the structure of the program.
  virtual void FollowStructure() = 0;
  // The result is this element of operand 0, a tuple.
  virtual void FollowElement(int64_t element) = 0;
  // Where operand k is infinite its radius is, too; and the same of the result from here on.
  virtual bool InfinityIsUndecided(size_t k) = 0;
  virtual void SetInfinityIsUndecided() = 0;
  // Says that errors of this instruction are those of operands that are a little off. True: a sample moves
  // these, and no radius is to be given (check/estimate).
  virtual bool SamplesMoveOperands() { return false; }
  // The computation gives exact results of exact arguments.
  virtual bool IsExact(ComputationId id) = 0;

  // What the profile says of this instruction, of sums and of what dots cut their operands to:
  // units of roundoff (half an ulp).
  virtual Allowance Allowed(ElementType type) const = 0;
  // The same of another operation, as which a backend computes a step of this one.
  virtual Allowance AllowedFor(Opcode op, ElementType type) const = 0;
  // The same of the last rounding of a sum.
  virtual Allowance AllowedForSum(ElementType type) const { return Allowed(type); }
  virtual double SumUnit(ElementType type) const = 0;
  virtual double InputUnit(ElementType type) const = 0;
  // Radii are to be as large as errors usually are, not as they can be at most: of sums of n terms by the
  // root of n (docs/bounds.md, Estimates).
  virtual bool IsEstimate() const { return false; }

  // Writes an instruction; its operands are ids of nodes, its computations those of the derived program.
  virtual Node Write(Instruction instruction) = 0;
  // An array of one number, of the sizes and type of another or scalar.
  virtual Node Constant(double value, Node like) = 0;
  virtual Node Scalar(ElementType type, double value) = 0;
  // f(a, b) = a op b, or b, on scalars.
  virtual ComputationId Reducer(Opcode op, ElementType type) = 0;
  virtual ComputationId Replacer(ElementType type) = 0;
  // |node| in its radius type, written once.
  virtual Node Magnitude(Node node) = 0;
  // The computation of the derived program that stands for one of the program.
  virtual ComputationId Copied(ComputationId id) = 0;
  // The same with two more parameters of each of these types, which it does not look at:
  // a comparator of what is sorted along.
  virtual ComputationId Widened(ComputationId id, std::span<const ElementType> types) = 0;

  // --- Words in which rules are written. A radius that is absent is zero in all of them.
  Node Write(Opcode op, std::initializer_list<Node> operands);
  // This instruction with other operands, for radii: its result has radius type.
  Node CloneWith(std::span<const Node> operands);
  Node CloneWith(std::initializer_list<Node> operands) {
    return CloneWith(std::span(operands.begin(), operands.size()));
  }
  // The node as numbers of this type; its magnitude is not taken.
  Node ConvertTo(Node node, ElementType type);
  Node Plus(Node a, Node b);
  Node Plus(Node a, double b);
  Node Minus(Node a, Node b);
  Node Times(Node a, Node b);
  Node Times(Node a, double b);
  Node Over(Node a, Node b);
  Node Max(Node a, Node b);
  Node Min(Node a, double b);
  Node Function(Opcode op, Node a);  // one that is 0 at 0
  Node Compare(std::string_view direction, Node a, Node b);
  Node Compare(std::string_view direction, Node a, double b);
  Node Choose(Node predicate, Node if_true, Node if_false);  // none: zero
  Node OrZero(Node radius, Node like);                       // an array in any case
  // A scalar spread over an array like another.
  Node Spread(Node scalar, Node like);
  // The largest element along the dimensions, or the sum: with those dimensions gone.
  Node Reduced(Opcode op, Node a, std::span<const int64_t> dimensions);
  // Element k of a tuple.
  Node Element(Node tuple, int64_t k);
  // An array spread over one of the sizes of `like`; its dimension i becomes dimension dimensions[i].
  Node SpreadAlong(Node a, std::span<const int64_t> dimensions, Node like);
  // The elements start, …, limit - 1 along a dimension.
  Node Sliced(Node a, int64_t dimension, int64_t start, int64_t limit);
  // 0 where every element of the radius is zero, else +inf: a scalar.
  Node Flag(Node radius);
};

}  // namespace assay

#endif  // ASSAY_EVALUATOR_BOUND_H_
