// Audits: where a program depends on what its specification leaves open (docs/audit.md). Every op has a rule
// (OpDef::audit) that tells of its instruction, by the text alone or by the values of a run, which of the
// points of audit_points.def it meets.
#ifndef ASSAY_EVALUATOR_AUDIT_H_
#define ASSAY_EVALUATOR_AUDIT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/numeric/int128.h"
#include "evaluator/instruction_view.h"
#include "hlo/module.h"
#include "literal/literal.h"

namespace assay {

class EvalContext;

enum class AuditPoint : uint8_t {
#define POINT(id, name) k##id,
#include "evaluator/audit_points.def"
#undef POINT
};
inline constexpr int kNumAuditPoints = 0
#define POINT(id, name) +1
#include "evaluator/audit_points.def"
#undef POINT
    ;
std::string_view Name(AuditPoint point);

// All values of an integer, as far as it is known.
struct IntegerRange {
  absl::int128 low, high;
  static IntegerRange Of(ElementType type);
  bool Contains(absl::int128 value) const { return low <= value && value <= high; }
};

// Elements, windows or index vectors at which a value depends on a point.
struct Dependence {
  int64_t count = 0, of = 0;
  // The first of them: where it is, in words or as an index, and what stands there.
  std::string first;
};

// What a rule sees and tells. One rule reads both: of a run it has all values,
// of the text those of constants alone.
class AuditContext {
 public:
  virtual ~AuditContext() = default;

  virtual const InstructionView& view() const = 0;
  virtual const Module& module() const = 0;
  const AttributeMap& attributes() const { return view().attributes(); }
  ElementType operand_type(size_t k) const { return view().operand(k).element_type(); }

  // The run; null: the text is read.
  virtual EvalContext* run() = 0;
  // Null: not known. A result is known of runs alone.
  virtual const Literal* Operand(size_t k) = 0;
  virtual const Literal* Result() = 0;
  // What the text says of an operand of integers or predicates.
  virtual IntegerRange Range(size_t k) = 0;
  // Whether the text says that instructions of the computation may depend on the point.
  virtual bool MayMeet(ComputationId id, AuditPoint point) = 0;

  // The text alone says that there is, or for some values may be, a dependence. Ignored of runs.
  virtual void Always(AuditPoint point, std::string_view note = {}) = 0;
  virtual void RecordPossible(AuditPoint point, std::string_view note = {}) = 0;
  // The values were looked at. Of constants this is Always, where the count is not 0.
  virtual void RecordFound(AuditPoint point, const Dependence& dependence) = 0;
  // An element of an operand or the result, `array`, that Count has counted.
  virtual void RecordElement(AuditPoint /*point*/, const Literal& /*array*/, int64_t /*position*/) {}
  virtual void Fail(absl::Status status) = 0;

  // --- Words in which rules are written.
  // Counts the elements of `array`, those beyond run-time sizes left out, at which the value depends on the
  // point; shows the elements of the arrays in `shown` at the first.
  void Count(AuditPoint point, const Literal& array, absl::FunctionRef<bool(int64_t position)> depends,
             std::initializer_list<const Literal*> shown);
  // Tells a run of work; false where it has to end.
  bool Charge(int64_t elements);
};

// "[1,2]" of a row-major position.
std::string IndexText(int64_t position, std::span<const int64_t> sizes);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_AUDIT_H_
