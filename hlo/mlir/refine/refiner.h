// One refinement: the operations of the program are visited in order, with what is known of every value, and
// written anew.
//
// refiner.cc: functions, regions, and operations as they are. refined_operations.cc: what is written.
// refine_calls.cc: loops, branches, calls, custom calls. refine_scan.cc: scans. static_forms.cc: what dynamic
// operations become.
#ifndef ASSAY_HLO_MLIR_REFINE_REFINER_H_
#define ASSAY_HLO_MLIR_REFINE_REFINER_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "base/hash_map.h"
#include "hlo/mlir/refine/known_argument.h"
#include "hlo/mlir/refine/known_values.h"
#include "hlo/mlir/refine/size_rules.h"

namespace assay::mlir {

// The function of this name, or the entry where there is none: @main, or the only public function.
const Operation* EntryFunction(const Tree& tree);
const Type* TypeOfFunction(const Operation& function);
// A size '?' without a bound, also in a tuple.
bool HasFreeSize(const Type& type);
// The sizes of two types, of tuples those of all parts.
bool SameSizes(const Type& a, const Type& b);
// The dimension variable that an argument is: its attribute jax.global_constant; empty: it is none.
std::string_view DimensionVariable(const Operation& function, size_t argument);

class Refiner {
 public:
  // `checking`: sizes may stay unknown, and nothing is kept of what is written.
  Refiner(Tree& tree, bool checking);
  absl::Status Run(std::span<const KnownArgument> arguments);

 private:
  // What is known of the values of one function, of all its regions.
  using Values = HashMap<const Value*, SizedValue>;
  // A region that is being written.
  struct Place {
    int32_t depth = 0;
    std::vector<Operation*> operations;
    HashMap<const Value*, Value*> constants;  // known values that were written here
  };
  // A function for arguments of some types and sizes.
  struct Instance {
    std::string_view name;
    Operation* written = nullptr;
    std::vector<SizedValue> results;
    bool is_empty = false;  // nothing of it needs to run
    bool is_called = false;
  };
  struct Visited {
    const Operation& op;
    std::vector<SizedValue> operands;
    Values& values;
    Place& place;
  };

  // Inputs and then carries become outputs and then carries; `length` lines along dimension `along`.
  struct Scan {
    size_t inputs = 0, outputs = 0, carries = 0, along = 0;
    int64_t length = kDynamicSize;
  };

  absl::Status Refine(std::span<const KnownArgument> arguments);
  absl::Status FindFunctions();
  absl::StatusOr<SizedValue> EntryArgument(const Operation& entry, size_t i, const KnownArgument* given);
  absl::StatusOr<const Type*> TypeFor(const Type& declared, const Shape& shape, std::string_view name);
  absl::StatusOr<Instance*> InstanceOf(std::string_view symbol, absl::Span<const SizedValue> arguments);
  absl::Status WriteFunction(const Operation& function, absl::Span<const SizedValue> arguments,
                             Instance& instance);
  const Type* WrittenFunctionType(const Region& body, absl::Span<const SizedValue> results);
  std::string_view NameOfInstance(std::string_view symbol);
  void ReplaceProgram();

  // Writes `from` into `to`, whose arguments are as these; the values that its last operation gives go to
  // `returned`.
  absl::Status WriteRegion(const Region& from, absl::Span<const SizedValue> arguments, Values& values,
                           Region* to, std::vector<SizedValue>* returned);
  absl::Status VisitAll(const Region& region, Values& values, Place& place);
  absl::Status Visit(const Operation& op, Values& values, Place& place);
  absl::Status VisitAny(Visited& at);
  absl::StatusOr<std::vector<SizedValue>> Operands(const Operation& op, const Values& values);
  absl::StatusOr<bool> FindKnown(Visited& at, const Type& type);
  // A value as an operand of what is written in `place`.
  Value* Use(const SizedValue& value, const Value* original, Place& place);
  std::vector<Value*> UseAll(Visited& at);

  // Types of results: what the rule says and what is declared.
  absl::StatusOr<std::vector<const Type*>> ResultTypes(const Operation& op,
                                                       absl::Span<const SizedValue> operands,
                                                       std::string_view rule_name);
  absl::StatusOr<const Type*> Merged(const Operation& op, size_t result, const Sizes& sizes);
  absl::Status CheckKnownSizes(const Operation& op, absl::Span<const Type* const> types);
  const Type* WithSizes(const Type& tensor, const Sizes& sizes);
  const Type* Static(const Type& type);  // `index` as s64

  // Writes an operation behind the others; its results are bound to those of at.op.
  Operation* Append(Visited& at, std::string_view name, absl::Span<Value* const> operands,
                    absl::Span<const NamedAttribute> attributes, absl::Span<const Type* const> results);
  absl::Status AppendCopy(Visited& at, absl::Span<const Type* const> results);
  Operation* NewOperation(std::string_view name, const Operation& from);
  void Bind(Visited& at, size_t result, SizedValue value) {
    at.values[&at.op.results[result]] = std::move(value);
  }
  NamedAttribute Integers(std::string_view name, absl::Span<const int64_t> values);
  NamedAttribute Integer(std::string_view name, int64_t value);
  NamedAttribute Symbol(std::string_view name, std::string_view symbol);
  std::vector<NamedAttribute> AttributesWithout(const Operation& op,
                                                absl::Span<const std::string_view> names);

  // refine_calls.cc
  absl::Status VisitWhile(Visited& at);
  absl::Status VisitBranches(Visited& at);
  absl::Status VisitAssuming(Visited& at);
  absl::Status VisitCall(Visited& at);
  absl::Status VisitComposite(Visited& at);
  absl::Status VisitCustomCall(Visited& at);
  absl::Status CheckAssertion(Visited& at);
  absl::Status VisitShapeOperands(Visited& at, absl::Span<const int64_t> indices);
  absl::Status AppendCallWithout(Visited& at, std::string_view target, absl::Span<const int64_t> dropped,
                                 absl::Span<const NamedAttribute> added, absl::Span<const Type* const> types);
  absl::Status VisitDynamicReduceWindow(Visited& at);
  absl::Status VisitDynamicRngBitGenerator(Visited& at);
  absl::Status VisitDynamicTopK(Visited& at);
  absl::Status VisitDynamicApproxTopK(Visited& at);
  absl::StatusOr<const Attribute*> WrittenSymbols(const Attribute& symbols);

  // refine_scan.cc
  absl::Status VisitScan(Visited& at);
  absl::StatusOr<std::vector<SizedValue>> ArgumentsOfScan(const Visited& at, Scan& scan);
  absl::StatusOr<std::vector<const Type*>> ResultsOfScan(const Visited& at, const Scan& scan,
                                                         absl::Span<const SizedValue> arguments,
                                                         absl::Span<const SizedValue> returned);

  // static_forms.cc. False: `at.op` is no dynamic operation, or not all that it takes is known.
  bool AppendStaticForm(Visited& at, absl::Span<const Type* const> results);
  // The same of a real_dynamic_slice whose starts depend on data, and whose sizes do not.
  absl::StatusOr<bool> AppendDynamicSlice(Visited& at);

  Tree& tree_;
  const bool checking_;
  bool has_arguments_ = false;
  HashMap<std::string_view, const Operation*> functions_;
  HashMap<std::string_view, int> open_;  // functions that are being written
  HashMap<std::string, std::unique_ptr<Instance>> instances_;
  std::vector<Instance*> order_;
  HashMap<std::string_view, int32_t> names_;   // Operation::name_id
  HashMap<std::string_view, int> used_names_;  // of functions
  std::map<std::pair<const Type*, Sizes>, const Type*> types_;
  HashMap<std::string, const Type*> known_types_;  // by their text
  int64_t steps_ = 0, max_steps_ = 0;
  int nesting_ = 0;
  bool is_placed_ = false;  // the error has its place: the innermost operation
};

}  // namespace assay::mlir

#endif  // ASSAY_HLO_MLIR_REFINE_REFINER_H_
